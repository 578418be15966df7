import json
import re

import pytest

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.judgebench.base import LoadOptions
from atom.judgebench.critic_bench.figures import measure
from atom.judgebench.critic_bench.files import load
from atom.judgebench.critic_bench.replies import (
    read_option,
    read_released,
    read_replies,
    read_score,
)
from tests.atom.judgebench.critic_bench.test_files import ANSWER, META, PAIR, file
from tests.exported import critic_lines

SHOWN = "### Question:\nWhy?\n### Answer A:\nOne\n### Answer B:\nTwo"


def the_set(*files):
    return load(files or (
        file("chat_feedback_correction.json", ANSWER),
        file("chat_comp_feedback.json", PAIR),
        file("meta_feedback_singlewise_chat.json", META),
    ), LoadOptions(set_id="set")).items  # fmt: skip


def predicted(name, *texts, prompt=""):
    rows = {str(n): {"origin_prompt": prompt, "prediction": text} for n, text in enumerate(texts)}
    return ImportFile.from_bytes(name, json.dumps(rows).encode())


def one(name, text, prompt=""):
    found = read_replies([predicted(name, text, prompt=prompt)], the_set(), "model")
    return found.verdicts[0]


@pytest.mark.parametrize(
    ("text", "score", "released"),
    [
        ("Decision: 4\n\nBecause.", 4, 4),
        ("Decision: 6/7", 6, 6),
        ("Score: 2.5", 2.5, 2.5),
        ("Decision: 3. Wait.\nDecision: 5", 5, 3),
        ("Decision: 9", None, 9),
        ("Decision: 45", None, 45),
        ("It deserves a 6", None, 6),
        ("Fluent, and good.", None, None),
        ("Decision: good, 7", None, 7),
        (f"Decision: {'9' * 400}", None, None),
        ("9" * 400, None, None),
    ],
)
def test_scores(text, score, released):
    assert (read_score(text), read_released(text)) == (score, released)


@pytest.mark.parametrize(
    ("text", "option"),
    [("Decision: A", "A"), ("decision B", None), ("Decision: A\nNo. Decision: C.", "C"),
     ("Decision: Answer", None), ("Decision:B", "B"), ("决策：B", None)],
)  # fmt: skip
def test_options(text, option):
    assert read_option(text) == option


def test_files_by_their_published_names():
    assert one("dev_chat_feedback_obj.json", "Decision: 3").value == 3
    assert one("test_chat_meta_feedback_obj.json", "Score: 6").part == "meta_feedback"
    forward = one("dev_chat_comp_feedback_obj.json", "Decision: A")
    backward = one("dev_chat_comp_feedback_obj_reverse.json", "Decision: A", SHOWN)
    assert (forward.order, forward.label, backward.order, backward.label) == ("ab", "a", "ba", "b")
    corrected = one("dev_chat_correction_sub.json", "Of rain.")
    assert (corrected.part, corrected.text, corrected.prompt) == (
        "correction", "Of rain.", "imported")  # fmt: skip
    thinking = one("dev_chat_feedback_obj.json", "<think>Decision: 1</think>Decision: 3")
    assert thinking.value == 3
    assert one("dev_chat_feedback_obj.json", "").state == "unscored"
    assert one("dev_chat_feedback_obj.json", None).detail == "there is no reply"


def test_scores_and_texts_of_one_item_become_one_verdict():
    files = [predicted("dev_chat_feedback_sub.json", "Say more."),
             predicted("dev_chat_feedback_obj.json", "Decision: 3")]  # fmt: skip
    for order in (files, files[::-1]):
        (found,) = read_replies(order, the_set(), "m").verdicts
        assert (found.value, found.text) == (3, "Say more.")
    alone = read_replies(files[:1], the_set(), "m").verdicts
    row = next(r for r in measure(the_set(), alone).headline if r.group == "feedback")
    assert (row.n, row.invalid) == (0, 0)


def test_what_does_not_belong_is_named():
    conversation = [{"role": "HUMAN", "prompt": SHOWN}]
    good = read_replies(
        [predicted("dev_chat_comp_feedback_obj.json", "Decision: B", prompt=conversation)],
        the_set(), "m",
    )  # fmt: skip
    assert len(good.verdicts) == 1
    files = [
        predicted("dev_chat_comp_feedback_obj.json", "Decision: B", prompt="### Question:\nHow?"),
        predicted("dev_qa_feedback_obj.json", "Decision: 3"),
        predicted("dev_chat_feedback_obj.json", "Decision: 3", "Decision: 4"),
        predicted("anything.json", "Decision: 3"),
        ImportFile.from_bytes("dev_chat_feedback_sub.json", b'{"x": {"prediction": "y"}}'),
    ]
    found = read_replies(files, the_set(), "m")
    assert len(found.verdicts) == 1
    assert [re.search(r"another question|no row \d of \w+|no item|no row number", line)[0]
            for line in found.skipped] == [
        "another question", "no row 0 of qa", "no row 1 of chat", "no item",
        "no row number"]  # fmt: skip


def test_our_own_lines_and_their_export():
    items = the_set()
    answer, pair, critique = items
    lines = [
        {"item": answer.id, "part": "feedback", "reply": "Short.\nDecision: 2", "repeat": 1},
        {"item": pair.id, "part": "compare", "order": "ba", "reply": "Decision: A"},
        {"item": pair.id, "part": "compare", "order": "ab", "reply": "Decision: C"},
        {"item": critique.id, "part": "meta_feedback", "reply": "nothing"},
        {"item": critique.id, "part": "feedback", "reply": "Decision: 1"},
        {"item": pair.id, "part": "compare", "reply": "Decision: A"},
        {"item": answer.id, "part": "feedback", "reply": "Decision: 1", "repeat": "x"},
        {"item": pair.id, "part": "compare", "order": "ba", "reply": "Decision: B"},
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    found = read_replies([ImportFile.from_bytes("mine.jsonl", text)], items, "m")
    assert [(v.value, v.label, v.state) for v in found.verdicts] == [
        (2, "", "scored"), (None, "a", "scored"), (None, "tie", "scored"),
        (None, "", "unscored")]  # fmt: skip
    assert len(found.skipped) == 3
    assert found.notes == (
        "1 row: the same question again: the last one counts (first: mine.jsonl line 8)",
    )
    again = "\n".join(json.dumps(line) for line in critic_lines(found.verdicts)).encode()
    copy = read_replies([ImportFile.from_bytes("mine.jsonl", again)], items, "m").verdicts
    assert [(v.key, v.value, v.label, v.state) for v in copy] == [
        (v.key, v.value, v.label, v.state) for v in found.verdicts]  # fmt: skip


def test_a_file_that_is_no_json():
    with pytest.raises(FormatError):
        read_replies([ImportFile.from_bytes("dev_chat_feedback_obj.json", b"")], the_set(), "m")


HEADS = {"chat": ("Question", "Answer A", "Answer B"), "qa": ("Question", "Answer A", "Answer B"),
         "math_cot": ("Math Question", "Rationale A", "Rationale B"),
         "translate": ("Source", "Translation A", "Translation B")}  # fmt: skip


@pytest.mark.parametrize("domain", HEADS)
def test_real_replies_are_as_consistent_as_expected(shared_folder, domain):
    """The data itself isn't public: questions and answers are taken out of the prompts."""
    folder = shared_folder / "real"
    path = folder / "criticeval" / "deepseek-67b-chat" / f"dev_{domain}_comp_feedback_obj.json"
    question, first, second = (f"### {head}:\n" for head in HEADS[domain])
    rows = []
    for row in json.loads(path.read_text(encoding="utf-8")).values():
        _, _, rest = row["origin_prompt"].partition(question)
        asked, _, rest = rest.partition(first)
        one, _, rest = rest.partition(second)
        other = rest.rpartition("---\n")[0]
        block = {"generation_a": one, "generation_b": other}
        rows.append({"question": asked, "obj": {**block, "preference": "A"}})
    items = the_set(file(f"{domain}_comp_feedback.json", *rows))
    both = [path, path.with_name(path.name.replace(".json", "_reverse.json"))]
    found = read_replies([ImportFile.from_path(one) for one in both], items, "deepseek")
    assert (found.skipped, len(found.verdicts)) == ((), 100)
    table = next(t for t in measure(items, found.verdicts).tables if "order of showing" in t.title)
    got = {row.metric: row for row in table.rows}
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["criticeval"]
    wanted = expected["deepseek_swap"][path.name]
    same, first_both = got["swap_consistency"], got["first_both"]
    assert (same.n + same.invalid, same.n) == (wanted["rows"], wanted["both_parsed"])
    assert round(same.value * same.n / 100) == wanted["swap_consistent"]
    assert round(first_both.value * first_both.n / 100) == wanted["first_position_both_times"]


@pytest.mark.parametrize(
    ("domain", "rows", "unread"), [("chat", 50, 0), ("qa", 50, 0), ("translate", 50, 2)]
)
def test_real_scores_are_read(shared_folder, domain, rows, unread):
    folder = shared_folder / "real" / "criticeval" / "deepseek-67b-chat"
    path = folder / f"dev_{domain}_feedback_obj.json"
    texts = [row["prediction"] for row in json.loads(path.read_text(encoding="utf-8")).values()]
    assert (len(texts), sum(read_score(text) is None for text in texts)) == (rows, unread)
