"""What is looked for in the list of failures, as a value that lives in the URL.

It narrows and orders that list and nothing else; what narrows every screen is in `filters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from atom.views.node_links import link_text
from taxonomy import Path, parse_path

Place = Literal["question", "criterion", "answer", "reason"]
"""Where words are looked for."""
Sort = Literal["loss", "failed", "score", "models", "spread", "order"]
"""Weight lost, failed checkpoints, mean score, models that fail, how far models differ, the study's
own order."""
State = Literal["scored", "unscored", "failed", "silent", "carried", "apart"]
"""What a checkpoint is: scored; the judge's reply unusable; the call failed; the answer says
nothing of it; wrong only because an earlier step was; judges differ on it by a step or more."""
PeopleSign = Literal["flagged", "noted", "rated"]
"""What people did to a checkpoint: flagged it, wrote a note, said what they would score it."""
PLACES: tuple[Place, ...] = get_args(Place)
SORTS: tuple[Sort, ...] = get_args(Sort)
STATES: tuple[State, ...] = get_args(State)
TOLD: tuple[PeopleSign, ...] = get_args(PeopleSign)
TOLD_WORDS: dict[PeopleSign, str] = {
    "flagged": "flagged",
    "noted": "noted on",
    "rated": "scored by people",
}
"""What people did, in words."""
FIND_KEYS = ("q", "in", "sort", "fails", "passes", "within", "outside", "state", "nostate", "told",
             "kind")  # fmt: skip
STATE_WORDS: dict[State, str] = {
    "scored": "scored",
    "unscored": "judge’s reply unusable",
    "failed": "call failed",
    "silent": "answer says nothing of it",
    "carried": "carried from an earlier step",
    "apart": "judges differ",
}
"""The states in words."""
_MOST_TERMS = 12
_MOST_KEY = 40


@dataclass(frozen=True, kw_only=True)
class Find:
    """What is looked for.

    Attributes:
        words: as typed: words that must stand in one text, "phrases", and -words that must not.
        places: where; all places when empty.
        sort: what comes first.
        fails: models that must all fail the sample here.
        passes: models that must all answer it without failing.
        within: nodes of which a checkpoint hangs under any; all when empty.
        outside: nodes that it hangs under none of.
        states: states of which it has any; all when empty.
        stateless: states that it has none of.
        told: what people did to it, any of these; all when empty.
        kind: the group of reasons that it is in (`groups.Group.key`); any when empty.
    """

    words: str = ""
    places: tuple[Place, ...] = ()
    sort: Sort = "loss"
    fails: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    within: tuple[Path, ...] = ()
    outside: tuple[Path, ...] = ()
    states: tuple[State, ...] = ()
    stateless: tuple[State, ...] = ()
    told: tuple[PeopleSign, ...] = ()
    kind: str = ""

    @classmethod
    def from_lists(cls, every: Callable[[str], list[str]]) -> Self:
        """Read it from query parameters; never raises.

        Args:
            every: gives the values of a key.
        """
        sort = [one for one in every("sort") if one in SORTS]
        return cls(
            words=" ".join((every("q") or [""])[-1].split()),
            places=_known(every("in"), PLACES),
            sort=sort[-1] if sort else "loss",
            fails=tuple(dict.fromkeys(every("fails"))),
            passes=tuple(dict.fromkeys(every("passes"))),
            within=_paths(every("within")),
            outside=_paths(every("outside")),
            states=_known(every("state"), STATES),
            stateless=_known(every("nostate"), STATES),
            told=_known(every("told"), TOLD),
            kind=(every("kind") or [""])[-1][:_MOST_KEY],
        )

    def to_query(self) -> dict[str, str | list[str]]:
        """Write it as query parameters; what is not set is left out."""
        query: dict[str, str | list[str]] = {
            "q": self.words,
            "in": list(self.places),
            "sort": "" if self.sort == "loss" else self.sort,
            "fails": list(self.fails),
            "passes": list(self.passes),
            "within": [link_text(path) for path in self.within],
            "outside": [link_text(path) for path in self.outside],
            "state": list(self.states),
            "nostate": list(self.stateless),
            "told": list(self.told),
            "kind": self.kind,
        }
        return {key: value for key, value in query.items() if value}

    def but(self, **changes: Any) -> Find:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The words, cut up; twelve at most."""
        return cut_up(self.words)

    @property
    def narrows(self) -> int:
        """How many things narrow the list; the order isn't one."""
        sides = (self.fails, self.passes, self.within, self.outside, self.states, self.stateless,
                 self.told)  # fmt: skip
        return bool(self.terms) + bool(self.kind) + sum(map(len, sides))

    @property
    def by_results(self) -> bool:
        """Whether samples are chosen by what models got: then their scores say little."""
        sides = (self.fails, self.passes, self.states, self.stateless, self.told, self.kind)
        return any(sides)

    @property
    def cleared(self) -> Find:
        """The same order, with nothing looked for."""
        return Find(sort=self.sort)


NOTHING = Find()
"""Nothing is looked for."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """A word or a phrase.

    Attributes:
        text: what is looked for, as typed.
        wanted: whether it must be there, or must not.
    """

    text: str
    wanted: bool = True


def cut_up(words: str) -> tuple[Term, ...]:
    """Cut what was typed into words and "phrases"; a minus before one means without it.

    Nothing else has a meaning: no pattern, no operator.
    """
    found: list[Term] = []
    rest = words.strip()
    while rest and len(found) < _MOST_TERMS:
        wanted = not (len(rest) > 1 and rest[0] == "-" and not rest[1].isspace())
        rest = rest if wanted else rest[1:]
        end = rest.find('"', 1) if rest[0] == '"' else -1
        if end > 0:
            text, rest = rest[1:end], rest[end + 1 :]
        else:
            text, _, rest = rest.partition(" ")
        if text.strip():
            found.append(Term(text=text.strip(), wanted=wanted))
        rest = rest.strip()
    return tuple(dict.fromkeys(found))


def _known(given: Iterable[str], allowed: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one for one in dict.fromkeys(given) if one in allowed)


def _paths(given: Iterable[str]) -> tuple[Path, ...]:
    return tuple(path for path in dict.fromkeys(map(parse_path, given)) if path)
