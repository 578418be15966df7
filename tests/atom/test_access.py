"""Who may do what, and what a deployment lets be named."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from atom.access import (
    ROLES,
    Action,
    Person,
    Policy,
    install,
    operator,
    require_host,
    require_path,
    why_not,
)
from atom.errors import AccessError
from atom.judge.client import JudgeClient
from atom.records import Endpoint
from atom.settings import may_hold_key, read_key


@pytest.fixture
def policy(tmp_path):
    install(
        Policy(
            place="postgresql://me:secret@host/db",
            key_variables=("ATOM_KEY_*",),
            endpoint_hosts=("*.internal", "api.example.org"),
            folders=(tmp_path / "open",),
        )
    )
    yield
    install(None)


def test_each_role_may_what_the_one_before_may():
    allowed = {
        role: {a for a in get_args(Action) if not why_not(Person(id="i", name="n", role=role), a)}
        for role in ROLES
    }
    assert allowed["viewer"] == {"look", "label", "export"}
    assert allowed["analyst"] - allowed["viewer"] == {"edit", "import", "run", "consent"}
    assert allowed["admin"] - allowed["analyst"] == {"delete", "endpoints", "people"}
    assert all(why_not(None, action) for action in get_args(Action))
    assert not any(why_not(operator("root"), action) for action in get_args(Action))


def test_variables_hosts_and_paths_are_those_that_are_listed(policy, tmp_path):
    held = {"ATOM_KEY_A": "x" * 20, "ATOM_COOKIE_SECRET": "y", "AWS_SECRET_ACCESS_KEY": "z"}
    assert read_key("ATOM_KEY_A", held) == "x" * 20
    assert not any(may_hold_key(name, held) for name in list(held)[1:])
    assert read_key("AWS_SECRET_ACCESS_KEY", held) is None
    require_host("llm.internal")
    for host in ("internal.evil.org", "169.254.169.254", "localhost"):
        with pytest.raises(AccessError, match="isn't among the hosts"):
            require_host(host)
    (tmp_path / "open").mkdir()
    require_path(tmp_path / "open" / "results.csv")
    for path in (Path("/etc/passwd"), tmp_path / "open" / ".." / "other.csv"):
        with pytest.raises(AccessError, match="upload them"):
            require_path(path)


def test_no_client_is_made_for_another_host(policy):
    def endpoint(url):
        return Endpoint(name="n", base_url=url, model="m", family="f", roles=("judge",))

    JudgeClient(endpoint("https://llm.internal:8000/v1"))
    with pytest.raises(AccessError):
        JudgeClient(endpoint("http://169.254.169.254/v1"))


def test_a_policy_shows_no_password(policy):
    assert "secret" not in repr(Policy(place="postgresql://me:secret@host/db"))


def test_without_a_deployment_nothing_is_asked(tmp_path):
    require_host("anything.org")
    require_path(Path("/etc/hosts"))
    assert may_hold_key("OPENAI_API_KEY", {})
