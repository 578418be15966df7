"""Are the criteria what people would ask? Their own ones against the judge's, and both scores.

Recall is the share of people's own criteria that the judge asks, too; precision the share of the
judge's criteria that people would ask. Who matched the two (the person, or a judge) is a choice,
and is said.

Reference: ATOM appendix C; METHODS A6, B9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.agreement.fidelity import FidelityShare, share_of
from atom.analysis.compare.paired import PairedGap, paired_gap
from atom.analysis.intervals import Floats, Ints
from atom.methods.own_criteria import MATCH_PART, line_key, lines_of
from atom.records import Annotation, AnnotationKind, Criterion, Judge
from atom.store import Store
from atom.store.labels import labels_of
from atom.store.verdicts import verdicts_of_part
from atom.views.failures.sample import SampleView
from atom.views.people.page import LabelItem, item_of
from atom.views.study_data import StudyData

YES, NO = "yes", "no"
NONE = "none"
"""The label of a line that no criterion of the judge asks."""
PERSON = "people"
"""Who matched: the person who wrote."""
_KINDS: tuple[AnnotationKind, ...] = ("written", "match", "wanted")
_MOST_LISTED = 12


# --- what a person is asked -----------------------------------------------------------------------


def written_key(sample_id: str, annotator: str) -> str:
    """Name what a person wrote for a sample."""
    return f"{sample_id}/{annotator}"


def own_items(
    view: SampleView, annotator: str, written: Annotation | None
) -> tuple[LabelItem, ...]:
    """Return what a person is asked about one sample: first to write, then to match and tick.

    Args:
        written: what they wrote or skipped; None = not yet: nothing of the judge's is shown.
    """
    sample = view.sample.id
    if not view.criteria:
        return ()
    items = [item_of("written", written_key(sample, annotator), sample_id=sample)]
    if written is not None:
        items += [item_of("match", line_key(sample, line), sample_id=sample)
                  for line in lines_of(written.label)]  # fmt: skip
        items += [
            item_of("wanted", one.criterion.id, sample_id=sample, criterion_id=one.criterion.id)
            for one in view.criteria
        ]
    return tuple(items)


# --- what came of it ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OwnScoreRow:
    """A model's score by either set, 0 to 100, over the samples that people went through.

    Attributes:
        model: its place in the study.
        judge: by all criteria of the judge.
        people: by those that people would ask.
        gap: people's less the judge's, with interval over sample clusters.
    """

    model: int
    name: str
    judge: PairedGap
    people: PairedGap
    gap: PairedGap


@dataclass(frozen=True, kw_only=True)
class OwnCriteria:
    """What people would ask, against what the judge asks.

    Attributes:
        by: who matched: `PERSON`, or a judge's id.
        deciders: all who did: id -> name.
        people: who wrote or ticked.
        samples: samples with a word of theirs.
        recall: of people's own criteria, those that the judge asks.
        precision: of the judge's criteria, those that people would ask.
        rows: scores by either set.
        scored: samples that those rest on: every criterion ticked, and at least one wanted.
        unasked: people's criteria that the judge doesn't ask: (sample's id, line).
        unwanted: the judge's that people wouldn't ask: (sample's id, question).
        agree: of lines that both the person and the judge matched, those matched alike.
    """

    by: str
    deciders: Mapping[str, str]
    people: tuple[str, ...]
    samples: int
    recall: FidelityShare
    precision: FidelityShare
    rows: tuple[OwnScoreRow, ...]
    scored: int
    unasked: tuple[tuple[str, str], ...]
    unwanted: tuple[tuple[str, str], ...]
    agree: FidelityShare


def own_criteria(store: Store, data: StudyData, by: str = PERSON) -> OwnCriteria | None:
    """Hold people's own criteria against the judge's.

    Args:
        data: the study; its judge's marks make the scores.
        by: who matched: `PERSON` or a judge's id.

    Returns:
        None where nobody wrote or ticked anything.
    """
    labels = [one for one in labels_of(store, data.study.id, _KINDS) if one.state == "given"]
    if not labels:
        return None
    said = _PeopleCriteria(labels, data.sample_position.keys())
    by_judge = _by_judges(store, data.study.id)
    names = {one.id: one.name for one in store.get_many(Judge, list(by_judge))}
    by = by if by in by_judge else PERSON
    chosen = by_judge[by] if by != PERSON else None
    lines = said.lines(chosen)
    own = [bool(name) for _, _, name in lines]
    criteria = _criteria(data, {sample for sample, _, _ in lines} | said.ticked_samples(data))
    wanted = said.wanted(criteria, chosen)
    texts = {one.id: one.question for one in store.get_many(Criterion, list(wanted))}
    answers = [(of, yes) for of, votes in wanted.items() for yes in votes]
    both = [
        (sample, person == judged)
        for sample, _, person, judged in said.twice(chosen if chosen is not None else {})
    ]
    kept = {of: float(np.mean(votes)) >= 0.5 for of, votes in wanted.items() if votes}
    rows, scored = _scores(data, criteria, kept)
    return OwnCriteria(
        by=by,
        deciders={PERSON: "the person who wrote", **{name: names.get(name, name)
                                                     for name in by_judge}},
        people=said.people,
        samples=len(said.samples),
        recall=_share(data, [sample for sample, _, _ in lines], own),
        precision=_share(data, [criteria[of] for of, _ in answers], [yes for _, yes in answers]),
        rows=rows,
        scored=scored,
        unasked=tuple((sample, line) for (sample, line, _), hit in zip(lines, own, strict=True)
                      if not hit)[:_MOST_LISTED],
        unwanted=tuple((criteria[of], texts.get(of, "")) for of, keep in kept.items()
                       if not keep)[:_MOST_LISTED],
        agree=_share(data, [sample for sample, _ in both], [same for _, same in both]),
    )  # fmt: skip


def _share(data: StudyData, samples: Sequence[str], hits: Sequence[bool]) -> FidelityShare:
    return share_of(np.array(hits, dtype=np.bool_), data.clusters_of(samples))


def _by_judges(store: Store, study_id: str) -> dict[str, dict[tuple[str, str], str]]:
    """Return each judge's matches: (sample, line) -> the criterion's id, empty = none."""
    found: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for one in verdicts_of_part(store, study_id, MATCH_PART):
        if one.state == "scored":
            matches = one.data.get("matches", {})
            found[one.judge].update(
                {(one.subject_id, line): name for line, name in matches.items()}
            )
    return dict(found)


class _PeopleCriteria:
    """What people wrote, matched and ticked."""

    def __init__(self, labels: Iterable[Annotation], samples: Collection[str]) -> None:
        self._lines: list[tuple[str, str, str]] = []
        self._match: dict[tuple[str, str], str] = {}
        self._ticked: dict[tuple[str, str], bool] = {}
        people: set[str] = set()
        for one in labels:
            people.add(one.annotator)
            if one.kind == "written":
                sample = one.subject_id.partition("/")[0]
                if sample in samples:
                    self._lines += [(sample, one.annotator, line) for line in lines_of(one.label)]
            elif one.kind == "match":
                self._match[one.subject_id, one.annotator] = one.label
            else:
                self._ticked[one.subject_id, one.annotator] = one.label == YES
        self.people = tuple(sorted(people))
        self.samples = {sample for sample, _, _ in self._lines}

    def _own(self, sample: str, line: str, who: str) -> str | None:
        found = self._match.get((line_key(sample, line), who))
        return None if found is None else "" if found == NONE else found

    def lines(
        self, judged: Mapping[tuple[str, str], str] | None
    ) -> list[tuple[str, str, str | None]]:
        """Return (sample, line, criterion that asks the same; empty = none) of what was matched."""
        found = [
            (sample, line, self._own(sample, line, who) if judged is None
             else judged.get((sample, line)))
            for sample, who, line in self._lines
        ]  # fmt: skip
        return [one for one in found if one[2] is not None]

    def twice(self, judged: Mapping[tuple[str, str], str]) -> list[tuple[str, str, str, str]]:
        """Return (sample, line, by the person, by the judge) of lines that both matched."""
        found = []
        for sample, who, line in self._lines:
            own, other = self._own(sample, line, who), judged.get((sample, line))
            if own is not None and other is not None:
                found.append((sample, line, own, other))
        return found

    def ticked_samples(self, data: StudyData) -> set[str]:
        """Return the samples of criteria that somebody ticked."""
        ticked = {name for name, _ in self._ticked}
        table = data.table
        rows = [at for at, name in enumerate(table.criterion_ids) if name in ticked]
        found = {table.sample_ids[int(at)] for at in
                 table.sample[table.response[np.isin(table.criterion, rows)]]}  # fmt: skip
        self.samples |= found
        return found

    def wanted(
        self, criteria: Mapping[str, str], judged: Mapping[tuple[str, str], str] | None
    ) -> dict[str, list[bool]]:
        """Return, by criterion, what each person says: whether they would ask it.

        Whoever wrote a line that asks the same would; else their tick counts.
        """
        matched: dict[str, set[str]] = defaultdict(set)
        wrote: dict[str, set[str]] = defaultdict(set)
        for sample, who, line in self._lines:
            wrote[sample].add(who)
            name = self._own(sample, line, who) if judged is None else judged.get((sample, line))
            if name:
                matched[name].add(who)
        found: dict[str, list[bool]] = {}
        for criterion, sample in criteria.items():
            votes = [True for _ in matched[criterion]]
            for who in self.people:
                tick = self._ticked.get((criterion, who))
                if who in matched[criterion]:
                    continue
                if tick is not None:
                    votes.append(tick)
                elif judged is not None and who in wrote[sample]:
                    votes.append(False)
            if votes:
                found[criterion] = votes
        return found


def _criteria(data: StudyData, samples: Collection[str]) -> dict[str, str]:
    """Return the criteria of some samples that have marks: criterion -> sample."""
    table = data.table
    places = np.array([data.sample_position[one] for one in samples], dtype=np.int64)
    rows = np.flatnonzero(np.isin(table.sample[table.response], places))
    return {
        table.criterion_ids[int(table.criterion[at])]: table.sample_ids[
            int(table.sample[table.response[at]])
        ]
        for at in rows
    }


def _scores(
    data: StudyData, criteria: Mapping[str, str], kept: Mapping[str, bool]
) -> tuple[tuple[OwnScoreRow, ...], int]:
    """Score every model by all criteria and by those that people would ask, answer by answer."""
    table = data.table
    of_sample: dict[str, list[str]] = defaultdict(list)
    for criterion, sample in criteria.items():
        of_sample[sample].append(criterion)
    whole = {
        sample
        for sample, names in of_sample.items()
        if all(name in kept for name in names) and any(kept[name] for name in names)
    }
    places = np.array([data.sample_position[one] for one in whole], dtype=np.int64)
    asked = {at for at, name in enumerate(table.criterion_ids) if kept.get(name)}
    first = (table.score > 0) & (table.repeat[table.response] == 0)
    rows = np.flatnonzero(first & np.isin(table.sample[table.response], places))
    answer = table.response[rows].astype(np.int64)
    weight = table.weight[rows].astype(np.float64)
    value = (table.score[rows].astype(np.float64) - 1) * 25
    mine = np.isin(table.criterion[rows], list(asked))
    size = len(table.response_ids)
    every = _mean(answer, weight, value, size)
    people = _mean(answer[mine], weight[mine], value[mine], size)
    found = []
    for at, candidate in enumerate(data.candidates):
        here = np.flatnonzero((table.model == at) & np.isfinite(every) & np.isfinite(people))
        cluster = table.cluster[table.sample[here]].astype(np.int64)
        if len(here):
            found.append(
                OwnScoreRow(
                    model=at,
                    name=candidate.name,
                    judge=paired_gap(every[here], cluster, bound=100.0),
                    people=paired_gap(people[here], cluster, bound=100.0),
                    gap=paired_gap(people[here] - every[here], cluster, bound=100.0),
                )
            )
    return tuple(found), len(whole)


def _mean(answer: Ints, weight: Floats, value: Floats, size: int) -> Floats:
    """Return weighted means by answer; NaN where there is nothing."""
    total = np.bincount(answer, weights=weight, minlength=size)
    summed = np.bincount(answer, weights=weight * value, minlength=size)
    found: Floats = np.divide(summed, total, out=np.full(size, np.nan), where=total > 0)
    return found
