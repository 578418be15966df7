"""`probe make|serve`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, bar
from atom.engine.demo import add_probes
from atom.engine.imports.importing import study_for
from atom.errors import UsageError
from atom.files import new_folder, stream, write_file
from atom.probes.worlds.make import FAMILIES, ProbeSample, make_probes
from atom.store import Store, study_places


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("make", parents=[common()], help="draw fresh probes")
    one.add_argument("--samples", type=int, default=20, metavar="N", help="how many (20)")
    one.add_argument("--seed", type=int, metavar="S", help="the time of day when left out")
    one.add_argument("--families", metavar="A,B", help=f"of {', '.join(FAMILIES)}; all: left out")
    one.add_argument(
        "--stated",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share whose question states the answer, for the blind control to find",
    )
    place = one.add_mutually_exclusive_group(required=True)
    place.add_argument("--study", help="into a new study of this name")
    place.add_argument("--output", metavar="DIR", help="as PNG files with questions.jsonl")
    one.set_defaults(call=make)

    one = verbs.add_parser("serve", parents=[common()], help="the probe endpoint as a server")
    one.add_argument("--host", default="127.0.0.1", help="127.0.0.1 unless others may ask")
    one.add_argument("--port", type=int, default=0, help="a free one when left out")
    one.add_argument("--config", metavar="FILE", help="world, latency and faults, as YAML")
    one.set_defaults(call=serve)


def make(args: argparse.Namespace, out: Output) -> int:
    """Draw fresh probes."""
    if args.samples < 1:
        raise UsageError(f"{args.samples:,} samples: at least 1 is needed")
    if not 0 <= args.stated <= 1 or (args.stated and args.output):
        raise UsageError(
            f"--stated is {args.stated}: it is a share from 0 to 1, and goes with --study"
        )
    moment = datetime.now(UTC)
    seed = int(moment.timestamp()) if args.seed is None else args.seed
    if seed < 0:
        raise UsageError(f"the seed is {seed}: 0 or more is needed")
    probes = make_probes(args.samples, seed, mix=_mix(args.families))
    if args.output:
        count = _write_files(Path(args.output), probes)
        place = args.output
    else:
        count, place = _into_study(args, out, probes, seed, moment), f"study {args.study!r}"
    out.result(
        {"samples": count, "seed": seed, "place": place, "synthetic": True},
        [f"{count} probes with seed {seed} in {place}; SYNTHETIC"],
    )
    return 0


def _mix(families: str | None) -> Mapping[str, int] | None:
    names = names_of(families)
    wrong = [name for name in names if name not in FAMILIES]
    if wrong:
        raise UsageError(f"{wrong[0]!r} isn't a family; families are {', '.join(FAMILIES)}")
    return dict.fromkeys(names, 1) if names else None


def _into_study(
    args: argparse.Namespace,
    out: Output,
    probes: Iterator[ProbeSample],
    seed: int,
    moment: datetime,
) -> int:
    line = out.progress()
    created = moment.isoformat(timespec="milliseconds")
    with Store.open(settings_of(args).store) as store:
        study = study_for(store, args.study, created, synthetic=True)
        if study_places(store, study.id):
            raise UsageError(f"the study {study.name!r} holds samples already: name a new one")
        try:
            return add_probes(
                store,
                study,
                probes,
                seed,
                total=args.samples,
                stated=args.stated,
                tell=lambda what, done, total: line.show(
                    f"{what} {bar(done, total)} {done}/{total}"
                ),
            )
        finally:
            line.end()


def _write_files(folder: Path, probes: Iterator[ProbeSample]) -> int:
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{str(folder)!r} isn't empty: name a new folder")
    with new_folder(folder, empty=True) as part:
        lines = [json.dumps(_probe_row(part, probe), ensure_ascii=False) for probe in probes]
        write_file(part / "questions.jsonl", "".join(f"{line}\n" for line in lines))
    return len(lines)


def _probe_row(folder: Path, probe: ProbeSample) -> dict[str, object]:
    """Write a probe's pictures; return its line."""
    program = probe.program
    names = []
    for number, data in enumerate(probe.pictures, start=1):
        names.append(f"{program.index:05d}-{program.family}-{number}.png")
        with stream(folder / names[-1]) as file:
            file.write(data)
    return {
        "id": f"{program.family}/{program.seed}/{program.index:05d}",
        "question": program.question,
        "choices": list(program.choices),
        "answer": program.answer,
        "images": names,
        "family": program.family,
        "template": program.template,
    }


def serve(args: argparse.Namespace, out: Output) -> int:
    """Serve the probe endpoint until interrupted."""
    from atom.probes.serving.batches import BatchEndpoint
    from atom.probes.serving.config import ProbeConfig, load_config
    from atom.probes.serving.server import serve as run_server

    config = load_config(Path(args.config)) if args.config else ProbeConfig()
    endpoint = BatchEndpoint(config)

    def ready(url: str) -> None:
        out.result(
            {"base_url": f"probe:{url}", "url": url, "models": list(endpoint.models)},
            [
                f"the probe endpoint listens at {url}",
                f"in endpoints.yaml: base_url: probe:{url}",
                f"models: {', '.join(endpoint.models)}",
            ],
        )

    run_server(args.host, args.port, endpoint, ready=ready)
    return 0
