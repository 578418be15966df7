"""Programs in the code sandbox that try to get out, with Python's guard off and switched off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from atom.engine.code.sandbox import ProgramLimits, holds, ways
from benchmarks.attacks._tried import CannotTryError, Tried
from tests.escapes import ESCAPES, OPEN_AGAIN, escaped


def attack() -> Iterator[Tried]:
    """Run every program behind each fence that holds on this computer."""
    limits = ProgramLimits(cpu=2, wall=20.0)
    fences = {one.fence: one for one in reversed(ways(limits)) if holds(one)}
    if not fences:
        raise CannotTryError("no fence is to be had here; programs are refused")
    for name, fence in fences.items():
        for title, source in ESCAPES.items():
            bare = replace(fence, guard=False).run(source)
            yield Tried(name=f"{name}: {title}", fell=bare.output[:200] if escaped(bare) else "")
            opened = fence.run(OPEN_AGAIN + source)
            yield Tried(
                name=f"{name}, guard switched off: {title}",
                fell=opened.output[:200] if escaped(opened) else "",
            )
