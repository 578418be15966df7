"""Twenty questions answered by rule, by the probe endpoint and by recorded replies."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.asked.rules import read_question
from atom.asked.view_request import ViewRequest, Vocabulary
from atom.judge import Reply
from atom.judge.exchange import judge_completion
from atom.judge.replies.completion import Completion
from atom.records import Call, Usage
from atom.stages.asked.ask import build, parse
from atom.store import Store, list_studies
from atom.ui.links import read_address
from atom.views.asked import PAGES, opened, vocabulary_of
from atom.views.filters import Filters, known
from atom.views.study_data import load_study
from tests.atom.asked.questions import QUESTIONS, UNANSWERED

DEMO = Path(__file__).parents[3] / "data" / "demo"


@pytest.fixture(scope="module")
def demo():
    with Store.open(DEMO, read_only=True) as store:
        yield load_study(store, list_studies(store)[0].id)


CALL = Call(id="c", request_hash="h", task="ask", endpoint="e", model="m", prompt="ask/1")
NO_NAMES = Vocabulary(models=(), capabilities=(), labels={})


def reply_of(text):
    """Make the reply that a client would, had the model said this twice."""
    said = Completion(content=text, refusal=None, finish="stop", usage=Usage())
    verdict = judge_completion(build("?", NO_NAMES), said)
    return Reply(state=verdict.state, text=text, call=CALL, data=verdict.data,
                 reason=verdict.reason)  # fmt: skip


def recorded(view):
    """Write a judge's reply as one would be recorded: every key, nulls and empty texts."""
    usual = ViewRequest().model_dump(mode="json") | {"capability": "", "facet": "", "search": ""}
    return json.dumps({**usual, **view})


@pytest.mark.slow
@pytest.mark.parametrize(("question", "view"), QUESTIONS)
def test_a_question_opens_its_view_by_rule_and_by_reply(demo, question, view):
    names = vocabulary_of(demo)
    for wanted in (read_question(question, names), parse(reply_of(recorded(view))).wanted):
        assert wanted.model_dump(mode="json") == {**ViewRequest().model_dump(mode="json"), **view}
        found = opened(demo, "key", wanted)
        assert found.left == ()
        assert found.said.startswith(PAGES[view["page"]][1])
        # The address reads back as the same view, and all that it names is there.
        page, query = read_address(found.address)
        assert page == PAGES[view["page"]][0]
        again = Filters.from_query(query)
        assert again == found.filters
        assert known(demo, again) == again
        assert {key: query[key] for key in found.local} == {
            key: [value] for key, value in found.local.items()
        }


@pytest.mark.slow
@pytest.mark.parametrize(("question", "left"), UNANSWERED)
def test_what_nothing_answers_opens_nothing(demo, question, left):
    wanted = read_question(question, vocabulary_of(demo))
    assert opened(demo, "key", wanted) is None
    assert wanted.not_understood == left


HOSTILE = (
    {"page": "settings"},
    {"page": "../../etc/passwd"},
    {"page": "https://evil.example/"},
    {"page": "failures", "models": ["<script>alert(1)</script>"]},
    {"page": "failures", "models": ["model-a", "model-b", "model-c"]},
    {"page": "failures", "capability": "x&study=other&page=settings"},
    {"page": "failures", "search": "a" * 5000},
    {"page": "failures", "search": "q&lay=grid#' OR 1=1 --"},
    {"page": "failures", "show": "rm -rf /"},
    {"page": "failures", "sample": -1},
    {"page": "failures", "sample": 10**30},
    {"page": "failures", "labels": [{"facet": "difficulty", "value": "hard", "go": "away"}]},
    {"page": "failures", "labels": "difficulty"},
    {"page": "fingerprints", "facet": "tagged' --", "tab": "delete"},
    {"page": "compare", "models": {"a": 1}, "measure": ["process"]},
    {"page": "tree", "study": "another", "run": "delete_study", "href": "javascript:1"},
    {"page": 7, "models": None, "not_understood": [{"x": 1}, None, 3] * 50},
)


@pytest.mark.slow
@pytest.mark.parametrize("reply", HOSTILE)
def test_whatever_a_reply_says_only_an_allowed_view_opens(demo, reply):
    # The client's own check of the schema is passed over: this is the last line.
    wanted = parse(reply_of(json.dumps(reply))).wanted
    found = None if wanted is None else opened(demo, "key", wanted)
    if found is None:
        return
    assert found.page in {page for page, _ in PAGES.values()}
    parts = urlsplit(found.address)
    assert (parts.scheme, parts.netloc, parts.fragment) == ("", "", "")
    query = parse_qs(parts.query)
    assert query["study"] == ["key"]
    assert set(query) <= {"study", "model", "peers", "node", "tag", "measure", "outcome", "process",
                          "show", "q", "sort", "sample", "lay", "tab", "facet"}  # fmt: skip
    assert known(demo, found.filters) == found.filters
    assert len(found.address) < 1500


def test_what_isnt_json_names_no_view():
    assert parse(reply_of("I'd open the settings page for you.")).wanted is None
