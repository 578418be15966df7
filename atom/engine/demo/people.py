"""Planted people: they label a synthetic study from the probes' truth, and err now and then.

Two annotators label the same samples, each with slips of their own; a third settles most of what
they disagree on. Their names and every label say that they are synthetic.

Reference: ATOM 4.1, appendices A and C; METHODS D3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from atom.engine.bench.fidelity import compared_answers
from atom.engine.bench.rankings import SYNTHETIC_NOTE, TIE_WITHIN, people_see, program_of
from atom.engine.clock import stamp
from atom.engine.demo.site import FIXED, Site
from atom.engine.people.marks import person, with_marks
from atom.probes.answers.derivation import SILENCE
from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.program import Program
from atom.records import (
    Annotation,
    AnnotationKind,
    Checkpoint,
    Criterion,
    Judge,
    RankedAnswer,
    Response,
    Sample,
)
from atom.store import Store, leaf_mappings, study_candidates, study_criteria, table
from taxonomy import Path, format_path

ANNOTATORS = ("Annotator 1 (synthetic)", "Annotator 2 (synthetic)")
ADJUDICATOR = "Adjudicator (synthetic)"
LABELLED = 6
"""Samples whose every answer is scored; drawn evenly from the study's order."""
RANKED = 10
"""Samples whose answers are ranked, those among them."""
SLIP = 0.12
"""Share of scores that are one too high or too low, and of criteria that are taken otherwise."""
BLUNDER = 0.03
"""Share of scores that are two or more off."""
REPORTS = 3
RIGHT_AFTER_ALL = "no error: the judge is right"
"""What people say of a judge's mark that stands after a second look."""
_MOST_ERRORS = 12


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A sample whose truth is known.

    Attributes:
        program: what was drawn.
    """

    sample: Sample
    program: Program
    answers: tuple[Response, ...]

    def truth(self, answer: Response, criterion: Criterion) -> int | None:
        """Return the true score 1..5 of an answer on a criterion; None where none is planted."""
        judge = AnswerJudge(self._readers, answer.text)
        for reader in self._readers:
            if reader.step.question == criterion.question:
                return judge.score(reader).score or SILENCE
        return None

    @cached_property
    def _readers(self) -> tuple[StepReader, ...]:
        return read_steps(self.program)


def plant_people(site: Site) -> None:
    """Have the planted people label a study: scores, rankings, criteria, errors and reports."""
    cases = _cases(site, RANKED)
    whole = cases[:: max(1, len(cases) // LABELLED)][:LABELLED]
    labels: list[Annotation] = []
    for number, case in enumerate(whole, start=1):
        labels += _scores(site, case)
        labels += _criteria(site, case)
        site.tell("labelling", number, len(whole))
    labels += [label for case in cases for label in _rankings(site, case)]
    labels += _errors(site, labels)
    labels += _reports(site)
    labels += list(_settled(labels))
    records = with_marks(site.store, site.study_id, labels)
    site.store.replace(records)
    names = {label.annotator for label in labels}
    known = site.store.get_many(Judge, [person(name).id for name in names])
    site.store.replace([judge.model_copy(update={"synthetic": True}) for judge in known])


def _cases(site: Site, most: int) -> tuple[_Case, ...]:
    """Return samples with several answers and a known program, evenly from the study's order."""
    answers = compared_answers(site.store, site.study).responses
    names = list(answers)
    chosen = names[:: max(1, len(names) // most)][:most]
    samples = {sample.id: sample for sample in site.store.get_many(Sample, chosen)}
    found = []
    for name in chosen:
        program = program_of(site.store, samples[name])
        if program is not None:
            found.append(_Case(sample=samples[name], program=program, answers=answers[name]))
    return tuple(found)


def _label(
    site: Site,
    kind: AnnotationKind,
    subject: str,
    annotator: str,
    *,
    value: float | None = None,
    label: str = "",
    ranks: tuple[RankedAnswer, ...] = (),
    shown: tuple[str, ...] = (),
) -> Annotation:
    return Annotation(
        id=Annotation.make_id(site.study_id, kind, subject, annotator),
        study_id=site.study_id,
        kind=kind,
        subject_id=subject,
        annotator=annotator,
        value=value,
        label=label,
        ranks=ranks,
        shown=shown,
        adjudicates=annotator == ADJUDICATOR,
        note=SYNTHETIC_NOTE,
        created=stamp(FIXED),
    )


def _order(case: _Case, annotator: str) -> tuple[str, ...]:
    draws = Draws("planted order", annotator, case.sample.id)
    return tuple(draws.shuffled([one.id for one in case.answers], "answers"))


# --- scores ---------------------------------------------------------------------------------------


def _scores(site: Site, case: _Case) -> Iterator[Annotation]:
    """Give both annotators' scores of every mark that the judge made on a sample."""
    criteria = _criteria_of(site, case)
    answers = {one.id: one for one in case.answers}
    rows = table(Checkpoint)
    marks = site.store.select(
        Checkpoint,
        rows.c.response_id.in_(list(answers)),
        rows.c.judge_id == site.study.judge_id,
        rows.c.repeat == 0,
        rows.c.state == "scored",
        order_by=[rows.c.key],
    )
    for mark in marks:
        if mark.criterion_id not in criteria:
            continue
        truth = case.truth(answers[mark.response_id], criteria[mark.criterion_id])
        if truth is None:
            continue
        for annotator in ANNOTATORS:
            value = seen_score(truth, Draws("planted score", annotator, mark.key))
            shown = _order(case, annotator)
            yield _label(site, "score", mark.key, annotator, value=float(value), shown=shown)


def seen_score(truth: int, draws: Draws) -> int:
    """Draw what a person gives for a true score 1..5: mostly the truth, now and then beside it."""
    luck = draws.uniform("slip")
    if luck >= SLIP + BLUNDER:
        return truth
    off = 1 if luck < SLIP else 2
    up = truth + off <= 5 and (truth - off < 1 or draws.uniform("up") < 0.5)
    return max(1, min(5, truth + off if up else truth - off))


def _criteria_of(site: Site, case: _Case) -> Mapping[str, Criterion]:
    of_sample = study_criteria(site.store, site.study_id)
    names = [name for name, sample in of_sample.items() if sample == case.sample.id]
    return {one.id: one for one in site.store.get_many(Criterion, names)}


# --- criteria, rankings, errors, reports ----------------------------------------------------------


def _criteria(site: Site, case: _Case) -> Iterator[Annotation]:
    """Say of each criterion whether it is right and needed, and which leaf it tests."""
    criteria = _criteria_of(site, case)
    leaves = _leaves(site.store, site.study.tree_version, tuple(criteria))
    for name in sorted(criteria):
        for annotator in ANNOTATORS:
            draws = Draws("planted criterion", annotator, name)
            right = 2 if draws.uniform("right") < SLIP / 2 else 3
            needed = 2 if draws.uniform("needed") < SLIP else 3
            yield _label(site, "accuracy", name, annotator, value=float(right))
            yield _label(site, "necessity", name, annotator, value=float(needed))
            if name in leaves:
                near = sorted({one for one in leaves.values() if one[0] == leaves[name][0]})
                other = draws.uniform("leaf") < SLIP
                leaf = draws.pick(near, "which") if other else leaves[name]
                yield _label(site, "mapping", name, annotator, label=format_path(leaf))


def _leaves(store: Store, version: str | None, criteria: Sequence[str]) -> dict[str, Path]:
    found = leaf_mappings(store, version or "", criteria)
    return {name: row.leaf for name, row in found.items() if row.leaf is not None}


def _rankings(site: Site, case: _Case) -> Iterator[Annotation]:
    for number, annotator in enumerate(ANNOTATORS):
        seems = people_see(case.program, case.answers, number)
        ranks = tuple(
            RankedAnswer(response_id=name, rank=rank) for name, rank in _ranks(seems).items()
        )
        shown = _order(case, annotator)
        yield _label(site, "ranking", case.sample.id, annotator, ranks=ranks, shown=shown)


def _ranks(seems: Mapping[str, float]) -> dict[str, int]:
    """Rank answers, 1 the best; those that seem nearly as good as the last rank's best share it."""
    ranks: dict[str, int] = {}
    best, rank = 0.0, 0
    for place, name in enumerate(sorted(seems, key=lambda n: (-seems[n], n)), start=1):
        if not ranks or best - seems[name] >= TIE_WITHIN:
            best, rank = seems[name], place
        ranks[name] = rank
    return ranks


def _errors(site: Site, labels: Sequence[Annotation]) -> Iterator[Annotation]:
    """Have both look again at some marks that the first of them scored otherwise than the judge."""
    scores = [one for one in labels if one.kind == "score" and one.annotator == ANNOTATORS[0]]
    marks = {
        one.key: one for one in site.store.get_many(Checkpoint, [s.subject_id for s in scores])
    }
    off = [one.subject_id for one in scores if marks[one.subject_id].score != one.value]
    for subject in off[:_MOST_ERRORS]:
        for annotator in ANNOTATORS:
            yield _label(site, "error_type", subject, annotator, label=RIGHT_AFTER_ALL)


def _reports(site: Site) -> Iterator[Annotation]:
    """Match blind reports to models: mostly the right one."""
    names = [candidate.id for candidate in study_candidates(site.store, site.study_id)]
    for annotator in ANNOTATORS:
        draws = Draws("planted reports", annotator)
        for name in draws.shuffled(names, "which")[:REPORTS]:
            said = name if draws.uniform("right", name) < 0.75 else draws.pick(names, name)
            yield _label(site, "report", name, annotator, label=said, shown=tuple(names))


# --- what a third settles -------------------------------------------------------------------------


def _settled(labels: Sequence[Annotation]) -> Iterator[Annotation]:
    """Settle what two disagree on, in favour of one of them; the last of each kind stays open."""
    pairs: dict[tuple[str, str], list[Annotation]] = {}
    for label in labels:
        if label.kind != "report":
            pairs.setdefault((label.kind, label.subject_id), []).append(label)
    clashes: dict[str, list[Annotation]] = {}
    for (kind, subject), (one, other) in pairs.items():
        if _disagree(one, other):
            chosen = one if Draws("settled", kind, subject).uniform("who") < 0.5 else other
            clashes.setdefault(kind, []).append(chosen)
    for chosen in (label for found in clashes.values() for label in found[:-1]):
        name = Annotation.make_id(chosen.study_id, chosen.kind, chosen.subject_id, ADJUDICATOR)
        yield chosen.model_copy(update={"id": name, "annotator": ADJUDICATOR, "adjudicates": True})


def _disagree(one: Annotation, other: Annotation) -> bool:
    if one.kind == "score":
        return abs((one.value or 0) - (other.value or 0)) > 1
    if one.kind == "ranking":
        return sorted((r.response_id, r.rank) for r in one.ranks) != sorted(
            (r.response_id, r.rank) for r in other.ranks
        )
    return (one.value, one.label) != (other.value, other.label)
