"""Freed arrays leave the process; a few screens are drawn at a time, and none waits for options."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest
from streamlit import config

from atom.ui.shell import crowd

HELD = """
import sys, threading
import numpy as np
from atom.ui.shell.crowd import give_back

if sys.argv[1] == "yes":
    assert give_back()

def held():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6

def look():
    largest = np.ones(3_800_000)  # 30 MB: glibc keeps what is smaller from now on
    del largest
    large = [(np.ones(250_000), kept.append(np.ones(500))) for _ in range(20)]
    del large

kept, begun = [], held()
for _ in range(4):
    one = threading.Thread(target=look)
    one.start()
    one.join()
print(held() - begun)
"""


@pytest.mark.parametrize(("told", "most"), [("yes", 15.0), ("no", None)])
def test_a_freed_array_is_given_back(told, most):
    done = subprocess.run(
        [sys.executable, "-c", HELD, told], capture_output=True, text=True, check=True
    )
    grown = float(done.stdout)  # four looks at 20 arrays of 2 MB
    assert grown < most if most else grown > 30.0


def test_a_few_are_drawn_at_once_and_a_failed_one_gives_its_turn_back():
    inside, most, lock, full = [0], [0], Lock(), Event()

    def draw(number: int) -> None:
        with crowd.turn():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                if inside[0] == crowd.MOST:
                    full.set()
            full.wait(20)
            with lock:
                inside[0] -= 1
            if number % 2:
                raise ValueError

    with ThreadPoolExecutor(2 * crowd.MOST) as pool:
        drawn = [pool.submit(draw, number) for number in range(2 * crowd.MOST)]
    assert [type(one.exception()) for one in drawn[:2]] == [type(None), ValueError]
    assert most == [crowd.MOST]


def test_options_are_read_while_somebody_holds_their_lock(monkeypatch):
    monkeypatch.setattr(config, "get_option", config.get_option)
    expected = config.get_option("server.port")
    crowd.read_options_without_lock()
    with config._config_lock, ThreadPoolExecutor(1) as pool:
        assert pool.submit(config.get_option, "server.port").result(20) == expected
    with pytest.raises(RuntimeError, match="not defined"):
        config.get_option("server.nothing")


def test_garbage_is_looked_for_where_something_was_made():
    class Ring:
        def __init__(self):
            self.own = self

    ring = Ring()
    left = weakref.ref(ring)
    gc.disable()
    try:
        gc.collect(0)  # as it does itself while scripts run
        seen = crowd.tidy(-1)
        del ring
        assert crowd.tidy(seen) == seen
        assert left() is not None
        gc.collect(0)
        crowd.tidy(seen)
        assert left() is None
    finally:
        gc.enable()
