"""Programs that try to get out of the code sandbox; one that does prints ESCAPED."""

# ruff: noqa: E501 - a program stands on one line
from __future__ import annotations

from atom.judgebench.critic_bench.code import ProgramResult


def _tries(body: str) -> str:
    """Wrap lines that raise where they are refused."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"try:\n{lines}\nexcept (OSError, ImportError, KeyError, AttributeError) as e:\n    print(e)"


_SECRET = "/etc/passwd"
ESCAPES = {
    "open": _tries(f"print('ESCAPED', open('{_SECRET}').read()[:9])"),
    "os.open": _tries(f"import os\nprint('ESCAPED', os.read(os.open('{_SECRET}', 0), 9))"),
    "home": _tries(
        "import os, sys\nfor p in ('/root', '/home', '/tmp', '/etc'):\n"
        "    if not os.path.isdir(p): continue\n"
        "    if [n for n in os.listdir(p) if not sys.base_prefix.startswith(p + '/' + n) and n != 'ld.so.cache']: print('ESCAPED', p)"
    ),
    "readline": _tries(
        f"import readline\nreadline.read_history_file('{_SECRET}')\n"
        "n = readline.get_current_history_length()\nprint('ESCAPED' if n else 'empty', n)"
    ),
    "readline write": _tries(
        "import readline\nreadline.add_history('x')\n"
        "readline.write_history_file('/tmp/atom-evil')\nprint('ESCAPED')"
    ),
    "sqlite3": (
        "import sqlite3\ntry:\n    sqlite3.connect('/tmp/atom-evil').execute('create table t(a)')\n"
        "    print('ESCAPED')\nexcept sqlite3.Error as e:\n    print(e)"
    ),
    "sqlite3 attach": (
        "import sqlite3\ntry:\n    c = sqlite3.connect(':memory:')\n"
        f"    c.execute(\"attach '{_SECRET}' as x\")\n    c.execute('select * from x.sqlite_master')\n"
        "    print('ESCAPED')\nexcept sqlite3.DatabaseError as e:\n"
        "    print('ESCAPED' if 'not a database' in str(e) else e)"
    ),
    "pwd": _tries("import pwd\nprint('ESCAPED' if len(pwd.getpwall()) else 'empty')"),
    "spwd": _tries("import spwd\nprint('ESCAPED' if len(spwd.getspall()) else 'empty')"),
    "grp": _tries("import grp\nprint('ESCAPED' if len(grp.getgrall()) else 'empty')"),
    "ctypes socket": _tries(
        "import ctypes\nf = ctypes.CDLL(None).socket(2, 1, 0)\nprint('ESCAPED' if f >= 0 else 'no')"
    ),
    "ctypes unix socket": _tries(
        "import ctypes\nf = ctypes.CDLL(None).socket(1, 1, 0)\nprint('ESCAPED' if f >= 0 else 'no')"
    ),
    "ctypes raw call": _tries(
        "import ctypes, os\nc = ctypes.CDLL(None)\nn = 41 if os.uname().machine == 'x86_64' else 198\n"
        "print('ESCAPED' if c.syscall(n, 2, 1, 0) >= 0 else 'no')"
    ),
    "ctypes 32-bit call": _tries(
        "import ctypes\nc = ctypes.CDLL(None)\n"
        "print('ESCAPED' if c.syscall(0x40000000 + 41, 2, 1, 0) >= 0 else 'no')"
    ),
    "ctypes open": _tries(
        f"import ctypes\nf = ctypes.CDLL(None).open(b'{_SECRET}', 0)\n"
        "print('ESCAPED' if f >= 0 else 'no')"
    ),
    "ctypes write": _tries(
        "import ctypes\nf = ctypes.CDLL(None).open(b'/tmp/atom-evil', 0o101, 0o600)\n"
        "print('ESCAPED' if f >= 0 else 'no')"
    ),
    "ctypes openat2, io_uring, memfd, bpf, userfaultfd, keyctl, ptrace, mount, unshare": _tries(
        "import ctypes, os\nc = ctypes.CDLL(None)\n"
        "numbers = {'x86_64': (437, 425, 319, 321, 323, 250, 101, 165, 272),\n"
        "           'aarch64': (437, 425, 279, 280, 282, 219, 117, 40, 97)}[os.uname().machine]\n"
        "buffer = ctypes.create_string_buffer(512)\n"
        "for n in numbers:\n    if c.syscall(n, 0, buffer, buffer, 0, 0) >= 0: print('ESCAPED', n)"
    ),
    "fork": _tries("import os\nos.fork()\nprint('ESCAPED')"),
    "ctypes fork": _tries(
        "import ctypes\nprint('ESCAPED' if ctypes.CDLL(None).fork() >= 0 else 'no')"
    ),
    "thread": (
        "import threading\ntry:\n    threading.Thread(target=print).start()\n    print('ESCAPED')\n"
        "except RuntimeError as e:\n    print(e)"
    ),
    "exec": _tries("import os\nos.execv('/bin/sh', ['sh', '-c', 'echo ESCAPED'])"),
    "subprocess": _tries(
        "import subprocess\nprint('ESCAPED', subprocess.run(['/bin/sh', '-c', 'id']))"
    ),
    "tcp": _tries("import socket\nsocket.socket()\nprint('ESCAPED')"),
    "unix": _tries("import socket\nsocket.socket(socket.AF_UNIX)\nprint('ESCAPED')"),
    "socketpair": _tries("import socket\nsocket.socketpair()\nprint('ESCAPED')"),
    "kill": _tries("import os\nos.kill(1, 0)\nprint('ESCAPED')"),
    "kill parent": _tries("import os\nos.kill(os.getppid() or -1, 9)\nprint('ESCAPED')"),
    "proc": _tries("import os\nprint('ESCAPED', len(os.listdir('/proc')))"),
    "environ of others": _tries("print('ESCAPED', len(open('/proc/1/environ', 'rb').read()))"),
    "own memory": _tries("open('/proc/self/mem', 'rb')\nprint('ESCAPED')"),
    "devices": _tries("open('/dev/urandom', 'rb').read(1)\nprint('ESCAPED')"),
    "write": _tries("open('x', 'w')\nprint('ESCAPED')"),
    "append": _tries("import os\nopen(os.__file__, 'a')\nprint('ESCAPED')"),
    "delete": _tries("import os\nos.remove(os.__file__)\nprint('ESCAPED')"),
    "rename": _tries("import os\nos.rename(os.__file__, os.__file__ + 'x')\nprint('ESCAPED')"),
    "folder": _tries("import os\nos.mkdir('/tmp/atom-evil')\nprint('ESCAPED')"),
    "link": _tries(f"import os\nos.symlink('{_SECRET}', '/tmp/atom-evil')\nprint('ESCAPED')"),
    "chmod": _tries("import os\nos.chmod('/', 0o777)\nprint('ESCAPED')"),
    "root again": _tries("import os\nos.setuid(0)\nprint('ESCAPED')"),
    "chroot": _tries("import os\nos.chroot('/')\nprint('ESCAPED')"),
    "limits": (
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_CPU, (99, 99))\n"
        "    print('ESCAPED')\nexcept (ValueError, OSError) as e:\n    print(e)"
    ),
    "host name": _tries("import socket\nsocket.sethostname('x')\nprint('ESCAPED')"),
    "shared memory": _tries(
        "from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=9)\n"
        "print('ESCAPED')"
    ),
    "more processors": _tries("import os\nos.sched_setaffinity(0, {0})\nprint('ESCAPED')"),
}

OPEN_AGAIN = """
def _off():
    try:
        open('/nowhere')
    except BaseException as error:
        trace = error.__traceback__
        while trace:
            for held in trace.tb_frame.f_locals.values():
                for cell in getattr(held, '__closure__', None) or ():
                    if getattr(cell.cell_contents, '__name__', '') == 'refuse':
                        cell.cell_contents = lambda *a: None
            trace = trace.tb_next
_off()
"""
"""The way that ATTACK 6 found: a traceback leads to the guard's frame, and its cells are filled."""


def escaped(ran: ProgramResult) -> bool:
    """Whether a program got out."""
    return "ESCAPED" in ran.output
