from hypothesis import given
from hypothesis import strategies as st

from atom.probes.draws import Draws


def test_a_draw_depends_on_its_key_alone():
    draws = Draws("a", 1)
    first = draws.uniform("x")
    draws.uniform("y")
    assert draws.uniform("x") == first == Draws("a", 1).uniform("x")
    assert Draws("a", 1).below("b").uniform("c") == Draws("a", 1, "b").uniform("c")


def test_different_keys_give_different_draws():
    draws = Draws("a")
    values = {draws.uniform("k", n) for n in range(1000)} | {draws.uniform("k", str(1))}
    assert len(values) == 1001


def test_key_borders_count():
    assert Draws("ab", "c").uniform() != Draws("a", "bc").uniform()


def test_uniform_and_normal_have_their_moments():
    draws = Draws("moments")
    n = 20_000
    flat = [draws.uniform("u", i) for i in range(n)]
    bell = [draws.normal("n", i) for i in range(n)]
    # Standard errors: sqrt(1/12/n) = .002 and 1/sqrt(n) = .007.
    assert abs(sum(flat) / n - 0.5) < 0.008
    assert abs(sum(bell) / n) < 0.028
    assert abs(sum(x * x for x in bell) / n - 1) < 0.04


@given(st.lists(st.integers(), max_size=30), st.integers())
def test_shuffling_keeps_every_item(items, key):
    assert sorted(Draws("s").shuffled(items, key)) == sorted(items)


@given(st.integers(1, 50), st.text())
def test_an_integer_stays_below(below, key):
    assert 0 <= Draws("i").integer(below, key) < below
