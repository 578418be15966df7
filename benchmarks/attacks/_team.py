"""A deployment whose people have hostile names: signed in at a provider, told of on Settings."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atom.access import acting_as, operator
from atom.store import Store
from atom.store.team.budgets import set_budget
from atom.store.team.people import give_role, sign_in
from benchmarks.attacks._app import Running, running_app
from benchmarks.attacks._texts import Texts
from benchmarks.attacks._tried import CannotTryError

ADMIN = "mallory"
_PEOPLE = 12
_MOST_OF_A_NAME = 200


def hire(store: Store, texts: Texts) -> None:
    """Let people with hostile names and addresses sign in, and give them roles and budgets."""
    for number in range(_PEOPLE):
        name, address = texts.next("person")[:_MOST_OF_A_NAME], texts.next("address")
        person = sign_in(store, f"idp#{number}", name, address, role="viewer", issued=1)
        with acting_as(operator("root")):
            give_role(store, person.id, ("analyst", "viewer")[number % 2])
            set_budget(store, person.id, 10.0 + number)


@contextmanager
def running_team(store: Path, texts: Texts) -> Iterator[tuple[Running, str]]:
    """Start a deployment on a store and a provider to sign in at.

    Yields:
        The app, and the provider's address.
    """
    try:
        from tests.e2e.team.identity import PEOPLE, Identity
    except ImportError as error:
        raise CannotTryError(f"no identity provider: {error}") from error
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    PEOPLE[ADMIN] = (texts.next("admin"), ["atom-admins"])
    with Identity(port) as provider:

        def write(url: str, folder: Path) -> Path:
            file = folder / "deployment.yaml"
            file.write_text(
                f"url: {url}\nsign_in:\n"
                f"  metadata_url: {provider.url}/.well-known/openid-configuration\n"
                f"  client_id: {provider.client_id}\n"
                '  roles: {admin: atom-admins, viewer: "*"}\n',
                encoding="utf-8",
            )
            return file

        environ = {"ATOM_CLIENT_SECRET": provider.client_secret, "ATOM_COOKIE_SECRET": "c" * 40}
        with running_app(store, store.parent / "none", environ, deployment=write) as app:
            yield app, provider.url


def come_in(page: Any, app: Running) -> None:
    """Sign in as the admin with the hostile name."""
    page.goto(app.url)
    page.get_by_role("button", name="Sign in").click()
    page.locator(f"a[href*='who={ADMIN}']").click()
    page.get_by_test_id("role").wait_for()
