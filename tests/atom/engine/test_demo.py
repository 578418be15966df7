from __future__ import annotations

import json

import pytest

from atom.engine.demo import broken_sums, build_demo, seal_demo
from atom.errors import StoreError, UsageError
from atom.records import Checkpoint, Response, Sample, Study, Tag
from atom.store import Store, check_store


def contents(store: Store) -> dict[str, tuple]:
    points = {p.key: (p.state, p.score, p.reason) for p in store.select(Checkpoint)}
    return points | {r.id: r.text for r in store.select(Response)}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "sealed"
    built = seal_demo(folder, samples=6, candidates=2, seed=3)
    return folder, built


def test_a_sealed_study_opens_without_writing(sealed):
    folder, built = sealed
    before = sorted(path.name for path in folder.iterdir())
    with Store.open(folder, read_only=True) as store:
        assert [study.synthetic for study in store.select(Study)] == [True]
        assert check_store(store).problems == ()
        assert {p.state for p in store.select(Checkpoint)} == {"scored"}
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (built.samples, built.candidates, built.responses) == (6, 2, 12)


def test_its_samples_are_labelled(sealed):
    folder, _ = sealed
    with Store.open(folder, read_only=True) as store:
        assert all(sample.synthetic and sample.source_id for sample in store.select(Sample))
        assert {tag.facet for tag in store.select(Tag)} == {"difficulty", "family", "template"}


def test_the_manifest_says_what_it_is(sealed):
    folder, built = sealed
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["synthetic"] is True
    assert (manifest["seed"], manifest["samples"]) == (3, built.samples)


def test_checksums_find_a_change(sealed, tmp_path):
    folder, _ = sealed
    assert broken_sums(folder) == []
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "manifest.json").write_text("{}", encoding="utf-8")
    next((copy / "pictures").rglob("*/*")).unlink()
    assert sorted(line.split()[-1] for line in broken_sums(copy)) == ["changed", "missing"]
    with pytest.raises(StoreError, match="isn't a sealed study"):
        broken_sums(tmp_path)


def test_equal_seeds_give_equal_studies(sealed, tmp_path):
    folder, _ = sealed
    with Store.open(tmp_path / "again") as store:
        build_demo(store, samples=6, candidates=2, seed=3)
        with Store.open(folder, read_only=True) as first:
            assert contents(store) == contents(first)
        with pytest.raises(UsageError, match="already"):
            build_demo(store, samples=6, candidates=2, seed=3)


def test_a_folder_that_holds_something_is_left_alone(sealed):
    with pytest.raises(UsageError, match="isn't empty"):
        seal_demo(sealed[0])


@pytest.mark.parametrize(
    "wrong", [{"samples": 0}, {"candidates": 0}, {"candidates": 9}, {"seed": -1}]
)
def test_numbers_out_of_range_are_told(store, wrong):
    with pytest.raises(UsageError):
        build_demo(store, **{"samples": 1, "candidates": 1, **wrong})
