"""CriticBench (CriticEval), as a judge benchmark."""

from __future__ import annotations

from atom.judgebench.base import Bench, BenchPlan
from atom.judgebench.critic_bench.ask import CORRECTIONS, PARTS, SCORED, USUAL, CriticBenchWorklist
from atom.judgebench.critic_bench.corrections import measure
from atom.judgebench.critic_bench.files import load
from atom.judgebench.critic_bench.replies import read_replies
from atom.stages.verdicts import Worklist


def worklist(plan: BenchPlan) -> Worklist:
    """Return what a judge is asked."""
    return CriticBenchWorklist(plan=plan)


BENCH = Bench(
    name="critic_bench",
    title="CriticBench",
    about="Whether a judge finds the faults of answers, compares answers, mends them, and tells "
    "good critiques from bad ones.",
    parts=PARTS,
    usual=USUAL,
    votes=1,
    scored=frozenset((*SCORED, *CORRECTIONS)),
    load=load,
    worklist=worklist,
    measure=measure,
    read_replies=read_replies,
)
