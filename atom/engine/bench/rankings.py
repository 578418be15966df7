"""People's rankings: read from a file, or planted in a synthetic study.

A row says either that somebody put a candidate's answer on a rank (columns sample, candidate,
rank), or which of two answers somebody prefers (sample, candidate_a, candidate_b, preferred).

Reference: ATOM 4.1 (human rankings); METHODS D3 (planted ones).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from atom.analysis.agreement.fidelity import ranks_of
from atom.engine.bench.fidelity import compared_answers
from atom.engine.clock import Clock, stamp, utc_now
from atom.errors import UsageError
from atom.formats import ImportFile
from atom.formats.cells import to_number, to_text
from atom.formats.layout import find_layout
from atom.formats.rows import NO_ROWS, Row, read_rows
from atom.probes.answers.step_reader import read_steps
from atom.probes.bench.methods import numerator, step_scores
from atom.probes.chunk import read_program
from atom.probes.draws import Draws
from atom.probes.program import Program
from atom.records import Annotation, AnnotationKind, RankedAnswer, Response, Sample, Study
from atom.store import Store, find_study, study_candidates

MAX_SKIPPED: Final = 200
PEOPLE: Final = "people"
"""Who ranked, where a file doesn't say."""
PLANTED: Final = "planted people"
SYNTHETIC_NOTE: Final = "synthetic: drawn from the test pictures' truth"
PEOPLE_SD: Final = 0.35
"""Standard deviation of people's noise on an answer's weighted score, in points of 1..5."""
TIE_WITHIN: Final = 0.4
"""People tie two answers that seem nearer to them than this."""
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "sample": ("sample", "sample_id", "source_id", "question_id", "item", "item_id", "id"),
    "candidate": ("candidate", "model", "candidate_name", "model_name", "system"),
    "rank": ("rank", "human_rank", "place"),
    "ranking": ("ranking", "ranks", "human_ranking"),
    "a": ("candidate_a", "model_a", "answer_a", "a"),
    "b": ("candidate_b", "model_b", "answer_b", "b"),
    "preferred": ("preferred", "winner", "preference", "better", "verdict", "label"),
    "annotator": ("annotator", "annotator_id", "rater", "worker", "user"),
}
_TIES: Final = frozenset({"tie", "tied", "equal", "draw", "same", "both", "tie (bothbad)", "c"})
_A: Final = frozenset({"a", "model_a", "candidate_a", "first", "1"})
_B: Final = frozenset({"b", "model_b", "candidate_b", "second", "2"})


@dataclass(kw_only=True)
class RankingNotes:
    """What was met while reading, kept within bounds."""

    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_skipped: int = 0

    def skip(self, place: str, reason: str) -> None:
        """Note a row that is left out."""
        self.n_skipped += 1
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(f"{place}: {reason}")

    def note(self, text: str) -> None:
        """Note something once."""
        if text not in self.notes and len(self.notes) < MAX_SKIPPED:
            self.notes.append(text)

    broken = note


@dataclass(frozen=True, kw_only=True)
class RankingsTaken:
    """What came of people's rankings.

    Args:
        labels: rankings and preferences that are there now from this.
        samples: samples that they are about.
        rows: rows of the files that were looked at.
        replaced: labels among them that somebody had given before.
        n_skipped: rows or rankings that were left out.
        skipped: why, a line each (at most 200).
        notes: what the reader should know.
    """

    labels: int
    samples: int
    annotators: tuple[str, ...]
    rows: int = 0
    replaced: int = 0
    n_skipped: int = 0
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _KnownNames:
    """What rows may name: samples by id and source id, answers by sample and candidate."""

    samples: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, Mapping[str, str]]
    candidates: Mapping[str, tuple[str, ...]]


def import_rankings(
    store: Store, study_id: str, files: Sequence[ImportFile], *, clock: Clock = utc_now
) -> RankingsTaken:
    """Take in people's rankings or preferences of a study's answers.

    Whoever ranked a sample before is replaced by what the file says of them. Ranks may be any
    numbers, 1 the best; equal ones are a tie.

    Args:
        study_id: the study's id or name.
        files: CSV, TSV, JSON lines, JSON or Parquet.
        clock: UTC time, for records.

    Returns:
        What came of it; every row left out is counted and named.

    Raises:
        UsageError: the study isn't there, or nothing in the files could be used.
        FormatError: a file can't be read, or has none of the columns.
    """
    store.must_be_open("this store is sealed: copy the study into one of your own first")
    study = find_study(store, study_id)
    labels, taken = _read(store, study, files, stamp(clock()))
    if not labels:
        why = "; ".join(taken.skipped[:3]) or NO_ROWS
        raise UsageError(f"nothing in the files ranks answers of {study.name!r}: {why}")
    store.replace(labels)
    return taken


def preview_rankings(store: Store, study_id: str, files: Sequence[ImportFile]) -> RankingsTaken:
    """Say what `import_rankings` would take in, without writing; nothing usable is no error here.

    Raises:
        UsageError: the study isn't there.
        FormatError: a file can't be read.
    """
    return _read(store, find_study(store, study_id), files, "")[1]


def _read(
    store: Store, study: Study, files: Sequence[ImportFile], moment: str
) -> tuple[list[Annotation], RankingsTaken]:
    """Read labels from files, and what came of each row."""
    known, taken = _known(store, study), RankingNotes()
    ranks: dict[tuple[str, str], dict[str, set[float]]] = {}
    pairs: dict[tuple[str, str, str, str], set[str]] = {}
    rows = 0
    for file in files:
        layout = find_layout(file)
        for text in layout.notes:
            taken.note(text)
        before = rows
        for row in read_rows(file, layout, taken):
            rows += 1
            _take(row, known, ranks, pairs, taken)
        if rows == before:
            taken.note(f"{file.name} holds no rows")
    labels = [*_rankings(study.id, ranks, moment, taken), *_preferences(study.id, pairs, moment,
                                                                       taken)]  # fmt: skip
    sample_of = {
        answer: name for name, answers in known.answers.items() for answer in answers.values()
    }
    about = {sample_of[one.response_id] for label in labels for one in ranks_of(label)}
    return labels, RankingsTaken(
        labels=len(labels),
        samples=len(about),
        annotators=tuple(sorted({label.annotator for label in labels})),
        rows=rows,
        replaced=len(store.get_many(Annotation, [label.id for label in labels])),
        n_skipped=taken.n_skipped,
        skipped=tuple(taken.skipped),
        notes=tuple(taken.notes),
    )


def _known(store: Store, study: Study) -> _KnownNames:
    responses = compared_answers(store, study).responses
    names: dict[str, list[str]] = {}
    for sample in store.get_many(Sample, list(responses)):
        for name in {sample.id, sample.source_id or sample.id}:
            names.setdefault(name, []).append(sample.id)
    candidates: dict[str, list[str]] = {}
    for candidate in study_candidates(store, study.id):
        for name in {candidate.id, candidate.name}:
            candidates.setdefault(name, []).append(candidate.id)
    return _KnownNames(
        samples={name: tuple(ids) for name, ids in names.items()},
        answers={
            name: {answer.candidate_id: answer.id for answer in answers}
            for name, answers in responses.items()
        },
        candidates={name: tuple(ids) for name, ids in candidates.items()},
    )


def _cell(row: Row, what: str) -> object:
    for name in _NAMES[what]:
        if name in row.values:
            return row.values[name]
    for key, value in row.values.items():
        if key.strip().casefold() in _NAMES[what]:
            return value
    return None


def _take(
    row: Row,
    known: _KnownNames,
    ranks: dict[tuple[str, str], dict[str, set[float]]],
    pairs: dict[tuple[str, str, str, str], set[str]],
    taken: RankingNotes,
) -> None:
    """Sort one row in, or say why not."""
    named = to_text(_cell(row, "sample"))
    found = known.samples.get(named or "", ())
    if not named:
        taken.skip(row.place, "it names no sample (column `sample`, an id or source id)")
        return
    if len(found) != 1:
        many = f"{len(found):,} samples are called {named!r}: use their ids"
        none = f"the study has no sample {named!r} with two answers to rank"
        taken.skip(row.place, many if found else none)
        return
    sample = found[0]
    annotator = (to_text(_cell(row, "annotator")) or PEOPLE)[:120]
    whole = _cell(row, "ranking")
    if isinstance(whole, Mapping):
        for name, rank in whole.items():
            _take_rank(row, (sample, annotator), to_text(name), rank, known, ranks, taken)
        return
    if _cell(row, "rank") is not None:
        name = to_text(_cell(row, "candidate"))
        _take_rank(row, (sample, annotator), name, _cell(row, "rank"), known, ranks, taken)
        return
    _take_pair(row, sample, annotator, known, pairs, taken)


def _answer(
    row: Row, sample: str, name: str | None, known: _KnownNames, taken: RankingNotes
) -> str | None:
    """Return the answer of a named candidate, or say why there is none."""
    ids = known.candidates.get(name or "", ())
    if not name or len(ids) != 1:
        many = f"{len(ids):,} candidates are called {name!r}: use their ids"
        taken.skip(row.place, many if len(ids) > 1 else f"the study has no candidate {name!r}")
        return None
    answer = known.answers[sample].get(ids[0])
    if answer is None:
        taken.skip(row.place, f"{name!r} has no answer to this sample")
    return answer


def _take_rank(
    row: Row,
    key: tuple[str, str],
    name: str | None,
    rank: object,
    known: _KnownNames,
    ranks: dict[tuple[str, str], dict[str, set[float]]],
    taken: RankingNotes,
) -> None:
    answer = _answer(row, key[0], name, known, taken)
    if answer is None:
        return
    number = None if isinstance(rank, bool) else to_number(rank)
    if number is None or not math.isfinite(number):
        taken.skip(row.place, f"the rank {rank!r:.40} is no number")
        return
    ranks.setdefault(key, {}).setdefault(answer, set()).add(number)


def _take_pair(
    row: Row,
    sample: str,
    annotator: str,
    known: _KnownNames,
    pairs: dict[tuple[str, str, str, str], set[str]],
    taken: RankingNotes,
) -> None:
    names = to_text(_cell(row, "a")), to_text(_cell(row, "b"))
    said = to_text(_cell(row, "preferred"))
    if None in names or said is None:
        taken.skip(
            row.place, "it has neither candidate and rank, nor candidate_a, candidate_b, preferred"
        )
        return
    answers = [_answer(row, sample, name, known, taken) for name in names]
    if answers[0] is None or answers[1] is None:
        return
    if answers[0] == answers[1]:
        taken.skip(row.place, "both answers are the same one")
        return
    folded = said.strip().casefold()
    if said in names:
        label = "a" if said == names[0] else "b"
    elif folded in _TIES:
        label = "tie"
    elif folded in _A or folded in _B:
        label = "a" if folded in _A else "b"
    else:
        taken.skip(row.place, f"{said!r:.40} is neither answer's name, nor a, b or tie")
        return
    one, other = answers[0], answers[1]
    if other < one:
        one, other = other, one
        label = {"a": "b", "b": "a", "tie": "tie"}[label]
    pairs.setdefault((sample, annotator, one, other), set()).add(label)


def _rankings(
    study_id: str,
    ranks: Mapping[tuple[str, str], Mapping[str, set[float]]],
    moment: str,
    taken: RankingNotes,
) -> Iterator[Annotation]:
    """Make one label of each sample and annotator; the numbers become ranks 1, 2, 2, 4."""
    for (sample, annotator), given in ranks.items():
        who = f"{annotator!r} on sample {sample}"
        clear = {name: next(iter(numbers)) for name, numbers in given.items() if len(numbers) == 1}
        for _ in range(len(given) - len(clear)):
            taken.skip(who, "an answer has two ranks: left out")
        if len(clear) < 2:
            taken.skip(who, "fewer than two answers are ranked")
            continue
        places = tuple(
            RankedAnswer(response_id=name, rank=1 + sum(n < number for n in clear.values()))
            for name, number in sorted(clear.items(), key=lambda item: (item[1], item[0]))
        )
        yield _label(study_id, "ranking", sample, annotator, moment, ranks=places)


def _preferences(
    study_id: str,
    pairs: Mapping[tuple[str, str, str, str], set[str]],
    moment: str,
    taken: RankingNotes,
) -> Iterator[Annotation]:
    for (sample, annotator, one, other), said in pairs.items():
        if len(said) > 1:
            taken.skip(f"{annotator!r} on sample {sample}", "a pair has two orders: left out")
            continue
        subject = Annotation.pair(one, other)
        yield _label(study_id, "preference", subject, annotator, moment, label=next(iter(said)))


def _label(
    study_id: str,
    kind: AnnotationKind,
    subject: str,
    annotator: str,
    moment: str,
    *,
    label: str = "",
    ranks: tuple[RankedAnswer, ...] = (),
    note: str = "",
) -> Annotation:
    return Annotation(
        id=Annotation.make_id(study_id, kind, subject, annotator),
        study_id=study_id,
        kind=kind,
        subject_id=subject,
        annotator=annotator,
        label=label,
        ranks=ranks,
        note=note,
        created=moment,
    )


# --- planted -------------------------------------------------------------------------------------


def plant_rankings(
    store: Store, study_id: str, *, seed: int = 0, clock: Clock = utc_now
) -> RankingsTaken:
    """Draw people's preferences of a synthetic study's answers from the probes' truth.

    Each answer seems as good as its true weighted score plus N(0, 0.35); two that seem nearer than
    0.4 are a tie. Equal seeds give equal labels; they are marked synthetic.

    Args:
        study_id: the study's id or name.
        seed: of the draws.
        clock: UTC time, for records.

    Raises:
        UsageError: the study isn't synthetic, or none of its pictures carries a program.

    Reference:
        METHODS D3.
    """
    store.must_be_open("this store is sealed: copy the study into one of your own first")
    study = find_study(store, study_id)
    if not study.synthetic:
        raise UsageError(
            f"{study.name!r} isn't synthetic: nobody knows the truth to draw rankings from; import "
            "people's own (`fidelity rankings FILE`)"
        )
    responses = compared_answers(store, study).responses
    samples = {sample.id: sample for sample in store.get_many(Sample, list(responses))}
    moment, taken, labels, about = stamp(clock()), RankingNotes(), [], 0
    for name, answers in responses.items():
        program = program_of(store, samples[name])
        if program is None:
            taken.skip(f"sample {name}", "no picture carries a probe's program")
            continue
        about += 1
        seems = people_see(program, answers, seed)
        for one, other in combinations(sorted(seems), 2):
            label = said_of(seems[one], seems[other])
            subject = Annotation.pair(one, other)
            labels.append(
                _label(
                    study.id, "preference", subject, PLANTED, moment,
                    label=label, note=SYNTHETIC_NOTE,
                )
            )  # fmt: skip
    if not labels:
        no = ("picture", "carries a program") if responses else ("question", "has two answers")
        raise UsageError(f"no {no[0]} of {study.name!r} {no[1]}: nothing can be drawn")
    store.replace(labels)
    return RankingsTaken(
        labels=len(labels),
        samples=about,
        annotators=(PLANTED,),
        n_skipped=taken.n_skipped,
        skipped=tuple(taken.skipped),
    )


def people_see(program: Program, answers: Sequence[Response], seed: int) -> dict[str, float]:
    """Return how good each answer seems to planted people, in points of 1..5."""
    readers = read_steps(program)
    total = sum(step.weight for step in program.steps)
    seems = {}
    for answer in answers:
        draws = Draws("planted people", seed, answer.sample_id, answer.id)
        true = numerator(program, step_scores(readers, answer.text)) / total
        seems[answer.id] = true + PEOPLE_SD * draws.normal()
    return seems


def said_of(first: float, second: float) -> str:
    """Say which of two answers people prefer: `a`, `b`, or `tie` where they seem near."""
    if abs(first - second) < TIE_WITHIN:
        return "tie"
    return "a" if first > second else "b"


def program_of(store: Store, sample: Sample) -> Program | None:
    """Return the program that a sample was drawn by; None where no picture carries one."""
    for slot in sample.pictures:
        if slot.picture_id is None:
            continue
        program = read_program(store.pictures.read(slot.picture_id))
        if program is not None:
            return program
    return None
