"""VL-RewardBench as a benchmark of the Judge lab.

Reference: VL-RewardBench (Li et al., 2024).
"""

from __future__ import annotations

from typing import Final

from atom.judgebench.base import Bench
from atom.judgebench.vl_rewardbench.ask import PAIR, POINT, worklist
from atom.judgebench.vl_rewardbench.data import NAME, load
from atom.judgebench.vl_rewardbench.replies import read_replies
from atom.judgebench.vl_rewardbench.settings import measure

BENCH: Final = Bench(
    name=NAME,
    title="VL-RewardBench",
    about="Does a judge prefer the better of two answers, in whatever order they are shown?",
    parts={
        PAIR: "which of the two answers is better, K votes in balanced order",
        POINT: "each answer graded by itself from 1 to 10, to compare with the votes",
    },
    usual=(PAIR,),
    votes=5,
    scored=frozenset(),
    load=load,
    worklist=worklist,
    measure=measure,
    read_replies=read_replies,
    pictured=True,
)
