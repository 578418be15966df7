"""How well the judge client keeps calls in flight, against a stub server in its own process.

Rows:
- `calls_in_flight_text`, `calls_in_flight_pictures`: calls a second with 64 in flight at 200 ms,
  as a share of the limit (320/s). Baseline: `AsyncOpenAI` as it comes, in the same run.
- `judged_samples`: seconds for 1,000 judged samples, whole process (start, calls, records written
  to a file). Baseline: inspect-ai on the same stub, where it can be imported.

Run: `python benchmarks/calls_in_flight.py --json`.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from _stub import running_stub

ROOT = Path(__file__).resolve().parent.parent
IN_FLIGHT = 64
LATENCY = 0.2
LIMIT = IN_FLIGHT / LATENCY
SHARE_WANTED = 0.85
TIMES_WANTED = 5.0
N_CALLS = 1280
N_SAMPLES = 1000
PICTURE_BYTES = 150_000
"""Encodes to 200 KB of base64."""
TEXT = "How well does the answer read the tallest bar of the chart? " * 34
"""About 2 KB."""
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
    "additionalProperties": False,
}

Ask = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the result."""

    name: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    n: int
    note: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One loop's speed."""

    share: float
    cpu_ms: float


async def run_pool(ask: Ask, n: int) -> None:
    """Keep `IN_FLIGHT` calls going until `n` are done."""
    numbers = iter(range(n))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


async def measure(ask: Ask, n: int) -> Measured:
    """Warm the connections up, then time `n` calls."""
    await run_pool(ask, IN_FLIGHT)
    wall, cpu = time.perf_counter(), time.process_time()
    await run_pool(ask, n)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Measured(share=n / wall / LIMIT, cpu_ms=1000 * cpu / n)


def pictures(count: int = 8) -> list[bytes]:
    """Draw noise, which doesn't compress, as PNGs of about `PICTURE_BYTES`."""
    import io

    import numpy as np
    from PIL import Image

    side = int((PICTURE_BYTES / 3) ** 0.5)
    made = []
    for seed in range(count):
        values = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(values).save(out, "PNG", compress_level=0)
        made.append(out.getvalue())
    return made


async def measure_ours(url: str, n: int, *, with_pictures: bool) -> Measured:
    from atom.judge import JudgeClient

    parts = [picture_part(data) for data in pictures()] if with_pictures else []
    async with JudgeClient(judge_endpoint(url)) as client:

        async def ask(number: int) -> None:
            reply = await client.ask(judge_request(number, parts[number % 8 : number % 8 + 1]))
            assert reply.ok, reply.reason

        return await measure(ask, n)


async def measure_plain(url: str, n: int, *, with_pictures: bool) -> Measured:
    """Time the library as it comes, with the picture encoded at each call."""
    from openai import AsyncOpenAI

    files = pictures() if with_pictures else []
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def ask(number: int) -> None:
            content: list[object] = [{"type": "text", "text": TEXT}]
            if files:
                data = base64.b64encode(files[number % 8]).decode()
                picture = {"url": f"data:image/png;base64,{data}"}
                content.insert(0, {"type": "image_url", "image_url": picture})
            reply = await client.chat.completions.create(
                model="stub",
                messages=[{"role": "user", "content": content}],  # type: ignore[list-item, misc]
            )
            assert json.loads(reply.choices[0].message.content or "")["score"] == 4

        return await measure(ask, n)


def judge_endpoint(url: str):  # noqa: ANN201 - the import below is part of what is timed
    from atom.records import Endpoint

    return Endpoint(
        name="stub",
        base_url=url,
        model="stub",
        concurrency=IN_FLIGHT,
        prices={"input": 1.0, "output": 1.0},
    )


def picture_part(data: bytes):  # noqa: ANN201
    from atom.judge import PicturePart

    return PicturePart.from_bytes(data)


def judge_request(number: int, parts: list[object]):  # noqa: ANN201
    from atom.judge import Request, TextPart
    from atom.records import Sampling

    return Request(
        task="scoring",
        prompt_id="scoring/1",
        system="Atomscope task: scoring/1",
        parts=(*parts, TextPart(text=f"{TEXT} Sample {number}.")),
        schema=SCHEMA,
        schema_name="atomscope_scoring",
        sampling=Sampling(temperature=0.0, max_tokens=1000),
    )


async def judge_samples(url: str, n: int, out: Path) -> None:
    """Judge `n` samples and write each call's record when it's done."""
    from atom.judge import JudgeClient

    with out.open("w", encoding="utf-8") as file:
        async with JudgeClient(judge_endpoint(url)) as client:

            async def ask(number: int) -> None:
                reply = await client.ask(judge_request(number, []))
                file.write(reply.call.model_dump_json() + "\n")

            await run_pool(ask, n)


def time_process(command: list[str], **environ: str) -> float | None:
    """Return a process's wall time, or None where it fails."""
    started = time.perf_counter()
    done = subprocess.run(
        command, env=os.environ | environ, capture_output=True, text=True, check=False
    )
    return None if done.returncode else time.perf_counter() - started


def can_import(python: str, name: str) -> bool:
    found = subprocess.run(
        [python, "-c", f"import {name}"], capture_output=True, check=False
    ).returncode
    return found == 0


def in_flight_row(url: str, n: int, *, with_pictures: bool) -> Row:
    ours = asyncio.run(measure_ours(url, n, with_pictures=with_pictures))
    plain = asyncio.run(measure_plain(url, n, with_pictures=with_pictures))
    short = "" if ours.share >= SHARE_WANTED else f"short of {SHARE_WANTED:.0%}; "
    return Row(
        name="calls_in_flight_pictures" if with_pictures else "calls_in_flight_text",
        value=round(ours.share, 3),
        unit="share of limit",
        baseline=round(plain.share, 3),
        ratio=round(ours.share / plain.share, 2),
        n=n,
        note=f"{short}{IN_FLIGHT} in flight at {LATENCY * 1000:.0f} ms, "
        f"{ours.cpu_ms:.1f} CPU ms a call (AsyncOpenAI as it comes: {plain.cpu_ms:.1f})",
    )


def judged_row(url: str, n: int, peer_python: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        ours = time_process(
            [sys.executable, __file__, "--child", url, str(n), str(Path(folder) / "calls.jsonl")]
        )
        if ours is None:
            raise SystemExit("the judged-samples process failed")
        peer = None
        note = "whole process; inspect-ai can't be imported here, so nothing was compared"
        if can_import(peer_python, "inspect_ai"):
            script = str(Path(__file__).with_name("_inspect_peer.py"))
            peer = time_process([peer_python, script, url, str(n), str(IN_FLIGHT), folder])
            note = "whole process, against inspect-ai's in the same run"
            if peer is None:
                note = "whole process; inspect-ai's run failed, so nothing was compared"
    ratio = None if peer is None else peer / ours
    if ratio is not None and ratio < TIMES_WANTED:
        note = f"short of {TIMES_WANTED:g} times; {note}"
    return Row(
        name="judged_samples",
        value=round(ours, 2),
        unit="s",
        baseline=None if peer is None else round(peer, 2),
        ratio=None if ratio is None else round(ratio, 2),
        n=n,
        note=f"{note}; the stub's limit is {n / LIMIT:.1f} s",
    )


def show(row: Row, *, as_json: bool) -> None:
    fields = vars(row)
    text = json.dumps(fields) if as_json else "  ".join(f"{k}={v}" for k, v in fields.items())
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--calls", type=int, default=N_CALLS, help="calls for each share")
    parser.add_argument("--samples", type=int, default=N_SAMPLES, help="judged samples")
    parser.add_argument(
        "--inspect-python", default=sys.executable, help="a Python that has inspect-ai"
    )
    parser.add_argument("--child", nargs=3, metavar=("URL", "N", "OUT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        url, n, out = given.child
        asyncio.run(judge_samples(url, int(n), Path(out)))
        return
    with running_stub(LATENCY) as url:
        show(in_flight_row(url, given.calls, with_pictures=False), as_json=given.json)
        show(in_flight_row(url, given.calls, with_pictures=True), as_json=given.json)
        show(judged_row(url, given.samples, given.inspect_python), as_json=given.json)


sys.path.insert(0, str(ROOT))

if __name__ == "__main__":
    main()
