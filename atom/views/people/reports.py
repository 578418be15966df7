"""Reports that people match blindly with the model that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.records import Response, Sample
from atom.store import Store
from atom.views.people.page import LabelItem, item_of, numbered
from atom.views.people.sample_order import shuffled
from atom.views.study_data import StudyData

REPORTS = 3
"""Reports that are matched blindly."""
DECOYS = 1
"""Models beside theirs that no report is about."""
RAW = 30
"""Questions whose raw answers stand beside a blind report."""


@dataclass(frozen=True, kw_only=True)
class BlindProfile:
    """A model's profile without its name.

    Attributes:
        candidate_id: whose it is; never shown.
        scores: (root, mean 0-100, the others' mean) by root, as far as known.
    """

    candidate_id: str
    scores: tuple[tuple[str, float, float], ...]


def profiles(data: StudyData) -> tuple[BlindProfile, ...]:
    """Return each candidate's mean score by root beside the mean of the others."""
    table = data.table
    roots = sorted({leaf[0] for leaf in table.leaves})
    kept = (table.score > 0) & (table.leaf >= 0)
    if not roots or not kept.any():
        return ()
    of_leaf = np.array([roots.index(leaf[0]) for leaf in table.leaves], dtype=np.int64)
    model = table.model[table.response[kept]].astype(np.int64)
    size = len(data.candidates) * len(roots)
    key = model * len(roots) + of_leaf[table.leaf[kept]]
    count = np.bincount(key, table.weight[kept], size).reshape(-1, len(roots))
    total = np.bincount(key, table.weight[kept] * (table.score[kept] - 1.0) * 25, size)
    sums = total.reshape(-1, len(roots))
    found = []
    for at, candidate in enumerate(data.candidates):
        others_n, others = count.sum(axis=0) - count[at], sums.sum(axis=0) - sums[at]
        scores = tuple(
            (root, float(sums[at, r] / count[at, r]), float(others[r] / others_n[r]))
            for r, root in enumerate(roots)
            if count[at, r] and others_n[r]
        )
        if scores:
            found.append(BlindProfile(candidate_id=candidate.id, scores=scores))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class RawAnswers:
    """One question, and what each of several models answered to it.

    Attributes:
        question: its text.
        known: the known answer, with its letter where there is a choice; empty where none is.
        texts: an answer a model, in the order asked for.
    """

    question: str
    known: str
    texts: tuple[str, ...]


def raw_answers(
    store: Store, data: StudyData, candidates: Sequence[str], annotator: str
) -> tuple[RawAnswers, ...]:
    """Draw questions that all of some models answered, with their answers as they were given.

    Args:
        candidates: ids of the models.
        annotator: who looks: everybody has questions of their own.

    Returns:
        At most `RAW` questions; none where no question was answered by all.

    Reference:
        ATOM G.1 (reports are matched to 30 to 50 raw responses).
    """
    table = data.table
    wanted = {data.model_index(one): place for place, one in enumerate(candidates)}
    first = np.flatnonzero(table.answered & (table.repeat == 0))
    given: dict[int, dict[int, str]] = {}
    for at in first.tolist():
        place = wanted.get(int(table.model[at]))
        if place is not None:
            given.setdefault(int(table.sample[at]), {})[place] = table.response_ids[at]
    shared = [table.sample_ids[one] for one, ids in given.items() if len(ids) == len(candidates)]
    drawn = shuffled(shared, annotator, "raw answers")[:RAW]
    ids = [given[data.sample_position[one]] for one in drawn]
    texts = {
        one.id: one.text or ""
        for one in store.get_many(Response, [name for row in ids for name in row.values()])
    }
    samples = {one.id: one for one in store.get_many(Sample, drawn)}
    return tuple(
        RawAnswers(
            question=samples[name].question,
            known=_known_answer(samples[name]),
            texts=tuple(texts.get(row[place], "") for place in range(len(candidates))),
        )
        for name, row in zip(drawn, ids, strict=True)
        if name in samples
    )


def _known_answer(sample: Sample) -> str:
    known = sample.reference or ""
    return f"{chr(65 + sample.choices.index(known))}, {known}" if known in sample.choices else known


def report_items(data: StudyData, annotator: str) -> tuple[LabelItem, ...]:
    """Return the reports that a person matches, three at most, in an order of their own."""
    order = shuffled((one.candidate_id for one in profiles(data)), annotator, "reports")
    if len(order) < 2:
        return ()
    items = [item_of("report", name) for name in order[:REPORTS]]
    return numbered(items)


def report_text(profile: BlindProfile) -> tuple[str, ...]:
    """Write a model's report in sentences, without its name and without a number."""
    gaps = sorted(
        ((own - others, root) for root, own, others in profile.scores), key=lambda pair: pair[0]
    )
    mean = sum(own for _, own, _ in profile.scores) / len(profile.scores)
    group = sum(others for _, _, others in profile.scores) / len(profile.scores)
    lines = [f"On the whole it is {_than(mean - group)} the other models."]
    for gap, root in gaps[:2]:
        lines.append(f"{root}: {_than(gap)} the others.")
    if len(gaps) > 2:
        gap, root = gaps[-1]
        lines.append(f"Its best side against the others is {root}: {_than(gap)} them.")
    by_score = sorted(profile.scores, key=lambda one: one[1])
    if len(by_score) > 1 and by_score[0][0] != by_score[-1][0]:
        lines.append(
            f"Its own highest score is on {by_score[-1][0]}, its lowest on {by_score[0][0]}."
        )
    return tuple(lines)


def _than(gap: float) -> str:
    size = abs(gap)
    if size < 2:
        return "about level with"
    how = "a little " if size < 6 else "clearly " if size < 15 else "far "
    return f"{how}{'ahead of' if gap > 0 else 'behind'}"
