"""The answers behind a number of a self-correction experiment, and both as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from atom.analysis.correction.effects import CONTRASTS, Level, failed_under
from atom.analysis.correction.trials import (
    ARMS,
    FAILED_COHORT,
    RIGHT,
    RIGHT_COHORT,
    ArmStanding,
    Mask,
    code_of,
    standing,
)
from atom.display import writers
from atom.display.csv_text import csv_text
from atom.records import Arm, Cohort, Sample
from atom.store import Store
from atom.views.correction.arm_lines import asked_again
from atom.views.correction.arm_table import arm_table
from atom.views.correction.effect_table import effect_table
from atom.views.correction.form import ARM_WORDS, EFFECT_WORDS
from atom.views.correction.page import Results, contrast_of
from atom.views.correction.steps import CaseSelection, step_rows
from atom.views.study_data import StudyData
from taxonomy import Path

OF_STEPS: tuple[CaseSelection, ...] = ("steps", "repaired", "asked", "flipped", "unlocked")
"""Numbers that count steps, not answers."""
EXCERPT = 140


@dataclass(frozen=True, kw_only=True)
class CaseQuery:
    """Which answers are wanted.

    Attributes:
        arm: in this arm; with `effect` the effect's arm counts.
        cohort: initially failed or right ones.
        effect: as an effect's arm and control compare.
        under: only answers that failed a step there, a root or a capability.
    """

    arm: Arm | None = None
    cohort: Cohort = "failed"
    effect: str | None = None
    came: CaseSelection = "all"
    under: Path = ()


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The answers behind a number.

    Attributes:
        query: as it was understood.
        ids: initial answers, in the study's order.
        steps: how many steps of each count, where the number counts steps; else empty.
        words: what they have in common.
    """

    query: CaseQuery
    ids: tuple[str, ...]
    steps: Mapping[str, int]
    words: str

    @property
    def count(self) -> int:
        """The number that they stand behind."""
        return sum(self.steps.values()) if self.query.came in OF_STEPS else len(self.ids)


def read_query(query: Mapping[str, str]) -> CaseQuery:
    """Read a query from an address; what can't be read is left out."""
    arms, came = get_args(Arm), get_args(CaseSelection)
    names = {contrast.name for contrast in CONTRASTS}
    effect = query.get("effect")
    found = query.get("came", "all")
    under = tuple(part for part in query.get("under", "").split(" › ") if part)
    return CaseQuery(
        arm=next((arm for arm in arms if arm == query.get("arm")), None),
        cohort="right" if query.get("cohort") == "right" else "failed",
        effect=effect if effect in names else None,
        came=next((item for item in came if item == found), "all"),
        under=under,
    )


def write_query(query: CaseQuery) -> dict[str, str | None]:
    """Write a query for an address."""
    return {
        "arm": query.arm,
        "cohort": "right" if query.cohort == "right" else None,
        "effect": query.effect,
        "came": None if query.came == "all" else query.came,
        "under": " › ".join(query.under) or None,
    }


def find_cases(found: Results, data: StudyData, query: CaseQuery) -> Cases:
    """Return the answers behind a number.

    Args:
        data: the study, for its order.
    """
    if query.came in OF_STEPS:
        return _step_cases(found, data, query)
    mask = _effect_mask(found, query) if query.effect else _arm_mask(found, query)
    ids = [found.loaded.answer_ids[int(code)] for code in found.seen.answer[mask]]
    return Cases(query=query, ids=_ordered(found, data, ids), steps={}, words=_words(query))


def _ordered(found: Results, data: StudyData, ids: Sequence[str]) -> tuple[str, ...]:
    place = data.sample_position
    last = len(place)
    return tuple(sorted(ids, key=lambda name: (place.get(found.samples.get(name, ""), last), name)))


def _level(query: CaseQuery) -> Level:
    return "root" if len(query.under) == 1 else "leaf"


def _under(found: Results, seen: ArmStanding, query: CaseQuery) -> Mask:
    if not query.under:
        return np.ones(len(seen.answer), dtype=bool)
    trials = found.loaded.trials
    level = _level(query)
    names: Sequence[Any] = trials.roots if level == "root" else trials.leaves
    wanted = query.under[0] if level == "root" else query.under
    if wanted not in names:
        return np.zeros(len(seen.answer), dtype=bool)
    return failed_under(trials, seen.answer, level)[:, names.index(wanted)]


def _arm_mask(found: Results, query: CaseQuery) -> Mask:
    seen = found.seen
    cohort = RIGHT_COHORT if query.cohort == "right" else FAILED_COHORT
    mask: Mask = (seen.cohort == cohort) & _under(found, seen, query)
    if query.arm is None:
        return mask
    code = code_of(query.arm)
    value = seen.right[:, code]
    mask &= seen.ran[:, code]
    outcomes: dict[CaseSelection, Mask] = {
        "tried": asked_again(found.loaded.trials, seen, query.arm, found.tries),
        "right": value >= RIGHT,
        "wrong": value < RIGHT,
        "unknown": ~np.isfinite(value),
    }
    chosen = outcomes.get(query.came)
    return mask if chosen is None else np.asarray(mask & chosen)


def _effect_mask(found: Results, query: CaseQuery) -> Mask:
    """Mark answers as `correction_effects.compare` counts them, in `found.seen`'s order."""
    contrast = contrast_of(query.effect or "")
    effect = next((e for e in (*found.effects, *found.printed) if e.name == contrast.name), None)
    seen = found.seen
    if effect is None:
        return np.zeros(len(seen.answer), dtype=bool)
    then = seen if effect.round == found.tries else standing(found.loaded.trials, effect.round)
    arm, control = code_of(contrast.arm), code_of(contrast.control)
    tried = (then.cohort == FAILED_COHORT) & (then.ran[:, arm] | then.ran[:, control])
    tried &= _under(found, then, query)
    fit = np.ones_like(tried)
    if contrast.sham_pairs:
        fit = then.had_failed & then.had_passed
    first, second = then.right[:, arm], then.right[:, control]
    pairs = tried & fit & np.isfinite(first) & np.isfinite(second)
    yes, no = first >= RIGHT, second >= RIGHT
    masks: dict[CaseSelection, Mask] = {
        "first": pairs & yes & ~no,
        "second": pairs & no & ~yes,
        "both": pairs & yes & no,
        "neither": pairs & ~yes & ~no,
        "apart": tried & ~fit,
        "unpaired": tried & fit & ~pairs,
    }
    chosen = masks.get(query.came, pairs)
    return np.isin(seen.answer, then.answer[chosen])


def repair_control(found: Results) -> Arm | None:
    """Return what repairs are held against."""
    return next((line.repair.control for line in found.by_leaf), None)


def _step_cases(found: Results, data: StudyData, query: CaseQuery) -> Cases:
    trials = found.loaded.trials
    control = repair_control(found)
    rows = step_rows(trials, query.arm or "guided", query.came, found.tries, control)
    if query.under:
        level = _level(query)
        names: Sequence[Any] = trials.roots if level == "root" else trials.leaves
        wanted = query.under[0] if level == "root" else query.under
        column = trials.root if level == "root" else trials.leaf
        code = names.index(wanted) if wanted in names else -2
        rows = rows[column[rows] == code]
    counts = Counter(found.loaded.answer_ids[int(a)] for a in trials.answer[trials.trial[rows]])
    ids = _ordered(found, data, list(counts))
    return Cases(query=query, ids=ids, steps=dict(counts), words=_words(query))


def _words(query: CaseQuery) -> str:
    where = f", with a failed step under {query.under[-1]}" if query.under else ""
    arm = ARM_WORDS[query.arm].name if query.arm else ""
    if query.effect:
        contrast = contrast_of(query.effect)
        first, second = ARM_WORDS[contrast.arm].name, ARM_WORDS[contrast.control].name
        name = EFFECT_WORDS[query.effect].name
        return {
            "first": f"{name}: right after “{first}” only{where}",
            "second": f"{name}: right after “{second}” only{where}",
            "both": f"{name}: right after both{where}",
            "neither": f"{name}: right after neither{where}",
            "apart": f"{name}: left out, no failed or no passed step{where}",
            "unpaired": f"{name}: left out, one of the two has no result{where}",
        }.get(query.came, f"{name}: pairs with both results{where}")
    if query.came in OF_STEPS:
        name = query.under[-1] if query.under else "all capabilities"
        what = {
            "steps": "failed steps",
            "repaired": f"failed steps repaired by “{ARM_WORDS[query.arm or 'guided'].name}”",
            "asked": "failed steps that were asked about",
            "flipped": "steps repaired when asked about",
            "unlocked": "steps repaired in answers that came right",
        }[query.came]
        return f"{name}: {what}"
    if query.cohort == "right":
        kept = {
            "tried": "asked again", "right": "still right", "wrong": "broken",
            "unknown": "without a result",
        }  # fmt: skip
        return f"Right answers, {kept.get(query.came, 'all that were tried')}{where}"
    if query.arm is None:
        return f"All failed answers{where}"
    done = {
        "tried": "asked again", "right": "fixed", "wrong": "still wrong",
        "unknown": "without a result",
    }  # fmt: skip
    return f"{arm}: {done.get(query.came, 'all that were tried')}{where}"


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    """One answer in the list.

    Attributes:
        response_id: the initial answer.
        question: cut for the list.
        picture_id: the sample's first picture; None while missing.
        cohort: initially failed or right.
        marks: what came of each arm: right, wrong or not known.
        steps: steps that count, where the number counts steps; else 0.
    """

    response_id: str
    sample_id: str
    question: str
    picture_id: str | None
    cohort: Cohort
    marks: tuple[tuple[Arm, bool | None], ...]
    steps: int


def case_rows(store: Store, found: Results, cases: Cases, ids: Sequence[str]) -> list[CaseRow]:
    """Read a page of the list."""
    wanted = {found.samples[name] for name in ids if name in found.samples}
    samples = {sample.id: sample for sample in store.get_many(Sample, sorted(wanted))}
    at = {name: place for place, name in enumerate(found.loaded.answer_ids)}
    seen = found.seen
    rows = []
    for name in ids:
        sample = samples.get(found.samples.get(name, ""))
        place = int(np.searchsorted(seen.answer, at[name]))
        if sample is None:
            continue
        slot = sample.pictures[0] if sample.pictures else None
        rows.append(
            CaseRow(
                response_id=name,
                sample_id=sample.id,
                question=" ".join(sample.question.split())[:EXCERPT],
                picture_id=slot.picture_id if slot else None,
                cohort="right" if seen.cohort[place] == RIGHT_COHORT else "failed",
                marks=tuple(
                    (arm, _mark(float(seen.right[place, code])))
                    for code, arm in enumerate(ARMS)
                    if seen.ran[place, code]
                ),
                steps=cases.steps.get(name, 0),
            )
        )
    return rows


def _mark(value: float) -> bool | None:
    return None if not np.isfinite(value) else value >= RIGHT


# --- files ----------------------------------------------------------------------------------------


def effects_csv(found: Results) -> str:
    """Write the effects as CSV, shares as 0..1."""
    every = (*found.effects, *found.printed)
    return writers.csv(effect_table(every, "Effects", found.model))


def arms_csv(found: Results) -> str:
    """Write what came of each arm as CSV, shares of right answers as 0..1."""
    return writers.csv(arm_table(found.every_arm, "Arms", found.model))


def cases_csv(store: Store, found: Results) -> str:
    """Write all answers with what came of each arm as CSV."""
    sources = {
        sample.id: (sample.dataset, sample.source_id or "", sample.question)
        for sample in store.get_many(Sample, sorted(set(found.samples.values())))
    }
    ran = [arm for code, arm in enumerate(ARMS) if found.seen.ran[:, code].any()]
    lines = []
    for place, code in enumerate(found.seen.answer):
        name = found.loaded.answer_ids[int(code)]
        cohort = "right" if found.seen.cohort[place] == RIGHT_COHORT else "failed"
        marks = [_cell(found.seen, place, arm) for arm in ran]
        sample = found.samples.get(name, "")
        lines.append([found.model, *sources.get(sample, ("", "", "")), name, cohort, *marks])
    head = ("model", "dataset", "source_id", "question", "response_id", "cohort", *ran)
    return csv_text(head, lines)


def _cell(seen: ArmStanding, place: int, arm: Arm) -> str:
    code = code_of(arm)
    if not seen.ran[place, code]:
        return ""
    mark = _mark(float(seen.right[place, code]))
    return {True: "right", False: "wrong", None: "unknown"}[mark]
