"""Runs a program that nobody vouches for: another process, few rights, little time and memory.

Fences, from the outside: a network namespace of its own without any interface (Linux `unshare`,
where it's permitted), a process namespace and another user where we're root, the kernel's limits
on time, memory, files and processes, an empty folder and an empty environment, and inside Python a
guard that refuses files, sockets and processes. Without the namespace only the guard stands between
a program and the network, and `Sandbox.protection` says so. Where neither holds nothing is run.

It is a fence for programs that models write, no prison for an attacker who has days.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from atom.errors import UsageError
from atom.judgebench.critic_bench_code import Ran

NOBODY: Final = 65534
"""The user that owns nothing."""
MAX_SOURCE: Final = 400_000
"""Bytes of a program; a longer one isn't run."""
_CHUNK: Final = 16_384
_CHECK: Final = (
    "import os\n"
    "print(os.readlink('/proc/self/ns/net') if os.path.exists('/proc/self/ns/net') else '?')\n"
    "try:\n    import socket\nexcept PermissionError:\n    print('guarded')\n"
)
_STOPPED: Final = (signal.SIGXCPU, signal.SIGKILL, signal.SIGXFSZ, signal.SIGSEGV)

Fence = Literal["namespace", "guard"]


@dataclass(frozen=True, kw_only=True)
class Limits:
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
        fence: `namespace`, the kernel keeps the network away; `guard`, Python alone does.
        before: the command that opens the namespaces; empty without them.
        nobody: the user that programs run as; 0 = the own one.
        limits: what a program may use.
    """

    fence: Fence
    before: tuple[str, ...] = ()
    nobody: int = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def protection(self) -> str:
        """What keeps programs in, as a sentence."""
        network = (
            "no network (a network namespace of its own)"
            if self.fence == "namespace"
            else "no network as far as Python's own guard holds (namespaces aren't permitted here)"
        )
        user = ", as a user that owns nothing" if self.nobody else ""
        limits = self.limits
        return (
            f"{network}{user}; an empty folder, no files, no environment, no other processes, "
            f"{limits.cpu} s of computing, {limits.wall:g} s on the clock, "
            f"{limits.memory // 2**20} MB"
        )

    def run(self, source: str) -> Ran:
        """Run a program to its end, or to a limit.

        Args:
            source: the program; UTF-8 text.

        Returns:
            What came of it. Never raises for what the program does.
        """
        text = source.encode("utf-8", errors="replace")
        if len(text) > MAX_SOURCE:
            return Ran(ended="limit", reason=f"the program has more than {MAX_SOURCE:,} bytes")
        with (
            tempfile.TemporaryDirectory(prefix="atom-sandbox-") as folder,
            _start(self._command(), folder) as process,
        ):
            try:
                return self._watch(process, text)
            finally:
                _end(process)

    def _command(self) -> list[str]:
        told = {"rlimits": dict(self.limits.rlimits), "nobody": self.nobody}
        boot = Path(__file__).with_name("sandbox_boot.py").read_text(encoding="utf-8")
        python = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", boot, json.dumps(told)]
        return [*self.before, *python]

    def _watch(self, process: subprocess.Popen[bytes], text: bytes) -> Ran:
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
                    return Ran(
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
                    return Ran(
                        ended="limit",
                        output=_decode(out[: self.limits.output]),
                        reason=f"it printed more than {self.limits.output:,} bytes",
                    )
        try:
            code = process.wait(timeout=max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            reason = f"it ran for more than {self.limits.wall:g} s"
            return Ran(ended="timeout", output=_decode(out), reason=reason)
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


def _told(code: int, output: str, errors: str) -> Ran:
    """Say what an exit status means, with the last line of the traceback."""
    if code == 0:
        return Ran(ended="ended", output=output)
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")[:300]
    stopped = code in {-stop for stop in _STOPPED} | {128 + stop for stop in _STOPPED}
    if stopped or last.startswith("unshare:"):  # unshare trips over a child that a limit killed
        return Ran(ended="limit", output=output, reason="it used more than it may: time or memory")
    if last.startswith("MemoryError"):
        return Ran(ended="limit", output=output, reason="it used more memory than it may")
    if last.startswith("ModuleNotFoundError") or "sandbox forbids the module" in last:
        reason = f"it needs a module that the sandbox doesn't give: {last}"
        return Ran(ended="no_module", output=output, reason=reason)
    return Ran(ended="error", output=output, reason=last or f"it ended with status {code}")


# --- finding one that works ----------------------------------------------------------------------


def find_sandbox(limits: Limits | None = None) -> Sandbox:
    """Return the strongest sandbox that works here.

    It is tried, not assumed: a program looks where it is and whether the guard stops it.

    Raises:
        UsageError: no way to keep a program in works on this computer.
    """
    limits = limits or Limits()
    if sys.platform == "win32":
        raise UsageError("programs aren't run here: the sandbox needs Linux or another Unix")
    for sandbox in _ways(limits):
        if _holds(sandbox):
            return sandbox
    raise UsageError(
        "programs aren't run here: neither a network namespace nor Python's guard holds on this "
        "computer; leave run_code out, or run it on an ordinary Linux"
    )


def _ways(limits: Limits) -> list[Sandbox]:
    root = os.geteuid() == 0
    unshare = shutil.which("unshare")
    ways = []
    if unshare is not None:
        spaces = ("--net", "--pid", "--ipc", "--fork", "--kill-child")
        alone = (unshare, "--user", *spaces)
        if root:
            plain = (unshare, *spaces)
            ways.append(Sandbox(fence="namespace", before=plain, nobody=NOBODY, limits=limits))
        ways.append(Sandbox(fence="namespace", before=alone, limits=limits))
        if root:
            ways.append(Sandbox(fence="namespace", before=plain, limits=limits))
    if root:
        ways.append(Sandbox(fence="guard", nobody=NOBODY, limits=limits))
    return [*ways, Sandbox(fence="guard", limits=limits)]


def _holds(sandbox: Sandbox) -> bool:
    """Try a sandbox out: its program must be where it should be, and be refused a socket."""
    try:
        ran = sandbox.run(_CHECK)
    except OSError:
        return False
    lines = ran.output.split()
    if ran.ended != "ended" or len(lines) != 2 or lines[1] != "guarded":
        return False
    return sandbox.fence == "guard" or lines[0] not in ("?", _own_network())


def _own_network() -> str:
    try:
        return str(Path("/proc/self/ns/net").readlink())
    except OSError:
        return "?"
