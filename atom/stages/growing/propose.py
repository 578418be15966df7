"""Proposal: the judge gives criteria a place in the growing tree, an existing one first.

Reference: ATOM 3.2, E.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.records import Sampling
from atom.stages.asking import make_request
from atom.stages.gate import keyed_entries, short_ids
from atom.stages.growing.induction import SampleCriteria
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import propose_schema
from taxonomy import DEPTH, Path, Tree, format_path, parse_path
from taxonomy.grow import MAX_MEANING, GrownTree, ProposalRefused, additions, check_place, spelled

TASK: Final = "propose"
PROMPT: Final = "propose/2"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A reply, as it was written.

    Args:
        places: criterion id -> the leaf's path as the judge wrote it.
        adds: nodes that the judge wants to add -> their meaning.
        problems: criterion id -> why it got no place.
    """

    places: Mapping[str, Path] = field(default_factory=dict)
    adds: Mapping[Path, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ProposalResult:
    """What the gate made of a proposal.

    Args:
        grown: the tree with the criteria that found a place.
        refused: criterion id -> why it has none.
    """

    grown: GrownTree
    refused: Mapping[str, str]


def build(
    batch: Sequence[SampleCriteria], tree: Tree, sampling: Sampling, *, repeat: int = 0
) -> Request:
    """Build the request that places a batch of criteria.

    Args:
        batch: samples with the criteria to place; no picture is sent, the texts say it all.
        repeat: 0-based index among equal requests.

    Raises:
        DataError: there is no criterion.
    """
    criteria = [criterion for cut in batch for criterion in cut.criteria]
    if not criteria:
        raise DataError("a proposal needs at least one criterion")
    short = short_ids([criterion.id for criterion in criteria])
    samples: list[JsonValue] = [
        {
            "question": cut.sample.question,
            "criteria": [
                {"id": short[c.id], "question": c.question, "ground_truth": c.ground_truth}
                for c in cut.criteria
            ],
        }
        for cut in batch
    ]
    return make_request(
        PROMPT,
        {
            "roots": [{"name": root.name, "meaning": root.meaning} for root in tree.roots],
            "tree": outline(tree),
            "samples": samples,
        },
        pictures=(),
        sampling=sampling,
        repeat=repeat,
        schema=propose_schema(len(criteria)),
    )


def outline(tree: Tree) -> dict[str, JsonValue]:
    """Return a tree as nested names: root -> category -> parent -> ability -> its meaning."""
    return {
        root.name: {
            category.name: {
                parent.name: {leaf.name: leaf.meaning for leaf in parent.children}
                for parent in category.children
            }
            for category in root.children
        }
        for root in tree.roots
        if root.children
    }


def parse(reply: Reply, batch: Sequence[SampleCriteria]) -> Proposal:
    """Read a judge's proposal; whether it fits the tree is for `take` to say.

    Args:
        batch: the samples that were shown.

    Returns:
        One place or one problem for each criterion.
    """
    ids = [criterion.id for cut in batch for criterion in cut.criteria]
    usable = read_reply(reply, "places", partial=True)
    if usable.data is None:
        return Proposal(problems=dict.fromkeys(ids, usable.reason))
    keyed = keyed_entries(usable.data["places"], ids)
    places: dict[str, Path] = {}
    problems: dict[str, str] = {}
    for criterion in ids:
        stated = {_path(entry.get("leaf")) for entry in keyed.entries[criterion]} - {()}
        if len(stated) == 1:
            places[criterion] = stated.pop()
        elif stated:
            problems[criterion] = "The judge named different places for this criterion."
        else:
            problems[criterion] = "The judge gave no place for this criterion."
    return Proposal(places=places, adds=_adds(usable.data.get("adds")), problems=problems)


def take(
    proposal: Proposal, grown: GrownTree, questions: Mapping[str, str], *, by: str, round_: int
) -> ProposalResult:
    """Let a proposal through the gate, criterion by criterion.

    Args:
        proposal: what the judge wrote.
        grown: the tree as it is now, which may have grown since the judge saw it.
        questions: criterion id -> its question, for the log.
        by: who proposed it.
        round_: the round, for the log.

    Returns:
        The tree with what was accepted. Refused is a path with another depth or another root,
        an impossible name, or a leaf that is neither in the tree nor among the judge's own adds.
        Adds that no criterion needs are left out: nothing in the tree is without support.
    """
    refused = dict(proposal.problems)
    places: dict[str, Path] = {}
    for criterion, stated in proposal.places.items():
        try:
            leaf = check_place(grown.tree, stated)
            meanings = _known(grown.tree, proposal.adds)
            if leaf not in grown.tree and leaf not in meanings:
                raise ProposalRefused(
                    f"{format_path(leaf)!r} is neither in the tree nor added by the judge"
                )
        except ProposalRefused as refusal:
            refused[criterion] = one_line(str(refusal), 300)
            continue
        why = f"for: {one_line(questions[criterion], 160)}"
        entries = additions(grown.tree, leaf, meanings, by=by, why=why, round_=round_)
        if entries:
            grown = grown.edited(entries)
        places[criterion] = leaf
    return ProposalResult(grown=grown.hung(places), refused=refused)


def _known(tree: Tree, adds: Mapping[Path, str]) -> dict[Path, str]:
    return {spelled(tree, path): meaning for path, meaning in adds.items()}


def _path(value: object) -> Path:
    if isinstance(value, list | tuple):
        return tuple(" ".join(str(name).split()) for name in value)
    return parse_path(value) if isinstance(value, str) else ()


def _adds(value: object) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, Mapping):
            continue
        name = " ".join(text_of(entry.get("name")).split())
        path = (*_path(entry.get("path")), name)
        if name and 2 <= len(path) <= DEPTH:
            found[path] = one_line(text_of(entry.get("meaning")), MAX_MEANING)
    return found
