"""One judge, the same answers, and something else to look at each time.

A judge marks an answer with its picture, with it again, without it, with another sample's, and with
a description of it. The request is that of `scoring`, word for word, so that only what is shown
differs. Marks are kept as verdicts: they are no marks of the study.

Reference: METHODS T8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import (
    CriteriaSet,
    Criterion,
    PictureCondition,
    Response,
    Sample,
    Sampling,
    Verdict,
    content_id,
)
from atom.stages import scoring
from atom.stages.asking import make_request
from atom.stages.reading import read_reply, text_of
from atom.stages.schemas import Schema, a_text, an_object
from atom.stages.verdicts import Ask, blank, scored, unscored

TASK: Final = "caption"
PROMPT: Final = "caption/1"
SIGHT_PART: Final = "sight/"
"""How the part of such verdicts begins; what the judge was shown and the answer's id follow."""
DESCRIBED: Final = f"{SIGHT_PART}description"
"""The part of a description, which is of a sample."""
MARKS, OTHER = "marks", "other"
"""What `data` of a verdict holds: criterion's id → score or None; whose picture was shown."""
NOTE: Final = "The pictures aren't shown. They were described so:"
"""What stands between a question and the description."""
LONGEST: Final = 4000
"""Characters of a description that a judge is shown."""
REPEATS: Final[Mapping[PictureCondition, int]] = {
    "picture": 1,
    "again": 2,
    "none": 3,
    "other": 4,
    "caption": 5,
}
"""A judge that draws at random draws anew each time; 0 is the study's own mark."""
CAPTION: Final[Schema] = an_object(description=a_text(LONGEST))


@dataclass(frozen=True, kw_only=True)
class SightItem:
    """An answer that is marked under every condition.

    Args:
        criteria_set: the criteria that stand for the question.
        other: a sample of the study with another known answer, whose pictures are shown in place of
            its own; None = there is none.
        described: what the study says its pictures show; None = the judge describes them.
        again: whether the picture is shown once more; not where the study's own mark tells the
            same.
    """

    sample: Sample
    response: Response
    criteria_set: CriteriaSet
    criteria: tuple[Criterion, ...]
    other: Sample | None = None
    described: str | None = None
    again: bool = True

    def part(self, shown: PictureCondition) -> str:
        """Name the verdict: other criteria make another one."""
        cut = content_id("sight", [one.id for one in self.criteria])[:12]
        return f"{SIGHT_PART}{shown}/{self.response.id}/{cut}"


def shown_of(part: str) -> tuple[str, str]:
    """Read what a judge was shown and the answer's id off a verdict's part."""
    shown, _, rest = part.removeprefix(SIGHT_PART).partition("/")
    return shown, rest.partition("/")[0]


def with_description(sample: Sample, description: str) -> Sample:
    """Return a sample whose question tells what its pictures show."""
    told = " ".join(description.split())[:LONGEST]
    return sample.model_copy(update={"question": f"{sample.question}\n\n{NOTE} {told}"})


def build_caption(pictures: Sequence[PicturePart], sampling: Sampling) -> Request:
    """Build the request for a description; the question isn't told, or it would be answered."""
    return make_request(
        PROMPT,
        {"pictures": len(pictures)},
        pictures=pictures,
        sampling=sampling,
        repeat=0,
        schema=CAPTION,
    )


def parse_caption(reply: Reply, blank: Verdict) -> Verdict:
    """Read a description into `text`."""
    usable = read_reply(reply, "description")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    text = text_of(usable.data["description"])
    if not text:
        return unscored(blank, "The judge described nothing.", reply.call.id)
    return scored(blank, reply, text=text[:LONGEST], detail=usable.note)


def parse_marks(item: SightItem, shown: PictureCondition, reply: Reply, blank: Verdict) -> Verdict:
    """Read the marks into `data`.

    Returns:
        The verdict, with a score or None for every criterion: a judge that can't apply one without
        the picture has said something. Unscored where the reply as a whole can't be read.
    """
    usable = read_reply(reply, "scores", partial=True)
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    points = scoring.parse(
        reply, item.criteria_set, item.criteria, item.response, blank.judge, blank.sampling
    )
    data: dict[str, object] = {MARKS: {one.criterion_id: one.score for one in points}}
    if shown == "other" and item.other is not None:
        data[OTHER] = item.other.id
    return scored(blank, reply, data=data, detail=usable.note)


@dataclass(frozen=True, kw_only=True)
class SightWorklist:
    """Asks one judge about every answer under every condition.

    Args:
        items: the answers.
        pictures: gives a sample's pictures as request parts, in order.
        judge: the judge's id.
        shown: the conditions.
    """

    study_id: str
    items: Sequence[SightItem]
    pictures: Callable[[Sample], tuple[PicturePart, ...]]
    judge: str
    sampling: Sampling
    shown: tuple[PictureCondition, ...]

    def asks(self, have: Mapping[str, Verdict]) -> list[Ask]:
        """Return all that can be asked by now; descriptions come before what rests on them."""
        return [*self.descriptions(), *(ask for item in self.items for ask in self._of(item, have))]

    def descriptions(self) -> list[Ask]:
        """Return the questions for descriptions, one a sample that the study doesn't describe."""
        if "caption" not in self.shown:
            return []
        samples = {item.sample.id: item.sample for item in self.items if item.described is None}
        return [
            Ask(
                blank=self._described(sample),
                build=partial(self._build_caption, sample),
                read=parse_caption,
            )
            for sample in samples.values()
        ]

    def description(self, item: SightItem, have: Mapping[str, Verdict]) -> str | None:
        """Return what is known of what an item's pictures show."""
        if item.described is not None:
            return item.described
        there = have.get(self._described(item.sample).key)
        return there.text if there is not None and there.state == "scored" else None

    def ask(self, item: SightItem, shown: PictureCondition, description: str = "") -> Ask:
        """Return the question about an item under one condition."""
        prompt = scoring.BLIND if shown in ("none", "caption") else scoring.PROMPT
        return Ask(
            blank=blank(
                self.study_id, item.sample.id, item.part(shown), self.judge, prompt, self.sampling
            ),
            build=partial(self._build, item, shown, description),
            read=partial(parse_marks, item, shown),
        )

    def waits(self, item: SightItem, have: Mapping[str, Verdict]) -> bool:
        """Whether an item's pictures are still to be described."""
        return "caption" in self.shown and self.description(item, have) is None

    def _of(self, item: SightItem, have: Mapping[str, Verdict]) -> Iterator[Ask]:
        for shown in self.shown:
            if (shown == "again" and not item.again) or (shown == "other" and item.other is None):
                continue
            if shown != "caption":
                yield self.ask(item, shown)
            elif (told := self.description(item, have)) is not None:
                yield self.ask(item, shown, told)

    def _described(self, sample: Sample) -> Verdict:
        return blank(self.study_id, sample.id, DESCRIBED, self.judge, PROMPT, self.sampling)

    def _build_caption(self, sample: Sample) -> Request:
        return build_caption(self.pictures(sample), self.sampling)

    def _build(self, item: SightItem, shown: PictureCondition, description: str) -> Request:
        sample = with_description(item.sample, description) if description else item.sample
        blind = shown in ("none", "caption")
        looked_at = item.other if shown == "other" and item.other is not None else item.sample
        return scoring.build(
            sample,
            () if blind else self.pictures(looked_at),
            item.criteria_set,
            item.criteria,
            item.response,
            self.sampling,
            repeat=REPEATS[shown],
            blind=blind,
        )
