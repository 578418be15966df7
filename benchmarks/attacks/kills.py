"""Commands that write, killed at any moment: what is there afterwards is whole, or isn't there."""

from __future__ import annotations

import pkgutil
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import atom
from atom.errors import AtomError
from atom.records import Induction
from atom.store import Store
from benchmarks.attacks._afterwards import Seen
from benchmarks.attacks._forked import Came, Commands, Kill
from benchmarks.attacks._tried import Tried
from benchmarks.attacks._victims import VICTIMS, Given, prepare

KILLS = 5 * len(VICTIMS)
"""Of each command three just before it writes something, two at a moment."""
_KILLED = -9
STOOD_STILL = "it stood still for"
"""What a run says that got no processor, or no disk, for longer than its lease."""
_FULL = 0.5
"""A computer is full where others waited for it for this share of a command's time."""
_STANDSTILLS = 10
"""So often a run may stand still on a full computer."""


class UnfitError(RuntimeError):
    """A command doesn't do its work when nobody kills it."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A command that came to its end, twice.

    Args:
        seconds: by the clock.
        points: how often it wrote.
        before: what was there before.
        end: what is there afterwards.
        twin: the same after the second time.
    """

    seconds: float
    points: int
    before: Seen
    end: Seen
    twin: Seen


def attack(kills: int = KILLS, names: Sequence[str] | None = None) -> Iterator[Tried]:
    """Kill each command so many times in all, each time on a store of its own.

    Args:
        kills: how many times.
        names: which commands; None = all.
    """
    with tempfile.TemporaryDirectory(prefix="atomscope-kills-") as place:
        folder = Path(place)
        with Commands(modules_of(), {"ATOM_DEMO": str(folder / "no-demo")}) as commands:
            given = prepare(commands, folder)
            yield from each(given, list(VICTIMS if names is None else names), kills)


def each(given: Given, names: Sequence[str], kills: int) -> Iterator[Tried]:
    """Kill each command equally often.

    Args:
        given: what they are given.
        names: which commands.
        kills: how many times in all.
    """
    draw = random.Random(15)
    for at, name in enumerate(names):
        try:
            whole = undisturbed(name, given)
        except UnfitError as error:
            yield Tried(name=f"{name}, unkilled", fell=str(error))
            continue
        for number in range(kills // len(names) + (at < kills % len(names))):
            kill = _draw(draw, whole, by_point=number % 2 == 0)
            yield Tried(name=f"{name}, {_told(kill)}", fell=killed(name, given, whole, kill))


def modules_of() -> list[str]:
    """Name the modules that commands use, to be imported once."""
    rooms = ("cli", "engine", "store", "formats", "judge", "stages", "exports", "reports", "views")
    return [
        module.name
        for module in pkgutil.walk_packages(atom.__path__, "atom.")
        if module.name.split(".")[1] in rooms
    ]


def undisturbed(name: str, given: Given) -> Whole:
    """Let a command come to its end twice, and see what is there then.

    Raises:
        UnfitError: it fails, or changes nothing.
    """
    ends: list[Seen] = []
    for _ in range(2):
        given.ground.fresh()
        before = given.ground.seen()
        came = _do(name, given)
        for _ in range(_STANDSTILLS):
            if not starved(came):
                break
            given.ground.fresh()
            came = _do(name, given)
        if came.code:
            raise UnfitError(f"it ends with status {came.code}: {came.said}")
        ends.append(given.ground.seen())
    if not ends[0].differs(before):
        raise UnfitError(f"it changes nothing: {came.said}")
    return Whole(seconds=came.lasted, points=came.points, before=before, end=ends[0], twin=ends[1])


def killed(name: str, given: Given, whole: Whole, kill: Kill) -> str:
    """Kill a command, look, do it again, and look; return what is wrong."""
    ground, victim = given.ground, VICTIMS[name]
    ground.fresh()
    try:
        came = _do(name, given, kill)
        if came.code not in (0, _KILLED) and not (victim.goes_on and starved(came)):
            return f"it ends with {came.code}: {came.said[-300:]}"
        if harm := ground.harm():
            return harm
        seen = ground.seen()
        ended = not seen.differs(whole.end, whole.twin)
        half = seen.differs(whole.before) and seen.differs(whole.end, whole.twin)
        if half and not victim.goes_on:
            return f"half of it is visible: {half}"
        again = _again(name, given)
        for _ in range(_STANDSTILLS):
            if not (victim.goes_on and starved(again)):
                break
            again = _again(name, given)
        if again.code and not ended:
            return f"done again it ends with {again.code}: {again.said[-300:]}"
        if harm := ground.harm():
            return harm
        seen = ground.seen()
        if ended:  # whoever gives it again, since it died after its end, doubles nothing
            return "" if seen.studies == whole.end.studies else f"doubled: {seen.studies}"
        return _told_end(seen.differs(whole.end, whole.twin))
    except AtomError as error:
        return error.message


def starved(came: Came) -> bool:
    """Whether a run stopped because the computer, full of other work, let it stand still.

    On a computer with room it is a fall: a run stands still there by itself.
    """
    return bool(came.code) and STOOD_STILL in came.said and came.starved > _FULL


def _told_end(differs: str) -> str:
    return differs and f"done again it comes to another end: {differs}"


def _draw(draw: random.Random, whole: Whole, *, by_point: bool) -> Kill:
    if by_point and whole.points:
        return Kill(point=draw.randint(1, whole.points))
    return Kill(after=draw.uniform(0, whole.seconds))


def _told(kill: Kill) -> str:
    if kill.after is not None:
        return f"after {kill.after:.2f} s"
    return f"at write {kill.point}"


def _do(name: str, given: Given, kill: Kill | None = None) -> Came:
    return _run(name, VICTIMS[name].words, given, kill)


def _again(name: str, given: Given) -> Came:
    """Do a command again, or go on with what it began."""
    words = VICTIMS[name].again
    if "{induction}" in words:
        begun = _begun(given.ground.location)
        words = tuple(word.replace("{induction}", begun) for word in words)
        return _run(name, words, given) if begun else _do(name, given)
    came = _do(name, given)
    return _run(name, words, given) if came.code and words else came


def _run(name: str, words: Sequence[str], given: Given, kill: Kill | None = None) -> Came:
    work = given.ground.work
    victim = VICTIMS[name]
    new = work / "out" / f"new{victim.suffix}"
    return given.run(words, work, new, kill, deployed=victim.deployed)


def _begun(location: str) -> str:
    """Return the id of the induction that was begun last and isn't done; empty if there is none."""
    with Store.open(location) as store:
        open_ones = [one for one in store.select(Induction) if one.phase != "done"]
    return max(open_ones, key=lambda one: one.created).id if open_ones else ""
