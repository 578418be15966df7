"""`run settle`: judge in looks of growing size, and stop when the question is settled."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from atom.analysis.capability.diagnosis import CONFIRMED
from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.running.carry_out import begin, do_here
from atom.cli.running.options import settle_options
from atom.display import numbers
from atom.display.numbers import money
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.looks.planning import NextLook, SettleSpec, plan_look
from atom.store import Store, find_study, study_candidates
from taxonomy import format_path

ABOUT = (
    "Mark answers in looks of growing size, where they may settle the question, and stop when it "
    "is settled: who leads, which weaknesses there are, or every capability to within so many "
    "points. Without --go the next look is only shown, with its price; `run start --settle` and "
    "`run batch run --settle` carry out one look."
)


def add_settle(verbs: Any) -> None:
    """Declare `run settle`."""
    one = verbs.add_parser(
        "settle", parents=[common()], help="judge in looks until a question is settled",
        description=ABOUT,
    )  # fmt: skip
    one.add_argument("--study", required=True, help="name or id")
    one.add_argument("--judge", metavar="ENDPOINT", help="the judge; the study's own when left out")
    one.add_argument("--goal", choices=("leader", "weaknesses", "nodes"), default="weaknesses")
    settle_options(one)
    one.add_argument("--go", action="store_true", help="carry looks out until it is settled")
    one.add_argument("--yes", action="store_true", help="agree that data goes to the hosts named")
    one.set_defaults(call=settle, detach=False)


def settle(args: argparse.Namespace, out: Output) -> int:
    """Show the next look, or carry looks out."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        endpoints = known_endpoints(settings)
        spec = SettleSpec(
            study_id=find_study(store, args.study).id,
            goal=args.goal,
            within=args.within,
            calls=args.calls,
            judge=args.judge,
        )
        now = plan_look(store, spec, endpoints)
        while args.go and now.spec is not None:
            out.problem(f"Look {now.number}: {_price(now)}")
            row = begin(store, now.spec, settings, args, out, owner_id=spec.study_id)
            assert row is not None
            ended = do_here(store, settings, row.id, out, retry_failed=False)
            if ended.state != "done" or ended.failed == ended.done:
                out.problem(f"Look {now.number} ended early: {ended.message or ended.state}.")
                now = replace(plan_look(store, spec, endpoints), spec=None, why=ended.message)
                break
            now = plan_look(store, spec, endpoints)
        out.result(_said(now), _lines(store, spec.study_id, now))
        return 0


def _price(now: NextLook) -> str:
    assert now.forecast is not None
    return f"{now.sizes[0]:,} answers, {now.forecast.calls:,} calls, {money(now.forecast.cost)}"


def _said(now: NextLook) -> dict[str, object]:
    standing, pool = now.standing, now.pool
    found: list[dict[str, object]] = []
    models: list[dict[str, object]] = []
    if standing is not None:
        models = [
            {"model": name, "score": 100 * float(standing.overall[at]),
             "low": 100 * float(standing.overall_lo[at]),
             "high": 100 * float(standing.overall_hi[at])}
            for at, name in enumerate(pool.model_ids)
        ]  # fmt: skip
        found = [
            {"model": pool.model_ids[model], "node": format_path(pool.leaves[node]),
             "effect": 100 * float(standing.effect[model, node]),
             "low": 100 * float(standing.effect_lo[model, node]),
             "high": 100 * float(standing.effect_hi[model, node])}
            for model, node in zip(*(standing.label == CONFIRMED).nonzero(), strict=True)
        ]  # fmt: skip
    return {
        "settled": now.settled,
        "why": now.why,
        "look": now.number,
        "answers": now.spent,
        "answers_in_all": int(pool.there.sum()),
        "budget": now.budget,
        "open": now.open,
        "looks_to_come": list(now.sizes),
        "calls": now.forecast.calls if now.forecast else 0,
        "cost": now.forecast.cost if now.forecast else 0.0,
        "models": models,
        "confirmed": found,
        "reasons": [
            {"model": one.model_id, "node": format_path(one.node) if one.node else "",
             "label": one.label, "need": one.need, "answers": one.answers}
            for one in now.reasons
        ],
    }  # fmt: skip


def _lines(store: Store, study_id: str, now: NextLook) -> list[str]:
    name = {one.id: one.name for one in study_candidates(store, study_id)}
    standing = now.standing
    lines = [
        f"{now.spent:,} of {int(now.pool.there.sum()):,} answers are marked; budget {now.budget:,}",
        now.why,
    ]
    if standing is not None:
        end = "" if now.spent >= int(now.pool.there.sum()) else " (early look: holds at every look)"
        order = (-standing.overall).argsort()
        lines.append(f"scores, 0-100{end}:")
        lines += [
            f"  {name[now.pool.model_ids[at]]}: {100 * standing.overall[at]:.1f} "
            f"[{100 * standing.overall_lo[at]:.1f}, {100 * standing.overall_hi[at]:.1f}]"
            for at in order
        ]
        found = list(zip(*(standing.label == CONFIRMED).nonzero(), strict=True))
        lines.append(f"confirmed weaknesses{end}: {len(found)}; still open: {now.open:,}")
        lines += [
            f"  {name[now.pool.model_ids[k]]}: {format_path(now.pool.leaves[node])} "
            f"{numbers.points(float(standing.effect[k, node]))}"
            for k, node in found
        ]
    if now.forecast is not None:
        lines.append(f"look {now.number}: {_price(now)}; answers by look to come: "
                     f"{', '.join(f'{size:,}' for size in now.sizes)}")  # fmt: skip
        lines += [
            f"  {one.answers:,} answers of {name[one.model_id]}"
            + (f" at {format_path(one.node)} ({one.label})" if one.node else "")
            for one in now.reasons
        ]
    return lines
