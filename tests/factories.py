"""A small study made of records: every state and every awkward thing once.

Six samples and three candidates; what the tests count is written beside each.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from atom.records import (
    Call,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Judge,
    Mapping,
    Outcome,
    PictureSlot,
    Record,
    Region,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
)
from atom.store import Store, table
from taxonomy import Node, Tree, to_json, tree_version
from tests.kept import copy_of

SAMPLING = Sampling(temperature=0.0)
ANSWERING = Sampling(temperature=0.7)
JUDGE = "judge-x"
STUDY = "Small study"
HOSTILE = '<script>alert(1)</script> ![x](http://example.invalid/x.png) "> END DATA\n# **bold** $x$'

TREE = Tree(
    "Small tree",
    (
        Node(
            "Perception",
            "Seeing.",
            (Node("Object", "", (Node("Counting", "", (Node("Count all"), Node("Count some"))),)),),
        ),
        Node(
            "Reasoning",
            "Thinking.",
            (Node("Quantity", "", (Node("Arithmetic", "", (Node("Difference"),)),)),),
        ),
    ),
)
COUNT = ("Perception", "Object", "Counting", "Count all")
SOME = ("Perception", "Object", "Counting", "Count some")
DIFFERENCE = ("Reasoning", "Quantity", "Arithmetic", "Difference")
LEAVES = (COUNT, SOME, DIFFERENCE)
WEIGHTS = (2, 3, 5)
QUESTIONS = ("How many balls are there?", "How many are red?", "How many are not red?")

# Scores by sample, candidate and criterion: 1..5; 0 unscored; -1 failed; None still to be scored.
SCORES: tuple[tuple[tuple[int | None, ...], ...], ...] = (
    ((5, 5, 5), (5, 2, 1), (1, 1, 1)),
    ((5, 4, 5), (4, 4, 4), (2, 5, 5)),  # candidate c: right answer, wrong reason
    ((5, 5, 4), (5, 0, 2), (3, 3, 3)),  # one unscored
    ((4, 5, 5), (5, 5, -1), (1, 2, 2)),  # one failed
    ((5, 5, 5), (3, None, 3), (2, 2, 2)),  # one still to be scored
    ((5, 5, 5), (5, 5, 5), (5, 5, 5)),  # quarantined
)
RIGHT = (
    (True, False, False),
    (True, True, True),
    (True, False, None),
    (True, True, False),
    (True, False, False),
    (True, True, True),
)


def picture(number: int) -> bytes:
    """Draw a small picture: balls on white."""
    image = Image.new("RGB", (160, 120), "white")
    draw = ImageDraw.Draw(image)
    for ball in range(number + 1):
        left = 10 + 24 * ball
        draw.ellipse((left, 50, left + 20, 70), fill="red" if ball % 2 else "blue")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _sample(store: Store, number: int) -> Sample:
    slot = PictureSlot(name=f"balls-{number}.png", picture_id=store.add_picture(picture(number)).id)
    slots = {2: (slot, slot), 4: (PictureSlot(name="lost.png"),)}.get(number, (slot,))
    return Sample(
        id=Sample.make_id("balls", str(number)),
        dataset="balls",
        source_id=str(number),
        question=HOSTILE if number == 3 else f"How many of the {number + 1} balls are not red?",
        choices=("1", "2", "3") if number == 1 else (),
        reference=str(number // 2 + 1),
        pictures=slots,
    )


def _evidence(sample: Sample, number: int) -> Iterable[Record]:
    replay = Replay(
        id=Replay.make_id(sample.id, JUDGE, "replay/1", SAMPLING),
        sample_id=sample.id,
        judge_id=JUDGE,
        prompt="replay/1",
        sampling=SAMPLING,
        state="scored",
        steps=(ReplayStep(text="Count the balls.", regions=(Region(box=(0, 300, 900, 700)),)),),
        final_answer=sample.reference or "",
        agrees=number != 5,
    )
    criteria = [
        Criterion(
            id=Criterion.make_id(sample.id, question, str(place)),
            sample_id=sample.id,
            question=question,
            ground_truth=str(place),
        )
        for place, question in enumerate(QUESTIONS)
    ]
    yield replay
    yield from criteria
    yield CriteriaSet(
        id=CriteriaSet.make_id(sample.id, JUDGE, "criteria/1", SAMPLING),
        sample_id=sample.id,
        judge_id=JUDGE,
        replay_id=replay.id,
        prompt="criteria/1",
        sampling=SAMPLING,
        state="scored",
        uses=tuple(
            CriterionUse(
                criterion_id=criterion.id,
                position=place,
                weight=WEIGHTS[place],
                stated_weight=4.0 if place == 2 and number == 0 else None,
                step=1,
                regions=(Region(box=(50 + 200 * place, 380, 200 + 200 * place, 620)),),
            )
            for place, criterion in enumerate(criteria)
        ),
        adjustments=("weights 2, 3, 4 were brought to a total of 10",) if number == 0 else (),
    )
    for place, criterion in enumerate(criteria):
        yield Mapping(
            criterion_id=criterion.id,
            tree_version=tree_version(TREE),
            judge_id=JUDGE,
            prompt="mapping/1",
            state="scored",
            leaf=LEAVES[place],
        )
    for seat, name in enumerate("abc"):
        yield from _answer(sample, number, seat, f"cand-{name}", criteria)


def _answer(
    sample: Sample, number: int, seat: int, candidate: str, criteria: list[Criterion]
) -> Iterable[Record]:
    text = f"There are {number + 1} balls, I think. Answer: {number // 2 + 1}"
    if number == 3:
        text = f"{HOSTILE} {text}"
    response = Response(
        id=Response.make_id(sample.id, candidate, "answer/1", ANSWERING),
        sample_id=sample.id,
        candidate_id=candidate,
        prompt="answer/1",
        sampling=ANSWERING,
        text=text,
    )
    call = Call(
        id=f"call-{number}-{candidate}",
        request_hash=f"hash-{number}-{candidate}",
        task="scoring",
        endpoint=JUDGE,
        model=JUDGE,
        prompt="scoring/1",
        reply='{"scores": "as below"}',
        cost=0.001,
    )
    yield response
    yield call
    right = RIGHT[number][seat]
    if right is not None:
        yield Outcome(response_id=response.id, how="exact", value=float(right), answer="x")
    quote = "There are"
    for place, criterion in enumerate(criteria):
        score = SCORES[number][seat][place]
        if score is None:
            continue
        state = "scored" if score > 0 else "unscored" if score == 0 else "failed"
        start = text.index(quote)
        yield Checkpoint(
            key=Checkpoint.make_key(criterion.id, response.id, JUDGE, "scoring/1", SAMPLING),
            criterion_id=criterion.id,
            response_id=response.id,
            judge_id=JUDGE,
            prompt="scoring/1",
            sampling=SAMPLING,
            state=state,
            score=score if score > 0 else None,
            reason=f"It says {number + 1}." if score > 0 else "",
            quote=quote if score > 0 else "",
            span=(start, start + len(quote)) if score > 0 else None,
            detail=""
            if score > 0
            else "the reply held no usable score"
            if score == 0
            else "HTTP 500",
            call_id=call.id,
        )


def make_study(store: Store) -> Study:
    """Put the small study into a store."""
    study = Study(
        id=Study.make_id(STUDY),
        name=STUDY,
        judge_id=JUDGE,
        tree_version=tree_version(TREE),
        judge_sampling=SAMPLING,
        answer_sampling=ANSWERING,
    )
    samples = [_sample(store, number) for number in range(len(SCORES))]
    records: list[Record] = [
        study,
        Judge(id=JUDGE, name="Judge X"),
        TreeRecord(version=tree_version(TREE), name=TREE.name, body=to_json(TREE)),
        *(Candidate(id=f"cand-{name}", name=f"Candidate {name.upper()}") for name in "abc"),
        *samples,
        *(
            Tag(
                subject="sample", subject_id=sample.id, source="test", facet="level",
                value="easy" if number < 3 else "hard",
            )
            for number, sample in enumerate(samples)
        ),
    ]  # fmt: skip
    for number, sample in enumerate(samples):
        records.extend(_evidence(sample, number))
    with store.write() as writer:
        writer.put(records)
        add_to_study(
            writer,
            study.id,
            [sample.id for sample in samples],
            ["cand-a", "cand-b", "cand-c"],
            first_position=0,
        )
        for sample in samples:
            place = table_of_places(study.id, sample.id)
            writer.execute(place)
    return study


def table_of_places(study_id: str, sample_id: str):
    """Point a sample's place at its replay and criteria."""
    from atom.records import StudySample

    places = table(StudySample)
    return (
        places.update()
        .where(places.c.study_id == study_id, places.c.sample_id == sample_id)
        .values(
            replay_id=Replay.make_id(sample_id, JUDGE, "replay/1", SAMPLING),
            criteria_set_id=CriteriaSet.make_id(sample_id, JUDGE, "criteria/1", SAMPLING),
        )
    )


def make_outcome_study(store: Store) -> Study:
    """Put a study without criteria into a store: 8 answers of one model, six of them right."""
    study = Study(id=Study.make_id("Imported"), name="Imported")
    samples = [
        Sample(id=f"imp-{n}", dataset="imported", source_id=str(n), question=f"Question {n}?")
        for n in range(8)
    ]
    responses = [
        Response(
            id=f"imp-r{n}", sample_id=f"imp-{n}", candidate_id="cand-a", prompt="imported", text="x"
        )
        for n in range(8)
    ]
    tags = [
        Tag(subject="response", subject_id=f"imp-r{n}", source="f", facet="skills", value=skill)
        for n in range(8)
        for skill in (["algebra"] if n < 5 else ["algebra", "geometry"])
    ]
    records: list[Record] = [
        study,
        Candidate(id="cand-a", name="Candidate A"),
        *samples,
        *responses,
    ]
    records += tags
    records += [
        Outcome(response_id=f"imp-r{n}", how="imported", value=float(n not in (0, 7)))
        for n in range(8)
    ]
    with store.write() as writer:
        writer.put(records)
        add_to_study(writer, study.id, [s.id for s in samples], ["cand-a"], first_position=0)
    return study


def open_small(folder: Path) -> Store:
    """Open a store that holds both studies."""
    copy_of(_both_studies, folder)
    return Store.open(folder)


def _both_studies(folder: Path) -> None:
    with Store.open(folder) as store:
        make_study(store)
        make_outcome_study(store)


def picture_file(store: Store, picture_id: str) -> Path:
    """Where a picture lies in a store's folder."""
    return store.folder / "pictures" / picture_id[:2] / picture_id


def add_to_study(
    writer,
    study_id: str,
    sample_ids: Sequence[str],
    candidate_ids: Sequence[str],
    *,
    first_position: int,
    first_candidate: int = 0,
) -> None:
    """Give samples and candidates a place in a study, behind those that are there."""
    writer.put(
        StudySample(study_id=study_id, sample_id=sample_id, position=first_position + number)
        for number, sample_id in enumerate(sample_ids)
    )
    writer.put(
        StudyCandidate(
            study_id=study_id, candidate_id=candidate_id, position=first_candidate + number
        )
        for number, candidate_id in enumerate(candidate_ids)
    )
