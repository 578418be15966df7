"""What each stage does with one sample: build the request, ask, parse, records out.

Runs and Live replay use these same steps. Nothing here writes to the store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from atom.engine.attaching import HOW
from atom.errors import PictureError
from atom.judge import PictureCache, PicturePart, Reply, Request
from atom.judge.pictures import CachedPicture
from atom.records import (
    Call,
    CriteriaSet,
    Criterion,
    Endpoint,
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
class Material:
    """A sample with its pictures at hand.

    Args:
        sample: the sample.
        pictures: its pictures, read when they are needed.
        space: how the judge's boxes lie on them.
    """

    sample: Sample
    pictures: tuple[PicturePart, ...]
    space: BoxSpace = AS_ASKED


@dataclass(frozen=True, kw_only=True)
class Brought:
    """What a step brought.

    Args:
        records: new records, the call's aside.
        call: the call that the records are of, or None when no model was asked.
        earlier: further calls of the step, in order.
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

    @property
    def _sizes(self) -> bool:
        """Whether the sizes of the pictures as they are sent count."""
        return self.endpoint.boxes == "xyxy_pixels" or self.endpoint.pictures.min_side > 1

    async def space(self, pictures: Sequence[PicturePart]) -> BoxSpace:
        """Say how the judge's boxes lie on pictures.

        Raises:
            PictureError: one can't be read or used.
        """
        limit, probe = self.endpoint.pictures, self.endpoint.is_probe
        sent = [
            await self.cache.get(part, limit, keep_program=probe)
            for part in (pictures if self._sizes else ())
        ]
        return self._space(sent)

    def space_now(self, pictures: Sequence[PicturePart]) -> BoxSpace:
        """Say it outside of an event loop; see `space`."""
        limit, probe = self.endpoint.pictures, self.endpoint.is_probe
        sent = [
            self.cache.get_now(part, limit, keep_program=probe)
            for part in (pictures if self._sizes else ())
        ]
        return self._space(sent)

    def _space(self, sent: Sequence[CachedPicture]) -> BoxSpace:
        return BoxSpace(
            convention=self.endpoint.boxes,
            sent=tuple(
                SentPicture(width=one.width, height=one.height, content=one.content) for one in sent
            ),
        )


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
    sample, space = material.sample, material.space
    reply = await ask(
        replay.build(sample, material.pictures, sampling, with_reference=with_reference)
    )
    solved = replay.parse(
        reply, sample, judge_id, sampling, with_reference=with_reference, space=space
    )
    if replay.needs_comparison(sample, solved):
        compared = await ask(replay.compare(sample, material.pictures, solved, sampling))
        solved = replay.compared(compared, solved)
    return _brought(reply, solved)


async def do_criteria(
    ask: Ask, material: Material, solved: Replay, judge_id: str, sampling: Sampling
) -> Brought:
    """Let the judge cut its replay into weighted criteria; faulty ones it may mend once."""
    sample, space = material.sample, material.space
    request = criteria.build(sample, material.pictures, solved, sampling, space=space)
    reply = await ask(request)
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
) -> Brought:
    """Let the judge score an answer at the criteria that are wanted."""
    part = only(criteria_set, wanted)
    request = scoring.build(
        material.sample, material.pictures, part, wanted, response, sampling, repeat=repeat
    )
    reply = await ask(request)
    return _brought(
        reply, *scoring.parse(reply, part, wanted, response, judge_id, sampling, repeat)
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
