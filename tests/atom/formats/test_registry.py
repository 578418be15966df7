from __future__ import annotations

import json

import pytest

from atom.errors import FormatError
from atom.formats import FORMATS, ImportFile, detect, dry_run, preview, read

TABLE = ImportFile.from_bytes(
    "x.csv", b"question,response\n" + b"".join(b"q%d,a\n" % at for at in range(50))
)
MATHVISTA = ImportFile.from_bytes(
    "output_m.json",
    json.dumps(
        {
            "1": {
                "question": "q",
                "pid": "1",
                "question_type": "free_form",
                "answer_type": "text",
                "answer": "a",
                "metadata": {"skills": ["s"]},
                "response": "r",
                "true_false": True,
            }
        }
    ).encode(),
)


def test_formats_are_registered_by_their_names() -> None:
    names = [format.name for format in FORMATS.values()]
    assert list(FORMATS) == names
    assert names[:3] == ["table", "mathvista", "mllm-bench"]
    assert all(format.about.endswith(".") and format.patterns for format in FORMATS.values())
    for format in FORMATS.values():
        assert format.about.endswith(".")
        assert format.patterns


@pytest.mark.parametrize(("file", "name"), [(TABLE, "table"), (MATHVISTA, "mathvista")])
def test_a_files_format_is_found(file: ImportFile, name: str) -> None:
    found = detect([file])
    assert found is not None
    assert found.name == name


def test_a_mix_that_one_format_can_read_is_that_format() -> None:
    found = detect([TABLE, MATHVISTA])
    assert found is not None
    assert found.name == "table"


def test_nothing_fits_a_picture() -> None:
    picture = ImportFile.from_bytes("x.png", b"\x89PNG\r\n")
    assert detect([picture]) is None
    with pytest.raises(FormatError, match=r"no format fits 'x.png'.*table, mathvista"):
        read(None, [picture])


def test_an_unknown_format_is_refused_with_those_known() -> None:
    with pytest.raises(FormatError, match=r"'excel'.*table, mathvista"):
        read("excel", [TABLE])


def test_a_preview_shows_the_first_rows_only() -> None:
    shown = preview(None, [TABLE], rows=3)
    assert [sample.question for sample in shown.samples] == ["q0", "q1", "q2"]
    assert len(shown.responses) == 3
    assert shown.report.columns is not None
    assert shown.report.columns.question == "question"


def test_a_dry_run_reports_everything() -> None:
    report = dry_run(read(None, [TABLE], dataset="D"))
    assert (report.format, report.dataset, report.samples) == ("table", "D", 50)
    assert json.loads(report.model_dump_json())["sources"] == ["x.csv"]


def test_a_report_grows_with_the_reading() -> None:
    reading = read("table", [TABLE])
    assert reading.report.samples == 0
    next(reading)
    assert reading.report.samples == 50
    with pytest.raises(StopIteration):
        next(reading)
