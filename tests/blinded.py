"""Puts a blind control into the store of the screens' tests, without asking anybody."""

from __future__ import annotations

from collections.abc import Collection

from atom.engine.blind.labels import label_questions
from atom.records import Checkpoint, Record, Response
from atom.stages import blind
from atom.store import Store
from tests.app.screen_store import ANSWERING, CANDIDATES, JUDGE, JUDGING, SCORING, Made


def put_blind(store: Store, made: Made, easy: Collection[int]) -> int:
    """Let every model answer every question that has criteria without its picture.

    Marks are 5 on the questions whose numbers are `easy`, else 2.

    Returns:
        How many questions were labelled as answerable from the text.
    """
    records: list[Record] = []
    for number, (sample, criteria) in enumerate(
        zip(made.sample_ids, made.criterion_ids, strict=True)
    ):
        for candidate in CANDIDATES if criteria else ():
            answer = Response(
                id=blind.response_id(sample, candidate.id, ANSWERING),
                sample_id=sample,
                candidate_id=candidate.id,
                prompt=blind.PROMPT,
                sampling=ANSWERING,
                arm=blind.ARM,
                text="Answer: 7",
            )
            records.append(answer)
            records += [
                Checkpoint(
                    key=Checkpoint.make_key(one, answer.id, JUDGE.id, SCORING, JUDGING, 0),
                    criterion_id=one,
                    response_id=answer.id,
                    judge_id=JUDGE.id,
                    prompt=SCORING,
                    sampling=JUDGING,
                    state="scored",
                    score=5 if number in easy else 2,
                )
                for one in criteria
            ]
    store.put(records)
    return label_questions(store, made.study, JUDGE.id)
