"""Makes records out of what a format read: each once, with what went wrong said.

A format reads its files and says what a row means; everything that all formats do alike is here:
questions that repeat or clash, answers that stand twice, pictures in any form, verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from atom.formats.base import ReadOptions
from atom.formats.cells import ImportedVerdict, to_number, to_text
from atom.formats.intake.batch import GivenLabel, GivenVerdict
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.formats.intake.names import MAX_NAME, cut, short
from atom.formats.intake.namesakes import QuestionHashes, QuestionNames
from atom.formats.pictures import BROKEN_URL, NOT_THERE, PictureData, place_picture
from atom.records import (
    AnswerCause,
    Outcome,
    PictureSlot,
    Preference,
    PreferenceVerdict,
    RankedAnswer,
    Response,
    Sample,
    Side,
    State,
    Tag,
    TagSubject,
    content_id,
)
from atom.records.rows import outcome_row, response_row, sample_row, tag_row

NO_ANSWER = "the file holds no answer"
NO_TEXT = "the file holds no answer text"
"""Kept with an answer that only verdicts are known of."""
UNTOLD = "(the text of this question is in none of the files)"
MAX_WORDS = 4_000
"""Characters of a judge's words that are kept beside its verdict."""


class SourceQuestion(NamedTuple):
    """A question as a row gives it."""

    text: str
    choices: tuple[str, ...] = ()
    reference: str | None = None
    answer_type: str = ""
    tolerance: float | None = None
    pictures: tuple[object, ...] = ()
    """Names, paths, bytes, base64, data URLs, objects with `bytes` and `path`, or slots whose
    picture came in before."""
    cluster: str | None = None
    """What is equal for questions that belong together; None = by their pictures."""
    labels: tuple[tuple[str, str], ...] = ()
    """(facet, value)."""
    find_by_id: bool = False
    """Whether a picture is looked for under the question's id where the row names none."""
    synthetic: bool = False
    """Whether a program made it."""


def _known(source: str, question: SourceQuestion, names: tuple[str, ...]) -> QuestionHashes:
    return QuestionHashes(
        hash(question.text),
        hash(question.choices),
        None if question.reference is None else hash(question.reference),
        hash(names) if names else None,
        hash(source),
    )


@dataclass(kw_only=True)
class _Slots:
    slots: list[PictureSlot] = field(default_factory=list)
    pictures: list[PictureData] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """Name -> why it isn't there."""

    @property
    def names(self) -> tuple[str, ...]:
        """The pictures' ids, or names where they aren't there."""
        return tuple([slot.picture_id or slot.name for slot in self.slots]) if self.slots else ()


_NO_SLOTS = _Slots()


def _slot_of(found: PictureData) -> _Slots:
    return _Slots(slots=[PictureSlot(name=found.name, picture_id=found.id)], pictures=[found])


class Maker:
    """Makes records for one import.

    Args:
        collector: where they go.
        options: how to read.
        remember: whether repeats are looked for here; a format that reads files of any size sees
            to it by itself, in less memory.
    """

    def __init__(
        self, collector: Collector, options: ReadOptions, *, remember: bool = True
    ) -> None:
        self.out = collector
        self._remember = remember
        self._finder = options.pictures
        self._questions = QuestionNames(collector)
        self._answers: dict[int, int] = {}
        self._labels: dict[int, int] = {}
        self._votes: set[int] = set()
        self._said: set[int] = set()

    # --- questions ---------------------------------------------------------------------------

    def told(self, text: str | None, identity: str, place: str) -> str:
        """Return a question's text; where no file holds it, a text that says so."""
        if text is not None:
            return text
        self.out.tally("a question's text is in none of the files", place)
        return f"Question {identity} {UNTOLD}"

    def sample(
        self,
        place: str,
        source: str,
        source_id: str | None,
        question: SourceQuestion,
        *,
        again: bool = False,
    ) -> str | None:
        """Take a question, once.

        Args:
            place: where it stands, for messages.
            source: the file that labels are kept with.
            source_id: its id in the source; None = named by its content.
            again: the format knows that it came in before under this id.

        Returns:
            Its id; None where it can't have one. A question that stands under the id of another
            one is kept beside it, under that id and a number.
        """
        if source_id is not None and len(source_id) > MAX_NAME:
            self.out.skip(place, f"its id has more than {MAX_NAME} characters")
            return None
        if again:
            return self.out.sample_id(source_id)
        filled = self._slots(question, source_id, place)
        names = filled.names
        sample_id = self.out.sample_id(source_id, question.text, question.choices, names)
        if self._remember:
            now = _known(source, question, names)
            named = self._questions.name(place, source_id, sample_id, question.text, now)
            source_id, sample_id = named.source_id, named.sample_id
            if not named.is_new:
                return sample_id
        if filled.slots:
            self._take_pictures(filled)
        cluster = question.cluster or (sorted(names) if names else None)
        self.out.add_row(
            Sample,
            sample_row(
                sample_id,
                self.out.dataset,
                source_id,
                question.text,
                choices=question.choices,
                reference=question.reference,
                answer_type=question.answer_type,
                tolerance=question.tolerance,
                pictures=tuple(filled.slots),
                cluster=(
                    None if cluster is None else content_id("cluster", self.out.dataset, cluster)
                ),
                synthetic=question.synthetic,
            ),
        )
        self.tags("sample", sample_id, source, question.labels)
        return sample_id

    def _take_pictures(self, filled: _Slots) -> None:
        for name, reason in filled.missing.items():
            self.out.missing_picture(name, reason)
        for picture in filled.pictures:
            self.out.picture(picture)

    def tags(
        self,
        subject: TagSubject,
        subject_id: str,
        source: str,
        labels: Iterable[tuple[str, str]],
    ) -> None:
        """Take labels of a question or an answer."""
        for facet, value in dict.fromkeys(labels):
            self.out.add_row(Tag, tag_row(subject, subject_id, source, facet, cut(value)))

    def _slots(self, question: SourceQuestion, source_id: str | None, place: str) -> _Slots:
        if not question.pictures:
            found = None
            if question.find_by_id and source_id is not None:
                found = self._finder.look(source_id).picture
            return _NO_SLOTS if found is None else _slot_of(found)
        filled = _Slots()
        for item in question.pictures:
            self._fill(item, place, filled)
        lone = len(filled.slots) == 1 and bool(filled.missing)
        if source_id is not None and (lone or (not filled.slots and question.find_by_id)):
            found = self._finder.look(source_id).picture
            if found is not None:
                return _slot_of(found)
        return filled

    def _fill(self, item: object, place: str, filled: _Slots) -> None:
        """Fill a picture's place with what a cell gives: bytes, base64, or a name to look up."""
        if isinstance(item, PictureSlot):
            known = item.picture_id is not None and self.out.has_picture(item.picture_id)
            filled.slots.append(item if known else PictureSlot(name=item.name))
            if not known:
                filled.missing[item.name or place] = NOT_THERE
            return
        placed = place_picture(item, self._finder)
        if placed is None:
            return
        found = placed.look.picture
        filled.slots.append(
            PictureSlot(name=placed.name, picture_id=None if found is None else found.id)
        )
        if found is not None:
            filled.pictures.append(found)
        elif placed.name == BROKEN_URL:
            self.out.tally("a picture's data URL can't be decoded; its place stays empty", place)
        else:
            filled.missing[placed.name or place] = placed.look.reason

    # --- answers -----------------------------------------------------------------------------

    def answer(
        self,
        place: str,
        sample_id: str,
        candidate: str,
        text: str | None,
        *,
        repeat: int = 0,
        detail: str = "",
        state: State | None = None,
        known: bool = True,
        cause: AnswerCause = "",
        thoughts: str = "",
    ) -> str | None:
        """Take a candidate's answer, once.

        Args:
            place: where it stands, for messages.
            candidate: the candidate's name.
            text: the answer; None = there is none, or its text isn't known.
            repeat: counts a candidate's answers to one question, from 0.
            detail: why there is none, or what else should be known.
            state: None = scored where there is a text.
            known: False = there is an answer, only its text isn't in the file.
            cause: why it is no ordinary answer.
            thoughts: what the model thought before it answered, where the file tells it apart.

        Returns:
            Its id; None for a second, different answer, which is left out.
        """
        candidate_id = self.out.candidate(cut(candidate))
        response_id = Response.imported_id(sample_id, candidate_id, repeat)
        now = hash(text) if self._remember else 0
        before = self._answers.get(short(response_id)) if self._remember else None
        if before is not None:
            if before == now or text is None:
                self.out.left_out("answers", STOOD_TWICE)
                return response_id
            self.out.skip(
                place,
                f"{cut(candidate, 80)!r} has a second, different answer to this question; the "
                "first is kept",
                "answers",
            )
            return None
        if self._remember:
            self._answers[short(response_id)] = now
        given = text is not None or not known
        self.out.add_row(
            Response,
            response_row(
                response_id,
                sample_id,
                candidate_id,
                repeat,
                state or ("scored" if given else "unscored"),
                text or "",
                detail or ("" if text is not None else NO_ANSWER if known else NO_TEXT),
                thoughts,
                cause,
            ),
        )
        return response_id

    def graded(
        self,
        response_id: str,
        verdict: ImportedVerdict | None,
        *,
        answer: str = "",
        unread: str = "",
    ) -> None:
        """Take the verdict on an answer.

        Args:
            verdict: None = the file has none.
            answer: the final answer as it was read out.
            unread: why there is no verdict; without it a missing one is no record at all.
        """
        if verdict is None:
            if not unread:
                return
            verdict = ImportedVerdict(value=None, detail=unread)
        self.out.add_row(Outcome, outcome_row(response_id, verdict.value, answer, verdict.detail))

    # --- what judges and people say ------------------------------------------------------------

    def prefer(
        self,
        place: str,
        sample_id: str,
        pair: tuple[str, str],
        judge: str,
        verdict: PreferenceVerdict | None,
        *,
        first: Side = "a",
        repeat: int = 0,
        strength: int = 1,
        reason: str = "",
        detail: str = "",
    ) -> None:
        """Take a judge's vote between two answers; without a verdict it is unscored."""
        a, b = pair
        vote_id = Preference.make_id(a, b, judge, "imported", first, repeat)
        if short(vote_id) in self._votes:
            self.out.skip(place, "this vote stood before", "votes")
            return
        self._votes.add(short(vote_id))
        self.out.add(
            Preference(
                id=vote_id,
                sample_id=sample_id,
                response_a=a,
                response_b=b,
                judge=judge,
                prompt="imported",
                repeat=repeat,
                first=first,
                state="unscored" if verdict is None else "scored",
                verdict=verdict,
                strength=strength,
                reason=cut(reason, MAX_WORDS),
                detail=detail,
            )
        )

    def said(self, place: str, verdict: GivenVerdict) -> None:
        """Take a judge's score or ranking, once."""
        key = hash((verdict.subject_id, verdict.part, verdict.judge, verdict.repeat, verdict.order))
        if key in self._said:
            self.out.skip(place, "the judge's score stood before", "marks")
            return
        self._said.add(key)
        self.out.add(verdict)

    def score(
        self,
        place: str,
        sample_id: str,
        part: str,
        judge: str,
        given: object,
        scale: tuple[float, float],
        *,
        number: float | None = None,
        repeat: int = 0,
        text: str = "",
    ) -> None:
        """Take a judge's score; one that isn't a number of its scale stays unscored.

        Args:
            place: where it stands, for messages.
            part: what was scored, as `Verdict` names it.
            given: the score as the file holds it.
            scale: the least and the most.
            number: the score, where it was read from somewhere else.
            repeat: counts a judge's scores of one thing, from 0.
            text: the judge's words.
        """
        number = to_number(given) if number is None else number
        fits = number is not None and scale[0] <= number <= scale[1]
        if not fits:
            self.out.tally("a judge's score can't be read; it stays unscored", place)
        self.said(
            place,
            GivenVerdict(
                subject_id=sample_id,
                part=part,
                judge=judge,
                repeat=repeat,
                state="scored" if fits else "unscored",
                value=number if fits else None,
                text=text,
                detail="" if fits else f"the score is {words(given, 80)!r}",
            ),
        )

    def label(self, place: str, label: GivenLabel) -> None:
        """Take a person's label; a second one by the same person is left out."""
        key = hash((label.kind, label.subject_id, label.annotator))
        now = hash((label.value, label.label, label.ranks))
        if key not in self._labels:
            self._labels[key] = now
            self.out.add(label)
        elif self._labels[key] != now:
            self.out.skip(
                place,
                f"{cut(label.annotator, 80)!r} gave another label to this before, which is kept",
                "labels",
            )
        else:
            self.out.left_out("labels", STOOD_TWICE)


def ranks_of(response_ids: Sequence[str]) -> tuple[RankedAnswer, ...]:
    """Rank answers in the order given, best first."""
    return tuple(
        RankedAnswer(response_id=name, rank=at) for at, name in enumerate(response_ids, start=1)
    )


def words(value: object, length: int = MAX_WORDS) -> str:
    """Return a judge's words, shortened; empty when there are none."""
    return cut(to_text(value) or "", length)
