"""`people`, `budget`, `log` and `store migrate` in a deployment."""

from __future__ import annotations

import json

import pytest

from atom.access import acting_as, install, operator
from atom.cli.main import main
from atom.engine.team import team_store
from atom.errors import StoreError
from atom.store import Store
from atom.store.team.people import sign_in

FILE = """
url: https://atom.example.org
sign_in:
  metadata_url: https://id.example.org/x
  client_id: atom
  roles: {admin: admins}
limits: {budgets: {analyst: 200}}
"""


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command of a deployment on a store: (store, words) -> data."""
    path = tmp_path / "deployment.yaml"
    path.write_text(FILE, encoding="utf-8")

    def say(store, *words):
        monkeypatch.setenv("USER", "Anna")
        monkeypatch.setenv("ATOM_STORE", store)
        monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "none"))
        monkeypatch.setenv("ATOM_DEPLOYMENT", str(path))
        code = main([*words, "--json"])
        out, err = capsys.readouterr()
        return json.loads(out) if code == 0 else err

    yield say
    install(None)


def test_roles_and_budgets_are_set_and_told(location, say):
    say(location, "store", "migrate")
    sign_in(team_store(), "idp#1", "Anna", "a@x", role="viewer", issued=1)
    assert say(location, "people", "role", "a@x", "analyst")["role"] == "analyst"
    assert say(location, "people", "list")[0]["by_hand"] is True
    say(location, "budget", "set", "Anna", "$30")
    assert "no sum of money" in say(location, "budget", "set", "Anna", "much")
    budgets = {one["name"]: one["usd"] for one in say(location, "budget", "list")}
    assert budgets == {"deployment": None, "each analyst": 200.0, "Anna": 30.0}
    told = [(one["action"], one["before"], one["after"]) for one in say(location, "log")]
    assert told == [
        ("budget", "none", "30.00"),
        ("role", "viewer", "analyst"),
        ("signed in", "", "viewer"),
    ]
    assert say(location, "log", "--who", "nobody") == []
    # Whoever works on the server itself isn't taken for somebody who signed in by that name.
    assert len(say(location, "log", "--who", "Anna (operator)")) == 2
    assert say(location, "log", "--who", "Anna") == []
    assert "names nobody" in say(location, "people", "role", "Zoe", "admin")
    team_store().close()


def test_only_migrate_makes_and_mends_the_store_of_a_deployment(pg_empty, say, tmp_path):
    assert "only `store migrate` brings it there" in say(pg_empty, "study", "list")
    served = ("app", "--deployment", str(tmp_path / "deployment.yaml"))
    assert "only `store migrate` brings it there" in say(pg_empty, *served)
    first = say(pg_empty, "store", "migrate")
    assert (first["before"], first["now"] > 19) == (0, True)
    assert say(pg_empty, "store", "migrate")["before"] == first["now"]
    assert say(pg_empty, "study", "list") == []
    older = "UPDATE meta SET value = '19' WHERE key = 'schema_version'"
    with Store.open(pg_empty) as store, acting_as(operator("x")), store.write() as writer:
        writer.connection.exec_driver_sql(older)
    with pytest.raises(StoreError, match="isn't up to date"):
        Store.open(pg_empty)


def test_without_a_deployment_there_are_no_people(capsys):
    assert main(["people", "list"]) == 2
    assert "docs/deploy.md" in capsys.readouterr().err
