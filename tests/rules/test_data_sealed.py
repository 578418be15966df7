"""The bundled study is what its checksums say, small, and labelled synthetic."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

LIMIT = 20_000_000
"""Bytes: what a checkout may well carry along; two thirds are the database."""
JUDGES = {"probe-judge", "probe-judge-lenient", "probe-judge-coin"}


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


def test_everything_that_a_study_can_go_through_is_there(demo):
    from atom.cli.parts.demo_parts import QUESTIONS, WEAK
    from atom.engine.demo.parts import ARMS
    from atom.engine.demo.site import JUDGE
    from atom.judgebench.registry import BENCHES
    from atom.judgebench.vl_rewardbench.ask import HARD_PART
    from atom.probes.eyes import SIGHTED, SIGHTLESS
    from atom.records import (
        Annotation,
        BenchSet,
        Call,
        Checkpoint,
        Correction,
        Experiment,
        Induction,
        Judge,
        Run,
        Study,
        TreeVersion,
        Verdict,
    )
    from atom.store import Store
    from atom.views.people.annotations import conflicts, people_of, standing

    with Store.open(demo, read_only=True) as store:
        (study,) = store.select(Study)
        versions = {v.position: v for v in store.select(TreeVersion)}
        assert [versions[n].origin for n in sorted(versions)] == ["seed", "induced", "induced"]
        assert study.tree_version == versions[2].version
        assert all(one.position for one in store.select(Induction))
        (experiment,) = store.select(Experiment)
        assert experiment.arms == ARMS
        assert len(ARMS) == 8
        assert {one.arm for one in store.select(Correction)} == set(ARMS)
        assert {(run.state, run.failed) for run in store.select(Run)} == {("done", 0)}
        assert {p.repeat for p in store.select(Checkpoint)} >= {0, 1, 2}
        labels = store.select(Annotation)
        assert len(people_of(labels)) == 3
        assert all("(synthetic)" in one.annotator and "synthetic" in one.note for one in labels)
        assert any(one.state == "adjudicated" for one in standing(labels).values())
        assert conflicts(labels)
        names = {judge.id: judge.name for judge in store.select(Judge)}
        verdicts = store.select(Verdict)
        sets = store.select(BenchSet)
        assert {one.benchmark for one in sets} == set(BENCHES)
        assert all(one.synthetic for one in sets)
        for one in sets:
            assert {names[v.judge] for v in verdicts if v.group == one.id} == JUDGES
        hard = [v for v in verdicts if v.group == study.id and v.part == HARD_PART]
        assert {names[v.judge] for v in hard} == {*WEAK, JUDGE}
        assert sum("Hard pairs" in one.name for one in sets) == 2
        looked = [v for v in verdicts if v.group == study.id and v.part.startswith("sight/")]
        assert {names[v.judge] for v in looked} == {SIGHTED, SIGHTLESS}
        asked = Counter(call.prompt.partition("/")[0] for call in store.select(Call))
        assert asked["report"] >= 9
        assert asked["ask"] == len(QUESTIONS)


def test_the_origin_is_written_down(project):
    text = (project / "data" / "README.md").read_text(encoding="utf-8")
    assert "synthetic" in text
    assert "SHA256SUMS" in text
