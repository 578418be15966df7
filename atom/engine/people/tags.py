"""Tags that people put on samples, many at once; they are labels like any other, under `tag`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.access import Action
from atom.engine.people.annotations import action_on, own_name
from atom.errors import UsageError
from atom.records import PERSON_SOURCE, TAG_FACET, Tag
from atom.store import Store
from atom.store.reading.tags import delete_tags, tags_of_samples

MOST_NAME = 60
"""Letters of a tag's name."""


@dataclass(frozen=True, kw_only=True)
class TagChange:
    """What was done, to be undone.

    Attributes:
        name: the tag.
        added: tags that weren't there.
        removed: tags that were taken away.
    """

    name: str
    added: tuple[Tag, ...] = ()
    removed: tuple[Tag, ...] = ()


def tag_name(text: str, what: str = "tag") -> str:
    """Clean the name of a tag, or of what else is named so.

    Raises:
        UsageError: nothing is left, or too much.
    """
    name = " ".join(text.split())
    if not name:
        raise UsageError(f"give the {what} a name first")
    if len(name) > MOST_NAME or not name.isprintable():
        raise UsageError(
            f"{text[:80]!r} can't be the name of a {what}: 1 to {MOST_NAME} letters are allowed"
        )
    return name


def add_tag(store: Store, samples: Sequence[str], name: str, who: str) -> TagChange:
    """Put a tag on samples; those that a person tagged so already stay as they are.

    Args:
        samples: their ids.
        who: who says so.

    Raises:
        UsageError: the name can't be a tag.
    """
    name, source = tag_name(name), f"{PERSON_SOURCE}{own_name(who)}"
    there = {tag.subject_id for tag in tags_of_samples(store, samples, name)}
    added = tuple(
        Tag(subject="sample", subject_id=one, source=source, facet=TAG_FACET, value=name)
        for one in dict.fromkeys(samples)
        if one not in there
    )
    store.put(added, "label")
    return TagChange(name=name, added=added)


def remove_tag(store: Store, samples: Sequence[str], name: str) -> TagChange:
    """Take a tag off samples, whoever put it there; what files say stays.

    Raises:
        AccessError: in a deployment one of them is somebody else's, and a viewer may not.
    """
    removed = tuple(tags_of_samples(store, samples, tag_name(name)))
    delete_tags(store, removed, _action(removed))
    return TagChange(name=tag_name(name), removed=removed)


def undo_tag(store: Store, done: TagChange) -> None:
    """Undo what was done: what was added goes, what was removed stands again."""
    delete_tags(store, done.added, _action(done.added))
    if done.removed:
        store.put(done.removed, _action(done.removed))


def _action(tags: Sequence[Tag]) -> Action:
    """Say what changing tags is: labelling where all are one's own."""
    owners = {tag.source.removeprefix(PERSON_SOURCE) for tag in tags}
    return "edit" if "edit" in map(action_on, owners) else "label"
