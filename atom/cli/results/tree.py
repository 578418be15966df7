"""What `tree` says of growing, validity, rival trees and differences."""

from __future__ import annotations

import math
from dataclasses import asdict

from atom.analysis.capability.validity import LeafHomogeneity
from atom.cli.parts.output import table
from atom.display import numbers
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.induction.forecast import InductionForecast
from atom.engine.induction.result import InductionResult
from atom.engine.induction.rival_maps import RivalForecast
from atom.records import Induction
from atom.settings import Settings
from atom.views.runs.page import spent_words, without_prices
from atom.views.tree.validity import RivalRow, Validity
from taxonomy import format_path
from taxonomy.compare import LeafChange, TreeDiff


def forecast_data(expected: InductionForecast) -> dict[str, object]:
    """Return a forecast as JSON has it."""
    return {
        "judge": expected.judge.name,
        "host": expected.judge.host,
        "samples": expected.samples,
        "criteria": expected.criteria,
        "mapped": expected.mapped,
        "calls": expected.calls,
        "cost": expected.cost,
        "phases": [asdict(phase) for phase in expected.phases],
    }


def induced_lines(induced: InductionResult, settings: Settings) -> list[str]:
    """Say in words what came of an induction."""
    row, run = induced.row, induced.run
    missing = without_prices([row.judge], run.cost, known_endpoints(settings)) if run.done else ()
    price = spent_words(run.cost, missing)
    if induced.version is None or induced.tree is None:
        return [f"{run.state}: {run.message}", f"{run.done:,} calls are done, {price}"]
    lines = [
        f"version {induced.version.position} ({induced.version.version}): "
        f"{len(induced.tree.leaves):,} leaves, {len(induced.log):,} edits",
        f"{induced.mapped:,} criteria are mapped, {induced.unmapped:,} aren't; "
        f"{run.done:,} calls, {price}",
    ]
    if row.unplaced:
        lines.append(f"{row.unplaced:,} criteria found no place when they were proposed")
    if row.refused:
        lines.append(f"the gate refused {len(row.refused):,} places; the first: {row.refused[0]}")
    return lines


def induced_data(induced: InductionResult) -> dict[str, object]:
    """Return what came of growing as JSON has it."""
    version = induced.version
    account = induced.run.model_dump(mode="json", include=set(Induction.retired))
    return {
        **induced.row.model_dump(mode="json"),
        **account,
        "version": version.version if version else None,
        "leaves": len(induced.tree.leaves) if induced.tree else None,
        "edits": len(induced.log),
        "mapped": induced.mapped,
        "unmapped": induced.unmapped,
    }


def validity_lines(found: Validity) -> list[str]:
    """Say in words how a tree and its rivals do."""
    verdict = found.own.verdict
    word = "valid" if verdict.valid() else "NOT shown to be valid"
    head = ("grouping", "leaves", "MAE_G", "MAE_I", "delta", "LOSO delta", "adjusted", "p")
    rows = [_validity_row(row) for row in (found.own, *found.rivals)]
    lines = [
        f"{found.own.name}: {word} (p {numbers.p_value(verdict.p)}, "
        f"{found.permutations:,} permutations, {found.scores:,} scores of "
        f"{found.samples:,} samples); "
        f"place {found.rank:,} of {1 + len(found.rivals):,} by adjusted delta",
        *table(head, rows),
        *found.left_out,
    ]
    if found.guessed:
        names = ", ".join(row.name for row in found.guessed)
        lines.append(
            f"words stand for the judge in {names}: `tree rivals` lets it map them, so that like "
            "is compared with like"
        )
    if found.stability is not None:
        s = found.stability
        lines.append(
            f"versions {s.first} and {s.second} on {s.n:,} criteria: ARI {s.ari:.3f}, "
            f"AMI {s.ami:.3f}, path credit {s.credit:.3f}"
        )
    return lines


def _validity_row(row: RivalRow) -> list[object]:
    v = row.verdict
    numbers = (v.loo.mae_global, v.loo.mae_node, v.loo.delta, v.loso.delta, v.delta_adjusted, v.p)
    return [row.name, row.leaves, *("" if math.isnan(x) else f"{x:.4f}" for x in numbers)]


def validity_data(found: Validity) -> dict[str, object]:
    """Return a tree's validity as JSON has it."""

    def errors(pair: LeafHomogeneity) -> dict[str, object]:
        numbers = {"mae_global": pair.mae_global, "mae_node": pair.mae_node, "delta": pair.delta}
        return {**{k: None if math.isnan(v) else v for k, v in numbers.items()}, "n": pair.n}

    def plain(row: RivalRow) -> dict[str, object]:
        v = row.verdict
        adjusted = None if math.isnan(v.delta_adjusted) else v.delta_adjusted
        return {
            "name": row.name,
            "leaves": row.leaves,
            "placed": row.placed,
            "loo": errors(v.loo),
            "loso": errors(v.loso),
            "delta_adjusted": adjusted,
            "p": v.p,
            "valid": v.valid(),
        }

    return {
        "own": plain(found.own),
        "rivals": [plain(row) for row in found.rivals],
        "left_out": list(found.left_out),
        "stability": None if found.stability is None else asdict(found.stability),
        "permutations": found.permutations,
        "scores": found.scores,
        "samples": found.samples,
        "rank": found.rank,
    }


def rivals_data(expected: RivalForecast) -> dict[str, object]:
    """Return rival trees as JSON has it."""
    return {
        "judge": expected.judge.name,
        "host": expected.judge.host,
        "criteria": expected.criteria,
        "calls": expected.calls,
        "tokens": expected.tokens,
        "cost": expected.cost,
        "rivals": [
            {"name": one.rival.name, "version": one.rival.version, "left": one.left,
             "calls": one.calls, "tokens": one.tokens, "cost": one.cost}
            for one in expected.rivals
        ],
    }  # fmt: skip


def diff_lines(found: TreeDiff) -> list[str]:
    """Say in words what differs between two trees."""
    rows: list[list[object]] = [["added", "", format_path(leaf), ""] for leaf in found.added]
    for kind in ("merged", "moved", "renamed"):
        changes: tuple[LeafChange, ...] = getattr(found, kind)
        rows += [[kind, format_path(c.old), format_path(c.new), c.criteria] for c in changes]
    rows += [["dropped", format_path(leaf), "", ""] for leaf in found.dropped]
    summary = f"{len(found.kept):,} leaves stayed; {found.criteria_moved:,} criteria moved"
    return [*table(("what", "before", "now", "criteria"), rows), summary] if rows else [summary]


def diff_data(found: TreeDiff) -> dict[str, object]:
    """Return a difference as JSON has it."""

    def plain(changes: tuple[LeafChange, ...]) -> list[dict[str, object]]:
        return [{"old": list(c.old), "new": list(c.new), "criteria": c.criteria} for c in changes]

    return {
        "added": [list(leaf) for leaf in found.added],
        "dropped": [list(leaf) for leaf in found.dropped],
        "renamed": plain(found.renamed),
        "moved": plain(found.moved),
        "merged": plain(found.merged),
        "kept": len(found.kept),
        "criteria_moved": found.criteria_moved,
    }
