"""Hard pairs of a study in four steps: pairs, weak judges' votes, confirmation, and the set.

Reference: METHODS T9, A13.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import wilson
from atom.judgebench.rates import RIGHT
from atom.judgebench.vl_rewardbench.ask import HARD_PART
from atom.judgebench.vl_rewardbench.hard import (
    DECIDED,
    Decision,
    Mask,
    Stand,
    VotePoint,
    WeakStrongVotes,
    by_votes,
    decide,
    fails,
    fresh_accuracy,
    is_hard,
    read_votes,
    stand_of,
)
from atom.judgebench.vl_rewardbench.measures import ABSENT
from atom.records import Judge, KnownBy, KnownPair, PairsTask, Response, Run, Sample
from atom.store import Store
from atom.store import table as columns_of
from atom.store.reading.pairs import KNOWN_BY, people_on_pairs
from atom.store.verdicts import verdicts_of_part
from atom.views.study_data import StudyData
from taxonomy import Path

EXAMPLES = 6
"""Examples that are shown at each step."""


@dataclass(frozen=True, kw_only=True)
class PairShare:
    """A share with its 95 % interval, 0 to 1, and what it is of."""

    value: float
    lo: float
    hi: float
    n: int


@dataclass(frozen=True, kw_only=True)
class WeakJudge:
    """How a weak judge did.

    Attributes:
        stands: pairs by where it stands.
        right: share of all pairs that it gets right.
        every: accuracy by number of votes, on all pairs.
        hard: the same on the hard ones.
        fresh: share of single votes that are right on hard pairs that other votes chose.
        fresh_votes: how many votes that is of.
    """

    id: str
    name: str
    stands: Mapping[Stand, int]
    right: PairShare
    every: tuple[VotePoint, ...]
    hard: tuple[VotePoint, ...]
    fresh: float
    fresh_votes: int


@dataclass(frozen=True, kw_only=True)
class PairCase:
    """A pair as it is listed.

    Attributes:
        number: its sample's place in the study, from 1; 0 where it left the study.
        models: names of the models that wrote `a` and `b`.
        failed: how many weak judges fail at it; None where not all were asked.
        right: their right votes.
        stand: where the strong judge stands; None where it wasn't asked.
        people: what most people say of it; None = nothing.
        decision: what becomes of it; None where it isn't hard.
        lost: capabilities on whose criteria the worse answer has a lower mark, the most lost first.
    """

    pair: KnownPair
    number: int
    models: tuple[str, str]
    failed: int | None
    right: int
    votes: int
    stand: Stand | None
    people: str | None
    decision: Decision | None
    lost: tuple[Path, ...] = ()

    @property
    def better(self) -> str:
        """Which answer is the better one in the end: people may turn a pair round."""
        turned = {"a": "b", "b": "a"}
        return turned[self.pair.better] if self.decision == "invert" else self.pair.better


@dataclass(frozen=True, kw_only=True)
class HardPairs:
    """A run's hard pairs.

    Attributes:
        others: all runs for hard pairs in this study, the newest first.
        task: what it asked.
        by: pairs by what says which answer is better.
        samples: samples that they are of.
        asked: pairs that every weak judge was asked about.
        judges: the weak judges, in the order they were named.
        strong: the strong judge's name; None without one.
        cases: all pairs, in the order of the draw.
        accepted: hard pairs of those asked about.
        decisions: hard pairs by what becomes of them.
        errors: capabilities by how many pairs of the set lose most there, the most first.
        synthetic: whether the study is.
    """

    run: Run
    others: tuple[Run, ...]
    task: PairsTask
    by: Mapping[KnownBy, int]
    samples: int
    asked: int
    judges: tuple[WeakJudge, ...]
    strong: str | None
    cases: tuple[PairCase, ...]
    accepted: PairShare
    decisions: Mapping[Decision, int]
    errors: tuple[tuple[Path, int], ...]
    synthetic: bool

    @property
    def hard(self) -> tuple[PairCase, ...]:
        """Pairs that enough weak judges fail at."""
        return tuple(case for case in self.cases if case.decision is not None)

    def chosen(self, *, confirmed: bool = True) -> tuple[PairCase, ...]:
        """Return the pairs of the set.

        Args:
            confirmed: leave out what nobody has confirmed yet.
        """
        kept = ("keep", "invert") if confirmed else ("keep", "invert", "open")
        return tuple(case for case in self.cases if case.decision in kept)


def pair_runs(store: Store, study_id: str) -> tuple[Run, ...]:
    """Return a study's runs for hard pairs, the newest first."""
    column = columns_of(Run).c
    found = store.select(Run, column.study_id == study_id)
    mine = [run for run in found if run.kind == "pairs"]
    return tuple(sorted(mine, key=lambda run: (run.created, run.id), reverse=True))


def hard_pairs(store: Store, data: StudyData, run_id: str | None = None) -> HardPairs | None:
    """Read a run's hard pairs.

    Args:
        run_id: which run; the newest when None, or when there is no such run.

    Returns:
        None where nobody has looked for hard pairs.
    """
    runs = pair_runs(store, data.study.id)
    if not runs:
        return None
    run = next((one for one in runs if run_id and one.id.startswith(run_id)), runs[0])
    task = run.task
    assert isinstance(task, PairsTask)
    votes = read_votes(task, verdicts_of_part(store, data.study.id, HARD_PART))
    hard = is_hard(votes.weak, task.fail)
    judges = {one.id: one.name for one in store.get_many(
        Judge, [*task.weak_ids, *([task.strong_id] if task.strong_id else [])])}  # fmt: skip
    cases = _cases(store, data, task, votes)
    asked = (votes.weak != ABSENT).any(axis=-1).all(axis=0)
    chosen = [one for one in cases if one.decision in ("keep", "invert", "open")]
    lost = Counter(one.lost[0] for one in chosen if one.lost)
    return HardPairs(
        run=run,
        others=runs,
        task=task,
        by={name: n for name in KNOWN_BY if (n := sum(one.by == name for one in task.pairs))},
        samples=len({one.sample_id for one in task.pairs}),
        asked=int(asked.sum()),
        judges=_judges(task, votes, hard, judges),
        strong=judges.get(task.strong_id, task.strong) if task.strong_id else None,
        cases=cases,
        accepted=_share(int(hard.sum()), int(asked.sum())),
        decisions={
            name: n for name in DECIDED if (n := sum(one.decision == name for one in cases))
        },
        errors=tuple(sorted(lost.items(), key=lambda one: (-one[1], one[0]))),
        synthetic=data.study.synthetic,
    )


def _share(k: int, n: int) -> PairShare:
    nan = float("nan")
    lo, hi = wilson(k, n) if n else (nan, nan)
    return PairShare(value=k / n if n else nan, lo=lo, hi=hi, n=n)


def _judges(
    task: PairsTask, votes: WeakStrongVotes, hard: Mask, names: Mapping[str, str]
) -> tuple[WeakJudge, ...]:
    fresh = fresh_accuracy(votes.weak, task.fail)
    found = []
    for at, name in enumerate(task.weak_ids):
        stands = Counter(stand_of(votes.weak[at]))
        told = sum(n for stand, n in stands.items() if stand != "open")
        found.append(
            WeakJudge(
                id=name,
                name=names.get(name, task.weak[at]),
                stands=dict(stands),
                right=_share(stands["right"], told),
                every=by_votes(votes.weak[at]),
                hard=by_votes(votes.weak[at][hard]),
                fresh=fresh[at][0],
                fresh_votes=fresh[at][1],
            )
        )
    return tuple(found)


def _cases(
    store: Store, data: StudyData, task: PairsTask, votes: WeakStrongVotes
) -> tuple[PairCase, ...]:
    people = people_on_pairs(store, data.study.id)
    hard = is_hard(votes.weak, task.fail)
    asked = (votes.weak != ABSENT).any(axis=-1).all(axis=0)
    failed = fails(votes.weak).sum(axis=0)
    stands = stand_of(votes.strong) if task.strong_id else [None] * len(task.pairs)
    ids = {name for pair in task.pairs for name in (pair.a, pair.b)}
    of_model = {one.id: one.name for one in data.candidates}
    row = {name: at for at, name in enumerate(data.table.response_ids) if name in ids}
    lost = _losses(data, task.pairs)
    found = []
    for at, pair in enumerate(task.pairs):
        said, stand = people.get(pair.name), stands[at]
        found.append(
            PairCase(
                pair=pair,
                number=data.sample_position.get(pair.sample_id, -1) + 1,
                models=(_model(data, row.get(pair.a), of_model),
                        _model(data, row.get(pair.b), of_model)),
                failed=int(failed[at]) if asked[at] else None,
                right=int((votes.weak[:, at] == RIGHT).sum()),
                votes=int((votes.weak[:, at] != ABSENT).sum()),
                stand=None if stand == "open" else stand,
                people=said,
                decision=decide(stand, said, pair.better) if hard[at] else None,
                lost=lost[at],
            )
        )  # fmt: skip
    return tuple(found)


def _model(data: StudyData, row: int | None, names: Mapping[str, str]) -> str:
    if row is None:
        return ""
    return names.get(data.table.model_ids[int(data.table.model[row])], "")


def _losses(data: StudyData, pairs: Sequence[KnownPair]) -> list[tuple[Path, ...]]:
    """Return where the worse answer of each pair loses weight, leaf by leaf, the most first."""
    wins = leaf_leads(data, pairs)
    found = []
    for pair, leads in zip(pairs, wins, strict=True):
        sign = 1.0 if pair.better == "a" else -1.0
        behind = [(sign * lead, leaf) for leaf, lead in leads.items() if sign * lead > 1e-9]
        found.append(tuple(leaf for _, leaf in sorted(behind, key=lambda one: (-one[0], one[1]))))
    return found


def leaf_leads(data: StudyData, pairs: Sequence[KnownPair]) -> list[dict[Path, float]]:
    """Return, by capability, how far each pair's answer `a` is ahead of `b` in weighted marks.

    Args:
        data: the study; its judge's marks count.
        pairs: pairs of answers.

    Returns:
        For each pair the sum of weight times (value of a - value of b) over criteria that both are
        marked on, by leaf.
    """
    table = data.table
    wanted = {name for pair in pairs for name in (pair.a, pair.b)}
    answer_at = {name: at for at, name in enumerate(table.response_ids) if name in wanted}
    rows = np.flatnonzero(
        (table.score > 0)
        & (table.leaf >= 0)
        & np.isin(table.response, np.array(list(answer_at.values()), dtype=np.int64))
    )
    marks: dict[int, dict[int, tuple[float, float, int]]] = {}
    for at in rows.tolist():
        marks.setdefault(int(table.response[at]), {})[int(table.criterion[at])] = (
            float(table.weight[at]), float(table.score[at]), int(table.leaf[at])
        )  # fmt: skip
    found = []
    for pair in pairs:
        first = marks.get(answer_at.get(pair.a, -1), {})
        second = marks.get(answer_at.get(pair.b, -1), {})
        leads: dict[Path, float] = {}
        for criterion in first.keys() & second.keys():
            weight, mark, leaf = first[criterion]
            path = table.leaves[leaf]
            lead = weight * (mark - second[criterion][1])
            leads[path] = leads.get(path, 0.0) + lead
        found.append(leads)
    return found


def texts_of(store: Store, cases: Sequence[PairCase]) -> tuple[dict[str, Sample], dict[str, str]]:
    """Read the samples and answers of some pairs: samples by id, and texts by answer's id."""
    samples = store.get_many(Sample, {case.pair.sample_id for case in cases})
    ids = {name for case in cases for name in (case.pair.a, case.pair.b)}
    texts = {one.id: one.text or "" for one in store.get_many(Response, ids)}
    return {one.id: one for one in samples}, texts
