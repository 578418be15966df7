"""A real app on loopback and a real browser that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.parse import parse_qsl, urlsplit
from urllib.request import urlopen

import pytest

from atom.ui.shell import welcome
from tests.e2e.failed import pictures
from tests.e2e.forked import Forked, fork

PROJECT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 120.0
PATIENCE_MS = 90_000
"""How long anything is waited for; other work may share the machine, and no test asserts a time."""
Process = subprocess.Popen[bytes] | Forked
STAGE = {"width": 1280, "height": 720}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
ALONE = "--proxy-server=127.0.0.1:9"
"""Sends to a port where nobody listens whatever isn't for this computer. A route would ask Python
about every request, and turn the browser's cache off."""


@dataclass(frozen=True, kw_only=True)
class App:
    """A running app.

    Args:
        url: its address, without a final slash.
        enter: the address that lets a browser in, as the launcher printed it.
        log: the file that holds its output.
        store: the store that it was started with.
    """

    url: str
    enter: str
    log: Path
    store: Path

    def output(self) -> str:
        """Return what the app has written so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What a browser met while a test ran."""

    foreign: list[str] = field(default_factory=list)
    """Requests beyond this computer; they get no answer."""
    errors: list[str] = field(default_factory=list)
    """Uncaught errors in the page."""


@dataclass(frozen=True, kw_only=True)
class Doorkeeper:
    """Lets every fresh profile into every app, as its user would by the printed address."""

    apps: list[App] = field(default_factory=list)
    contexts: list = field(default_factory=list)

    def opened(self, app: App) -> None:
        """Let the profiles that are open into a new app."""
        self.apps.append(app)
        for context in self.contexts:
            context.add_cookies(cookies_of(app))

    def came(self, context) -> None:
        """Let a new profile into the apps that are open, past the welcome page."""
        self.contexts.append(context)
        context.add_cookies([cookie for app in self.apps for cookie in cookies_of(app)])

    def left(self, context) -> None:
        """Forget a profile that is closed."""
        self.contexts.remove(context)


def cookie_of(app: App) -> dict[str, str]:
    """Return the cookie that the app's door sets."""
    secret = dict(parse_qsl(urlsplit(app.enter).query))["enter"]
    return {"name": f"atomscope_{urlsplit(app.url).port}", "value": secret, "url": app.url}


def cookies_of(app: App) -> list[dict[str, str]]:
    """Return the door's cookie, and the one of a browser that has seen the welcome page."""
    return [cookie_of(app), {"name": welcome.COOKIE, "value": "seen", "url": app.url}]


def printed_address(process: Process, log: Path) -> str:
    """Wait for the address with the secret; the launcher prints it when the app can be opened."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://\S+[?&]enter=\S+\n", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group(0).strip()
        time.sleep(0.2)
    pytest.fail(f"the app didn't start:\n{log.read_text(encoding='utf-8')[-3000:]}")


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(process: Process, url: str, log: Path) -> None:
    """Wait for the app's own health page."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urlopen(f"{url}/_stcore/health", timeout=2) as reply:
                if reply.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"the app didn't start:\n{log.read_text(encoding='utf-8')[-3000:]}")


def stop(process: Process) -> None:
    """End the app and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            process.wait(timeout=15)
            return
        except subprocess.TimeoutExpired:
            continue


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add to a failure where a picture of each open page is, and the page's address."""
    report = yield
    if report.failed and report.when != "teardown":
        lines = pictures(getattr(item, "funcargs", {}).values(), item.name)
        report.sections += [("What the browser showed", "\n".join(lines))] if lines else []
    return report


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return the browser's path."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("needs Chromium (on Debian: apt-get install chromium)")
    return path


@pytest.fixture(scope="session")
def browser_path(chromium_path: str) -> str:
    """Return the path of the browser that draws pages and no window of its own, where it is there.

    A page in Chromium costs five seconds of processor time, three in its shell: what the window
    and its toolbars take, which are pages, too. `test_door` and `test_newcomer` use the whole one.
    """
    return shutil.which("chromium-headless-shell") or chromium_path


@pytest.fixture(scope="session")
def doorkeeper() -> Doorkeeper:
    """Return who lets profiles into apps."""
    return Doorkeeper()


@contextmanager
def _starter(
    doorkeeper: Doorkeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., App]]:
    """Give a function that starts an app, and end what it started."""
    running: list[Process] = []

    def start(
        store: Path | None = None,
        demo: Path | None = None,
        environ: dict[str, str] | None = None,
        *,
        as_users_do: bool = False,
    ) -> App:
        folder = tmp_path_factory.mktemp("app")
        store = store or folder / "workspace"
        port, log = free_port(), folder / "app.log"
        variables = os.environ | {"ATOM_STORE": str(store)} | (environ or {})
        if demo is not None:
            variables["ATOM_DEMO"] = str(demo)
        words = ["app", "--headless", "--port", str(port)]
        process = (_begin if as_users_do else fork)(words, variables, log)
        running.append(process)
        url = f"http://127.0.0.1:{port}"
        app = App(url=url, enter=printed_address(process, log), log=log, store=store)
        doorkeeper.opened(app)
        return app

    try:
        yield start
    finally:
        for process in running:
            stop(process)


def _begin(words: list[str], environ: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "atom", *words],
            cwd=PROJECT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@pytest.fixture(scope="module")
def start_app(
    chromium_path: str, doorkeeper: Doorkeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., App]]:
    """Return a function that starts an app, which ends with the module.

    Args of the function:
        store: a store's folder; a fresh empty one when None.
        demo: the bundled study's folder; the checkout's own when None.
        environ: further variables, for example a key.
        as_users_do: by `python -m atom`, not by a fork of what has imported all already.
    """
    assert chromium_path
    with _starter(doorkeeper, tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def app(
    chromium_path: str,
    doorkeeper: Doorkeeper,
    tmp_path_factory: pytest.TempPathFactory,
    project: Path,
) -> Iterator[App]:
    """Return an app on the bundled study and a fresh store, shared by all tests."""
    assert chromium_path
    if not (project / "data" / "demo" / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    with _starter(doorkeeper, tmp_path_factory) as start:
        yield start(as_users_do=True)


@pytest.fixture(scope="module")
def browser(browser_path: str):
    """Return a browser; it's closed with the module, since it holds an event loop."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, headless=True, args=[*FLAGS, ALONE]
        )
        yield browser
        browser.close()


@pytest.fixture
def visit() -> Visit:
    """Return the list of what the browser met; filled while `page` is used."""
    return Visit()


@pytest.fixture
def new_page(browser, doorkeeper: Doorkeeper, visit: Visit):
    """Return a function that opens a fresh profile: (scheme="light", **viewport) -> page."""
    contexts = []

    def open_page(scheme: str = "light", width: int = 1280, height: int = 720):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        doorkeeper.came(context)
        context.set_default_timeout(PATIENCE_MS)

        def note_foreign(asked) -> None:
            if urlsplit(asked.url).hostname not in {"127.0.0.1", "localhost", None}:
                visit.foreign.append(asked.url)

        context.on("request", note_foreign)
        page = context.new_page()
        page.on("websocket", note_foreign)
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        doorkeeper.left(context)
        context.close()


@pytest.fixture
def page(new_page, visit: Visit):
    """Return a page at the size of a stage; no request may leave this computer."""
    yield new_page(**STAGE)
    assert visit.foreign == []


@pytest.fixture
def shot(request: pytest.FixtureRequest, tmp_path: Path):
    """Return a function that takes a picture of the page: (page, name) -> file.

    Files go to the folder named by `ATOM_SHOTS`, else to the test's temporary folder.
    """
    folder = Path(os.environ.get("ATOM_SHOTS") or tmp_path)

    def take(page, name: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.png"
        page.screenshot(path=str(file), animations="disabled")
        return file

    return take
