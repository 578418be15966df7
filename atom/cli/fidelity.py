"""`fidelity run|show|rankings|plant|match|criteria`."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path

from atom.analysis.agreement.fidelity import FidelityShare
from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.parts.own_criteria import add_own
from atom.cli.parts.people_labels import finite, people_labels
from atom.cli.running.carry_out import begin_and_do
from atom.display import numbers
from atom.display.writers import said
from atom.engine.bench.fidelity import FidelitySpec, forecast_fidelity
from atom.engine.bench.rankings import (
    RankingsTaken,
    import_rankings,
    plant_rankings,
    preview_rankings,
)
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.members import judge_of
from atom.errors import UsageError
from atom.formats import ImportFile
from atom.methods.registry import ASKED, METHODS
from atom.records import Judge
from atom.store import Store, find_study
from atom.views.lab.fidelity.rows import MethodRow
from atom.views.lab.fidelity.tab import FidelityView, fidelity
from atom.views.snapshot import open_study


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "run", parents=[common()], help="have a judge rank a study's answers by rival methods"
    )
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--judge", required=True, metavar="ENDPOINT")
    one.add_argument("--methods", metavar="A,B", help=f"of {', '.join(ASKED)}; all if left out")
    one.add_argument("--limit", type=int, metavar="N", help="so many samples, ranked ones first")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=run)
    one = verbs.add_parser("show", parents=[common()], help="how well methods rank as people do")
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--judge", metavar="NAME", help="another judge than the study's own")
    one.set_defaults(call=show)
    one = verbs.add_parser("rankings", parents=[common()], help="take in people's rankings")
    one.add_argument("files", nargs="+", type=Path, metavar="FILE")
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument(
        "--dry-run", action="store_true", help="say what would be taken in, and why not"
    )
    one.set_defaults(call=rankings)
    add_own(verbs)
    one = verbs.add_parser(
        "plant", parents=[common()], help="draw rankings from a synthetic study's truth"
    )
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--seed", type=int, default=0, metavar="N")
    one.set_defaults(call=plant)


def run(args: argparse.Namespace, out: Output) -> int:
    """Ask what is missing, and say how the methods do."""
    settings = settings_of(args)
    spec = FidelitySpec(
        study_id=args.study,
        judge=args.judge,
        methods=names_of(args.methods),
        limit=args.limit,
        budget=args.budget,
        retry_failed=args.retry_failed,
    )
    with Store.open(settings.store) as store:
        if args.dry_run:
            endpoints = known_endpoints(settings)
            forecast = forecast_fidelity(store, spec, endpoints)
            more = {"calls": forecast.calls, "cost": forecast.cost}
            out.result({**asdict(forecast), **more}, said(forecast.facts(endpoints[spec.judge])))
            return 0
        study_id = find_study(store, args.study).id
        ended = begin_and_do(store, spec, settings, args, out, owner_id=study_id)
        if ended is None:
            return 0
        _tell(store, study_id, judge_of(known_endpoints(settings)[spec.judge]).id, out)
    return 0 if ended.state == "done" else 1


def show(args: argparse.Namespace, out: Output) -> int:
    """Say how well the methods rank answers as people do."""
    with Store.open(settings_of(args).store) as store:
        study = find_study(store, args.study)
        judge_id = None
        if args.judge:
            judges = {one.id: one.name for one in store.select(Judge)}
            found = [one for one in judges if args.judge in (one, judges[one])]
            if len(found) > 1:
                raise UsageError(
                    f"{len(found):,} judges are called {args.judge!r}: name one by its id"
                )
            if not found:
                names = ", ".join(sorted(judges.values())) or "none yet"
                raise UsageError(f"there is no judge {args.judge!r}; judges here: {names}")
            judge_id = found[0]
        _tell(store, study.id, judge_id, out)
    return 0


def rankings(args: argparse.Namespace, out: Output) -> int:
    """Take in people's rankings."""
    with Store.open(settings_of(args).store) as store:
        files = [ImportFile.from_path(path) for path in args.files]
        take = preview_rankings if args.dry_run else import_rankings
        taken = take(store, args.study, files)
    for line in (*taken.notes, *taken.skipped[:12]):
        out.problem(line)
    out.result(asdict(taken), _taken_lines(taken))
    return 1 if taken.n_skipped else 0


def plant(args: argparse.Namespace, out: Output) -> int:
    """Draw people's rankings from a synthetic study's truth."""
    with Store.open(settings_of(args).store) as store:
        taken = plant_rankings(store, args.study, seed=args.seed)
    out.result(asdict(taken), [*_taken_lines(taken), "they are synthetic, and marked so"])
    return 0


def _taken_lines(taken: RankingsTaken) -> list[str]:
    who = f" by {', '.join(taken.annotators[:6])}" if taken.annotators else ""
    lines = [f"{taken.labels:,} labels on {taken.samples:,} samples{who}"]
    if taken.replaced:
        lines.append(f"{taken.replaced:,} of them replace what was there")
    if taken.n_skipped:
        lines.append(f"{taken.n_skipped:,} left out")
    return lines


def _tell(store: Store, study_id: str, judge_id: str | None, out: Output) -> None:
    own = open_study(store, study_id)
    data = own if judge_id is None else open_study(store, study_id, judge_id)
    view = fidelity(store, data, own)
    labels = people_labels(store, own)
    out.result(finite({**_plain(view), **labels.plain()}), [*_lines(view), *labels.lines()])


def _percent(share: FidelityShare | None) -> str:
    if share is None or math.isnan(share.value):
        return "-"
    return f"{100 * share.value:.1f} ({100 * share.lo:.1f} to {100 * share.hi:.1f})"


def _lines(view: FidelityView) -> list[str]:
    people = view.people
    if not people.pairs:
        return [
            "nobody ranked this study's answers yet: `fidelity rankings FILE --study ...`"
            + (", or `fidelity plant --study ...`" if view.synthetic else "")
        ]
    head = ("method", *view.roots, "all", "ties", "tau-b", "against ATOM", "calls", "USD", "unread")
    rows = [_cells(row, view) for row in view.measured]
    kind = "; ".join(
        f"{one.labels:,} synthetic labels"
        if one.planted
        else f"{one.labels:,} labels by {', '.join(one.annotators[:6])}"
        for one in people.kinds
    )
    lines = [
        f"judge: {view.judge.name if view.judge else 'none'}; {people.pairs:,} pairs of "
        f"{people.samples:,} samples ({kind}); {numbers.share(people.ties, 1)} of pairs are ties",
        *(table(head, rows) if rows else ()),
        f"calling every pair a tie reaches {numbers.share(people.ties, 1)}; without ties at most "
        f"{numbers.share(1 - people.ties, 1)} can be reached",
    ]
    lines += [view.rest] if view.rest else []
    if not any(row.name in ASKED for row in view.measured):
        lines.append(
            "no rival method was asked yet: `fidelity run --study NAME --judge ENDPOINT` asks "
            f"{', '.join(ASKED)}"
        )
        return lines
    missing = [row.name for row in view.rows if row.accuracy is None]
    if missing:
        lines.append(f"not asked yet: {', '.join(missing)} (`fidelity run`, `run start`)")
    return lines


def _cells(row: MethodRow, view: FidelityView) -> list[object]:
    accuracy, gap = row.accuracy, row.against_atom
    if accuracy is None:
        return [row.title, *("" for _ in view.roots), "-", "", "", "", "", "", ""]
    against = numbers.signed_interval(100 * gap.gap, 100 * gap.lo, 100 * gap.hi) if gap else ""
    roots = [f"{100 * share.value:.1f}" if (share := row.by_root.get(root)) else "-"
             for root in view.roots]  # fmt: skip
    usd = "?" if row.cost.usd is None else f"{row.cost.usd:.4f}"
    tau = numbers.plain(accuracy.tau)
    ties = "-" if math.isnan(accuracy.judge_ties) else f"{100 * accuracy.judge_ties:.1f}"
    return [row.title, *roots, _percent(accuracy.strict), ties, tau, against, row.cost.calls, usd,
            row.unscored + row.failed]  # fmt: skip


def _share(share: FidelityShare) -> dict[str, float | int | None]:
    return {
        "value": share.value, "lo": share.lo, "hi": share.hi,
        "pairs": share.n, "clusters": share.clusters,
    }  # fmt: skip


def _plain(view: FidelityView) -> dict[str, object]:
    """Return what `--json` prints; numbers that aren't defined are still NaN."""
    return {
        "study": view.study_id,
        "judge": view.judge.name if view.judge else None,
        "synthetic": view.synthetic,
        "people": asdict(view.people),
        "shared_samples": view.shared,
        "methods": [
            {
                "name": row.name,
                "removes": METHODS[row.name].removes,
                "strict": _share(row.accuracy.strict) if row.accuracy else None,
                "valid": _share(row.accuracy.valid) if row.accuracy else None,
                "tolerant": _share(row.tolerant.strict) if row.tolerant else None,
                "tau_b": row.accuracy.tau if row.accuracy else None,
                "judge_ties": row.accuracy.judge_ties if row.accuracy else None,
                "confusion": row.accuracy.counts.tolist() if row.accuracy else None,
                "by_root": {root: _share(share) for root, share in row.by_root.items()},
                "cost": asdict(row.cost),
                "unscored": row.unscored,
                "failed": row.failed,
            }
            for row in view.rows
        ],
    }
