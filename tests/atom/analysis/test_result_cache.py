"""Results are made once, whoever asks, and the most recently used stay."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from atom.analysis.result_cache import ResultCache

THREADS = 8


def test_a_result_is_made_once_and_the_one_used_longest_ago_goes():
    kept, made = ResultCache(2), []
    for key in (1, 2, 1, 3, 1, 2):  # 3 takes the place of 2, which was used before 1
        assert kept.get(key, lambda key=key: made.append(key) or key) == key
    assert made == [1, 2, 3, 2]
    assert (kept.has(1), kept.has(2), kept.has(3)) == (True, True, False)


def test_threads_that_ask_at_once_are_given_what_one_of_them_makes():
    kept, begun, may_end, together = ResultCache(1), [], Event(), Barrier(THREADS + 1)

    def make() -> object:
        begun.append(1)
        may_end.wait(20)
        return object()

    def ask() -> object:
        together.wait(20)
        return kept.get("view", make)

    with ThreadPoolExecutor(THREADS) as pool:
        asked = [pool.submit(ask) for _ in range(THREADS)]
        together.wait(20)
        assert kept.get("another", lambda: 5) == 5  # isn't held up, and may push the first out
        may_end.set()
        results = {id(one.result(20)) for one in asked}
    assert len(begun) == len(results) == 1


def test_where_one_fails_those_who_waited_make_it():
    kept, begun, may_fail = ResultCache(1), [], Event()

    def make() -> int:
        begun.append(1)
        if len(begun) == 1:
            may_fail.wait(20)
            raise OSError("gone")
        return 7

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "view", make)
        while not begun:
            pass
        second = pool.submit(kept.get, "view", make)
        may_fail.set()
        with pytest.raises(OSError, match="gone"):
            first.result(20)
        assert second.result(20) == 7
    assert len(begun) == 2


def test_a_result_that_needs_itself_is_refused_and_not_waited_for():
    kept = ResultCache(2)
    with pytest.raises(RuntimeError, match="needed itself"):
        kept.get("a", lambda: kept.get("b", lambda: kept.get("a", lambda: 1)))
    assert kept.get("a", lambda: 1) == 1


def test_it_is_pickled_without_what_is_kept():
    kept = ResultCache(3)
    kept.get("a", lambda: 1)
    assert not pickle.loads(pickle.dumps(kept)).has("a")
