"""A self-correction experiment of records, on `screen_store`'s study; its numbers are written here.

Model-a's answers to eight samples. `1` right, `0` wrong, `-` dropped, `!` the call failed:

    sample    0  1  3  4  6  7  8  9
    failed    3  0  2  1  2  .  1  2     steps with a score of 2 or less
    passed    0  3  1  2  1  .  2  1
    rejudge   0  0  0  0  0  0  0  0
    fresh     1  0  0  1  0  0  0  0
    told      1  0  0  0  1  0  0  0
    sham      -  0  0  0  0  -  1  0
    guided    !  -  1  1  1  -  1  1
    peer            1  0

Two answers that were right get guided feedback, too: 10 stays right, 11 breaks.
"""

from __future__ import annotations

from atom.records import (
    APART,
    Arm,
    Checkpoint,
    Cohort,
    Correction,
    Experiment,
    Hint,
    HintUse,
    Outcome,
    Response,
    Run,
    content_id,
)
from atom.store import Store
from tests.app.screen_store import (
    ANSWERING,
    CANDIDATES,
    HOSTILE,
    JUDGE,
    JUDGING,
    SCORING,
    Made,
)

FAILED = (0, 1, 3, 4, 6, 7, 8, 9)
RESULTS: dict[Arm, str] = {
    "rejudge": "00000000",
    "fresh": "10010000",
    "told": "10001000",
    "sham": "-0000-10",
    "guided": "!-111-11",
    "peer": "  10    ",
}
RIGHT = {10: "1", 11: "0"}
AFTER = {"guided": (5, 4, 1), "peer": (4, 4, 4)}
"""Scores of a new answer; in the other arms they are those of the answer before."""
BOTH = (3, 4, 6, 8, 9)
"""Samples with a failed and a passed step."""


def first_id(made: Made, number: int) -> str:
    """Return the id of model-a's first answer to a sample."""
    return Response.make_id(made.sample_ids[number], CANDIDATES[0].id, "answer/1", ANSWERING)


def put_experiment(
    made: Made,
    *,
    arms: tuple[Arm, ...] = tuple(RESULTS),
    candidate: int = 0,
    state: str = "done",
    numbers: tuple[int, ...] = FAILED,
    drop_all: bool = False,
) -> Experiment:
    """Write an experiment with its trials and its run.

    Args:
        made: the store with its study.
        arms: those that ran.
        candidate: whose it is said to be.
        state: of its run.
        numbers: the samples that were tried.
        drop_all: nothing came of any trial.
    """
    blank = Experiment(
        id="blank",
        study_id=made.study.id,
        candidate_id=CANDIDATES[candidate].id,
        judge_id=JUDGE.id,
        arms=arms,
        right_answers=len(RIGHT) if "guided" in arms else 0,
        created="2026-01-02T03:04:05+00:00",
    )
    experiment = blank.model_copy(update={"id": Experiment.make_id(blank)})
    run = Run(
        id=content_id("run", experiment.id)[:12],
        study_id=made.study.id,
        stages=(),
        judge=JUDGE.name,
        candidates=("candidate-endpoint",),
        experiment_id=experiment.id,
        state=state,
        created=experiment.created,
        done=30,
        total=60 if state != "done" else 30,
    )
    with Store.open(made.folder) as store:
        store.put([experiment, run])
        for arm in arms:
            for place, number in enumerate(FAILED):
                mark = "-" if drop_all else RESULTS[arm][place]
                if number in numbers and mark != " ":
                    _trial(store, made, experiment, arm, number, mark, "failed")
        if "guided" in arms and not drop_all and numbers == FAILED:
            for number, mark in RIGHT.items():
                _trial(store, made, experiment, "guided", number, mark, "right")
    return experiment


def _trial(
    store: Store, made: Made, experiment: Experiment, arm: Arm, number: int, mark: str,
    cohort: Cohort,
) -> None:  # fmt: skip
    first = store.get(Response, first_id(made, number))
    assert first is not None
    criteria = made.criterion_ids[number]
    before = {
        c: p.score
        for c in criteria
        for p in [store.get(Checkpoint, _key(c, first.id, 0))]
        if p is not None and p.score is not None
    }
    asked = tuple(c for c in criteria if c in before and before[c] <= 2)
    feedback = "" if arm in ("rejudge", "fresh") else f"Look again ({arm}). {HOSTILE}"
    row = Correction(
        experiment_id=experiment.id,
        response_id=first.id,
        arm=arm,
        cohort=cohort,
        state={"-": "unscored", "!": "failed"}.get(mark, "scored"),
        detail={"-": "there is nothing to ask about", "!": "rate limit"}.get(mark, ""),
        parent_id=first.id,
        feedback=feedback,
        criterion_ids=asked if arm in ("guided", "peer") else (),
    )
    if mark in "-!":
        store.put([row])
        return
    value = float(mark)
    if arm == "rejudge":
        store.put([row.model_copy(update={"result_id": first.id, "value": value})])
        store.put(_point(c, first.id, score, APART) for c, score in before.items())
        return
    new = Response(
        id=content_id("again", first.id, arm),
        sample_id=first.sample_id,
        candidate_id=first.candidate_id,
        prompt="retry/1",
        sampling=ANSWERING,
        state="scored",
        text=f"{HOSTILE} I look again.\nAnswer: {20 if value else 35}",
        arm=arm,
        parent_id=first.id,
    )
    scores = AFTER.get(arm)
    points = [
        _point(c, new.id, scores[slot] if scores else before[c], 0)
        for slot, c in enumerate(criteria)
        if c in before
    ]
    store.put([new, Outcome(response_id=new.id, how="numeric", value=value), *points])
    hints: tuple[HintUse, ...] = ()
    gates: tuple[str, ...] = ()
    if arm == "peer":
        hints, gates = _hints(store, made, number, asked[:1])
    store.put(
        [
            row.model_copy(
                update={"result_id": new.id, "value": value, "hints": hints, "gates": gates}
            )
        ]
    )


def _hints(
    store: Store, made: Made, number: int, criteria: tuple[str, ...]
) -> tuple[tuple[HintUse, ...], tuple[str, ...]]:
    """Write two attempts at a hint on each criterion, of which the first leaks."""
    peer = CANDIDATES[1].id
    answer = Response.make_id(made.sample_ids[number], peer, "answer/1", ANSWERING)
    uses = []
    for criterion in criteria:
        for attempt in (0, 1):
            hint = Hint(
                id=Hint.make_id(criterion, answer, peer, "hint/1", ANSWERING, attempt),
                criterion_id=criterion,
                peer_id=peer,
                response_id=answer,
                prompt="hint/1",
                sampling=ANSWERING,
                attempt=attempt,
                state="scored" if attempt else "unscored",
                text=f"Mind the left bar. {HOSTILE}",
                detail="" if attempt else 'It gives something away: number "50".',
            )
            store.put([hint])
        uses.append(HintUse(criterion_id=criterion, hint_id=hint.id, peer_id=peer, text=hint.text))
    lines = ("no hint on criterion 12345678: no peer passed it",)
    return tuple(uses), lines


def _key(criterion: str, response: str, repeat: int) -> str:
    return Checkpoint.make_key(criterion, response, JUDGE.id, SCORING, JUDGING, repeat)


def _point(criterion: str, response: str, score: int, repeat: int) -> Checkpoint:
    return Checkpoint(
        key=_key(criterion, response, repeat),
        criterion_id=criterion,
        response_id=response,
        judge_id=JUDGE.id,
        prompt=SCORING,
        sampling=JUDGING,
        repeat=repeat,
        state="scored",
        score=score,
        reason=f"It scores {score}. {HOSTILE}",
    )
