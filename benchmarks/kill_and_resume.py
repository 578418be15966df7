"""Kill a run again and again, resume it, and compare it with one that nobody touched.

A study of fresh probes is judged through the probe endpoint, served over HTTP by a process of its
own, while one request in ten meets a fault of every kind. One run is left alone; the other is
killed (SIGKILL) at random moments and resumed each time. In the end both must hold the same
checkpoints, and the killed one must have asked hardly more than the other.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.probes.serving.faults import ALL_FAULTS
from atom.records import Call, Checkpoint, Response, Run, Sampling, Study
from atom.store import Store, check_store

PROJECT = Path(__file__).resolve().parent.parent
ITEMS_A_SAMPLE = 3
"""Replay, criteria, mapping; each candidate adds an answer and a scoring."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of it."""

    items: int
    calls: int
    sent: int
    sent_unbroken: int
    kills: int
    checkpoints: int
    differences: tuple[str, ...]
    problems: tuple[str, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether both runs hold the same."""
        return not self.differences and not self.problems


def atom(*words: str, **options: object) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "atom", *words],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )


@contextmanager
def served(folder: Path, faults: float, latency: float) -> Iterator[str]:
    """Serve the probe endpoint with faults of every kind, and give its base URL."""
    config = {
        "latency": latency,
        "jitter": 0.5,
        "faults": {
            "rates": {name: faults / len(ALL_FAULTS) for name in ALL_FAULTS},
            "retry_after": 0.1,
            "stall": 0.2,
        },
    }
    file = folder / "probe.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    server = atom("probe", "serve", "--json", "--config", str(file), stdout=subprocess.PIPE)
    assert server.stdout is not None
    try:
        text = b""
        while not text.rstrip().endswith(b"}"):
            line = server.stdout.readline()
            if not line:
                raise RuntimeError("the probe server didn't start")
            text += line
        yield str(json.loads(text)["base_url"])
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()


def write_endpoints(file: Path, base_url: str, candidates: int) -> list[str]:
    """List the judge and the candidates at the served endpoint; return the candidates' names."""
    names = [f"http-{letter}" for letter in "abcdefgh"[:candidates]]
    rows = [
        {"name": "http-judge", "model": "probe-judge", "roles": ["judge"]},
        *({"name": name, "model": f"model-{name[-1]}", "roles": ["candidate"]} for name in names),
    ]
    shared = {"base_url": base_url, "concurrency": 8, "timeout": 20.0}
    prices = {"prices": {"input": 1.0, "output": 2.0}}
    file.write_text(yaml.safe_dump([{**row, **shared, **prices} for row in rows]), "utf-8")
    return names


def make_study(place: Path, samples: int) -> None:
    """Draw the same probes into a store."""
    words = ["probe", "make", "--samples", str(samples), "--seed", "7", "--families", "charts"]
    made = atom(*words, "--study", "Kill", "--store", str(place), stdout=subprocess.DEVNULL)
    if made.wait(600):
        raise RuntimeError("the probes couldn't be drawn")
    # Greedy answers: what a request brings depends on the request alone.
    with Store.open(place) as store:
        (study,) = store.select(Study)
        store.replace([study.model_copy(update={"answer_sampling": Sampling(temperature=0.0)})])


def start_words(place: Path, endpoints: Path, candidates: list[str]) -> list[str]:
    """Return the words of `run start`."""
    return [
        "run", "start", "--study", "Kill", "--judge", "http-judge",
        "--candidates", ",".join(candidates), "--store", str(place),
        "--endpoints", str(endpoints), "--json",
    ]  # fmt: skip


def whole_run(place: Path, endpoints: Path, candidates: list[str]) -> None:
    """Run without a disturbance."""
    process = atom(*start_words(place, endpoints, candidates), stdout=subprocess.DEVNULL)
    if process.wait(3600):
        raise RuntimeError("the undisturbed run failed")


def killed_run(
    place: Path, endpoints: Path, candidates: list[str], *, kills: int, items: int, seed: int
) -> int:
    """Run, kill at random points, resume; return how often it was killed while it worked."""
    chance = random.Random(seed)
    marks = sorted(chance.sample(range(1, max(items - 5, kills + 1)), kills))
    words = start_words(place, endpoints, candidates)
    killed = 0
    for mark in marks:
        process = atom(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        words = ["run", "resume", "--store", str(place), "--endpoints", str(endpoints), "--json"]
        while process.poll() is None and done_items(place) < mark:
            time.sleep(0.01)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
    if killed or process.returncode:
        last = atom(*words, stdout=subprocess.DEVNULL)
        if last.wait(3600):
            raise RuntimeError("the last resumption failed")
    return killed


def done_items(place: Path) -> int:
    """Return how many items the newest run has done."""
    with Store.open(place) as store:
        return max((run.done for run in store.select(Run)), default=0)


def contents(store: Store) -> dict[str, tuple[object, ...]]:
    """Return what each checkpoint and each response says, by key."""
    found: dict[str, tuple[object, ...]] = {}
    for point in store.select(Checkpoint):
        found[point.key] = (point.state, point.score, point.quote, point.reason, point.detail)
    for response in store.select(Response):
        found[response.id] = (response.state, response.text, response.detail)
    return found


def compare(folder: Path, *, calls: int, kills: int, faults: float, latency: float) -> Verdict:
    """Do both runs and compare them."""
    begun = time.monotonic()
    candidates_wanted = 2
    samples = max(1, round(calls / (ITEMS_A_SAMPLE + 2 * candidates_wanted)))
    alone, hunted = folder / "alone", folder / "hunted"
    with served(folder, faults, latency) as base_url:
        endpoints = folder / "endpoints.yaml"
        candidates = write_endpoints(endpoints, base_url, candidates_wanted)
        for place in (alone, hunted):
            make_study(place, samples)
        whole_run(alone, endpoints, candidates)
        with Store.open(alone) as store:
            expected = contents(store)
            sent_unbroken = sum(call.attempts for call in store.select(Call))
            items = max(run.done for run in store.select(Run))
        killed = killed_run(hunted, endpoints, candidates, kills=kills, items=items, seed=calls)
    with Store.open(hunted) as store:
        got = contents(store)
        stored = store.select(Call)
        report = check_store(store, pictures=False)
        states = {run.state for run in store.select(Run)}
    differences = [
        f"{key}: {expected.get(key)!r} is {got.get(key)!r}"
        for key in sorted(expected.keys() | got.keys())
        if expected.get(key) != got.get(key)
    ]
    problems = list(report.problems) + [f"a run is {state}" for state in states - {"done"}]
    return Verdict(
        items=items,
        calls=len(stored),
        sent=sum(call.attempts for call in stored),
        sent_unbroken=sent_unbroken,
        kills=killed,
        checkpoints=len(got),
        differences=tuple(differences),
        problems=tuple(problems),
        seconds=time.monotonic() - begun,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="about so many calls")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--faults", type=float, default=0.1, help="share of requests")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds a reply takes")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        verdict = compare(
            Path(folder),
            calls=args.calls,
            kills=args.kills,
            faults=args.faults,
            latency=args.latency,
        )
    row = {
        "name": "kill_and_resume",
        "value": len(verdict.differences) + len(verdict.problems),
        "unit": "differences",
        "baseline": 0,
        "ratio": verdict.sent / verdict.sent_unbroken,
        "n": verdict.items,
        "note": ("" if verdict.ok else "short: ")
        + f"{verdict.kills} kills, {verdict.checkpoints} results equal by key, "
        f"{verdict.calls} calls stored, {verdict.seconds:.0f} s",
    }
    if args.json:
        sys.stdout.write(json.dumps(row) + "\n")
    else:
        sys.stdout.write("".join(f"{name}: {value}\n" for name, value in row.items()))
        sys.stdout.write("".join(f"{line}\n" for line in verdict.differences[:10]))
        sys.stdout.write("".join(f"{line}\n" for line in verdict.problems))
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main())
