"""MetaCritique's annotations: critiques of answers cut into claims, each judged by people.

A critique is an answer here: to the question with the answer that it criticises. People say of
each of its claims whether it is right (precision), and of each claim of the reference critique
whether this critique makes it, too (recall). The stored scores are compared with the means of the
labels.

Reference: MetaCritique (Sun et al., 2024), repository GAIR-NLP/MetaCritique,
`data/annotation_data.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_list, to_name, to_number, to_text, to_verdict
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import SortedRow, names_keys, row_by_row, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.records import content_id

NAME = "metacritique"
DATASET = "MetaCritique"
PEOPLE = "people"
"""The annotator: the file doesn't tell one person from another."""
MEASURES = ("precision", "recall")
REFERENCE = "gpt4"
"""Who wrote the reference critique."""
_CRITICS = ("human", "llm1", "llm2")
_KINDS = {"item": ("question", "response", "gpt4_critique", "human_critique")}
_EXPECTED = "items (`question`, `response`, `gpt4_critique`, `human_critique`)"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is MetaCritique's file."""
    return 0.95 if names_keys(head, "gpt4_critique", "human_critique", "aius") else 0.0


def claim_key(critique_id: str, measure: str, position: int) -> str:
    """Name a claim that people judge, as an `Annotation` of kind accuracy does."""
    return f"{critique_id}/{measure}/{position}"


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read critiques and the people's labels.

    Raises:
        FormatError: no row is one of MetaCritique's.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    rows = sort_rows(files, collector, _KINDS, _EXPECTED)
    checked = [0, 0]

    def end(_: bool) -> None:
        if checked[1]:
            collector.note(
                f"{checked[0]} of {checked[1]} stored scores equal the means of the labels"
            )

    return row_by_row(
        rows,
        lambda found, maker: _item(found, maker, checked),
        options,
        collector,
        what="items",
        end=end,
    )


def _item(found: SortedRow, maker: Maker, checked: list[int]) -> None:
    row, place = found.row.values, found.row.place
    question, answer = to_text(row["question"]), to_text(row["response"])
    if question is None or answer is None:
        maker.out.skip(place, "it has no question, or no answer to criticise")
        return
    source = to_name(row.get("dataset"))
    shepherd = to_name(row.get("shepherd_id"))
    sample_id = maker.sample(
        place,
        found.file.name,
        shepherd or content_id("item", question, answer),
        SourceQuestion(
            text=f"{question}\n\nThe answer to criticise:\n{answer}",
            labels=(("dataset", source),) if source else (),
        ),
    )
    if sample_id is None:
        return
    reference = row["gpt4_critique"]
    theirs = _texts(reference.get("aius")) if isinstance(reference, dict) else []
    if isinstance(reference, dict):
        maker.answer(place, sample_id, REFERENCE, to_text(reference.get("critique")))
    for critic in _CRITICS:
        critique = row.get(f"{critic}_critique")
        if isinstance(critique, dict):
            _critique(found, sample_id, critic, critique, theirs, maker, checked)
        else:
            maker.out.tally(f"there is no critique by {critic}", place)


def _critique(
    found: SortedRow,
    sample_id: str,
    critic: str,
    critique: Mapping[str, object],
    theirs: Sequence[str],
    maker: Maker,
    checked: list[int],
) -> None:
    place = found.row.place
    name = to_name(critique.get("model")) or critic
    critique_id = maker.answer(place, sample_id, name, to_text(critique.get("critique")))
    if critique_id is None:
        return
    maker.tags("response", critique_id, found.file.name, [("critic", critic)])
    claims = {"precision": _texts(critique.get("aius")), "recall": theirs}
    means: dict[str, float] = {}
    for measure in MEASURES:
        verdicts = [to_verdict(value) for value in to_list(critique.get(f"{measure}_labels")) or ()]
        if len(verdicts) != len(claims[measure]):
            maker.out.tally(f"{measure} labels and claims differ in number", place)
        values: list[float] = []
        for position, verdict in enumerate(verdicts):
            if verdict is None or verdict.value is None:
                maker.out.tally(
                    "a label is neither true nor false; it is left out", place, "labels"
                )
                continue
            values.append(verdict.value)
            at = claims[measure][position : position + 1]
            maker.label(
                place,
                GivenLabel(
                    kind="accuracy",
                    subject_id=claim_key(critique_id, measure, position),
                    annotator=PEOPLE,
                    value=verdict.value,
                    label="right" if verdict.value else "wrong",
                    note=cut(at[0]) if at else "",
                ),
            )
        means[measure] = sum(values) / len(values) if values else 0.0
    both = sum(means.values())
    means["f1"] = 2 * means["precision"] * means["recall"] / both if both else 0.0
    for measure, mean in means.items():
        stored = to_number(critique.get(f"{measure}_score"))
        if stored is not None:
            checked[0] += abs(stored - mean) < 1e-9
            checked[1] += 1


def _texts(value: object) -> list[str]:
    return [text for item in to_list(value) or () if (text := to_text(item)) is not None]


FORMAT = Format(
    name=NAME,
    about="MetaCritique: critiques cut into claims, each judged by people.",
    patterns=("annotation_data*.json",),
    wanted="annotation_data.json",
    sniff=sniff,
    read=read,
)
