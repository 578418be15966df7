"""A deployment's file: what is wrong is named with its key and the fix, and no secret shows."""

from __future__ import annotations

import pytest
import yaml

from atom.deployment import load_deployment
from atom.errors import SettingsError

GOOD = {
    "url": "https://atom.example.org",
    "sign_in": {
        "metadata_url": "https://id.example.org/.well-known/openid-configuration",
        "client_id": "atom",
        "roles": {"admin": "atom-admins", "analyst": ["atom-analysts"], "viewer": "*"},
    },
    "limits": {"budgets": {"analyst": 200}, "hosts": ["*.internal"]},
}


def changed(**changes):
    data = yaml.safe_load(yaml.safe_dump(GOOD))
    for path, value in changes.items():
        *way, last = path.split("__")
        place = data
        for key in way:
            place = place.setdefault(key, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return data


@pytest.fixture
def load(tmp_path):
    def load(data):
        path = tmp_path / "deployment.yaml"
        path.write_text(data if isinstance(data, str) else yaml.safe_dump(data), encoding="utf-8")
        return load_deployment(path)

    return load


def test_a_file_says_what_holds(load):
    found = load(GOOD)
    policy = found.policy({"ATOM_STORE": "postgresql://me:pw@db/atom"})
    assert policy.place == "postgresql://me:pw@db/atom"
    assert policy.budgets == {"analyst": 200}
    assert found.sign_in.roles["admin"] == ("atom-admins",)
    assert found.called == {"atom.example.org"}
    assert found.cookie_secret({"ATOM_COOKIE_SECRET": "x" * 40}) == "x" * 40


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"url": None}, "`url` is missing: add it"),
        ({"url": "http://atom.example.org"}, "url must begin with https://"),
        ({"url": "https://atom.example.org/lab"}, "without a path"),
        ({"sign_in__client_secrets": "X"}, "`sign_in.client_secrets` isn't a key that is known"),
        ({"sign_in__client_secret": "s3cret-Pa55"}, "must be the NAME of an environment variable"),
        ({"sign_in__roles__admin": None}, "roles.admin must name a group"),
        ({"sign_in__roles__admin": "*"}, "everybody would be an admin"),
        ({"sign_in__roles__boss": "x"}, "`sign_in.roles.boss`"),
        ({"sign_in__metadata_url": "http://id.example.org/x"}, "must begin with https://"),
        ({"limits__budgets__analyst": -1}, "`limits.budgets.analyst`"),
        ({"port": 99999}, "`port`"),
        ({"address": "everywhere"}, "address must be an IP address"),
    ],
)
def test_what_is_wrong_is_named_with_the_fix(load, change, words):
    with pytest.raises(SettingsError) as raised:
        load(changed(**change))
    assert words in raised.value.message
    assert "s3cret-Pa55" not in raised.value.message


@pytest.mark.parametrize("text", ["url: [", "- a\n- b\n", ""])
def test_what_is_no_yaml_is_told(load, text):
    with pytest.raises(SettingsError, match=r"deployment\.yaml"):
        load(text)


def test_secrets_come_from_variables_and_are_long_enough(load, tmp_path):
    found = load(GOOD)
    with pytest.raises(SettingsError, match="names the variable ATOM_STORE, which isn't set"):
        found.policy({})
    with pytest.raises(SettingsError, match="7 letters; 32 at least"):
        found.cookie_secret({"ATOM_COOKIE_SECRET": "shorter"})
    with pytest.raises(SettingsError, match="can't be read"):
        load_deployment(tmp_path / "none.yaml")
