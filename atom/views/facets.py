"""Labels of questions and answers by facet, the data set's own among them."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from atom.analysis.score_table import Facet
from atom.records import TAG_FACET
from atom.store.reading.columns.rows import StudyRows

SOURCE_FACET = "source"
"""The labels that say which data set a question is of, unless the files have a `source` of their
own: then these are called `data set`, and never mixed with the files'."""
DATASET_FACET = "data set"


def dataset_facet(facets: Container[str]) -> str:
    """Return the name of the labels that say which data set a question is of."""
    return DATASET_FACET if DATASET_FACET in facets else SOURCE_FACET


def data_facets(facets: Mapping[str, Facet]) -> dict[str, Facet]:
    """Return the labels that came with the data.

    People's own tags narrow what is looked at, and nothing is tested by them: who tags failures
    would find that models fail there.
    """
    return {name: facet for name, facet in facets.items() if name != TAG_FACET}


def facets_of(rows: StudyRows) -> dict[str, Facet]:
    """Bring all labels down to answers; an answer's own labels beat its sample's in a facet."""
    places, answers = rows.places, rows.answers
    taken = any(facet == SOURCE_FACET for _, facet, _ in (*rows.sample_tags, *rows.answer_tags))
    ours = DATASET_FACET if taken else SOURCE_FACET
    shared: dict[str, list[tuple[int, str]]] = {
        ours: list(enumerate(places.dataset)) if answers.ids else []
    }
    own: dict[str, list[tuple[int, str]]] = {}
    for at, facet, value in rows.sample_tags:
        shared.setdefault(facet, []).append((at, value))
    for at, facet, value in rows.answer_tags:
        own.setdefault(facet, []).append((at, value))
    by_sample = np.argsort(answers.sample, kind="stable")
    count = np.bincount(answers.sample, minlength=len(places.ids))
    start = np.cumsum(count) - count
    facets = {}
    for name in sorted({*own, *shared}):
        mine, theirs = own.get(name, []), shared.get(name, [])
        texts = sorted({text for _, text in (*mine, *theirs)})
        code = {text: at for at, text in enumerate(texts)}
        of = np.array([at for at, _ in theirs], dtype=np.int64)
        label = np.array([code[text] for _, text in theirs], dtype=np.int64)
        # Each label of a sample, once for every answer to it.
        size = count[of]
        nth = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        answer = by_sample[np.repeat(start[of], size) + nth]
        labelled = np.zeros(len(answers.ids), dtype=bool)
        labelled[[at for at, _ in mine]] = True
        inherited = np.stack([answer, np.repeat(label, size)])[:, ~labelled[answer]]
        said = np.array([(at, code[text]) for at, text in mine], dtype=np.int64).reshape(-1, 2).T
        both = np.concatenate([said, inherited], axis=1)
        key = np.sort(both[0] * max(len(texts), 1) + both[1])
        key = key[np.append(True, key[1:] != key[:-1])[: len(key)]]
        response, value_ = np.divmod(key, max(len(texts), 1))
        times = np.bincount(value_, minlength=len(texts))
        order = [at for at in np.argsort(-times, kind="stable") if times[at]]
        place = np.zeros(max(len(texts), 1), dtype=np.int64)
        place[order] = np.arange(len(order))
        facets[name] = Facet(
            values=tuple(texts[at] for at in order),
            response=response.astype(np.int32),
            value=place[value_].astype(np.int32),
        )
    return facets
