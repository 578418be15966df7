from __future__ import annotations

import gc
import subprocess
import sys

from atom.engine.process import owner_name, process_gone, process_name, rare_collections


def test_this_process_is_there():
    assert not process_gone(process_name())
    assert not process_gone(owner_name("run"))


def test_runs_of_one_process_have_different_names():
    assert owner_name("one") != owner_name("two")


def test_a_process_that_ended_is_gone_even_before_it_is_reaped():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = owner_name("run", child.pid)
    assert not process_gone(name)
    child.kill()
    while not process_gone(name):
        pass
    child.wait()
    child.stdin.close()
    assert process_gone(name)


def test_another_process_with_the_same_number_is_not_the_one():
    host, pid, started = process_name().rsplit("/", 2)
    if started:
        assert process_gone(f"{host}/{pid}/1")


def test_nobody_knows_about_other_hosts_or_odd_names():
    assert not process_gone("elsewhere/1/2")
    assert not process_gone("")
    assert not process_gone("nonsense")


def test_cycles_are_looked_for_less_often_until_the_last_one_ends():
    before = gc.get_threshold()
    first, second = rare_collections(), rare_collections()
    with first:
        often = gc.get_threshold()
        assert often[0] > before[0] > 0
        second.__enter__()
    assert gc.get_threshold() == often
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
