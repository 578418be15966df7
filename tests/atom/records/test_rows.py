"""Records as plain rows."""

from __future__ import annotations

import pytest

from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Mapping,
    Outcome,
    PictureSlot,
    Response,
    Sample,
    Tag,
)
from atom.records.rows import (
    Rows,
    checkpoint_row,
    criteria_set_row,
    criterion_row,
    mapping_row,
    outcome_row,
    response_row,
    row_of,
    sample_row,
    tag_row,
)

USES = (CriterionUse(criterion_id="c", position=0, weight=2.5),)
SLOTS = (PictureSlot(name="a.png"),)
CASES = [
    (
        Sample,
        sample_row(
            "s", "d", "7", "Which?", choices=("a", "b"), reference="a", answer_type="",
            tolerance=0.5, pictures=SLOTS, cluster="c",
        ),
        Sample(
            id="s", dataset="d", source_id="7", question="Which?", choices=("a", "b"),
            reference="a", answer_type="choice", tolerance=0.5, pictures=SLOTS, cluster="c",
        ),
    ),
    (
        Response,
        response_row("r", "s", "m", 2, "unscored", "", "none", "hm", "cut"),
        Response(
            id="r", sample_id="s", candidate_id="m", prompt="imported", repeat=2, state="unscored",
            detail="none", thoughts="hm", cause="cut",
        ),
    ),
    (
        Outcome,
        outcome_row("r", None, "B", "it says so"),
        Outcome(
            response_id="r", how="imported", state="unscored", answer="B", detail="it says so"
        ),
    ),
    (
        Outcome,
        outcome_row("r", 0.25, ""),
        Outcome(response_id="r", how="imported", value=0.25),
    ),
    (
        Tag,
        tag_row("sample", "s", "f.csv", "skill", "counting"),
        Tag(subject="sample", subject_id="s", source="f.csv", facet="skill", value="counting"),
    ),
    (
        Criterion,
        criterion_row("c", "s", "It counts.", "3", "requirement"),
        Criterion(
            id="c", sample_id="s", question="It counts.", ground_truth="3", kind="requirement"
        ),
    ),
    (
        CriteriaSet,
        criteria_set_row("k", "s", "j", USES),
        CriteriaSet(
            id="k", sample_id="s", judge_id="j", prompt="imported", source="imported",
            state="scored", uses=USES,
        ),
    ),
    (
        Mapping,
        mapping_row("c", "t", "j", ("skills", "counting")),
        Mapping(
            criterion_id="c", tree_version="t", judge_id="j", prompt="imported", state="scored",
            leaf=("skills", "counting"),
        ),
    ),
    (
        Checkpoint,
        checkpoint_row("k", "c", "r", "j", 1, "unscored", "why", "no mark", None, "?", "scale"),
        Checkpoint(
            key="k", criterion_id="c", response_id="r", judge_id="j", prompt="imported", repeat=1,
            state="unscored", reason="why", detail="no mark", raw="?", scale="scale",
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "row", "record"), CASES)
def test_a_row_is_the_record_that_its_checks_would_let_through(kind, row, record):
    assert list(Rows(kind, [row])) == [record]
    assert row_of(record) == row


def test_rows_are_a_sequence_of_records():
    rows = Rows(Tag, [tag_row("sample", f"s{at}", "f", "skill", "x") for at in range(3)])
    records = [Tag(subject="sample", subject_id=f"s{at}", source="f", facet="skill", value="x")
               for at in range(3)]  # fmt: skip
    assert len(rows) == 3
    assert (rows[0], rows[-1]) == (records[0], records[2])
    assert rows[1:] == records[1:]
    assert rows == tuple(records)
    assert rows != records[:2]
