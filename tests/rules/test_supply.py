"""The lock holds what is required, with hashes; the scan finds what has the form of a key."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(project):
    """Return locked versions by name, and the text."""
    text = (project / "requirements.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", text, re.MULTILINE)), text


def test_every_requirement_is_locked_within_its_range(project, lock):
    versions, _ = lock
    lines = (project / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    assert len(wanted) > 15
    for one in wanted:
        assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


def test_every_locked_package_has_hashes_and_no_place_of_a_machine(lock):
    versions, text = lock
    for block in re.split(r"\n(?=[a-z0-9-]+==)", text)[1:]:
        assert "--hash=sha256:" in block, block[:60]
    assert len(versions) > 40
    assert not re.search(r"(?m)^--(?:index|extra|find)|file:|https?://", text)


@pytest.fixture(scope="module")
def scan(project):
    """Return the scan of `make check`."""
    spec = spec_from_file_location("secrets_scan", project / ".ci" / "secrets.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REAL = {  # drawn by chance, so that they have the form and belong to nobody
    "sk": "sk-" + "Zq8Lw3Rt" + "Vb5Nm1Hc7Xp2Gd9Js4Fy",
    "google": "AIza" + "Zq8Lw3RtVb5Nm1Hc7Xp2Gd9Js4Fy6Uo0Q",
    "github": "ghp_" + "Zq8Lw3RtVb5Nm1Hc7Xp2Gd9Js4Fy6Uo0Qe",
    "aws": "AKIA" + "ZQ8LW3RTVB5NM1HC",
    "address": "postgresql://anna:" + "Zq8Lw3RtVb@db.host/x",
    "set": "OPENAI_API_" + 'KEY = "Zq8Lw3RtVb5Nm1Hc7Xp2Gd9Js4Fy6Uo0Qe"',
    "private": "-----BEGIN PRIVATE " + "KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ",
}


@pytest.mark.parametrize("name", REAL)
def test_what_has_the_form_of_a_key_is_found(scan, name):
    assert len(scan.findings(f"a\n{REAL[name]}\n")) == 1
    assert scan.findings(f"a\n{REAL[name]}\n")[0][0] == 2


def test_a_key_that_says_that_it_is_made_up_is_none(scan):
    for text in ("sk-test-0123456789abcdef0123", "sk-" + "ab" * 20, "OPENAI_API_KEY=your-key-here"):
        assert scan.findings(text) == []
    assert scan.findings(REAL["sk"] + "  # made up") == []


def test_checks_run_the_scan_and_the_security_rules(project):
    assert ".ci/secrets.py" in (project / "Makefile").read_text(encoding="utf-8")
    assert '"S"' in (project / "pyproject.toml").read_text(encoding="utf-8")
    assert "make check" in (project / ".ci" / "run").read_text(encoding="utf-8")
