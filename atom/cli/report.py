"""`report write`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from atom.cli.parts.options import add_reading, common, settings_of
from atom.cli.parts.output import Output, bar
from atom.cli.parts.sources import open_study
from atom.display.numbers import money
from atom.engine.consent import give_consent
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.members import pick_endpoint
from atom.errors import PlaceError, UsageError
from atom.files import write_file
from atom.records import Endpoint, Study
from atom.reports import (
    Brief,
    Format,
    Report,
    ReportDraft,
    ReportSpec,
    briefs,
    consent_question,
    price,
    render,
    write,
)
from atom.reports.pdf_file import to_pdf
from atom.reports.profile import find_model, known_facet
from atom.store import Store, find_study
from atom.views.filters import Filters
from atom.views.study_data import load_study

PDF = "pdf"


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "write", parents=[common()], help="one file: findings, text, figures, cases"
    )
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument(
        "--model", action="append", metavar="M", help="a model with a section; all if left out"
    )
    one.add_argument("--facet", metavar="F", help="labels to look at in place of those chosen")
    add_reading(one)
    one.add_argument("--format", choices=[*get_args(Format), PDF], default="html")
    one.add_argument("--judge", metavar="ENDPOINT", help="who writes; by rule if left out")
    one.add_argument("--budget", type=float, metavar="USD", help="the judge may cost no more")
    one.add_argument("--cases", type=int, default=3, metavar="N", help="cases shown of a model (3)")
    one.add_argument("--out", type=Path, metavar="FILE", help="where it goes; else to the screen")
    one.add_argument("--replace", action="store_true", help="write over a file that is there")
    one.add_argument("--base", default="", metavar="URL", help="the app's address, for links")
    one.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn at random")
    one.add_argument("--yes", action="store_true", help="agree to the price and to sending data")
    one.set_defaults(call=run)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write a report."""
    settings = settings_of(args)
    if not 0 <= args.cases <= 10:
        raise UsageError(f"{args.cases:,} cases: 0 to 10 are allowed")
    if args.format == PDF and args.out is None:
        raise UsageError("a PDF isn't for the screen: name a file with --out")
    if args.out is not None and args.out.exists() and not args.replace:
        raise PlaceError(f"{str(args.out)!r} is there already: name a new file, or say --replace")
    if args.out is not None and not args.out.parent.is_dir():
        raise PlaceError(f"{str(args.out)!r} can't be written: there is no such folder")
    with open_study(settings, args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        wanted = None
        if args.model:
            wanted = tuple(find_model(data, name) for name in args.model)
        facet = known_facet(data, args.facet)
        filters = Filters(study=key, reading=args.reading)
        draft = ReportDraft.of(store, data, filters, seed=args.seed, facet=facet)
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        report = draft.report(
            ReportSpec(models=wanted, cases=args.cases, seed=args.seed, made=made)
        )
        if args.judge:
            judged = briefs(report, draft.look)
            endpoint = pick_endpoint(known_endpoints(settings), args.judge, "judge")
            report = _written(store, data.study, report, judged, endpoint, args, out)
        form: Format = "html" if args.format == PDF else args.format
        text = render(store, report, form, base=args.base)
    return _deliver(report, to_pdf(text) if args.format == PDF else text, args, out)


def _written(
    store: Store,
    study: Study,
    report: Report,
    judged: Sequence[Brief],
    endpoint: Endpoint,
    args: argparse.Namespace,
    out: Output,
) -> Report:
    """Let the judge write, after the price and the agreement."""
    expected = price(store, study, endpoint, judged)
    out.problem(
        f"{endpoint.name} writes {expected.sections:,} sections: {expected.calls:,} calls, about "
        f"{expected.tokens:,} tokens, {money(expected.cost)}"
    )
    question = consent_question(study, endpoint, len(judged))
    if question is not None:
        out.problem(f"{question.sentence}.")
    dear = expected.calls and (expected.cost is None or expected.cost > 0)
    if (question is not None or dear) and not args.yes and not out.ask("Go on?"):
        raise UsageError("nothing was sent: agree with --yes, or leave --judge")
    if question is not None and not store.read_only:
        give_consent(store, study.id, [question.host])
        study = find_study(store, study.id)
    line = out.progress()
    try:
        return asyncio.run(
            write(
                store,
                study,
                report,
                judged,
                endpoint,
                budget=args.budget,
                agreed=[question.host] if question is not None else (),
                on_section=lambda done, total: line.show(f"{bar(done, total)} {done}/{total}"),
            )
        )
    finally:
        line.end()


def _deliver(report: Report, text: str | bytes, args: argparse.Namespace, out: Output) -> int:
    summary = {
        "study": report.study,
        "format": args.format,
        "sections": len(report.sections),
        "findings": len(report.findings),
        "told": len(report.told),
        "written_by": report.written_by or "rules",
        "unverified": report.unverified,
        "by_rule_after_all": [s.title for s in report.sections if s.note],
        "file": str(args.out) if args.out else None,
        "bytes": len(text if isinstance(text, bytes) else text.encode()),
    }
    if args.out is None:
        assert isinstance(text, str)
        if args.json:
            summary["text"] = text
        out.result(summary, [text])
        return 0
    write_file(args.out, text, replace=args.replace)
    lines = [
        f"{args.out}: {len(report.told):,} of {len(report.findings):,} findings told in "
        f"{len(report.sections):,} sections, {summary['bytes']:,} bytes"
    ]
    if report.written_by:
        lines.append(
            f"written by {report.written_by}; {report.unverified:,} numbers or names in its text "
            "are marked as unverified"
        )
    lines += [f"{s.title}: {s.note}" for s in report.sections if s.note]
    out.result(summary, lines)
    return 0
