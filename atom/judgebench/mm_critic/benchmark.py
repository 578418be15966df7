"""MM-CRITIC as a judge benchmark: how good are a model's critiques of other models' answers?

Reference: MM-CRITIC; METHODS A17.
"""

from __future__ import annotations

from typing import Final

from atom.judgebench.base import Bench
from atom.judgebench.mm_critic.ask import PARTS, SCORED, USUAL, make_worklist
from atom.judgebench.mm_critic.data import NAME, load
from atom.judgebench.mm_critic.replies import read_replies
from atom.judgebench.mm_critic.report import measure

BENCH: Final = Bench(
    name=NAME,
    title="MM-CRITIC",
    about="Critiques of responses to questions about pictures: is the claim right, how good is the "
    "text beside a reference fixed at 8, are corrections and preferences right?",
    parts=PARTS,
    usual=USUAL,
    votes=1,
    scored=SCORED,
    load=load,
    worklist=make_worklist,
    measure=measure,
    read_replies=read_replies,
    pictured=True,
)
