import math

from atom.analysis.agreement.fidelity import FidelityShare
from atom.analysis.agreement.raters import ClassScores
from atom.display import writers
from atom.views.people.pair_labels import FIRST, PairJudgeRow, PairLabels
from atom.views.people.pair_table import pair_table


def scores(unread, counted="wrong"):
    return ClassScores(n=1500, unread=unread, counted=counted, accuracy=0.5, precision=0.4,
                       recall=0.3, f1=0.2)  # fmt: skip


def view(*judges):
    return PairLabels(annotators=("a", "b"), labels=0, pairs=1500, first=900, second=300, ties=300,
                      open=0, foreign=0, kappas=(), all_kappas=0, alpha=None, judges=judges,
                      lead=None, commonest=scores(0), commonest_label=FIRST, conflicts=0,
                      synthetic=False)  # fmt: skip


def test_judges_stand_above_what_needs_no_judge():
    share = FidelityShare(value=0.612, lo=0.5, hi=0.71, n=1500, clusters=9)
    one = PairJudgeRow(judge="j", scores=scores(3, "tie"), accuracy=share)
    nothing = FidelityShare(value=math.nan, lo=math.nan, hi=math.nan, n=0, clusters=0)
    two = PairJudgeRow(judge="k", scores=scores(0), accuracy=nothing)
    head, first, second, always, chance = writers.lines(pair_table(view(one, two)))
    assert head.split("  ")[0] == "Judge"
    assert first.split() == [
        "j", "as", "ties", "61.2", "%", "(50.0–71.0)", "40.0", "%", "30.0", "%", "20.0", "%", "3",
        "1,500",
    ]  # fmt: skip
    assert second.split()[:4] == ["k", "none", "unread", "–"]
    assert always.startswith("Always the first answer, the commonest label")
    # A label at random gets a third of each, and no F1.
    assert chance.removeprefix("A label at random").split() == [*(3 * ["33.3", "%"]), "–"]
