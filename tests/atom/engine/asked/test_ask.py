"""A question is put to the probe endpoint, paid once, and asked about before it leaves."""

import asyncio
from pathlib import Path

import pytest

from atom.engine.asked import ask as asking
from atom.engine.consent import ConsentNeeded
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import DataError, UsageError
from atom.records import Call, Endpoint
from atom.settings import load_settings
from atom.store import Store, find_study, list_studies
from atom.views.asked import vocabulary_of
from atom.views.study_data import load_study
from tests.atom.asked.questions import QUESTIONS, UNANSWERED
from tests.factories import STUDY, open_small

DEMO = Path(__file__).parents[4] / "data" / "demo"
AWAY = Endpoint(name="away", base_url="https://a.invalid/v1", model="m", roles=("judge",))


@pytest.fixture
def probe(tmp_path):
    return known_endpoints(load_settings(store=str(tmp_path / "none")))["probe-judge"]


def asked(store, study, endpoint, question, names, **more):
    return asyncio.run(asking.ask(store, study, endpoint, question, names, **more))


@pytest.mark.slow
def test_the_probe_endpoint_answers_twenty_questions_with_their_views(probe):
    with Store.open(DEMO, read_only=True) as store:
        data = load_study(store, list_studies(store)[0].id)
        names = vocabulary_of(data)
        for question, view in QUESTIONS:
            heard = asked(store, data.study, probe, question, names)
            assert heard.wanted.model_dump(exclude_defaults=True, mode="json") == view
        heard = asked(store, data.study, probe, UNANSWERED[0][0], names)
        assert (heard.wanted.page, heard.wanted.not_understood) == (None, UNANSWERED[0][1])


def test_a_question_is_paid_once(tmp_path, probe):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        names = vocabulary_of(data)
        before = asking.price(store, probe, "who leads?", names)
        assert before.tokens > 0
        assert before.cost == 0
        calls = len(list(store.select(Call)))
        first = asked(store, data.study, probe, "who leads?", names)
        assert first.wanted.page == "overview"
        assert asking.price(store, probe, "who  leads? ", names).tokens == 0
        assert asked(store, data.study, probe, "who leads?", names) == first
        assert len(list(store.select(Call))) == calls + 1


def test_names_leave_only_after_a_yes(tmp_path, probe):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        names = vocabulary_of(data)
        needed = asking.consent_question(data.study, AWAY, names)
        # Three models, the nodes of the tree, and each kind of label with its values.
        count = 3 + len(names.capabilities) + sum(1 + len(one) for one in names.labels.values())
        assert f"{count} names of the study" in needed.sentence
        assert needed.sentence.endswith("would be sent to a.invalid (away)")
        with pytest.raises(ConsentNeeded):
            asked(store, data.study, AWAY, "who leads?", names)
        assert asking.consent_question(data.study, probe, names) is None


def test_what_cant_be_asked_is_said(tmp_path, probe):
    with open_small(tmp_path) as store:
        study = find_study(store, STUDY)
        names = vocabulary_of(load_study(store, STUDY))
        with pytest.raises(DataError, match="the question is empty"):
            asked(store, study, probe, "  ", names)
        with pytest.raises(UsageError, match="isn't a judge"):
            asked(store, study, AWAY.model_copy(update={"roles": ("candidate",)}), "x", names)
