"""Starts the dashboard in this process."""

from __future__ import annotations

import os
import socket

from atom.errors import SettingsError, UsageError
from atom.settings import PROJECT_ROOT, Settings

HOST = "127.0.0.1"
FIRST_PORT = 8501
TRIED_PORTS = 50


def launch(settings: Settings, *, port: int | None = None, headless: bool = False) -> None:
    """Start Streamlit on this computer only, and stay until it's closed.

    `pages/` beside `app.py` is Streamlit's old way to find pages; it must be off before the
    server starts, or a deep link on a fresh server runs a page without the frame.

    Args:
        settings: where the store, the bundled study and the endpoints are.
        port: the port; the first free one from 8501 on when None.
        headless: don't open a browser.

    Raises:
        UsageError: the port is taken or isn't one.
        SettingsError: Streamlit isn't installed.
    """
    try:
        from streamlit import config
        from streamlit.runtime.pages_manager import PagesManager
        from streamlit.web import bootstrap
    except ImportError as error:
        raise SettingsError(
            f"the dashboard needs Streamlit ({error}): install requirements.txt"
        ) from error
    options = {
        "server.address": HOST,
        "server.port": _free_port(port),
        "server.headless": headless,
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": False,
        "browser.serverAddress": HOST,
        "global.developmentMode": False,
    }
    os.environ["ATOM_STORE"] = settings.store
    os.environ["ATOM_DEMO"] = str(settings.demo)
    os.environ["ATOM_ENDPOINTS"] = str(settings.endpoints)
    PagesManager.uses_pages_directory = False
    script = str(PROJECT_ROOT / "app.py")
    # As `streamlit run` does: its folder's settings (theme, menus) hold wherever we were started.
    config._main_script_path = script
    flags = {name.replace(".", "_"): value for name, value in options.items()}
    bootstrap.load_config_options(flag_options=flags)
    bootstrap.run(script, False, [], flags)


def _free_port(port: int | None) -> int:
    if port is not None:
        if not 1 <= port <= 65535:
            raise UsageError(f"the port is {port}: 1 to 65535 are allowed")
        if not _is_free(port):
            raise UsageError(f"port {port} is taken: give another with --port, or none")
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + TRIED_PORTS):
        if _is_free(candidate):
            return candidate
    raise UsageError(
        f"the ports {FIRST_PORT} to {FIRST_PORT + TRIED_PORTS - 1} are taken: give one with --port"
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError):
            return False
    return True
