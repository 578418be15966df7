"""What `correct` says of an experiment: arms, effects, checks of what is kept, and the gate."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence

from atom.analysis.correction.effects import (
    CONTRASTS,
    Effect,
    NetGain,
    cost_per_point,
    effects,
    net_gain,
)
from atom.analysis.correction.quality import Rise, rises
from atom.analysis.correction.trials import AnswerShare, break_rate, rounds
from atom.cli.parts.output import table
from atom.cli.results.plain import plain
from atom.display import numbers, writers
from atom.display.table import Table
from atom.engine.correction.forecast import CorrectionForecast
from atom.errors import UsageError
from atom.records import Arm, Correction, Experiment
from atom.store import Store
from atom.store import table as columns_of
from atom.views.correction.arm_lines import ArmLine, arm_lines
from atom.views.correction.arm_table import arm_table
from atom.views.correction.data import TrialData, list_experiments, load_trials
from atom.views.correction.effect_table import apart_words, effect_table


def forecast_data(found: CorrectionForecast) -> dict[str, object]:
    """Return what an experiment would ask as JSON has it."""
    return {
        "experiment": found.experiment.model_dump(mode="json"),
        "model": found.model,
        "answers": found.answers,
        "failed": found.failed,
        "right": found.right,
        "left_out": dict(found.left_out),
        "failed_subjects": found.failed_subjects,
        "right_subjects": found.right_subjects,
        "calls": found.calls,
        "most_calls": found.most_calls,
        "cost": found.cost,
        "most_cost": found.most_cost,
        "arms": [
            {
                "arm": arm.arm,
                "cohort": arm.cohort,
                "trials": arm.trials,
                "over": arm.over,
                "skipped": dict(arm.skipped),
                "calls": [
                    {
                        "kind": part.kind,
                        "endpoint": part.endpoint.name,
                        "calls": part.calls,
                        "most": part.most,
                        "tokens": part.tokens,
                        "price": part.price,
                    }
                    for part in arm.calls
                ],
            }
            for arm in found.arms
        ],
    }


def result_lines(
    store: Store, experiment: Experiment, upto: int | None
) -> tuple[dict[str, object], list[str]]:
    """Return what came of an experiment, as data and in words."""
    upto = experiment.rounds if upto is None else upto
    if not 1 <= upto <= experiment.rounds:
        raise UsageError(f"round {upto}: this experiment has rounds 1 to {experiment.rounds}")
    loaded = load_trials(store, [experiment.id])
    trials = loaded.trials
    model = next(r for r in list_experiments(store) if r.experiment.id == experiment.id).model
    title = f"Right final answers after {upto} {'try' if upto == 1 else 'tries'}"
    arms = arm_table(arm_lines(store, experiment.id, trials, upto), title, model)
    found = effects(trials, upto=upto)
    quality = rises(trials, failed_only=True, upto=upto)
    broken = break_rate(trials, upto=upto)
    net = net_gain(trials, loaded.failed_share, upto=upto)
    costs = [
        cost_per_point(trials, contrast, upto=upto)
        for contrast in CONTRASTS
        if {contrast.arm, contrast.control} <= set(trials.arms)
    ]
    columns = columns_of(Correction).c
    rows = store.select(Correction, columns.experiment_id == experiment.id)
    gates = Counter(_kind(line) for row in rows for line in row.gates)
    reasons = Counter((row.arm, row.detail) for row in rows if row.state != "scored" and row.detail)
    data: dict[str, object] = {
        "experiment": experiment.model_dump(mode="json"),
        "round": upto,
        "answers": len(loaded.answer_ids),
        "arms": [
            {f.name: plain(getattr(line.share, f.name)) for f in dataclasses.fields(line.share)}
            | named
            for line, named in zip(arms.rows, arms.documents, strict=True)
        ],
        "effects": [plain(effect) for effect in found],
        "rises": [plain(rise) for rise in quality],
        "rounds": [plain(row) for row in rounds(trials)],
        "broken": plain(broken),
        "net": plain(net),
        "costs": [plain(cost) for cost in costs],
        "gates": dict(gates),
        "dropped": [{"arm": a, "reason": r, "trials": n} for (a, r), n in reasons.most_common()],
    }
    return data, [
        *_arm_lines(loaded, arms),
        *_effect_lines(found),
        *_quality_lines(quality),
        *_break_lines(broken, net),
        *_gate_lines(gates, reasons),
    ]


def _kind(line: str) -> str:
    """Name what a gate's line is about, without the criterion and the leak."""
    head = line.partition(":")[0]
    return " ".join(word for word in head.split() if not _is_id(word))


def _is_id(word: str) -> bool:
    return len(word.strip(",")) == 8 and set(word.strip(",")) <= set("0123456789abcdef")


def _arm_lines(loaded: TrialData, arms: Table[ArmLine]) -> list[str]:
    if not arms.rows:
        return [f"{arms.label}: nothing has come yet ({len(loaded.answer_ids):,} answers)"]
    return [arms.label, *writers.lines(arms), ""]


def _effect_lines(found: Sequence[Effect]) -> list[str]:
    if not found:
        return []
    apart = max((effect.apart for effect in found), default=0)
    note = [f"{numbers.count(apart, 'answer')} {apart_words(apart)}"]
    title = "What an arm adds to its control"
    return [title, *writers.lines(effect_table(found, title)), *(note if apart else []), ""]


def _quality_lines(found: Sequence[Rise]) -> list[str]:
    rows = [
        [
            rise.arm,
            rise.n,
            *map(
                numbers.plain,
                (rise.before, rise.baseline, rise.after, rise.naive, rise.rise),
            ),
        ]
        for rise in found
        if rise.n
    ]
    if not rows:
        return []
    head = ("arm", "criteria", "before", "judged again", "after", "naive rise", "rise")
    return ["Failed criteria, mean score 1 to 5", *table(head, rows), ""]


def _break_lines(broken: AnswerShare, net: NetGain) -> list[str]:
    if not broken.n:
        return []
    lines = [
        f"Guided feedback broke {percent(broken.value)} % of {broken.n:,} right answers "
        f"({_interval(broken)})"
    ]
    if not math.isnan(net.value):
        lines.append(
            f"Net change if everyone got it: "
            f"{numbers.points_interval(net.value, net.lo, net.hi)} points, chance included"
        )
    return [*lines, ""]


def _gate_lines(gates: Counter[str], reasons: Counter[tuple[Arm, str]]) -> list[str]:
    lines = []
    if gates:
        lines.append("What the leak gates did")
        lines += [f"  {n}: {what}" for what, n in gates.most_common(12)]
    if reasons:
        lines.append("Trials without a new answer")
        lines += [
            f"  {n} {arm}: {' '.join(reason.split())[:200]}"
            for (arm, reason), n in reasons.most_common(12)
        ]
    return lines


def percent(value: float) -> str:
    """Return a share in percent."""
    return numbers.score(100 * value)


def _interval(share: AnswerShare) -> str:
    return f"{percent(share.lo)} to {percent(share.hi)}"
