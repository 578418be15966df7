"""What the gate let through, and the key steps that it turned on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from atom.analysis.correction.quality import UnlockedCriteria
from atom.records import Correction, Criterion, Hint
from atom.store import Store, table
from atom.views.correction.data import TrialData
from atom.views.correction.steps import step_rows
from taxonomy import Path


@dataclass(frozen=True, kw_only=True)
class KeyStep:
    """A step that was repaired in an answer that came right."""

    criterion_id: str
    question: str
    response_id: str
    path: Path | None


@dataclass(frozen=True, kw_only=True)
class GateCounts:
    """What the leak gates did.

    Attributes:
        written: hints written, every attempt.
        leaked: of these, those that gave something away.
        again: of these, those written since the one before leaked.
        failed: hints whose call failed.
        dropped: hints that were left out of a feedback.
        questions: criteria that were left out since their own question gives something away.
        no_peer: criteria that no peer had passed.
        held: feedbacks that were held back whole.
        given: answers that were given hints in the first round.
    """

    written: int = 0
    leaked: int = 0
    again: int = 0
    failed: int = 0
    dropped: int = 0
    questions: int = 0
    no_peer: int = 0
    held: int = 0
    given: int = 0

    @property
    def any(self) -> bool:
        """Whether there is anything to say."""
        return any(vars(self).values())


def key_steps(
    store: Store, loaded: TrialData, rows: Sequence[UnlockedCriteria], upto: int
) -> tuple[KeyStep, ...]:
    """List the key steps."""
    trials = loaded.trials
    ids = [loaded.criterion_ids[row.code] for row in rows]
    known = {criterion.id: criterion for criterion in store.get_many(Criterion, ids)}
    at = step_rows(trials, "guided", "unlocked", upto)
    where = {int(trials.criterion[row]): row for row in at}
    found = []
    for row, name in zip(rows, ids, strict=True):
        criterion, place = known.get(name), where.get(row.code)
        if criterion is None or place is None:
            continue
        leaf = int(trials.leaf[place])
        found.append(
            KeyStep(
                criterion_id=name,
                question=criterion.question,
                response_id=loaded.answer_ids[int(trials.answer[trials.trial[place]])],
                path=trials.leaves[leaf] if leaf >= 0 else None,
            )
        )
    return tuple(found)


def gate_counts(store: Store, experiment_id: str) -> GateCounts:
    """Count what the gate let through."""
    columns = table(Correction).c
    rows = store.select(Correction, columns.experiment_id == experiment_id)
    hinted = [row for row in rows if row.arm in ("peer", "guided_peer")]
    wanted = {name for row in hinted for name in row.criterion_ids}
    wanted |= {use.criterion_id for row in hinted for use in row.hints}
    hints = store.get_many(Hint, sorted(wanted), "criterion_id")
    lines = Counter(_gate_kind(line) for row in rows for line in row.gates)
    return GateCounts(
        written=sum(hint.state != "failed" for hint in hints),
        leaked=sum(hint.state == "unscored" for hint in hints),
        again=sum(hint.attempt > 0 and hint.state != "failed" for hint in hints),
        failed=sum(hint.state == "failed" for hint in hints),
        dropped=lines["dropped"],
        questions=lines["question"],
        no_peer=lines["no peer"],
        held=lines["held"],
        given=len({row.response_id for row in hinted if row.hints and row.round == 1}),
    )


def _gate_kind(line: str) -> str:
    """Sort a gate's line by what it did."""
    if line.startswith("no hint on"):
        return "no peer"
    if line.startswith("the hint on"):
        return "dropped"
    if line.startswith("criterion") and "dropped" in line:
        return "question"
    return "held" if "held back" in line else ""
