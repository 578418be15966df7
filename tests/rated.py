"""A small imported study: one judge's marks on declared scales, with all that a rubric declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Judge,
    MarkScale,
    Record,
    Response,
    Sample,
    Sampling,
    Study,
    TreeRecord,
)
from atom.records import Mapping as LeafMapping
from atom.store import Store
from taxonomy import Node, Tree, to_json, tree_version
from tests.factories import add_to_study

YES_NO = MarkScale.of_levels({"no": 0, "yes": 1}, name="yes or no", na=["n/a"])
TEN = MarkScale.of_numbers(0, 10, name="0 to 10")
WORDS = MarkScale.of_levels({"poor": 0, "fair": 0.5, "good": 1}, name="words", ordinal=True)
RUBRIC = "rubric-judge"
LEAVES = (("Seeing", "Colour"), ("Seeing", "Shape"), ("Telling", "Style"))
TREE = Tree("Rubric tree", (Node("Seeing", "", (Node("Colour"), Node("Shape"))),
                            Node("Telling", "", (Node("Style"),))))  # fmt: skip


def rated(
    folder: Path,
    uses: Sequence[Mapping[str, Any]],
    marks: Mapping[tuple[str, str], Sequence[object]],
    scales: Sequence[MarkScale] = (YES_NO,),
) -> tuple[Store, Study]:
    """Make a store with one imported study.

    Args:
        folder: where.
        uses: what each criterion of every sample is (`weight`, `polarity`, ...); `parents` as
            numbers of criteria.
        marks: (sample, model) -> its marks as written, one a criterion; None = there is none.
        scales: of each criterion, the last one for all others.
    """
    samples = list(dict.fromkeys(sample for sample, _ in marks))
    models = list(dict.fromkeys(model for _, model in marks))
    version = tree_version(TREE)
    study = Study(id=Study.make_id("Rated"), name="Rated", judge_id=RUBRIC, tree_version=version)
    records: list[Record] = [
        study,
        TreeRecord(version=version, name=TREE.name, body=to_json(TREE)),
        Judge(id=RUBRIC, name="Rubric judge", kind="person"),
        *{scale.id: scale for scale in scales}.values(),
        *(Candidate(id=name, name=name) for name in models),
    ]
    for sample in samples:
        records += _asked(sample, uses, version)
    for (sample, model), raws in marks.items():
        records += _answered(sample, model, raws, scales)
    store = Store.open(folder)
    with store.write() as writer:
        writer.put(records)
        add_to_study(writer, study.id, samples, models, first_position=0)
        for sample in samples:
            writer.execute(_place(sample))
    return store, study


def _place(sample: str):
    from atom.records import StudySample
    from atom.store import table

    place = table(StudySample)
    chosen = place.update().where(place.c.sample_id == sample)
    return chosen.values(criteria_set_id=f"set-{sample}")


def _asked(sample: str, uses: Sequence[Mapping[str, Any]], version: str) -> list[Record]:
    def name(at: int) -> str:
        return f"{sample}-{at}"

    made = tuple(
        CriterionUse(
            criterion_id=name(at), position=at,
            **{**told, "parents": tuple(name(one) for one in told.get("parents", ()))},
        )
        for at, told in enumerate(uses)
    )  # fmt: skip
    return [
        Sample(id=sample, dataset="rubric", question=f"What is in {sample}?"),
        CriteriaSet(id=f"set-{sample}", sample_id=sample, judge_id=RUBRIC, prompt="imported",
                    source="imported", state="scored", uses=made),
        *(Criterion(id=name(at), sample_id=sample, question=f"Does it tell thing {at}?",
                    kind="requirement") for at in range(len(uses))),
        *(LeafMapping(criterion_id=name(at), tree_version=version, judge_id=RUBRIC,
                      prompt="imported", state="scored", leaf=LEAVES[at % len(LEAVES)])
          for at in range(len(uses))),
    ]  # fmt: skip


def _answered(
    sample: str, model: str, raws: Sequence[object], scales: Sequence[MarkScale]
) -> list[Record]:
    answer = Response(id=f"{sample}/{model}", sample_id=sample, candidate_id=model,
                      prompt="imported", text=f"{model} on {sample}")  # fmt: skip
    points: list[Record] = [answer]
    for at, raw in enumerate(raws):
        scale = scales[min(at, len(scales) - 1)]
        if raw is None:
            continue
        mark = scale.read(raw)
        criterion = f"{sample}-{at}"
        points.append(
            Checkpoint(
                key=Checkpoint.make_key(criterion, answer.id, RUBRIC, "imported", Sampling()),
                criterion_id=criterion, response_id=answer.id, judge_id=RUBRIC, prompt="imported",
                state=mark.state, value=mark.value, detail=mark.detail, raw=str(raw),
                scale=scale.id, reason=f"because {raw}",
            )
        )  # fmt: skip
    return points
