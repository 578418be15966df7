"""A whole run against a stand-in for each provider and server that has a preset.

Each fake (`_fakes.py`) refuses what its vendor refuses, in its words, and replies, counts and
writes boxes as it does; the probe endpoint answers behind it. A small study of fresh probes is
answered and judged with sixty-four calls in flight. Every item has to be scored, none lost, every
refusal named among the adaptations, and every box where the probe's own judge puts it. Rows that
miss any of that are `short`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.engine.demo import add_probes
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judge.servers.presets import find_preset
from atom.probes.worlds.make import make_probes
from atom.records import Call, Checkpoint, CriteriaSet, Endpoint, Replay, Response, Study
from atom.records import Mapping as LeafMapping
from atom.store import Store
from benchmarks._fakes import FAKES, Fake, FakeServer, serving

CONCURRENCY = 64
CANDIDATE = "model-h"
NEAR = 20
"""Thousandths: 2 % of a picture's side, by which a box may be off."""
ASKED: Mapping[str, object] = {
    "top_p": 0.9,
    "seed": 7,
    "max_tokens": 4096,
    "reasoning_effort": "low",
    "image_detail": "high",
}
"""What every endpoint asks for, so that there is something to refuse."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "response_format": ("structured replies were asked for as",),
    "schema keyword": ("was left out of the schemas",),
    "max_tokens": ("max_tokens was sent as", "replies were limited"),
    "system": ("the system text opened",),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a run against one fake came to.

    Args:
        server: the fake's name.
        items: results that a run has to bring: answers, replays, sets, mappings, checkpoints.
        scored: of these, scored.
        lost: unscored or failed.
        calls: calls in the store.
        requests: requests that the server got.
        refused: requests that it refused.
        in_flight: requests in flight at most.
        adapted: what was adapted, a line each.
        unnamed: parts that it refuses and no adaptation names.
        boxes: boxes in the replays.
        misplaced: boxes that aren't where the probe's own judge has them.
        seconds: wall time of the run.
        state: the run's state at its end.
    """

    server: str
    items: int
    scored: int
    lost: int
    calls: int
    requests: int
    refused: int
    in_flight: int
    adapted: tuple[str, ...]
    unnamed: tuple[str, ...]
    boxes: int
    misplaced: int
    seconds: float
    state: str

    @property
    def short(self) -> bool:
        """Whether anything is missing."""
        whole = self.items > 0 and self.scored == self.items and not self.lost
        told = not self.unnamed and not self.misplaced and self.boxes > 0
        return not (whole and told and self.state == "done")


def measure(fakes: Sequence[Fake], samples: int, seed: int = 23) -> Iterator[Row]:
    """Run the study against each fake.

    Args:
        fakes: the stand-ins.
        samples: probes in the study.
        seed: of the probes.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        drawn, known = Path(folder) / "drawn", Path(folder) / "known"
        study = _draw(drawn, samples, seed)
        copytree(drawn, known)
        built_in = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
        spec = RunSpec(study_id=study.id, judge="probe-judge", candidates=(CANDIDATE,))
        with Store.open(known) as store:
            asyncio.run(run(store, spec, built_in))
            true_boxes, items = _boxes(store), len(_results(store))
        for number, fake in enumerate(fakes):
            place = Path(folder) / str(number)
            copytree(drawn, place)
            yield _one(fake, place, study, true_boxes, items)


def _draw(place: Path, samples: int, seed: int) -> Study:
    study = Study(id=Study.make_id("Dialects"), name="Dialects", synthetic=True)
    with Store.open(place) as store:
        store.put([study])
        probes = make_probes(samples, seed, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, seed, total=samples, tell=lambda *_: None)
    return study


def endpoints_of(fake: Fake, host: str) -> dict[str, Endpoint]:
    """Set up a judge and a candidate at a fake, from its preset.

    Args:
        fake: the stand-in.
        host: its address, without a path.
    """
    preset = find_preset(fake.preset)
    asks = {**ASKED, "concurrency": CONCURRENCY, "timeout": 60.0, **fake.asks}
    if "boxes" not in asks:
        # As `endpoint test` finds it out.
        asks["boxes"] = fake.boxes
    made: dict[str, Endpoint] = {}
    for name, model in (("judge", fake.model), ("candidate", f"{fake.model}-candidate")):
        base = preset.endpoint(name=name, model=model, base_url=f"probe:{host}{fake.path}")
        made[name] = base.model_copy(update={**asks, "key_env": None})
    return made


def _one(
    fake: Fake,
    place: Path,
    study: Study,
    true_boxes: Mapping[tuple[str, int], tuple[int, ...]],
    items: int,
) -> Row:
    names = {fake.model: "probe-judge", f"{fake.model}-candidate": CANDIDATE}
    server = FakeServer(fake, names)
    if fake.needs:
        os.environ["AZURE_OPENAI_API_KEY"] = fake.needs[1]
    spec = RunSpec(study_id=study.id, judge="judge", candidates=("candidate",))
    with serving(server) as host, Store.open(place) as store:
        started = time.perf_counter()
        row = asyncio.run(run(store, spec, endpoints_of(fake, host)))
        seconds = time.perf_counter() - started
        results = _results(store)
        calls = store.select(Call)
        boxes = _boxes(store)
    adapted = tuple(sorted({line for call in calls for line in call.adapted}))
    misplaced = sum(not _near(box, true_boxes.get(name)) for name, box in boxes.items())
    return Row(
        server=fake.name,
        items=items,
        scored=sum(state == "scored" for state in results),
        lost=sum(state != "scored" for state in results) + max(0, items - len(results)),
        calls=len(calls),
        requests=server.counts["requests"],
        refused=server.counts["refused"],
        in_flight=server.counts["in flight"],
        adapted=adapted,
        unnamed=tuple(sorted(part for part in fake.teaches if not _named(part, adapted))),
        boxes=len(boxes),
        misplaced=misplaced + len(true_boxes.keys() - boxes.keys()),
        seconds=round(seconds, 1),
        state=row.state,
    )


def _results(store: Store) -> list[str]:
    """Return the state of everything that a run brings."""
    return [
        *(one.state for one in store.select(Response)),
        *(one.state for one in store.select(Replay)),
        *(one.state for one in store.select(CriteriaSet)),
        *(one.state for one in store.select(LeafMapping)),
        *(one.state for one in store.select(Checkpoint)),
    ]


def _boxes(store: Store) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the boxes of all replays, by sample and place."""
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    for replay in store.select(Replay):
        regions = [region for step in replay.steps for region in step.regions]
        for number, region in enumerate(regions):
            found[replay.sample_id, number] = region.box
    return found


def _near(box: tuple[int, ...], true: tuple[int, ...] | None) -> bool:
    return true is not None and all(
        abs(one - other) <= NEAR for one, other in zip(box, true, strict=True)
    )


def _named(part: str, adapted: Sequence[str]) -> bool:
    words = _WORDS.get(part, (f"{part} was left out",))
    return any(word in line for word in words for line in adapted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--samples", type=int, default=64, help="probes in the study")
    parser.add_argument("--only", nargs="*", default=(), help="presets; all when left out")
    options = parser.parse_args()
    chosen = [fake for fake in FAKES if not options.only or fake.preset in options.only]
    short = 0
    for row in measure(chosen, options.samples):
        short += row.short
        shown = {**{name: getattr(row, name) for name in Row.__dataclass_fields__},
                 "short": row.short}  # fmt: skip
        if options.json:
            sys.stdout.write(json.dumps(shown) + "\n")
        else:
            mark = "short" if row.short else "ok"
            sys.stdout.write(
                f"{row.server:22} {mark:5} {row.scored}/{row.items} scored, {row.lost} lost, "
                f"{row.requests} requests, {row.refused} refused, {row.in_flight} in flight, "
                f"{row.misplaced}/{row.boxes} boxes misplaced, {row.seconds} s\n"
            )
            sys.stdout.writelines(f"    {line}\n" for line in row.adapted)
        sys.stdout.flush()
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
