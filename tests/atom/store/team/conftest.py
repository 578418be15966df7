"""A deployment's store with three people in it, on each kind of database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from atom.access import Person, Policy, acting_as, install
from atom.store import Store
from atom.store.team.people import sign_in
from tests.factories import make_study

VERA, ANNA, ADA = "idp#1", "idp#2", "idp#3"

NAMES = {VERA: "Vera", ANNA: "Anna", ADA: "Ada"}


@pytest.fixture
def team(location) -> Iterator[Store]:
    """Return a store with the small study, a viewer, an analyst and an admin."""
    with Store.open(location) as store:
        make_study(store)
    install(
        Policy(
            place=location,
            key_variables=("ATOM_KEY_*",),
            endpoint_hosts=("*.internal",),
            budgets={"analyst": 5.0, "deployment": 8.0},
        )
    )
    with Store.open(location) as store:
        sign_in(store, VERA, "Vera", "v@x", role="viewer", issued=1)
        sign_in(store, ANNA, "Anna", "a@x", role="analyst", issued=1)
        sign_in(store, ADA, "Ada", "d@x", role="admin", issued=1)
        yield store
    install(None)


@pytest.fixture
def as_() -> Callable[[str], AbstractContextManager[None]]:
    """Return what lets a person act; what they claim of their role isn't asked."""

    def as_(who: str) -> AbstractContextManager[None]:
        return acting_as(Person(id=who, name=NAMES.get(who, "Zoe"), role=None))

    return as_
