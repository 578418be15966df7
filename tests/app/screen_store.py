"""A store for tests of the screens: twelve samples, every state, hostile texts, drawn charts."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
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
from atom.store import Store
from taxonomy import parse_tree, to_json, tree_version
from tests.kept import copy_of

SAMPLES = 12
NAMES = ("model-a", "model-b", "model-c")
HOSTILE = (
    '<script>window.pwned = 1</script> <img src="http://evil.example/x.png" '
    'onerror="window.pwned = 2"> ![x](http://evil.example/y.png) </div></span>"\'>'
)
TREE = """
name: Test tree
roots:
  - name: Perception
    children:
      - name: Fine detail
        children:
          - name: Reading marks
            children:
              - {name: Bar height, meaning: The value of a bar.}
              - {name: Clock reading, meaning: The time on a dial.}
  - name: Reasoning
    children:
      - name: Arithmetic
        children:
          - name: Combining values
            children:
              - {name: Difference of two values, meaning: Subtract one from the other.}
"""
LEAVES = (
    ("Perception", "Fine detail", "Reading marks", "Bar height"),
    ("Perception", "Fine detail", "Reading marks", "Clock reading"),
    ("Reasoning", "Arithmetic", "Combining values", "Difference of two values"),
)
BOXES = ((90, 100, 240, 910), (530, 200, 680, 910), (90, 100, 680, 910))
WEIGHTS = (3, 3, 4)
SCORING, REPLAY, CRITERIA = "scoring/1", "replay/1", "criteria/1"
ANSWERING = Sampling(temperature=0.7)
JUDGING = Sampling(temperature=0.0)
JUDGE = Judge(id="judge-1", name="probe-judge", synthetic=True)
CANDIDATES = tuple(Candidate(id=f"cand-{name}", name=name, synthetic=True) for name in NAMES)


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was made."""

    folder: Path
    study: Study
    sample_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    criterion_ids: tuple[tuple[str, ...], ...]


def draw_bars(number: int) -> bytes:
    """Draw a bar chart as PNG; each number gives another picture."""
    image = Image.new("RGB", (640, 420), "white")
    pen = ImageDraw.Draw(image)
    for bar in range(4):
        height = 60 + (number * 37 + bar * 71) % 260
        left = 60 + bar * 140
        pen.rectangle((left, 380 - height, left + 90, 380), fill=(70, 110 + 20 * bar, 180))
        pen.text((left + 34, 386), "ABCD"[bar], fill="black")
    pen.line((40, 380, 620, 380), fill="black", width=2)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def make_store(folder: Path, *, judged: bool = True, name: str = "Test study") -> Made:
    """Make a store with one study.

    Sample 3 is quarantined, sample 4's picture is missing, sample 5 is hostile, sample 6 has no
    picture, sample 7's criteria are unscored. Some checkpoints are unscored, one failed, some are
    not there yet; model-c gave no answer to sample 8.

    Args:
        folder: where it goes.
        judged: whether anything was judged; else there are outcomes only.
        name: the study's name.
    """
    return replace(copy_of(_make, folder, judged, name), folder=folder)


def _make(folder: Path, judged: bool, name: str) -> Made:
    tree = parse_tree(TREE)
    record = TreeRecord(version=tree_version(tree), name=tree.name, body=to_json(tree))
    study = Study(
        id=Study.make_id(name),
        name=name,
        created="2026-01-01T00:00:00Z",
        synthetic=True,
        judge_id=JUDGE.id if judged else None,
        tree_version=record.version if judged else None,
    )
    sample_ids: list[str] = []
    criterion_ids: list[tuple[str, ...]] = []
    with Store.open(folder) as store:
        store.put([record, JUDGE, study, *CANDIDATES])
        store.put(
            StudyCandidate(study_id=study.id, candidate_id=candidate.id, position=place)
            for place, candidate in enumerate(CANDIDATES)
        )
        for number in range(SAMPLES):
            sample = _sample(store, number)
            criteria = _criteria(sample.id, number) if judged and number != 7 else ()
            sample_ids.append(sample.id)
            criterion_ids.append(tuple(criterion.id for criterion in criteria))
            if judged:
                _judge(store, study, sample, criteria, number)
            else:
                place_ = StudySample(study_id=study.id, sample_id=sample.id, position=number)
                store.put([place_])
            for place in range(len(CANDIDATES)):
                _answer(store, sample, criteria, number, place)
    return Made(
        folder=folder,
        study=study,
        sample_ids=tuple(sample_ids),
        candidate_ids=tuple(candidate.id for candidate in CANDIDATES),
        criterion_ids=tuple(criterion_ids),
    )


def _sample(store: Store, number: int) -> Sample:
    slots: tuple[PictureSlot, ...] = ()
    if number == 4:
        slots = (PictureSlot(name="charts/missing_chart_4.png"),)
    elif number != 6:
        picture = store.add_picture(draw_bars(number))
        slots = (PictureSlot(name=f"chart_{number}.png", picture_id=picture.id),)
    question = f"By how much is bar A higher than bar C in chart {number}?"
    sample = Sample(
        id=Sample.make_id("Bars", str(number)),
        dataset="Bars",
        source_id=str(number),
        question=HOSTILE if number == 5 else question,
        choices=("10", "20", "30") if number % 3 == 0 else (),
        reference="20",
        pictures=slots,
        synthetic=True,
    )
    tag = Tag(
        subject="sample",
        subject_id=sample.id,
        source="test",
        facet="difficulty",
        value="hard" if number % 2 else "easy",
    )
    store.put([sample, tag])
    return sample


def _criteria(sample_id: str, number: int) -> tuple[Criterion, ...]:
    texts = (
        (HOSTILE, HOSTILE) if number == 5 else ("How high is bar A?", "50"),
        ("How high is bar C?", "30"),
        ("What is the difference between them?", "20"),
    )
    return tuple(
        Criterion(
            id=Criterion.make_id(sample_id, question, truth),
            sample_id=sample_id,
            question=question,
            ground_truth=truth,
        )
        for question, truth in texts
    )


def _judge(
    store: Store, study: Study, sample: Sample, criteria: tuple[Criterion, ...], number: int
) -> None:
    replay = Replay(
        id=Replay.make_id(sample.id, JUDGE.id, REPLAY, JUDGING),
        sample_id=sample.id,
        judge_id=JUDGE.id,
        prompt=REPLAY,
        sampling=JUDGING,
        state="scored",
        steps=(
            ReplayStep(text="Bar A reaches 50.", regions=(Region(box=BOXES[0]),)),
            ReplayStep(text=HOSTILE if number == 5 else "Bar C reaches 30."),
            ReplayStep(text="50 - 30 = 20."),
        ),
        final_answer="25" if number == 3 else "20",
        agrees=number != 3,
    )
    criteria_set = CriteriaSet(
        id=CriteriaSet.make_id(sample.id, JUDGE.id, CRITERIA, JUDGING),
        sample_id=sample.id,
        judge_id=JUDGE.id,
        replay_id=replay.id,
        prompt=CRITERIA,
        sampling=JUDGING,
        state="scored" if criteria else "unscored",
        detail="" if criteria else "the reply held no criteria",
        uses=tuple(
            CriterionUse(
                criterion_id=criterion.id,
                position=place,
                weight=WEIGHTS[place],
                step=place + 1,
                regions=(Region(box=BOXES[place]),),
            )
            for place, criterion in enumerate(criteria)
        ),
    )
    mappings = [
        Mapping(
            criterion_id=criterion.id,
            tree_version=study.tree_version or "",
            judge_id=JUDGE.id,
            prompt="mapping/1",
            state="scored",
            leaf=LEAVES[place],
        )
        for place, criterion in enumerate(criteria)
        if not (number == 9 and place == 1)
    ]
    place_ = StudySample(
        study_id=study.id,
        sample_id=sample.id,
        position=number,
        replay_id=replay.id,
        criteria_set_id=criteria_set.id,
    )
    store.put([replay, criteria_set, *criteria, *mappings, place_])


def _answer(
    store: Store, sample: Sample, criteria: tuple[Criterion, ...], number: int, place: int
) -> None:
    candidate = CANDIDATES[place]
    identity = Response.make_id(sample.id, candidate.id, "answer/1", ANSWERING)
    gone = number == 8 and place == 2
    value = 20 if (number + place) % 3 else 35
    quotes = (f"Bar A reaches {value + 30}.", "Bar C reaches 30.", f"The difference is {value}.")
    text = f"I look at the chart first.\n{' '.join(quotes)}\nAnswer: {value}"
    if number == 5:
        text = f"{HOSTILE}\n{text}\n" + "A long tail. " * 300
    response = Response(
        id=identity,
        sample_id=sample.id,
        candidate_id=candidate.id,
        prompt="answer/1",
        sampling=ANSWERING,
        state="failed" if gone else "scored",
        text="" if gone else text,
        detail="the endpoint closed the connection (5 tries)" if gone else "",
    )
    store.put([response])
    if gone:
        return
    store.put([Outcome(response_id=identity, how="numeric", value=float(value == 20))])
    call = Call(
        id=f"call-{identity}",
        request_hash=identity,
        task="scoring",
        endpoint="probe-judge",
        model="probe-judge",
        prompt=SCORING,
        reply='{"scores": [{"id": "1", "score": 2, "reason": "<b>raw</b>"}]}',
        form="json_schema",
        cost=0.0,
    )
    points = [
        _checkpoint(criterion, response, quotes[slot], (number, place, slot), call.id)
        for slot, criterion in enumerate(criteria)
        if not (number == 11 and place == 2)
    ]
    if points:
        store.put([call, *points])


def _checkpoint(
    criterion: Criterion,
    response: Response,
    quote: str,
    where: tuple[int, int, int],
    call_id: str,
) -> Checkpoint:
    number, place, slot = where
    base = {
        "key": Checkpoint.make_key(criterion.id, response.id, JUDGE.id, SCORING, JUDGING),
        "criterion_id": criterion.id,
        "response_id": response.id,
        "judge_id": JUDGE.id,
        "prompt": SCORING,
        "sampling": JUDGING,
        "call_id": call_id,
    }
    if number == 2 and slot == 1:
        return Checkpoint(**base, state="unscored", detail="the judge declined: out of view")
    if (number, place, slot) == (10, 1, 2):
        return Checkpoint(**base, state="failed", detail="rate limit: 5 tries in 60 s")
    right = (number + place) % 3 != 0
    score = 4 + (number + place) % 2 if right else (1, 3, 2)[slot]
    if slot == 1 and (number + 2 * place) % 4 == 0:
        score = 2
    start = response.text.find(quote)
    words = f"The answer states a value that scores {score} against the truth."
    return Checkpoint(
        **base,
        state="scored",
        score=score,
        reason=HOSTILE if number == 5 else words,
        quote=quote,
        span=(start, start + len(quote)),
    )
