"""What processes share: places at an endpoint, a run's money."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.store import Store
from atom.store.together.quotas import (
    MoneyAsked,
    SlotsAsked,
    fair_shares,
    keep_money,
    open_purse,
    take_money,
    take_slots,
)


@given(
    st.integers(1, 200),
    st.dictionaries(st.text("abcdef", min_size=1), st.integers(0, 300), min_size=1, max_size=6),
)
def test_shares_use_all_places_and_starve_nobody(ceiling, wants):
    shares = fair_shares(ceiling, wants)
    assert sum(shares.values()) == ceiling
    even = ceiling // len(wants)
    assert all(shares[owner] >= min(wants[owner], even) for owner in wants)


def test_who_wants_little_leaves_the_rest_to_the_others():
    # 64 for three: c gets its 4, of the 60 that are left each of the others 30.
    assert fair_shares(64, {"a": 90, "b": 50, "c": 4}) == {"a": 30, "b": 30, "c": 4}


@pytest.fixture
def ask(location):
    with Store.open(location) as store:

        def ask(owner: str, *, wants: int, in_force: int, seconds: float = 15.0) -> int:
            one = SlotsAsked(endpoint="judge", ceiling=8, wants=wants, in_force=in_force)
            return store.transact(lambda writer: take_slots(writer, owner, [one], seconds))["judge"]

        yield ask


def test_a_newcomer_waits_until_places_are_free(ask):
    assert ask("a", wants=0, in_force=0) == 8
    assert ask("b", wants=9, in_force=0) == 0  # a may have 8 calls in flight.
    assert ask("a", wants=9, in_force=8) == 4  # It is told to go down; 8 are still in flight.
    assert ask("b", wants=9, in_force=0) == 0
    assert ask("a", wants=9, in_force=6) == 4  # Two ended.
    assert ask("b", wants=9, in_force=0) == 2
    assert ask("a", wants=9, in_force=4) == 4
    assert ask("b", wants=9, in_force=2) == 4


def test_places_of_whoever_gives_no_sign_of_life_are_free_again(ask):
    assert ask("a", wants=9, in_force=0, seconds=-1.0) == 8
    assert ask("b", wants=9, in_force=0) == 8


@pytest.fixture
def purse(location):
    with Store.open(location) as store:

        class Purse:
            def open(self, spent: float) -> None:
                store.transact(lambda writer: open_purse(writer, "r", spent), alone=True)

            def take(self, owner: str, least: float, held: float = 0.0) -> float:
                asked = MoneyAsked(least=least, held=held, cap=2.0)
                return store.transact(lambda writer: take_money(writer, "r", owner, asked, 60.0))

            def keep(self, owner: str, held: float) -> bool:
                return store.transact(lambda writer: keep_money(writer, "r", owner, held, 60.0))

        yield Purse()


def test_money_is_taken_in_pieces_and_never_past_the_cap(purse):
    purse.open(1.9)
    assert purse.take("a", 0.001) == pytest.approx(0.02)  # 1 % of $2
    assert purse.take("b", 0.05) == pytest.approx(0.05)  # what it needs is more
    assert purse.take("a", 0.04, held=0.02) == 0.0  # 2 - 1.9 - 0.02 - 0.05 = 0.03
    assert purse.take("a", 0.025, held=0.02) == pytest.approx(0.025)
    assert purse.keep("b", 0.01) is False  # a may give some back, too
    assert purse.take("a", 0.045, held=0.045) == pytest.approx(0.045)
    assert purse.keep("a", 0.09) is True  # 1.9 + 0.01 + 0.09 = 2


def test_what_is_taken_twice_after_a_lost_connection_counts_once(purse):
    purse.open(0.0)
    assert purse.take("a", 1.0) == purse.take("a", 1.0) == 1.0
    assert purse.take("b", 1.0) == 1.0
    assert purse.take("c", 0.01) == 0.0


def test_the_piece_of_a_process_that_died_counts_as_spent(purse):
    purse.open(0.0)
    purse.take("dead", 1.5)
    purse.open(0.4)
    assert purse.take("a", 0.6) == 0.0
    assert purse.take("a", 0.5) == 0.5
