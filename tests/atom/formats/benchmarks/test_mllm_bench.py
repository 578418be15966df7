from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.compare.votes import combine
from atom.errors import FormatError
from atom.formats import Batch, ImportFile, detect, read
from atom.formats.benchmarks.mllm_bench import NO_TEXT, sniff

NAMES = (
    "questions.json", "votes.csv", "judged_with_criteria_phi-3-medium_first160.jsonl",
    "judged_with_criteria_qwen-2-vl-7b_first160.jsonl", "vote_results_qwen-vl-chat_first200.json",
    "vote_counts_qwen-vl-chat.json",
)  # fmt: skip
QUESTIONS = [
    {
        "id": 7,
        "image_path": "./data/images/7.jpeg",
        "question": "What is it?",
        "meta": {"level": "Applying", "capability": "OCR ", "question type": "open-ended"},
    },
    {
        "id": 8,
        "image_path": "./data/images/8.jpeg",
        "question": "And this?",
        "meta": {"level": "Applying", "capability": "OCR", "question type": "https://a.example/b"},
    },
]
PROMPT = """### You are a judge.

~~~Question
What is it?
~~~
~~~Question Type
open-ended
~~~
~~~Answer1
one
~~~
Criteria: 1. It is right."""


def raw(index, one, two, answer, **more):
    row = {
        "unique_idx": index, "prompt": PROMPT, "image": "images/7.jpeg", "model_1": one,
        "model_2": two, "raw_answer1": f"{one} says", "raw_answer2": f"{two} says",
        "answer": answer, "gen_model_id": "j",
    }  # fmt: skip
    return {**row, **more}


def lines(*rows):
    text = "\n".join(json.dumps(row) for row in rows)
    return ImportFile.from_bytes("judged.jsonl", text.encode())


def questions():
    return ImportFile.from_bytes("questions.json", json.dumps(QUESTIONS).encode())


class Result:
    """Everything that one import gave."""

    def __init__(self, *files: ImportFile, **options: object) -> None:
        reading = read("mllm-bench", files, **options)  # type: ignore[arg-type]
        batches: list[Batch] = list(reading)
        self.report = reading.report
        self.samples = {s.source_id: s for batch in batches for s in batch.samples}
        self.responses = {r.id: r for batch in batches for r in batch.responses}
        self.votes = [p for batch in batches for p in batch.preferences]
        self.tags = [tag for batch in batches for tag in batch.tags]
        self.names = {c.id: c.name for batch in batches for c in batch.candidates}

    def model(self, response_id: str) -> str:
        return self.names[self.responses[response_id].candidate_id]

    def told(self):
        """Return (first shown, winner or detail) of every vote."""
        found = []
        for vote in self.votes:
            by = {"a": self.model(vote.response_a), "b": self.model(vote.response_b)}
            found.append((by[vote.first], by.get(vote.verdict or "", vote.detail)))
        return found


@pytest.fixture(scope="module")
def folder(shared_folder: Path) -> Path:
    return shared_folder / "real" / "mllm_bench"


@pytest.fixture(scope="module")
def real(folder: Path) -> Result:
    return Result(*(ImportFile.from_path(folder / name) for name in NAMES))


def test_the_real_files_are_recognised_one_by_one_and_together(folder):
    files = [ImportFile.from_path(folder / name) for name in NAMES]
    assert [detect([file]).name for file in files] == ["mllm-bench"] * len(files)
    assert detect(files).name == "mllm-bench"


@pytest.mark.slow
def test_the_real_files_give_questions_labels_and_votes(real):
    report = real.report
    assert (report.samples, len(report.candidates), report.responses) == (420, 8, 3360)
    # 7 candidates x 420 questions x 2 orders; the raw files hold some of the same votes again.
    assert (report.preferences, report.n_skipped, report.n_missing_pictures) == (5880, 0, 420)
    facets = {facet.facet: facet.values for facet in report.facets}
    assert facets == {"capability": 42, "level": 6, "question type": 3}
    assert "vote_counts_qwen-vl-chat.json: 7 of 7 figures agree" in report.notes
    notes = " ".join(report.notes)
    assert "llava-v1.5-13b stands in every comparison" in notes
    assert "2 judges voted" in notes
    assert {vote.judge for vote in real.votes} == {"gpt-4-turbo", "gpt-4-vision-preview"}


def test_every_count_with_order_conflicts_is_the_expected_one(real, shared_folder):
    text = (shared_folder / "real" / "expected.json").read_text(encoding="utf-8")
    expected = json.loads(text)["mllm_bench"]
    pairs: dict[tuple[str, str], dict[str, str | None]] = {}
    for vote in real.votes:
        pairs.setdefault((vote.response_a, vote.response_b), {})[vote.first] = vote.verdict
    counts = {name: dict.fromkeys(figures, 0) for name, figures in expected.items()}
    for (a, b), by_first in pairs.items():
        names = {"a": real.model(a), "b": real.model(b)}
        candidate = next(name for name in names.values() if name in expected)
        together = combine(by_first["a"], by_first["b"])
        if together in names:
            key = "candidate" if names[together] == candidate else "anchor"
        else:
            key = "order_conflict" if together == "conflict" else "undecided"
        counts[candidate][key] += 1
    assert counts == expected


def test_answers_have_text_where_a_raw_file_holds_it(real):
    texts = [r.text for r in real.responses.values() if real.model(r.id) == "qwen-vl-chat"]
    assert sum(bool(text) for text in texts) == 100
    assert {r.detail for r in real.responses.values() if not r.text} == {NO_TEXT}
    assert {r.state for r in real.responses.values()} == {"scored"}


def test_a_question_keeps_its_labels_but_no_address(real):
    mine = {tag.facet: tag.value for tag in real.tags if tag.subject_id == real.samples["395"].id}
    assert mine.keys() == {"capability", "level"}
    small = Result(questions())
    assert {tag.value for tag in small.tags} == {"OCR", "Applying", "open-ended"}
    assert small.report.notes[0].startswith("there are no votes")
    assert small.samples["7"].pictures[0].name == "./data/images/7.jpeg"


def test_orders_are_turned_back():
    seen = Result(
        lines(
            raw("7_1", "x", "y", "Answer1"),
            raw("7_2", "y", "x", "Some words.\n**Answer2**"),
            raw("7_1", "x", "z", "unable to decide: situation one"),
            raw("7_2", "z", "x", "Unable to decide: situation two"),
            raw("7_1", "y", "z", "Answer1 or Answer2"),
            raw("7_2", "z", "y", None, code=500),
        )
    )
    assert seen.told() == [
        ("x", "x"),
        ("y", "x"),
        ("x", "unable to decide: situation one"),
        ("z", "unable to decide: situation two"),
        ("y", "the vote can't be read: 'Answer1 or Answer2'"),
        ("z", "the judge's call failed with code 500"),
    ]
    assert [vote.state for vote in seen.votes] == [
        "scored", "scored", "unscored", "unscored", "unscored", "failed",
    ]  # fmt: skip
    assert seen.votes[1].reason == "Some words."
    pairs = [{vote.response_a, vote.response_b} for vote in seen.votes]
    assert pairs[0] == pairs[1]
    assert seen.samples["7"].question == "What is it?"


def test_the_same_vote_in_a_table_is_taken_once():
    table = "unique_idx,model_1,model_2,judge,answer\n7_1,x,y,the judge,Answer1\n"
    rows = ImportFile.from_bytes("votes.csv", table.encode())
    seen = Result(questions(), rows, lines(raw("7_1", "x", "y", "Why.\nAnswer1")))
    assert [(vote.judge, vote.reason) for vote in seen.votes] == [("the judge", "Why.")]
    assert any("'j' is taken for 'the judge'" in note for note in seen.report.notes)
    # Another verdict under another name is another judge's vote.
    other = Result(questions(), rows, lines(raw("7_1", "x", "y", "Answer2")))
    assert sorted(vote.judge for vote in other.votes) == ["j", "the judge"]


def test_bad_rows_are_left_out_with_their_reason():
    seen = Result(
        questions(),
        lines(
            raw("7_1", "x", "y", "Answer1"),
            raw("7_1", "x", "y", "Answer2"),
            raw("7_3", "x", "y", "Answer1"),
            raw("7_1", "x", "x", "Answer1"),
            raw("9_1", "x", "y", "Answer1", prompt=None),
            {"nothing": 1},
        ),
    )
    assert len(seen.votes) == 1
    reasons = " ".join(seen.report.skipped)
    for reason in ("stood before", "no question and order", "two models", "in no file", "neither"):
        assert reason in reasons


def test_a_limit_keeps_the_first_questions(folder):
    files = [ImportFile.from_path(folder / name) for name in NAMES[:2]]
    seen = Result(*files, limit=3)
    assert (len(seen.samples), len(seen.votes)) == (3, 3 * 14)


def test_votes_without_any_question_name_the_missing_file(folder):
    with pytest.raises(FormatError, match=r"5,880 votes .* questions\.json"):
        read("mllm-bench", [ImportFile.from_path(folder / "votes.csv")])
    with pytest.raises(FormatError, match="neither questions"):
        read("mllm-bench", [ImportFile.from_bytes("a.json", b'[{"a": 1}]')])
    with pytest.raises(FormatError, match="no file was given"):
        read("mllm-bench", [])


def test_other_files_are_not_taken_for_it():
    assert sniff(b"id,question,answer\n1,a,b\n", "votes.csv") == 0
    assert sniff(b'{"total": 3}', "vote_counts.json") == 0


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.lists(st.integers(), max_size=2), st.sampled_from(["7_1", "7_2", "x", "Answer1", "yes"]),
)  # fmt: skip
KEYS = st.sampled_from(
    ["unique_idx", "model_1", "model_2", "answer", "judge", "raw_answer1", "prompt", "response",
     "id", "question", "meta", "image_path", "code", "criteria_given"]
)  # fmt: skip


def refusal(*files):
    """Return why files are refused; empty when they are read."""
    try:
        Result(*files)
    except FormatError as error:
        return error.message
    return ""


@pytest.mark.slow
@settings(max_examples=60)
@given(rows=st.lists(st.dictionaries(KEYS, CELLS, max_size=8), max_size=5), cut=st.integers(0, 60))
def test_hostile_rows_never_break_it(rows, cut):
    text = "\n".join(json.dumps(row) for row in rows).encode()
    for data in (text, text[: len(text) - cut]):
        why = refusal(questions(), ImportFile.from_bytes("judged.jsonl", data))
        assert not why or "judged.jsonl" in why


def test_truncated_real_files_never_break_it(folder):
    rng = np.random.default_rng(3)
    table = b"".join((folder / "votes.csv").read_bytes().splitlines(keepends=True)[:60])
    for name in ("questions.json", "vote_results_qwen-vl-chat_first200.json"):
        whole = (folder / name).read_bytes()[:120_000]
        for end in rng.integers(1000, len(whole), 4):
            votes = ImportFile.from_bytes("votes.csv", table[: int(end) % len(table)])
            why = refusal(ImportFile.from_bytes(name, whole[:end]), votes)
            assert not why or "votes.csv" in why or "expected" in why
