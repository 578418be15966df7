"""A judge writes: what it says is checked, and what can't be used leaves the rules' text."""

from __future__ import annotations

import asyncio
import json

import pytest

from atom.engine.consent import ConsentNeeded
from atom.errors import SettingsError, UsageError
from atom.judge import JudgeClient
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Endpoint, Prices
from atom.reports.asking import consent_question, price, write
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.writing import briefs, build, parse
from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.app.screen_store import make_store

BUILT_IN = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
EXACT, NOISY = BUILT_IN["probe-judge"], BUILT_IN["probe-judge-noisy"]


class FakeReply:
    """A reply as the client brings it."""

    def __init__(self, data=None, *, reason=""):
        self.ok = data is not None
        self.state = "ok" if self.ok else "refused"
        self.data, self.reason, self.text = data, reason, json.dumps(data)


@pytest.fixture(scope="module")
def small(draft):
    """Return the report of one model, and what a judge is given for it."""
    report = draft.report(ReportSpec(models=draft.look.data.table.model_ids[:1], cases=1))
    return report, briefs(report, draft.look)


def written(draft, report, wanted, endpoint, **changes):
    study = changes.pop("study", draft.look.data.study)
    store = changes.pop("store", draft.look.store)
    return asyncio.run(write(store, study, report, wanted, endpoint, **changes))


def test_the_exact_judge_states_nothing_that_it_was_not_given(draft, small):
    report, wanted = small
    seen = []
    done = written(draft, report, wanted, EXACT, on_section=lambda a, b: seen.append((a, b)))
    assert done.written_by == "probe-judge"
    assert done.unverified == 0
    assert seen == [(1, 2), (2, 2)]
    told = [p for s in done.sections for part in s.parts for p in part.passages]
    assert {p.by for p in told} == {"judge", "rule"}
    assert all(p.by == "rule" for s in done.sections for part in s.parts
               for p in part.passages if part.part == "care")  # fmt: skip
    assert [s.note for s in done.sections] == ["", ""]


def test_what_the_noisy_judge_makes_up_is_all_marked(draft, small):
    report, wanted = small
    done = written(draft, report, wanted, NOISY)
    marks = [m for s in done.sections for part in s.parts for p in part.passages for m in p.marks]
    # One invented model and one changed number in each of two sections.
    assert sorted(m.kind for m in marks) == ["name", "name", "number", "number"]
    assert {m.text for m in marks if m.kind == "name"} == {"Phantom-9"}
    assert done.unverified == 4


def test_a_second_time_costs_nothing(tmp_path):
    made = make_store(tmp_path)
    with Store.open(made.folder) as store:
        draft = ReportDraft.of(
            store, load_study(store, made.study.id), Filters(study=made.study.id)
        )
        report = draft.report(ReportSpec(models=made.candidate_ids[:1], cases=0))
        wanted = briefs(report, draft.look)
        assert price(store, made.study, EXACT, wanted).calls == 2
        first = written(draft, report, wanted, EXACT)
        after = price(store, made.study, EXACT, wanted)
        assert (after.calls, after.tokens, after.sections) == (0, 0, 2)

        def no_client(*_):
            return JudgeClient(EXACT.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}))

        assert written(draft, report, wanted, EXACT, make=no_client) == first


def test_stored_replies_of_the_bundled_study_still_fit(demo):
    wanted = briefs(demo.report(ReportSpec()), demo.look)
    assert price(demo.look.store, demo.look.data.study, EXACT, wanted).calls == 0


@pytest.mark.parametrize(
    "said",
    [None, {"paragraphs": []}, {"paragraphs": "x"}, {"paragraphs": [{"part": "care", "text": "x"}]},
     {"paragraphs": [{"part": "stand", "text": "  "}, 7]}],
)  # fmt: skip
def test_an_unusable_reply_leaves_the_rules_text_and_says_so(small, said):
    _, wanted = small
    section = parse(FakeReply(said, reason="the model refused"), wanted[-1])
    assert section.parts == wanted[-1].section.parts
    assert "Written by rule" in section.note


def test_a_part_that_the_judge_left_out_stays_by_rule(small):
    _, wanted = small
    rows = [{"part": "stand", "text": "It stands.", "findings": ["F1", "F99"]}]
    section = parse(FakeReply({"paragraphs": rows}), wanted[-1])
    assert section.parts[0].passages[0].text == "It stands."
    assert section.parts[0].passages[0].findings == (wanted[-1].ids["F1"],)
    assert section.parts[1:] == wanted[-1].section.parts[1:]
    assert "the judge left it out" in section.note


def test_the_prompt_holds_the_findings_as_one_block_and_no_answer(small, draft):
    _, wanted = small
    request = build(wanted[-1], draft.look.data.study.judge_sampling)
    text = request.parts[-1].text
    data = json.loads(text.split("BEGIN DATA\n")[1].split("\nEND DATA")[0])
    assert [row["id"] for row in data["findings"]] == list(wanted[-1].ids)
    assert all(row["says"] and row["frame"] for row in data["findings"])
    assert request.pictures == ()
    assert "I look at the chart first" not in text


def test_a_dead_endpoint_leaves_the_rules_text(draft, small):
    report, wanted = small
    dead = EXACT.model_copy(
        update={"base_url": "http://127.0.0.1:9/v1", "max_tries": 1, "model": "gone"}
    )
    done = written(draft, report, wanted, dead)
    assert all("Written by rule" in section.note for section in done.sections)
    assert done.sections[1].parts == report.sections[1].parts


def test_nothing_is_sent_to_a_host_that_nobody_agreed_to(draft, small):
    report, wanted = small
    remote = Endpoint(name="far", base_url="https://judge.example/v1", model="m", roles=("judge",))
    with pytest.raises(ConsentNeeded, match=r"the findings of 2 sections .* to judge\.example"):
        written(draft, report, wanted, remote)
    agreed = draft.look.data.study.model_copy(update={"consent": ("judge.example",)})
    assert consent_question(agreed, remote, 2) is None
    assert consent_question(agreed, EXACT, 2) is None


def test_a_budget_needs_prices_and_a_candidate_cannot_write(draft, small):
    report, wanted = small
    local = Endpoint(name="x", base_url="http://127.0.0.1:9/v1", model="m", roles=("judge",))
    with pytest.raises(SettingsError, match="no prices"):
        written(draft, report, wanted, local, budget=1.0)
    with pytest.raises(UsageError, match="isn't a judge"):
        written(draft, report, wanted, BUILT_IN["model-a"])


def test_a_budget_that_is_too_small_stops_before_the_first_call(draft, small):
    report, wanted = small
    dear = Endpoint(name="x", base_url="http://127.0.0.1:9/v1", model="m", roles=("judge",),
                    prices=Prices(input=1000.0, output=1000.0))  # fmt: skip
    done = written(draft, report, wanted, dear, budget=0.01)
    assert all("Written by rule" in section.note for section in done.sections)
    assert price(draft.look.store, draft.look.data.study, dear, wanted).cost > 1
