"""What each stage does with one sample: build the request, ask, parse, records out.

Runs and Live replay use these same steps. Nothing here writes to the store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from atom.engine.attaching import HOW
from atom.errors import PictureError
from atom.judge import PictureCache, PicturePart, Reply, Request
from atom.judge.dialect import sent_sides
from atom.judge.pictures import CachedPicture
from atom.records import (
    Call,
    CriteriaSet,
    Criterion,
    Endpoint,
    PictureLimit,
    Record,
    Replay,
    Response,
    Sample,
    Sampling,
)
from atom.stages import answer, criteria, mapping, outcome, replay, scoring
from atom.stages.boxes import AS_ASKED, BoxSpace, SentPicture
from atom.store import Store
from taxonomy import Tree

Ask = Callable[[Request], Awaitable[Reply]]
"""Asks a model; raises an `AtomError` when no reply came."""


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What is needed to know how a judge saw a picture.

    Args:
        endpoint: the judge's.
        cache: the pictures as they are sent.
    """

    endpoint: Endpoint
    cache: PictureCache

    @property
    def unchecked(self) -> str:
        """Say that nobody has checked how the judge writes boxes; empty where somebody has."""
        if self.endpoint.boxes is not None:
            return ""
        return (
            f"how {self.endpoint.name!r} writes boxes wasn't checked, so they may be drawn in the "
            f"wrong place: run `endpoint test {self.endpoint.name}`"
        )

    def _limit(self, least: int, most: int | None) -> PictureLimit | None:
        """Return the limits by which pictures were sent; None where their sizes don't count."""
        limit = self.endpoint.pictures
        sides = {
            "min_side": max(least, limit.min_side),
            "max_side": min(limit.max_side, most or limit.max_side),
        }
        limit = limit.model_copy(update=sides)
        return limit if self.endpoint.boxes == "xyxy_pixels" or limit.min_side > 1 else None

    async def space(
        self, pictures: Sequence[PicturePart], *, least: int = 1, most: int | None = None
    ) -> BoxSpace:
        """Say how the judge's boxes lie on pictures.

        Args:
            pictures: the pictures.
            least: the side to which thin ones were padded, where the endpoint says less.
            most: the side to which large ones were scaled down, where the endpoint says more.

        Raises:
            PictureError: one can't be read or used.
        """
        limit, probe = self._limit(least, most), self.endpoint.is_probe
        return self._space(
            [await self.cache.get(part, limit, keep_program=probe) for part in pictures if limit]
        )

    def space_now(self, pictures: Sequence[PicturePart]) -> BoxSpace:
        """Say it outside of an event loop; see `space`."""
        limit, probe = self._limit(1, None), self.endpoint.is_probe
        return self._space(
            [self.cache.get_now(part, limit, keep_program=probe) for part in pictures if limit]
        )

    async def seen(self, material: Material) -> Material:
        """Say of a sample's pictures how the judge sees them."""
        return replace(material, space=await self.space(material.pictures), sight=self)

    def _space(self, sent: Sequence[CachedPicture]) -> BoxSpace:
        return BoxSpace(
            convention=self.endpoint.boxes,
            sent=tuple(
                SentPicture(width=one.width, height=one.height, content=one.content) for one in sent
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Material:
    """A sample with its pictures at hand.

    Args:
        sample: the sample.
        pictures: its pictures, read when they are needed.
        space: how the judge's boxes lie on them.
        sight: how the judge sees them; None where it was told in `space` alone.
    """

    sample: Sample
    pictures: tuple[PicturePart, ...]
    space: BoxSpace = AS_ASKED
    sight: Sight | None = None

    async def shown(self, reply: Reply, *, copied: bool = False) -> BoxSpace:
        """Say how a reply's boxes lie on the pictures, by what the client learned on the way.

        Args:
            reply: what came back.
            copied: whether the judge was shown boxes, written before that was known: it may have
                copied them, or may have drawn its own.

        Raises:
            PictureError: a picture can't be read or used.
        """
        least, most = sent_sides(reply.call.adapted)
        if self.sight is None or (least == 1 and most is None):
            return self.space
        space = await self.sight.space(self.pictures, least=least, most=most)
        assumed = {one.content for one in self.space.sent}
        moved = space.padded or space.convention == "xyxy_pixels"
        if copied and moved and {one.content for one in space.sent} != assumed:
            return replace(
                space,
                lost="the pictures were fitted for the server after they were shown to the judge: "
                "give the endpoint pictures.min_side or max_side as the call's notes say",
            )
        return space


@dataclass(frozen=True, kw_only=True)
class Brought:
    """What a step brought.

    Args:
        records: new records, the call's aside.
        call: the call that the records are of, or None when no model was asked.
        earlier: the step's other calls, in order.
    """

    records: tuple[Record, ...]
    call: Call | None = None
    earlier: tuple[Call, ...] = ()


def read_material(store: Store, sample: Sample) -> Material:
    """Find a sample's pictures.

    Raises:
        PictureError: one isn't attached.
    """
    parts = []
    for number, slot in enumerate(sample.pictures, start=1):
        if slot.picture_id is None:
            raise PictureError(
                f"picture {number} ({slot.name or 'without a name'}) of this sample isn't "
                f"attached: {HOW}"
            )
        parts.append(
            PicturePart(sha256=slot.picture_id, load=partial(store.pictures.read, slot.picture_id))
        )
    return Material(sample=sample, pictures=tuple(parts))


async def do_answer(
    ask: Ask, material: Material, candidate_id: str, sampling: Sampling, repeat: int = 0
) -> Brought:
    """Let a candidate answer; a verdict that a rule can give comes along, free."""
    request = answer.build(material.sample, material.pictures, sampling, repeat=repeat)
    reply = await ask(request)
    response = answer.parse(reply, material.sample, candidate_id, sampling, repeat)
    verdict = outcome.check(material.sample, response) if response.state == "scored" else None
    return _brought(reply, response, *([verdict] if verdict else []))


async def do_replay(
    ask: Ask,
    material: Material,
    judge_id: str,
    sampling: Sampling,
    *,
    with_reference: bool = False,
) -> Brought:
    """Let the judge solve the sample, told the reference answer or not.

    Where no rule can compare its final answer with the known one, the judge is asked to compare
    them, in a question of its own.
    """
    sample = material.sample
    reply = await ask(
        replay.build(sample, material.pictures, sampling, with_reference=with_reference)
    )
    solved = replay.parse(
        reply, sample, judge_id, sampling,
        with_reference=with_reference, space=await material.shown(reply),
    )  # fmt: skip
    if replay.needs_comparison(sample, solved):
        compared = await ask(replay.compare(sample, material.pictures, solved, sampling))
        solved = replay.compared(compared, solved)
    return _brought(reply, solved)


async def do_criteria(
    ask: Ask, material: Material, solved: Replay, judge_id: str, sampling: Sampling
) -> Brought:
    """Let the judge cut its replay into weighted criteria; faulty ones it may mend once."""
    sample = material.sample
    request = criteria.build(sample, material.pictures, solved, sampling, space=material.space)
    reply = await ask(request)
    space = await material.shown(reply, copied=True)
    result = criteria.parse(reply, sample, solved, judge_id, sampling, space=space)
    if faults := result.faults:
        reply = await ask(criteria.again(request, reply, faults))
        second = criteria.parse(reply, sample, solved, judge_id, sampling, space=space)
        result = criteria.mended(second, faults)
    return _brought(reply, *result.criteria, result.criteria_set)


async def do_mapping(
    ask: Ask,
    material: Material,
    wanted: Sequence[Criterion],
    tree: Tree,
    version: str,
    judge_id: str,
    sampling: Sampling,
) -> Brought:
    """Let the judge hang criteria on the tree's leaves."""
    reply = await ask(mapping.build(material.sample, material.pictures, wanted, tree, sampling))
    return _brought(reply, *mapping.parse(reply, wanted, tree, version, judge_id))


async def do_scoring(
    ask: Ask,
    material: Material,
    criteria_set: CriteriaSet,
    wanted: Sequence[Criterion],
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    *,
    blind: bool = False,
) -> Brought:
    """Let the judge score an answer at the criteria that are wanted; blind: without pictures."""
    part = only(criteria_set, wanted)
    request = scoring.build(
        material.sample,
        material.pictures,
        part,
        wanted,
        response,
        sampling,
        repeat=repeat,
        blind=blind,
    )
    reply = await ask(request)
    return _brought(
        reply,
        *scoring.parse(reply, part, wanted, response, judge_id, sampling, repeat, blind=blind),
    )


async def do_outcome(
    ask: Ask, material: Material, response: Response, judge_id: str, sampling: Sampling
) -> Brought:
    """Say whether the final answer is right: by rule where one can tell, else by the judge."""
    verdict = outcome.check(material.sample, response)
    if verdict is not None:
        return Brought(records=(verdict,))
    reply = await ask(outcome.build(material.sample, material.pictures, response, sampling))
    return _brought(reply, outcome.parse(reply, response, judge_id))


def only(criteria_set: CriteriaSet, wanted: Sequence[Criterion]) -> CriteriaSet:
    """Cut a set down to some of its criteria, so that an unchanged one isn't scored again."""
    ids = {criterion.id for criterion in wanted}
    uses = tuple(use for use in criteria_set.uses if use.criterion_id in ids)
    return criteria_set.model_copy(update={"uses": uses})


def _brought(reply: Reply, *records: Record) -> Brought:
    return Brought(records=records, call=reply.call)
