"""What stands at the import's door: whose data it is, conflicts, the account, verdicts, kills."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atom.engine.imports.importing import UNCHANGED, import_reading
from atom.errors import ConflictError, DoubtError
from atom.formats import ColumnMap, ImportFile, account_of, read
from atom.records import (
    Candidate,
    Checkpoint,
    Import,
    Outcome,
    Preference,
    Response,
    Sample,
    Study,
    StudySample,
    Tag,
)
from atom.store import Store, copy_study, delete_study, study_places, undo_import
from atom.views.facets import dataset_facet
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study

KINDS = (Study, Import, Sample, Candidate, Response, Outcome, Tag, StudySample)
HEAD = "id,question,answer,response,correct,skill\n"
ONE = HEAD + "1,How many?,3,3,1,count\n2,Which?,red,blue,0,colour\n"
OTHER = HEAD + "1,How many?,3,4,0,count\n2,Which?,red,red,1,colour\n"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        yield opened


def bring(store, text, study="Mine", *, day=1, name="results.csv", **options):
    keys = ("accept", "replace")
    reading = read(
        "table",
        [ImportFile.from_bytes(name, text.encode())],
        **{key: value for key, value in options.items() if key not in keys},
    )
    how = {key: value for key, value in options.items() if key in keys}
    return import_reading(store, reading, study, datetime(2026, 1, day, tzinfo=UTC), **how)


def texts(store, study_id):
    placed = {place.sample_id for place in study_places(store, study_id)}
    samples = {s.id: s.source_id for s in store.select(Sample) if s.id in placed}
    return {samples[r.sample_id]: r.text for r in store.select(Response) if r.sample_id in samples}


def everything(store):
    return {kind.__name__: sorted(store.select(kind), key=repr) for kind in KINDS}


# --- whose data it is ---


def test_equal_files_of_three_studies_never_meet(shared_folder, store):
    folder = shared_folder / "real" / "cases" / "rows"
    right = {}
    for run in ("run1", "run2", "run3"):
        reading = read(None, [ImportFile.from_path(folder / run / "results.csv")])
        study = import_reading(store, reading, run, datetime(2026, 1, 1, tzinfo=UTC)).study
        placed = {place.sample_id for place in study_places(store, study.id)}
        answers = {r.id for r in store.select(Response) if r.sample_id in placed}
        values = [o.value for o in store.select(Outcome) if o.response_id in answers]
        right[run] = (sum(values), len(values))
        questions = {s.question for s in store.select(Sample) if s.id in placed}
        assert all(("wholly different" in q) is (run == "run3") for q in questions)
    assert right == {"run1": (20, 20), "run2": (0, 20), "run3": (0, 20)}


def test_a_named_data_set_is_one_in_every_study(store):
    bring(store, ONE, "One", dataset="Shared")
    bring(store, ONE, "Two", dataset="Shared")
    assert len(store.select(Sample)) == 2
    with pytest.raises(ConflictError, match="belong to 'One' as well"):
        bring(store, OTHER, "Two", dataset="Shared", replace=True)


def test_a_study_of_an_earlier_version_keeps_its_ids(store):
    old = bring(store, ONE, dataset="results")  # unnamed sets were called so before
    assert {s.id for s in store.select(Sample)} == {Sample.make_id("results", n) for n in "12"}
    again = bring(store, ONE, day=2)
    assert UNCHANGED in again.record.notes
    assert len(study_places(store, old.study.id)) == 2


def test_a_copy_goes_on_under_its_originals_ids(store):
    first = bring(store, ONE)
    copy = copy_study(store, store, first.study.id, "Copy")
    again = bring(store, ONE, "Copy", day=2)
    assert UNCHANGED in again.record.notes
    assert len(study_places(store, copy.id)) == 2


# --- the same ids, other contents ---


def test_changed_contents_are_named_counted_and_refused(store):
    bring(store, ONE)
    before = everything(store)
    with pytest.raises(ConflictError) as error:
        bring(store, OTHER, day=2)
    assert "2 answers ('1', '2')" in error.value.message
    assert "2 verdicts ('1', '2')" in error.value.message
    assert "--replace" in error.value.message
    assert everything(store) == before


def test_replacing_takes_the_old_import_back_and_brings_the_new_one_in(store):
    first = bring(store, ONE)
    second = bring(store, OTHER, day=2, replace=True)
    assert [one.id for one in second.taken_back] == [first.record.id]
    assert store.select(Import) == [second.record]
    assert texts(store, second.study.id) == {"1": "4", "2": "red"}
    assert sorted(o.value for o in store.select(Outcome)) == [0, 1]
    undo_import(store, second.record.id)
    assert store.select(Sample) == store.select(Response) == store.select(Outcome) == []


def test_marks_on_answers_that_are_replaced_go_and_others_stay(store):
    first = bring(store, ONE)
    changed, same = sorted(store.select(Response), key=lambda r: r.text)
    assert (changed.text, same.text) == ("3", "blue")
    store.put(
        Checkpoint(key=f"k{at}", criterion_id="c", response_id=answer.id, judge_id="j",
                   prompt="scoring/2", state="scored", score=5)
        for at, answer in enumerate((changed, same))
    )  # fmt: skip
    text = ONE.replace("3,3,1", "3,4,0")
    second = bring(store, text, day=2, replace=True)
    assert [mark.response_id for mark in store.select(Checkpoint)] == [same.id]
    assert texts(store, second.study.id) == {"1": "4", "2": "blue"}
    assert second.study == first.study


def test_a_question_that_changed_takes_all_that_hangs_on_it(store):
    bring(store, ONE)
    other = bring(store, ONE.replace("How many?", "What on earth is that?"), day=2, replace=True)
    assert "What on earth is that?" in {s.question for s in store.select(Sample)}
    assert len(study_places(store, other.study.id)) == 2


def test_a_question_in_other_words_is_the_same_one(store):
    bring(store, ONE, name="a.csv", dataset="D")
    again = bring(store, ONE.replace("How many?", "how many? Count."), day=2, dataset="D",
                  name="b.csv")  # fmt: skip
    assert any("worded otherwise in these files: 1" in note for note in again.record.notes)
    assert {s.question for s in store.select(Sample)} == {"How many?", "Which?"}


def test_a_label_that_changed_is_a_conflict(store):
    bring(store, ONE)
    with pytest.raises(ConflictError, match="1 label of a question"):
        bring(store, ONE.replace("count", "measure"), day=2)


def test_what_a_deleted_study_left_stands_in_nobodys_way(store):
    first = bring(store, ONE)
    delete_study(store, first.study.id)
    second = bring(store, OTHER, day=2)
    assert texts(store, second.study.id) == {"1": "4", "2": "red"}


def test_votes_that_changed_are_a_conflict(store):
    rows = "id,question,model_a,model_b,winner,judge\n1,Q?,x,y,{},j\n"
    bring(store, rows.format("A"))
    with pytest.raises(ConflictError, match="1 vote "):
        bring(store, rows.format("B"), day=2)
    bring(store, rows.format("B"), day=2, replace=True)
    assert [vote.verdict for vote in store.select(Preference)] == ["b"]


# --- the account ---


def test_the_account_says_what_was_there_before(store):
    bring(store, ONE)
    more = bring(store, ONE + "3,Where?,here,there,0,place\n", day=2)
    account = account_of(more.record)
    assert account.adds_up
    for item in ("questions", "answers", "verdicts", "groups"):
        tally = account.of(item)
        assert (tally.read, tally.came_in, tally.known) == (3, 3, 2), item
    assert UNCHANGED not in more.record.notes


def test_an_import_that_leaves_much_out_asks_first(store):
    text = ONE + "4,,,,,\n"
    with pytest.raises(DoubtError, match=r"1 of 3 rows \(33.3 %\) would be left out"):
        bring(store, text)
    assert store.select(Study) == store.select(Sample) == []
    brought = bring(store, text, accept=True)
    rows = account_of(brought.record).of("rows")
    assert (rows.read, rows.came_in, rows.n_left_out) == (3, 2, 1)
    assert "would be left out" in account_of(brought.record).accepted[0]


def test_a_figure_that_disagrees_asks_first(store):
    entry = {
        "pid": "1", "question": "Q?", "question_type": "free_form", "answer_type": "text",
        "metadata": {"skills": ["x"]}, "answer": "a", "response": "a", "true_false": True,
    }  # fmt: skip
    table = {"average": {"accuracy": "0.0", "correct": 0, "total": 1}}
    files = [
        ImportFile.from_bytes("output_m.json", json.dumps({"1": entry}).encode()),
        ImportFile.from_bytes("scores_m.json", json.dumps(table).encode()),
    ]
    with pytest.raises(DoubtError, match="1 of 1 published figures"):
        import_reading(store, read(None, files), "Mine", datetime(2026, 1, 1, tzinfo=UTC))
    assert store.select(Study) == []


def test_a_column_of_results_that_is_not_used_asks_first(store):
    text = "id,question,response,gpt4_score\n" + "".join(f"{n},q{n},x,{n}\n" for n in range(9))
    with pytest.raises(DoubtError, match="'gpt4_score' looks like a result"):
        bring(store, text)
    columns = ColumnMap(correct="gpt4_score", correct_max=10)
    bring(store, text, columns=columns)
    assert max(o.value for o in store.select(Outcome)) == 0.8


# --- verdicts that no file holds ---


def outcomes_of(store):
    samples = {s.id: s.source_id for s in store.select(Sample)}
    answers = {r.id: samples[r.sample_id] for r in store.select(Response)}
    return {answers[o.response_id]: (o.how, o.value) for o in store.select(Outcome)}


def test_letters_and_texts_of_options_are_read(shared_folder, store):
    file = ImportFile.from_path(shared_folder / "real/cases/rows/mmmu_raw_letters.json")
    import_reading(store, read(None, [file]), "Mine", datetime(2026, 1, 1, tzinfo=UTC))
    assert outcomes_of(store) == {f"validation_Art_{n}": ("choice", 1.0) for n in range(1, 5)}


def test_raw_replies_come_to_what_mmmus_own_parser_read(shared_folder, store):
    folder = shared_folder / "real" / "mmmu"
    read_there = json.loads((folder / "llava1.5_13b_total_val_output.json").read_text())
    files = sorted((folder / "llava1.5_13b_raw").glob("*.json"))
    reading = read(None, [ImportFile.from_path(file) for file in files])
    import_reading(store, reading, "Mine", datetime(2026, 1, 1, tzinfo=UTC))
    keys = {row["id"]: row for file in files for row in json.loads(file.read_text())}
    choice = {n: row for n, row in keys.items() if row["question_type"] == "multiple-choice"}
    ours = {name: value for name, (_, value) in outcomes_of(store).items() if name in choice}
    assert ours == {name: float(read_there[name] == row["answer"]) for name, row in choice.items()}


def test_what_cannot_be_read_is_unscored_and_free_words_are_left_to_the_judge(store):
    text = (
        "id,question,choices,answer,response\n"
        '1,Q?,"[""red"", ""blue""]",red,The answer is A.\n'
        '2,Q?,"[""red"", ""blue""]",red,Hard to say.\n'
        "3,How many?,,4,The answer is 5.\n"
        "4,Who?,,a cat,a cat\n"
    )
    brought = bring(store, text)
    assert outcomes_of(store) == {"1": ("choice", 1.0), "3": ("numeric", 0.0)}
    assert any("1 are right and 1 wrong; 1 name no answer" in note for note in brought.record.notes)
    undo_import(store, brought.record.id)
    assert store.select(Outcome) == store.select(Response) == []


def test_a_verdict_of_the_file_is_never_overruled(store):
    text = 'id,question,choices,answer,response,correct\n1,Q?,"[""red"", ""blue""]",red,A,0\n'
    bring(store, text)
    assert outcomes_of(store) == {"1": ("imported", 0.0)}


# --- killed ---

_SCRIPT = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.store import Store
with Store.open(sys.argv[1]) as store:
    reading = read("table", [ImportFile.from_path(Path(sys.argv[2]))])
    print("begun", flush=True)
    import_reading(store, reading, "Killed", datetime(2026, 1, 1, tzinfo=UTC))
    print("done", flush=True)
"""


def working(group):
    """List the processes of a group that aren't over."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its = place.read_text().rsplit(") ", 1)[1].split()[:3]
            found += [place.parent.name] if int(its) == group and state != "Z" else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 0.4, 0.9])
def test_a_killed_import_leaves_nothing_or_all(tmp_path, delay):
    """Fall 18 of design/074. The process that reads the file goes with the one that was killed."""
    rows = [
        f"{n},Question {n} of them{'.' * 60}?,3,answer {n},1,skill {n % 3}" for n in range(20_000)
    ]
    (tmp_path / "rows.csv").write_text(HEAD + "\n".join(rows) + "\n")
    with Store.open(tmp_path / "s"):
        pass
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "s"), str(tmp_path / "rows.csv")],
        stdout=subprocess.PIPE, cwd=Path.cwd(), start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == b"begun\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for _ in range(100):
        if not working(process.pid):
            break
        time.sleep(0.1)
    assert not working(process.pid)
    process.stdout.close()
    with Store.open(tmp_path / "s") as store:
        counts = {kind.__name__: len(store.select(kind)) for kind in (Study, Import, Sample)}
        assert counts in ({"Study": 0, "Import": 0, "Sample": 0},
                          {"Study": 1, "Import": 1, "Sample": 20_000})  # fmt: skip


# --- a source of the file's own ---


def test_a_files_own_source_is_not_mixed_with_ours(store):
    text = "id,question,response,correct,source\n" + "".join(
        f"{n},q{n},x,1,{'web' if n % 2 else 'book'}\n" for n in range(12)
    )
    study = bring(store, text).study
    facets = load_study(store, study.id).table.facets
    assert set(facets["source"].values) == {"web", "book"}
    assert facets[dataset_facet(facets)].values == ("results",)
    plain = bring(store, text.replace("source", "kind"), "Other").study
    facets = load_study(store, plain.id).table.facets
    assert facets["source"].values == facets[dataset_facet(facets)].values == ("results",)


# --- one question asked several times ---


def test_right_every_time_is_said_beside_the_accuracy(store):
    # Question 1 is right at all four rotations, question 2 at three: 7 of 8 right, 1 of 2 every
    # time.
    files = [
        ImportFile.from_bytes(
            f"gpt-x_rot{turn}.csv",
            f"id,question,response,correct\n1,What?,x,1\n2,Where?,y,{int(turn != 90)}\n".encode(),
        )
        for turn in (0, 90, 180, 270)
    ]
    study = import_reading(store, read("table", files), "T", datetime(2026, 1, 1, tzinfo=UTC)).study
    (row,) = overview(load_study(store, study.id), Filters()).ranking
    assert (row.name, row.score.value, row.score.n) == ("gpt-x", 87.5, 8)
    assert (row.hit_all, row.hit_clusters) == (50.0, 2)


def test_nothing_is_said_of_questions_asked_once(store):
    study = bring(store, ONE).study
    (row,) = overview(load_study(store, study.id), Filters()).ranking
    assert (math.isnan(row.hit_all), row.hit_clusters) == (True, 0)
