"""Two replicas behind Caddy on one PostgreSQL, and an identity provider to sign in at."""

from __future__ import annotations

import hmac
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from atom.store import Store
from tests.atom.conftest import _pg_template, pg_server, pg_url  # noqa: F401
from tests.e2e.conftest import PROJECT, free_port, stop, wait_until_up
from tests.e2e.team.identity import Identity
from tests.factories import make_study

ROUTE_SECRET = "which-replica"


@dataclass(frozen=True, kw_only=True)
class Team:
    """A deployment that runs.

    Args:
        url: the address that people open.
        store: its store's address.
        replicas: the processes by the addresses that Caddy knows them by.
        logs: what they and Caddy wrote.
    """

    url: str
    store: str
    replicas: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    logs: list[Path] = field(default_factory=list)

    def replica_of(self, page) -> str:
        """Return the address of the replica that a browser is sent to, by its cookie."""
        found = {one["name"]: one["value"] for one in page.context.cookies(self.url)}
        signed = {
            hmac.new(ROUTE_SECRET.encode(), name.encode(), "sha256").hexdigest(): name
            for name in self.replicas
        }
        return signed[found["atom_route"]]


@pytest.fixture
def team(pg_url, tmp_path, chromium_path) -> Iterator[Team]:  # noqa: F811 - a fixture's name
    """Start all of it; one migration first, as in `deploy/compose.yaml`."""
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("needs Caddy (on Debian: apt-get install caddy)")
    files = tmp_path / "files"
    port, first, second = free_port(), free_port(), free_port()
    found = Team(url=f"http://127.0.0.1:{port}", store=pg_url)
    with Identity(free_port()) as provider:
        deployment = tmp_path / "deployment.yaml"
        deployment.write_text(
            f"url: {found.url}\n"
            "sign_in:\n"
            f"  metadata_url: {provider.url}/.well-known/openid-configuration\n"
            f"  client_id: {provider.client_id}\n"
            '  roles: {admin: atom-admins, analyst: atom-analysts, viewer: "*"}\n',
            encoding="utf-8",
        )
        environ = os.environ | {
            "ATOM_STORE": pg_url,
            "ATOM_FILES": str(files),
            "ATOM_DEMO": str(tmp_path / "none"),
            "ATOM_CLIENT_SECRET": provider.client_secret,
            "ATOM_COOKIE_SECRET": "c" * 40,
            "ATOM_HOST": found.url,
            "ATOM_APPS": f"127.0.0.1:{first} 127.0.0.1:{second}",
            "ATOM_ROUTE_SECRET": ROUTE_SECRET,
            "HOME": str(tmp_path),
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ATOM_FILES", str(files))
            with Store.open(pg_url) as store:
                make_study(store)
        # The file that is shipped; only Caddy's own port and certificates are left out.
        config = tmp_path / "Caddyfile"
        shipped = (PROJECT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
        config.write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n{shipped}", encoding="utf-8")
        app = [sys.executable, "-m", "atom", "app", "--deployment", str(deployment), "--port"]
        commands = {
            f"127.0.0.1:{first}": [*app, str(first)],
            f"127.0.0.1:{second}": [*app, str(second)],
            "caddy": [caddy, "run", "--config", str(config), "--adapter", "caddyfile"],
        }
        running = []
        try:
            for number, (name, command) in enumerate(commands.items()):
                log = tmp_path / f"log{number}"
                with log.open("wb") as output:
                    process = subprocess.Popen(
                        command,
                        cwd=PROJECT,
                        env=environ,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                running.append(process)
                found.logs.append(log)
                if name != "caddy":
                    found.replicas[name] = process
            for name, process, log in zip(commands, running, found.logs, strict=True):
                url = found.url if name == "caddy" else f"http://{name}"
                wait_until_up(process, url, log)
            yield found
        finally:
            for process in running:
                stop(process)
