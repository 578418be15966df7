"""A small study that two models and two people marked on the same criteria, each on its own scale.

Twenty-four pictures by three candidates; three yes/no questions each, of which the second and the
third rest on the first. What is planted: both models see the truth, the second less often; people
see it most often.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from atom.records import (
    Annotation,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Judge,
    Mapping,
    MarkScale,
    RankedAnswer,
    Record,
    Response,
    Sample,
    Sampling,
    Study,
    StudySample,
    TreeRecord,
    own_mark,
)
from atom.store import Store, table
from taxonomy import Node, Tree, to_json, tree_version
from tests.factories import add_to_study
from tests.kept import copy_of

STUDY = "Judged by four"
SAMPLES, CANDIDATES = 24, ("cand-a", "cand-b", "cand-c")
QUESTIONS = ("Is there a ball?", "Is the ball red?", "Is it left of the box?")
TREE = Tree(
    "Pictures",
    (
        Node("Perception", "", (Node("Objects"), Node("Colours"))),
        Node("Reasoning", "", (Node("Places"),)),
    ),
)
LEAVES = (("Perception", "Objects"), ("Perception", "Colours"), ("Reasoning", "Places"))
ABILITY = (0.9, 0.6, 0.35)
"""Share of criteria that each candidate meets."""
MODELS = (
    Judge(id="judge-x", name="Judge X"),
    Judge(id="judge-y", name="Judge Y"),
)
PEOPLE = (
    Judge(id="person-ann", name="Ann", kind="person"),
    Judge(id="person-ben", name="Ben", kind="person"),
)
RIGHT = {"judge-x": 0.9, "judge-y": 0.75, "person-ann": 0.95, "person-ben": 0.95}
"""How often each sees the truth."""
YES_NO = MarkScale.of_levels({"no": 0.0, "yes": 1.0}, name="no, yes", na=("n/a",))
HALVES = MarkScale.of_levels({"0": 0.0, "0.5": 0.5, "1": 1.0}, name="0, 0.5, 1")


def sample_id(number: int) -> str:
    """Name a sample."""
    return Sample.make_id("pictures", str(number))


def response_id(number: int, candidate: str) -> str:
    """Name an answer."""
    return Response.make_id(sample_id(number), candidate, "imported", Sampling())


def criterion_id(number: int, place: int) -> str:
    """Name a criterion."""
    return Criterion.make_id(sample_id(number), QUESTIONS[place], "")


def truths() -> np.ndarray:
    """Return what is true: sample, candidate, criterion."""
    rng = np.random.default_rng(6)
    return rng.random((SAMPLES, len(CANDIDATES), len(QUESTIONS))) < np.array(ABILITY)[:, None]


def _mark(judge: Judge, yes: bool, sure: bool) -> dict[str, object]:
    """Write a mark on the judge's own scale."""
    if judge.id == "judge-y":
        return own_mark((5 if sure else 4) if yes else (1 if sure else 2))
    scale = HALVES if judge.kind == "person" else YES_NO
    raw = ("yes" if yes else "no") if scale is YES_NO else ("1" if yes else "0")
    if scale is HALVES and not sure:
        raw = "0.5"
    found = scale.read(raw)
    return {"raw": raw, "value": found.value, "scale": scale.id}


def _marks(judge: Judge) -> list[Checkpoint]:
    rng = np.random.default_rng([9, *judge.id.encode()])
    said = truths()
    turned = rng.random(said.shape) > RIGHT[judge.id]
    sure = rng.random(said.shape) < 0.8
    found = []
    for at in np.ndindex(*said.shape):
        number, seat, place = at
        yes = bool(said[at] ^ turned[at])
        answer, criterion = response_id(number, CANDIDATES[seat]), criterion_id(number, place)
        fields: dict[str, object] = {"state": "scored", **_mark(judge, yes, bool(sure[at]))}
        if judge.id == "judge-x" and number == 0 and seat == 0 and place:
            # One mark that couldn't be read, and one criterion that doesn't apply.
            state = ("unscored", "not_applicable")[place - 1]
            fields = {"state": state, "raw": ("maybe", "n/a")[place - 1], "scale": YES_NO.id,
                      "detail": "no mark of this scale"}  # fmt: skip
        found.append(
            Checkpoint.model_validate({
                "key": Checkpoint.make_key(criterion, answer, judge.id, "imported", Sampling()),
                "criterion_id": criterion,
                "response_id": answer,
                "judge_id": judge.id,
                "prompt": "imported",
                "reason": f"{judge.name} {'sees' if yes else 'misses'} it: {QUESTIONS[place]}",
                **fields,
            })
        )  # fmt: skip
    return found


def _criteria(number: int) -> list[Record]:
    names = [criterion_id(number, place) for place in range(len(QUESTIONS))]
    found: list[Record] = [
        Criterion(id=name, sample_id=sample_id(number), question=QUESTIONS[place])
        for place, name in enumerate(names)
    ]
    found += [
        Mapping(criterion_id=name, tree_version=tree_version(TREE), judge_id="judge-x",
                prompt="imported", state="scored", leaf=LEAVES[place])
        for place, name in enumerate(names)
    ]  # fmt: skip
    uses = [
        CriterionUse(
            criterion_id=name,
            position=place,
            weight=1,
            parents=() if place == 0 else (names[0],),
            gate="cap" if place == 0 else None,
            gate_cap=0.5 if place == 0 else None,
        )
        for place, name in enumerate(names)
    ]
    found.append(
        CriteriaSet(id=f"set-{number}", sample_id=sample_id(number), judge_id="judge-x",
                    prompt="imported", source="imported", state="scored", uses=tuple(uses))
    )  # fmt: skip
    return found


def rankings(study_id: str) -> list[Annotation]:
    """Return one person's ranking of every sample's answers, by what is true."""
    said = truths().sum(axis=2)
    return [
        Annotation(
            id=f"ranking-{number}", study_id=study_id, kind="ranking",
            subject_id=sample_id(number), annotator="Cleo",
            ranks=tuple(
                RankedAnswer(response_id=response_id(number, name),
                             rank=1 + int((said[number] > said[number, seat]).sum()))
                for seat, name in enumerate(CANDIDATES)
            ),
        )
        for number in range(SAMPLES)
    ]  # fmt: skip


def make_judged(store: Store) -> Study:
    """Put the study into a store."""
    study = Study(id=Study.make_id(STUDY), name=STUDY, judge_id="judge-x",
                  tree_version=tree_version(TREE))  # fmt: skip
    records: list[Record] = [
        study, *MODELS, *PEOPLE, YES_NO, HALVES,
        TreeRecord(version=tree_version(TREE), name=TREE.name, body=to_json(TREE)),
        *(Candidate(id=name, name=f"Candidate {name[-1].upper()}") for name in CANDIDATES),
    ]  # fmt: skip
    for number in range(SAMPLES):
        records.append(
            Sample(id=sample_id(number), dataset="pictures", source_id=str(number),
                   question=f"A red ball left of a box, scene {number}")
        )  # fmt: skip
        records += _criteria(number)
        records += [
            Response(id=response_id(number, name), sample_id=sample_id(number), candidate_id=name,
                     prompt="imported", text=f"The picture by {name} of scene {number}")
            for name in CANDIDATES
        ]  # fmt: skip
    for judge in (*MODELS, *PEOPLE):
        records += _marks(judge)
    records += rankings(study.id)
    places = table(StudySample)
    with store.write() as writer:
        writer.put(records)
        add_to_study(writer, study.id, [sample_id(n) for n in range(SAMPLES)], list(CANDIDATES),
                     first_position=0)  # fmt: skip
        for number in range(SAMPLES):
            writer.execute(
                places.update()
                .where(places.c.study_id == study.id, places.c.sample_id == sample_id(number))
                .values(criteria_set_id=f"set-{number}")
            )
    return study


def open_judged(folder: Path) -> Store:
    """Open a store that holds the study."""
    copy_of(_judged_study, folder)
    return Store.open(folder)


def _judged_study(folder: Path) -> None:
    with Store.open(folder) as store:
        make_judged(store)
