"""Runs: how the processes at a run share samples, calls at once and money, in words."""

from __future__ import annotations

from collections.abc import Mapping

from atom.records import Endpoint, Run
from atom.store import Store
from atom.store.together.quotas import Shared, shared_by
from atom.views.runs.page import money


def sharing_now(store: Store, run: Run, endpoints: Mapping[str, Endpoint]) -> tuple[str, ...]:
    """Say how a run that works and others share what there is, as the store knows it now."""
    return sharing_words(run, shared_by(store, run.id), endpoints)


def sharing_words(run: Run, shared: Shared, endpoints: Mapping[str, Endpoint]) -> tuple[str, ...]:
    """Say who works at a run and what of the endpoints and its budget is in use.

    Args:
        run: its row.
        shared: how it is shared, see `shared_by`.
        endpoints: endpoints by name, for what they allow.

    Returns:
        Short phrases; none where one process works without others.
    """
    words = []
    if len(shared.samples) > 1:
        hands = ", ".join(f"{count:,}" for count in shared.samples)
        words.append(f"{len(shared.samples)} processes with {hands} samples in hand")
    if len(shared.machines) > 1:
        words.append(f"on {len(shared.machines)} machines: {', '.join(shared.machines)}")
    for name, slots in shared.slots.items():
        other = shared.elsewhere.get(name, 0)
        if len(shared.samples) > 1 or other:
            most = endpoints[name].concurrency if name in endpoints else slots + other
            beside = f", {other} with other runs" if other else ""
            words.append(f"{slots} of {most} calls at once at {name}{beside}")
    if shared.money is not None and run.budget is not None:
        left = max(0.0, run.budget - shared.money)
        words.append(f"{money(left)} of the {money(run.budget)} not taken by a process yet")
    return tuple(words)
