"""Grows a tree from criteria: proposals, rounds of uniting, pruning, a last reconciliation.

Only the asking is left to the caller. Everything depends on the criteria, the settings and the
replies alone, so the same replies give the same tree with the same log, however often the work was
interrupted.

Reference: ATOM 3.2, E.1. Why it is done this way, and what it costs: `design/005`.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from atom.errors import PermanentError
from atom.judge import Reply, Request
from atom.records import Criterion, Sampling
from atom.stages.growing import propose, same, vague
from atom.stages.growing.induction import BATCH, WAVE, SampleCriteria, batches, waves
from taxonomy import DEPTH, Path, Tree, format_path
from taxonomy.edits import Drop, LoggedEdit, Merge
from taxonomy.grow import GrownTree
from taxonomy.path import shared_depth
from taxonomy.prune import MIN_CRITERIA, MIN_SAMPLES, Nearest, prune
from taxonomy.similar import TextVectors
from taxonomy.unite import SameMeaning, unite

PAIRS = 20
"""Pairs of nodes in a request."""
LEAVES = 40
"""Leaves in a request that asks which are vague."""
NEIGHBOURS = {2: 2, 3: 3, 4: 5}
"""Nearest nodes that each node is compared with, by layer; names and examples each count."""
NAME_FLOOR = 0.25
EXAMPLE_FLOOR = 0.20
"""Nodes that are less alike than this aren't put before the judge."""
SHARED_LAYER = 0.10
"""What each layer in common adds to the likeness of two leaves when one has to join the other."""
NEAR_ENOUGH = 0.25
"""A weak leaf with no other as near as this is dropped instead of merged."""
_EXAMPLES = 12

Answer = Reply | PermanentError
AskAll = Callable[[str, Sequence[Request]], Awaitable[Sequence[Answer]]]
"""Asks several requests of one phase; answers come in their order. A request that the endpoint
refuses for good gives its error; anything else that goes wrong is raised."""


OnGrowth = Callable[[GrownTree], Awaitable[None]]
"""Told of the tree whenever it has changed."""
EmbedTexts = Callable[[Sequence[str]], Awaitable[NDArray[np.float32] | None]]
"""Turns texts into vectors, shape (N, D); None when that isn't possible, and letters decide."""


@dataclass(frozen=True, kw_only=True)
class GrowSettings:
    """How a tree is grown.

    Args:
        seed: orders the batches of criteria that are asked again.
        rounds: rounds of uniting before the pruning.
        batch: criteria in a proposal, about.
        wave: batches at most that are shown the same tree.
        min_criteria: criteria that a leaf needs.
        min_samples: distinct samples that a leaf needs.
    """

    seed: int = 0
    rounds: int = 3
    batch: int = BATCH
    wave: int = WAVE
    min_criteria: int = MIN_CRITERIA
    min_samples: int = MIN_SAMPLES


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What came of it.

    Args:
        grown: the tree, its log, and where the criteria hang.
        unplaced: criterion id -> why it found no place, twice.
        refused: everything that the gate refused, first tries too: (criterion id, why).
    """

    grown: GrownTree
    unplaced: Mapping[str, str]
    refused: tuple[tuple[str, str], ...]


@dataclass(kw_only=True)
class _Garden:
    """The work in progress."""

    ask: AskAll
    settings: GrowSettings
    sampling: Sampling
    judge: str
    grown: GrownTree
    questions: Mapping[str, str]
    sample_of: Mapping[str, str]
    embed: EmbedTexts | None = None
    told: OnGrowth | None = None
    refused: list[tuple[str, str]] = field(default_factory=list)
    asked: set[frozenset[tuple[Path, int]]] = field(default_factory=set)
    taken_in: dict[Path, int] = field(default_factory=dict)

    # Proposals

    async def place(self, cuts: Sequence[SampleCriteria], round_: int) -> dict[str, str]:
        """Ask for places, wave by wave; return who found none and why."""
        left: dict[str, str] = {}
        for wave in waves(batches(cuts, self.settings.batch), self.settings.wave):
            tree = self.grown.tree
            requests = [propose.build(batch, tree, self.sampling) for batch in wave]
            answers = await self.ask("proposing", requests)
            for batch, answer in zip(wave, answers, strict=True):
                left.update(self._take(batch, answer, round_))
            await self._tell()
        self.refused += left.items()
        return left

    def _take(
        self, batch: Sequence[SampleCriteria], answer: Answer, round_: int
    ) -> Mapping[str, str]:
        if isinstance(answer, PermanentError):
            return {c.id: answer.message for cut in batch for c in cut.criteria}
        proposal = propose.parse(answer, batch)
        by = f"{self.judge}, {propose.PROMPT}"
        taken = propose.take(proposal, self.grown, self.questions, by=by, round_=round_)
        self.grown = taken.grown
        return taken.refused

    # Uniting

    async def unite(self, round_: int, *, wider: int = 1) -> None:
        """Put likely duplicates before the judge, and unite what it calls the same twice."""
        pairs = [pair for depth in NEIGHBOURS for pair in await self._candidates(depth, wider)]
        if not pairs:
            return
        yes = await self._same(pairs)
        sure = await self._same([pair.turned for pair in yes]) if yes else {}
        verdicts = [
            SameMeaning(first=pair.second.path, second=pair.first.path, why=why)
            for pair, why in sure.items()
        ]
        entries = unite(
            verdicts, self._criteria_under(), by=f"{self.judge}, {same.PROMPT}", round_=round_
        )
        self.grown = self.grown.edited(entries)
        for path in {getattr(entry.edit, "into", ()) for entry in entries}:
            self.taken_in[path] = self.taken_in.get(path, 0) + 1
        await self._tell()

    async def _tell(self) -> None:
        if self.told is not None:
            await self.told(self.grown)

    async def _same(self, pairs: Sequence[same.NodePair]) -> dict[same.NodePair, str]:
        """Return the pairs that the judge calls the same, with its reasons."""
        groups = [pairs[at : at + PAIRS] for at in range(0, len(pairs), PAIRS)]
        answers = await self.ask("uniting", [same.build(g, self.sampling) for g in groups])
        found: dict[same.NodePair, str] = {}
        for group, answer in zip(groups, answers, strict=True):
            if isinstance(answer, PermanentError):
                continue
            for pair, opinion in zip(group, same.parse(answer, group), strict=True):
                if opinion.same:
                    found[pair] = opinion.why
        return found

    async def _candidates(self, depth: int, wider: int) -> list[same.NodePair]:
        """Return pairs of nodes of a layer that are alike and weren't compared as they are now."""
        nodes = self._nodes(depth)
        names = TextVectors([f"{node.path[-1]} {node.meaning}" for node in nodes])
        examples = TextVectors([" ".join(node.examples) for node in nodes])
        k = NEIGHBOURS[depth] * wider
        near = names.pairs(k, NAME_FLOOR / wider) + examples.pairs(k, EXAMPLE_FLOOR / wider)
        if self.embed is not None and len(nodes) > 1:
            about = [f"{node.path[-1]}. {node.meaning} {' '.join(node.examples)}" for node in nodes]
            vectors = await self.embed(about)
            near += TextVectors(about, vectors).pairs(k) if vectors is not None else []
        out = []
        for pair in sorted({(n.first, n.second) for n in near}):
            first, second = nodes[pair[0]], nodes[pair[1]]
            if depth < DEPTH and first.path[0] != second.path[0]:
                continue  # groups under two roots differ by the roots' meaning, whatever they hold
            key = frozenset((p, self.taken_in.get(p, 0)) for p in (first.path, second.path))
            if key not in self.asked:
                self.asked.add(key)
                out.append(same.NodePair(first=first, second=second))
        return out

    def _nodes(self, depth: int) -> list[same.NodeSketch]:
        """Return the nodes of a layer with examples of what hangs under them."""
        examples: dict[Path, list[str]] = {}
        for criterion, leaf in self.grown.leaf_of.items():
            below = examples.setdefault(leaf[:depth], [])
            text = self.questions[criterion]
            if len(below) < _EXAMPLES and text not in below:
                below.append(text)
        held: dict[Path, list[str]] = {}
        for leaf in self.grown.tree.leaves if depth < DEPTH else ():
            held.setdefault(leaf[:depth], []).append(leaf[-1])
        return [
            same.NodeSketch(
                path=path,
                meaning=node.meaning,
                examples=(*held.get(path, [])[:_EXAMPLES], *examples.get(path, [])),
            )
            for path, node in self.grown.tree.walk()
            if len(path) == depth
        ]

    def _criteria_under(self) -> dict[Path, int]:
        counts: dict[Path, int] = {}
        for leaf in self.grown.leaf_of.values():
            for depth in range(2, len(leaf) + 1):
                counts[leaf[:depth]] = counts.get(leaf[:depth], 0) + 1
        return counts

    # Pruning

    async def weed(self, round_: int) -> None:
        """Take out the leaves that the judge, asked twice, calls too vague to be kept."""
        leaves = self._nodes(DEPTH)
        doubted = await self._vague(leaves)
        again = [leaf for leaf in reversed(leaves) if leaf.path in doubted]
        vague_ones = await self._vague(again)
        for path, why in sorted(vague_ones.items()):
            others = [leaf for leaf in self.grown.tree.leaves if leaf not in vague_ones]
            place = nearest_leaf(self.grown, self.questions)(path, others) if others else None
            edit = Drop(path) if place is None else Merge(path, place)
            where = "" if place is None else f"; the nearest is {format_path(place)}"
            by = f"{self.judge}, {vague.PROMPT}"
            entry = LoggedEdit(edit=edit, by=by, why=f"vague: {why}{where}", round=round_)
            self.grown = self.grown.edited([entry])
        await self._tell()

    async def _vague(self, leaves: Sequence[same.NodeSketch]) -> dict[Path, str]:
        groups = [leaves[at : at + LEAVES] for at in range(0, len(leaves), LEAVES)]
        if not groups:
            return {}
        answers = await self.ask("weeding", [vague.build(g, self.sampling) for g in groups])
        return {
            group[number].path: why
            for group, answer in zip(groups, answers, strict=True)
            if not isinstance(answer, PermanentError)
            for number, why in vague.parse(answer, group).items()
        }

    async def prune(self, round_: int) -> None:
        """Merge or drop leaves with too little support."""
        self.grown = prune_leaves(
            self.grown, self.questions, self.sample_of, self.settings, round_=round_
        )
        await self._tell()


async def grow(
    ask: AskAll,
    cuts: Sequence[SampleCriteria],
    start: Tree,
    settings: GrowSettings,
    *,
    judge: str,
    sampling: Sampling,
    embed: EmbedTexts | None = None,
    told: OnGrowth | None = None,
) -> Growth:
    """Grow a tree.

    Args:
        cuts: samples with their criteria, in the order in which they are shown.
        start: what it grows from: bare roots, or a tree that is to be extended.
        judge: the judge's name, for the log.
        embed: vectors of an embedding model, to find more likely duplicates than letters do.
        told: told of the tree whenever it has changed.

    Returns:
        The tree. Rounds in its log: 1 proposals, 2 those that were refused, then the uniting
        rounds, then pruning (what the judge calls vague, then what lacks support),
        reconciliation (uniting once more among what is left, in a wider circle, and pruning what
        is under the threshold).
    """
    criteria = [criterion for cut in cuts for criterion in cut.criteria]
    garden = _Garden(
        ask=ask,
        settings=settings,
        sampling=sampling,
        judge=judge,
        grown=GrownTree(tree=start),
        questions={criterion.id: criterion.question for criterion in criteria},
        sample_of={criterion.id: criterion.sample_id for criterion in criteria},
        embed=embed,
        told=told,
    )
    left = await garden.place(cuts, 1)
    if left:
        again = [
            SampleCriteria(sample=c.sample, criteria=part) for c in cuts if (part := _part(c, left))
        ]
        random.Random(f"again/{settings.seed}").shuffle(again)
        left = await garden.place(again, 2)
    for number in range(settings.rounds):
        await garden.unite(3 + number)
    round_ = 3 + settings.rounds
    await garden.weed(round_)
    await garden.prune(round_)
    await garden.unite(round_ + 1, wider=2)
    await garden.prune(round_ + 1)
    return Growth(grown=garden.grown, unplaced=left, refused=tuple(garden.refused))


def prune_leaves(
    grown: GrownTree,
    questions: Mapping[str, str],
    sample_of: Mapping[str, str],
    settings: GrowSettings,
    *,
    round_: int,
) -> GrownTree:
    """Prune a tree by support; see `taxonomy.prune`.

    Args:
        questions: criterion id -> question, to know what leaves are about.
        sample_of: criterion id -> sample id.
        round_: the round, for the log.
    """
    return prune(
        grown,
        sample_of,
        nearest_leaf(grown, questions),
        min_criteria=settings.min_criteria,
        min_samples=settings.min_samples,
        round_=round_,
    )


def leaf_texts(grown: GrownTree, questions: Mapping[str, str]) -> dict[Path, str]:
    """Return what each leaf is about in words: its names, its meaning and some criteria."""
    texts: dict[Path, list[str]] = {
        leaf: [leaf[-1], leaf[-1], leaf[-2], grown.tree.node(leaf).meaning]
        for leaf in grown.tree.leaves
    }
    for criterion, leaf in grown.leaf_of.items():
        if len(texts[leaf]) < 4 + _EXAMPLES and questions[criterion] not in texts[leaf]:
            texts[leaf].append(questions[criterion])
    return {leaf: " ".join(parts) for leaf, parts in texts.items()}


def nearest_leaf(grown: GrownTree, questions: Mapping[str, str]) -> Nearest:
    """Make the function that finds a leaf's nearest neighbour, as the tree is now.

    Likeness = cosine of the leaves' words + `SHARED_LAYER` for each layer in common. Leaves that
    were merged in the meantime are looked at by what the taking leaf was about before.
    """
    about = leaf_texts(grown, questions)
    number = {leaf: index for index, leaf in enumerate(about)}
    texts = TextVectors(list(about.values()))

    def nearest(leaf: Path, others: Sequence[Path]) -> Path | None:
        row = texts.row(number[leaf])
        likeness = {
            other: float(row[number[other]]) + SHARED_LAYER * shared_depth(leaf, other)
            for other in others
        }
        best = max(others, key=lambda other: (round(likeness[other], 9), tuple(other)))
        return best if likeness[best] >= NEAR_ENOUGH else None

    return nearest


def _part(cut: SampleCriteria, wanted: Mapping[str, str]) -> tuple[Criterion, ...]:
    return tuple(criterion for criterion in cut.criteria if criterion.id in wanted)
