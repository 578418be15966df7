"""The other forms: what they hold, what they say they drop, and hostile text."""

from __future__ import annotations

import csv
import json
import re
import zipfile

import pyarrow.parquet as pq
import pytest

from atom.errors import UsageError
from atom.exports.base import ExportOptions, ExportSource
from atom.exports.html_study import page, script_json
from atom.exports.registry import EXPORTERS, find_exporter
from atom.formats.tools.evaltree import read_results, read_tree
from atom.records import Sample, StudySample
from atom.store import Store, table
from tests.atom.exports.whole_study import MOMENT, make_whole
from tests.factories import HOSTILE, STUDY, make_outcome_study, make_study

OPTIONS = ExportOptions(moment=MOMENT)
OTHERS = [name for name, one in EXPORTERS.items() if one.drops]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    store, study = make_whole(tmp_path_factory.mktemp("whole"))
    with store:
        yield ExportSource(store, study.id)


def write(name, source, place, options=OPTIONS):
    return EXPORTERS[name].write(source, place, options)


@pytest.fixture
def by_outcome(tmp_path):
    with Store.open(tmp_path / "outcomes") as store:
        yield ExportSource(store, make_outcome_study(store).id)


def test_parquet_alone_is_exact():
    assert [name for name, one in EXPORTERS.items() if not one.drops] == ["parquet"]


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_form_says_what_it_drops_in_the_file_too(source, tmp_path, name):
    exporter = EXPORTERS[name]
    # A plain table of texts has no place for it; its Parquet form has.
    place = tmp_path / f"x{exporter.suffix.replace('.csv', '.parquet')}"
    options = ExportOptions(moment=MOMENT, models=("Candidate A", "Candidate B"))
    written = write(name, source, place, options)
    assert written.drops == exporter.drops
    assert written.n_bytes == place.stat().st_size
    if exporter.suffix == ".zip":
        with zipfile.ZipFile(place) as packed:
            said = json.loads(packed.read("manifest.json"))
    elif place.suffix == ".parquet":
        said = json.loads(pq.read_schema(place).metadata[b"atomscope"])
    elif exporter.suffix == ".json":
        said = json.loads(place.read_text())["metadata"]["atomscope"]
    else:
        said = embedded(place.read_text())["manifest"]
    assert (said["drops"], said["form"]) == (list(exporter.drops), name)
    assert (said["study"], said["synthetic"]) == (STUDY, False)
    with pytest.raises(UsageError, match="already"):
        write(name, source, place)


def embedded(text):
    found = re.search(r'<script type="application/json" id="study">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- CSV -----------------------------------------------------------------------------------------


def test_the_tables_hold_every_answer_and_score(source, tmp_path):
    written = write("csv", source, tmp_path / "t")
    # 6 + 1 samples; 6 x 3 + 1 answers (corrected ones aren't); 18 answers x 3 criteria.
    assert written.counts["samples"] == 7
    assert (written.counts["answers"], written.counts["scores"]) == (19, 54)
    scores = rows(tmp_path / "t" / "scores.csv")
    states = [row["state"] for row in scores]
    assert [states.count(one) for one in ("scored", "unscored", "failed", "pending")] == [
        51, 1, 1, 1,
    ]  # fmt: skip
    # Candidate B's first sample: 5, 2, 1 with weights 2, 3, 5: (21/10 - 1) / 4 = 0.275.
    (answer,) = [
        row
        for row in rows(tmp_path / "t" / "answers.csv")
        if (row["sample"], row["model"]) == (scores[0]["sample"], "Candidate B")
    ]
    assert (float(answer["score"]), float(answer["right"])) == (27.5, 0.0)
    nodes = rows(tmp_path / "t" / "nodes.csv")
    # The whole tree, 3 + 3 inner nodes and 3 leaves, with 4 models each.
    assert {row["path"] for row in nodes if row["leaf"] == "1"} >= {
        "Perception > Object > Counting > Count all"
    }
    assert len(nodes) == 4 * (1 + 3 + 3 + 3)


def test_a_text_that_begins_like_a_formula_bears_a_tick(source, tmp_path):
    hostile = Sample(id="h", dataset="balls", question="=HYPERLINK(1)")
    source.store.put([hostile, StudySample(study_id=source.data.study.id, sample_id="h",
                                           position=99)])  # fmt: skip
    try:
        write("csv", ExportSource(source.store, source.data.study.id), tmp_path / "t")
        questions = [row["question"] for row in rows(tmp_path / "t" / "samples.csv")]
        assert "'=HYPERLINK(1)" in questions
        assert HOSTILE in questions
    finally:
        with source.store.write() as writer:
            writer.delete(StudySample, table(StudySample).c.sample_id == "h")
            writer.delete(Sample, table(Sample).c.id == "h")


def test_a_study_without_a_tree_has_no_table_of_nodes(by_outcome, tmp_path):
    written = write("csv", by_outcome, tmp_path / "t")
    assert "nodes" not in written.counts
    (row,) = rows(tmp_path / "t" / "ranking.csv")
    # Six of eight answers are right.
    assert (row["model"], float(row["right"])) == ("Candidate A", 75.0)


# --- LLM Comparator ------------------------------------------------------------------------------


def test_the_comparator_file_has_the_published_fields(source, tmp_path):
    options = ExportOptions(moment=MOMENT, models=("Candidate B", "cand-a"))
    written = write("llm-comparator", source, tmp_path / "c.json", options)
    data = json.loads((tmp_path / "c.json").read_text())
    assert data["models"] == [{"name": "Candidate B"}, {"name": "Candidate A"}]
    assert set(data["metadata"]) >= {"source_path", "custom_fields_schema"}
    assert written.counts == {"examples": 6}
    assert all(
        set(one)
        >= {"input_text", "tags", "output_text_a", "output_text_b", "score",
            "individual_rater_scores", "custom_fields"}
        and set(one["custom_fields"])
        == {field["name"] for field in data["metadata"]["custom_fields_schema"]}
        for one in data["examples"]
    )  # fmt: skip
    first, second = data["examples"][0], data["examples"][2]
    # The vote on the first sample is a tie; on the third, B's 5, 2 (weights 2, 5; one unscored)
    # against A's 5, 5, 4: 1.5 x ((20/7 - 1)/4 - (45/10 - 1)/4) = 1.5 x (0.464286 - 0.875).
    assert (first["score"], len(first["individual_rater_scores"])) == (0.0, 1)
    assert second["score"] == pytest.approx(1.5 * ((20 / 7 - 1) / 4 - 0.875))
    assert first["individual_rater_scores"][0]["rationale"] == "both\nfail"
    assert first["custom_fields"]["final_answer"] == ["wrong", "right"]
    assert first["custom_fields"]["picture"].startswith("/9j/")  # a JPEG


def test_two_models_are_asked_for(source, by_outcome, tmp_path):
    for wanted, words in ((("x", "y"), "no model 'x'"), (("Candidate A",), "two models")):
        options = ExportOptions(moment=MOMENT, models=wanted)
        with pytest.raises(UsageError, match=words):
            write("llm-comparator", source, tmp_path / "c.json", options)
    with pytest.raises(UsageError, match="two models"):
        write("llm-comparator", by_outcome, tmp_path / "c.json")
    assert list(tmp_path.glob("*.json")) == []


# --- EvalTree ------------------------------------------------------------------------------------


def test_the_tree_can_be_read_as_evaltree_writes_it(tmp_path):
    with Store.open(tmp_path / "plain") as store:
        source = ExportSource(store, make_study(store).id)
        written = write("evaltree", source, tmp_path / "e")
    root = read_tree((tmp_path / "e" / "capability_tree.json").read_bytes())
    listed = [json.loads(line) for line in (tmp_path / "e" / "rows.jsonl").read_text().splitlines()]
    # 18 criteria; candidate B has one unscored, one failed and one still to be scored: 15 are left.
    assert (written.counts["rows"], len(listed), sorted(root.rows)) == (15, 15, list(range(15)))
    assert "3 criteria are left out" in written.notes[1]
    results = read_results((tmp_path / "e" / "results" / "1.json").read_bytes())
    stats = json.loads((tmp_path / "e" / "confidence_interval" / "1.json").read_text())
    # Candidate B, passed (4 or 5) among the 15: 1 + 3 + 1 + 2 + 0 + 3 = 10.
    assert (sum(results), stats["size"], stats["sum_metrics"]) == (10.0, 15, 10.0)
    assert json.loads((tmp_path / "e" / "models.json").read_text())[1] == "Candidate B"


def test_a_study_without_scores_has_no_evaltree_form(by_outcome, tmp_path):
    with pytest.raises(UsageError, match="judge it first"):
        write("evaltree", by_outcome, tmp_path / "e")
    assert not (tmp_path / "e").exists()


# --- HTML ----------------------------------------------------------------------------------------


def test_hostile_text_cannot_end_the_script(source, tmp_path):
    write("html", source, tmp_path / "s.html")
    text = (tmp_path / "s.html").read_text()
    assert text.count("<script") == text.count("</script>") == 2
    assert "<script>alert" not in text
    study = embedded(text)
    assert HOSTILE in [one["question"] for one in study["samples"]]
    assert "default-src &#x27;none&#x27;" in text
    assert not re.search(r"(?:src|href)=\"(?!data:)", text)


@pytest.mark.parametrize("hostile", ["</script>", "<!--", "]]>", "\u2028", "&lt;", "\ud83d"])
def test_any_text_survives_the_script_element(hostile):
    text = script_json({"a": hostile})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {"a": hostile}
    assert "<script>" not in page(f"{hostile}<script>", {}).split("</title>")[0]


def test_the_number_of_samples_is_bounded_and_said(source, tmp_path):
    options = ExportOptions(moment=MOMENT, samples=2)
    written = write("html", source, tmp_path / "s.html", options)
    study = embedded((tmp_path / "s.html").read_text())
    assert (written.counts["samples"], study["total"], study["whole"]) == (2, 7, False)
    assert "2 of 7 samples are in the file" in study["manifest"]["notes"][0]


def test_an_unknown_form_is_told():
    with pytest.raises(UsageError, match="known forms: parquet, html, csv"):
        find_exporter("nope")


def test_pending_calls_are_a_runs_matter():
    with pytest.raises(UsageError, match="run batch write"):
        find_exporter("openai-batch")
