"""Load on the app: many sessions at once on a large study, then studies of odd sizes, page by page.

Sessions speak Streamlit's own protocol over websockets, as browsers do, and walk from page to
page. A row of sessions holds errors, how long a page took, and the server's memory at the start,
after the first minute and at the end; the last tells a leak. A row of sizes holds the processor
time of each page of a study (limit: two seconds), so it can be read on a busy machine, too, and
what was sent of it (limit: five megabytes).

    python benchmarks/load.py --json --sessions 50 --seconds 180 --rows 1000000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from websockets.asyncio.client import ClientConnection

from atom.engine.demo.build import DEMO_NAME
from atom.records import Candidate, Judge, Sample, Study, Tag
from atom.store import Store
from atom.store.store import DATABASE
from benchmarks._study_store import make_study, plant_rows
from benchmarks.attacks._app import Running, running_app
from benchmarks.attacks._line import Line, reach
from tests.planted import WorldSettings, plant

PAGES = (
    "", "tree", "fingerprints", "failures", "compare", "replay", "correction", "runs",
    "judge-lab", "human-check", "reports", "data", "settings",
)  # fmt: skip
"""Addresses of pages that are walked through."""
MOST_SECONDS = 2.0
"""Processor time that a page of a study of an odd size may take."""
MOST_MEGABYTES = 5.0
"""What may be sent of such a page; Reports sends the report itself."""
GROWTH = 1.15
"""What memory may be at the end, in shares of what it was in the middle: some of it is noise."""
LONG = 5_000
"""Characters of a name that nobody expects."""
_PAUSE = 1.0
"""Seconds that somebody looks at a page."""
_GLANCE = 2.0
"""Seconds between two looks at the server's memory."""
_IDLE = 0.02
"""Share of a processor that an app takes while it does nothing."""
_BACKGROUND = 0.2
"""Seconds of work after a page was drawn that tell of something in the background."""
SIZES = {
    "200 models": WorldSettings(samples=60, models=200),
    "2,000 leaves": WorldSettings(samples=2_500, models=3, flat_leaves=2_000),
    "60 candidates on a sample": WorldSettings(samples=1, models=60),
    "one sample": WorldSettings(samples=1, models=2),
    "names of 5,000 characters": WorldSettings(samples=40, models=4),
    "nothing scored": WorldSettings(samples=20, models=2, unscored=1.0),
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """What many sessions met.

    Args:
        sessions: at once.
        seconds: how long.
        views: pages that were drawn to their end.
        errors: pages that showed an exception, or never came.
        p50: seconds to a whole page, half of them.
        p95: nineteen of twenty.
        start: megabytes that the server held before anybody came, after its first page.
        minute: after the first minute.
        end: at the end.
        curve: megabytes at each tenth of the time, the start and the end among them.
        threads: of the server's processes in the middle and at the end, when every session is over.
        handles: open files and sockets then.
        which: what the pages in error said, each once.
    """

    sessions: int
    seconds: float
    views: int
    errors: int
    p50: float
    p95: float
    start: float
    minute: float
    end: float
    curve: tuple[float, ...]
    threads: tuple[int, int]
    handles: tuple[int, int]
    which: tuple[str, ...]

    @property
    def leaks(self) -> bool:
        """Whether memory, threads or handles grew in the second half, when all is warm."""
        pairs = ((self.curve[len(self.curve) // 2], self.end), self.threads, self.handles)
        return any(end > GROWTH * early for early, end in pairs)


@dataclass(frozen=True, kw_only=True)
class Size:
    """A page of a study of an odd size.

    Args:
        study: what is odd.
        page: its address.
        processor: seconds until it was drawn; of a page that goes on in the background the longer
            of two: until it said so, and, drawn anew when that was over, until it showed it.
        background: seconds that went on meanwhile.
        sent: megabytes that the page took, of its first drawing.
        error: what went wrong; empty where it held.
    """

    study: str
    page: str
    processor: float
    background: float
    sent: float
    error: str


class Visitor:
    """A session in a study."""

    def __init__(self, line: ClientConnection, study: str) -> None:
        self._line = Line(line)
        self._study = study

    @property
    def sent(self) -> float:
        """Megabytes that the page took that was seen last."""
        return self._line.sent / 1e6

    async def see(self, page: str) -> str:
        """Ask for a page and wait for its end; return what it showed wrong."""
        return await self._line.see(page, urlencode({"study": self._study}))


async def load(app: Running, study: str, sessions: int, seconds: float, pages: int) -> Load:
    """Walk through pages in many sessions at once.

    Args:
        app: the app.
        study: the study's id.
        sessions: how many.
        seconds: how long.
        pages: at most so many page switches in all.
    """
    took: list[float] = []
    wrong: list[str] = []
    async with reach(app) as line:
        await Visitor(line, study).see("")
    start = memory_of(app)
    begun = time.monotonic()

    async def walk(number: int) -> None:
        async with reach(app) as line:
            visitor = Visitor(line, study)
            at = number
            while time.monotonic() - begun < seconds and len(took) + len(wrong) < pages:
                before = time.monotonic()
                try:
                    error = await visitor.see(PAGES[at % len(PAGES)])
                except TimeoutError:
                    error = "it never came"
                if error:
                    wrong.append(f"{PAGES[at % len(PAGES)] or 'start'}: {error}")
                else:
                    took.append(time.monotonic() - before)
                at += 1
                await asyncio.sleep(_PAUSE)

    held = [(0.0, start)]
    counts = [(0.0, *counts_of(app))]

    async def watch() -> None:
        while True:
            await asyncio.sleep(_GLANCE)
            held.append((time.monotonic() - begun, memory_of(app)))
            counts.append((time.monotonic() - begun, *counts_of(app)))

    watching = asyncio.create_task(watch())
    async with asyncio.TaskGroup() as group:
        for number in range(sessions):
            group.create_task(walk(number))
    watching.cancel()
    lasted = time.monotonic() - begun
    held.append((lasted, memory_of(app)))
    await asyncio.sleep(_GLANCE)
    early = min(counts, key=lambda glance: abs(glance[0] - lasted / 2))
    threads, handles = zip(early[1:], counts_of(app), strict=True)
    cuts = statistics.quantiles(took, n=20) if len(took) > 1 else [0.0] * 19
    return Load(
        sessions=sessions,
        seconds=round(lasted, 1),
        views=len(took),
        errors=len(wrong),
        p50=round(cuts[9], 2),
        p95=round(cuts[18], 2),
        start=start,
        minute=_at(held, min(60.0, lasted / 2)),
        end=held[-1][1],
        curve=tuple(_at(held, lasted * tenth / 10) for tenth in range(11)),
        threads=threads,
        handles=handles,
        which=tuple(dict.fromkeys(wrong)),
    )


def _at(held: Sequence[tuple[float, float]], seconds: float) -> float:
    """Return the megabytes that were held at a time, by the nearest glance."""
    return min(held, key=lambda glance: abs(glance[0] - seconds))[1]


async def measure_pages(app: Running, study: str, words: str) -> list[Size]:
    """Draw each page of a study once."""
    found = []
    async with reach(app) as line:
        bundled = Visitor(line, DEMO_NAME)
        for page in PAGES:
            await bundled.see(page)  # loads every page's modules, whose time is no study's
        visitor = Visitor(line, study)
        await visitor.see("")  # what every page reads is read once
        for page in PAGES:
            took, behind, error = await _draw(app, visitor, page)
            sent = visitor.sent
            if behind > _BACKGROUND and not error:
                again, _, error = await _draw(app, visitor, page)
                took = max(took, again)
            found.append(
                Size(study=words, page=page or "start", error=error, processor=round(took, 2),
                     background=round(behind, 2), sent=round(sent, 2))
            )  # fmt: skip
    return found


async def _draw(app: Running, visitor: Visitor, page: str) -> tuple[float, float, str]:
    """Draw a page; return the seconds until it was drawn, those that went on, and its error."""
    before = processor_of(app)
    try:
        error = await visitor.see(page)
    except TimeoutError:
        error = "it never came"
    drawn = last = processor_of(app)
    while True:
        await asyncio.sleep(_GLANCE)
        now = processor_of(app)
        if now - last < _IDLE * _GLANCE:
            return drawn - before, now - drawn, error
        last = now


# --- the server's processes ----------------------------------------------------------------------


def _processes(app: Running) -> Iterator[tuple[Path, list[str]]]:
    """Give each process of the app: its place in /proc, and what the kernel says of it."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == app.group:
            yield place, fields


def counts_of(app: Running) -> tuple[int, int]:
    """Return how many threads the app's processes have, and how many files and sockets."""
    threads = handles = 0
    for place, fields in _processes(app):
        threads += int(fields[17])
        with suppress(OSError):
            handles += sum(1 for _ in (place / "fd").iterdir())
    return threads, handles


def memory_of(app: Running) -> float:
    """Return the megabytes that the app's processes hold."""
    page = os.sysconf("SC_PAGESIZE")
    return round(sum(int(fields[21]) for _, fields in _processes(app)) * page / 1e6, 1)


def processor_of(app: Running) -> float:
    """Return the seconds of processor time that the app's processes took."""
    ticks = sum(int(field) for _, fields in _processes(app) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


# --- studies -------------------------------------------------------------------------------------


def _of_size(name: str, folder: Path) -> str:
    """Write a study of an odd size; return its id."""
    if name == "nothing at all":
        with Store.open(folder) as store:
            study = Study(id=Study.make_id(name), name=name)
            store.put([study])
        return study.id
    world = plant(SIZES[name], np.random.default_rng(1))
    if not name.startswith("names"):
        return make_study(folder, world, name).id
    leaves = tuple(tuple(_far_too_long(part) for part in path) for path in world.leaves)
    study = make_study(folder, replace(world, leaves=leaves), name)
    _lengthen(folder)
    return study.id


def _far_too_long(name: str) -> str:
    """Make a name that goes on and on, the latter half without a space."""
    words = f"{name} goes on and on, as a path in a pipeline does: " * LONG
    return f"{words[: LONG // 2]}{'x' * (LONG // 2)}"


def _lengthen(folder: Path) -> None:
    """Give every model, judge, data set and label a name that is far too long."""
    with Store.open(folder) as store:
        for kind in (Candidate, Judge):
            store.replace(
                row.model_copy(update={"name": _far_too_long(row.name)})
                for row in store.select(kind)
            )
        store.replace(
            sample.model_copy(update={"dataset": _far_too_long(sample.dataset)})
            for sample in store.select(Sample)
        )
        store.put(
            tag.model_copy(
                update={"facet": _far_too_long(tag.facet), "value": _far_too_long(tag.value)}
            )
            for tag in store.select(Tag)
        )


def measure_sizes(names: Sequence[str]) -> Iterator[Size]:
    """Draw the pages of each odd study in an app of its own."""
    for name in names:
        with tempfile.TemporaryDirectory(prefix="atomscope-size-") as place:
            study = _of_size(name, Path(place))
            with running_app(Path(place)) as app:
                yield from asyncio.run(measure_pages(app, study, name))


def measure_load(
    sessions: int, seconds: float, rows: int, pages: int, kept: Path | None = None
) -> Load:
    """Let sessions loose on a study of so many checkpoints.

    Args:
        sessions: how many.
        seconds: how long.
        rows: checkpoints.
        pages: page switches in all, at most.
        kept: where the study is kept, to be measured again; made there where there is none.
    """
    with tempfile.TemporaryDirectory(prefix="atomscope-load-") as place:
        folder = kept or Path(place)
        study = _study_of(folder, rows)
        with running_app(folder) as app:
            return asyncio.run(load(app, study, sessions, seconds, pages))


def _study_of(folder: Path, rows: int) -> str:
    if not (folder / DATABASE).exists():
        return make_study(folder, plant_rows(rows)).id
    with Store.open(folder) as store:
        return store.select(Study)[0].id


def main() -> int:
    """Measure, and write a row each."""
    names = (*SIZES, "nothing at all")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--rows", type=int, default=1_000_000, help="checkpoints")
    parser.add_argument("--pages", type=int, default=10**9, help="page switches in all")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the large study there")
    parser.add_argument("--only", choices=("load", "sizes"))
    parser.add_argument("--sizes", nargs="*", default=names, choices=names)
    options = parser.parse_args()
    fell = False

    def told(row: Load | Size) -> None:
        line = json.dumps(asdict(row)) if options.json else str(row)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    if options.only != "sizes":
        found = measure_load(
            options.sessions, options.seconds, options.rows, options.pages, options.keep
        )
        fell |= bool(found.errors) or found.leaks
        told(found)
    if options.only != "load":
        for size in measure_sizes(options.sizes):
            fell |= bool(size.error) or size.processor > MOST_SECONDS
            fell |= size.sent > MOST_MEGABYTES
            told(size)
    return int(fell)


if __name__ == "__main__":
    sys.exit(main())
