"""Best of n as a benchmark of the Judge lab: its files, and what a judge's picks are worth.

A file has a row a question: `id`, `question`, `choices`, `images`, and `answers`, a list of
`{text, right}`; they are one model's answers to it, asked n times at a temperature.

Reference: METHODS T10; VL-RewardBench 3.3 and Figure 4.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from atom.analysis.intervals import Floats
from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.formats.cells import to_list, to_name, to_text, to_verdict
from atom.formats.intake.collector import Collector
from atom.formats.rows import Row
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
from atom.judgebench.best_of_n.asking import (
    PAIR,
    POINT,
    PickWorklist,
    best_so_far,
    meeting_order,
)
from atom.judgebench.reading import ItemReader, Unusable
from atom.judgebench.vl_rewardbench.votes import asked_alike
from atom.judgebench.words import count
from atom.records import BenchItem, Verdict, content_id

NAME: Final = "best_of_n"
PICKED: Final = "picked_accuracy"
GAIN: Final = "gain_over_random"
"""The figure that VL-RewardBench's Figure 4 holds a judge's accuracy against."""
WAYS: Final = {PAIR: "by pairs", POINT: "by grades"}
KNOWS: Final = "whoever knows"
GROUPS: Final = (*WAYS.values(), KNOWS)
"""The names under which figures are about a question."""
LEAST: Final = 2
MOST: Final = 64
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


# --- files ----------------------------------------------------------------------------------------


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read questions with several answers each, every one known to be right or wrong.

    Raises:
        FormatError: nothing of a file can be read.
    """
    reader = _Reader(options, Collector(NAME, "Best of n", [file.name for file in files]))
    reader.read(files)
    return reader.finish()


class _Reader(ItemReader):
    noun = "question"

    def _cell(self, row: Row, name: str) -> object:
        return row.values.get(self._options.columns.get(name, name))

    def _item(self, row: Row) -> BenchItem:
        question = to_text(self._cell(row, "question"))
        if question is None:
            raise Unusable("it has no `question`")
        source = to_name(self._cell(row, "id")) or str(len(self.items))
        answers = [
            _answer(one, at) for at, one in enumerate(to_list(self._cell(row, "answers")) or ())
        ]
        if not LEAST <= len(answers) <= MOST:
            raise Unusable(f"it has {len(answers)} `answers`; {LEAST} to {MOST} are needed")
        choices = [to_text(one) or "" for one in to_list(self._cell(row, "choices")) or ()]
        lines = [f"{letter}. {text}" for letter, text in zip(_LETTERS, choices, strict=False)]
        images = self._cell(row, "images")
        listed = to_list(images) or ([] if images is None else [images])
        slots = [self._slot(one) for one in listed]
        return BenchItem(
            set_id=self._options.set_id,
            id=content_id(NAME, self._options.set_id, source, question),
            position=len(self.items),
            pictures=tuple(slot for slot in slots if slot is not None),
            data={"question": "\n".join([question, *lines]), "answers": answers},
        )


def _answer(value: object, at: int) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Unusable(f"answer {at + 1} isn't an object with `text` and `right`")
    text, right = to_text(value.get("text")), to_verdict(value.get("right"))
    if text is None or right is None or right.value not in (0, 1):
        raise Unusable(f"answer {at + 1} has no `text`, or `right` isn't true or false")
    return {"text": text, "right": right.value == 1}


# --- figures --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Picks:
    """What a judge picked, question by question, where its pick is known.

    Args:
        picked: share of right answers among those picked of the first m, shape (n, m): one answer
            as a rule, several where grades tie; m in `sizes`.
        random: share of right ones among the first m, shape (n, m).
        best: 1 where one of the first m is right, shape (n, m).
        sizes: numbers of answers m.
        open: questions whose pick isn't known yet.
    """

    picked: Floats
    random: Floats
    best: Floats
    sizes: tuple[int, ...]
    open: int


def picks_of(items: Sequence[BenchItem], verdicts: Sequence[Verdict], way: str) -> Picks:
    """Follow a judge through every question.

    Args:
        items: the questions.
        verdicts: one judge's.
        way: `pair` or `point`.
    """
    found: dict[str, dict[tuple[str, str], list[Verdict]]] = defaultdict(lambda: defaultdict(list))
    for one in asked_alike(
        [one for one in verdicts if one.state != "failed" and one.part.startswith(way)]
    ):
        found[one.subject_id][one.part, one.order].append(one)
    most = max((len(item.data["answers"]) for item in items), default=0)
    sizes = (*(m for m in (1, 2, 4, 8, 16, 32) if m < most), most)
    rows: list[tuple[list[float], list[float], list[float]]] = []
    waiting = 0
    for item in items:
        chosen = _chosen(item, found.get(item.id, {}), way)
        if chosen is None:
            waiting += 1
            continue
        right = np.array([one["right"] for one in item.data["answers"]], dtype=np.float64)
        order = _whole_order(item)
        first = [order[: min(m, len(order))] for m in sizes]
        rows.append((
            [float(right[chosen[len(part) - 1]].mean()) for part in first],
            [float(right[part].mean()) for part in first],
            [float(right[part].max()) for part in first],
        ))  # fmt: skip
    shape = (len(rows), len(sizes))
    columns = [
        np.array([row[at] for row in rows], dtype=np.float64).reshape(shape) for at in range(3)
    ]
    return Picks(picked=columns[0], random=columns[1], best=columns[2], sizes=sizes, open=waiting)


def _whole_order(item: BenchItem) -> list[int]:
    """Return the order of meeting with each copy of an answer right behind it."""
    texts = [str(one["text"]).strip() for one in item.data["answers"]]
    return [
        at for first in meeting_order(item) for at, text in enumerate(texts) if text == texts[first]
    ]


def _chosen(
    item: BenchItem, found: dict[tuple[str, str], list[Verdict]], way: str
) -> list[list[int]] | None:
    """Return what is picked of the first 1, 2, ... answers; None where that isn't known."""
    order, whole = meeting_order(item), _whole_order(item)
    texts = [str(one["text"]).strip() for one in item.data["answers"]]
    if way == PAIR:
        best = best_so_far(item, found)
        if len(best) < len(order):
            return None
        picks = [[at] for at in best]
    else:
        grades = {
            at: [v.value for v in found.get((f"{POINT}/{at}", ""), ()) if v.value is not None]
            for at in order
        }
        if not all(grades.values()):
            return None
        mean = {at: float(np.mean(values)) for at, values in grades.items()}
        picks = []
        for size in range(1, len(order) + 1):
            top = max(mean[at] for at in order[:size])
            picks.append([at for at in order[:size] if math.isclose(mean[at], top)])
    seen: list[str] = []
    chosen = []
    for at in whole:
        if texts[at] not in seen:
            seen.append(texts[at])
        chosen.append(picks[len(seen) - 1])
    return chosen


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Say how right a judge's picks are, beside a random pick and the best there was.

    Reference:
        METHODS T10.
    """
    headline: list[MetricRow] = []
    gains: list[MetricRow] = []
    growth: list[MetricRow] = []
    for way, words in WAYS.items():
        if not any(one.part.startswith(way) for one in verdicts):
            continue
        found = picks_of(items, verdicts, way)
        label, last = "Picked answers that are right", found.picked[:, -1]
        chance = found.random[:, -1]
        # The gain comes first: questions differ far more than picks on one question do, so that
        # only a difference question by question tells a judge from guessing.
        gain, *more = _gain_rows(found, words)
        headline += [
            gain,
            _share_row(PICKED, label, last, words, chance=chance, waiting=found.open),
        ]
        gains += more
        growth += _growth_rows(found, words, knows=not growth)
    tables = [
        MetricTable(title="What picking brings", rows=tuple(gains),
                    note="Chance is a random pick; the best is picked by whoever knows which "
                    "answers are right. Intervals are over questions."),
        MetricTable(title="Accuracy by number of answers", rows=tuple(growth)),
    ]  # fmt: skip
    told = {one.subject_id for one in verdicts if one.state != "failed"}
    return BenchResult(
        headline=tuple(headline),
        tables=tuple(table for table in tables if table.rows),
        items=len(items),
        verdicts=len(verdicts),
        missing=sum(item.id not in told for item in items),
    )


def _share_row(
    metric: str, label: str, values: Floats, group: str, *, chance: Floats, waiting: int = 0
) -> MetricRow:
    mean, lo, hi = _mean(values)
    verb = "isn't" if waiting == 1 else "aren't"
    note = f"{count(waiting, 'question')} {verb} settled yet" if waiting else ""
    return MetricRow(
        metric=metric, label=label, value=100 * mean, lo=max(100 * lo, 0.0) if lo == lo else lo,
        hi=min(100 * hi, 100.0) if hi == hi else hi, n=len(values),
        chance=100 * float(chance.mean()) if len(chance) else math.nan, group=group, note=note,
    )  # fmt: skip


def _gain_rows(found: Picks, words: str) -> list[MetricRow]:
    gain = found.picked[:, -1] - found.random[:, -1]
    room = found.best[:, -1] - found.random[:, -1]
    rows = []
    for metric, label, values in (
        (GAIN, "Gain over a random pick", gain),
        ("gain_of_best", "Gain of whoever knows", room),
    ):
        mean, lo, hi = _mean(values)
        rows.append(MetricRow(metric=metric, label=label, value=100 * mean, lo=100 * lo,
                              hi=100 * hi, chance=0.0, n=len(values), unit="difference",
                              group=words, note="in points of accuracy"))  # fmt: skip
    mean_room = float(room.mean()) if len(room) else 0.0
    if mean_room > 0:
        share = float(gain.mean()) / mean_room
        # The ratio's influence of a question: (gain - share * room) / mean room.
        _, lo, hi = _mean(share + (gain - share * room) / mean_room)
        rows.append(MetricRow(metric="share_of_gain", label="Share of the gain that there is",
                              value=100 * share, lo=100 * lo, hi=100 * hi, chance=0.0,
                              n=len(gain), group=words))  # fmt: skip
    return rows


def _growth_rows(found: Picks, words: str, *, knows: bool) -> list[MetricRow]:
    rows = []
    for at, size in enumerate(found.sizes):
        label = "1 answer" if size == 1 else f"Best of {size}"
        lines = [(f"{PICKED}_{size}", found.picked, words)]
        if knows:
            lines.append((f"best_{size}", found.best, KNOWS))
        rows += [
            _share_row(metric, label, values[:, at], group, chance=found.random[:, at])
            for metric, values, group in lines
        ]
    return rows


def _mean(values: Floats) -> tuple[float, float, float]:
    """Return a mean over questions and its 95 % interval, by Student's t."""
    n = len(values)
    if not n:
        return math.nan, math.nan, math.nan
    mean = float(values.mean())
    if n < LEAST:
        return mean, math.nan, math.nan
    half = float(stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half


# --- the benchmark --------------------------------------------------------------------------------


def worklist(plan: BenchPlan) -> PickWorklist:
    """Return what there is to ask."""
    return PickWorklist(plan)


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Refuse replies made elsewhere: which pair comes next hangs on the one before.

    Raises:
        UsageError: always.
    """
    del files, items, judge
    raise UsageError(
        "picks made elsewhere can't be scored: which answers meet hangs on the meeting before. "
        "Ask the judge with `judge bench best_of_n`"
    )


BENCH: Final = Bench(
    name=NAME,
    title="Best of n",
    about="How good are the answers that a judge picks among several to one question?",
    parts={
        PAIR: "the best answer so far against the next one, in both orders",
        POINT: "each answer graded by itself from 1 to 10; the best grade is picked",
    },
    usual=(PAIR,),
    votes=1,
    scored=frozenset(),
    load=load,
    worklist=worklist,
    measure=measure,
    read_replies=read_replies,
    later=lambda plan, have: PickWorklist(plan).later(have),
)
