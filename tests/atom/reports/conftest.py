"""A judged study with every state in it, a planted one, and one of outcomes alone."""

from __future__ import annotations

import pytest

from atom.reports.draft import ReportDraft, ReportSpec
from atom.store import Store, list_studies
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.app.screen_store import Made, make_store
from tests.votes import make_votes


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Made:
    """Return a judged study of 12 samples and 3 models, hostile texts in it."""
    return make_store(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="session")
def store(made):
    """Return its store, open."""
    with Store.open(made.folder) as opened:
        yield opened


@pytest.fixture(scope="session")
def data(store, made):
    """Return the study, loaded."""
    return load_study(store, made.study.id)


@pytest.fixture(scope="session")
def draft(store, data, made) -> ReportDraft:
    """Return what it shows."""
    return ReportDraft.of(store, data, Filters(study=made.study.id))


@pytest.fixture(scope="session")
def report(draft):
    """Return its report by rule."""
    return draft.report(ReportSpec(made="2026-01-01"))


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory):
    """Return the draft of a study with outcomes and no criteria."""
    made = make_store(tmp_path_factory.mktemp("outcomes"), judged=False, name="Outcomes only")
    with Store.open(made.folder) as opened:
        yield ReportDraft.of(
            opened, load_study(opened, made.study.id), Filters(study=made.study.id)
        )


@pytest.fixture(scope="session")
def votes(tmp_path_factory):
    """Return the draft of a study of votes between answers, and nothing else."""
    voted = make_votes(tmp_path_factory.mktemp("votes"))
    with Store.open(voted.folder) as opened:
        study = list_studies(opened)[0]
        yield ReportDraft.of(opened, load_study(opened, study.id), Filters(study=study.id))


@pytest.fixture(scope="session")
def demo(project):
    """Return the draft of the bundled study, which has confirmed weaknesses."""
    if not (project / "data" / "demo" / "SHA256SUMS").exists():
        pytest.skip("the bundled study isn't in this checkout (data/demo)")
    with Store.open(project / "data" / "demo", read_only=True) as opened:
        data = load_study(opened, list_studies(opened)[0].id)
        yield ReportDraft.of(opened, data, Filters(study=f"demo:{data.study.id}"))
