"""A tiny judge benchmark, and stores with its data, for tests of the Judge lab."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atom.formats import ImportFile
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
    rate_rows,
)
from atom.judgebench.rates import INVALID, rate
from atom.probes.bench.registry import BenchFiles
from atom.records import BenchItem, BenchSet, Judge, Sampling, Verdict
from atom.stages.asking import make_request
from atom.stages.schemas import OUTCOME
from atom.stages.verdicts import Ask, blank
from atom.store import Store

NAME = "toy"
ITEMS = 12


def load(files: Sequence[ImportFile], options: LoadOptions) -> LoadedItems:
    """Read lines `{"better": "a"}`."""
    items, skipped = [], []
    column = options.columns.get("better", "better")
    for file in files:
        with file.open() as stream:
            rows = stream.read().decode("utf-8", "replace").splitlines()
        for number, line in enumerate(rows[: options.limit]):
            try:
                better = json.loads(line)[column]
            except (json.JSONDecodeError, KeyError):
                skipped.append(f"{file.name} line {number + 1}: no {column!r}")
                continue
            items.append(
                BenchItem(
                    set_id=options.set_id,
                    id=f"{options.set_id}-{number}",
                    position=len(items),
                    data={"better": better},
                )
            )
    return LoadedItems(items=tuple(items), skipped=tuple(skipped), notes=("a note",))


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Asks each item once."""

    plan: BenchPlan

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return all questions."""
        del have
        return [self._ask(item) for item in self.plan.items]

    def _ask(self, item: BenchItem) -> Ask:
        def build() -> Request:
            values = {"question": "?", "choices": [], "reference_answer": "a", "answer": "b"}
            return make_request("outcome/2", values, pictures=(), sampling=self.plan.sampling,
                                repeat=0, schema=OUTCOME)  # fmt: skip

        def read(reply: Reply, empty: Verdict) -> Verdict:
            del reply
            return empty

        empty = blank(self.plan.set_id, item.id, "pair", self.plan.judge, "outcome/2",
                      self.plan.sampling)  # fmt: skip
        return Ask(blank=empty, build=build, read=read)


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Count right verdicts."""
    said = {verdict.subject_id: verdict for verdict in verdicts}
    known = [item for item in items if item.id in said]
    codes = [
        INVALID
        if said[item.id].state != "scored"
        else int(said[item.id].label == item.data["better"])
        for item in known
    ]
    found = rate(np.asarray(codes, dtype=np.int64), 0.5)
    rows = rate_rows("macro_average_accuracy", "Accuracy", found)
    half = MetricRow(metric="half", label="First half", value=math.nan, group="none", note="why")
    return BenchResult(
        headline=rows,
        tables=(MetricTable(title="By half", rows=(half, *rows), note="halves"),),
        items=len(items),
        verdicts=len(verdicts),
        missing=len(items) - len(known),
    )


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Read a label a line, in the items' order."""
    with files[0].open() as stream:
        labels = stream.read().decode().split()
    verdicts = [verdict(item, judge, label, prompt="imported")
                for item, label in zip(items, labels, strict=False)]  # fmt: skip
    return Replies(verdicts=tuple(verdicts), skipped=("one too many",))


def verdict(item: BenchItem, judge: str, label: str, *, prompt: str = "outcome/2") -> Verdict:
    """Make a verdict; an empty label couldn't be read."""
    made = blank(item.set_id, item.id, "pair", judge, prompt, Sampling())
    state = "scored" if label else "unscored"
    return made.model_copy(update={"state": state, "label": label})


TOY = Bench(
    name=NAME,
    title="Toy bench",
    about="Which of two letters is the better one?",
    parts={"pair": "Pairs", "text": "Texts"},
    usual=("pair",),
    votes=1,
    scored=frozenset({"text"}),
    load=load,
    worklist=lambda plan: Questions(plan=plan),
    measure=measure,
    read_replies=read_replies,
)


def make_files(n_items: int, seed: int, draw: object = None) -> BenchFiles:
    """Make lines."""
    del seed, draw
    return BenchFiles(rows={"toy.jsonl": b'{"better": "a"}\n' * n_items})


def make_set(
    folder: Path,
    judged: Mapping[str, Sequence[str]] | None = None,
    *,
    name: str = "Letters",
    synthetic: bool = True,
    skipped: tuple[str, ...] = (),
) -> BenchSet:
    """Put a set with verdicts into a store: judge → its labels, empty ones unread."""
    set_id = BenchSet.make_id(NAME, name)
    record = BenchSet(
        id=set_id,
        benchmark=NAME,
        name=name,
        sources=("letters.jsonl",),
        created="2026-01-02T03:04:05+00:00",
        n_items=ITEMS,
        synthetic=synthetic,
        skipped=skipped,
    )
    items = [
        BenchItem(set_id=set_id, id=f"{set_id}-{at}", position=at, data={"better": "a"})
        for at in range(ITEMS)
    ]
    with Store.open(folder) as store, store.write() as writer:
        writer.put([record])
        writer.put(items)
        for judge, labels in (judged or {}).items():
            writer.put([Judge(id=f"{judge}-id", name=judge, endpoint=judge)])
            writer.put(
                [verdict(item, f"{judge}-id", label)
                 for item, label in zip(items, labels, strict=False)]
            )  # fmt: skip
    return record
