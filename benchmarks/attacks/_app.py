"""A running app and a browser that looks at it, for attacks from outside."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import urlopen

from benchmarks.attacks._tried import CannotTryError

ROOT = Path(__file__).resolve().parents[2]
EVIL = "evil.example"
"""A name that the browser is told to look for on this computer."""
INSIDE = "section[data-testid='stSidebar']"
PATIENCE_MS = 90_000
_START_SECONDS = 120
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
          "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--disable-dev-shm-usage", f"--host-resolver-rules=MAP {EVIL} 127.0.0.1")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Running:
    """An app that answers.

    Args:
        url: its address, without a final slash.
        enter: the address that lets a browser in.
        log: what it wrote.
        group: number of its processes' group.
    """

    url: str
    enter: str
    log: Path
    group: int = 0

    @property
    def port(self) -> int:
        """The port it listens on."""
        return urlsplit(self.url).port or 0

    @property
    def cookie(self) -> dict[str, str]:
        """What the door sets, as a browser keeps it."""
        secret = dict(parse_qsl(urlsplit(self.enter).query))["enter"]
        return {"name": f"atomscope_{self.port}", "value": secret, "url": self.url}


@contextmanager
def running_app(
    store: Path | None = None,
    demo: Path | None = None,
    environ: Mapping[str, str] | None = None,
    deployment: Callable[[str, Path], Path] | None = None,
) -> Iterator[Running]:
    """Start the app by its own command, and end it.

    Args:
        store: the user's store; an empty one when None.
        demo: the bundled study's folder; the checkout's own when None.
        environ: further variables.
        deployment: writes a deployment's file for an address into a folder, and says where it is;
            people sign in then, and no secret is printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        variables = {**os.environ, "ATOM_STORE": str(store or place / "store"), **(environ or {})}
        if demo is not None:
            variables["ATOM_DEMO"] = str(demo)
        url = f"http://127.0.0.1:{port}"
        words = ["--headless", "--port", str(port)]
        if deployment is not None:
            words += ["--deployment", str(deployment(url, place))]
        log = place / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "atom", "app", *words],
                cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        try:
            _wait(url, process)
            if deployment is not None:
                yield Running(url=url, enter=url, log=log, group=process.pid)
                return
            yield Running(url=url, enter=_printed(process, log), log=log, group=process.pid)
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                try:
                    process.wait(timeout=15)
                    break
                except subprocess.TimeoutExpired:
                    continue


def _printed(process: subprocess.Popen[bytes], log: Path) -> str:
    """Wait for the address with the secret, which is printed when the app can be opened."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://\S+[?&]enter=\S+\n", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group(0).strip()
        time.sleep(0.3)
    raise CannotTryError("the app printed no address")


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), urlopen(f"{url}/_stcore/health", timeout=5):
            return
        time.sleep(0.3)
    raise CannotTryError("the app didn't start")


@contextmanager
def browser() -> Iterator[Any]:
    """Open a Chromium for which `EVIL` is this computer."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise CannotTryError("there is no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, headless=True, args=list(_FLAGS))
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def visitor(opened: Any, app: Running | None = None) -> Iterator[Any]:
    """Open a page of a fresh profile; let it into the app where one is given."""
    context = opened.new_context()
    try:
        context.set_default_timeout(PATIENCE_MS)
        if app is not None:
            context.add_cookies([app.cookie])
        yield context.new_page()
    finally:
        context.close()
