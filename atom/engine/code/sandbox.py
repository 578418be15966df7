"""Runs a program that nobody vouches for: another process, few rights, little time and memory.

What holds is the system's. Bubblewrap, where it's there, gives an empty root with nothing but
Python's own library in it, no network, and process, mount and other namespaces of its own; else
Landlock keeps all other files away. In both a seccomp filter refuses every call to the kernel but
computing, printing and reading; no process, socket or file can be made; time, memory and output are
limited; and where this is root, the program runs as a user that owns nothing. Inside Python a guard
says in words what would be refused anyway.

A way is tried out before it's used, with the guard taken away. Where none holds, nothing is run.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from atom.errors import UsageError
from atom.judgebench.critic_bench.code import ProgramResult

NOBODY: Final = 65534
"""The user that owns nothing."""
MAX_SOURCE: Final = 400_000
"""Bytes of a program; a longer one isn't run."""
_CHUNK: Final = 16_384
_CHECK: Final = """
import ctypes, os
def tries():
    yield lambda: os.listdir("/etc") and open("/etc/passwd").read()
    yield lambda: open("/proc/self/environ", "rb").read()
    yield lambda: open("/tmp/atom-sandbox-was-open", "w")
    yield os.fork
    yield lambda: ctypes.CDLL(None, use_errno=True).socket(2, 1, 0) >= 0
    yield lambda: ctypes.CDLL(None, use_errno=True).socket(1, 1, 0) >= 0
    yield lambda: ctypes.CDLL(None).kill(os.getppid() or 1, 0) == 0
fell = 0
for act in tries():
    try:
        fell += bool(act())
    except (OSError, FileNotFoundError):
        pass
print("held" if not fell else "fell", os.getuid())
"""
"""What is tried without the guard; a way counts only where all of it is refused."""
_STOPPED: Final = (signal.SIGXCPU, signal.SIGKILL, signal.SIGXFSZ, signal.SIGSEGV)

Fence = Literal["bubblewrap", "landlock"]


@dataclass(frozen=True, kw_only=True)
class ProgramLimits:
    """What a program may use.

    Args:
        cpu: seconds of computing, whole.
        wall: seconds on the clock.
        memory: bytes of address space.
        output: bytes of what it prints.
    """

    cpu: int = 4
    wall: float = 10.0
    memory: int = 512 * 2**20
    output: int = 65_536

    @property
    def rlimits(self) -> Mapping[str, int]:
        """The kernel's limits by name: no file may grow, no process may be started."""
        return {
            "RLIMIT_CPU": self.cpu,
            "RLIMIT_AS": self.memory,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_NOFILE": 16,
            "RLIMIT_NPROC": 0,
            "RLIMIT_CORE": 0,
        }


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """A way to run programs that was tried out on this computer.

    Args:
        fence: `bubblewrap`, an empty root and namespaces; `landlock`, the kernel refuses files.
        before: the command that makes the root; empty without it.
        nobody: the user that programs run as; 0 = the own one.
        guard: whether Python's own guard says what is refused; off only to try the fence out.
        limits: what a program may use.
    """

    fence: Fence
    before: tuple[str, ...] = ()
    nobody: int = 0
    guard: bool = True
    limits: ProgramLimits = field(default_factory=ProgramLimits)

    @property
    def protection(self) -> str:
        """What keeps programs in, as a sentence."""
        root = (
            "in an empty root with namespaces of its own (bubblewrap)"
            if self.fence == "bubblewrap"
            else "shut off from all files but Python's own library (Landlock)"
        )
        user = ", as a user that owns nothing" if self.nobody else ""
        limits = self.limits
        return (
            f"no network, {root}{user}; a filter of system calls (seccomp), an empty folder, no "
            "files, no environment, no other processes, "
            f"{limits.cpu:,} s of computing, {limits.wall:g} s on the clock, "
            f"{limits.memory // 2**20} MB"
        )

    def run(self, source: str) -> ProgramResult:
        """Run a program to its end, or to a limit.

        Args:
            source: the program; UTF-8 text.

        Returns:
            What came of it. Never raises for what the program does.
        """
        text = source.encode("utf-8", errors="replace")
        if len(text) > MAX_SOURCE:
            return ProgramResult(
                ended="limit", reason=f"the program has more than {MAX_SOURCE:,} bytes"
            )
        with (
            tempfile.TemporaryDirectory(prefix="atom-sandbox-") as folder,
            _start(self._command(), folder) as process,
        ):
            try:
                return self._watch(process, text)
            finally:
                _end(process)

    def _command(self) -> list[str]:
        told = {
            "rlimits": dict(self.limits.rlimits),
            "nobody": self.nobody,
            "library": [] if self.fence == "bubblewrap" else _library(),
        }
        boot = Path(__file__).with_name("sandbox_boot.py").read_text(encoding="utf-8")
        if not self.guard:
            boot = boot.replace("    sys.addaudithook(make_guard(folders))\n", "")
        python = [_python(), "-I", "-S", "-B", "-X", "utf8", "-c", boot, json.dumps(told)]
        return [*self.before, *python]

    def _watch(self, process: subprocess.Popen[bytes], text: bytes) -> ProgramResult:
        """Hand the program over, and read what it says until it ends or has to."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        until = time.monotonic() + self.limits.wall
        entry = process.stdin.fileno()
        streams = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
        out, err = streams.values()
        left = memoryview(text)
        os.set_blocking(entry, False)
        with selectors.DefaultSelector() as selector:
            for stream in streams:
                selector.register(stream, selectors.EVENT_READ)
            selector.register(entry, selectors.EVENT_WRITE)
            while selector.get_map():
                ready = selector.select(max(until - time.monotonic(), 0))
                if not ready:
                    return ProgramResult(
                        ended="timeout",
                        output=_decode(out),
                        reason=f"it ran for more than {self.limits.wall:g} s",
                    )
                for key, _ in ready:
                    if key.fd == entry:
                        left = _send(key.fd, left)
                        if not left:
                            selector.unregister(key.fd)
                            process.stdin.close()
                        continue
                    piece = os.read(key.fd, _CHUNK)
                    if not piece:
                        selector.unregister(key.fd)
                    streams[key.fd] += piece
                if max(len(out), len(err)) > self.limits.output:
                    return ProgramResult(
                        ended="limit",
                        output=_decode(out[: self.limits.output]),
                        reason=f"it printed more than {self.limits.output:,} bytes",
                    )
        try:
            code = process.wait(timeout=max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            reason = f"it ran for more than {self.limits.wall:g} s"
            return ProgramResult(ended="timeout", output=_decode(out), reason=reason)
        return _told(code, _decode(out), _decode(err))


def _start(command: Sequence[str], folder: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        env={},
        start_new_session=True,
    )


def _send(stream: int, left: memoryview) -> memoryview:
    """Write on; a process that is gone has had enough."""
    try:
        return left[os.write(stream, left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except OSError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with all that it started; its namespace dies with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def _decode(data: bytes | bytearray) -> str:
    return bytes(data).decode("utf-8", errors="replace")


def _told(code: int, output: str, errors: str) -> ProgramResult:
    """Say what an exit status means, with the last line of the traceback."""
    if code == 0:
        return ProgramResult(ended="ended", output=output)
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")[:300]
    stopped = code in {-stop for stop in _STOPPED} | {128 + stop for stop in _STOPPED}
    if stopped:
        return ProgramResult(
            ended="limit", output=output, reason="it used more than it may: time or memory"
        )
    if last.startswith("MemoryError"):
        return ProgramResult(ended="limit", output=output, reason="it used more memory than it may")
    if last.startswith("ModuleNotFoundError") or "sandbox forbids the module" in last:
        reason = f"it needs a module that the sandbox doesn't give: {last}"
        return ProgramResult(ended="no_module", output=output, reason=reason)
    return ProgramResult(
        ended="error", output=output, reason=last or f"it ended with status {code}"
    )


# --- finding one that works ----------------------------------------------------------------------


def find_sandbox(limits: ProgramLimits | None = None) -> Sandbox:
    """Return the strongest sandbox that works here.

    It is tried, not assumed.

    Raises:
        UsageError: no way to keep a program in works on this computer.
    """
    limits = limits or ProgramLimits()
    for sandbox in ways(limits):
        if holds(sandbox):
            return sandbox
    raise UsageError(
        "programs aren't run here: neither bubblewrap nor Landlock with a filter of system calls "
        "holds on this computer; leave run_code out, or run it on a Linux that has one of them "
        "(`apt install bubblewrap`)"
    )


def ways(limits: ProgramLimits) -> list[Sandbox]:
    """List what may hold on this computer, the strongest first; `holds` tells whether it does."""
    if sys.platform != "linux":
        return []
    root = os.geteuid() == 0
    users = (NOBODY, 0) if root else (0,)
    found = []
    wrap = shutil.which("bwrap")
    if wrap is not None:
        before = tuple(_empty_root(wrap, own_user=not root))
        found += [
            Sandbox(fence="bubblewrap", before=before, nobody=user, limits=limits) for user in users
        ]
    return [*found, *(Sandbox(fence="landlock", nobody=user, limits=limits) for user in users)]


def holds(sandbox: Sandbox) -> bool:
    """Try a sandbox out, without its guard: all that a program mustn't do has to be refused."""
    try:
        ran = replace(sandbox, guard=False).run(_CHECK)
    except OSError:
        return False
    user = sandbox.nobody or os.geteuid()
    return ran.ended == "ended" and ran.output.split() == ["held", str(user)]


def _python() -> str:
    """Return the interpreter's own file; a virtual environment's is a link to it."""
    return str(Path(getattr(sys, "_base_executable", "") or sys.executable).resolve())


def _library() -> list[str]:
    """Return what Python needs to start and to import its own modules."""
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    shared = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    own = [Path(paths["stdlib"]), Path(paths["platstdlib"]), *shared.glob("libpython3*")]
    system = [Path(place) for place in ("/lib", "/lib64", "/usr/lib", "/usr/lib64")]
    places = [_python(), *map(str, own), *map(str, system), "/etc/ld.so.cache"]
    return [place for place in dict.fromkeys(places) if Path(place).exists()]


def _empty_root(wrap: str, *, own_user: bool) -> Iterator[str]:
    """Give the command that makes a root with Python's library and nothing else."""
    yield from (wrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv")
    if own_user:
        yield "--unshare-user"
    else:  # root keeps what it takes to become somebody else, and nothing more
        yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    library = _library()
    above = dict.fromkeys(str(one) for place in library for one in reversed(Path(place).parents))
    for folder in [*above, "/empty"]:
        if folder not in ("/", *library):  # a user that owns nothing has to pass through it
            yield from ("--perms", "0755", "--dir", folder)
    for place in library:
        yield from ("--ro-bind", place, place)
    yield from ("--chdir", "/empty", "--remount-ro", "/")
