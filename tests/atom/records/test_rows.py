"""Records as plain rows."""

from __future__ import annotations

import pytest

from atom.records import Outcome, PictureSlot, Response, Sample, Tag
from atom.records.rows import (
    Rows,
    outcome_row,
    response_row,
    row_of,
    sample_row,
    tag_row,
)

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
