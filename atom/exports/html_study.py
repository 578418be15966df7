"""A study as one HTML file that reads itself: ranking, tree, heatmap and failures, offline.

The study lies in the file as JSON; a script that is part of the file draws it, with text nodes
only. A Content-Security-Policy allows that one script, by its hash, and no request at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from atom.display.estimate import Estimate
from atom.display.markup import Html, el
from atom.display.numbers import are, count
from atom.exports.base import (
    Exporter,
    ExportOptions,
    ExportResult,
    ExportSource,
    manifest_of,
)
from atom.exports.whole_samples import WHOLE, ScoredAnswer, WholeSample, whole_samples
from atom.files import size_of, write_file
from atom.records import MarkScale, Polarity
from atom.reports.figures import colour
from atom.reports.html_file import thumbnails
from atom.views.failures.marked import MARK_GLYPHS, shortened_mark
from atom.views.failures.page import failures
from atom.views.filters import measure_of
from atom.views.judges.panel import panel_view
from atom.views.judges.panel_words import panel_words
from atom.views.overview.page import Overview, overview
from atom.views.overview.ranking_table import BAR, DIFFER, FOUND, MODEL, N, ranking_table
from atom.views.study_data import load_study

NAME = "html"
DEFAULT_SAMPLES = 500
MOST_TEXT = 2_000
"""Characters of an answer that are kept."""
MOST_REASON = 400
REASONS_TO = 3
"""Scores up to this one bring the judge's reason along."""
DROPS = (
    "pictures in full size: each sample's first is a thumbnail, up to 3 MB in all",
    f"what stands behind the first {MOST_TEXT:,} characters of an answer",
    "the judge's reasons for scores of 4 and 5, its replays, raw replies, prompts and costs",
    "regions in pictures",
    "repeated answers, corrected answers and self-correction",
    "single votes: the share of votes that an answer won stays",
    "people's labels, verdicts of other methods, the tree's older versions, runs and imports",
)
_MEASURES = {
    "process": "score of the steps, 0-100",
    "outcome": "right final answers, percent",
    "preference": "votes won, percent",
}
_FOLDER = Path(__file__).parent / "assets"


@cache
def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def write(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    """Write the file.

    Args:
        place: a file that isn't there yet.
        options: `samples` bounds how many are in it (500 unless told): those that fail worst.
    """
    view = overview(source.data, WHOLE)
    numbers, total = _chosen(source, options.samples or DEFAULT_SAMPLES)
    notes = []
    if len(numbers) < total:
        notes.append(
            f"{len(numbers):,} of {total:,} samples are in the file, those that fail worst; "
            "ranking, tree and heatmap count all"
        )
    read, samples, gone = thumbnails(source.store), [], 0
    for whole in whole_samples(source, numbers=numbers):
        samples.append(_sample(source, whole, read))
        gone += samples[-1]["left_out"]
        if len(samples) % 100 == 0:
            options.progress(f"{len(samples):,} samples")
    if gone:
        notes.append(f"{count(gone, 'picture')} {are(gone)} left out, so that the file stays small")
    counts = {"samples": len(samples), "models": len(source.data.candidates)}
    manifest = manifest_of(NAME, source, options, counts, DROPS, tuple(notes))
    judge = source.data.judge
    study = {
        "manifest": manifest.model_dump(mode="json"),
        "judge": judge.name if judge else "",
        "measure": measure_of(source.data, WHOLE),
        "unit": _MEASURES[measure_of(source.data, WHOLE)],
        "total": total,
        "whole": len(samples) == total,
        "quarantined": view.quarantined,
        "models": [
            {"name": one.name, "colour": colour(number)}
            for number, one in enumerate(source.data.candidates)
        ],
        "panel": _panel(source),
        "statements": [one.text for one in view.statements],
        "ranking": _ranking(source, view),
        "nodes": _nodes(source, view),
        "samples": samples,
    }
    write_file(place, page(source.name, study), replace=False)
    return ExportResult(
        place=place, n_bytes=size_of(place), counts=counts, drops=DROPS, notes=tuple(notes)
    )


def page(title: str, study: dict[str, Any]) -> str:
    """Put the page together.

    Args:
        title: the study's name.
        study: what the script draws; JSON-able.
    """
    script = _asset("study.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        f"form-action 'none'; script-src 'sha256-{digest}'"
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{title}: study"),
        el("style", Html(_asset("study.css"))),
    )
    body = el(
        "body",
        el("main", el("noscript", "This file draws itself with a script of its own: allow it."),
           id="page"),
        el("script", Html(script_json(study)), type="application/json", id="study"),
        el("script", Html(script)),
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{el('html', head, body, lang='en')}\n"


def script_json(value: object) -> str:
    """Write JSON that can't end the script element that it stands in, nor begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _chosen(source: ExportSource, limit: int) -> tuple[list[int], int]:
    """Return which samples are in the file: all in the study's order, or the worst ones."""
    total = len(source.data.table.sample_ids)
    if total <= limit:
        return list(range(total)), total
    at = source.data.sample_position
    worst = [at[name] for name in failures(source.store, source.data, WHOLE).order[:limit]]
    listed = set(worst)
    rest = (number for number in range(total) if number not in listed)
    while len(worst) < limit:
        worst.append(next(rest))
    return worst, total


_DRAWN = {MODEL: "model", BAR: "bar", N: "n", DIFFER: "differ", FOUND: "lines"}
"""What the page draws in other ways than as a text, or looks for, by its heading."""


def _ranking(source: ExportSource, view: Overview) -> dict[str, Any]:
    """Return the ranking's headings, and what each row says under them."""
    table = ranking_table(view)
    shown = table.shown("text")
    return {
        "heads": [
            {"title": one.title, "number": one.number, "kind": _DRAWN.get(one.title, "")}
            for one in shown
        ],
        "rows": [
            {
                "model": source.data.model_index(row.model_id),
                "score": _estimate(row.score),
                "cells": [one.of(row) if one.title == FOUND else one.text(row) for one in shown],
            }
            for row in table.rows
        ],
    }


def _panel(source: ExportSource) -> list[str]:
    """Say what a panel's judges are worth together; nothing where one judge marked the study."""
    data = source.data
    if data.table.apart is None:
        return []
    view = panel_view(
        source.store, data, lambda judge: load_study(source.store, data.study.id, judge), WHOLE
    )
    return [] if view is None else list(panel_words(view))


def _nodes(source: ExportSource, view: Overview) -> list[dict[str, Any]]:
    """Return capabilities in the tree's order, or labels where there are none."""
    found = []
    for row in view.skills:
        cells: list[Any] = [None] * len(source.data.candidates)
        for cell in row.cells:
            model = source.data.model_index(cell.model_id)
            if model is not None:
                cells[model] = _estimate(cell.estimate)
        found.append(
            {
                "name": row.name,
                "path": list(row.path),
                "label": list(row.label) if row.label else None,
                "depth": row.depth,
                "samples": row.samples,
                "cells": cells,
            }
        )
    return found


def _estimate(one: Estimate) -> list[float] | None:
    if not one.known:
        return None
    ends = [None if math.isnan(end) else round(end, 2) for end in (one.lo, one.hi)]
    return [round(one.value, 2), *ends, one.n]  # type: ignore[list-item]


def _sample(source: ExportSource, whole: WholeSample, thumbnail: Any) -> dict[str, Any]:
    sample = whole.sample
    slot = sample.pictures[0] if sample.pictures else None
    scales = source.scales
    picture = thumbnail(slot.picture_id) if slot is not None and slot.picture_id else None
    return {
        "id": sample.id,
        "name": sample.source_id or sample.id[:12],
        "source": sample.dataset,
        "question": sample.question,
        "choices": list(sample.choices),
        "reference": sample.reference,
        "picture": picture,
        "picture_name": slot.name if slot is not None else "",
        "left_out": int(slot is not None and slot.picture_id is not None and picture is None),
        "more_pictures": max(len(sample.pictures) - 1, 0),
        "tags": [list(pair) for pair in whole.tags],
        "quarantined": whole.quarantined,
        "criteria": [
            {
                "question": use.criterion.question,
                "truth": use.criterion.ground_truth,
                "weight": use.weight,
                "leaf": list(use.leaf or ()),
            }
            for use in whole.criteria
        ],
        "answers": [
            _answer(whole, one, scales) for one in whole.answers if one.response.repeat == 0
        ],
    }


def _fails(scale: MarkScale | None, value: float, polarity: Polarity) -> bool:
    """Say whether a mark is a failed one on its scale; a penalty's is where it is met."""
    if scale is None:
        return False
    return value >= scale.passes_at if polarity == "penalty" else value <= scale.fails_at


def _answer(
    whole: WholeSample, one: ScoredAnswer, scales: Mapping[str, MarkScale]
) -> dict[str, Any]:
    text = one.response.text
    marks: list[list[Any]] = []
    for use in whole.criteria:
        mark = one.mark(use.criterion.id)
        if mark is None:
            marks.append([None])
        elif mark.value is None:
            marks.append([MARK_GLYPHS[mark.state], mark.detail[:MOST_REASON]])
        elif mark.score is None:
            bad = _fails(scales.get(mark.scale), mark.value, use.use.polarity)
            marks.append([shortened_mark(mark.raw), mark.reason[:MOST_REASON], int(bad)])
        elif mark.score <= REASONS_TO:
            marks.append([mark.score, mark.reason[:MOST_REASON]])
        else:
            marks.append([mark.score])
    return {
        "model": one.model,
        "text": text[:MOST_TEXT],
        "cut": max(len(text) - MOST_TEXT, 0),
        "state": one.response.state,
        "right": one.right,
        "score": None if one.score is None else round(one.score, 2),
        "won": one.preferred,
        "marks": marks,
    }


EXPORTER = Exporter(
    name=NAME,
    title="One page (HTML)",
    about="A read-only study in one file, with filters, for anybody with a browser and no network.",
    suffix=".html",
    folder=False,
    drops=DROPS,
    write=write,
)
