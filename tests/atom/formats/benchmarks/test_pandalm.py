import numpy as np
import pytest

from atom.analysis.agreement.raters import class_scores, majority, rater_kappas
from atom.errors import FormatError
from atom.formats import ImportFile, detect
from atom.records import Annotation
from tests.imports import cut_files, expected, on_disk, take, uploaded

NAMES = ("testset-v1.json", "gpt-3.5-turbo-testset-v1.json", "pandalm-7b-testset-v1.json")
CODE = {"tie": 0, "a": 1, "b": 2}
PAIR = {
    "idx": 4, "motivation_app": "App", "cmp_key": "m1_m2", "instruction": "Do it.", "input": "x",
    "response1": "one", "response2": "two", "annotator1": 1, "annotator2": 0, "annotator3": 7,
}  # fmt: skip


@pytest.fixture(scope="module")
def real(shared_folder):
    return take(None, *on_disk(shared_folder / "real" / "pandalm", *NAMES))


@pytest.fixture(scope="module")
def labels(real):
    pairs = {p: at for at, p in enumerate(dict.fromkeys(g.subject_id for g in real.labels))}
    found = np.full((3, len(pairs)), -1)
    for given in real.labels:
        found[int(given.annotator[-1]) - 1, pairs[given.subject_id]] = CODE[given.label]
    said = {judge: np.full(len(pairs), -2) for judge in ("gpt-3.5-turbo", "pandalm-7b")}
    for vote in real.preferences:
        at = pairs[Annotation.pair(vote.response_a, vote.response_b)]
        said[vote.judge][at] = -1 if vote.verdict is None else CODE[vote.verdict]
    return found, said


def test_all_pairs_labels_and_verdicts_come_in(real):
    report = real.report
    assert (report.format, report.samples, report.annotations) == ("pandalm", 999, 2997)
    assert (report.preferences, report.n_skipped) == (2 * 999, 0)
    assert any(note.startswith("25 times: a verdict of gpt-3.5-turbo") for note in report.notes)


def test_kappas_and_majorities_are_the_published_ones(labels, shared_folder):
    wanted = expected(shared_folder)["pandalm"]
    kappas = rater_kappas(labels[0])
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert kappas[a, b] == pytest.approx(wanted[f"kappa_{a + 1}{b + 1}"], abs=5e-5)
    most = majority(labels[0])
    counts = {str(name): int((most == name).sum()) for name in range(3)}
    assert counts == wanted["majority_label_counts"]
    assert int((most < 0).sum()) == wanted["no_majority_rows"]


@pytest.mark.parametrize(
    ("judge", "unread", "key"),
    [
        ("pandalm-7b", "wrong", "pandalm7b"),
        ("gpt-3.5-turbo", "tie", "gpt35_unparsed_as_tie"),
        ("gpt-3.5-turbo", "wrong", "gpt35_unparsed_as_wrong"),
    ],
)
def test_judges_score_as_published_each_way_of_counting(labels, shared_folder, judge, unread, key):
    wanted = expected(shared_folder)["pandalm"]
    scores = class_scores(majority(labels[0]), labels[1][judge], (0, 1, 2), unread=unread)
    ours = {
        "accuracy": scores.accuracy, "macro_precision": scores.precision,
        "macro_recall": scores.recall, "macro_f1": scores.f1,
    }  # fmt: skip
    assert ours == pytest.approx(wanted[key], abs=5e-5)
    assert scores.counted == unread
    assert scores.unread == (25 if judge.startswith("gpt") else 0)


def test_a_pair_gives_two_answers_and_labels_that_can_be_read():
    found = take(None, uploaded("testset-v1.json", [PAIR]))
    assert found.samples[0].question == "Do it.\n\nx"
    assert list(found.candidates.values()) == ["m1", "m2"]
    assert [given.label for given in found.labels] == ["a", "tie"]
    assert any("annotator3's label" in note for note in found.report.notes)


def test_verdicts_are_read_in_words_and_numbers():
    said = [
        {"idx": 4, "gpt_result": "Tie", "gpt_reason": "Equal."},
        {"idx": 9, "gpt_result": "1", "gpt_reason": ""},
    ]
    found = take(None, uploaded("t.json", [PAIR]), uploaded("gpt-x-testset-v1.json", said))
    assert [(v.judge, v.verdict, v.reason) for v in found.preferences] == [
        ("gpt-x", "tie", "Equal.")
    ]
    assert "no pair has the idx '9'" in found.report.skipped[0]


def test_verdicts_alone_and_other_rows_are_refused():
    with pytest.raises(FormatError, match="without the answers"):
        take(None, uploaded("g.json", [{"idx": 0, "gpt_result": "1"}]))
    with pytest.raises(FormatError, match="annotator1"):
        take("pandalm", uploaded("g.json", [{"a": 0}]))
    assert detect([ImportFile.from_bytes("x.json", b'[{"idx": 1, "question": "q"}]')]).name == (
        "table"
    )


def test_cut_files_are_read_as_far_as_they_go(shared_folder):
    cut_files("pandalm", shared_folder / "real" / "pandalm" / NAMES[0], 4)
