"""The definitive mapping: a judge classifies every criterion of a study over a tree's leaves.

Inductions end with it; rival trees are mapped by it, so that the same judge reads both alike.

Reference: ATOM 3.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from atom.engine.clock import Clock, stamp
from atom.engine.induction.growing import Answer, leaf_texts
from atom.engine.items import read_material
from atom.engine.replies import PaidOnce
from atom.errors import PermanentError, PictureError
from atom.judge import Request, SpendLedger, failed_call
from atom.records import Call, Record, Sampling
from atom.records import Mapping as LeafMapping
from atom.stages import mapping
from atom.stages.growing.induction import SampleCriteria
from atom.store import Store, leaf_mappings, tree_record
from taxonomy import Path, Tree, tree_version
from taxonomy.grow import GrownTree, only_leaves
from taxonomy.similar import TextVectors

SHORTLIST_FROM = 60
"""With more leaves than this, a criterion is offered the likeliest ones first."""
SHORTLIST = 12
"""Leaves on a criterion's shortlist; a request offers those of all its criteria."""
CHUNK = 256
"""Requests that are built at a time."""
BREAKER = 5
"""So many requests in a row that the endpoint refuses for good stop the work."""
T = TypeVar("T")


class MappingHaltedError(Exception):
    """The work was stopped between two calls."""


class MappingContext(Protocol):
    """Where work is kept account of."""

    @property
    def store(self) -> Store:
        """Where replies and mappings are kept."""

    @property
    def clock(self) -> Clock:
        """UTC time, for records."""

    @property
    def halt(self) -> asyncio.Event:
        """Set when nothing more is to be asked."""

    def planned(self, phase: str, calls: int) -> None:
        """Note that so many calls are left, and for what."""

    def counted(self, cost: float) -> None:
        """Note that a call is done, and what was spent so far."""

    async def write(self, records: Sequence[Record]) -> None:
        """Write records."""


@dataclass(frozen=True, kw_only=True)
class MapperAnswer:
    """An answer, and the call to write when it's a new one."""

    answer: Answer
    call: Call | None


@dataclass(kw_only=True)
class Asker:
    """Asks the judge, writes each reply as it comes, and keeps the count."""

    desk: MappingContext
    client: PaidOnce
    spend: SpendLedger
    lanes: asyncio.Semaphore
    refusals: int = 0

    async def one(self, request: Request) -> MapperAnswer:
        """Ask, unless the reply is in the store.

        Raises:
            HaltedError: nothing more is to be asked.
            JudgeError: no reply came; asking again later may help.
        """
        stored = self.client.stored(request)
        if stored is not None:
            return MapperAnswer(answer=stored, call=None)
        async with self.lanes:
            if self.desk.halt.is_set():
                raise MappingHaltedError
            try:
                reply = await self.client.ask(request)
            except PermanentError as error:
                self.refusals += 1
                if self.refusals >= BREAKER:
                    raise
                return MapperAnswer(answer=error, call=failed_call(error))
        self.refusals = 0
        return MapperAnswer(answer=reply, call=reply.call)

    async def done(self, asked: MapperAnswer, records: Sequence[Record] = ()) -> None:
        """Account for a call, and write it with what came of it."""
        self.desk.counted(self.spend.spent)
        new = [*([asked.call] if asked.call else []), *records]
        if new:
            await self.desk.write(new)


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Wait for all; what is in flight ends well before the first trouble is raised."""
    found = await asyncio.gather(*work, return_exceptions=True)
    troubles = [item for item in found if isinstance(item, BaseException)]
    if troubles:
        raise min(troubles, key=lambda trouble: isinstance(trouble, MappingHaltedError))
    return [item for item in found if not isinstance(item, BaseException)]


def unmapped(
    store: Store, cuts: Sequence[SampleCriteria], version: str
) -> tuple[SampleCriteria, ...]:
    """Return the samples with the criteria that no judge has put into a tree yet.

    Args:
        cuts: samples with their criteria.
    """
    have = leaf_mappings(store, version, [one.id for cut in cuts for one in cut.criteria])
    known = {name for name, one in have.items() if one.state != "failed"}
    return tuple(
        SampleCriteria(sample=cut.sample, criteria=part)
        for cut in cuts
        if (part := tuple(one for one in cut.criteria if one.id not in known))
    )


@dataclass(kw_only=True)
class Mapper:
    """Classifies every criterion of a study over the leaves of a tree.

    Args:
        asker: asks the judge.
        cuts: every sample with its criteria.
        judge_id: who maps.
        sampling: what its requests ask for.
    """

    asker: Asker
    cuts: Sequence[SampleCriteria]
    judge_id: str
    sampling: Sampling
    questions: dict[str, str] = field(init=False)
    sample_of: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        criteria = [criterion for cut in self.cuts for criterion in cut.criteria]
        self.questions = {criterion.id: criterion.question for criterion in criteria}
        self.sample_of = {criterion.id: criterion.sample_id for criterion in criteria}

    async def map_all(self, grown: GrownTree) -> dict[str, LeafMapping]:
        """Map what isn't mapped to this tree yet.

        Returns:
            Criterion id -> mapping, for every criterion of the study.
        """
        desk = self.asker.desk
        version = tree_version(grown.tree)
        await desk.write([tree_record(grown.tree, stamp(desk.clock()))])
        left = unmapped(desk.store, self.cuts, version)
        known = leaf_mappings(desk.store, version, list(self.questions))
        desk.planned("mapping", len(left))
        offer = LeafOffer.of(grown, self.questions)
        for start in range(0, len(left), CHUNK):
            asked = left[start : start + CHUNK]
            for made in await together([self._map(cut, offer, version) for cut in asked]):
                known.update((m.criterion_id, m) for m in made)
        return {name: known[name] for name in self.questions}

    async def _map(
        self, cut: SampleCriteria, offer: LeafOffer, version: str
    ) -> tuple[LeafMapping, ...]:
        """Map a sample's criteria: over the likeliest leaves first, then over all of them."""
        made = await self._ask(cut, offer.likely(cut), version)
        lost = tuple(c for c, m in zip(cut.criteria, made, strict=True) if m.leaf is None)
        if not lost or not offer.short or any(m.state == "failed" for m in made):
            return made
        again = await self._ask(
            SampleCriteria(sample=cut.sample, criteria=lost), offer.tree, version
        )
        found = {m.criterion_id: m for m in again}
        return tuple(found.get(m.criterion_id, m) for m in made)

    async def _ask(self, cut: SampleCriteria, tree: Tree, version: str) -> tuple[LeafMapping, ...]:
        try:
            pictures = read_material(self.asker.desk.store, cut.sample).pictures
            request = mapping.build(cut.sample, pictures, cut.criteria, tree, self.sampling)
            asked = await self.asker.one(request)
        except PictureError as error:
            made = mapping.failed(error.message, cut.criteria, version, self.judge_id)
            await self.asker.desk.write(made)
            return made
        if isinstance(asked.answer, PermanentError):
            call = asked.call.id if asked.call else None
            made = mapping.failed(asked.answer.message, cut.criteria, version, self.judge_id, call)
        else:
            made = mapping.parse(asked.answer, cut.criteria, tree, version, self.judge_id)
        await self.asker.done(asked, made)
        return made


@dataclass(frozen=True, kw_only=True)
class LeafOffer:
    """The leaves that a request offers.

    Args:
        short: whether there are so many that each criterion has a shortlist.
        texts: what the leaves are about, for the shortlists.
        leaves: the leaves, as `texts` numbers them.
    """

    tree: Tree
    short: bool
    texts: TextVectors
    leaves: tuple[Path, ...]

    @classmethod
    def of(cls, grown: GrownTree, questions: Mapping[str, str]) -> LeafOffer:
        """Make the offer of a tree.

        Args:
            grown: the tree, and the criteria that are known to hang in it.
            questions: the question of each criterion.
        """
        about = leaf_texts(grown, questions)
        short = len(about) > SHORTLIST_FROM
        return cls(
            tree=grown.tree,
            short=short,
            texts=TextVectors(list(about.values()) if short else []),
            leaves=tuple(about),
        )

    def likely(self, cut: SampleCriteria) -> Tree:
        """Return the tree with the leaves that are likeliest for a sample's criteria."""
        if not self.short:
            return self.tree
        words = [f"{c.question} {c.ground_truth}" for c in cut.criteria]
        near = self.texts.nearest(words, SHORTLIST)
        kept = {self.leaves[number] for numbers in near for number in numbers}
        return only_leaves(self.tree, kept) if kept else self.tree
