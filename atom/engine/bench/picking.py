"""Best of n from a study: its candidate's repeated answers, right or wrong, become a set.

Reference: METHODS T10.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from atom.engine.bench.sets import NewSet, read_set
from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.best_of_n.benchmark import LEAST, NAME
from atom.records import Candidate, Response, Sample, Study
from atom.store import Store, study_candidates, study_places
from atom.store.standing.answers import answers_under
from atom.store.standing.outcomes import values_of

HOW_TO = (
    "have the model answer each question several times first, with `run start --stages "
    "answer,outcome --answer-repeats 8 --answer-temperature 0.8`"
)


@dataclass(frozen=True, kw_only=True)
class RepeatedAnswers:
    """A candidate's questions with several answers that are known to be right or wrong.

    Attributes:
        candidate: who answered.
        answers: ids of those answers by sample id, in the order of their repeats.
        n: how many answers most questions have.
    """

    candidate: Candidate
    answers: dict[str, tuple[str, ...]]
    n: int

    def questions(self, n: int) -> int:
        """Count the questions with at least so many answers."""
        return sum(len(ids) >= n for ids in self.answers.values())


def repeated_answers(store: Store, study: Study) -> tuple[RepeatedAnswers, ...]:
    """List the candidates of a study that answered questions several times."""
    seats = {one.id: one for one in study_candidates(store, study.id)}
    samples = [place.sample_id for place in study_places(store, study.id)]
    answers = answers_under(store, study.answer_sampling, samples, list(seats))
    several = [one for one in answers if one.state == "scored" and not one.silent]
    known = values_of(store, [one.id for one in several], None)
    by_seat: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in several:
        if known.get(one.id) in (0.0, 1.0):
            by_seat[one.candidate_id][one.sample_id].append(one.id)
    found = []
    for name, candidate in seats.items():
        held = {sample: tuple(ids) for sample, ids in by_seat[name].items() if len(ids) >= LEAST}
        if held:
            n = Counter(len(ids) for ids in held.values()).most_common(1)[0][0]
            found.append(RepeatedAnswers(candidate=candidate, answers=held, n=n))
    return tuple(found)


def read_answers(
    store: Store,
    study: Study,
    model: str,
    n: int | None = None,
    *,
    name: str | None = None,
    into: Store | None = None,
) -> NewSet:
    """Make a set of a candidate's repeated answers; keep nothing.

    Args:
        store: the store that holds the study.
        model: the candidate's name.
        n: answers a question; as many as most questions have when None.
        name: the set's name; says what it is made of when None.
        into: the store that the set is for; the study's own when None.

    Raises:
        UsageError: there is no such candidate, or it didn't answer so often.
    """
    mine, n = _asked_for(store, study, model, n)
    chosen = {sample: ids[:n] for sample, ids in mine.answers.items() if len(ids) >= n}
    samples = {one.id: one for one in store.get_many(Sample, list(chosen))}
    places = [place.sample_id for place in study_places(store, study.id)]
    wanted = [samples[name] for name in places if name in chosen and name in samples]
    rows = "".join(
        f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(store, wanted, chosen)
    )
    return read_set(
        store if into is None else into,
        NAME,
        name or _name(mine, study, n),
        [ImportFile.from_bytes(f"{mine.candidate.name}.jsonl", rows.encode())],
        pictures=_pictures(store, wanted),
        synthetic=study.synthetic,
    )


def answers_name(store: Store, study: Study, model: str, n: int | None = None) -> str:
    """Name a set of a candidate's answers by what it is made of; arguments as `read_answers`.

    Raises:
        UsageError: as `read_answers` does.
    """
    mine, n = _asked_for(store, study, model, n)
    return _name(mine, study, n)


def _name(mine: RepeatedAnswers, study: Study, n: int) -> str:
    return f"{mine.candidate.name} in {study.name}, {n:,} answers each"


def _asked_for(
    store: Store, study: Study, model: str, n: int | None
) -> tuple[RepeatedAnswers, int]:
    found = repeated_answers(store, study)
    mine = next((one for one in found if model in (one.candidate.name, one.candidate.id)), None)
    if mine is None:
        names = ", ".join(one.candidate.name for one in found) or "nobody did"
        raise UsageError(
            f"{model!r} didn't answer a question of {study.name!r} twice and with an outcome "
            f"({names}): {HOW_TO}"
        )
    n = mine.n if n is None else n
    if n < LEAST or not mine.questions(n):
        raise UsageError(f"no question has {n} answers; most have {mine.n}: {HOW_TO}")
    return mine, n


def _rows(
    store: Store, samples: Sequence[Sample], chosen: dict[str, tuple[str, ...]]
) -> list[dict[str, object]]:
    ids = [name for sample in samples for name in chosen[sample.id]]
    texts = {one.id: one.text for one in store.get_many(Response, ids)}
    right = values_of(store, ids, None)
    return [
        {
            "id": sample.id,
            "question": sample.question,
            "choices": list(sample.choices),
            "images": [slot.picture_id or slot.name for slot in sample.pictures],
            "answers": [
                {"text": texts[name], "right": right[name] == 1} for name in chosen[sample.id]
            ],
        }
        for sample in samples
    ]


def _pictures(store: Store, samples: Sequence[Sample]) -> MemoryPictures:
    ids = {slot.picture_id for sample in samples for slot in sample.pictures} - {None}
    return MemoryPictures({name: store.pictures.read(name) for name in sorted(filter(None, ids))})
