"""What `judge` says of benchmarks, sets, judges and published figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from atom.cli.parts.output import Output, table
from atom.cli.results.plain import plain
from atom.display import writers
from atom.judgebench.base import BenchResult, MetricRow
from atom.judgebench.published import PrintedPlace
from atom.judgebench.words import count
from atom.records import BenchSet, Verdict
from atom.store import Store
from atom.store import table as columns_of
from atom.views.judges.figures import chance, estimate, of_result, of_table
from atom.views.lab.page import SetProgress, bench_result, places, standings

MOST_LINES = 12


def say_left_out(notes: Sequence[str], skipped: Sequence[str], out: Output) -> None:
    """Say what was left out, and what is to be known, beside the result."""
    for line in (*notes, *skipped[:MOST_LINES]):
        out.problem(line)
    if len(skipped) > MOST_LINES:
        out.problem(f"and {len(skipped) - MOST_LINES:,} more were left out")


def tell_of_judge(store: Store, record: BenchSet, judge: str, out: Output) -> int:
    """Write one judge's figures, and where it would stand among the papers' models.

    Returns:
        1 if it was asked and nothing came of it, else 0.
    """
    standing = next((one for one in standings(store, record.id) if one.judge == judge), None)
    result = bench_result(store, record.id, judge)
    among = places(record.benchmark, result)
    failed = failed_lines(store, record.id, standing) if standing else []
    nothing = standing is not None and not standing.scored + standing.unscored
    document = {
        "set": set_document(record),
        "judge": standing.name if standing else judge,
        "judge_id": judge,
        "failed": standing.failed if standing else 0,
        **plain(result),
        "published": [place_document(one, placed=not record.synthetic) for one in among],
    }
    figures = [*_result_lines(result), *_place_lines(among, record.synthetic)]
    out.result(document, failed if nothing else [*figures, *failed])
    return 1 if nothing else 0


def failed_lines(store: Store, set_id: str, standing: SetProgress) -> list[str]:
    """Say which questions to a judge failed, why most often, and what to do."""
    if not standing.failed:
        return []
    columns = columns_of(Verdict).c
    rows = store.select(
        Verdict,
        columns.group == set_id,
        columns.judge == standing.judge,
        columns.state == "failed",
    )
    why = Counter(row.detail for row in rows if row.detail).most_common(1)
    asked = standing.scored + standing.unscored + standing.failed
    lines = [f"{standing.failed:,} of {count(asked, 'question')} to {standing.name} failed"]
    if standing.failed == asked:
        lines[0] += ", so there are no figures"
    if why:
        lines.append(f"most often ({count(why[0][1], 'time')}): {why[0][0]}")
    return [*lines, "when that is mended, ask again with --retry-failed"]


def set_document(record: BenchSet) -> dict[str, object]:
    """Return a set as JSON has it."""
    return {
        "id": record.id,
        "name": record.name,
        "benchmark": record.benchmark,
        "items": record.n_items,
        "synthetic": record.synthetic,
        "sources": list(record.sources),
        "created": record.created,
    }


def place_document(one: PrintedPlace, *, placed: bool = True) -> dict[str, object]:
    """Return a judge's place among the models of a table, as JSON has it."""
    return {
        "figure": one.headline.label,
        "table": one.headline.table,
        "data": one.headline.data,
        "value": plain(one.ours.value) if one.ours else None,
        "place": one.rank if placed else None,
        "of": len(one.models) + (placed and one.rank is not None),
        "models": [
            {
                "model": model.model,
                "value": model.value,
                "errata": [error.words for error in model.errata],
            }
            for model in one.models
        ],
    }


def _place_lines(among: Sequence[PrintedPlace], synthetic: bool) -> list[str]:
    if not among:
        return []
    if synthetic:
        return [
            "",
            "no place among the papers' models: this set is made of probes",
        ]
    title = "among the papers' models"
    rows = [
        [one.headline.label, one.headline.table, one.headline.data, estimate(one.ours).text,
         one.rank, len(one.models) + 1]
        for one in among
        if one.ours is not None
    ]  # fmt: skip
    return ["", title, *table(("figure", "table", "data", "value", "place", "of"), rows)]


def _result_lines(result: BenchResult) -> list[str]:
    lines = [*writers.lines(of_result(result)[0]), *_notes(result.headline)]
    for part in result.tables:
        if not part.rows and not part.note:
            continue
        lines += ["", part.title, *writers.lines(of_table(part))]
        lines += _notes(part.rows)
        if part.note:
            lines.append(part.note)
    if result.missing:
        lines.append(f"without a verdict yet: {result.missing:,} of {count(result.items, 'item')}")
    return lines


def _notes(rows: Sequence[MetricRow]) -> list[str]:
    """Say what is to be known of single figures, each thing once."""
    about: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.note:
            about.setdefault(row.note, {})[row.label] = None
    lines = []
    for note, labels in about.items():
        shown = "; ".join(list(labels)[:MOST_LABELS])
        more = len(labels) - MOST_LABELS
        lines.append(f"- {shown}{f' and {more} more' if more > 0 else ''} — {note}")
    return lines


MOST_LABELS = 3


def short(row: MetricRow) -> str:
    """Return a figure in one short text."""
    level = "" if math.isnan(row.chance) else f"chance {chance(row)}"
    about = "; ".join(part for part in (row.rule, level) if part)
    group = f", {row.group}," if row.group else ""
    unit = " %" if row.unit == "percent" else " points" if row.unit == "points" else ""
    return f"{row.label}{group} {estimate(row).text}{unit}" + (f" ({about})" if about else "")
