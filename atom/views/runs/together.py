"""Runs: how the processes at a run share samples, calls at once and money, in words."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

from atom.display import numbers
from atom.display.numbers import money
from atom.records import Endpoint, Run
from atom.store import Store
from atom.store.team.budgets import RemainingBudget, what_is_left
from atom.store.together.quotas import QuotaShare, shared_by, slots_in_use

_HERE = "on this computer"


def sharing_now(store: Store, run: Run, endpoints: Mapping[str, Endpoint]) -> tuple[str, ...]:
    """Say how a run that works and others share what there is, as the store knows it now."""
    return (
        *sharing_words(run, shared_by(store, run.id), endpoints),
        *left_words(what_is_left(store)),
    )


def sharing_words(
    run: Run, shared: QuotaShare, endpoints: Mapping[str, Endpoint]
) -> tuple[str, ...]:
    """Say who works at a run, what of the endpoints is in use, and what money is left.

    Args:
        shared: how it is shared, see `shared_by`.
        endpoints: endpoints by name, for what they allow.

    Returns:
        Short phrases; none where one process works without others and without a budget.
    """
    words = _who(shared) + _silent(shared.silent)
    several = len(shared.samples) > 1
    words += _at_once(
        {
            name: (slots, shared.elsewhere.get(name, 0))
            for name, slots in shared.slots.items()
            if several or shared.elsewhere.get(name, 0)
        },
        endpoints,
    )
    if run.budget is not None:
        left = run.budget - run.cost
        words.append(f"{_left(left)} of the run’s {money(run.budget)}")
        held = 0.0 if shared.money is None else round(min(shared.money - run.cost, left), 6)
        if held > 0:
            words[-1] += f", {money(held)} of that in hand for calls"
    return tuple(words)


def _who(shared: QuotaShare) -> list[str]:
    """Say who works at a run, and where; nothing of one process on this computer."""
    where = _where(shared.machines)
    if len(shared.samples) < 2:
        return [where] if where and where != _HERE else []
    at_work = [f"{count:,}" for count in shared.samples if count]
    idle = len(shared.samples) - len(at_work)
    words = f"{len(shared.samples):,} processes {where}".rstrip()
    words += f", with {' + '.join(at_work) or 'no'} samples in hand"
    if at_work and idle:
        words += f" ({idle:,} of them {'has' if idle == 1 else 'have'} none just now)"
    return [words]


def _silent(samples: Sequence[int]) -> list[str]:
    if not samples:
        return []
    one = len(samples) == 1
    words = f"{len(samples):,} more {'gives' if one else 'give'} no sign of life"
    if sum(samples):
        held = numbers.count(sum(samples), "sample")
        words += f" ({'its' if one else 'their'} {held} will go to the others within a minute)"
    return [words]


def _where(machines: Sequence[str]) -> str:
    if len(machines) > 1:
        return f"on {len(machines):,} machines ({', '.join(machines)})"
    return "".join(_HERE if one == socket.gethostname() else f"on {one}" for one in machines)


def left_words(left: RemainingBudget) -> tuple[str, ...]:
    """Say what whoever looks may still spend this month; nothing where there is no limit."""
    if left.usd is None or left.of is None:
        return ()
    return (f"{_left(left.usd)} of {left.whose} {money(left.of)} this month",)


def all_runs_now(
    store: Store, at_work: Sequence[Run], endpoints: Mapping[str, Endpoint]
) -> tuple[str, ...]:
    """Say what all runs that work in a store use together.

    Args:
        at_work: the runs that work, of all studies.
        endpoints: endpoints by name, for what they allow.

    Returns:
        Short phrases; none where fewer than two work.
    """
    if len(at_work) < 2:
        return ()
    words = [f"{len(at_work):,} runs work"]
    words += _at_once({name: (slots, 0) for name, slots in slots_in_use(store).items()}, endpoints)
    promised = [run.budget - run.cost for run in at_work if run.budget is not None]
    if promised:
        some = "" if len(promised) == len(at_work) else f" by the {len(promised):,} with a budget"
        words.append(f"{money(max(0.0, sum(promised)))} may still be spent{some}")
    return (*words, *left_words(what_is_left(store)))


def _at_once(used: Mapping[str, tuple[int, int]], endpoints: Mapping[str, Endpoint]) -> list[str]:
    """Say how many calls at once may be made at each endpoint, and how many others may make."""
    said = []
    for name, (slots, other) in used.items():
        most = endpoints[name].concurrency if name in endpoints else slots + other
        said.append(
            f"{slots:,} of {most:,} at {name}" + (f" ({other:,} with other runs)" if other else "")
        )
    return [f"calls at once: {', '.join(said)}"] if said else []


def _left(usd: float) -> str:
    return f"{money(usd)} left" if usd > 0 else "nothing left"
