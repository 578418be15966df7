"""What arms add to their controls as a table: for the screen, the command and its CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from atom.analysis.correction.effects import Effect
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table, data
from atom.views.correction.form import ARM_WORDS, EFFECT_WORDS

EFFECT, BAR, POINTS, PAIRS, ARM_ONLY, CONTROL_ONLY, CONCLUSION = (
    "Effect", "worse, better", "Points (95\N{NO-BREAK SPACE}%)", "Pairs", "Only this",
    "Only control", "Conclusion",
)  # fmt: skip
_NAMES: Final = (
    "name", "arm", "control", "role", "round", "n", "clusters", "arm_only", "control_only", "both",
    "neither", "arm_share", "control_share", "estimate", "lo", "hi", "mid_p", "p", "holm", "strict",
    "apart", "unpaired", "verdict",
)  # fmt: skip


def apart_words(n: int) -> str:
    """Say of answers without a pair why they have none, behind their number."""
    verb, they = ("is", "it has") if n == 1 else ("are", "they have")
    return (
        f"{verb} left out where passed steps are the control: {they} no failed or no passed step."
    )


def points(one: Effect) -> Estimate:
    """Return an effect in points of right answers."""
    return Estimate(value=one.estimate, lo=one.lo, hi=one.hi, n=one.n, unit="gain")


def effect_table(found: Sequence[Effect], label: str, model: str = "") -> Table[Effect]:
    """Table effects.

    Args:
        found: the effects, in order.
        model: who answered, for the file.
    """
    columns = (
        Column[Effect](title="", of=lambda _: model, name="model", seen="data"),
        *data(*_NAMES),
        Column[Effect](title=EFFECT, of=_words, width="30%"),
        Column[Effect](title=BAR, of=lambda _: "", seen="screen", width="30%"),
        Column[Effect](title=POINTS, of=points, number=True),
        Column[Effect](title=PAIRS, of=lambda one: one.n, number=True, term="pair"),
        Column[Effect](title=ARM_ONLY, of=lambda one: one.arm_only, number=True, broad=True),
        Column[Effect](title=CONTROL_ONLY, of=lambda one: one.control_only, number=True,
                       broad=True),
        Column[Effect](title="p (Holm)", of=lambda one: one.holm, write=numbers.p_value,
                       number=True, broad=True, term="Holm"),
        Column[Effect](title=CONCLUSION, of=lambda one: one.verdict),
    )  # fmt: skip
    return Table(label=label, columns=columns, rows=found)


def _words(one: Effect) -> str:
    arm, control = ARM_WORDS[one.arm].name, ARM_WORDS[one.control].name
    return f"{EFFECT_WORDS[one.name].name}: {arm} against {control}"
