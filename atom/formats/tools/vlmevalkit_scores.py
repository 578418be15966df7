"""VLMEvalKit's score tables: recomputed from the result sheets, and compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from atom.analysis.agreement.yes_no import all_right, paired_score, yes_rates
from atom.formats.base import ImportFile
from atom.formats.cells import (
    to_name,
    to_number,
)
from atom.formats.intake.by_row import rows_of
from atom.formats.intake.collector import Collector
from atom.formats.json_file import load_object

NAME = "vlmevalkit"
_MME_REASONING = frozenset(
    {"code_reasoning", "commonsense_reasoning", "numerical_calculation", "text_translation"}
)
_CLOSE = 0.006


@dataclass(frozen=True, kw_only=True)
class ScoreFile:
    """A file with what its name says."""

    file: ImportFile
    model: str
    dataset: str
    rotation: str = ""
    """By how much its pictures are turned: a question asked of four is one cluster."""


@dataclass(kw_only=True)
class ModelVerdicts:
    """The verdicts of one model on one data set, for the score tables."""

    right: list[float] = field(default_factory=list)
    index: list[str] = field(default_factory=list)
    labels: list[Mapping[str, tuple[str, ...]]] = field(default_factory=list)
    picture: list[str] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    ungraded: int = 0


class Peek(Collector):
    """A collector that only looks ahead."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(NAME, collector.dataset, ())


def check(table: ScoreFile, scored: ModelVerdicts, collector: Collector) -> None:
    """Recompute a score table's figures, and say how many agree."""
    name = table.file.name
    rows = [row.values for row in rows_of(table.file, Peek(collector))]
    if not rows and name.lower().endswith(".json"):
        rows = [load_object(table.file, collector)]
    if any("match_rate" in row or {"tot", "match", "hit"} <= set(row) for row in rows):
        _say_denominator(name, rows, collector)
        return
    if not scored.right:
        collector.note(f"{name}: the sheet holds no verdicts to recompute it from")
        return
    figures = _FIGURES.get(re.split(r"[_-]", table.dataset)[0].lower(), _means)(scored)
    agreeing, differing = 0, []
    for key, there in _published(rows):
        ours = figures.get(key)
        if ours is None:
            continue
        if any(abs(there - ours * scale) < _CLOSE for scale in (1, 100)):
            agreeing += 1
        else:
            differing.append(f"{' '.join(key).strip()} {ours:.4f}, published {there:g}")
    collector.figures(name, agreeing, differing)


def _say_denominator(name: str, rows: Sequence[Mapping[str, object]], collector: Collector) -> None:
    """Name the denominator of a table that counts answers that could be matched."""
    for row in rows:
        tot, match, hit, acc = (to_number(row.get(key)) for key in ("tot", "match", "hit", "acc"))
        if tot and match and hit is not None and acc is not None:
            same = abs(acc - 100 * hit / match) < 0.01
            collector.note(
                f"{name}: its acc is {'hit/match' if same else 'not hit/match'}: "
                f"{acc:.1f} of the {match:g} answers that could be matched; of all {tot:g} it is "
                f"{100 * hit / tot:.1f}"
            )
            return


def _published(rows: Sequence[Mapping[str, object]]) -> Iterator[tuple[tuple[str, str], float]]:
    """Give a table's figures: ((row's name, column), number)."""
    for row in rows:
        name = ""
        for key in ("split", "Category", "category", "dataset"):
            found = to_name(row.get(key))
            if found is not None:
                name = "" if found in ("none", "Overall") else found
                break
        for column, value in row.items():
            number = to_number(value)
            if number is not None:
                yield (name, column), number


_Figures = Mapping[tuple[str, str], float]


def _means(scored: ModelVerdicts) -> _Figures:
    """Means by label and over all, as most tables hold them, in either layout."""
    right = np.array(scored.right)
    found = {("", "Overall"): float(right.mean()), ("", "acc"): float(right.mean())}
    values: dict[str, list[float]] = {}
    for value, labels in zip(scored.right, scored.labels, strict=True):
        for label in {label for names in labels.values() for label in names}:
            values.setdefault(label, []).append(value)
    for label, mine in values.items():
        found["", label] = found[label, "acc"] = float(np.mean(mine))
    return found


def _hallusion(scored: ModelVerdicts) -> _Figures:
    right = np.array(scored.right)
    # VD_illusion_1_0_0_2: category, subcategory, visual input, set, figure, question.
    parts = [index.split("_") for index in scored.index]
    if any(len(part) < 6 for part in parts):
        return {("", "aAcc"): float(right.mean())}
    kind = ["_".join(part[:2]) for part in parts]
    figure = [(k, p[3], p[4]) for k, p in zip(kind, parts, strict=True)]
    question = [(k, p[3], p[5]) for k, p in zip(kind, parts, strict=True)]
    found: dict[tuple[str, str], float] = {}
    for name in {"", *kind, *(part[0] for part in parts)}:
        mine = [at for at, k in enumerate(kind) if not name or name in (k, parts[at][0])]
        here = right[mine]
        found[name, "aAcc"] = float(here.mean())
        found[name, "fAcc"] = all_right(here, [figure[at] for at in mine])
        found[name, "qAcc"] = all_right(here, [question[at] for at in mine])
    return found


def _mme(scored: ModelVerdicts) -> _Figures:
    right = np.array(scored.right)
    category = [next(iter(labels.get("category", ())), "") for labels in scored.labels]
    scores: dict[str, float] = {}
    for name in dict.fromkeys(category):
        mine = [at for at, label in enumerate(category) if label == name]
        scores[name] = paired_score(right[mine], [scored.picture[at] for at in mine])
    reasoning = sum(score for name, score in scores.items() if name in _MME_REASONING)
    found = {("", name): score for name, score in scores.items()}
    found["", "reasoning"] = reasoning
    found["", "perception"] = sum(scores.values()) - reasoning
    return found


def _pope(scored: ModelVerdicts) -> _Figures:
    rows: dict[str, list[int]] = {}
    for at, labels in enumerate(scored.labels):
        for name in labels.get("category", ()):
            rows.setdefault(name, []).append(at)
    rows[""] = [at for mine in rows.values() for at in mine]
    truth = np.array([answer.lower() == "yes" for answer in scored.answer])
    said = np.array([answer.lower() == "yes" for answer in scored.said])
    found: dict[tuple[str, str], float] = {}
    for name, mine in rows.items():
        rates = yes_rates(truth[mine], said[mine])
        found[name, "Overall"] = rates.f1
        found[name, "acc"] = rates.accuracy
        found[name, "precision"], found[name, "recall"] = rates.precision, rates.recall
    return found


_FIGURES: Mapping[str, Callable[[ModelVerdicts], _Figures]] = {
    "hallusionbench": _hallusion,
    "mme": _mme,
    "pope": _pope,
}
