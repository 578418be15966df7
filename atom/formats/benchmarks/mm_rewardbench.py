"""Multimodal RewardBench: pairs with the better answer marked, and a judge's output on them.

The data (`Text`, `Image`, `Output1`, `Output2`, `Better`) and a judge's file (`Label`, `output`
ending in [[A]] or [[B]]) may be given together. An output that names neither stays an unscored
vote: no coin is flipped.

Reference: Multimodal RewardBench (Yasunaga et al., 2025), repository
facebookresearch/multimodal_rewardbench.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_text
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import Limit, SortedRow, in_batches, names_keys, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, words
from atom.records import Annotation, PreferenceVerdict

NAME = "multimodal-rewardbench"
DATASET = "Multimodal RewardBench"
PEOPLE = "people"
_KINDS = {"data": ("ID", "Text", "Output1", "Output2"), "judge": ("ID", "Label", "output")}
_EXPECTED = (
    "pairs (`ID`, `Text`, `Output1`, `Output2`, `Better`) or outputs (`ID`, `Label`, `output`)"
)
_VERDICT = re.compile(r"\[\[\s*([AB])\s*\]\]")
_SIDE: Mapping[str, PreferenceVerdict] = {"A": "a", "B": "b", "OUTPUT1": "a", "OUTPUT2": "b"}


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of its files."""
    data = names_keys(head, "ID", "Output1", "Output2", "Better")
    return 0.95 if data or names_keys(head, "ID", "Image", "Label", "output") else 0.0


@dataclass(kw_only=True)
class _Item:
    data: SortedRow | None = None
    outputs: list[SortedRow] = field(default_factory=list)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read pairs and outputs together.

    Raises:
        FormatError: a file is neither.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    items: dict[str, _Item] = {}
    for found in sort_rows(files, collector, _KINDS, _EXPECTED):
        identity = to_name(found.row.values["ID"])
        if identity is None:
            collector.skip(found.row.place, "it has no ID")
            continue
        item = items.setdefault(identity, _Item())
        if found.kind == "judge":
            item.outputs.append(found)
        elif item.data is None:
            item.data = found
        else:
            collector.skip(found.row.place, f"{identity!r:.80} stood before")
    maker = Maker(collector, options)
    limit = Limit(options, collector, "pairs")
    return Reading(
        in_batches(items.items(), lambda one: _item(*one, options, maker), limit), collector
    )


def _item(identity: str, item: _Item, options: ReadOptions, maker: Maker) -> None:
    found = item.data or item.outputs[0]
    row, place = found.row.values, found.row.place
    image, meta = to_name(row.get("Image")), row.get("Meta")
    category = to_name(row.get("Category"))
    if category is None and isinstance(meta, dict):
        category = to_name(meta.get("Category"))
    sample_id = maker.sample(
        place,
        found.file.name,
        identity,
        SourceQuestion(
            text=maker.told(to_text(row.get("Text")), identity, place),
            pictures=(image,) if image else (),
            labels=(("category", category),) if category else (),
        ),
    )
    if sample_id is None:
        return
    known = item.data is not None
    a, b = (
        maker.answer(place, sample_id, name, to_text(row.get(key)), known=known)
        for name, key in (("answer A", "Output1"), ("answer B", "Output2"))
    )
    if a is None or b is None:
        return
    label = _SIDE.get((to_name(row.get("Better") or row.get("Label")) or "").upper())
    if label is None:
        maker.out.tally("it isn't said which answer is better (A or B)", place)
    else:
        maker.label(
            place,
            GivenLabel(
                kind="preference", subject_id=Annotation.pair(a, b), annotator=PEOPLE, label=label
            ),
        )
    for output in item.outputs:
        said = to_text(output.row.values["output"]) or ""
        verdicts = _VERDICT.findall(said)
        if not verdicts:
            maker.out.tally("an output names neither answer; the vote stays unscored", place)
        maker.prefer(
            output.row.place,
            sample_id,
            (a, b),
            options.candidates.get(output.file.name) or output.file.stem,
            _SIDE[verdicts[-1]] if verdicts else None,
            reason=words(said),
            detail="" if verdicts else "the output names neither [[A]] nor [[B]]",
        )


FORMAT = Format(
    name=NAME,
    about="Multimodal RewardBench: pairs with the better answer, and a judge's output.",
    patterns=("*.jsonl", "*.csv"),
    wanted="the data, or a judge's output",
    sniff=sniff,
    read=read,
)
