"""Two models side by side in the form of Google's LLM Comparator.

The layout rests on that tool's public repository (github.com/PAIR-code/llm-comparator, README
"JSON Data Format" and `client/lib/types.ts`): `metadata.source_path`,
`metadata.custom_fields_schema` (name, type), `models` (name; two of them), and `examples` with
`input_text`, `tags`, `output_text_a`, `output_text_b`, `score` (above 0 = A is better, within
1.5 to -1.5), `individual_rater_scores` (score, is_flipped, rationale) and `custom_fields`.

Our score of an example: the mean of its votes (won 1, won clearly 1.5, tie 0, lost the same below
0); where nobody voted, 1.5 x (A's sample score - B's) on 0..1; where nothing is scored, 1.5 x (A
right - B right).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from atom.errors import UsageError
from atom.exports.base import (
    Exporter,
    ExportOptions,
    ExportResult,
    ExportSource,
    manifest_of,
    write_json,
)
from atom.exports.whole_samples import WHOLE, ScoredAnswer, WholeSample, whole_samples
from atom.files import new_file, size_of
from atom.records import Preference
from atom.store import table
from atom.views.overview.page import overview
from atom.views.pictures import read_thumbnail

NAME = "llm-comparator"
RESTS_ON = "github.com/PAIR-code/llm-comparator: README, JSON Data Format; client/lib/types.ts"
DROPS = (
    "all models but two, and repeated answers",
    "criteria and their scores: one score an example stays",
    "every picture but a sample's first, which is kept as a thumbnail",
    "intervals, weaknesses and the tree",
    "the judge's replays, raw replies, prompts and costs",
    "self-correction, people's labels, runs and imports",
)
_SPAN = 1.5
_FIELDS = (
    ("picture", "image_byte"), ("sample", "string"), ("dataset", "category"),
    ("reference", "text"), ("final_answer", "per_model_category"),
    ("sample_score", "per_model_number"),
)  # fmt: skip


def write(source: ExportSource, place: Path, options: ExportOptions) -> ExportResult:
    """Write the file.

    Args:
        place: a file that isn't there yet.
        options: `models` names two, by name or id; else the first two of the ranking.

    Raises:
        UsageError: there aren't two such models.
    """
    pair = _pair(source, options.models)
    names = [source.data.candidates[one].name for one in pair]
    examples: list[dict[str, Any]] = []
    without = 0
    for whole in whole_samples(source, options.samples):
        first, second = (_answer(whole, one) for one in pair)
        if first is None or second is None:
            without += 1
            continue
        examples.append(_example(source, whole, len(examples), first, second))
        if len(examples) % 200 == 0:
            options.progress(f"{len(examples):,} examples")
    notes = [f"A is {names[0]}, B is {names[1]}"]
    if without:
        notes.append(f"{without} samples are left out: one of the two has no answer there")
    counts = {"examples": len(examples)}
    manifest = manifest_of(NAME, source, options, counts, DROPS, tuple(notes), RESTS_ON)
    badge = " (SYNTHETIC)" if source.data.study.synthetic else ""
    file = {
        "metadata": {
            "source_path": f"Atomscope: {source.name}{badge}",
            "custom_fields_schema": [{"name": name, "type": kind} for name, kind in _FIELDS],
            "atomscope": manifest.model_dump(mode="json"),
        },
        "models": [{"name": name} for name in names],
        "examples": examples,
    }
    with new_file(place) as part:
        write_json(part, file)
    return ExportResult(
        place=place, n_bytes=size_of(place), counts=counts, drops=DROPS, notes=tuple(notes)
    )


def _pair(source: ExportSource, wanted: Sequence[str]) -> tuple[int, int]:
    data = source.data
    if not wanted:
        ranked = [data.model_index(row.model_id) for row in overview(data, WHOLE).ranking]
        found = [one for one in ranked if one is not None][:2]
    else:
        at = {name: n for n, one in enumerate(data.candidates) for name in (one.id, one.name)}
        unknown = [name for name in wanted if name not in at]
        if unknown:
            names = ", ".join(one.name for one in data.candidates)
            raise UsageError(f"there is no model {unknown[0]!r} in this study; there are: {names}")
        found = [at[name] for name in wanted]
    if len(found) != 2 or found[0] == found[1]:
        raise UsageError(
            f"LLM Comparator compares two models, got {len(found)}: name two with --models A,B"
        )
    return found[0], found[1]


def _answer(whole: WholeSample, model: int) -> ScoredAnswer | None:
    return next((one for one in whole.answers if one.model == model and one.response.text), None)


def _example(
    source: ExportSource, whole: WholeSample, index: int, first: ScoredAnswer, second: ScoredAnswer
) -> dict[str, Any]:
    sample = whole.sample
    choices = [f"({chr(65 + n)}) {text}" for n, text in enumerate(sample.choices)]
    ratings = _ratings(source, sample.id, first.response.id, second.response.id)
    return {
        "index": index,
        "input_text": "\n".join([sample.question, *choices]),
        "tags": [f"{facet}: {value}" for facet, value in whole.tags],
        "output_text_a": first.response.text,
        "output_text_b": second.response.text,
        "score": _score(ratings, first, second),
        "individual_rater_scores": ratings,
        "rationale_list": [],
        "custom_fields": {
            "picture": _picture(source, whole),
            "sample": sample.id,
            "dataset": sample.dataset,
            "reference": sample.reference,
            "final_answer": [_right(first), _right(second)],
            "sample_score": [first.score, second.score],
        },
    }


def _score(
    ratings: Sequence[dict[str, Any]], first: ScoredAnswer, second: ScoredAnswer
) -> float | None:
    given = [one["score"] for one in ratings]
    if given:
        return float(sum(given) / len(given))
    if first.score is not None and second.score is not None:
        return _SPAN * (first.score - second.score) / 100
    if first.right is not None and second.right is not None:
        return _SPAN * (first.right - second.right)
    return None


def _ratings(source: ExportSource, sample_id: str, first: str, second: str) -> list[dict[str, Any]]:
    """Return the votes between two answers, a rating each."""
    if not source.data.has_preference:
        return []
    columns = table(Preference).c
    votes = [
        (vote, a == first)
        for a, b in ((first, second), (second, first))
        for vote in source.store.select(
            Preference,
            columns.sample_id == sample_id,  # the column that has an index
            columns.response_a == a,
            columns.response_b == b,
            order_by=[columns.id],
        )
        if vote.verdict is not None
    ]
    found: list[dict[str, Any]] = []
    for index, (vote, straight) in enumerate(votes):
        won = {"a": 1, "b": -1, "tie": 0}[vote.verdict or "tie"] * (1 if straight else -1)
        found.append(
            {
                "index": index,
                "score": won * (_SPAN if vote.strength == 2 else 1.0),
                "rating_label": vote.verdict,
                "is_flipped": (vote.first == "a") != straight,
                "rationale": vote.reason,
                "custom_fields": {},
            }
        )
    return found


def _right(answer: ScoredAnswer) -> str:
    if answer.right is None:
        return "not known"
    return "right" if answer.right >= 0.5 else "wrong"


def _picture(source: ExportSource, whole: WholeSample) -> str | None:
    """Return the first picture as a small JPEG in base64, the form that the tool draws."""
    ids = [slot.picture_id for slot in whole.sample.pictures if slot.picture_id]
    found = read_thumbnail(source.store, ids[0]) if ids else None
    if found is None:
        return None
    out = io.BytesIO()
    Image.open(io.BytesIO(found.data)).convert("RGB").save(out, "JPEG", quality=80)
    return base64.b64encode(out.getvalue()).decode("ascii")


EXPORTER = Exporter(
    name=NAME,
    title="LLM Comparator (JSON)",
    about="Two models side by side, for Google's LLM Comparator.",
    suffix=".json",
    folder=False,
    drops=DROPS,
    write=write,
)
