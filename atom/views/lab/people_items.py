"""The items behind figures about people: pairs that they ordered or labelled, things they rated.

Each becomes an item like those of the judge benchmarks, so that one list and one screen show all.

Reference: ATOM 4.1, Tables 1 and 2; METHODS A6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from atom.analysis.agreement.fidelity import orders_of
from atom.judgebench.cards import Card, JudgeRemark
from atom.judgebench.items import stand_of
from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.methods.registry import METHODS
from atom.records import Annotation, BenchItem, Response, Sample, Verdict, content_id
from atom.store import Store
from atom.store.verdicts import first_verdicts
from atom.views.lab.fidelity.comparison import PeopleComparison
from atom.views.lab.fidelity.criteria_labels import UNMAPPED
from atom.views.lab.items import ItemRow
from atom.views.people.pair_labels import FIRST, SECOND, TIE, LabelledPairs
from atom.views.people.ratings import RatedThings, RatingJudge
from atom.views.study_data import StudyData

_ORDER_WORDS: Final = {1: "a is better", 0: "a tie", -1: "b is better"}
_CLASS_WORDS: Final = {FIRST: "a is better", SECOND: "b is better", TIE: "a tie", -1: "no majority"}
_NEVER: Final = -2
SAMPLE: Final = "sample"
"""The key of an item's data that holds its sample's id."""


# --- methods beside people ----------------------------------------------------------------------


def method_items(
    store: Store, data: StudyData, held: PeopleComparison, method: str
) -> tuple[ItemRow, ...]:
    """Return the pairs that people ordered, and what a method makes of each.

    Args:
        data: the study, with the judge's checkpoints.
        held: what the judge's methods and people say.
        method: the method's name.

    Returns:
        A row for each pair that the method's figures are of; unread scores count as the figures
        count them, neither right nor wrong in words but never right.
    """
    if method not in held.read:
        return ()
    pairs, counted = held.pairs, np.flatnonzero(held.counted(method))
    gaps, scores = held.gaps(method), held.read[method].scores
    samples = _samples(store, {pairs.sample[at] for at in counted})
    wanted = {pairs.first[at] for at in counted} | {pairs.second[at] for at in counted}
    answers = {one.id: one for one in store.get_many(Response, wanted)}
    names = {one.id: one.name for one in data.candidates}
    people = _who_said(held.ranking, held.sample_of)
    judge = data.judge.id if data.judge else ""
    rows = []
    for place, at in enumerate(counted.tolist()):
        first, second = pairs.first[at], pairs.second[at]
        sample, truth, gap = samples.get(pairs.sample[at]), int(pairs.order[at]), gaps[at]
        if sample is None or first not in answers or second not in answers:
            continue
        root = held.roots.get(sample.id, UNMAPPED)
        card = _pair_card(
            sample, [answers[first], answers[second]], names, _ORDER_WORDS[truth],
            people.get((first, second), ()), [("Capability", root)], {root},
        )  # fmt: skip
        numbers = [scores.get(first), scores.get(second)]
        code, words = INVALID, "no score"
        if not math.isnan(gap):
            told = int(np.sign(gap))
            code = RIGHT if told == truth else WRONG
            words = f"{_ORDER_WORDS[told]} ({_score(numbers[0])} to {_score(numbers[1])})"
        said = JudgeRemark(
            verdict=_verdict(data, sample.id, method, judge),
            about="the pair",
            words=words,
            code=code,
        )
        rows.append(_row(data, (first, second), place, sample, card, [said]))
    return tuple(rows)


def method_reasons(
    store: Store, data: StudyData, method: str, row: ItemRow
) -> tuple[JudgeRemark, ...]:
    """Return what the judge wrote when a method asked it about a pair's sample."""
    if data.judge is None or METHODS[method].source == "checkpoints":
        return ()
    subject = str(row.item.data[SAMPLE])
    ids = {one.key for one in first_verdicts(
        store, data.study.id, data.judge.id, data.study.judge_sampling
    ).get(subject, ()) if one.part.startswith(f"{method}/")}  # fmt: skip
    return tuple(
        JudgeRemark(
            verdict=one,
            about=one.part.partition("/")[0],
            words="" if one.value is None else f"{one.value:g}",
            code=None,
            reason=one.text or str(one.data.get("reason", "")),
        )
        for one in store.get_many(Verdict, ids)
    )


def _score(value: int | Fraction | None) -> str:
    return "?" if value is None else f"{float(value):.4g}"


def _who_said(
    ranking: Iterable[Annotation], sample_of: Mapping[str, str]
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return who says what of each pair, the smaller answer id first."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in orders_of(ranking, sample_of)[0]:
        turned = one.second < one.first
        key = (one.second, one.first) if turned else (one.first, one.second)
        name = f"{one.annotator}, settling" if one.adjudicates else one.annotator
        found.setdefault(key, {})[name] = _ORDER_WORDS[-one.order if turned else one.order]
    return {key: list(said.items()) for key, said in found.items()}


# --- labels of pairs ----------------------------------------------------------------------------


def label_items(
    store: Store, data: StudyData, found: LabelledPairs, judge: str
) -> tuple[ItemRow, ...]:
    """Return the pairs that people labelled, and how a judge voted on each.

    Args:
        judge: the judge's name, one of `found.said`.
    """
    said = found.said.get(judge)
    ids = data.table.response_ids
    answers = {
        one.id: one
        for one in store.get_many(Response, {ids[at] for pair in found.places for at in pair})
    }
    samples = _samples(store, {one.sample_id for one in answers.values()})
    names = {one.id: one.name for one in data.candidates}
    rows = []
    for (a, b), at in found.places.items():
        first, second = answers.get(ids[a]), answers.get(ids[b])
        sample = samples.get(first.sample_id) if first is not None else None
        if first is None or second is None or sample is None:
            continue
        people = [
            (name, _CLASS_WORDS[int(found.labels[row, at])])
            for row, name in enumerate(found.annotators)
            if found.labels[row, at] >= 0
        ]
        most, code = int(found.most[at]), _NEVER if said is None else int(said[at])
        agreed = "all agree" if len({word for _, word in people}) < 2 else "they differ"
        card = _pair_card(
            sample, [first, second], names, _CLASS_WORDS[most], people,
            [("People", agreed)] if len(people) > 1 else [], set(),
        )  # fmt: skip
        told = []
        if code != _NEVER:
            right = None if most < 0 else INVALID if code < 0 else int(code == most)
            words = "unread" if code < 0 else _CLASS_WORDS[code]
            verdict = _verdict(data, sample.id, "preference", judge)
            told = [JudgeRemark(verdict=verdict, about="the pair", words=words, code=right)]
        rows.append(_row(data, (first.id, second.id), at, sample, card, told))
    return tuple(rows)


# --- ratings ------------------------------------------------------------------------------------


def rating_items(
    store: Store,
    data: StudyData,
    things: RatedThings,
    judged: tuple[Sequence[np.ndarray], Sequence[RatingJudge]],
    judge: str,
) -> tuple[ItemRow, ...]:
    """Return the things that people rated, and a judge's score of each.

    Args:
        judged: judges' scores of the things and who they are, as `people_ratings.scores_of` reads
            them.
        judge: the judge's name, one of those.
    """
    given = next((score for score, one in zip(*judged, strict=True) if one.name == judge), None)
    samples = _samples(store, {sample for sample, _ in things.at})
    rows = []
    for (sample_id, criterion), at in things.at.items():
        sample = samples.get(sample_id)
        if sample is None:
            continue
        ratings = things.ratings[:, at]
        ratings = ratings[np.isfinite(ratings)]
        mean = float(things.mean[at])
        each = ", ".join(f"{value:g}" for value in ratings.tolist())
        word = criterion.replace("_", " ")
        card = Card(
            question=sample.question,
            texts=(),
            truth=(("People’s mean", f"{mean:.2f}"), ("Each", each)),
            facets=(("Criterion", word),) if word else (),
            groups=frozenset({"", criterion}),
        )
        said = []
        score = math.nan if given is None else float(given[at])
        if math.isfinite(score):
            one = _verdict(data, sample_id, criterion, judge)
            said = [JudgeRemark(verdict=one, about=word, words=f"{score:.4g}", code=None,
                                apart=round(score - mean, 2))]  # fmt: skip
        rows.append(_row(data, (sample_id, criterion), at, sample, card, said))
    return tuple(rows)


# --- shared -------------------------------------------------------------------------------------


def _samples(store: Store, ids: Iterable[str]) -> dict[str, Sample]:
    return {one.id: one for one in store.get_many(Sample, ids)}


def _pair_card(
    sample: Sample,
    answers: Sequence[Response],
    names: Mapping[str, str],
    truth: str,
    people: Sequence[tuple[str, str]],
    facets: Sequence[tuple[str, str]],
    groups: set[str],
) -> Card:
    return Card(
        question=sample.question,
        texts=tuple(
            (f"Answer {side}, {names.get(one.candidate_id, 'a model')}", one.text or one.detail)
            for side, one in zip("ab", answers, strict=True)
        ),
        truth=(
            ("People together", truth),
            *people,
            *([("Known answer", sample.reference)] if sample.reference else []),
        ),
        facets=tuple(facets),
        groups=frozenset({"", *groups}),
    )


def _verdict(data: StudyData, sample: str, part: str, judge: str) -> Verdict:
    """Stand for what was said where no verdict is stored as it is shown."""
    return Verdict(
        key=content_id("shown", sample, part, judge),
        group=data.study.id,
        subject_id=sample,
        part=part,
        judge=judge,
        prompt="",
        state="scored",
    )


def _row(
    data: StudyData,
    key: tuple[str, str],
    at: int,
    sample: Sample,
    card: Card,
    said: list[JudgeRemark],
) -> ItemRow:
    item = BenchItem(set_id=data.study.id, id=content_id("shown item", *key), position=at,
                     pictures=sample.pictures, data={SAMPLE: sample.id})  # fmt: skip
    return ItemRow(item=item, card=card, found=stand_of(said))
