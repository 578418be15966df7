"""Which tree a study begins with."""

import pytest

from atom.engine.induction.first_tree import first_tree
from atom.engine.members import study_tree
from atom.records import Sample, Study, StudySample
from atom.store import Store
from taxonomy import load_anchors, load_general


@pytest.fixture
def real(tmp_path):
    """A study of one question that people asked."""
    with Store.open(tmp_path / "real") as store:
        study = Study(id=Study.make_id("Scans"), name="Scans")
        asked = Sample(
            id=Sample.make_id("scans", "1"),
            dataset="scans",
            source_id="1",
            question="Which lobe shows the finding?",
        )
        place = StudySample(study_id=study.id, sample_id=asked.id, position=0)
        store.put([study, asked, place])
        yield store, study


def test_a_real_study_begins_with_general_abilities(real):
    store, study = real
    tree, record = study_tree(store, study, "")
    assert tree == load_general()
    assert record.name == "General abilities"


def test_drawn_pictures_are_known_by_themselves_whatever_the_study_is_called(store, study):
    plain = study.model_copy(update={"synthetic": False})
    samples = store.select(Sample)
    store.put([sample.model_copy(update={"synthetic": False}) for sample in samples])
    assert first_tree(store, plain) == load_anchors()


def test_a_study_without_questions_begins_with_general_abilities(tmp_path):
    with Store.open(tmp_path / "empty") as store:
        study = Study(id=Study.make_id("Empty"), name="Empty")
        store.put([study])
        assert first_tree(store, study) == load_general()
