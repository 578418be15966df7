"""Asking weak judges for hard pairs: who, how often, which pairs, and for how much."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from atom.engine.pairs.asking import BY_WORDS, PairsSpec, forecast_pairs
from atom.records import Endpoint, content_id
from atom.ui import kit, work
from atom.ui.shell.frame import Here

SENT = "Both answers of each pair, with the question and its pictures."
_USUAL = 60


def draw(here: Here, fault: str) -> None:
    """Draw the form.

    Args:
        fault: where an error's words are put in the session's state.
    """
    endpoints = work.endpoints_or_none("hard_endpoints", here.filters)
    if endpoints is None:
        return
    spec = _spec(here, endpoints)
    if spec is None:
        return
    key = content_id("hard pairs", repr(spec), here.data.revision, here.store.url)
    found = work.forecasted(
        "hard pairs", key, lambda: forecast_pairs(here.store, spec, endpoints), "hard_forecast"
    )
    if found is not None:
        kit.show(kit.facts(found.facts), key="hard_forecast")
    names = (*spec.weak, *((spec.strong,) if spec.strong else ()))
    work.start_button(
        here, "Ask the weak judges", spec, [endpoints[name] for name in names], key="hard_start",
        sent=SENT, fault=fault, then={"tab": "pairs"}, primary=True,
        disabled=found is None or not found.calls + found.later,
    )  # fmt: skip


def _spec(here: Here, endpoints: Mapping[str, Endpoint]) -> PairsSpec | None:
    judges = [name for name, one in endpoints.items() if "judge" in one.roles]
    probes = here.entry.study.synthetic
    first = [name for name in ("probe-judge-noisy", "probe-judge-coin") if name in judges]
    weak = st.multiselect(
        "Weak judges", judges, default=first if probes else [], key="hard_weak",
        help="Small models: what they fail at is looked for.",
    )  # fmt: skip
    left, middle, right = st.columns([2, 1, 1])
    with left:
        others = [name for name in judges if name not in weak]
        usual = "probe-judge" if probes and "probe-judge" in others else None
        strong = st.selectbox(
            "A strong judge confirms", others, key="hard_strong", placeholder="nobody: people do",
            index=others.index(usual) if usual else None,
        )  # fmt: skip
    with middle:
        votes = st.number_input("Votes of each, in each order", 1, 20, 3, key="hard_votes")
    with right:
        most = max(len(weak), 1)
        fail = st.number_input("Hard where so many fail", 1, most, most, key=f"hard_fail_{most}")
    left, middle, right = st.columns([2, 1, 1])
    with left:
        by = st.multiselect(
            "What says which answer is better", list(BY_WORDS), default=list(BY_WORDS),
            key="hard_by", format_func=lambda name: BY_WORDS[name],
        )  # fmt: skip
    with middle:
        limit = st.number_input("Pairs, at random", 1, 1_000_000, _USUAL, step=10, key="hard_limit")
    with right:
        budget = st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, None, step=1.0,
                                 placeholder="no cap", key="hard_budget")  # fmt: skip
    missing = (
        "Choose weak judges." if not weak else "Say what tells the better answer." if not by else ""
    )
    if missing:
        kit.show(kit.notice(missing), key="hard_missing")
        return None
    return PairsSpec(
        study_id=here.entry.study.id, weak=tuple(weak), strong=strong, votes=int(votes),
        fail=int(fail), by=tuple(name for name in BY_WORDS if name in by), limit=int(limit),
        budget=budget,
    )  # fmt: skip
