"""What `export judgments` wrote comes back equal, from each kind of file; what it isn't, isn't."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from atom.engine.imports.importing import import_reading
from atom.exports.base import ExportOptions, ExportSource
from atom.exports.columns import JUDGMENTS
from atom.exports.judgments import every_judge, judgments
from atom.exports.registry import find_exporter
from atom.formats import ImportFile, read
from atom.formats.judgments.own import RowError, is_own, read_scale
from atom.formats.registry import detect
from atom.records import (
    JUDGE_SCALE,
    Checkpoint,
    CriteriaSet,
    Judge,
    MarkScale,
)
from atom.store import Store, find_study
from tests.factories import STUDY, open_small

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = [column.name for column in JUDGMENTS]
STORES_OWN = {"sample", "criterion", "parents", "prompt"}
PARTLY = MarkScale.of_numbers(-1, 4, name="points", lower_is_better=True, unreadable=["^n/a"])


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Two judges on two scales, penalties, gates and parents; and a mark that is no formula."""
    with open_small(tmp_path_factory.mktemp("given")) as store:
        points = store.select(Checkpoint)
        raws = (("=-1", 1.0), ("'4", 0.0), ("n/a", None))
        store.put(
            [
                Judge(id="anna", name="Anna", kind="person"),
                PARTLY,
                *(
                    Checkpoint(
                        key=f"anna {at}", criterion_id=one.criterion_id, judge_id="anna",
                        response_id=one.response_id, prompt="imported", raw=raw, value=value,
                        state="unscored" if value is None else "scored", scale=PARTLY.id,
                        addressed=at == 0, carried=None, reason='She said "no",\r\nthen\ryes',
                    )
                    for at, (one, (raw, value)) in enumerate(zip(points, raws, strict=False))
                ),
            ]
        )  # fmt: skip
        for one in store.select(CriteriaSet):
            first, second, third = one.uses
            uses = (
                first.model_copy(update={"gate": "cap", "gate_cap": 0.5, "weight": 0.75}),
                second.model_copy(update={"polarity": "penalty"}),
                third.model_copy(update={"parents": (first.criterion_id, second.criterion_id)}),
            )
            store.replace([one.model_copy(update={"uses": uses, "source": "imported"})])
        yield ExportSource(store, find_study(store, STUDY).id)


def rows(source):
    """Return the judgments as dicts, in an order of their own; parents by their texts."""
    found = [
        dict(zip(NAMES, line, strict=True))
        for one in every_judge(source)
        for line in judgments(one, pending=False)
    ]
    texts = {row["criterion"]: row["criterion_text"] for row in found}
    for row in found:
        row["parents by text"] = tuple(texts[name] for name in row["parents"])
    kept = [{n: v or None for n, v in row.items() if n not in STORES_OWN} for row in found]
    return sorted(kept, key=str)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_an_export_comes_back_equal(given, tmp_path, ending):
    place = tmp_path / f"x{ending}"
    find_exporter("judgments").write(given, place, ExportOptions(moment=MOMENT))
    with Store.open(tmp_path / "store") as store:
        reading = read("judgments", [ImportFile.from_path(place)])
        done = import_reading(store, reading, "Back", MOMENT)
        back = rows(ExportSource(store, done.study.id))
    told = rows(given)
    assert len(told) == 56
    # An answer of which nobody said whether it is right is read by our own rules.
    for one, other in zip(told, back, strict=True):
        if one["right"] is None:
            other["right"] = None
    assert back == told
    assert {row["gate_cap"] for row in back} == {0.5, None}
    assert {row["parents by text"] for row in back} - {None}
    assert done.report.account.of("judgments").came_in == 56


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_it_is_known_by_its_columns(given, tmp_path, ending):
    place = tmp_path / f"x{ending}"
    find_exporter("judgments").write(given, place, ExportOptions(moment=MOMENT))
    assert detect([ImportFile.from_path(place)]).name == "judgments"
    assert is_own(NAMES)
    assert not is_own(["criterion", "score", "judge", "state", "value"])


def test_scales_are_read_as_they_were_written():
    assert read_scale('{"levels": [["no", 0], ["yes", 1]]}') == MarkScale.of_levels(
        {"no": 0, "yes": 1}
    )
    said = PARTLY.model_dump(mode="json", exclude={"id"})
    assert read_scale(json.dumps(said)) == PARTLY
    said = JUDGE_SCALE.model_dump(mode="json", exclude={"id"})
    assert read_scale(json.dumps(said)) is JUDGE_SCALE
    for text in ("", "1 to 5", "[1, 5]", '{"low": 5, "high": 1}', '{"from": 1}'):
        with pytest.raises(RowError, match="can't be read"):
            read_scale(text)
