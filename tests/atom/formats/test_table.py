from __future__ import annotations

import base64
import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from atom.errors import FormatError
from atom.formats import (
    Batch,
    ColumnMap,
    ImportFile,
    ImportReport,
    MemoryPictures,
    dry_run,
    read,
)
from atom.records import Outcome, PictureSlot, Response, Sample, Tag, blob_hash


class Result:
    """Everything that one import gave."""

    def __init__(self, batches: list[Batch], report: ImportReport) -> None:
        self.samples = [sample for batch in batches for sample in batch.samples]
        self.responses = [response for batch in batches for response in batch.responses]
        self.outcomes = [outcome for batch in batches for outcome in batch.outcomes]
        self.tags = [tag for batch in batches for tag in batch.tags]
        self.pictures = [picture for batch in batches for picture in batch.pictures]
        self.names = {c.id: c.name for batch in batches for c in batch.candidates}
        self.votes = [vote for batch in batches for vote in batch.preferences]
        self.labels = [label for batch in batches for label in batch.annotations]
        self.report = report

    @property
    def sample(self) -> Sample:
        assert len(self.samples) == 1
        return self.samples[0]


def png(shade: int = 0) -> bytes:
    out = io.BytesIO()
    Image.new("L", (8, 6), shade).save(out, "PNG")
    return out.getvalue()


def take(*files: ImportFile, **options: object) -> Result:
    reading = read("table", files, **options)  # type: ignore[arg-type]
    batches = list(reading)
    return Result(batches, reading.report)


def rows_file(rows: list[dict[str, object]], name: str = "x.jsonl") -> ImportFile:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return ImportFile.from_bytes(name, text.encode())


def csv_file(text: str, name: str = "x.csv") -> ImportFile:
    return ImportFile.from_bytes(name, text.encode())


def test_a_long_table_gives_questions_answers_verdicts_and_tags() -> None:
    result = take(
        csv_file(
            "id,question,A,B,answer,model,response,correct,skill\n"
            "1,Which?,cat,dog,B,m1,It is a dog.,1,naming\n"
            "1,Which?,cat,dog,B,m2,A cat.,0,naming\n"
            "2,How many?,1,2,A,m1,,0,counting\n"
            "2,How many?,1,2,A,m2,1,yes,counting\n"
        ),
        dataset="Animals",
    )
    assert [sample.question for sample in result.samples] == ["Which?", "How many?"]
    assert [sample.reference for sample in result.samples] == ["dog", "1"]
    assert result.samples[0].id == Sample.make_id("Animals", "1")
    assert [(result.names[r.candidate_id], r.state) for r in result.responses] == [
        ("m1", "scored"),
        ("m2", "scored"),
        ("m1", "unscored"),
        ("m2", "scored"),
    ]
    assert result.responses[2].detail == "the file holds no answer"
    assert [outcome.value for outcome in result.outcomes] == [1.0, 0.0, 0.0, 1.0]
    assert {outcome.how for outcome in result.outcomes} == {"imported"}
    assert [(tag.subject, tag.facet, tag.value) for tag in result.tags] == [
        ("sample", "skill", "naming"),
        ("sample", "skill", "counting"),
    ]
    assert {tag.source for tag in result.tags} == {"x.csv"}
    report = result.report
    assert (report.rows, report.samples, report.responses, report.outcomes) == (4, 2, 4, 4)
    assert report.candidates == ("m1", "m2")


def test_a_wide_table_gives_an_answer_for_each_model() -> None:
    result = take(csv_file("question,response:m1,response:m2,correct:m1\nq,a,,1\nq2,b,c,0\n"))
    assert [result.names[r.candidate_id] for r in result.responses] == ["m1", "m1", "m2"]
    assert len(result.outcomes) == 2
    assert "once: m2 has no answer" in " ".join(result.report.notes)


def test_a_mapped_table_is_read_as_mapped() -> None:
    columns = ColumnMap(
        question="Frage",
        answer="Lösung",
        tolerance="tol",
        response="Antwort",
        candidate="my model",
        correct="Note",
        correct_max=10,
        tags=("Thema",),
        tag_separator=",",
    )
    text = 'Frage,Lösung,tol,Antwort,Note,Thema\nWie viele?,4,0.5,Vier,5,"zählen, lesen"\n'
    result = take(csv_file(text), columns=columns)
    assert (result.sample.reference, result.sample.tolerance) == ("4", 0.5)
    assert result.outcomes[0].value == 0.5
    assert list(result.names.values()) == ["my model"]
    assert [tag.value for tag in result.tags] == ["zählen", "lesen"]


def test_the_file_names_the_candidate_where_nothing_else_does() -> None:
    file = csv_file("question,response\nq,a\n", "gpt-x.csv")
    assert list(take(file).names.values()) == ["gpt-x"]
    assert list(take(file, candidates={"gpt-x.csv": "GPT X"}).names.values()) == ["GPT X"]


def test_answers_in_a_second_file_find_their_questions() -> None:
    questions = csv_file("id,question\n1,a?\n2,b?\n", "questions.csv")
    answers = csv_file("id,response,correct\n1,x,1\n3,y,0\n", "model-a.csv")
    result = take(questions, answers)
    assert [response.sample_id for response in result.responses] == [result.samples[0].id]
    assert "no question has the id '3'" in result.report.skipped[0]


def test_an_id_of_two_questions_keeps_both() -> None:
    rows: list[dict[str, object]] = [{"id": at, "question": f"q{at}"} for at in range(20)]
    again = [{"id": 3, "question": "another"}] * 2
    result = take(rows_file([*rows, *again]))
    assert [sample.source_id for sample in result.samples][20:] == ["3 (2)"]
    assert result.report.n_skipped == 0
    assert any("an id stood before for another question" in note for note in result.report.notes)


def test_an_answer_that_only_one_row_tells_makes_no_second_question() -> None:
    result = take(rows_file([
        {"id": 1, "question": "q", "answer": "3", "model": "m", "response": "3"},
        {"id": 1, "question": "q", "answer": None, "model": "n", "response": "4"},
    ]))  # fmt: skip
    assert result.sample.reference == "3"
    assert len(result.responses) == 2


def test_rows_without_a_question_are_skipped() -> None:
    result = take(
        rows_file([{"question": "q"}, {"question": " "}, {"x": 1}, {"question": ["a"]}]),
        columns=ColumnMap(question="question"),
    )
    assert len(result.samples) == 1
    assert [line.split(": ")[1] for line in result.report.skipped] == [
        "it has no question",
        "it has no question",
        "its question is not text",
    ]


def test_only_a_row_with_an_answer_loses_something_when_it_names_no_model() -> None:
    result = take(csv_file(
        "id,question,answer,model,response,correct\n"
        "1,q?,a,m,a,1\n2,r?,a,,,\n3,s?,a,,b,0\n4,t?,a,,,1\n"
    ))  # fmt: skip
    assert len(result.samples) == 4
    assert len(result.responses) == 1
    assert result.report.skipped == (
        "x.csv line 4: column 'model' names no model",
        "x.csv line 5: column 'model' names no model",
    )
    assert any("a question without an answer (first: x.csv line 3)" in note
               for note in result.report.notes)  # fmt: skip


@pytest.mark.parametrize("columns", [None, ColumnMap(id="row")])
def test_rows_without_an_id_are_named_by_file_and_place(columns) -> None:
    result = take(rows_file([{"question": "q", "choices": ["a", "b"]}] * 2), columns=columns)
    assert [sample.source_id for sample in result.samples] == ["x.jsonl line 1", "x.jsonl line 2"]
    told = any("no column is an id" in note for note in result.report.notes)
    assert told is (columns is None)


def test_rows_can_be_brought_together_by_their_question() -> None:
    rows = [{"question": "q", "model": m, "response": m} for m in ("a", "b")]
    result = take(rows_file(rows), columns=ColumnMap(id="question"))
    assert result.sample.source_id == "q"
    assert len(result.responses) == 2


def test_none_of_1500_rows_in_30_groups_is_lost_for_want_of_an_id() -> None:
    rows = [
        {
            "question": f"Question {at % 881}?",
            "response": "x",
            "correct": at % 2,
            "kind": f"k{at % 30}",
        }
        for at in range(1500)
    ]  # 881 texts, 619 of them twice
    result = take(rows_file(rows))
    assert (len(result.samples), len(result.responses), len(result.outcomes)) == (1500, 1500, 1500)
    assert len({tag.value for tag in result.tags if tag.facet == "kind"}) == 30
    account = result.report.account
    assert account.adds_up
    assert (account.of("rows").read, account.of("rows").came_in) == (1500, 1500)


def test_groups_are_found_in_a_file_that_is_sorted_by_them() -> None:
    rows = [
        {"id": at, "question": f"q{at}", "response": "x", "correct": 1, "skill": skill}
        for at, skill in enumerate(s for s in ("one", "two", "three") for _ in range(300))
    ]
    result = take(rows_file(rows))
    assert {tag.value for tag in result.tags if tag.facet == "skill"} == {"one", "two", "three"}


@pytest.mark.parametrize("column", ["gpt4_score", "winner", "annotator1", "response_b"])
def test_a_column_that_looks_like_a_result_is_never_passed_over(column) -> None:
    rows = [{"id": at, "question": f"q{at}", column: at % 7 + 2} for at in range(30)]
    (doubt,) = take(rows_file(rows)).report.doubts
    assert column in doubt
    assert "column map" in doubt
    assert take(rows_file(rows), columns=ColumnMap(ignore=(column,))).report.doubts == ()
    assert take(rows_file(rows), columns=ColumnMap(tags=(column,))).report.doubts == ()


# --- two answers a row ---


def pair(at=1, a="x", b="y", **more):
    return {
        "id": at, "question": f"q{at}", "model_a": a, "model_b": b, "response_a": f"of {a}",
        "response_b": f"of {b}", **more,
    }  # fmt: skip


def votes_of(rows, **options):
    result = take(rows_file(rows), **options)
    return result, result.votes


@pytest.mark.parametrize(
    ("said", "verdict", "strength"),
    [("A", "a", 1), ("model_b", "b", 1), ("tie", "tie", 1), ("x", "a", 1), ("[[B]]", "b", 1),
     ("A>>B", "a", 2), ("Tie (both bad)", "tie", 1), ("who knows", None, 1), (1, "a", 1)],
)  # fmt: skip
def test_votes_are_read_in_many_words(said, verdict, strength) -> None:
    _, (vote,) = votes_of([pair(winner=said, judge="j")])
    assert (vote.verdict, vote.strength, vote.judge, vote.first) == (verdict, strength, "j", "a")
    assert vote.state == ("scored" if verdict else "unscored")


def test_both_orders_of_a_pair_are_one_pair() -> None:
    rows = [pair(winner="A", judge="j"), pair(a="y", b="x", winner="A", judge="j")]
    result, votes = votes_of(rows)
    assert len({(vote.response_a, vote.response_b) for vote in votes}) == 1
    # First x wins, shown first; then y wins, shown first: y is the file's second.
    assert [(vote.verdict, vote.first) for vote in votes] == [("a", "a"), ("b", "b")]
    first = next(r for r in result.responses if r.id == votes[0].response_a)
    assert result.names[first.candidate_id] == "x"


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("ab", "a"),
        ("ba", "b"),
        ("B,A", "b"),
        ("swapped", "b"),
        (True, "b"),
        (False, "a"),
        ("a", "a"),
    ],
)
def test_the_order_of_showing_is_read(order, first) -> None:
    _, (vote,) = votes_of([pair(winner="A", judge="j", order=order)])
    assert (vote.first, vote.verdict) == (first, "a")


def test_auto_js_labels_come_in_at_once_as_peoples() -> None:
    rows = [
        {
            "scenario": "s",
            "label": label,
            "prompt": f"p{label}",
            "response 1": "x",
            "response 2": "y",
        }
        for label in (0, 1, 2)
    ]
    result = take(rows_file(rows))
    assert [label.label for label in result.labels] == ["a", "b", "tie"]
    assert result.report.doubts == ()
    assert sorted(result.names.values()) == ["response 1", "response 2"]


def test_numbers_whose_meaning_nobody_said_are_asked_about() -> None:
    rows = [pair(at, winner=at % 3, judge="j") for at in range(9)]
    result, _ = votes_of(rows)
    assert any("tables differ in what 0 means" in doubt for doubt in result.report.doubts)
    codes = ColumnMap(first_wins=("1",), second_wins=("2",), ties=("0",))
    result, votes = votes_of(rows, columns=codes)
    assert result.report.doubts == ()
    assert [vote.verdict for vote in votes[:3]] == ["tie", "a", "b"]


# --- one question asked of several rotations ---


def test_four_rotations_are_one_model_and_one_cluster_a_question() -> None:
    text = "id,question,response,correct\n1,What?,x,1\n2,Where?,y,0\n"
    files = [csv_file(text, f"gpt-x_tdbench_rot{turn}.csv") for turn in (0, 90, 180, 270)]
    result = take(*files)
    assert set(result.names.values()) == {"gpt-x_tdbench"}
    assert (len(result.samples), len({sample.cluster for sample in result.samples})) == (8, 2)
    assert {tag.value for tag in result.tags} == {"0", "90", "180", "270"}


def test_a_second_answer_needs_a_repeat_column() -> None:
    rows: list[dict[str, object]] = [
        {"id": 1, "question": "q", "model": "m", "response": text} for text in ("a", "b", "a")
    ]
    result = take(rows_file(rows))
    assert [response.text for response in result.responses] == ["a"]
    assert "repeat" in result.report.skipped[0]
    assert "the same answer stands twice" in result.report.notes[0]
    counted = [row | {"repeat": at} for at, row in enumerate(rows)]
    assert [r.repeat for r in take(rows_file(counted)).responses] == [0, 1, 2]


def test_a_word_that_is_no_verdict_leaves_the_outcome_unscored() -> None:
    rows: list[dict[str, object]] = [
        {"id": at, "question": f"q{at}", "response": "r", "hit": at % 2} for at in range(20)
    ]
    result = take(
        rows_file([*rows, {"id": 99, "question": "x", "response": "r", "hit": "Unknown"}])
    )
    last = result.outcomes[-1]
    assert (last.state, last.value) == ("unscored", None)
    assert "Unknown" in last.detail


def test_nan_is_nothing() -> None:
    text = (
        '{"id": 1, "question": "q", "choices": null, "answer": NaN, "response": NaN, "s": NaN}\n'
        '{"id": 2, "question": "nan"}\n'
    )
    result = take(ImportFile.from_bytes("x.jsonl", text.encode()))
    assert result.sample.reference is None
    assert result.responses[0].state == "unscored"
    assert result.tags == []


def test_ids_that_a_frame_made_decimal_are_whole_again() -> None:
    assert take(rows_file([{"id": 7.0, "question": "q"}])).sample.source_id == "7"


def test_hostile_text_stays_text() -> None:
    question = "</script><b>=HYPERLINK(1)</b> ![x](http://example.invalid/a.png) \u202e\x07"
    result = take(rows_file([{"id": "../../etc", "question": question, "response": "\x00\ud800"}]))
    assert result.sample.question == question
    assert result.sample.source_id == "../../etc"
    assert result.responses[0].text == "\ufffd\ufffd"


def test_pictures_are_found_missing_ones_listed_and_nothing_is_fatal() -> None:
    rows: list[dict[str, object]] = [
        {"id": 1, "question": "a", "images": ["1.png", "gone.png"]},
        {"id": 2, "question": "b", "images": "['1.png']"},
        {"id": 3, "question": "c", "images": "1.png; 2.png"},
        {"id": 4, "question": "d", "images": "https://example.invalid/x.png"},
        {"id": 5, "question": "e", "images": None},
    ]
    finder = MemoryPictures({"1.png": png(1), "2.png": b"not a picture"})
    result = take(rows_file(rows), pictures=finder)
    one = blob_hash(png(1))
    assert [sample.pictures for sample in result.samples] == [
        (PictureSlot(name="1.png", picture_id=one), PictureSlot(name="gone.png")),
        (PictureSlot(name="1.png", picture_id=one),),
        (PictureSlot(name="1.png", picture_id=one), PictureSlot(name="2.png")),
        (PictureSlot(name="https://example.invalid/x.png"),),
        (),
    ]
    assert [picture.id for picture in result.pictures] == [one]
    assert result.report.missing_pictures == (
        "gone.png",
        "2.png",
        "https://example.invalid/x.png",
    )
    assert any("nothing is fetched" in note for note in result.report.notes)
    clusters = [sample.cluster for sample in result.samples]
    assert clusters[1] not in (clusters[0], None)
    assert clusters[4] is None


def test_pictures_beside_the_file_are_found(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(png())
    path = tmp_path / "set.csv"
    path.write_text("question,image\nq,images/a.png\nq2,/etc/hostname\n", encoding="utf-8")
    result = take(ImportFile.from_path(path))
    assert result.samples[0].pictures[0].picture_id == blob_hash(png())
    assert result.samples[1].pictures == (PictureSlot(name="/etc/hostname"),)


def test_base64_pictures_and_rows_that_refer_to_them() -> None:
    text = base64.b64encode(png()).decode()
    rows: list[dict[str, object]] = [
        {"index": 1, "question": "a", "image": text},
        {"index": 2, "question": "b", "image": "1"},
        {"index": 3, "question": "c", "image": f"data:image/png;base64,{text}"},
        {"index": 4, "question": "d", "image": "data:image/png;base64,@@"},
    ]
    result = take(rows_file(rows))
    ids = [sample.pictures[0].picture_id for sample in result.samples]
    assert ids == [blob_hash(png())] * 3 + [None]
    assert len(result.pictures) == 1
    assert len({sample.cluster for sample in result.samples[:3]}) == 1


def test_parquet_with_pictures_inside(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pa.table(
        {
            "id": ["a", "b"],
            "question": ["q1", "q2"],
            "images": [
                [{"bytes": png(1), "path": "1.png"}, {"bytes": png(2), "path": None}],
                [{"bytes": None, "path": "gone.png"}],
            ],
            "options": ["['x', 'y']", "[]"],
            "answer": ["B", "free"],
        }
    )
    pq.write_table(frame, path)
    result = take(ImportFile.from_path(path))
    assert [slot.picture_id for slot in result.samples[0].pictures] == [
        blob_hash(png(1)),
        blob_hash(png(2)),
    ]
    assert result.samples[0].reference == "y"
    assert result.samples[1].reference == "free"
    assert result.report.missing_pictures == ("gone.png",)


def test_tags_that_change_within_a_question_are_all_kept() -> None:
    columns = ColumnMap(tags=("skill",), response_tags=())
    rows: list[dict[str, object]] = [
        {"id": 1, "question": "q", "skill": skill} for skill in ("a", "b", "b")
    ]
    result = take(rows_file(rows), columns=columns)
    assert [tag.value for tag in result.tags] == ["a", "b"]
    assert "differ in its tags" in result.report.notes[-1]


def test_a_limit_stops_early_and_says_so() -> None:
    result = take(rows_file([{"id": at, "question": f"q{at}"} for at in range(9)]), limit=4)
    assert len(result.samples) == 4
    assert "stopped after 4 rows" in result.report.notes[-1]


def test_a_table_of_nothing_is_refused() -> None:
    with pytest.raises(FormatError, match="no rows"):
        take(csv_file("question,answer\n"))
    with pytest.raises(FormatError, match="no file"):
        take()


def test_importing_twice_gives_the_same_records() -> None:
    file = csv_file("id,question,model,response,hit,skill\n1,q,m,r,1,a\n2,p,m,s,0,b\n")
    first, second = take(file), take(file)
    assert first.samples == second.samples
    assert first.responses == second.responses
    assert first.tags == second.tags


TEXT = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), min_size=1
).filter(lambda text: bool(text.strip()) and text not in ("nan", "NaN"))


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8, unique_by=lambda pair: pair[0]))
def test_csv_texts_come_back_as_they_were(pairs: list[tuple[str, str]]) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(("question", "response"))
    writer.writerows(pairs)
    columns = ColumnMap(question="question", response="response", encoding="utf-8", delimiter=",")
    result = take(csv_file(out.getvalue()), columns=columns)
    assert [sample.question for sample in result.samples] == [q for q, _ in pairs]
    assert [response.text for response in result.responses] == [a for _, a in pairs]
    kinds = (Response, Outcome, Tag)
    assert not any(isinstance(sample, kinds) for sample in result.samples)


class Generated(io.RawIOBase):
    """A table that is made while it is read, so that only the reader's memory counts."""

    def __init__(self, rows: int) -> None:
        self._lines = self._make(rows)
        self._rest = b""

    def _make(self, rows: int) -> Iterator[bytes]:
        yield b"id,question,model,response\n"
        text = "step by step " * 200
        for at in range(rows):
            yield f"{at},How many {at}?,m,{text}{at}\n".encode()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while len(self._rest) < len(buffer):
            line = next(self._lines, b"")
            if not line:
                break
            self._rest += line
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


@pytest.mark.attack
def test_a_long_table_is_read_in_little_memory() -> None:
    rows = 50_000
    file = ImportFile(name="x.csv", open=lambda: io.BufferedReader(Generated(rows)))
    reading = read("table", [file])
    tracemalloc.start()
    report = dry_run(reading)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.rows == report.samples == report.responses == rows
    assert peak < 45_000_000, "the table has 130 MB"
