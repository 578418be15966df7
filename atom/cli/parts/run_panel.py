"""`run start --panel`: one judge marks, then others mark the same answers, in one go."""

from __future__ import annotations

import argparse
from dataclasses import replace

from atom.cli.parts.options import names_of
from atom.cli.parts.output import Output
from atom.cli.running.carry_out import begin_and_do
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.records import Run
from atom.settings import Settings
from atom.store import Store


def panel_specs(args: argparse.Namespace, spec: RunSpec) -> list[RunSpec]:
    """Return what each judge is asked: the first what was said, the others to mark what is there.

    Raises:
        UsageError: the panel can't be asked so.
    """
    others = names_of(args.panel)
    if not others:
        raise UsageError("--panel names the judges that mark after --judge: name at least one")
    if spec.judge in others or len(set(others)) < len(others):
        raise UsageError("each judge of a panel is named once, the first with --judge")
    if args.detach or spec.look is not None or args.processes > 1:
        raise UsageError(
            "a panel is asked here, judge by judge: leave --detach, --settle and --processes"
        )
    marks = replace(spec, stages=("scoring",), candidates=())
    return [spec, *(replace(marks, judge=name) for name in others)]


def start_panel(
    store: Store, settings: Settings, spec: RunSpec, args: argparse.Namespace, out: Output
) -> int:
    """Have every judge mark, one after another; a budget is of all together."""
    ended: list[Run] = []
    for one in panel_specs(args, spec):
        spent = sum(run.cost for run in ended)
        left = None if spec.budget is None else max(spec.budget - spent, 0.0)
        asked = replace(one, budget=left)
        done = begin_and_do(store, asked, settings, args, out, owner_id=spec.study_id)
        assert done is not None
        ended.append(done)
        if done.state != "done":
            break
    lines = [f"{run.judge}: {run.state}, {run.done:,} of {run.total:,}" for run in ended]
    lines.append(f"`judge panel --study {spec.study_id}` says what they are worth together")
    out.result([run.model_dump(mode="json") for run in ended], lines)
    return 0 if all(run.state == "done" for run in ended) else 1
