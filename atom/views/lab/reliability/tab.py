"""What the tab about a study's judge holds."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.agreement.coefficients import Agreement
from atom.analysis.agreement.length_pull import LengthPull
from atom.views.lab.asked_again import RescoredCheckpoint
from atom.views.lab.calibrations import CalibratedJudge
from atom.views.lab.reliability.noise import NoiseRow
from atom.views.lab.reliability.position import PositionRow


@dataclass(frozen=True, kw_only=True)
class AgreementRow:
    """Two scorings compared, on everything or on one branch."""

    name: str
    found: Agreement


@dataclass(frozen=True, kw_only=True)
class JudgePair:
    """Two judges on the same checkpoints: over all, then by root."""

    first: str
    second: str
    rows: tuple[AgreementRow, ...]


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """What would tell more.

    Attributes:
        text: what to do, and what it would tell.
        command: on the command line; empty where there is none.
        calibrates: whether it is the calibration, for which there is a button.
        runs: whether it can be started on the Runs page.
    """

    text: str
    command: str = ""
    calibrates: bool = False
    runs: bool = False


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Everything on the tab.

    Attributes:
        judge: whose scores the study shows; None while nothing is judged.
        others: names of other judges that scored checkpoints of the study.
        statements: the answer in plain words, the most important first.
        repeats: how often the checkpoint that was asked most often was scored by this judge.
        retest: the judge with itself, over all and by root; empty without repeats.
        again: checkpoints that it scored more than once, what changed most first.
        pairs: judges with each other.
        noise: intervals that hold the judge's noise: each model over all, then by root.
        separable: whether the judge's noise can be told from the samples'.
        judges: judges whose differences could tell how kind this one is, itself included.
        aside: names of judges whose scores don't follow the truth: they are left out of that.
        position: pull of the place.
        family: candidates of the judge's own family.
        calibrated: the judge against the truth; None where it was never asked.
        covered: roots of the study's tree that were calibrated.
        roots: roots of the study's tree.
        steps: what to do next.
        synthetic: whether the judge is simulated.
        cold: whether it is asked at temperature 0, where repeats are the same request.
    """

    judge: str | None
    others: tuple[str, ...]
    statements: tuple[str, ...]
    repeats: int
    retest: tuple[AgreementRow, ...]
    again: tuple[RescoredCheckpoint, ...]
    pairs: tuple[JudgePair, ...]
    noise: tuple[NoiseRow, ...]
    separable: bool
    judges: int
    aside: tuple[str, ...]
    position: tuple[PositionRow, ...]
    length: LengthPull
    family: tuple[str, ...]
    calibrated: CalibratedJudge | None
    covered: int
    roots: int
    steps: tuple[NextStep, ...]
    synthetic: bool
    cold: bool
