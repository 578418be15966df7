"""How the reasons of a study's failures are put into groups, and who named these."""

from __future__ import annotations

from pydantic import Field

from atom.records.base import Record


class GroupName(Record):
    """A judge's name of a group of reasons."""

    key: str = Field(max_length=80)
    """The group's name in links, which stays the rule's."""
    kind: str = Field(max_length=40)
    """The kind of error."""
    name: str = Field(max_length=60)
    """What a screen calls it."""
    says: str = Field(max_length=300)
    """One sentence."""


class GroupingChoice(Record):
    """A choice that a study keeps for one judge's marks; nothing chosen: by words, named by rule.

    It is kept as a label that nobody was asked for (`grouping`), in its note.
    """

    endpoint: str = ""
    """The endpoint whose embeddings stand in for words; empty = words."""
    model: str = ""
    """Its model; empty = words."""
    at: str = ""
    """When all its vectors were there."""
    synthetic: bool = False
    """Whether its vectors come from a probe endpoint."""
    names: tuple[GroupName, ...] = ()
    """What a judge called the groups; none = the rule's names."""
    named_by: str = ""
    """The judge's model."""
    named: str = ""
    """Which groups it named (`views.failures.grouping.Grouping.identity`)."""
