"""`correct run|list|show|gate`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output
from atom.cli.results.correction import forecast_data, percent, result_lines
from atom.cli.results.plain import plain
from atom.cli.running.carry_out import begin, do_here, run_lines, with_consent
from atom.cli.study import open_bundled
from atom.display import numbers
from atom.display.numbers import money
from atom.display.writers import lines, said
from atom.engine.control import RunStatus, list_runs
from atom.engine.correction.forecast import forecast_experiment
from atom.engine.correction.gate import prepare_gate, run_gate
from atom.engine.correction.ground import ARMS, USUAL_ARMS, CorrectionSpec
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.studies.new import DEMO_COPY, find_copy, own_copy
from atom.errors import UsageError
from atom.records import Arm, FailedRule, Study
from atom.settings import Settings
from atom.store import Store, find_study, list_studies
from atom.views.correction.data import (
    ExperimentRow,
    find_experiment,
    list_experiments,
)
from atom.views.correction.experiment_table import experiment_table
from atom.views.correction.form import ARM_WORDS
from atom.views.runs.page import RunView, run_view
from atom.views.stores import DEMO_MARK
from taxonomy import parse_path


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_run(
        verbs.add_parser(
            "run", parents=[common()], help="try failed answers again; the same words go on with it"
        )
    )
    one = verbs.add_parser("list", parents=[common()], help="the experiments, the newest first")
    one.add_argument("--study", help="only this study's; of the bundled one, its copy's")
    one.set_defaults(call=list_all)

    one = verbs.add_parser("show", parents=[common()], help="what came of an experiment")
    one.add_argument("experiment", help="its id, or the beginning of it")
    one.add_argument(
        "--round", type=int, metavar="N", help="after this round; the last if left out"
    )
    one.set_defaults(call=show)

    one = verbs.add_parser(
        "gate", parents=[common()], help="do the hints help without the picture? then they leak"
    )
    one.add_argument("experiment", help="its id, or the beginning of it")
    one.add_argument("--limit", type=int, metavar="N", help="at most so many answers")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--yes", action="store_true", help="agree to the price and to sending data")
    one.set_defaults(call=gate)


def _add_run(one: argparse.ArgumentParser) -> None:
    one.add_argument("--study", required=True, help="name or id; the bundled one's copy is used")
    one.add_argument("--model", required=True, help="whose answers are tried again")
    one.add_argument(
        "--arms",
        metavar="A,B",
        help=f"of {','.join(ARMS)}; left out: {','.join(USUAL_ARMS)}",
    )
    one.add_argument(
        "--failed",
        choices=get_args(FailedRule),
        default="outcome",
        help="wrong final answer, sample score under 3, or a heavy criterion failed (outcome)",
    )
    one.add_argument(
        "--threshold", type=int, default=2, metavar="N", help="a score up to this is failed (2)"
    )
    one.add_argument("--rounds", type=int, default=1, metavar="N", help="tries in a row (1)")
    one.add_argument("--node", metavar="PATH", help="only answers that failed under this node")
    one.add_argument("--limit", type=int, metavar="N", help="at most so many, drawn at random")
    one.add_argument(
        "--right", type=int, default=0, metavar="N", help="right answers that are asked, too"
    )
    one.add_argument("--judge", metavar="ENDPOINT", help="the judge; the study's own when left out")
    one.add_argument("--peers", metavar="A,B", help="endpoints that may write hints; else all")
    one.add_argument("--seed", type=int, default=0, metavar="N", help="draws other answers")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to the price and to sending data")
    one.set_defaults(call=start)


def start(args: argparse.Namespace, out: Output) -> int:
    """Carry out an experiment, here or in a process of its own."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        with _source(store, settings, args.study) as (source, study):
            expected = forecast_experiment(source, _spec(study, args), known_endpoints(settings))
            told = said(expected.facts(lambda arm: ARM_WORDS[arm].name))
            if args.dry_run:
                out.result(forecast_data(expected), told)
                return 0
            for text in told:
                out.problem(text)
            dear = expected.most_cost is None or expected.most_cost > 0
            if dear and not args.yes and not out.ask("Go on?"):
                raise UsageError("nothing was asked: agree with --yes, or look with --dry-run")
            if source is not store:
                study = own_copy(source, study.id, store)
        if args.study not in (study.name, study.id):
            out.problem(
                f"the bundled study is sealed; this goes into your own copy, {study.name!r}"
            )
        spec = _spec(study, args)
        row = begin(store, spec, settings, args, out, owner_id=spec.study_id)
        if row is None:
            return 0
        ended = do_here(store, settings, row.id, out, retry_failed=spec.retry_failed)
        data, lines = result_lines(store, find_experiment(store, row.experiment_id or ""), None)
        data["run"] = ended.model_dump(mode="json")
        out.result(data, [*run_lines(RunStatus(run=ended, alive=False), settings), "", *lines])
    nothing_came = ended.failed == ended.done > 0
    return 0 if ended.state == "done" and not nothing_came else 1


@contextmanager
def _source(store: Store, settings: Settings, name: str) -> Iterator[tuple[Store, Study]]:
    """Find a study in the user's store; of the bundled one, the user's own copy, else itself.

    Raises:
        UsageError: no store holds it; the message names those that exist.
    """
    own = list_studies(store)
    mine = next((study for study in own if name in (study.id, study.name)), None)
    bundled = open_bundled(settings) if mine is None else None
    if mine is not None or bundled is None:
        yield store, mine or find_study(store, name)
        return
    with bundled:
        sealed = list_studies(bundled)
        word = name.removeprefix(DEMO_MARK)
        chosen = next((study for study in sealed if word in (study.id, study.name)), None)
        if chosen is None:
            yours = ", ".join(repr(study.name) for study in own) or "none yet"
            theirs = ", ".join(repr(study.name) for study in sealed)
            raise UsageError(
                f"there is no study {name!r}; studies in this store: {yours}; bundled: {theirs}"
            )
        copy = find_copy(store, chosen.id)
        yield (bundled, chosen) if copy is None else (store, copy)


def _spec(study: Study, args: argparse.Namespace) -> CorrectionSpec:
    wanted = names_of(args.arms) or USUAL_ARMS
    wrong = [name for name in wanted if name not in ARMS]
    if wrong:
        raise UsageError(f"{wrong[0]!r} isn't an arm; arms are {', '.join(ARMS)}")
    arms: tuple[Arm, ...] = tuple(arm for arm in ARMS if arm in wanted)
    return CorrectionSpec(
        study_id=study.id,
        candidate=args.model,
        judge=args.judge,
        arms=arms,
        failed_rule=args.failed,
        threshold=args.threshold,
        rounds=args.rounds,
        node=parse_path(args.node) if args.node else (),
        limit=args.limit,
        right_answers=args.right,
        seed=args.seed,
        budget=args.budget,
        peers=names_of(args.peers),
        retry_failed=args.retry_failed,
    )


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the experiments."""
    settings = settings_of(args)
    nothing = "no experiments yet"
    with Store.open(settings.store) as store:
        study_id = None
        if args.study:
            with _source(store, settings, args.study) as (source, study):
                study_id = study.id
                if source is not store:
                    nothing = (
                        "the bundled study is sealed: its experiments live in your own copy, "
                        f"{DEMO_COPY!r}, which the first `correct run` makes"
                    )
                elif args.study not in (study.name, study.id):
                    out.problem(
                        "the bundled study is sealed: its experiments live in your own copy, "
                        f"{study.name!r}"
                    )
        found = list_experiments(store, study_id)
        views = {
            one.run.experiment_id: run_view(one.run, alive=one.alive)
            for one in list_runs(store, study_id)
            if one.run.experiment_id is not None
        }
    data = [_data(row, views.get(row.experiment.id)) for row in found]
    out.result(data, lines(experiment_table(found, views)) if found else [nothing])
    return 0


def _data(row: ExperimentRow, seen: RunView | None) -> dict[str, object]:
    return {
        "experiment": row.experiment.model_dump(mode="json"),
        "model": row.model,
        "judge": row.judge,
        "answers": row.answers,
        "trials": row.trials,
        "run": seen.run.model_dump(mode="json") if seen else None,
    }


def show(args: argparse.Namespace, out: Output) -> int:
    """Say what came of an experiment."""
    with Store.open(settings_of(args).store) as store:
        data, lines = result_lines(store, find_experiment(store, args.experiment), args.round)
    out.result(data, lines)
    return 0


def gate(args: argparse.Namespace, out: Output) -> int:
    """Let the model answer without the pictures, with and without the hints."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        experiment = find_experiment(store, args.experiment)
        endpoints = known_endpoints(settings)
        asked = prepare_gate(store, experiment, endpoints, limit=args.limit)
        price = asked.cost
        out.problem(f"{asked.missing:,} calls, {money(price)}")
        if (
            asked.missing
            and (price is None or price > 0)
            and not args.yes
            and not out.ask("Go on?")
        ):
            raise UsageError("nothing was asked: agree with --yes")
        found = with_consent(
            store,
            experiment.study_id,
            args.yes,
            out,
            lambda: asyncio.run(run_gate(store, asked, budget=args.budget)),
        )
    verdict = found.verdict
    lines = [
        verdict.sentence,
        f"{numbers.count(verdict.n, 'answer')} without the picture: "
        f"{percent(verdict.with_hint)} % right with the hints, "
        f"{percent(verdict.without)} % without (mid-p "
        f"{numbers.p_value(verdict.mid_p)})",
    ]
    if found.undecided:
        lines.append(f"{found.undecided:,} more gave no answer that a rule can check")
    if found.message:
        lines.append(found.message)
    data = {"gate": plain(verdict), "undecided": found.undecided, "message": found.message}
    out.result(data, lines)
    return 1 if found.message else 0
