"""Calibration: files read, judges asked as in a study, figures at chance for a coin."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from atom.analysis.agreement.calibration import truths_of
from atom.errors import FormatError, UsageError
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.base import BenchPlan, LoadOptions
from atom.judgebench.calibration import BENCH, load, measure
from atom.judgebench.registry import find_bench
from atom.records import Verdict
from atom.stages.scoring import PROMPT
from atom.stages.verdicts import blank, scored
from atom.views.lab.page import against_chance

STEP = {"id": "s1", "question": "How high?", "ground_truth": "5", "leaf": ["A", "a"], "score": 4}
ROW = {"probe": "p-1", "model": "m", "question": "Q?", "choices": [], "pictures": ["x.png"],
       "answer": "5", "steps": [STEP]}  # fmt: skip


def read(*rows, limit=None, columns=None):
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    file = ImportFile.from_bytes("cal.jsonl", text.encode())
    return load([file], LoadOptions(set_id="set", limit=limit, columns=columns or {}))


def with_step(**changes):
    return {**ROW, "answer": str(changes), "steps": [{**STEP, **changes}]}


def test_a_row_becomes_an_item_with_its_truth():
    found = read(ROW)
    item = found.items[0]
    assert item.data["steps"][0]["score"] == 4
    assert item.data["steps"][0]["leaf"] == ["A", "a"]
    assert item.pictures[0].name == "x.png"
    assert item.pictures[0].picture_id is None
    assert found.skipped == ()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**ROW, "answer": None}, "answer is missing"),
        ({**ROW, "question": 3}, "question is missing"),
        ({**ROW, "steps": []}, "no steps"),
        ({**ROW, "steps": "nonsense"}, "no steps"),
        ({**ROW, "steps": [1]}, "isn't an object"),
        (with_step(score=6), "whole number from 1 to 5"),
        (with_step(score=True), "whole number from 1 to 5"),
        (with_step(score=float("nan")), "whole number from 1 to 5"),
        (with_step(leaf="A"), "lacks its leaf"),
        (with_step(leaf=[]), "lacks its leaf"),
        (with_step(question=""), "lacks its question"),
    ],
)
def test_a_row_that_cannot_be_used_is_left_out_with_the_reason(row, reason):
    found = read(ROW, row)
    assert len(found.items) == 1
    assert len(found.skipped) == 1
    assert reason in found.skipped[0]


def test_twins_broken_lines_limits_and_column_maps():
    found = read(ROW, ROW, '{"probe": "half', {**ROW, "answer": "6"})
    assert [item.data["answer"] for item in found.items] == ["5", "6"]
    assert any("twice" in line for line in found.skipped)
    assert len(found.skipped) == 2
    assert len(read(ROW, {**ROW, "answer": "6"}, limit=1).items) == 1
    other = {**ROW, "said": ROW["answer"]}
    del other["answer"]
    assert len(read(other, columns={"answer": "said"}).items) == 1
    with pytest.raises(FormatError, match="empty"):
        read()


def reply(scores):
    """Return a judge's reply as the client hands it on."""
    return SimpleNamespace(
        ok=True, state="ok", data={"scores": scores}, text="", call=SimpleNamespace(id="call")
    )


def asks_of(item, votes=1):
    plan = BenchPlan(set_id="set", items=[item], pictures=lambda _: (), judge="j", votes=votes)
    return BENCH.worklist(plan).asks({})


def test_the_request_is_a_study_s_and_holds_no_truth_score():
    item = read({**ROW, "steps": [STEP, {**STEP, "question": "How low?", "score": 1}]}).items[0]
    asks = asks_of(item, votes=2)
    assert [ask.blank.repeat for ask in asks] == [0, 1]
    assert len({ask.key for ask in asks}) == 2
    request = asks[0].build()
    assert request.prompt_id == PROMPT
    words = request.parts[-1].text
    assert "How low?" in words
    assert '"score": 4' not in words
    assert '"leaf"' not in words


def test_replies_are_read_by_step_and_what_cannot_be_read_is_unscored():
    steps = [{**STEP, "question": q, "score": s} for q, s in (("a?", 2), ("b?", 3), ("c?", 5))]
    item = read({**ROW, "steps": steps}).items[0]
    ask = asks_of(item)[0]
    ids = [step["id"][:8] for step in item.data["steps"]]
    good = ask.read(
        reply([{"id": ids[0], "score": 3}, {"id": ids[1], "score": None, "reason": "no"},
               {"id": ids[2], "score": 5}, {"id": "other", "score": 1}]),
        ask.blank,
    )  # fmt: skip
    assert good.state == "scored"
    assert good.data["scores"] == [3, None, 5]
    assert good.value == 0.5
    assert "no" in good.detail
    twice = ask.read(reply([{"id": ids[0], "score": 3}, {"id": ids[0], "score": 4}]), ask.blank)
    assert twice.state == "unscored"
    truths = truths_of([item], [good])
    assert truths.truth.tolist() == [2, 3, 5]
    assert truths.said.tolist() == [3, 0, 5]
    broken = SimpleNamespace(ok=False, state="failed", data=None, text="",
                             call=SimpleNamespace(id="c"), detail="cut off")  # fmt: skip
    lost = blank("set", item.id, "scoring", "j", "scoring/1", ask.blank.sampling)
    assert truths_of([item], [lost]).said.tolist() == [0, 0, 0]
    assert broken.data is None


def verdict(item, scores, at):
    empty = Verdict(key=f"v{at}", group="set", subject_id=item.id, part="scoring", judge="j",
                    prompt="scoring/1")  # fmt: skip
    return scored(empty, reply([]), data={"scores": scores})


@pytest.mark.parametrize(
    ("truth", "least", "most"),
    [((0.2, 0.2, 0.2, 0.2, 0.2), -0.02, 0.02), ((0.05, 0.05, 0.1, 0.2, 0.6), -0.5, -0.05)],
)
def test_a_judge_that_throws_dice_sits_at_the_chance_levels(truth, least, most):
    rng = np.random.default_rng(0)
    rows = [
        {**ROW, "probe": f"p{at}", "answer": str(at),
         "steps": [{**STEP, "question": f"{k}?", "score": int(rng.choice(5, p=truth)) + 1,
                    "leaf": [f"R{k % 3}", "leaf"]} for k in range(4)]}
        for at in range(250)
    ]  # fmt: skip
    items = read(*rows).items
    found = [verdict(item, rng.integers(1, 6, 4).tolist(), at) for at, item in enumerate(items)]
    result = measure(items, found)
    by_metric = {row.metric: row for row in result.headline}
    right = by_metric["accuracy"]
    # 1,000 independent steps.
    error = 100 * (0.2 * 0.8 / 1000) ** 0.5
    assert abs(right.value - right.chance) < 3.5 * error
    # Six truths in ten may be 5, which the dice say in a fifth: se 0.6 sqrt(.16 / 1000) = 0.8 %.
    assert right.chance == pytest.approx(20, abs=2.6)
    alpha = by_metric["alpha_to_truth"]
    assert abs(alpha.value - alpha.chance) < 3.5 / 1000**0.5
    # Alpha pools both sides: guesses that are spread otherwise than the truth are below 0.
    assert least < alpha.chance < most
    assert result.missing == 0
    assert "don't follow the truth" in result.tables[0].note
    assert measure(items, []).missing == 250
    down = [one.model_copy(update={"state": "failed", "value": None}) for one in found]
    assert measure(items, down).missing == 250


def test_it_is_a_benchmark_like_others_but_takes_no_replies_from_elsewhere():
    assert find_bench("calibration") is BENCH
    with pytest.raises(UsageError, match="fresh probes"):
        BENCH.read_replies([], [], "x")


def test_pictures_come_along_once():
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 40
    file = ImportFile.from_bytes("cal.jsonl", (json.dumps(ROW) + "\n").encode())
    found = load([file], LoadOptions(set_id="set", pictures=MemoryPictures({"x.png": png})))
    assert len(found.items) == 1


def test_a_judge_that_adds_a_point_to_everything_is_not_said_to_guess():
    """Right in none of its scores, and yet its scores tell all answers apart."""
    rows = [
        {**ROW, "probe": f"p{at}", "answer": str(at), "steps": [{**STEP, "score": at % 4 + 1}]}
        for at in range(40)
    ]
    items = read(*rows).items
    found = [verdict(item, [at % 4 + 2], at) for at, item in enumerate(items)]
    result = measure(items, found)
    right = next(row for row in result.headline if row.metric == "accuracy")
    assert right.value == 0
    assert against_chance(right) == "unknown"
    # Truths 1..4 and scores 2..5, each a quarter: they meet at 2, 3 and 4, 3 / 16 = 18.75 %.
    assert right.note == "its scores follow the truth; guessing would be right in 18.8 %"
    assert "reads it too high" in result.tables[0].note
    assert "follow" not in result.tables[0].note
