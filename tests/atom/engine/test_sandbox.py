"""A program that nobody vouches for can compute and print, and nothing else."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from atom.engine import sandbox as module
from atom.engine.sandbox import Limits, Sandbox, find_sandbox
from atom.errors import UsageError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the sandbox needs a Unix")
LIMITS = Limits(cpu=1, wall=6.0, memory=256 * 2**20)


@pytest.fixture(scope="module")
def sandbox():
    return find_sandbox(LIMITS)


@pytest.fixture(scope="module", params=["found", "guard"])
def fence(request, sandbox):
    """Return the strongest sandbox here, and the one that Python's guard alone makes."""
    return sandbox if request.param == "found" else replace(sandbox, fence="guard", before=())


def test_an_honest_program_runs(fence):
    ran = fence.run("import math, collections, random, typing\nprint(math.factorial(5), 'ä')")
    assert (ran.ended, ran.output, ran.reason) == ("ended", "120 ä\n", "")


def test_what_keeps_programs_in_is_said(sandbox):
    assert sandbox.protection.startswith("no network")
    alone = replace(sandbox, fence="guard", before=())
    assert "as far as Python's own guard holds" in alone.protection
    assert "256 MB" in alone.protection


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
def test_what_a_program_must_not_do_is_refused(sandbox, name):
    alone = replace(sandbox, fence="guard", before=())
    ran = alone.run(REFUSED[name])
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
    slow = replace(sandbox, limits=Limits(wall=0.7))
    ran = slow.run("import time\nprint('on', flush=True)\ntime.sleep(60)")
    assert (ran.ended, ran.reason) == ("timeout", "it ran for more than 0.7 s")


def test_the_surroundings_are_empty(sandbox, monkeypatch):
    monkeypatch.setenv("ATOM_SECRET", "hush")
    ran = sandbox.run("import os, sys\nprint(sorted(os.environ), sys.argv, sys.stdin.read())")
    assert ran.ended == "ended"
    assert "ATOM_SECRET" not in ran.output
    assert ran.output.endswith("['program.py'] \n")


def test_the_kernel_refuses_processes_and_files_where_the_guard_is_gone(sandbox):
    """Without the guard the limits themselves hold; only root's processes aren't counted."""
    boot = Path(module.__file__).with_name("sandbox_boot.py").read_text(encoding="utf-8")
    bare = boot.replace("    sys.addaudithook(make_guard(folders))\n", "")
    assert bare != boot

    class Bare(Sandbox):
        def _command(self):
            told = json.dumps({"rlimits": dict(self.limits.rlimits), "nobody": self.nobody})
            return [*self.before, sys.executable, "-I", "-S", "-B", "-c", bare, told]

    naked = Bare(fence=sandbox.fence, before=sandbox.before, nobody=sandbox.nobody, limits=LIMITS)
    ran = naked.run("with open('x', 'w') as file:\n    file.write('x' * 10)\n    file.flush()")
    assert ran.ended in ("error", "limit"), ran
    if os.geteuid() != 0 or sandbox.nobody:
        ran = naked.run("import os\nos.fork()")
        assert ran.ended == "error", ran
    if sandbox.fence == "namespace":
        ran = naked.run("import socket\nsocket.create_connection(('127.0.0.1', 1), 1)")
        assert "unreachable" in ran.reason, ran


def test_where_nothing_holds_nothing_is_run(monkeypatch):
    monkeypatch.setattr(module, "_CHECK", "print('somewhere else')")
    with pytest.raises(UsageError, match="aren't run here"):
        find_sandbox(LIMITS)
