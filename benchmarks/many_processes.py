"""Several processes at one run, on PostgreSQL: what is asked twice, at once, spent, and its cost.

Rows:
- `asked_twice`: questions that the judge or a model was asked more than once, of all.
- `calls_at_once`: most calls at the judge at one moment, against what its endpoint allows.
- `processor_time`: of the processes and the server, a call, from when all processes ask (each has
  had samples in hand for two seconds) to nine tenths of the calls: starting isn't in it.
- `spent_of_cap`: what a run with a budget spent of it, as a share.

Run: `python benchmarks/many_processes.py --json`. It starts a PostgreSQL server of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import serving
from atom.records import Run, Study
from atom.store import Store
from atom.store.together.quotas import shared_by

ROOT = Path(__file__).resolve().parent.parent
BINARIES = Path("/usr/lib/postgresql")
JUDGE, MODELS = "probe-judge", ("model-h", "model-b")
CPU_WANTED = 7.0
"""Milliseconds a call."""
CAP = 2.0
"""USD."""
IMPORTING = 2.0
"""Seconds in which a process that has samples reads the libraries that its first call needs."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Watched(ProbeEndpoint):
    """A probe endpoint that notes what it is asked and when."""

    config: ProbeConfig
    asked: Counter[str] = field(default_factory=Counter)
    judged: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.config)

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes):  # noqa: ANN201
        """Note a request, and answer it."""
        reply = super().handle(method, path, headers, body)
        self.asked[hashlib.sha256(body).hexdigest()] += 1
        if JUDGE.encode() in body[:4000]:
            now = time.monotonic()
            self.judged += [(now, 1), (now + reply.delay, -1)]
        return reply

    @property
    def most_at_once(self) -> int:
        """Most calls at the judge at one moment."""
        most = at_once = 0
        for _, step in sorted(self.judged):
            at_once += step
            most = max(most, at_once)
        return most


@contextmanager
def postgres(root: Path) -> Iterator[tuple[str, int]]:
    """Start a server; yields an empty database's address and the server's process."""
    programs = sorted(BINARIES.glob("*/bin/initdb"))[-1].parent
    prefix: list[str] = []
    if os.getuid() == 0:
        pwd.getpwnam("postgres")
        prefix = ["runuser", "-u", "postgres", "--"]
        shutil.chown(root, "postgres")

    def do(program: str, *words: str) -> None:
        subprocess.run(
            [*prefix, str(programs / program), *words], check=True, capture_output=True, timeout=120
        )

    data = str(root / "data")
    do("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={root}"
    do("pg_ctl", "-D", data, "-w", "-l", str(root / "log"), "-o", options, "start")
    try:
        pid = int((root / "data" / "postmaster.pid").read_text().split()[0])
        yield f"postgresql://postgres@/postgres?host={root}", pid
    finally:
        do("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def processor_seconds(endpoints: Path, server: int) -> float:
    """Return the processor time so far of the commands that name a file, and of a server."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        user, system, children, childrens_system = (int(fields[at]) for at in range(11, 15))
        if folder.name == str(server):
            ticks += user + system + children + childrens_system
        elif str(endpoints).encode() in words or int(fields[1]) == server:
            ticks += user + system
    return ticks / TICKS


def atom(*words: str, store: str) -> subprocess.Popen[bytes]:
    """Start a command on a store."""
    return subprocess.Popen(
        [sys.executable, "-m", "atom", *words],
        cwd=ROOT,
        env={**os.environ, "ATOM_STORE": store, "ATOM_FILES": store.rpartition("=")[2] + "-files"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run as it went."""

    run: Run
    endpoint: Watched
    cpu_ms: float
    seconds: float


def run_of(store: Store, study: str) -> Run | None:
    """Return a study's run; None before it is there."""
    names = {one.id: one.name for one in store.select(Study)}
    return next((run for run in store.select(Run) if names.get(run.study_id) == study), None)


def at_work(store: Store, study: str) -> int:
    """Return how many processes have samples of a study's run in hand."""
    run = run_of(store, study)
    return 0 if run is None else sum(count > 0 for count in shared_by(store, run.id).samples)


def one_run(
    folder: Path, store: str, server: int, study: str, args: argparse.Namespace, *, price: float,
    budget: float | None = None,
) -> Seen:  # fmt: skip
    """Draw probes, let several processes judge them, and watch."""
    words = [
        "probe",
        "make",
        "--samples",
        str(args.samples),
        "--seed",
        str(len(study)),
        "--study",
        study,
    ]
    if atom(*words, "--families", "charts", store=store).wait(600):
        raise RuntimeError("the probes couldn't be drawn")
    endpoint = Watched(ProbeConfig(latency=args.latency, jitter=0.5))
    file = folder / f"{study}.yaml"
    with serving(endpoint) as url:
        shared = {"base_url": f"probe:{url}", "concurrency": args.at_once, "timeout": 60.0}
        shared["prices"] = {"input": price, "output": price}
        rows = [{"name": "judge", "model": JUDGE, "roles": ["judge"], **shared}]
        rows += [
            {"name": f"http-{m}", "model": m, "roles": ["candidate"], **shared} for m in MODELS
        ]
        file.write_text(yaml.safe_dump(rows), "utf-8")
        begun = time.monotonic()
        work = atom(
            "run", "start", "--study", study, "--judge", "judge",
            "--candidates", ",".join(f"http-{model}" for model in MODELS),
            "--processes", str(args.processes), "--endpoints", str(file), "--json", "--yes",
            *([] if budget is None else ["--budget", str(budget)]), store=store,
        )  # fmt: skip
        marks: list[tuple[int, float]] = []
        with Store.open(store) as opened:
            together = 0.0
            while work.poll() is None:
                if not together and at_work(opened, study) >= args.processes:
                    together = time.monotonic()
                if together and time.monotonic() > together + IMPORTING:
                    marks.append((sum(endpoint.asked.values()), processor_seconds(file, server)))
                time.sleep(0.25)
            row = run_of(opened, study)
        seconds = time.monotonic() - begun
    assert row is not None
    calls = sum(endpoint.asked.values())
    part = [mark for mark in marks if mark[0] <= 9 * calls / 10]
    if len(part) < 2:
        raise RuntimeError("the run was over before all processes worked: take more --samples")
    (first, before), (last, after) = part[0], part[-1]
    cpu = 1000 * (after - before) / max(1, last - first)
    return Seen(run=row, endpoint=endpoint, cpu_ms=cpu, seconds=seconds)


def rows_of(free: Seen, capped: Seen, args: argparse.Namespace) -> list[dict[str, object]]:
    """Say what came of both runs."""
    calls = sum(free.endpoint.asked.values())
    twice = sum(
        count - 1 for seen in (free, capped) for count in seen.endpoint.asked.values() if count > 1
    )
    most = max(free.endpoint.most_at_once, capped.endpoint.most_at_once)
    share = capped.run.cost / CAP
    ended = f"{free.run.state}, {free.run.done} of {free.run.total} items, {free.run.failed} failed"
    ended += f"; {free.run.message[:600]}" if free.run.message else ""
    return [
        row("asked_twice", twice, "calls", 0, calls, twice == 0, ended),
        row("calls_at_once", most, "calls", args.at_once, calls, most <= args.at_once,
            f"{args.processes} processes"),
        row("processor_time", round(free.cpu_ms, 2), "ms a call", CPU_WANTED, calls,
            free.cpu_ms <= CPU_WANTED, f"server included; {calls / free.seconds:.0f} calls/s"),
        row("spent_of_cap", round(share, 4), "share", 1.0, capped.run.done, 0.98 <= share <= 1,
            f"${capped.run.cost:.4f} of ${CAP:.2f}; {capped.run.message[:600]}"),
    ]  # fmt: skip


def row(
    name: str, value: float, unit: str, wanted: float, n: int, good: bool, note: str
) -> dict[str, object]:
    """Make a line of the result."""
    return {
        "name": name, "value": value, "unit": unit, "baseline": wanted,
        "ratio": value / wanted if wanted else None, "n": n,
        "note": note if good else f"short; {note}",
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--samples", type=int, default=300, help="each makes about seven calls")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--at-once", type=int, default=16, help="calls that an endpoint allows")
    parser.add_argument("--latency", type=float, default=0.1, help="seconds a reply takes")
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="atom-many-"))
    try:
        with tempfile.TemporaryDirectory() as folder, postgres(root) as (store, server):
            free = one_run(Path(folder), store, server, "free", args, price=1.0)
            price = 1.5 * CAP / free.run.cost
            capped = one_run(Path(folder), store, server, "capped", args, price=price, budget=CAP)
    finally:
        for place in (root, Path(f"{root}-files")):
            shutil.rmtree(place, ignore_errors=True)
    found = rows_of(free, capped, args)
    for line in found:
        text = json.dumps(line) if args.json else "  ".join(f"{k}={v}" for k, v in line.items())
        sys.stdout.write(f"{text}\n")
    return int(any(str(line["note"]).startswith("short") for line in found))


if __name__ == "__main__":
    sys.exit(main())
