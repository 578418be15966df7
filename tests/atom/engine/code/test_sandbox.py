"""A program that nobody vouches for can compute and print, and nothing else.

Where no fence is to be had, nothing is run: these tests then hold that, and never pass by skipping.
"""

import functools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from atom.engine.code import sandbox as module
from atom.engine.code.sandbox import ProgramLimits, find_sandbox, holds, ways
from atom.errors import UsageError
from tests.escapes import ESCAPES, OPEN_AGAIN, escaped

LIMITS = ProgramLimits(cpu=1, wall=6.0, memory=256 * 2**20)


@functools.cache
def fences():
    """Return the ways that hold on this computer, by name."""
    found = {f"{one.fence}, {one.nobody or 'own user'}": one for one in ways(LIMITS) if holds(one)}
    return found


@pytest.fixture(scope="module")
def sandbox():
    """Return the strongest sandbox here; where there is none, see that programs are refused."""
    if not fences():
        with pytest.raises(UsageError, match="aren't run here"):
            find_sandbox(LIMITS)
        pytest.skip("no fence is to be had here, and programs are refused")
    return find_sandbox(LIMITS)


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def fence(request, sandbox):
    """Return each kind of fence; one that this computer lacks is none that could be taken."""
    found = [one for one in fences().values() if one.fence == request.param]
    if not found:
        assert sandbox.fence != request.param
        pytest.skip(f"{request.param} doesn't hold here; {sandbox.fence} is what programs run in")
    return found[0]


def test_programs_run_behind_a_fence_that_holds_or_not_at_all():
    """The one test that no computer skips."""
    if fences():
        assert holds(find_sandbox(LIMITS))
        assert find_sandbox(LIMITS) == next(iter(fences().values()))
    else:
        with pytest.raises(UsageError, match="aren't run here"):
            find_sandbox(LIMITS)


@pytest.mark.skipif(not Path("/usr/bin/bwrap").exists(), reason="there is no bubblewrap")
def test_bubblewrap_gives_an_empty_root(sandbox):
    if sandbox.fence != "bubblewrap":
        pytest.skip("bubblewrap isn't permitted here")
    ran = replace(sandbox, guard=False).run("import os\nprint(sorted(os.listdir('/')))")
    assert ran.ended == "ended"
    assert {"home", "tmp", "proc", "dev", "var"}.isdisjoint(eval(ran.output))


@pytest.mark.slow
@pytest.mark.parametrize("name", ESCAPES)
def test_the_system_holds_without_the_guard(fence, name, tmp_path):
    """What ATTACK 6 lists, and more: each prints ESCAPED where it gets out.

    Fall 6 of design/074.
    """
    ran = replace(fence, guard=False).run(ESCAPES[name])
    assert not escaped(ran), ran
    assert ran.ended in ("ended", "error", "no_module", "limit", "timeout"), ran


@pytest.mark.slow
@pytest.mark.parametrize("name", ESCAPES)
def test_it_holds_with_the_guard_switched_off_from_within(fence, name):
    ran = fence.run(OPEN_AGAIN + ESCAPES[name])
    assert not escaped(ran), ran


def test_the_guard_can_be_switched_off_from_within(fence):
    """Why it counts for nothing: the trick works, and only the system is left."""
    ran = fence.run(OPEN_AGAIN + "import socket\nprint('off')")
    assert ran.output == "off\n", ran


def test_an_honest_program_runs(fence):
    source = (
        "import math, collections, random, typing, json, re, datetime, decimal, heapq, itertools\n"
        "import statistics, string, functools, hashlib, uuid, dataclasses, tempfile, unittest\n"
        "print(math.factorial(5), 'ä', random.random() < 1, datetime.date.today() is not None)"
    )
    ran = fence.run(source)
    assert (ran.ended, ran.output, ran.reason) == ("ended", "120 ä True True\n", "")


def test_what_keeps_programs_in_is_said(sandbox):
    assert sandbox.protection.startswith("no network, ")
    assert "256 MB" in sandbox.protection
    assert "bubblewrap" in replace(sandbox, fence="bubblewrap").protection
    assert "Landlock" in replace(sandbox, fence="landlock").protection


REFUSED = {
    "write": "open('x', 'w').write('x')",
    "write by number": "import os\nos.open('/tmp/atom-evil', os.O_CREAT | os.O_WRONLY)",
    "read": "print(open('/etc/passwd').read())",
    "read above": "import os\nprint(open(os.__file__ + '/../../../../../etc/passwd').read())",
    "parent": "import os\nprint(open(f'/proc/{os.getppid()}/environ').read())",
    "list": "import os\nprint(os.listdir('/'))",
    "shell": "import os\nos.system('id')",
    "fork": "import os\nos.fork()",
    "kill": "import os\nos.kill(os.getppid(), 9)",
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', 1))",
    "url": "import urllib.request as u\nu.urlopen('http://127.0.0.1:1')",
    "loaded socket": (
        "import _imp, importlib.util as u\ns = u.find_spec('_socket')\ns.name = 'a._socket'\n"
        "print(_imp.create_dynamic(s) if s.origin != 'built-in' else 1 / 0)"
    ),
    "native code": "import ctypes\nctypes.CDLL(None)",
    "subprocess": "import subprocess\nsubprocess.run(['id'])",
    "limits": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (99, 99))",
    "the guard": "import gc\nprint([o for o in gc.get_objects() if callable(o)])",
    "the guard's names": (
        "import sys, builtins\nnames = sys._getframe().f_back.f_globals\n"
        "names['FORBIDDEN_EVENTS'] = ()\nnames['FORBIDDEN_MODULES'] = frozenset()\n"
        "builtins.type = builtins.str = lambda *a: 'fine'\nimport posixpath\n"
        "posixpath.realpath = lambda p: posixpath.__file__\nimport socket"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_guard_says_what_a_program_must_not_do(sandbox, name):
    ran = sandbox.run(REFUSED[name])
    assert ran.ended in ("error", "no_module"), ran
    assert "sandbox forbids" in ran.reason or "No module named" in ran.reason, ran
    assert ran.output == ""
    assert not Path("/tmp/atom-evil").exists()


@pytest.mark.parametrize(
    ("source", "ended", "words"),
    [
        ("while True: pass", "limit", "time or memory"),
        ("x = bytearray(2**30)", "limit", "memory"),
        ("x = []\nwhile True: x.append('x' * 10**7)", "limit", "memory"),
        ("while True: print('x' * 10000)", "limit", "printed more"),
        ("import sys\nwhile True: sys.stderr.write('x' * 10000)", "limit", "printed more"),
        ("def f(): f()\nf()", "error", "RecursionError"),
        ("assert 1 == 2", "error", "AssertionError"),
        ("def", "error", "SyntaxError"),
        ("print(1)\n\0", "error", "null bytes"),
        ("import numpy", "no_module", "numpy"),
        ("raise SystemExit(3)", "error", "status 3"),
        ("#" * (module.MAX_SOURCE + 1), "limit", "bytes"),
    ],
)
def test_every_limit_ends_it_with_the_reason(sandbox, source, ended, words):
    ran = sandbox.run(source)
    assert ran.ended == ended, ran
    assert words in ran.reason


def test_waiting_ends_on_the_clock(sandbox):
    slow = replace(sandbox, limits=ProgramLimits(wall=0.7))
    ran = slow.run("import time\nprint('on', flush=True)\ntime.sleep(60)")
    assert (ran.ended, ran.reason) == ("timeout", "it ran for more than 0.7 s")


def test_the_surroundings_are_empty(sandbox, monkeypatch):
    monkeypatch.setenv("ATOM_SECRET", "hush")
    ran = sandbox.run("import os, sys\nprint(sorted(os.environ), sys.argv, sys.stdin.read())")
    assert ran.ended == "ended"
    assert "ATOM_SECRET" not in ran.output
    assert ran.output.endswith("['program.py'] \n")


def test_a_user_that_owns_nothing_runs_it_where_we_are_root(sandbox):
    ran = replace(sandbox, guard=False).run("import os\nprint(os.getuid())")
    if os.geteuid() == 0 and sandbox.nobody:
        assert ran.output == "65534\n"
    else:
        assert ran.ended in ("ended", "error")


def test_where_nothing_holds_nothing_is_run(monkeypatch):
    monkeypatch.setattr(module, "_CHECK", "print('fell', 0)")
    with pytest.raises(UsageError, match="aren't run here"):
        find_sandbox(LIMITS)


def test_a_fence_without_its_filter_is_not_taken(monkeypatch, sandbox):
    """The try finds what is open: files, sockets, processes."""
    boot = Path(module.__file__).with_name("sandbox_boot.py").read_text(encoding="utf-8")
    for line in ("    forbid_calls()\n", '        forbid_files(limits["library"])\n'):
        assert boot.count(line) == 1
        weak = boot.replace(line, line.replace(line.strip(), "pass"))
        monkeypatch.setattr(Path, "read_text", lambda *_, text=weak, **__: text)
        assert not holds(replace(sandbox, fence="landlock", before=()))
