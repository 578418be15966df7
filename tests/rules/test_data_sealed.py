"""The bundled study is what its checksums say, small, and labelled synthetic."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

LIMIT = 16_000_000
"""Bytes: what a checkout may well carry along; two thirds are the database."""


@pytest.fixture(scope="module")
def demo(project: Path) -> Path:
    """Return the bundled study's folder."""
    folder = project / "data" / "demo"
    if not (folder / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    return folder


def checksums(demo: Path) -> dict[str, str]:
    """Read the list: name -> SHA-256."""
    rows = (demo / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    pairs = [row.split(maxsplit=1) for row in rows if row.strip()]
    return {name.strip().lstrip("*").removeprefix("./"): digest for digest, name in pairs}


def files(demo: Path) -> set[str]:
    """Name every sealed file; what SQLite leaves beside a database is none."""
    return {
        path.relative_to(demo).as_posix()
        for path in demo.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }


def test_every_file_is_what_its_checksum_says(demo):
    listed = checksums(demo)
    wrong = [
        name
        for name, digest in listed.items()
        if hashlib.sha256((demo / name).read_bytes()).hexdigest() != digest
    ]
    assert listed
    assert wrong == []


def test_every_file_is_listed(demo):
    assert files(demo) == set(checksums(demo))


def test_the_study_is_small(demo):
    assert sum((demo / name).stat().st_size for name in files(demo)) < LIMIT


def test_everything_is_labelled_synthetic(demo):
    from atom.records import Candidate, Judge, Sample, Study
    from atom.store import Store

    with Store.open(demo, read_only=True) as store:
        for kind in (Study, Sample, Candidate, Judge):
            records = store.select(kind)
            assert records
            assert all(record.synthetic for record in records)


def test_the_origin_is_written_down(project):
    text = (project / "data" / "README.md").read_text(encoding="utf-8")
    assert "synthetic" in text
    assert "SHA256SUMS" in text
