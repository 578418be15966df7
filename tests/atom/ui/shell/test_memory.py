"""Arrays that are freed leave the process, whatever was freed before."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELD = """
import sys, threading
import numpy as np
from atom.ui.shell.memory import give_back

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
