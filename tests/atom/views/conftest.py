import pytest

from atom.views.study_data import load_study
from tests.factories import STUDY, open_small


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    with open_small(tmp_path_factory.mktemp("views")) as opened:
        yield opened


@pytest.fixture(scope="session")
def data(store):
    return load_study(store, STUDY)


@pytest.fixture(scope="session")
def imported(store):
    return load_study(store, "Imported")
