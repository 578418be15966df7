"""Calibration: a judge scores answers whose every step has a known score.

Not a published benchmark: the answers are written by simulated candidates about fresh probes, so
that the truth is exact, and the judge is asked just as it is in a study (the same prompt). What
it misreads here, it misreads in the study's fingerprints.

Files are our own layout, JSON lines (or any table that `atom.formats` reads): `probe`, `model`,
`question`, `choices`, `pictures` (names), `answer`, `steps` (objects with `id`, `question`,
`ground_truth`, `leaf` as a list, `score` 1..5).

Reference: ATOM 3.3, equation 2; METHODS B13b, D3, D5.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from atom.analysis.agreement.calibration import (
    NAME,
    STEPS,
    Branch,
    Calibration,
    Flaw,
    calibrate,
    truths_of,
)
from atom.analysis.capability.criteria_health import ordinal_alpha
from atom.display import numbers
from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.formats.pictures import PictureData
from atom.formats.rows import Row
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judgebench.base import (
    Bench,
    BenchPlan,
    BenchResult,
    LoadedItems,
    LoadOptions,
    MetricRow,
    MetricTable,
    Replies,
)
from atom.judgebench.reading import ReadingNotes, rows_of
from atom.records import BenchItem, PictureSlot, Verdict, content_id
from atom.stages import scoring, verdicts
from atom.stages.asking import make_request
from atom.stages.gate import keyed_entries, read_score, short_ids
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import scoring_schema
from atom.stages.verdicts import Ask, blank
from taxonomy import format_path

PART: Final = "scoring"
FLAW_WORDS: Final[Mapping[Flaw, str]] = {
    "lenient": "reads it too high",
    "harsh": "reads it too low",
    "blind": "gives scores that don't follow the truth",
}
_TEXTS: Final = ("probe", "question", "answer")
_MOST_STEPS: Final = 40


# --- files -------------------------------------------------------------------------------------


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read calibration files.

    Args:
        options: how they're read.

    Returns:
        The items; a row without a question, an answer or a usable step is left out and told.

    Raises:
        FormatError: nothing of a file can be read.
    """
    told = ReadingNotes()
    items: list[BenchItem] = []
    pictures: dict[str, PictureData] = {}
    seen: set[str] = set()
    for _, row in rows_of(files, told):
        if options.limit is not None and len(items) >= options.limit:
            break
        item = _item(row, options, len(items), told, pictures)
        if item is None:
            continue
        if item.id in seen:
            told.skip(row.place, "the same answer to the same probe stands there twice")
            continue
        seen.add(item.id)
        items.append(item)
    return LoadedItems(
        items=tuple(items),
        pictures=tuple(pictures.values()),
        skipped=tuple(told.skipped),
        notes=told.notes(),
    )


def _item(
    row: Row,
    options: LoadOptions,
    position: int,
    told: ReadingNotes,
    pictures: dict[str, PictureData],
) -> BenchItem | None:
    given = {
        name: row.values.get(options.columns.get(name, name))
        for name in (*_TEXTS, "model", "choices", "pictures", STEPS)
    }
    lacking = [name for name in _TEXTS if not isinstance(given[name], str) or not given[name]]
    if lacking:
        told.skip(row.place, f"{lacking[0]} is missing, or isn't a text")
        return None
    steps = _steps(given[STEPS])
    if isinstance(steps, str):
        told.skip(row.place, steps)
        return None
    slots = []
    for name in _list(given["pictures"]):
        look = options.pictures.look(str(name))
        if look.picture is not None:
            pictures.setdefault(look.picture.id, look.picture)
        slots.append(
            PictureSlot(name=str(name), picture_id=look.picture.id if look.picture else None)
        )
    probe, model = str(given["probe"]), str(given["model"] or "")
    return BenchItem(
        set_id=options.set_id,
        id=content_id("calibration", options.set_id, probe, model, str(given["answer"])),
        position=position,
        pictures=tuple(slots),
        data={
            "probe": probe,
            "model": model,
            "question": given["question"],
            "choices": [str(choice) for choice in _list(given["choices"])],
            "answer": given["answer"],
            STEPS: steps,
        },
    )


def _list(value: object) -> list[object]:
    """Take a list, or a cell that holds one as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return list(value) if isinstance(value, list | tuple) else []


def _steps(value: object) -> list[dict[str, Any]] | str:
    """Read a row's steps, or say what is wrong with them."""
    found: list[dict[str, Any]] = []
    for number, step in enumerate(_list(value)[:_MOST_STEPS], 1):
        if not isinstance(step, Mapping):
            return f"step {number} isn't an object"
        question, truth, leaf = step.get("question"), step.get("ground_truth"), step.get("leaf")
        score = step.get("score")
        if not isinstance(question, str) or not isinstance(truth, str) or not question:
            return f"step {number} lacks its question or its ground truth"
        path = [part for part in _list(leaf) if isinstance(part, str) and part]
        if not path:
            return f"step {number} lacks its leaf, a list of names"
        if isinstance(score, bool) or score not in (1, 2, 3, 4, 5):
            return f"step {number} has the score {score!r:.40}; a whole number from 1 to 5 is asked"
        # The ids that a judge sees say nothing of the step.
        id_ = content_id("calibration step", number, question)
        found.append(
            {
                "id": id_,
                "question": question,
                "ground_truth": truth,
                "leaf": path,
                "score": int(score),
            }
        )
    return found or "there are no steps"


# --- asking ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scorings:
    """Asks for the scores of every answer, in one call each, as a study does."""

    plan: BenchPlan

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return every question."""
        del have
        return [
            self._ask(item, vote) for item in self.plan.items for vote in range(self.plan.votes)
        ]

    def _ask(self, item: BenchItem, vote: int) -> Ask:
        plan = self.plan
        return Ask(
            blank=blank(
                plan.set_id,
                item.id,
                PART,
                plan.judge,
                scoring.PROMPT,
                plan.sampling,
                repeat=vote,
            ),
            build=partial(self._build, item, vote),
            read=partial(_read, item),
        )

    def _build(self, item: BenchItem, vote: int) -> Request:
        steps = item.data[STEPS]
        short = short_ids([step["id"] for step in steps])
        return make_request(
            scoring.PROMPT,
            {
                "question": item.data["question"],
                "choices": item.data["choices"],
                "criteria": [
                    {
                        "id": short[step["id"]],
                        "question": step["question"],
                        "ground_truth": step["ground_truth"],
                    }
                    for step in steps
                ],
                "answer": scoring.shown(item.data["answer"]),
            },
            pictures=self.plan.pictures(item),
            sampling=self.plan.sampling,
            repeat=vote,
            schema=scoring_schema(len(steps)),
        )


def _read(item: BenchItem, reply: Reply, empty: Verdict) -> Verdict:
    """Read the scores by step; one that can't be read is null, with the reason beside it."""
    usable = read_reply(reply, "scores")
    if usable.data is None:
        return verdicts.unscored(empty, usable.reason, reply.call.id)
    ids = [step["id"] for step in item.data[STEPS]]
    keyed = keyed_entries(usable.data["scores"], ids)
    scores: list[int | None] = []
    reasons: list[str] = []
    for id_ in ids:
        read = [read_score(entry.get("score")) for entry in keyed.entries[id_]]
        agreed = {one.score for one in read}
        score = read[0].score if len(agreed) == 1 else None
        scores.append(score)
        if score is None:
            why = [text_of(entry.get("reason")) for entry in keyed.entries[id_]]
            reasons.append(one_line(why[0], 200) if why and why[0] else "no usable score")
    known = [score for score in scores if score is not None]
    detail = "; ".join(dict.fromkeys(reasons))[:500]
    if not known:
        return verdicts.unscored(empty, detail or "no step was scored", reply.call.id)
    gaps = [
        score - step["score"]
        for score, step in zip(scores, item.data[STEPS], strict=True)
        if score is not None
    ]
    return verdicts.scored(
        empty,
        reply,
        value=sum(gaps) / len(gaps),
        data={"scores": scores},
        detail=detail,
    )


# --- figures -----------------------------------------------------------------------------------


def measure(items: Sequence[BenchItem], found: Sequence[Verdict]) -> BenchResult:
    """Compute a judge's figures against exact truth."""
    view = calibrate(truths_of(items, found))
    judged = {verdict.subject_id for verdict in found if verdict.state != "failed"}
    return BenchResult(
        headline=_headline(view),
        tables=(
            MetricTable(
                title="By branch",
                rows=tuple(row for one in view.roots for row in _rows(one)),
                note=_found(view),
            ),
            MetricTable(
                title="By capability",
                rows=tuple(
                    row for one in view.leaves if one.tested for row in _rows(one, bias_only=True)
                ),
                note="Capabilities with at least five probes.",
            ),
        ),
        items=len(items),
        verdicts=len(found),
        missing=sum(item.id not in judged for item in items),
    )


def _headline(view: Calibration) -> tuple[MetricRow, ...]:
    whole, even = view.whole, view.homogeneity
    return (
        *_rows(whole),
        MetricRow(
            metric="alpha_to_truth",
            label="Agreement with the truth (ordinal alpha)",
            value=whole.alpha,
            chance=guessed_alpha(whole),
            n=whole.n,
            invalid=whole.unscored,
            unit="correlation",
        ),
        MetricRow(
            metric="homogeneity_p",
            label="Chance of differences between branches this large, if there were none",
            value=even.p,
            n=whole.n,
            unit="difference",
            note=f"{even.roots} branches, at equal truths",
        ),
    )


def _rows(one: Branch, *, bias_only: bool = False) -> tuple[MetricRow, ...]:
    group = format_path(one.path) if one.path else ""
    note = FLAW_WORDS[one.flaw] if one.flaw else ""
    bias = MetricRow(
        metric="bias",
        label="Judge's score less the truth, points on 1-5",
        value=one.bias,
        lo=one.bias_lo,
        hi=one.bias_hi,
        n=one.n,
        invalid=one.unscored,
        unit="points",
        group=group,
        note=note,
    )
    if bias_only:
        return (bias,)
    chance = 100 * guessed(one)
    # A judge that adds a point to everything is right no more often than guessing, yet it doesn't
    # guess: its scores go up and down with the truth.
    shifted = one.follows_lo > 0 and not 100 * one.accuracy_lo > chance
    told = f"its scores follow the truth; guessing would be right in {numbers.in_percent(chance)}"
    return (
        MetricRow(
            metric="accuracy",
            label="Scored exactly as the truth",
            value=100 * one.accuracy,
            lo=100 * one.accuracy_lo,
            hi=100 * one.accuracy_hi,
            chance=math.nan if shifted else chance,
            n=one.n,
            invalid=one.unscored,
            group=group,
            note="; ".join(filter(None, (note, told if shifted else ""))),
        ),
        bias,
    )


def guessed(one: Branch) -> float:
    """Return what guessing with the judge's own habits would hit: `sum_s P(truth = s) P(said = s)`.

    NaN where nothing is scored.
    """
    total = float(one.counts.sum())
    if not total:
        return math.nan
    return float((one.counts.sum(axis=1) * one.counts.sum(axis=0)).sum()) / total**2


def guessed_alpha(one: Branch) -> float:
    """Return the alpha of guessing with the judge's own habits: that of the table under
    independence, `n_ts = n_t. n_.s / n`.

    Alpha pools both sides' values, so it is below 0 there unless their distributions are equal.
    NaN where nothing is scored.
    """
    total = float(one.counts.sum())
    if not total:
        return math.nan
    expected = np.outer(one.counts.sum(axis=1), one.counts.sum(axis=0)) / total
    return ordinal_alpha(expected + expected.T)


def _found(view: Calibration) -> str:
    if not view.flawed:
        return "No branch is marked: nothing shows that the judge misreads one more than the rest."
    return "; ".join(
        f"{format_path(one.path)}: the judge {FLAW_WORDS[one.flaw]}"
        for one in view.flawed
        if one.flaw
    )


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Refuse: the truth is made here, and so are the replies."""
    del files, items, judge
    raise UsageError("calibration is measured on fresh probes: name a judge with --judge")


BENCH: Final = Bench(
    name=NAME,
    title="Calibration on probes",
    about="Does a judge score steps as they are, where the truth is exact, on every capability?",
    parts={PART: "scores of every step, asked as in a study"},
    usual=(PART,),
    votes=1,
    scored=frozenset(),
    load=load,
    worklist=lambda plan: Scorings(plan=plan),
    measure=measure,
    read_replies=read_replies,
)
