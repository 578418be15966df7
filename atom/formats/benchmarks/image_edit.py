"""Ratings of edited pictures by many people, and a multimodal judge's scores on the same criteria.

`human_ratings.csv` has a row for each person and picture with twelve criteria from 1 to 7; files
`judge_*.jsonl` hold a judge's twelve scores with reasons, for the data set's own edits (`offline`)
and for new ones (`online`). The two sides spell two criteria differently (`texture_detail` and
`texture_and_detail`): the people's names are used for both.

Reference: repository mllmasajudge-anonymous/MLLM-as-a-Judge, `results/`.
"""

from __future__ import annotations

from collections.abc import Sequence

from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_number, to_text, to_verdict
from atom.formats.intake.batch import GivenLabel
from atom.formats.intake.by_row import Limit, SortedRow, in_batches, names_keys, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, words
from atom.formats.intake.names import cut

NAME = "image-edit"
DATASET = "Image editing ratings"
CRITERIA = (
    "unchanged_regions", "global_consistency", "identity_preservation", "scale_realism",
    "spatial_relationship", "texture_detail", "image_quality", "color_lighting", "seamlessness",
    "alignment", "completeness", "plausibility",
)  # fmt: skip
OVERALL = "overall"
TOP = 7
UNTOLD = "(the instruction of this edit is in none of the files)"
_SPELLED = {"texture_and_detail": "texture_detail", "color_and_lighting": "color_lighting"}
_KINDS = {
    "people": ("annotator_id", "task_id", "instruction"),
    "judge": ("image_id", "offline_factor_results"),
    "judge online": ("image_id", "online_factor_results"),
}
_EXPECTED = (
    "people's ratings (`annotator_id`, `task_id`, criteria) or a judge's (`image_id`, "
    "`offline_factor_results`)"
)


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is such a file."""
    if names_keys(head, "annotator_id", "task_id", "unchanged_regions", "plausibility"):
        return 0.95
    online = names_keys(head, "image_id", "online_factor_results")
    return 0.95 if online or names_keys(head, "image_id", "offline_factor_results") else 0.0


def part_of(kind: str, criterion: str) -> str:
    """Name what a judge's score is about: `offline/alignment`."""
    return f"{kind}/{criterion}"


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read ratings by people and by judges together.

    Raises:
        FormatError: a file is neither.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    items: dict[str, list[SortedRow]] = {}
    for found in sort_rows(files, collector, _KINDS, _EXPECTED):
        key = "task_id" if found.kind == "people" else "image_id"
        identity = to_name(found.row.values[key])
        if identity is None:
            collector.skip(found.row.place, f"it has no {key}")
        else:
            items.setdefault(identity, []).append(found)
    maker = Maker(collector, options)
    limit = Limit(options, collector, "pictures")
    return Reading(
        in_batches(items.items(), lambda one: _item(*one, options, maker), limit), collector
    )


def _item(identity: str, rows: Sequence[SortedRow], options: ReadOptions, maker: Maker) -> None:
    people = next((found for found in rows if found.kind == "people"), None)
    text = None if people is None else to_text(people.row.values["instruction"])
    if text is None:
        maker.out.tally("an edit's instruction is in none of the files", identity)
    task = identity.split("_")
    sample_id = maker.sample(
        rows[0].row.place,
        rows[0].file.name,
        identity,
        SourceQuestion(
            text=text or f"Edit {identity} {UNTOLD}",
            labels=(("edit", task[1]),) if len(task) > 2 else (),
            find_by_id=True,
        ),
    )
    if sample_id is None:
        return
    for found in rows:
        if found.kind == "people":
            _person(found, sample_id, maker)
        else:
            _judge(found, sample_id, options, maker)


def _person(found: SortedRow, sample_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    who = to_name(row["annotator_id"])
    if who is None:
        maker.out.skip(place, "it names no rater")
        return
    skipped = to_verdict(row.get("skipped"))
    if skipped is not None and skipped.value == 1:
        maker.out.skip(place, "the rater skipped this picture")
        return
    for key, value in row.items():
        criterion = _SPELLED.get(key, key)
        if criterion not in (*CRITERIA, OVERALL):
            continue
        number = to_number(value)
        if number is None or not 1 <= number <= TOP:
            maker.out.tally(
                f"a rating isn't a number from 1 to {TOP}; it is left out", place, "labels"
            )
            continue
        maker.label(
            place,
            GivenLabel(
                kind="score",
                subject_id=f"{sample_id}/{criterion}",
                annotator=cut(who),
                value=number,
            ),
        )


def _judge(found: SortedRow, sample_id: str, options: ReadOptions, maker: Maker) -> None:
    judge = options.candidates.get(found.file.name) or found.file.stem.removeprefix("judge_")
    place = found.row.place
    for kind in ("offline", "online"):
        scores = found.row.values.get(f"{kind}_factor_results")
        if not isinstance(scores, dict):
            continue
        for name, value in scores.items():
            key = str(name)
            told = value if isinstance(value, dict) else {}
            maker.score(
                place,
                sample_id,
                cut(part_of(kind, _SPELLED.get(key, key)), 200),
                judge,
                told.get("score"),
                (1, TOP),
                text=words(told.get("justification")),
            )


FORMAT = Format(
    name=NAME,
    about="Ratings of edited pictures by many people, and a judge's scores beside them.",
    patterns=("human_ratings.csv", "judge_*.jsonl"),
    wanted="human_ratings.csv and judge_*.jsonl",
    sniff=sniff,
    read=read,
)
