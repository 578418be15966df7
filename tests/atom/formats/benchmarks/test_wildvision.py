import numpy as np
import pytest

from atom.analysis.levels import count_levels, level_of
from atom.errors import FormatError
from atom.formats.benchmarks.wildvision import BASELINE, UNTOLD
from tests.imports import cut_files, expected, on_disk, take, uploaded

NAMES = (
    "judgements_claude-3-opus-20240229.jsonl", "judgements_llava-1.5-7b-hf.jsonl",
    "model_answers_claude-3-opus-20240229.jsonl", "scores.csv", "published_leaderboard.csv",
)  # fmt: skip
PROMPT = (
    "<|User Prompt|>\nWhat is it?\n\n<|The Start of Assistant A's Answer|>\nA cat.\n"
    "<|The End of Assistant A's Answer|>\n\n<|The Start of Assistant B's Answer|>\nA dog.\n"
    "<|The End of Assistant B's Answer|>"
)


def judgement(score, question="q1", model="m"):
    shown = [{"type": "text", "text": PROMPT}, {"type": "image", "image": "ab" * 32}]
    game = {"user_prompt": shown, "judgment": "So: [[x]]", "score": score}
    return {"question_id": question, "model": model, "judge": "gpt-4o", "games": [game]}


@pytest.fixture(scope="module")
def real(shared_folder):
    return take(None, *on_disk(shared_folder / "real" / "wildvision", *NAMES))


def levels_of(taken):
    names = {r.id: taken.candidates[r.candidate_id] for r in taken.responses}
    found = {}
    for vote in taken.preferences:
        assert names[vote.response_a] == BASELINE
        name = names[vote.response_b].removesuffix(" (again)")
        found.setdefault(name, []).append(level_of(vote.verdict, vote.strength, "b"))
    return {name: np.array(values) for name, values in found.items()}


def test_all_fifteen_rows_of_the_leaderboard_recompute(real, shared_folder):
    wanted = expected(shared_folder)["wildvision"]
    levels = levels_of(real)
    assert levels.keys() == wanted.keys()
    for name, row in wanted.items():
        counts = count_levels(levels[name])
        assert counts.n == 500
        assert 100 * counts.win_rate == pytest.approx(row["win_rate"], abs=0.051), name
        assert counts.reward == pytest.approx(row["reward"], abs=0.051), name
        assert (counts.tie, counts.unread) == (row["tie_including_unparsed"], row["unparsed"])
        strict = count_levels(levels[name], unread="left out")
        assert (strict.n, strict.tie) == (500 - row["unparsed"], counts.tie - row["unparsed"])
    assert "published_leaderboard.csv: 105 of 105 figures agree" in real.report.notes
    assert any(note.startswith("20 verdicts can't be read") for note in real.report.notes)


def test_questions_without_text_keep_their_verdicts(real):
    untold = [sample for sample in real.samples if UNTOLD in sample.question]
    assert 0 < len(untold) < len(real.samples) == 500
    assert real.report.responses == 8000


def test_a_judgement_gives_question_answers_and_picture_name():
    found = take(None, uploaded("judgements_m.jsonl", [judgement("B>>A"), judgement("?", "q2")]))
    assert found.samples[0].question == "What is it?"
    assert found.samples[0].pictures[0].name == "ab" * 32
    assert {r.text for r in found.responses if r.sample_id == found.samples[0].id} == {
        "A cat.", "A dog.",
    }  # fmt: skip
    first, second = found.preferences
    assert (first.verdict, first.strength, first.state) == ("b", 2, "scored")
    assert (second.verdict, second.state, second.detail) == (None, "unscored", "the score is '?'")


def test_the_table_and_the_raw_file_hold_one_vote():
    table = uploaded("scores.csv", "question_id,model,judge,score\nq1,m,gpt-4o,A=B\n")
    found = take(None, table, uploaded("j.jsonl", [judgement("A=B")]))
    assert [vote.reason for vote in found.preferences] == ["So: [[x]]"]
    other = take(None, uploaded("j.jsonl", [judgement("A>B")]), table)
    assert [vote.verdict for vote in other.preferences] == ["a"]
    assert any("another verdict" in note for note in other.report.notes)


def test_the_baseline_against_itself_has_two_answers():
    found = take(None, uploaded("j.jsonl", [judgement("A=B", model=BASELINE)]))
    assert len(found.responses) == 2
    assert found.preferences[0].response_a != found.preferences[0].response_b


def test_a_leaderboard_alone_says_what_is_missing(shared_folder):
    with pytest.raises(FormatError, match="only counts verdicts"):
        take(None, *on_disk(shared_folder / "real" / "wildvision", NAMES[-1]))


def test_a_leaderboard_that_differs_is_reported():
    board = "model,win_rate,reward,much_better,better,tie,worse,much_worse\nm,0.0%,0,0,0,0,1,0\n"
    found = take(None, uploaded("j.jsonl", [judgement("B>A")]), uploaded("b.csv", board))
    assert "b.csv: 3 of 7 figures agree" in found.report.notes
    assert "b.csv: m win_rate 100, published 0" in found.report.notes


def test_cut_files_are_read_as_far_as_they_go(shared_folder):
    cut_files("wildvision", shared_folder / "real" / "wildvision" / NAMES[0], 4)
