"""Multi-Crit as one of the judge lab's benchmarks.

Reference: Multi-Crit; METHODS A12, A13.
"""

from __future__ import annotations

from typing import Final

from atom.judgebench.base import Bench
from atom.judgebench.multi_crit.ask import JOINT, SINGLE, MultiCritWorklist
from atom.judgebench.multi_crit.figures import measure
from atom.judgebench.multi_crit.files import load
from atom.judgebench.multi_crit.replies import read_replies

BENCH: Final = Bench(
    name="multi_crit",
    title="Multi-Crit",
    about="Can it judge two answers on several criteria that disagree about which is better?",
    parts={
        SINGLE: "each criterion of a pair in a request of its own, as in the paper",
        JOINT: "all criteria of a pair in one request",
    },
    usual=(SINGLE,),
    votes=1,
    scored=frozenset(),
    load=load,
    worklist=lambda plan: MultiCritWorklist(plan=plan),
    measure=measure,
    read_replies=read_replies,
    pictured=True,
)
