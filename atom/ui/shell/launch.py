"""Starts the dashboard in this process, behind its door."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from html import escape
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from atom.deployment import Deployment
from atom.errors import SettingsError, UsageError
from atom.settings import PROJECT_ROOT, Settings
from atom.ui.shell import crowd, team, warm
from atom.ui.shell.door import Door, Lock
from atom.ui.shell.first_paint import FirstPaint, PageParts
from atom.ui.shell.team import install_policy as install_policy

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8501
TRIED_PORTS = 50
WEB_PORT = 80
"""Browsers leave this one out of `Host`."""
SECRET_BYTES = 24
BARE = (
    "Started this way, the app would answer anybody who reaches this port, so it shows nothing. "
    "Stop it and start it with `python -m atom app`."
)
_standing: list[Lock] = []
"""The lock of this process's door; a bare `streamlit run app.py` has none."""


@dataclass(frozen=True, kw_only=True)
class AppAddress:
    """Where the app is.

    Args:
        address: its plain address, `http://127.0.0.1:8501/`.
        enter: the address that lets a browser in.
        beyond: whether it listens beyond this computer.
    """

    address: str
    enter: str
    beyond: bool


def is_bare() -> bool:
    """Whether this process serves the app without the door, as `streamlit run app.py` does."""
    from streamlit.runtime import Runtime, exists, get_instance

    # A test that runs the script without a server has a stand-in of another type.
    return not _standing and exists() and type(get_instance()) is Runtime


def launch(
    settings: Settings,
    *,
    say: Callable[[AppAddress], None],
    port: int | None = None,
    headless: bool = False,
    address: str = LOOPBACK,
    names: Sequence[str] = (),
) -> None:
    """Start Streamlit behind the door, and stay until it's closed.

    Args:
        settings: where the store, the bundled study and the endpoints are.
        say: told where the app is, when its first screen can be opened.
        port: the port; the first free one from 8501 on when None.
        headless: don't open a browser.
        address: the IP address to listen on; anything but loopback lets other computers ask.
        names: further names by which browsers reach it.

    Raises:
        UsageError: the port is taken or isn't one; the address isn't one, or needs a name.
        SettingsError: Streamlit isn't installed.
    """
    listening = _ip(address)
    hosts = _hosts(listening, names)
    found = _free_port(port, listening)
    called = [f"{host}:{found}" for host in hosts] + (list(hosts) if found == WEB_PORT else [])
    lock = Lock(
        hosts=frozenset(called),
        port=found,
        secret=secrets.token_urlsafe(SECRET_BYTES),
    )
    host = f"{hosts[0]}:{found}"
    opened = AppAddress(
        address=f"http://{host}/",
        enter=lock.address(host),
        beyond=not ip_address(listening).is_loopback,
    )
    note = settings.store_folder / f"open-{found}.html"

    def ready() -> None:
        say(opened)
        if not headless:
            Thread(target=_open_browser, args=(note, opened.enter), daemon=True).start()

    try:
        _serve(settings, lock, _options(listening, found, hosts), ready)
    finally:
        note.unlink(missing_ok=True)


def launch_for_team(
    settings: Settings,
    deployment: Deployment,
    *,
    say: Callable[[AppAddress], None],
    port: int | None = None,
) -> None:
    """Start Streamlit for a team, behind a proxy, and stay until it's ended.

    Args:
        settings: where the store and the bundled study are.
        say: told where the app is, when its first screen can be opened.
        port: the port, in place of the file's.

    Raises:
        UsageError: the port is taken.
        SettingsError: a package or a variable is missing.
    """
    listening = _ip(deployment.address)
    found = _free_port(port or deployment.port, listening)
    secure = deployment.url.startswith("https:")
    lock = Lock(hosts=deployment.called, port=found, secret=None, secure=secure)
    opened = AppAddress(
        address=f"{deployment.origin}/",
        enter=f"{deployment.origin}/",
        beyond=not ip_address(listening).is_loopback,
    )
    hosts = [urlsplit(f"//{name}").hostname or name for name in sorted(deployment.called)]
    with team.secrets_of(deployment) as secrets_file:
        options = {
            **_options(listening, found, hosts),
            "secrets.files": [str(secrets_file)],
        }
        _serve(settings, lock, options, lambda: say(opened))


def _serve(
    settings: Settings,
    lock: Lock,
    options: Mapping[str, object],
    ready: Callable[[], None],
) -> None:
    """Run the server behind the door.

    `pages/` beside `app.py` is Streamlit's old way to find pages; it must be off before the
    server starts, or a deep link on a fresh server runs a page without the frame.
    """
    try:
        from starlette.middleware import Middleware
        from streamlit.runtime.pages_manager import PagesManager
        from streamlit.starlette import App
    except ImportError as error:
        raise SettingsError(
            f"the dashboard needs Streamlit ({error}): install requirements.txt"
        ) from error
    os.environ["ATOM_STORE"] = settings.store
    os.environ["ATOM_DEMO"] = str(settings.demo)
    os.environ["ATOM_ENDPOINTS"] = str(settings.endpoints)
    PagesManager.uses_pages_directory = False
    crowd.give_back()
    crowd.read_options_without_lock()
    script = PROJECT_ROOT / "app.py"
    sys.argv = [str(script)]

    @asynccontextmanager
    async def started(_app: object) -> AsyncIterator[None]:
        send_at_once(asyncio.get_running_loop())
        crowd.tidy_behind(warm.start(ready))
        yield

    around = [Middleware(Door, lock=lock), Middleware(PageParts), Middleware(FirstPaint)]
    app = App(script, lifespan=started, middleware=around)
    _standing.append(lock)
    with suppress(KeyboardInterrupt):
        app.run(config=dict(options))


def send_at_once(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop's coming servers send each piece when it is written (`TCP_NODELAY`).

    asyncio does so for sockets that it makes, but not for Streamlit's own, whose protocol number is
    left at 0: each answer's second piece then waits 40 ms for the browser to confirm the first.
    Connections take the option over from the socket that listens.

    Args:
        loop: runs the server, which isn't listening yet.
    """
    listen: Callable[..., Any] = loop.create_server

    async def create_server(*given: Any, sock: socket.socket | None = None, **named: Any) -> Any:
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return await listen(*given, sock=sock, **named)

    loop.create_server = create_server  # type: ignore[method-assign]


def _options(address: str, port: int, hosts: Sequence[str]) -> dict[str, object]:
    return {
        "server.address": address,
        "server.port": port,
        "server.allowedHosts": list(hosts),
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableStaticServing": False,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": False,
        "browser.serverAddress": hosts[0],
        "global.developmentMode": False,
        "logger.hideWelcomeMessage": True,
        "runner.postScriptGC": False,  # `crowd.tidy_behind` does it
    }


def _open_browser(note: Path, address: str) -> None:
    """Open the app by a file that only this user can read.

    The address itself would stand in the browser's command line, which every user of the
    computer can list.
    """
    page = (
        '<!doctype html><meta charset="utf-8"><title>Atomscope</title>'
        f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
        f'<p><a href="{escape(address)}">Open Atomscope</a></p>'
    )
    with suppress(OSError, webbrowser.Error):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.unlink(missing_ok=True)
        held = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(held, "w", encoding="utf-8") as file:
            file.write(page)
        webbrowser.open(note.resolve().as_uri())


def _ip(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        raise UsageError(
            f"{address!r} isn't an IP address: write {LOOPBACK}, or one of this computer's own"
        ) from None


def _hosts(address: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names by which browsers may call the app, the one that is printed first."""
    place = ip_address(address)
    own = f"[{address}]" if place.version == 6 else address
    wrong = [name for name in names if not name or set(name) & set("/:@?# \t")]
    if wrong:
        raise UsageError(f"{wrong[0]!r} isn't a host's name: write it without http:// and port")
    if place.is_loopback:
        return (own, "localhost", *(name.lower() for name in names))
    if place.is_unspecified:
        if not names:
            raise UsageError(
                f"{address} is every address of this computer: say by --name how browsers will "
                "call it, for example --name atomscope.example.org"
            )
        return tuple(name.lower() for name in names)
    return (*(name.lower() for name in names), own)


def _free_port(port: int | None, address: str) -> int:
    if port is not None:
        if not 1 <= port <= 65535:
            raise UsageError(f"the port is {port}: 1 to 65535 are allowed")
        if not _is_free(port, address):
            raise UsageError(f"port {port} is taken: give another with --port, or none")
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + TRIED_PORTS):
        if _is_free(candidate, address):
            return candidate
    raise UsageError(
        f"the ports {FIRST_PORT} to {FIRST_PORT + TRIED_PORTS - 1} are taken: give one with --port"
    )


def _is_free(port: int, address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
        except (OSError, OverflowError):
            return False
    return True
