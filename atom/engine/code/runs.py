"""Runs the programs among a judge's corrections, in a sandbox, and keeps what came of them.

Reference: CriticBench 4.1 (pass rate of corrected code).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atom.engine.code.sandbox import ProgramLimits, Sandbox, find_sandbox
from atom.errors import UsageError
from atom.judgebench.critic_bench.code import no_program, programs
from atom.records import BenchItem, BenchSet, Verdict
from atom.store import Store
from atom.store import table as columns_of


@dataclass(frozen=True, kw_only=True)
class CodeRuns:
    """What came of running a judge's programs.

    Args:
        passed: programs that pass.
        failed: programs that don't.
        unscored: corrections without a program, and programs that can't run in the sandbox.
        left: programs that weren't run, because it was stopped.
        protection: what kept them in, as a sentence; empty where nothing was run.
    """

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    left: int = 0
    protection: str = ""

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        if not self.protection and not self.unscored:
            return "there was no program to run"
        counts = (
            f"{self.passed:,} programs pass, {self.failed:,} don't, {self.unscored:,} can't be told"
        )
        stopped = f"; {self.left:,} weren't run" if self.left else ""
        return f"{counts}{stopped}. They were run with {self.protection or 'nothing'}"


def run_programs(
    store: Store,
    set_id: str,
    judge: str,
    *,
    limits: ProgramLimits | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> CodeRuns:
    """Run what a judge wrote and nobody ran yet. Only on the user's word: it is foreign code.

    Args:
        store: the store; every verdict is written at once.
        judge: the judge's id, or the name under which its replies were taken in.
        limits: what a program may use.
        stopped: asked before each program whether to stop.

    Returns:
        How many pass.

    Raises:
        UsageError: there is no such set, or no sandbox holds on this computer.
    """
    if store.get(BenchSet, set_id) is None:
        raise UsageError(f"there is no set {set_id!r}")
    columns = columns_of(Verdict).c
    mine = store.select(Verdict, columns.group == set_id, columns.judge == judge)
    items = store.select(BenchItem, columns_of(BenchItem).c.set_id == set_id)
    waiting = programs(items, mine)
    sandbox: Sandbox | None = None
    counts = {"passed": 0, "failed": 0, "unscored": 0}
    for number, program in enumerate(waiting):
        if stopped():
            left = len(waiting) - number
            return CodeRuns(**counts, left=left, protection=sandbox.protection if sandbox else "")
        if program.source is None:
            verdict = no_program(program)
        else:
            sandbox = sandbox or find_sandbox(limits)
            verdict = program.read(sandbox.run(program.source))
        store.replace([verdict])
        counts[verdict.label or "unscored"] += 1
    return CodeRuns(**counts, protection=sandbox.protection if sandbox else "")
