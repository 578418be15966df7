"""Reports on files that nobody here wrote: published figures stand in them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.output import render
from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import load_study

pytestmark = pytest.mark.slow

MODELS = ("bard", "llava_llama_2_13b")


def test_mathvista_gives_a_report_with_its_published_accuracies(shared_folder, tmp_path):
    source = shared_folder / "real" / "mathvista"
    files = [ImportFile.from_path(source / f"output_{model}.json") for model in MODELS]
    published = json.loads((shared_folder / "real" / "expected.json").read_text(encoding="utf-8"))
    with Store.open(tmp_path) as store:
        import_reading(
            store, read("mathvista", files), "MathVista", datetime(2026, 1, 1, tzinfo=UTC)
        )
        data = load_study(store, "MathVista")
        report = ReportDraft.of(store, data, Filters(study=data.study.id)).report(ReportSpec())
        text = render(store, report, "html")
    assert "SYNTHETIC" not in text
    assert "confounded with difficulty" in text
    for model in MODELS:
        assert f"{published['mathvista'][model]['accuracy_percent']:.1f} (" in text
    assert "numeric commonsense" in text
