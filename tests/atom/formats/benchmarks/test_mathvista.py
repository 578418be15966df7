from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from atom.errors import FormatError
from atom.formats import Batch, ImportFile, ImportReport, MemoryPictures, read
from atom.formats.benchmarks.mathvista import sniff
from atom.records import Sample

OUTPUTS = ("output_bard.json", "output_llava_llama_2_13b.json")
SCORES = ("scores_bard.json", "scores_llava_llama_2_13b.json")


class Result:
    """Everything that one import gave, and right/wrong by model and label."""

    def __init__(self, batches: list[Batch], report: ImportReport) -> None:
        self.report = report
        self.samples = {s.source_id: s for batch in batches for s in batch.samples}
        self.responses = {r.id: r for batch in batches for r in batch.responses}
        self.outcomes = {o.response_id: o for batch in batches for o in batch.outcomes}
        self.tags = [tag for batch in batches for tag in batch.tags]
        self.names = {c.id: c.name for batch in batches for c in batch.candidates}

    def model(self, response_id: str) -> str:
        return self.names[self.responses[response_id].candidate_id]

    def values(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = defaultdict(list)
        for response_id, outcome in self.outcomes.items():
            assert outcome.value is not None
            found[self.model(response_id)].append(outcome.value)
        return found

    def values_by(self, facet: str) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for tag in self.tags:
            if tag.subject == "response" and tag.facet == facet:
                value = self.outcomes[tag.subject_id].value
                assert value is not None
                found[self.model(tag.subject_id), tag.value].append(value)
        return found


def take(*files: ImportFile, **options: object) -> Result:
    reading = read("mathvista", files, **options)  # type: ignore[arg-type]
    return Result(list(reading), reading.report)


@pytest.fixture(scope="module")
def folder(shared_folder: Path) -> Path:
    return shared_folder / "real" / "mathvista"


@pytest.fixture(scope="module")
def real(folder: Path) -> Result:
    return take(*(ImportFile.from_path(folder / name) for name in (*OUTPUTS, *SCORES)))


@pytest.mark.slow
def test_the_real_files_give_a_thousand_questions_and_two_models(real: Result) -> None:
    report = real.report
    assert report.dataset == "MathVista testmini"
    assert report.candidates == ("bard", "llava_llama_2_13b")
    assert (report.samples, report.responses, report.outcomes) == (1000, 2000, 2000)
    assert (report.n_skipped, report.n_missing_pictures) == (0, 1000)
    assert report.missing_pictures[0] == "images/1.jpg"


def test_overall_accuracy_is_the_published_one(real: Result) -> None:
    percent = {name: 100 * sum(v) / len(v) for name, v in real.values().items()}
    assert percent == {"bard": pytest.approx(34.8), "llava_llama_2_13b": pytest.approx(26.1)}


def test_accuracy_by_skill_is_the_published_one(real: Result, shared_folder: Path) -> None:
    expected = json.loads((shared_folder / "real" / "expected.json").read_text(encoding="utf-8"))
    values = real.values_by("skills")
    n_skills = 0
    for model, figures in expected["mathvista"].items():
        for skill, (n, percent) in figures["skills_percent"].items():
            got = values[model, skill]
            assert len(got) == n
            assert round(100 * sum(got) / n, 2) == percent
            n_skills += 1
    assert n_skills == len(values) == 14


@pytest.mark.parametrize(("model", "file"), [("bard", SCORES[0]), ("llava_llama_2_13b", SCORES[1])])
def test_every_published_group_recomputes(
    real: Result, folder: Path, model: str, file: str
) -> None:
    table = json.loads((folder / file).read_text(encoding="utf-8"))
    for facet, groups in table.items():
        if facet == "average":
            continue
        values = real.values_by(facet)
        for value, figure in groups.items():
            got = values[model, value]
            assert (sum(got), len(got)) == (figure["correct"], figure["total"]), (facet, value)


def test_the_import_checks_itself_against_the_score_tables(real: Result) -> None:
    for file in SCORES:
        assert f"{file}: 75 of 75 figures agree" in real.report.notes


def test_differing_wordings_are_noted_and_the_first_is_kept(real: Result) -> None:
    assert any(
        note.startswith("62 questions are worded differently in output_llava")
        for note in real.report.notes
    )
    assert "CB = 4.0" in real.samples["6"].question


def test_the_one_question_whose_skills_differ_keeps_each_files_own(real: Result) -> None:
    sample = real.samples["586"]
    assert any("skills differ" in note and "586" in note for note in real.report.notes)
    agreed = {t.value for t in real.tags if t.subject_id == sample.id and t.facet == "skills"}
    assert agreed == {"geometry reasoning", "algebraic reasoning"}
    own = {
        real.model(r.id): {
            t.value for t in real.tags if t.subject_id == r.id and t.facet == "skills"
        }
        for r in real.responses.values()
        if r.sample_id == sample.id
    }
    assert own["bard"] == agreed
    assert own["llava_llama_2_13b"] == agreed | {"numeric commonsense"}


def test_tags_name_the_file_they_came_from(real: Result) -> None:
    for tag in real.tags:
        if tag.subject == "response":
            assert tag.source == f"output_{real.model(tag.subject_id)}.json"
        else:
            assert tag.source == OUTPUTS[0]


def test_references_choices_and_tolerances(real: Result) -> None:
    first, choice = real.samples["1"], real.samples["3"]
    assert first.id == Sample.make_id("MathVista testmini", "1")
    assert (first.reference, first.answer_type, first.choices) == ("1.2", "float", ())
    assert first.tolerance == pytest.approx(0.05)
    assert choice.choices == ("135°", "140°", "145°", "150°")
    assert (choice.reference, choice.answer_type, choice.tolerance) == ("145°", "choice", None)
    assert real.samples["2"].question.endswith("(Unit: g)")
    for sample in real.samples.values():
        assert not sample.choices or sample.reference in sample.choices


@pytest.mark.slow
def test_each_file_alone_gives_its_own_figures(folder: Path) -> None:
    for name, percent in zip(OUTPUTS, (34.8, 26.1), strict=True):
        result = take(ImportFile.from_path(folder / name))
        (values,) = result.values().values()
        assert 100 * sum(values) / len(values) == pytest.approx(percent)


def test_a_real_file_cut_short_keeps_what_is_whole(folder: Path) -> None:
    data = (folder / OUTPUTS[0]).read_bytes()
    result = take(ImportFile.from_bytes(OUTPUTS[0], data[: len(data) // 2]))
    assert 100 < len(result.samples) < 1000
    assert any("breaks off after entry" in note for note in result.report.notes)


def row(pid: str, **changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "pid": pid,
        "question": f"question {pid}?",
        "image": f"images/{pid}.jpg",
        "choices": None,
        "unit": None,
        "precision": None,
        "answer": "4",
        "question_type": "free_form",
        "answer_type": "integer",
        "metadata": {"split": "testmini", "skills": ["arithmetic reasoning"], "task": "t"},
        "response": "It is 4.",
        "extraction": "4",
        "prediction": "4",
        "true_false": True,
    }
    return base | changes


def output(model: str, *rows: dict[str, object]) -> ImportFile:
    content = {str(entry["pid"]): entry for entry in rows}
    return ImportFile.from_bytes(f"output_{model}.json", json.dumps(content).encode())


@pytest.mark.parametrize(
    ("changes", "state", "detail"),
    [
        ({"response": "", "error": "timeout"}, "failed", "timeout"),
        ({"response": None, "error": "timeout"}, "failed", "timeout"),
        ({"response": None}, "unscored", "the file holds no answer"),
        ({"response": "4", "error": ""}, "scored", ""),
    ],
)
def test_an_answer_that_is_missing_says_why_and_keeps_its_verdict(
    changes: dict[str, object], state: str, detail: str
) -> None:
    result = take(output("m", row("1", **changes, true_false=False)))
    (response,) = result.responses.values()
    assert (response.state, response.detail) == (state, detail)
    (outcome,) = result.outcomes.values()
    assert (outcome.value, outcome.answer) == (0.0, "4")


def test_an_answer_that_is_not_graded_has_no_outcome() -> None:
    result = take(output("m", row("1", true_false=None), row("2")))
    assert (len(result.responses), len(result.outcomes)) == (2, 1)
    assert any("not graded" in note for note in result.report.notes)


def test_the_extraction_stands_in_for_a_missing_prediction() -> None:
    result = take(output("m", row("1", prediction=None, extraction="four")))
    assert [outcome.answer for outcome in result.outcomes.values()] == ["four"]


def test_files_with_other_questions_are_joined() -> None:
    result = take(output("a", row("1"), row("2")), output("b", row("2"), row("3")))
    assert list(result.samples) == ["1", "2", "3"]
    assert len(result.responses) == 4
    assert any("stand in only one" in note for note in result.report.notes)


def test_entries_that_are_no_questions_are_skipped() -> None:
    content = {"1": row("1"), "2": "text", "3": row("3", question=None)}
    result = take(ImportFile.from_bytes("output_m.json", json.dumps(content).encode()))
    assert list(result.samples) == ["1"]
    assert result.report.n_skipped == 2


def test_an_id_that_stands_twice_keeps_its_first_entry() -> None:
    first, second = json.dumps(row("1")), json.dumps(row("1", question="other?"))
    data = f'{{"1": {first}, "1": {second}}}'.encode()
    result = take(ImportFile.from_bytes("output_m.json", data))
    assert result.samples["1"].question == "question 1?"
    assert "stood before" in result.report.skipped[0]


def test_a_score_table_that_disagrees_is_reported() -> None:
    table = {
        "average": {"accuracy": "50.0", "correct": 1, "total": 2},
        "skills": {"arithmetic reasoning": {"accuracy": "100", "correct": 2, "total": 2}},
    }
    scores = ImportFile.from_bytes("scores_m.json", json.dumps(table).encode())
    result = take(output("m", row("1"), row("2")), scores)
    assert "scores_m.json: 1 of 2 figures agree" in result.report.notes
    assert "scores_m.json: average 2/2, published 1/2" in result.report.notes


def test_names_can_be_given_and_two_files_of_one_model_are_refused() -> None:
    files = (output("a", row("1")), output("b", row("1")))
    named = {"output_a.json": "Model A"}
    assert take(*files, candidates=named).report.candidates == ("Model A", "b")
    with pytest.raises(FormatError, match="two files are answers of 'b'"):
        take(*files, candidates={"output_a.json": "b"})


def test_pictures_are_attached_without_changing_the_question() -> None:
    bare = take(output("m", row("1")))
    broken = take(output("m", row("1")), pictures=MemoryPictures({"images/1.jpg": b"no"}))
    assert bare.samples["1"].id == broken.samples["1"].id
    assert broken.report.missing_pictures == ("images/1.jpg",)


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("output_m.json", b"not json", "can't be read as JSON"),
        ("output_m.json", b'{"1": {"question": "q"}}', "no graded answers"),
        ("scores_m.json", b'{"average": {"accuracy": "1"}}', "only score tables"),
    ],
)
def test_other_files_are_refused_in_words(name: str, data: bytes, part: str) -> None:
    with pytest.raises(FormatError, match=part):
        take(ImportFile.from_bytes(name, data))


def test_sniffing() -> None:
    assert sniff(output("m", row("1")).head(), "output_m.json") > 0.9
    assert sniff(b'{"average": {"accuracy": "1"}}', "scores_m.json") > 0.5
    assert sniff(b"question,answer", "x.csv") == 0
