from __future__ import annotations

import json

import pytest

from atom.engine.demo import PARTS, Site, build_demo, seal_demo
from atom.engine.demo.people import ADJUDICATOR, ANNOTATORS, RIGHT_AFTER_ALL, seen_score
from atom.errors import UsageError
from atom.probes.draws import Draws
from atom.records import Annotation, Checkpoint, Judge, Response, Sample, Study, Tag
from atom.store import Store, check_store
from atom.store.store import SEAL
from atom.views.people.annotations import conflicts, standing
from atom.views.people.page import ERROR_TYPES
from tests.held import broken_sums


def contents(store: Store) -> dict[str, tuple]:
    points = {p.key: (p.state, p.score, p.reason) for p in store.select(Checkpoint)}
    return points | {r.id: r.text for r in store.select(Response)}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "sealed"
    built = seal_demo(folder, samples=6, candidates=2, seed=3)
    return folder, built


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_study_sealed_again_is_the_same_to_the_byte(sealed, tmp_path):
    folder, _ = sealed
    seal_demo(tmp_path / "again", samples=6, candidates=2, seed=3)
    assert (tmp_path / "again" / SEAL).read_text("utf-8") == (folder / SEAL).read_text("utf-8")


@pytest.mark.slow
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


@pytest.mark.slow
def test_planted_people_say_that_they_are_synthetic_and_the_same_again(tmp_path):
    with Store.open(tmp_path) as store:
        built = build_demo(store, samples=6, candidates=3, seed=3)
        before = contents(store)
        site = Site(store=store, study_id=built.study.id, probes=(), seed=3, tell=lambda *_: None)
        PARTS["people"](site)
        labels = store.select(Annotation)
        PARTS["people"](site)
        assert store.select(Annotation) == labels
        after = contents(store)
        assert {name: after[name] for name in before} == before
        people = [judge for judge in store.select(Judge) if judge.kind == "person"]
    assert {one.name for one in people} <= {*ANNOTATORS, ADJUDICATOR}
    assert people
    assert all(one.synthetic for one in people)
    assert all("synthetic" in label.note and "(synthetic)" in label.annotator for label in labels)
    assert {label.kind for label in labels} >= {
        "score", "ranking", "accuracy", "necessity", "mapping", "error_type", "report",
    }  # fmt: skip
    assert any(one.state == "adjudicated" for one in standing(labels).values())
    assert conflicts(labels)
    assert RIGHT_AFTER_ALL in ERROR_TYPES


def test_a_planted_person_is_right_as_often_as_planted():
    said = [seen_score(5, Draws("score", n)) for n in range(4000)]
    # 1 - .12 - .03 = .85; the largest standard error is sqrt(.85 * .15 / 4000) = .006.
    shares = {score: said.count(score) / 4000 for score in range(1, 6)}
    assert shares == pytest.approx({5: 0.85, 4: 0.12, 3: 0.03, 2: 0, 1: 0}, abs=0.025)
    assert {seen_score(1, Draws("low", n)) for n in range(400)} == {1, 2, 3}
