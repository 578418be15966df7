"""`judge bench|calibrate|list|show|published|panel|blind|delete`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.cli.parts import judge_blind, judge_code, judge_panel
from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.results.bench import (
    failed_lines,
    place_document,
    say_left_out,
    set_document,
    short,
    tell_of_judge,
)
from atom.cli.results.plain import plain
from atom.cli.running.carry_out import begin_and_do
from atom.display.writers import said
from atom.engine.bench.calibration import ANSWERS, calibration_name
from atom.engine.bench.judging import BenchSpec, forecast_bench, prepare_bench
from atom.engine.bench.picking import answers_name, read_answers
from atom.engine.bench.sets import (
    NewSet,
    delete_set,
    find_set,
    import_replies,
    keep_set,
    probe_set_name,
    read_probe_set,
    read_set,
)
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import UsageError
from atom.foreign import read_foreign, read_foreign_text
from atom.formats import FolderPictures, ImportFile, PictureFinder
from atom.formats.zip_pictures import SeveralPictures, ZipPictures
from atom.judgebench.base import without_picture_words
from atom.judgebench.best_of_n.benchmark import NAME as BEST_OF_N
from atom.judgebench.registry import BENCHES, find_bench
from atom.judgebench.words import count
from atom.records import BenchSet, Sampling
from atom.settings import Settings
from atom.store import Store, find_study
from atom.views.lab.page import (
    all_places,
    bench_results,
    bench_sets,
    data_files,
    places,
    read_columns,
    standings,
)

_MOST_ZIPPED = 2_000_000_000
"""Bytes of a zip file of pictures, which is held in memory."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_bench(
        verbs.add_parser(
            "bench",
            parents=[common()],
            help="have a judge work through a judge benchmark",
            description="Have a judge work through a judge benchmark, and print its figures with "
            "chance levels and intervals. Data come from --files or --probes once; after that "
            "--set names them. What was asked before is never asked again.",
        )
    )
    one = verbs.add_parser(
        "calibrate", parents=[common()], help="hold a judge's scores against exact truth, on probes"
    )
    one.add_argument("--judge", required=True, metavar="ENDPOINT", help="who is examined")
    one.add_argument("--probes", type=int, metavar="N", help=f"answers it scores ({ANSWERS})")
    one.add_argument("--seed", type=int, default=0, metavar="N", help="of the probes (0)")
    one.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="how warm it's asked; 0 for one vote, 0.7 for several if left out",
    )
    one.add_argument("--top-p", type=float, metavar="P", help="the same, of nucleus sampling")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=calibrate, **_CALIBRATE)
    one = verbs.add_parser("list", parents=[common()], help="the benchmarks, and the sets here")
    one.set_defaults(call=list_all)
    one = verbs.add_parser("show", parents=[common()], help="how judges did on a set")
    one.add_argument("set", metavar="SET", help="its name or id")
    one.add_argument("--judge", metavar="NAME", help="one judge's figures in full")
    one.set_defaults(call=show)
    one = verbs.add_parser(
        "published", parents=[common()], help="what the papers print of the models they examined"
    )
    one.add_argument("name", nargs="?", metavar="NAME", help=f"of {', '.join(BENCHES)}; all")
    one.set_defaults(call=show_published)
    judge_code.add(verbs)
    judge_panel.add_panel(verbs)
    judge_blind.add_blind(verbs)
    one = verbs.add_parser("delete", parents=[common()], help="a set with all its verdicts")
    one.add_argument("set", metavar="SET", help="its name or id")
    one.set_defaults(call=delete)


def _add_bench(one: argparse.ArgumentParser) -> None:
    one.add_argument("name", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    one.add_argument("--set", metavar="SET", help="the data: the name of a set; a new one's, too")
    one.add_argument(
        "--files",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="read a new set from these files, or a folder's",
    )
    one.add_argument(
        "--probes", type=int, metavar="N", help="a set of N items made of probes; made once"
    )
    one.add_argument("--seed", type=int, default=0, metavar="N", help="of the probes (0)")
    one.add_argument(
        "--study",
        metavar="STUDY",
        help="best_of_n: a set of a study's answers, where a model answered several times",
    )
    one.add_argument("--model", metavar="NAME", help="with --study: whose answers")
    one.add_argument(
        "--answers", type=int, metavar="N", help="with --study: so many of each question's answers"
    )
    one.add_argument(
        "--columns",
        type=Path,
        metavar="FILE",
        help="our field → the file's column: JSON, or lines `field = column`",
    )
    one.add_argument(
        "--pictures",
        action="append",
        type=Path,
        metavar="PLACE",
        help="folder or zip with the pictures; beside the files if left out; may be repeated",
    )
    one.add_argument("--judge", metavar="ENDPOINT", help="who is examined")
    one.add_argument("--scorer", metavar="ENDPOINT", help="who scores what the judge writes")
    one.add_argument("--votes", type=int, metavar="K", help="how often each question is put")
    one.add_argument("--parts", metavar="A,B", help="which parts; the usual ones if left out")
    one.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="how warm it's asked; 0 for one vote, 0.7 for several if left out",
    )
    one.add_argument("--top-p", type=float, metavar="P", help="the same, of nucleus sampling")
    one.add_argument("--limit", type=int, metavar="N", help="only the first so many items")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--replies", nargs="+", type=Path, metavar="PATH", help="score these instead")
    one.add_argument("--as", dest="name_of_judge", metavar="NAME", help="whose replies these are")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=bench)


def bench(args: argparse.Namespace, out: Output) -> int:
    """Take in what is new, ask what is missing, and say how the judge did."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        found = _the_set(store, args, out)
        record = found.record if isinstance(found, NewSet) else found
        if args.replies:
            if args.dry_run:
                raise UsageError("--dry-run says what would be asked; --replies asks nothing")
            if not (args.name_of_judge or "").strip():
                raise UsageError("say whose replies these are with --as NAME")
            replies = import_replies(store, record.id, files_at(args.replies), args.name_of_judge)
            say_left_out(replies.notes, replies.skipped, out)
            return tell_of_judge(store, record, args.name_of_judge, out)
        if args.judge is None:
            items = f"{record.name!r}: {count(record.n_items, 'item')}"
            kept = "nothing was kept" if args.dry_run else "name a judge with --judge"
            out.result(record, [f"{items}; {kept}"])
            return 0
        asked = (args.temperature, args.top_p)
        sampling = Sampling(temperature=asked[0], top_p=asked[1]) if asked != (None, None) else None
        spec = BenchSpec(
            set_id=record.id,
            judge=args.judge,
            scorer=args.scorer,
            votes=args.votes,
            parts=names_of(args.parts),
            limit=args.limit,
            budget=args.budget,
            sampling=sampling,
            retry_failed=args.retry_failed,
        )
        if args.dry_run:
            new = found if isinstance(found, NewSet) else None
            endpoints = known_endpoints(settings)
            forecast = forecast_bench(store, spec, endpoints, new=new)
            _say_unscored(spec, record, out)
            out.result(plain(forecast), said(forecast.facts(endpoints)))
            return 0
        _say_unscored(spec, record, out)
        return _ask(store, record, settings, spec, args, out)


_CALIBRATE = {
    "name": CALIBRATION, "files": None, "scorer": None, "votes": None, "parts": None,
    "limit": None, "study": None, "model": None, "answers": None, "replies": None,
    "name_of_judge": None,
}  # fmt: skip


def calibrate(args: argparse.Namespace, out: Output) -> int:
    """Have a judge score answers whose every step is known; the probes are made once for all."""
    answers = ANSWERS if args.probes is None else args.probes
    args.set = calibration_name(answers, args.seed)
    with Store.open(settings_of(args).store) as store:
        there = store.get(BenchSet, BenchSet.make_id(CALIBRATION, args.set))
    args.probes = answers if there is None else None
    return bench(args, out)


def _say_unscored(spec: BenchSpec, record: BenchSet, out: Output) -> None:
    """Say which parts have no figures without a scorer."""
    bench = find_bench(record.benchmark)
    parts = [part for part in spec.parts or bench.usual if part in bench.scored]
    if parts and spec.scorer is None:
        out.problem(
            f"scores of what the judge writes ({', '.join(parts)}) need somebody who gives them: "
            "name an endpoint with --scorer"
        )


def _the_set(store: Store, args: argparse.Namespace, out: Output) -> BenchSet | NewSet:
    """Return the set that is meant: a new one of files or probes, else one that is there.

    With --dry-run a new one isn't kept.
    """
    bench = find_bench(args.name)
    if sum((bool(args.files), args.probes is not None, args.study is not None)) > 1:
        raise UsageError("a new set comes from one of --files, --probes and --study, not from both")
    if args.study is not None:
        return _answers_of_a_study(store, args, out)
    if args.model is not None or args.answers is not None:
        raise UsageError("--model and --answers say which answers of a --study become a set")
    if args.files:
        made = read_set(
            store,
            args.name,
            args.set or args.files[0].stem,
            files_at(args.files),
            columns=_columns(args.columns),
            pictures=_pictures(args.pictures, args.files),
            limit=args.limit,
        )
        return _kept(store, made, args, out)
    if args.probes is not None:
        name = args.set or probe_set_name(args.probes, args.seed)
        there = store.get(BenchSet, BenchSet.make_id(args.name, name))
        if there is not None and there.synthetic and args.set is None:
            return there
        made = read_probe_set(store, args.name, args.probes, args.seed, name=name)
        return _kept(store, made, args, out)
    sets = bench_sets(store, args.name)
    if args.set:
        found = find_set(store, args.set)
        if found.benchmark != args.name:
            raise UsageError(f"the set {found.name!r} is of {found.benchmark}, not of {args.name}")
        return found
    if not sets:
        raise UsageError(
            f"there is no set of {bench.title} yet: read one with --files PATH, or make one with "
            "--probes 60"
        )
    return sets[0]


def _answers_of_a_study(store: Store, args: argparse.Namespace, out: Output) -> BenchSet | NewSet:
    """Return the set of a model's repeated answers; the same answers again are the same set."""
    if args.name != BEST_OF_N:
        raise UsageError(f"--study makes a set of {BEST_OF_N}; {args.name} has no such sets")
    if args.model is None:
        raise UsageError("say whose answers they are with --model NAME")
    study = find_study(store, args.study)
    if args.set is None:
        name = answers_name(store, study, args.model, args.answers)
        there = store.get(BenchSet, BenchSet.make_id(BEST_OF_N, name))
        if there is not None:
            return there
    made = read_answers(store, study, args.model, args.answers, name=args.set)
    return _kept(store, made, args, out)


def _kept(store: Store, made: NewSet, args: argparse.Namespace, out: Output) -> BenchSet | NewSet:
    """Say what a new set lacks, and keep it unless this is a dry run."""
    say_left_out(made.record.notes, made.loaded.skipped, out)
    return made if args.dry_run else keep_set(store, made)


def files_at(paths: Sequence[Path]) -> list[ImportFile]:
    """Return files, a folder's data files for a folder.

    Raises:
        UsageError: there is no such file, or a folder without one.
    """
    return [ImportFile.from_path(one) for path in paths for one in data_files(path)]


def _columns(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    return read_columns(read_foreign_text(path))


def _pictures(places: Sequence[Path] | None, files: Sequence[Path]) -> PictureFinder:
    """Return where pictures are looked for.

    Raises:
        UsageError: there is no such folder or zip file.
    """
    finders: list[PictureFinder] = []
    folders = [path if path.is_dir() else path.parent for path in files] if not places else []
    for place in places or ():
        if place.is_dir():
            folders.append(place)
        elif place.is_file():
            finders.append(ZipPictures(place.name, read_foreign(place, _MOST_ZIPPED)))
        else:
            raise UsageError(f"there is no folder or zip file {str(place)!r} (--pictures)")
    return SeveralPictures([*finders, FolderPictures(folders)])


def _ask(
    store: Store,
    record: BenchSet,
    settings: Settings,
    spec: BenchSpec,
    args: argparse.Namespace,
    out: Output,
) -> int:
    """Have the judge asked, and say how it did."""
    ready = prepare_bench(store, spec, known_endpoints(settings))
    if not args.detach and ready.without_picture and ready.plan.items:
        out.problem(without_picture_words(ready.without_picture))
    ended = begin_and_do(store, spec, settings, args, out, owner_id=record.id)
    if ended is None:
        return 0
    code = tell_of_judge(store, record, ready.judge.id, out)
    return code if ended.state == "done" else 1


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the benchmarks and the sets."""
    with Store.open(settings_of(args).store) as store:
        sets = bench_sets(store)
    lines = [f"{one.name}: {one.about}" for one in BENCHES.values()]
    rows = [[s.name, s.benchmark, s.n_items, "probes" if s.synthetic else ", ".join(s.sources)]
            for s in sets]  # fmt: skip
    lines += ["", *table(("set", "benchmark", "items", "from"), rows)] if rows else ["no sets yet"]
    known = [{"name": one.name, "title": one.title, "about": one.about, "parts": dict(one.parts)}
             for one in BENCHES.values()]  # fmt: skip
    out.result({"benchmarks": known, "sets": [set_document(one) for one in sets]}, lines)
    return 0


def show(args: argparse.Namespace, out: Output) -> int:
    """Say how judges did on a set."""
    with Store.open(settings_of(args).store) as store:
        record = find_set(store, args.set)
        found = standings(store, record.id)
        if args.judge:
            wanted = [one for one in found if args.judge in (one.judge, one.name)]
            if not wanted:
                names = ", ".join(one.name for one in found) or "nobody yet"
                raise UsageError(f"{args.judge!r} judged nothing of this set; {names} did")
            return tell_of_judge(store, record, wanted[0].judge, out)
        results = bench_results(store, record.id, [one.judge for one in found])
        why = [line for one in found for line in failed_lines(store, record.id, one)]
    rows = [
        [one.name, one.items, one.scored, one.unscored, one.failed,
         "; ".join(short(row) for row in results[one.judge].headline[:3])]
        for one in found
    ]  # fmt: skip
    head = ("judge", "items", "read", "unread", "failed", "figures")
    document = {
        "set": set_document(record),
        "judges": [{**plain(one), "headline": plain(results[one.judge].headline)} for one in found],
    }
    lines = table(head, rows) if rows else ["nobody judged this set yet"]
    out.result(document, [*lines, *why])
    return 0


def show_published(args: argparse.Namespace, out: Output) -> int:
    """Say what the papers print, the errata beside the figures."""
    if args.name is not None:
        find_bench(args.name)
    found = places(args.name) if args.name else all_places()
    lines: list[str] = []
    for one in found:
        about = ", ".join(part for part in (one.headline.table, one.headline.data) if part)
        rows = [
            [number, model.model, f"{model.value:.2f}",
             "; ".join(error.words for error in model.errata)]
            for number, model in enumerate(one.models, start=1)
        ]  # fmt: skip
        lines += [f"{one.headline.label} ({about})",
                  *table(("", "model", "printed", "erratum"), rows), ""]  # fmt: skip
    out.result([place_document(one) for one in found], lines or ["nothing is printed of it"])
    return 0


def delete(args: argparse.Namespace, out: Output) -> int:
    """Delete a set with all its verdicts."""
    with Store.open(settings_of(args).store) as store:
        record = find_set(store, args.set)
        delete_set(store, record.id)
    out.result(record, [f"the set {record.name!r} is gone, with all its verdicts"])
    return 0
