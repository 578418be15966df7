"""Judgments into a study: by their columns, by a map, once more, joined, and taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from atom.engine.imports.importing import ImportResult, import_reading
from atom.errors import ConflictError, DoubtError, FormatError
from atom.formats import ColumnMap, ImportFile, dry_run, read, read_column_map
from atom.formats.judgments.sets import tree_of
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    Judge,
    Mapping,
    MarkScale,
    Response,
    Study,
    StudySample,
    TreeVersion,
)
from atom.store import Store, load_tree, undo_import
from tests.atom.formats.judgments.frames import MOMENT, frame_of

ROWS: list[dict[str, object]] = [
    {
        "id": f"q{question}", "question": f"What is in picture {question}?", "model": model,
        "response": f"{model} says {question}", "criterion": f"names part {part}",
        "weight": part, "capability": f"Seeing > part {part}", "judge": "judge-a",
        "score": (question + part + at) % 5 + 1, "reason": "so it seems",
    }
    for question in range(5)
    for at, model in enumerate(("one", "two"))
    for part in (1, 2, 3)
]  # fmt: skip


def _lines(rows: Sequence[dict[str, object]], name: str = "marks.jsonl") -> ImportFile:
    return ImportFile.from_bytes(name, "\n".join(map(json.dumps, rows)).encode())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(str(tmp_path)) as opened:
        yield opened


def _bring(
    store: Store,
    files: ImportFile | list[ImportFile],
    text: str = "",
    *,
    accept: bool = False,
    replace: bool = False,
    format: str | None = None,
) -> ImportResult:
    columns: ColumnMap | None = read_column_map(text) if text else None
    reading = read(format, files if isinstance(files, list) else [files], columns=columns)
    return import_reading(store, reading, "study", MOMENT, accept=accept, replace=replace)


def _study(store: Store) -> Study:
    (study,) = store.select(Study)
    return study


def test_a_long_table_needs_no_map(store: Store) -> None:
    """A criterion and a mark side by side: everything comes in, nothing is called."""
    found = _bring(store, _lines(ROWS))
    assert found.report.format == "judgments"
    assert found.report.account.adds_up
    assert (found.report.judgments, found.report.criteria) == (30, 15)
    notes = " ".join(found.report.notes)
    assert "guessed columns: criterion = 'criterion', mark = 'score'" in notes
    assert "the scale is guessed from the marks: 1 to 5" in notes
    frame = frame_of(store)
    first = frame[(frame["sample"] == "q0") & (frame.model == "one")].sort_values("criterion")
    # Scores of question 0, model 0: 1 + part, so 2, 3, 4; values (score - 1) / 4.
    assert first.value.tolist() == [0.25, 0.5, 0.75]
    assert first.raw.tolist() == ["2", "3", "4"]
    assert first.weight.tolist() == [1, 2, 3]
    assert first.leaf.tolist() == [("Seeing", f"part {part}") for part in (1, 2, 3)]
    study = _study(store)
    assert store.get(Judge, study.judge_id or "") is not None
    (version,) = store.select(TreeVersion)
    assert (version.origin, version.version) == ("imported", study.tree_version)
    tree = load_tree(store, version.version)
    assert tree.leaves == tuple(("Seeing", f"part {part}") for part in (1, 2, 3))
    places = store.select(StudySample)
    assert all(place.criteria_set_id for place in places)
    assert all(one.source == "imported" for one in store.select(CriteriaSet))


def test_the_same_again_adds_nothing(store: Store) -> None:
    """An import twice is an import once, and says so."""
    _bring(store, _lines(ROWS))
    before = store.select(Checkpoint)
    again = _bring(store, _lines(ROWS))
    assert "nothing was added" in " ".join(again.report.notes)
    assert store.select(Checkpoint) == before


@pytest.mark.slow
def test_another_mark_under_the_same_key_is_a_conflict(store: Store) -> None:
    """Nothing changes unless it is asked for; then the new marks stand."""
    _bring(store, _lines(ROWS))
    changed = [{**row, "score": 6 - int(str(row["score"]))} for row in ROWS]
    with pytest.raises(ConflictError, match="marks on criteria"):
        _bring(store, _lines(changed))
    found = _bring(store, _lines(changed), replace=True)
    assert len(found.taken_back) == 1
    frame = frame_of(store)
    first = frame[(frame["sample"] == "q0") & (frame.model == "one")].sort_values("criterion")
    assert first.raw.tolist() == ["4", "3", "2"]


def test_people_join_later_with_criteria_of_their_own(store: Store) -> None:
    """A later file adds a judge and a criterion to what stands; taking it back leaves the rest."""
    _bring(store, _lines(ROWS))
    people = [
        {"id": row["id"], "question": row["question"], "model": row["model"],
         "annotator": 7, "criterion": criterion, "score": row["score"]}
        for row in ROWS if row["weight"] == 1
        for criterion in ("names part 1", "is polite")
    ]  # fmt: skip
    second = _bring(
        store, _lines(people, "people.jsonl"), "scale: {from: 1, to: 5}\ndataset: marks"
    )
    judges = {one.name: one.kind for one in store.select(Judge)}
    assert judges == {"judge-a": "model", "person 7": "person"}
    undo_import(store, second.record.id)
    assert {one.judge_id for one in store.select(Checkpoint)} == {_study(store).judge_id}


def _joined(store: Store) -> tuple[ImportResult, ImportResult]:
    first = _bring(store, _lines(ROWS), "{dataset: d, criterion: criterion, mark: score}")
    more = [{**row, "criterion": "is polite", "judge": "judge-b"} for row in ROWS]
    once = [row for row in more if row["weight"] == 1]
    said = "{dataset: d, criterion: criterion, mark: score, scale: {from: 1, to: 5}}"
    second = _bring(store, _lines(once, "more.jsonl"), said)
    return first, second


def test_criteria_of_a_later_import_join(store: Store) -> None:
    """One set stands for a question: all criteria that came with files."""
    _, second = _joined(store)
    assert "criteria were added to 5 questions" in " ".join(second.report.notes)
    sets = {one.id: one for one in store.select(CriteriaSet)}
    for place in store.select(StudySample):
        uses = sets[place.criteria_set_id or ""].uses
        assert [use.position for use in uses] == [0, 1, 2, 3]


@pytest.mark.parametrize("which", [0, 1])
def test_taking_back_one_of_two_imports(store: Store, which: int) -> None:
    """What the other brought stands again by itself, and nothing dangles."""
    both = _joined(store)
    undo_import(store, both[which].record.id)
    left = {one.id for one in store.select(Criterion)}
    assert len(left) == (5 if which == 0 else 15)
    sets = {one.id: one for one in store.select(CriteriaSet)}
    for place in store.select(StudySample):
        uses = sets[place.criteria_set_id or ""].uses
        assert {use.criterion_id for use in uses} <= left
        assert len(uses) == (1 if which == 0 else 3)
    undo_import(store, both[1 - which].record.id)
    assert not store.select(Criterion)
    assert not store.select(Mapping)
    assert not store.select(Response)
    assert (_study(store).judge_id, _study(store).tree_version) == (None, None)


def test_a_scale_that_is_not_obvious_is_refused() -> None:
    """With the marks that were seen."""
    rows = [{**row, "score": 7} for row in ROWS]
    with pytest.raises(FormatError, match=r"'7' \(30\)"):
        dry_run(read(None, [_lines(rows)]))


def test_marks_that_are_none_must_be_accepted(store: Store) -> None:
    """More than one in a hundred that fit no scale: the import asks first."""
    # The first 200 rows are looked at to guess the scale; three of 243 marks are none.
    many = [{**row, "id": f"{row['id']}-{n}"} for n in range(8) for row in ROWS]
    rows = [*many, *({**row, "model": "three", "score": "n/a"} for row in ROWS[:3])]
    with pytest.raises(DoubtError, match="no marks of the scale"):
        _bring(store, _lines(rows))
    declared = "{criterion: criterion, mark: score, scale: {from: 1, to: 5, na: n/a}}"
    _bring(store, _lines(rows), declared)
    assert "not_applicable" in {one.state for one in store.select(Checkpoint)}


def test_a_column_a_criterion_with_gates_penalties_and_points(store: Store) -> None:
    """Wide, with what only the map knows."""
    table = b"item,system,helps,harms\n1,a,yes,no\n1,b,no,yes\n2,a,yes,yes\n2,b,,no\n"
    said = """
id: item
model: system
judge_name: people
wide: {criterion: [helps, harms]}
scale: {values: {"no": 0, "yes": 1}}
criteria:
  helps: {text: "Does it help?", weight: 2.5, gate: cap, cap: 0.4, capability: Use > Helping}
  harms: {text: Harms somebody, penalty: true, weight: 4, parents: helps, capability: [Use, Safety]}
"""
    found = _bring(store, ImportFile.from_bytes("wide.csv", table), said, accept=True)
    # An empty cell of a wide table is no mark; it is counted.
    left = found.report.account.of("judgments").left_out
    assert [(one.reason, one.n) for one in left] == [("a cell holds no mark", 1)]
    criteria = {one.question: one for one in store.select(Criterion)}
    assert criteria["Does it help?"].kind == "question"
    assert criteria["Harms somebody"].kind == "requirement"
    (judge,) = store.select(Judge)
    assert judge.kind == "person"
    for one in store.select(CriteriaSet):
        helps, harms = one.uses
        assert (helps.weight, helps.gate, helps.gate_cap, helps.polarity) == (
            2.5,
            "cap",
            0.4,
            "credit",
        )
        assert (harms.weight, harms.polarity, harms.parents) == (
            4,
            "penalty",
            (helps.criterion_id,),
        )
    texts = {one.text for one in store.select(Response)}
    assert texts == {""}


def test_a_column_a_judge(store: Store) -> None:
    """Two judges side by side, one column each."""
    table = b"id,question,model,criterion,gpt,claude\n1,Why?,a,clear,1,0\n1,Why?,a,short,0,1\n"
    _bring(
        store,
        ImportFile.from_bytes("two.csv", table),
        "{wide: {judge: [gpt, claude]}, criterion: criterion, scale: {values: {0: 0, 1: 1}}}",
    )
    frame = frame_of(store)
    assert frame.pivot(index="criterion", columns="judge", values="value").to_dict("index") == {
        "clear": {"claude": 0.0, "gpt": 1.0}, "short": {"claude": 1.0, "gpt": 0.0},
    }  # fmt: skip


def test_two_scales_are_two(store: Store) -> None:
    """Criteria of one table on scales of their own."""
    table = b"id,model,accuracy,tone\n1,a,8,fair\n1,b,3,good\n"
    _bring(
        store,
        ImportFile.from_bytes("mixed.csv", table),
        """
wide: {criterion: [accuracy, tone]}
scales: {ten: {from: 0, to: 10}, words: {values: [poor, fair, good]}}
criteria: {accuracy: {scale: ten}, tone: {scale: words}}
""",
    )
    names = {one.name: one for one in store.select(MarkScale)}
    assert names["words"].ordinal
    assert not names["ten"].ordinal
    frame = frame_of(store)
    assert dict(zip(frame.raw, frame.value, strict=True)) == pytest.approx(
        {"8": 0.8, "3": 0.3, "fair": 0.5, "good": 1.0}
    )


def test_a_judge_who_marks_twice_counts_twice(store: Store) -> None:
    """The second mark is a repeat, and said."""
    rows = [*ROWS, {**ROWS[0], "score": 5}]
    found = _bring(store, _lines(rows))
    assert "the later as a repeat" in " ".join(found.report.notes)
    assert sorted(one.repeat for one in store.select(Checkpoint)) == [0] * 30 + [1]


def test_a_polarity_that_the_data_doubt_is_said() -> None:
    """Marks of one criterion that fall while all others rise, over twenty answers or more."""
    rows = [
        {"id": n, "question": f"Q{n}", "model": "m", "criterion": name,
         "score": 1 + (4 - n % 5 if name == "hallucinated facts" else n % 5)}
        for n in range(25) for name in ("clear", "whole", "hallucinated facts")
    ]  # fmt: skip
    notes = dry_run(read(None, [_lines(rows)])).notes
    (doubt,) = [note for note in notes if note.startswith("a high mark")]
    assert "'hallucinated facts'" in doubt
    assert "so does its wording" in doubt
    assert "r = -1.00, 25 answers" in doubt


def test_a_table_points_here(store: Store) -> None:
    """Read as a table such a file loses its criteria: the import asks, and names this format."""
    with pytest.raises(DoubtError, match="`judgments`"):
        _bring(store, _lines(ROWS), format="table")
    with pytest.raises(FormatError, match="`judgments`"):
        read("table", [_lines(ROWS)], columns=read_column_map("criterion: criterion"))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("{criterion: nowhere, mark: score}", "no column 'nowhere'"),
        ("{criterion: criterion, mark: score, path: '{judge}.csv'}", "doesn't fit"),
        ("files: [{path: other.csv}]", "fits none of the map's files"),
        ("files: [{criterion: criterion}]", "has a `path`"),
        ("files: [{path: '*.jsonl', nonsense: 1}]", "nonsense"),
        ("{criterion: criterion, mark: score, criteria: {'names part 1': {scale: x}}}", "'x'"),
        ("{each: response, criterion: key}", "no list"),
        ("{question: question, mark: score, ignore: [criterion]}", "say where they stand"),
    ],
)
def test_maps_that_do_not_fit(said: str, words: str) -> None:
    """Each refusal names what is wrong."""
    with pytest.raises(FormatError, match=words):
        dry_run(read("judgments", [_lines(ROWS)], columns=read_column_map(said)))


def test_the_tree_is_what_the_paths_span() -> None:
    """Any depth; an inner node's own criteria get a leaf there; one layer alone gets a root."""
    tree, place = tree_of([("A", "b", "c"), ("A", "b"), ("a", "B", "d")], "data")
    assert tree.leaves == (("A", "b", "c"), ("A", "b", "(directly)"), ("A", "b", "d"))
    assert place["A", "b"] == ("A", "b", "(directly)")
    assert place["a", "B", "d"] == ("A", "b", "d")
    flat, put = tree_of([("x",), ("y",)], "data")
    assert flat.leaves == (("data", "x"), ("data", "y"))
    assert put["x",] == ("data", "x")


def test_a_second_answer_under_the_same_name_is_asked_about(store: Store) -> None:
    """Its marks would be averaged with those of another text; `repeat` tells the two apart."""
    again = [{**row, "response": f"another {row['response']}", "run": 1} for row in ROWS]
    both = [{**row, "run": 0} for row in ROWS] + again
    scale = "scale: {from: 1, to: 5}\n"
    with pytest.raises(DoubtError, match=r"10 answers were marked again with another text .first"):
        _bring(store, _lines(both), scale)
    _bring(store, _lines(both), f"{scale}repeat: run\n")
    assert len(store.select(Response)) == 2 * 10
    assert {one.repeat for one in store.select(Checkpoint)} == {0}


def test_a_judge_who_marks_the_same_text_again_is_a_repeat(store: Store) -> None:
    """That needs no question: both marks count, the later as a repeat."""
    _bring(store, _lines(ROWS + ROWS), "scale: {from: 1, to: 5}\n")
    assert {one.repeat for one in store.select(Checkpoint)} == {0, 1}
