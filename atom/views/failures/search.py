"""Search in a study's texts: which checkpoints and answers speak of some words.

Words are looked for as they stand, never as a pattern. A checkpoint is found where one text that
belongs to it holds all of them: its sample's question, its criterion, its answer, or its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom.analysis.intervals import Ints
from atom.analysis.layout import Mask
from atom.records import Criterion, Response, Sample
from atom.records.base import Record
from atom.store import Store
from atom.store.reading.marks import subjects_of_marks
from atom.store.reading.tags import told_keys
from atom.store.reading.texts import DistinctTexts, StudyTexts, ready
from atom.views.failures.find import PLACES, Find, Place, Term
from atom.views.failures.grouping import grouping_of
from atom.views.failures.texts import reasons_at, texts_of
from atom.views.study_data import StudyData, rows_about

_TELLING: tuple[Place, ...] = ("reason", "answer", "criterion", "question")
"""Places, what says most about a failure first."""
AROUND = 36
"""Characters of a text that are shown before what was found in it."""
EXCERPT = 150


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What holds the words.

    Attributes:
        rows: checkpoints, shape (N,).
        answers: answers, shape (R,): by their own text, their question, or any checkpoint.
        by: of each place, which of its things hold all the words: samples, criteria, answers,
            checkpoints.
    """

    rows: Mask
    answers: Mask
    by: dict[Place, Mask]


def search(store: Store, data: StudyData, find: Find) -> SearchResult | None:
    """Look for words, for a group of reasons, and for what people flagged, noted on or scored.

    Args:
        find: the words, and where.

    Returns:
        What holds them; None where nothing is looked for.
    """
    found = None
    if find.terms:
        key = ("found", find.words, find.places)
        found = data.table.recent.get(key, lambda: _search(texts_of(store, data), data, find))
    if find.kind:
        found = _of_kind(store, data, find, found)
    return _told(store, data, find, found) if find.told else found


def _of_kind(store: Store, data: StudyData, find: Find, found: SearchResult | None) -> SearchResult:
    """Keep what is in a group of reasons; nothing where the study has no such group."""
    n = len(data.table.response)
    held = grouping_of(store, data).holding(find.kind, n)
    return _only(data, np.zeros(n, dtype=bool) if held is None else held, found)


def _told(store: Store, data: StudyData, find: Find, found: SearchResult | None) -> SearchResult:
    """Keep what people told something of; it may change at any moment, so it is read anew."""
    table = data.table
    about = subjects_of_marks(store, told_keys(store, data.study.id, find.told))
    at = rows_about(data, list(about.values()))
    rows = np.zeros(len(table.response), dtype=bool)
    rows[at[at >= 0]] = True
    return _only(data, rows, found)


def _only(data: StudyData, rows: Mask, found: SearchResult | None) -> SearchResult:
    """Keep some checkpoints of what was found, and the answers that they are of."""
    if found is not None:
        rows = rows & found.rows
    answers = np.zeros(len(data.table.sample), dtype=bool)
    answers[data.table.response[rows]] = True
    return SearchResult(rows=rows, answers=answers, by=found.by if found is not None else {})


def _search(texts: StudyTexts, data: StudyData, find: Find) -> SearchResult:
    places = [place for place in _TELLING if place in (find.places or PLACES)]
    wanted = [term for term in find.terms if term.wanted]
    unwanted = [term for term in find.terms if not term.wanted]
    by = {place: _holds(getattr(texts, place), wanted) for place in places}
    rows, answers = _spread(data, by)
    if unwanted:
        away = {place: _holds(getattr(texts, place), unwanted, every=False) for place in places}
        no_rows, _ = _spread(data, away)
        rows &= ~no_rows
        answers &= ~_own(data, away)
        by = {place: mask & ~away[place] for place, mask in by.items()}
    return SearchResult(rows=rows, answers=answers, by=by)


def _holds(texts: DistinctTexts, terms: Sequence[Term], *, every: bool = True) -> Mask:
    """Say which things have a text with every term, or with any; all of them with none."""
    if not terms:
        return np.asarray(texts.code >= 0)
    found: Mask | None = None
    for term in terms:
        mask = holding(texts.distinct, folded(term.text))
        found = mask if found is None else found & mask if every else found | mask
    # One place more, at the end, for things without a text: their code is -1.
    return np.append(found if found is not None else [], False).astype(bool)[texts.code]


def holding(texts: pa.Array, words: str) -> Mask:
    """Say which texts hold some words as they stand.

    RE2 finds escaped words in a third of the time that Arrow's own search for them takes.

    Args:
        texts: the texts, UTF-8.
        words: the words; no pattern.
    """
    there = pc.match_substring_regex(texts, re.escape(words))
    return np.asarray(there.to_numpy(zero_copy_only=False), dtype=bool)


def _own(data: StudyData, by: dict[Place, Mask]) -> Mask:
    """Say which answers are found by their own text or their question, shape (R,)."""
    table = data.table
    answers = np.zeros(len(table.sample), dtype=bool)
    if "question" in by:
        answers |= by["question"][table.sample]
    if "answer" in by:
        answers |= by["answer"]
    return answers


def _spread(data: StudyData, by: dict[Place, Mask]) -> tuple[Mask, Mask]:
    """Bring what was found by place together: the checkpoints, and the answers."""
    table = data.table
    answers = _own(data, by)
    rows = table.of_answers(answers)
    if "criterion" in by:
        rows = rows | by["criterion"][table.criterion]
    if "reason" in by:
        rows = rows | by["reason"]
    answers[table.response[rows]] = True
    return rows, answers


def folded(text: str) -> str:
    """Make what was typed alike to what is searched."""
    sane = text.encode("utf-8", "replace").decode("utf-8")
    return str(ready(pa.array([sane], pa.large_string()))[0].as_py())


# --- what was found, to be shown ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TextHit:
    """Where the words stand, of one sample.

    Attributes:
        place: in which kind of text.
        parts: the text around them, each part with whether it is what was looked for.
        model: index of the model whose answer, or whose reason, it is; None for a question or a
            criterion.
    """

    place: Place
    parts: tuple[tuple[str, bool], ...]
    model: int | None = None


def hits(
    store: Store,
    data: StudyData,
    find: Find,
    found: SearchResult,
    rows: Ints,
    samples: Iterable[int],
) -> dict[int, TextHit]:
    """Say for some samples where the words stand.

    Args:
        rows: the checkpoints (by outcome or votes the answers) that the list is made of; negative
            numbers stand for answers, `-1 - index`.
        samples: the samples, by index; only a page of them.

    Returns:
        By sample; those where no text is left are left out.
    """
    wanted = np.zeros(len(data.table.sample_ids), dtype=bool)
    wanted[list(samples)] = True
    picked: dict[int, tuple[Place, int]] = {}
    for place, sample, at in _where(data, found, rows, wanted):
        picked.setdefault(sample, (place, at))
    texts = _originals(store, data, picked.values())
    terms = [folded(term.text) for term in find.terms if term.wanted]
    table, told = data.table, {}
    for sample, (place, at) in picked.items():
        text = texts.get((place, at))
        if text is None:
            continue
        model = None
        if place == "answer":
            model = int(table.model[at])
        elif place == "reason":
            model = int(table.model[table.response[at]])
        told[sample] = TextHit(place=place, parts=excerpt(text, terms), model=model)
    return told


def _where(
    data: StudyData, found: SearchResult, rows: Ints, wanted: Mask
) -> Iterable[tuple[Place, int, int]]:
    """Yield place, sample and thing of what was found in the samples that are wanted."""
    table = data.table
    checkpoint = rows[rows >= 0]
    checkpoint = checkpoint[wanted[table.sample[table.response[checkpoint]]]]
    answer = np.append(table.response[checkpoint], -1 - rows[rows < 0]).astype(np.int64)
    answer = answer[wanted[table.sample[answer]]]
    for place in _TELLING:
        mask = found.by.get(place)
        if mask is None:
            continue
        if place == "reason":
            at = checkpoint
            sample = table.sample[table.response[at]]
        elif place == "criterion":
            at = table.criterion[checkpoint].astype(np.int64)
            sample = table.sample[table.response[checkpoint]]
        elif place == "answer":
            at, sample = answer, table.sample[answer]
        else:
            at = sample = table.sample[answer].astype(np.int64)
        hit = mask[at]
        # The first of each sample is enough.
        of, first = np.unique(sample[hit], return_index=True)
        for one, thing in zip(of.tolist(), at[hit][first].tolist(), strict=True):
            yield place, one, int(thing)


def _originals(
    store: Store, data: StudyData, picked: Iterable[tuple[Place, int]]
) -> dict[tuple[Place, int], str]:
    """Read the texts themselves, as they were written."""
    table, picked = data.table, list(picked)
    of: dict[Place, dict[str, int]] = {place: {} for place in PLACES}
    for place, at in picked:
        if place == "question":
            of[place][table.sample_ids[at]] = at
        elif place == "criterion":
            of[place][table.criterion_ids[at]] = at
        elif place == "answer":
            of[place][table.response_ids[at]] = at
    told: dict[tuple[Place, int], str] = {}
    kinds: tuple[tuple[Place, type[Record]], ...] = (
        ("question", Sample), ("criterion", Criterion), ("answer", Response),
    )  # fmt: skip
    for place, kind in kinds:
        for record in store.get_many(kind, of[place]):
            told[place, of[place][record.id]] = _text_of(record)  # type: ignore[attr-defined]
    wanted = [at for place, at in picked if place == "reason"]
    told.update({("reason", at): text for at, text in reasons_at(store, data, wanted).items()})
    return told


def _text_of(record: Record) -> str:
    if isinstance(record, Sample):
        return "\n".join((record.question, *record.choices, record.reference or ""))
    if isinstance(record, Criterion):
        return f"{record.question}\n{record.ground_truth}"
    return record.text if isinstance(record, Response) else ""


def excerpt(text: str, terms: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Cut the part out of a text where words stand, and mark them.

    Args:
        text: as it was written.
        terms: what is looked for, folded.

    Returns:
        Parts one after the other, each with whether it is one of the words.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    low = plain.lower()
    if len(low) != len(plain):
        # A letter that has two small ones: places in both would differ.
        plain = low
    spans = sorted((at, at + len(term)) for term in terms if term and (at := low.find(term)) >= 0)
    start = max(spans[0][0] - AROUND, 0) if spans else 0
    end = min(start + EXCERPT, len(plain))
    parts: list[tuple[str, bool]] = []
    at = start
    for left, right in spans:
        if left < at or right > end:
            continue
        parts += [(plain[at:left], False), (plain[left:right], True)]
        at = right
    parts.append((plain[at:end], False))
    if start:
        parts.insert(0, ("…", False))
    if end < len(plain):
        parts.append(("…", False))
    return tuple(part for part in parts if part[0])
