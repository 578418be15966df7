"""Mapping: the judge classifies each criterion over the leaves of a given tree.

Reference: ATOM 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from typing import Final

from atom.errors import DataError, UsageError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import Criterion, Mapping, Record, Sample, Sampling, State
from atom.stages.asking import make_request
from atom.stages.gate import keyed_entries, short_ids
from atom.stages.reading import one_line, read_reply
from atom.stages.schemas import mapping_schema
from atom.stages.sight import Material
from atom.stages.stage import Setting, Stage, Subject
from taxonomy import Path, Tree, format_path, parse_path

TASK: Final = "mapping"
PROMPT: Final = "mapping/2"


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    criteria: Sequence[Criterion],
    tree: Tree,
    sampling: Sampling,
    *,
    repeat: int = 0,
) -> Request:
    """Build the request that maps a sample's criteria.

    Args:
        pictures: the sample's pictures, in order.
        criteria: the criteria to map, at least one.
        tree: the tree; every leaf is offered as a full path, with its meaning.
        repeat: 0-based index among equal requests.

    Raises:
        DataError: there is no criterion, or the tree has no leaf.
    """
    leaves = [format_path(path) for path in tree.leaves]
    if not criteria or not leaves:
        raise DataError(
            f"{len(criteria)} criteria and {len(leaves)} leaves: a mapping needs some of both"
        )
    short = short_ids([criterion.id for criterion in criteria])
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "criteria": [
                {
                    "id": short[criterion.id],
                    "question": criterion.question,
                    "ground_truth": criterion.ground_truth,
                }
                for criterion in criteria
            ],
            "leaves": {
                name: tree.node(path).meaning
                for name, path in zip(leaves, tree.leaves, strict=True)
            },
        },
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        schema=mapping_schema(len(criteria), leaves),
    )


def parse(
    reply: Reply,
    criteria: Sequence[Criterion],
    tree: Tree,
    tree_version: str,
    judge_id: str,
) -> tuple[Mapping, ...]:
    """Make the mappings of a judge's reply.

    Args:
        criteria: the criteria that were asked about.
        tree: the tree whose leaves were offered.
        judge_id: who mapped.

    Returns:
        One mapping for each criterion, in order: scored with its leaf, or unscored because the
        judge left it out, named something that is no leaf, named two leaves, or found none.
    """
    usable = read_reply(reply, "mappings", partial=True)
    if usable.data is None:
        return tuple(
            _mapping(criterion, tree_version, judge_id, "unscored", reply.call.id, usable.reason)
            for criterion in criteria
        )
    keyed = keyed_entries(usable.data["mappings"], [criterion.id for criterion in criteria])
    mappings = []
    for criterion in criteria:
        leaf, detail = _leaf(keyed.entries[criterion.id], tree)
        blank = _mapping(
            criterion,
            tree_version,
            judge_id,
            "unscored" if leaf is None else "scored",
            reply.call.id,
            detail,
        )
        mappings.append(blank.model_copy(update={"leaf": leaf}))
    return tuple(mappings)


def _leaf(entries: Sequence[MappingABC[str, object]], tree: Tree) -> tuple[Path | None, str]:
    """Return the leaf that all entries name, or why there's none."""
    if not entries:
        return None, "The judge gave no leaf for this criterion."
    found = [(entry.get("leaf"), find_leaf(entry.get("leaf"), tree)) for entry in entries]
    leaves = {leaf for _, leaf in found}
    if len(leaves) > 1:
        return None, "The judge named different leaves for this criterion."
    stated, leaf = found[0]
    if leaf is not None:
        return leaf, ""
    if stated is None:
        return None, "The judge found no leaf that fits."
    return None, f"{one_line(str(stated), 200)!r} isn't a leaf of the tree."


def find_leaf(value: object, tree: Tree) -> Path | None:
    """Return the leaf that a judge's full path means; case, spaces and the separator are forgiven.

    A part of a path is no leaf, even where only one leaf ends so: a guess is no classification.
    """
    if isinstance(value, list | tuple):
        return tree.find_leaf(tuple(str(name) for name in value))
    if not isinstance(value, str):
        return None
    exact = tree.find_leaf(tuple(value.split("›")))
    return exact if exact is not None else tree.find_leaf(parse_path(value))


def failed(
    error: str,
    criteria: Sequence[Criterion],
    tree_version: str,
    judge_id: str,
    call_id: str | None = None,
) -> tuple[Mapping, ...]:
    """Make the mappings that stand for a call that brought nothing."""
    return tuple(
        _mapping(criterion, tree_version, judge_id, "failed", call_id, error)
        for criterion in criteria
    )


def _mapping(
    criterion: Criterion,
    tree_version: str,
    judge_id: str,
    state: State,
    call_id: str | None,
    detail: str,
) -> Mapping:
    return Mapping(
        criterion_id=criterion.id,
        tree_version=tree_version,
        judge_id=judge_id,
        prompt=PROMPT,
        state=state,
        detail=detail,
        call_id=call_id,
    )


class MappingStage(Stage):
    """The judge hangs criteria on the tree's leaves."""

    name = TASK
    prompt = PROMPT
    needs = frozenset({"criteria_set", "wanted"})

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Show the criteria and the leaves."""
        return build(
            subject.sample, material.pictures, subject.wanted, _tree(setting), setting.sampling
        )

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read a leaf for each criterion."""
        tree, version = _tree(setting), setting.tree_version
        return parse(reply, subject.wanted, tree, version, setting.who)

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the leaves that weren't found."""
        return failed(error, subject.wanted, setting.tree_version, setting.who, call_id)


def _tree(setting: Setting) -> Tree:
    if setting.tree is None:
        raise UsageError("criteria are mapped to a tree, and none was given")
    return setting.tree


STAGE: Final = MappingStage()
