"""`profile show`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict

from atom.cli.parts.options import add_reading, common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.sources import open_study
from atom.display import numbers, writers
from atom.reports.profile import UNITS, Profile, find_model, known_facet, node_table, profile
from atom.views.filters import Filters
from atom.views.level_shares import LevelShares, level_shares
from atom.views.overview.weakness_words import effect_words, frame_words, more_words
from atom.views.overview.weaknesses import leading
from atom.views.reading import READINGS
from atom.views.study_data import load_study
from taxonomy import format_path


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "show", parents=[common()], help="score, rank, every capability, weaknesses, luck"
    )
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--model", required=True, metavar="M", help="name or id")
    one.add_argument("--facet", metavar="F", help="labels to look at in place of capabilities")
    add_reading(one)
    one.set_defaults(call=show)


def show(args: argparse.Namespace, out: Output) -> int:
    """Show one model's profile."""
    with open_study(settings_of(args), args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        model = find_model(data, args.model)
        filters = Filters(study=key, reading=args.reading)
        found = profile(data, filters, model, facet=known_facet(data, args.facet))
        levels = level_shares(data, filters)
    said = _data(found)
    if found.row.n_aside:
        said["not_applicable"] = found.row.n_aside
    if levels:
        said["levels"] = [_levels(one, found.row.colour) for one in levels]
    out.result(said, _lines(found, synthetic=data.study.synthetic) + _level_lines(levels, found))
    return 0


def _levels(one: LevelShares, model: int) -> dict[str, object]:
    """Return a model's share of marks at or above each level of an ordinal scale."""
    mine = next((row for row in one.models if row.colour == model), None)
    shares = {} if mine is None else dict(zip(one.levels, mine.shares, strict=True))
    return {"scale": one.scale, "n": 0 if mine is None else mine.n, "at_or_above": shares}


def _level_lines(scales: Sequence[LevelShares], found: Profile) -> list[str]:
    """Say what an ordinal scale can say without a mean."""
    lines = []
    for one in scales:
        for row in one.models:
            if row.colour == found.row.colour:
                shares = ", ".join(
                    f"{word} or better {numbers.in_percent(share)}"
                    for word, share in zip(one.levels, row.shares, strict=True)
                )
                lines.append(
                    f"{one.scale} (levels of unknown distance): {shares}; n {row.n:,} marks"
                )
    return ["", *lines] if lines else []


def _data(found: Profile) -> dict[str, object]:
    row = found.row
    return {
        "model": row.name,
        "model_id": row.model_id,
        "measure": found.measure,
        "reading": found.reading,
        "steps_said": _finite(row.said),
        "terse": row.terse,
        "carried": row.carried,
        "score": row.score.document,
        "rank_best": row.rank_best or None,
        "rank_worst": row.rank_worst or None,
        "models": found.models,
        "right": row.right.document,
        "right_of_given": row.given.document,
        "withheld": dict(row.accuracy.withheld),
        "hit_all": _finite(row.hit_all),
        "hit_clusters": row.hit_clusters,
        "lucky": found.lucky,
        "right_answers": found.right,
        "unscored": row.n_unscored,
        "judges_differ": None
        if row.judges is None or not row.judges.n
        else {
            "share": row.judges.share,
            "disagreement": row.judges.disagreement,
            "n": row.judges.n,
        },
        "frame": found.looked.frame if found.looked else None,
        "facet": found.facet,
        "tested": found.tested,
        "nodes": [
            {**shown, "left_out": asdict(node.left_out)}
            for node, shown in zip(found.nodes, node_table(found).documents, strict=True)
        ],
        "weaknesses": [
            {
                "status": item.status,
                "name": item.name,
                "path": format_path(item.path),
                "label": item.label,
                "frame": item.frame,
                "effect": _finite(item.effect),
                "lo": _finite(item.lo),
                "hi": _finite(item.hi),
                "n": item.n,
                "samples": item.samples,
                "left_out": asdict(item.left_out),
                "more_samples": _finite(item.more_samples),
                "p_adjusted": _finite(item.p_adjusted),
            }
            for item in found.weaknesses
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _lines(found: Profile, *, synthetic: bool) -> list[str]:
    row = found.row
    badge = "   SYNTHETIC" if synthetic else ""
    lines = [f"{row.name}{badge}", ""]
    reading = f" ({READINGS[found.reading]})" if found.measure == "process" else ""
    lines.append(
        f"{UNITS[found.measure]}{reading}: {row.score}, n {numbers.count(row.score.n, 'answer')}"
    )
    if row.rank_best:
        ranks = str(row.rank_best)
        ranks += f"-{row.rank_worst}" if row.rank_worst != row.rank_best else ""
        lines.append(f"rank: {ranks} of {found.models:,}")
    if row.right.known and (found.measure == "process" or row.accuracy.withheld):
        lines.append(
            f"right of all asked, %: {row.right}, n {numbers.count(row.right.n, 'answer')}"
        )
    if row.accuracy.withheld:
        lines.append(
            f"right of answers given, %: {row.given}, n {numbers.count(row.given.n, 'answer')}"
        )
        lines.append(f"not given: {row.accuracy.words}")
    if found.lucky is not None:
        lines.append(
            f"right answer, wrong reason: {found.lucky:,} of {found.right:,} right answers"
        )
    if found.measure == "process":
        lines += _said_lines(found)
    if row.hit_clusters:
        lines.append(
            f"right every time that a question is asked, %: {row.hit_all:.1f}, "
            f"n {row.hit_clusters:,} questions"
        )
    if row.judges is not None and row.judges.n:
        lines.append(
            f"judges differ on {numbers.in_percent(row.judges.share)} of "
            f"{numbers.count(row.judges.n, 'checkpoint')}; disagreement "
            f"{row.judges.disagreement:.1f} points (standard deviation over judges, as they mark)"
        )
    if row.n_unscored:
        lines.append(f"unscored: {row.n_unscored:,} checkpoints, counted nowhere")
    if row.n_aside:
        lines.append(f"not applicable: {row.n_aside:,} marks, in no mean")
    lines += ["", *_weakness_lines(found)]
    return [*lines, "", *writers.lines(node_table(found))]


def _said_lines(found: Profile) -> list[str]:
    """Say how much the answers say, where there is anything to say about it."""
    row, lines = found.row, []
    if row.said < 100:
        lines.append(f"steps said anything about: {numbers.in_percent(row.said)}")
    if row.terse:
        lines.append(f"terse: {row.terse:,} answers, accused of nothing")
    if row.carried:
        lines.append(f"carried: {row.carried:,} checkpoints, in no capability's mean")
    return lines


def _weakness_lines(found: Profile) -> list[str]:
    if found.looked is not None and not found.tested:
        return [
            "weaknesses: insufficient; nothing could be tested, for want of five samples and five "
            "results in any one place"
        ]
    if found.looked is None:
        return ["weaknesses: nothing to look at (no criteria and no labels)"]
    told = leading(found.weaknesses)
    lines = [f"weaknesses ({frame_words(found.looked)}):"]
    for item in told:
        more = more_words(item)
        glyph = "▼" if item.status == "confirmed" else "▽"
        lines.append(
            f"  {glyph} {item.name}: {effect_words(item)}; n {item.n:,} on {item.samples:,} samples"
            f"{f'; not counted: {item.left_out.words}' if item.left_out.words else ''}"
            f"{f'; {more}' if more else ''}"
        )
    strong = [item for item in found.weaknesses if item.status == "strength"]
    lines += [f"  ▲ {item.name}: {effect_words(item)}; n {item.n}" for item in strong]
    return lines if len(lines) > 1 else [*lines, "  · nothing found"]
