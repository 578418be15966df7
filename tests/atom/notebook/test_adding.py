"""A frame's judgments come into a study, and those of another study come back equal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import atom
from atom.errors import AtomError, UsageError
from atom.notebook.adding import lines_of
from atom.records import Checkpoint, Import, Judge, MarkScale
from atom.store import Store
from tests.factories import STUDY, open_small

BUNDLED = "Probe world (synthetic demo)"
OTHER = {"sample", "criterion", "parents", "prompt"}
"""Ids are a store's own, and an imported mark was imported."""
PLACE = ["dataset", "source_id", "model", "repeat", "number", "judge", "mark_repeat"]


@pytest.fixture
def mine(tmp_path):
    with atom.create("Mine", store=tmp_path / "mine") as study:
        yield study


def same(first, second):
    """Assert that two frames of judgments hold the same."""
    one, two = (
        frame.sort_values(PLACE, ignore_index=True).drop(columns=list(OTHER))
        for frame in (first, second)
    )
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.slow
def test_the_bundled_studys_marks_come_back_equal(mine, tmp_path):
    with atom.open(BUNDLED, store=tmp_path / "none") as bundled:
        frame = bundled.scores()
        added = mine.add_judgments(frame)
        assert (added.judgments, added.criteria, added.samples, added.answers) == (
            10176, 1222, 300, 2400,
        )  # fmt: skip
        same(frame, mine.scores())
        assert mine.synthetic
        pd.testing.assert_frame_equal(bundled.ranking(), mine.ranking())
        columns = ["model", "name", "status", "effect", "n", "samples", "p_adjusted"]
        pd.testing.assert_frame_equal(
            bundled.weaknesses()[columns], mine.weaknesses()[columns], rtol=1e-9
        )


@pytest.mark.slow
def test_every_judge_state_and_scale_comes_back_equal(mine, tmp_path):
    with open_small(tmp_path / "small") as store:
        first = store.select(Checkpoint)[:4]
        scale = MarkScale.of_levels(
            {"no": 0, "partly": 0.3, "yes": 1}, name="met", na=["-"], ordinal=True
        )
        words = (("no", 0.0), ("yes", 1.0), ("-", None), ("partly", 0.3))
        store.put([
            Judge(id="anna", name="Anna", kind="person"),
            scale,
            *(
                Checkpoint(
                    key=f"anna {at}", criterion_id=one.criterion_id, response_id=one.response_id,
                    judge_id="anna", prompt="imported", raw=raw, value=value, scale=scale.id,
                    state="not_applicable" if value is None else "scored", reason="'=1+1\r\n",
                )
                for at, (one, (raw, value)) in enumerate(zip(first, words, strict=True))
            ),
        ])  # fmt: skip
    with atom.open(STUDY, store=tmp_path / "small") as study:
        # 6 samples x 3 models x 3 criteria = 54 marks or places, and Anna's 54.
        given = study.scores(judges="all")
        marked = given[given["state"] != "pending"]
        assert marked["judge"].value_counts().to_dict() == {"Judge X": 53, "Anna": 4}
    assert mine.add_judgments(given).judgments == 57
    back = mine.scores(judges="all")
    # One answer of which nobody said whether it is right is read by our own rules.
    known = marked["right"].notna().to_numpy()
    assert (~known).sum() == 3
    back = back[back["state"] != "pending"]
    same(marked.drop(columns="right"), back.drop(columns="right"))
    assert set(mine.judges) == {"Judge X", "Anna"}


@pytest.mark.slow
def test_a_frame_of_ones_own_needs_a_criterion_a_mark_and_a_scale(mine):
    frame = pd.DataFrame(
        {
            "item": ["q1", "q1", "q2", "q2"],
            "rubric": ["Is it short?", "Is it polite?"] * 2,
            "points": np.array([0, 10, 5, np.nan]),
            "system": "bot",
        }
    )
    columns = {"id": "item", "criterion": "rubric", "mark": "points", "model": "system"}
    added = mine.add_judgments(frame, scale={"from": 0, "to": 10}, columns=columns, accept=True)
    assert (added.judgments, added.samples) == (4, 2)
    scores = mine.scores()
    assert scores["value"].fillna(-1).tolist() == [0, 1, 0.5, -1]
    assert scores["state"].tolist() == ["scored", "scored", "scored", "unscored"]
    assert not mine.synthetic


@pytest.mark.slow
def test_words_alone_are_a_scale_the_worst_first(mine):
    frame = pd.DataFrame(
        {"sample": ["a", "b", "c"], "criterion": "tone", "mark": ["bad", "fair", "good"],
         "model": "bot"}
    )  # fmt: skip
    mine.add_judgments(frame, scale=["bad", "fair", "good"])
    assert mine.scores()["value"].tolist() == [0, 0.5, 1]


@pytest.mark.slow
def test_errors_are_sentences_and_leave_nothing_behind(mine, tmp_path):
    frame = pd.DataFrame({"sample": ["a"], "criterion": ["tone"], "mark": ["so-so"], "model": "m"})
    with pytest.raises(AtomError, match=r"isn't obvious; seen: 'so-so'"):
        mine.add_judgments(frame)
    with pytest.raises(UsageError, match="'marks' can't be used: Extra inputs"):
        mine.add_judgments(frame, columns={"marks": "mark"})
    with pytest.raises(UsageError, match="no rows"):
        mine.add_judgments(frame.iloc[:0])
    with pytest.raises(UsageError, match="two columns 'mark'"):
        mine.add_judgments(pd.concat([frame, frame[["mark"]]], axis=1))
    with pytest.raises(AtomError, match="no file holds criteria or marks"):
        mine.add_judgments(pd.DataFrame({"x": [1], "y": [2]}))
    assert len(mine.samples()) == 0
    with pytest.raises(UsageError, match="'Mine' already"):
        atom.create("Mine", store=tmp_path / "mine")
    with (
        atom.open(BUNDLED, store=tmp_path / "none") as bundled,
        pytest.raises(UsageError, match="sealed"),
    ):
        bundled.add_judgments(bundled.scores())


@pytest.mark.slow
def test_a_bad_row_of_ours_is_named_and_left_out(mine, tmp_path):
    open_small(tmp_path / "small").close()
    with atom.open(STUDY, store=tmp_path / "small") as study:
        frame = study.scores()
    frame["state"] = frame["state"].astype(object)
    frame.loc[0, "weight"] = -1.0
    frame.loc[1, "state"] = "perhaps"
    frame.loc[2, "scale"] = "{1 to 5}"
    frame.loc[3, "value"] = 7.0
    with pytest.raises(AtomError):
        mine.add_judgments(frame)
    added = mine.add_judgments(frame, accept=True)
    # 53 marks, four of them spoilt.
    assert added.judgments == 53 - 4
    with Store.open(tmp_path / "mine") as store:
        (record,) = store.select(Import)
    said = "\n".join(record.skipped)
    for words in ("value is 7; 0 to 1", "state is 'perhaps'", "scale '{1 to 5}'", "weight"):
        assert words in said


def test_lines_hold_nulls_numbers_lists_and_times():
    frame = pd.DataFrame(
        {
            "a": [np.nan, 1.5], "b": pd.array([None, 2], dtype="Int64"), "c": [("x", "y"), None],
            "d": [np.array([1, 2]), pd.Timestamp("2026-01-02")],
        }
    )  # fmt: skip
    first, second = lines_of(frame).decode().splitlines()
    assert first == '{"a": null, "b": null, "c": ["x", "y"], "d": [1, 2]}'
    assert second == '{"a": 1.5, "b": 2, "c": null, "d": "2026-01-02T00:00:00"}'


def test_values_that_no_file_can_hold_are_said_in_words(mine):
    loop: list[object] = []
    loop.append(loop)
    for odd in (loop, 10**5000):
        frame = pd.DataFrame({"question": ["q"], "odd": pd.Series([odd], dtype=object)})
        with pytest.raises(UsageError, match="can't be written as JSON"):
            mine.add_judgments(frame)
