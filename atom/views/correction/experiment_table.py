"""Self-correction: the experiments, for the page and for `correct list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.display import numbers
from atom.display.table import Column, Table
from atom.records import Experiment
from atom.views.correction.data import ExperimentRow
from atom.views.correction.form import ARM_WORDS, RULE_WORDS
from atom.views.runs.page import RunView


def experiment_table(
    rows: Sequence[ExperimentRow], runs: Mapping[str, RunView]
) -> Table[ExperimentRow]:
    """List experiments, in the order given.

    Args:
        runs: how each one's run is, by the experiment's id.
    """

    def state(row: ExperimentRow) -> str | None:
        seen = runs.get(row.experiment.id)
        return None if seen is None else seen.words

    def run(row: ExperimentRow) -> str | None:
        seen = runs.get(row.experiment.id)
        return None if seen is None else seen.run.id

    return Table(
        label="Experiments",
        columns=(
            Column(title="Id", of=lambda row: row.experiment.id[:12], seen="text"),
            Column(title="Begun (UTC)", of=lambda row: row.experiment.created,
                   write=numbers.moment),
            Column(title="Model", of=lambda row: row.model),
            Column(title="What", of=lambda row: _asked(row.experiment), width="40%"),
            Column(title="State", of=state),
            Column(title="Answers", of=lambda row: row.answers, number=True),
            Column(title="Tries", of=lambda row: row.trials.get("scored", 0), number=True),
            Column(title="Unscored", of=lambda row: row.trials.get("unscored", 0), number=True),
            Column(title="Failed", of=lambda row: row.trials.get("failed", 0), number=True),
            Column(title="Run", of=run, seen="text", spare=True),
        ),
        rows=rows,
    )  # fmt: skip


def _asked(asked: Experiment) -> str:
    if len(asked.sample_ids) == 1:
        what = "one answer"
    else:
        what = RULE_WORDS[asked.failed_rule]
        what += f" under {asked.node[-1]}" if asked.node else ""
    arms = ", ".join(ARM_WORDS[arm].name.lower() for arm in asked.arms)
    return f"{what}: {arms}"
