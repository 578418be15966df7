"""Findings about self-correction: what feedback adds to its control, luck, breaks and repairs.

Every number is the Self-correction page's own. Nothing is called a gain without its control.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from atom.analysis.correction.effects import Effect
from atom.display.numbers import points_interval
from atom.reports.findings.looking import StudyLook, make
from atom.reports.printed import estimate_words, finite, p_words, plain, share_number
from atom.reports.records import Finding, Kind, Number
from atom.views.correction.arm_lines import ArmLine
from atom.views.correction.cases import CaseQuery, write_query
from atom.views.correction.data import list_experiments
from atom.views.correction.form import ARM_WORDS
from atom.views.correction.page import HEADLINES, RepairLine, Results, results

PAGE = "correction"
LEAST = 2
"""Answers that an experiment tries; one answer tried again is a look, not a measurement."""
MOST = 12
"""Experiments that are worked out, the newest first."""
NAMED = 3
"""Capabilities of each label that are named."""


@dataclass(frozen=True)
class _ExperimentPart:
    """An experiment with its place among those of its model."""

    look: StudyLook
    found: Results
    turn: int
    several: bool

    def make(
        self, kind: Kind, name: str, salience: float, query: CaseQuery | None = None,
        behind: int = 0, words: str = "answers", **fields: object,
    ) -> Finding:  # fmt: skip
        """Make a finding; a door to answers where there are any, else to the experiment."""
        asked = self.found.experiment
        local: dict[str, str | None] = {"experiment": asked.id[:12]}
        if query is not None and behind:
            local |= {"tab": "cases", **write_query(query)}
            fields |= {"behind": behind, "behind_words": words}
        facts = {"tries": str(self.found.tries)} if self.found.tries > 1 else {}
        if self.several:
            facts["begun"] = asked.created[:16].replace("T", " ")
        given = fields.pop("facts", {})
        assert isinstance(given, dict)
        return make(
            id=f"{kind}:{asked.id[:12]}:{name}",
            kind=kind,
            part="again",
            models=(self.found.model,),
            model_ids=(asked.candidate_id,),
            owner=asked.candidate_id,
            door=self.look.door(self.look.base, PAGE, **local),
            salience=60.0 - 10.0 * self.turn + salience,
            facts=facts | given,
            **fields,
        )


def correction_findings(look: StudyLook) -> Iterator[Finding]:
    """Look at what came of the study's self-correction experiments.

    Filters don't narrow an experiment: it counts the answers that it tried.
    """
    rows = [row for row in list_experiments(look.store, look.data.study.id) if row.answers >= LEAST]
    rows = rows[:MOST]
    models = [row.experiment.candidate_id for row in rows]
    for at, row in enumerate(rows):
        model = models[at]
        found = results(look.store, row.experiment.id)
        tried = _ExperimentPart(look, found, models[:at].count(model), models.count(model) > 1)
        yield from _values(tried)
        yield from _luck(tried)
        yield from _printed(tried)
        yield from _breaks(tried)
        yield from _repairs(tried)


def _values(tried: _ExperimentPart) -> Iterator[Finding]:
    """Tell each feedback with its control, the diagnostic value first."""
    for effect in tried.found.effects:
        if effect.role != "value":
            continue
        salience = 9.0 - HEADLINES.index(effect.name) / 10
        if effect.verdict == "refused: no control ran":
            line = next(line for line in tried.found.arms if line.share.arm == effect.arm)
            yield _alone(tried, effect, line, salience)
        elif effect.n:
            yield _effect(tried, "correction", effect, salience)


def _alone(tried: _ExperimentPart, effect: Effect, line: ArmLine, salience: float) -> Finding:
    return tried.make(
        "correction",
        effect.name,
        salience,
        CaseQuery(arm=effect.arm, came="right"),
        line.fixed,
        "answers that came right",
        frame="no control ran: not a gain",
        numbers=[_share(line), plain("fixed", line.fixed, "answers")],
        facts={"arm": ARM_WORDS[effect.arm].does, "verdict": effect.verdict},
    )


def _effect(tried: _ExperimentPart, kind: Kind, effect: Effect, salience: float) -> Finding:
    arm, control = ARM_WORDS[effect.arm].does, ARM_WORDS[effect.control].does
    return tried.make(
        kind,
        effect.name,
        salience,
        CaseQuery(effect=effect.name, came="pairs"),
        effect.n,
        "answers with both results",
        frame=f"paired: the same failed answers after {control}",
        numbers=_effect_numbers(effect),
        facts={"arm": arm, "control": control, "verdict": effect.verdict,
               "mid_p": p_words(effect.mid_p).replace("p", "mid-p", 1),
               "q": p_words(effect.holm).replace("p", "adjusted p", 1)},
    )  # fmt: skip


def _effect_numbers(effect: Effect) -> list[Number]:
    decimals = 1 if effect.n >= 200 else 0
    return [
        Number(
            name="effect",
            text=points_interval(effect.estimate, effect.lo, effect.hi),
            value=finite(100 * effect.estimate),
            unit="percentage points",
            lo=finite(100 * effect.lo),
            hi=finite(100 * effect.hi),
            n=effect.n,
            n_unit="pairs of answers",
            p=finite(effect.mid_p),
            q=finite(effect.holm),
        ),
        *(
            Number(name=name, text=f"{100 * share:.{decimals}f} %", value=finite(100 * share),
                   unit="%", n=effect.n, n_unit="pairs of answers")
            for name, share in (("arm", effect.arm_share), ("control", effect.control_share))
        ),
    ]  # fmt: skip


def _share(line: ArmLine) -> Number:
    share = line.share.right
    return share_number("share", line.fixed, share.n, share.lo, share.hi, n_unit="failed answers")


def _luck(tried: _ExperimentPart) -> Iterator[Finding]:
    line = next((line for line in tried.found.arms if line.share.arm == "fresh"), None)
    if line is None or not line.share.right.n:
        return
    effect = next((e for e in tried.found.effects if e.name == "luck" and e.n), None)
    known = effect is not None and effect.verdict != "refused: no control ran"
    yield tried.make(
        "correction_luck",
        "luck",
        7.0,
        CaseQuery(arm="fresh", came="right"),
        line.fixed,
        "answers that came right by themselves",
        frame="failed answers, tried again without feedback",
        numbers=[
            _share(line),
            plain("fixed", line.fixed, "answers"),
            *(_effect_numbers(effect) if effect is not None and known else ()),
        ],
        facts={"mid_p": p_words(effect.mid_p).replace("p", "mid-p", 1)}
        if effect is not None and known
        else {},
    )


def _printed(tried: _ExperimentPart) -> Iterator[Finding]:
    for place, effect in enumerate(tried.found.printed):
        if effect.n and effect.verdict != "refused: no control ran":
            yield _effect(tried, "correction_printed", effect, 5.0 - place)


def _breaks(tried: _ExperimentPart) -> Iterator[Finding]:
    line, broken, net = tried.found.on_right, tried.found.broken, tried.found.net
    if line is None or not broken.n:
        return
    numbers = [
        share_number(
            "broken", round(broken.value * broken.n), broken.n, broken.lo, broken.hi,
            n_unit="right answers",
        )
    ]  # fmt: skip
    if net is not None:
        numbers.append(
            Number(name="net", text=points_interval(net.value, net.lo, net.hi),
                   value=100 * net.value, unit="percentage points",
                   lo=finite(100 * net.lo), hi=finite(100 * net.hi),
                   n=net.n_failed + net.n_right, n_unit="answers")
        )  # fmt: skip
    yield tried.make(
        "correction_breaks",
        "breaks",
        3.0,
        CaseQuery(arm="guided", cohort="right", came="wrong"),
        line.wrong,
        "right answers that broke",
        frame="right answers that got the same feedback",
        numbers=numbers,
        facts={"arm": ARM_WORDS["guided"].does},
    )


def _repairs(tried: _ExperimentPart) -> Iterator[Finding]:
    lines = tried.found.by_leaf
    if not lines:
        return
    counts = {
        name: [line for line in lines if line.repair.label == label]
        for name, label in (
            ("recoverable", "attention drift"),
            ("stubborn", "lack of capability"),
            ("undecided", "undecided"),
        )
    }
    steps = sum(line.repair.n for line in lines)
    named = [*counts["recoverable"][:NAMED], *counts["stubborn"][:NAMED]]
    yield tried.make(
        "correction_repairs",
        "repairs",
        2.0,
        frame="failed steps, beyond the control's repairs",
        numbers=[
            plain("capabilities", len(lines), "capabilities"),
            plain("steps", steps, "failed steps"),
            *(plain(name, len(rows), "capabilities") for name, rows in counts.items()),
        ],
        facts={
            "places": "; ".join(line.path[-1] for line in named),
            **{
                name: "; ".join(_repair(line) for line in counts[name][:NAMED])
                for name in ("recoverable", "stubborn")
            },
        },
    )


def _repair(line: RepairLine) -> str:
    """Say what is repaired of a capability's failed steps, beyond the control."""
    repair = line.repair
    n = f"n = {repair.n:,} failed step{'' if repair.n == 1 else 's'}"
    beyond = points_interval(repair.estimate, repair.lo, repair.hi)
    if math.isnan(repair.estimate):
        return f"{line.path[-1]} ({n})"
    text = f"{line.path[-1]} ({beyond} points repaired beyond the control, {n}"
    if repair.label == "lack of capability" and repair.help is not None and repair.help.n:
        best = repair.help
        text += f"; the strongest help repairs {estimate_words(best.value, best.lo, best.hi)}"
        text += f" of {best.n:,}"
    return f"{text})"
