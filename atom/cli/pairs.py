"""`pairs find|show|write|keep`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.running.carry_out import begin_and_do
from atom.display import numbers
from atom.display.writers import said
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.pairs.asking import PairsSpec, forecast_pairs
from atom.engine.pairs.keeping import keep_pairs
from atom.errors import UsageError
from atom.exports.hard_pairs import WARNING, pair_files
from atom.files import new_folder, write_file
from atom.records import KnownBy
from atom.store import Store, find_study
from atom.store.reading.pairs import KNOWN_BY
from atom.views.lab.hard_pairs import HardPairs, hard_pairs
from atom.views.study_data import StudyData, load_study
from taxonomy import format_path

ABOUT = (
    "Pairs of answers to one question, one of which is known to be better, are put to weak judges. "
    "What they fail at is hard: a strong judge, or people under Human check, confirm it. "
    f"{WARNING}"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "find", parents=[common()], help="have weak judges vote on a study's pairs of answers",
        description=ABOUT,
    )  # fmt: skip
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--weak", required=True, metavar="A,B", help="endpoints of the weak judges")
    one.add_argument("--strong", metavar="ENDPOINT", help="the judge that confirms; else people do")
    one.add_argument(
        "--votes", type=int, default=3, metavar="K", help="votes of each judge in each order (3)"
    )
    one.add_argument(
        "--fail", type=int, metavar="Q", help="so many weak judges fail at a hard pair; else all"
    )
    one.add_argument(
        "--by", metavar="A,B", help=f"what says which answer is better: of {', '.join(KNOWN_BY)}"
    )
    one.add_argument(
        "--gap", type=float, default=25.0, metavar="POINTS",
        help="least gap of two scores, 0-100, that says it (25)",
    )  # fmt: skip
    one.add_argument("--limit", type=int, metavar="N", help="at most so many pairs, at random")
    one.add_argument(
        "--per-sample", type=int, default=1, metavar="N", help="at most so many of one sample (1)"
    )
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=find)
    _read(verbs, "show", "what came of it, step by step").set_defaults(call=show)
    one = _read(verbs, "write", "the set as files: VL-RewardBench's layout and Multi-Crit's")
    one.add_argument("place", type=Path, help="a new folder, or a .zip file")
    one.add_argument("--all", action="store_true", help="also what nobody has confirmed yet")
    one.set_defaults(call=write)
    one = _read(verbs, "keep", "the set in the Judge lab, for other judges")
    one.add_argument("--all", action="store_true", help="also what nobody has confirmed yet")
    one.set_defaults(call=keep)


def _read(verbs: Any, name: str, words: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = verbs.add_parser(
        name, parents=[common()], help=words, description=words
    )
    one.add_argument("--study", required=True, metavar="NAME")
    one.add_argument("--run", metavar="RUN", help="which run's; else the newest")
    return one


def find(args: argparse.Namespace, out: Output) -> int:
    """Ask what is missing, and say what is hard."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        spec = PairsSpec(
            study_id=find_study(store, args.study).id,
            weak=names_of(args.weak),
            strong=args.strong,
            votes=args.votes,
            fail=args.fail,
            by=_known_by(args.by),
            gap=args.gap / 100,
            limit=args.limit,
            per_sample=args.per_sample,
            budget=args.budget,
            retry_failed=args.retry_failed,
        )
        if args.dry_run:
            forecast = forecast_pairs(store, spec, known_endpoints(settings))
            out.result(asdict(forecast), said(forecast.facts))
            return 0
        ended = begin_and_do(store, spec, settings, args, out, owner_id=spec.study_id)
        if ended is None:
            return 0
        _tell(*_found(store, spec.study_id, ended.id), out)
    return 0 if ended.state == "done" else 1


def _known_by(text: str | None) -> tuple[KnownBy, ...]:
    wanted = names_of(text)
    if unknown := [name for name in wanted if name not in KNOWN_BY]:
        raise UsageError(f"{unknown[0]!r} says of no pair which answer is better: name some of "
                         f"{', '.join(KNOWN_BY)}")  # fmt: skip
    return tuple(name for name in KNOWN_BY if name in wanted) or KNOWN_BY


def show(args: argparse.Namespace, out: Output) -> int:
    """Say what came of it, step by step."""
    with Store.open(settings_of(args).store) as store:
        _tell(*_found(store, args.study, args.run), out)
    return 0


def write(args: argparse.Namespace, out: Output) -> int:
    """Write the set as files."""
    with Store.open(settings_of(args).store) as store:
        data, view = _found(store, args.study, args.run)
        _not_empty(view, confirmed=not args.all)
        files = pair_files(store, data, view, confirmed=not args.all)
    if args.place.suffix.lower() == ".zip":
        write_file(args.place, files.zipped(), replace=False)
    else:
        with new_folder(args.place) as folder:
            for name, text in files.texts.items():
                write_file(folder / name, text)
            for name, picture in files.pictures.items():
                write_file(folder / name, picture)
    said = {"place": str(args.place), "pairs": files.pairs, "criteria": files.criteria,
            "pictures": len(files.pictures), "warning": WARNING}  # fmt: skip
    rows = numbers.count(files.criteria, "row")
    pairs = numbers.count(files.pairs, "pair")
    out.result(said, [f"{args.place}: {pairs}, {rows} of Multi-Crit", WARNING])
    return 0


def keep(args: argparse.Namespace, out: Output) -> int:
    """Make the set one of the Judge lab's."""
    with Store.open(settings_of(args).store) as store:
        data, view = _found(store, args.study, args.run)
        _not_empty(view, confirmed=not args.all)
        files = pair_files(store, data, view, confirmed=not args.all)
        kept = keep_pairs(store, data.study, view.run, files.texts, files.pictures)
    out.result(
        [record.model_dump(mode="json") for record in kept],
        [f"{record.benchmark}: {record.name!r}, {numbers.count(record.n_items, 'pair')}"
         for record in kept] + [WARNING],
    )  # fmt: skip
    return 0


def _found(store: Store, study: str, run: str | None) -> tuple[StudyData, HardPairs]:
    data = load_study(store, find_study(store, study).id)
    view = hard_pairs(store, data, run)
    if view is None:
        raise UsageError(
            "nobody has looked for hard pairs in this study: `pairs find --study "
            f"{data.study.name!r} --weak A,B` does"
        )
    if run and not view.run.id.startswith(run):
        raise UsageError(f"there is no run {run!r} for hard pairs; the newest is {view.run.id}")
    return data, view


def _not_empty(view: HardPairs, *, confirmed: bool) -> None:
    if view.chosen(confirmed=confirmed):
        return
    if view.decisions.get("open"):
        raise UsageError(
            "no hard pair is confirmed yet: name a --strong judge in `pairs find`, label pairs "
            "under Human check, or take unconfirmed ones with --all"
        )
    raise UsageError(
        "no hard pair is left: ask about more pairs, or let fewer judges fail (--fail)"
    )


def _tell(data: StudyData, view: HardPairs, out: Output) -> None:
    judges = [
        {"judge": one.name, "stands": dict(one.stands), "right": one.right.value,
         "low": one.right.lo, "high": one.right.hi, "fresh": one.fresh,
         "all_pairs": {p.votes: p.value for p in one.every},
         "hard_pairs": {p.votes: p.value for p in one.hard}}
        for one in view.judges
    ]  # fmt: skip
    said = {
        "study": data.study.name, "run": view.run.id, "state": view.run.state,
        "pairs": len(view.cases), "samples": view.samples, "by": dict(view.by),
        "asked": view.asked, "hard": len(view.hard), "acceptance": view.accepted.value,
        "low": view.accepted.lo, "high": view.accepted.hi, "judges": judges,
        "strong": view.strong, "decisions": dict(view.decisions),
        "set": len(view.chosen()), "errors": {format_path(leaf): n for leaf, n in view.errors},
        "warning": WARNING, "synthetic": view.synthetic,
    }  # fmt: skip
    share = view.accepted
    hard = numbers.percent(100 * share.value, share.n) + numbers.share_ends(share.lo, share.hi)
    by = ", ".join(f"{n:,} by {name}" for name, n in view.by.items())
    decided = ", ".join(f"{name} {n:,}" for name, n in view.decisions.items()) or "nothing"
    lines = [
        f"1. {numbers.count(len(view.cases), 'pair')} of known order ({by})",
        f"2. {len(view.hard):,} of {view.asked:,} are hard: {hard}",
        *table(
            ("weak judge", "right", "wrong", "unsettled", "1 vote, all", "most, all",
             "1 vote, hard", "most, hard", "fresh"),
            [[one.name, *(f"{one.stands.get(name, 0):,}" for name in
                          ("right", "wrong", "unsettled")),
              *_ends(one.every), *_ends(one.hard), numbers.share(one.fresh, 1)]
             for one in view.judges],
        ),
        f"3. confirmed by {view.strong or 'people'}: {decided}",
        f"4. the set: {numbers.count(len(view.chosen()), 'pair')}",
        *(f"   {format_path(leaf)}: {n:,}" for leaf, n in view.errors[:8]),
        WARNING,
    ]  # fmt: skip
    out.result(said, lines)


def _ends(points: tuple[Any, ...]) -> tuple[str, str]:
    if not points:
        return "–", "–"
    first, last = points[0], points[-1]
    return numbers.share(first.value, 1), f"{numbers.share(last.value, 1)} ({last.votes})"
