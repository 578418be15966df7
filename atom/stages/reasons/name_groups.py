"""Name groups: a judge names groups of failures' reasons, that were made without it.

It changes no group and no figure. A name that breaks a rule is left out by itself, and the rule's
name stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.records import Sampling
from atom.stages.asking import make_request
from atom.stages.reading import number_of, one_line, read_reply, text_of
from atom.stages.schemas import NAME_GROUPS

TASK: Final = "name_groups"
PROMPT: Final = "name_groups/1"
SAMPLING: Final = Sampling(temperature=0.0, max_tokens=2000)
"""A short reply, the same each time."""
MOST_NAME: Final = 40
MOST_SAYS: Final = 240
_LONGEST: Final = 300
"""Characters of a reason that are sent."""


@dataclass(frozen=True, kw_only=True)
class GroupMaterial:
    """What a judge is told of a group.

    Args:
        failures: how many it holds.
        words: what tells it from the others.
    """

    failures: int
    words: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GivenName:
    """A judge's name of a group."""

    kind: str
    name: str
    says: str


@dataclass(frozen=True, kw_only=True)
class GivenNames:
    """What a judge called the groups.

    Args:
        names: a name a group, in the groups' order; None where it gave none that can be used.
        refused: why some can't be used, a line each.
        why: why there is none at all.
    """

    names: tuple[GivenName | None, ...]
    refused: tuple[str, ...] = ()
    why: str = ""


def build(groups: Sequence[GroupMaterial], kinds: Sequence[str]) -> Request:
    """Build the request about all groups at once.

    Args:
        groups: in their order.
        kinds: the kinds of error that may be used.
    """
    told: list[JsonValue] = [
        {
            "number": at,
            "failures": group.failures,
            "words": list(group.words),
            "reasons": [one_line(reason, _LONGEST) for reason in group.reasons],
        }
        for at, group in enumerate(groups, start=1)
    ]
    return make_request(PROMPT, {"groups": told, "kinds": list(kinds)}, pictures=(),
                        sampling=SAMPLING, repeat=0, schema=NAME_GROUPS)  # fmt: skip


def parse(reply: Reply, n: int, kinds: Sequence[str]) -> GivenNames:
    """Read the judge's reply, name by name.

    Args:
        n: how many groups were asked about.
        kinds: the kinds of error that may be used.
    """
    usable = read_reply(reply, "names", partial=True)
    rows = usable.data.get("names") if usable.data is not None else None
    if not isinstance(rows, list):
        why = usable.reason or "The reply holds no list of names."
        return GivenNames(names=(None,) * n, why=why)
    found: dict[int, GivenName] = {}
    refused: list[str] = []
    for row in rows[: 2 * n]:
        number, name, problem = _read(row, n, kinds)
        if not problem and number in found:
            problem = "it is named twice"
        if not problem and name.name.casefold() in {o.name.casefold() for o in found.values()}:
            problem = f"another group is called {name.name!r} already"
        if problem:
            refused.append(f"group {number or '?'}: {problem}")
        else:
            found[number] = name
    missing = [str(at) for at in range(1, n + 1) if at not in found]
    why = "" if found else "No name in the reply can be used."
    if found and missing:
        refused.append(f"no name for group {', '.join(missing)}: the rule's stays")
    return GivenNames(
        names=tuple(found.get(at) for at in range(1, n + 1)), refused=tuple(refused[:12]), why=why
    )


def _read(row: object, n: int, kinds: Sequence[str]) -> tuple[int, GivenName, str]:
    """Return a row's group, its name, and what is wrong with it; empty for nothing."""
    given = row if isinstance(row, Mapping) else {}
    stated = number_of(given.get("number"))
    number = int(stated) if stated is not None and stated in range(1, n + 1) else 0
    kind, name, says = (one_line(text_of(given.get(key)), 1000) for key in ("kind", "name", "says"))
    problem = ""
    if not number:
        problem = "its number was never given out"
    elif kind.casefold() not in kinds:
        problem = f"{one_line(kind, 40)!r} is no kind of error that was offered"
    elif not name or len(name) > MOST_NAME:
        problem = f"a name has 1 to {MOST_NAME} letters, {one_line(name, MOST_NAME)!r} doesn't"
    elif not (name + says).isprintable():
        problem = "it holds signs that aren't seen, or that turn what stands around them"
    elif not says or len(says) > MOST_SAYS:
        problem = f"what it says has 1 to {MOST_SAYS} letters"
    return number, GivenName(kind=kind.casefold(), name=name, says=says), problem
