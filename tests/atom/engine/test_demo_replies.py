"""The bundled replies belong to today's prompts: what the bundled study's pages ask is there.

A reply is found by a hash of what was asked. Whoever changes a prompt, a schema or a word that goes
into one leaves the bundled replies behind, and the pages would ask the built-in judge anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from atom.cli.parts.demo_parts import FAIL, PAIRS, QUESTIONS, VOTES, WEAK
from atom.engine.bench.fidelity import FidelitySpec, prepare_fidelity
from atom.engine.bench.judging import BenchSpec, prepare_bench
from atom.engine.correction.cohorts import find_subjects
from atom.engine.correction.ground import CorrectionSpec, prepare
from atom.engine.correction.plan import next_step
from atom.engine.correction.steps import perform
from atom.engine.correction.trials import Rules, TrialRecords, trials_of
from atom.engine.demo.parts import ARMS, FIRST_TREE, JUDGES, METHODS_ON, RIGHT_TRIED, TRIED
from atom.engine.demo.site import FIXED, JUDGE
from atom.engine.induction.ground import InductionSpec
from atom.engine.induction.ground import prepare as prepare_growth
from atom.engine.induction.growing import grow
from atom.engine.live_replay import Live
from atom.engine.pairs.asking import PairsSpec, lay_ground
from atom.engine.replies import stored_reply
from atom.engine.worklist import load_verdicts
from atom.judge import Request
from atom.judge.servers.endpoints import builtin_endpoints
from atom.pipeline import ANSWER, CRITERIA, MAPPING, OUTCOME, REPLAY, SCORING
from atom.records import (
    BenchSet,
    Candidate,
    CriteriaSet,
    Criterion,
    Endpoint,
    Experiment,
    Induction,
    PairsTask,
    Replay,
    Response,
    Run,
    Study,
)
from atom.reports.asking import price
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.writing import briefs
from atom.stages.asked.ask import build as build_question
from atom.stages.asked.ask import parse as parse_question
from atom.store import Store, study_places
from atom.store import table as columns_of
from atom.views.asked import opened, vocabulary_of
from atom.views.filters import Filters
from atom.views.snapshot import open_study

ENDPOINTS = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
BUILD = (
    "data/demo holds no reply to what today's code asks with {}: leave the prompt's words as they "
    "were, or build the study again (`python -m atom demo build --seal FOLDER`, see data/README.md)"
)


class AskedError(Exception):
    """A step would ask this."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.prompt_id)
        self.request = request


async def refuse(request: Request) -> None:
    raise AskedError(request)


@pytest.fixture(scope="module")
def store(project: Path):
    with Store.open(project / "data" / "demo", read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def study(store) -> Study:
    (found,) = store.select(Study)
    return found


def check(store: Store, asked: Iterable[tuple[Endpoint, Request]]) -> int:
    """Count what is asked; each of it must be stored."""
    count, lost = 0, set()
    for endpoint, request in asked:
        count += 1
        if stored_reply(store, request, endpoint) is None:
            lost.add(request.prompt_id)
    assert not lost, BUILD.format(", ".join(sorted(lost)))
    return count


def of_live(store, study, sample_ids):
    """What Live replay and a run ask about samples, stage by stage."""
    tree, judge = open_study(store, study.id).tree, ENDPOINTS[JUDGE]
    names = {one.id: one.name for one in store.select(Candidate)}
    for place in study_places(store, study.id):
        if place.sample_id not in sample_ids:
            continue
        live = Live.of_study(store, place.sample_id, judge, study, tree)
        cut = store.get(CriteriaSet, place.criteria_set_id)
        wanted = [store.get(Criterion, use.criterion_id) for use in cut.uses]
        replay = store.get(Replay, place.replay_id)
        full = {"replay": replay, "criteria_set": cut, "wanted": wanted}
        about = {REPLAY: live.about(), CRITERIA: live.about(replay=replay),
                 MAPPING: live.about(**full)}  # fmt: skip
        for stage, subject in about.items():
            yield judge, stage.build(live.material, subject, live.setting(stage))
        column = columns_of(Response).c.sample_id
        for answer in store.select(Response, column == place.sample_id):
            if answer.repeat or answer.candidate_id not in names:
                continue
            who = ENDPOINTS[names[answer.candidate_id]]
            yield who, ANSWER.build(live.material, live.about(), live.setting(ANSWER, who))
            judged = live.about(response=answer, **full)
            for stage in (SCORING, OUTCOME):
                if not stage.free(live.sample):
                    yield judge, stage.build(live.material, judged, live.setting(stage))


def test_what_live_replay_asks_is_there(store, study):
    every = study_places(store, study.id)
    sample_ids = {place.sample_id for place in every[:: len(every) // 6]}
    assert check(store, of_live(store, study, sample_ids)) > 6 * (3 + 8)


@pytest.mark.parametrize(
    "judge", [JUDGES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in JUDGES[1:])]
)
def test_what_each_judge_benchmark_asks_is_there(store, judge):
    for record in store.select(BenchSet):
        ready = prepare_bench(store, BenchSpec(set_id=record.id, judge=judge), ENDPOINTS)
        asks = ready.worklist.asks({})
        assert check(store, ((ready.asked[ask.by], ask.build()) for ask in asks))


def test_what_rival_methods_ask_is_there(store, study):
    spec = FidelitySpec(study_id=study.id, judge=JUDGE, limit=METHODS_ON)
    ready = prepare_fidelity(store, spec, ENDPOINTS)
    assert check(store, ((ENDPOINTS[JUDGE], ask.build()) for ask in ready.worklist.asks({})))


@pytest.mark.slow
def test_what_the_experiment_asks_first_is_there(store, study):
    (experiment,) = store.select(Experiment)
    spec = CorrectionSpec(
        study_id=study.id, candidate=experiment.candidate_id, judge=JUDGE, arms=ARMS,
        limit=TRIED, right_answers=RIGHT_TRIED,
    )  # fmt: skip
    ground = prepare(store, spec, ENDPOINTS)
    rules, have = Rules.of(ground), TrialRecords()

    def first():
        for trial in trials_of(find_subjects(store, ground).subjects, ARMS):
            step = next_step(trial, have, rules)
            if step is None or step.problem:
                continue
            try:
                asyncio.run(perform(refuse, store, step, have, rules))
            except AskedError as error:
                yield step.asked(ground), error.request

    assert ground.experiment.id == experiment.id
    assert check(store, first()) > TRIED


def test_what_hard_pairs_ask_is_there(store, study):
    (task,) = [run.task for run in store.select(Run) if isinstance(run.task, PairsTask)]
    spec = PairsSpec(
        study_id=study.id, weak=WEAK, strong=JUDGE, votes=VOTES, fail=FAIL, pairs=task.pairs
    )
    ground = lay_ground(store, spec, ENDPOINTS)
    asks = ground.worklist.asks(load_verdicts(store, study.id))
    # Two weak judges, 3 votes in either order; then the strong one.
    assert len(task.pairs) == PAIRS
    assert check(store, ((ground.asked[ask.by], ask.build()) for ask in asks)) > PAIRS * 2 * 6


def test_what_questions_in_words_ask_is_there(store, study):
    vocabulary = vocabulary_of(open_study(store, study.id))
    built = [(ENDPOINTS[JUDGE], build_question(one, vocabulary)) for one in QUESTIONS]
    assert check(store, built) == len(QUESTIONS)
    for endpoint, request in built:
        wanted = parse_question(stored_reply(store, request, endpoint)).wanted
        view = opened(open_study(store, study.id), study.id, wanted)
        assert view is not None
        assert view.left == ()


@pytest.mark.parametrize(
    "samples",
    [FIRST_TREE, pytest.param(InductionSpec(study_id="").samples, marks=pytest.mark.slow)],
)
def test_what_growing_the_tree_asks_is_there(store, study, samples):
    """Grown anew, each tree asks only what is answered; the mapping to it is Live replay's."""
    spec = InductionSpec(study_id=study.id, judge=JUDGE, samples=samples)
    ground = prepare_growth(store, spec, ENDPOINTS, study.created)
    assert store.get(Induction, ground.row.id) is not None
    asked = []

    async def answers(phase, requests):
        asked.extend((ENDPOINTS[JUDGE], request) for request in requests)
        check(store, asked[-len(requests) :])
        return [stored_reply(store, request, ENDPOINTS[JUDGE]) for request in requests]

    sampling = ground.members.judge_sampling
    grown = asyncio.run(grow(answers, ground.subset, ground.start, spec.grow, judge=JUDGE,
                             sampling=sampling)).grown  # fmt: skip
    assert len(grown.tree.leaves) >= 15
    assert {request.prompt_id.partition("/")[0] for _, request in asked} == {
        "propose", "same", "vague",
    }  # fmt: skip


@pytest.mark.slow
def test_both_bundled_reports_are_there(store, study):
    draft = ReportDraft.of(store, open_study(store, study.id), Filters(study=study.id))
    (experiment,) = store.select(Experiment)
    for models in (None, (experiment.candidate_id,)):
        report = draft.report(ReportSpec(models=models, made=f"{FIXED:%Y-%m-%d %H:%M} UTC"))
        wanted = briefs(report, draft.look)
        found = price(store, study, ENDPOINTS[JUDGE], wanted)
        assert wanted
        assert found.calls == 0, BUILD.format("report")
