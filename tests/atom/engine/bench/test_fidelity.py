"""Rival methods on a small study: asked once, resumed, held against people's rankings."""

from __future__ import annotations

import json

import pytest

from atom.engine.bench.fidelity import (
    FidelitySpec,
    compared_answers,
    forecast_fidelity,
    prepare_fidelity,
)
from atom.engine.bench.rankings import PLANTED, import_rankings, plant_rankings
from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.control import run_status
from atom.engine.work import carry_out, open_work
from atom.errors import FormatError, UsageError
from atom.formats import ImportFile
from atom.methods.registry import METHODS
from atom.probes.serving.faults import FaultPlan
from atom.records import (
    Annotation,
    Endpoint,
    RankedAnswer,
    Replay,
    Response,
    Run,
    Sample,
    Study,
    Verdict,
    content_id,
)
from atom.store import Store
from atom.store import table as columns_of
from atom.views.lab.fidelity.people import MIN_MET
from atom.views.lab.fidelity.tab import fidelity, fidelity_of
from atom.views.snapshot import open_study
from tests.atom.engine.conftest import JUDGED, Counted

SAMPLES, ANSWERS = 10, 3
CALLS = SAMPLES * (ANSWERS + 1 + (1 + ANSWERS) * 2 + ANSWERS)
"""Pointwise 3, batch 1, SCAN and without replay 1 + 3 each, without decomposition 3."""
SENT = CALLS - SAMPLES * ANSWERS
"""The exact judge makes the same criteria without a replay: what it said of them is there."""


def spec(store, **more) -> FidelitySpec:
    (study,) = store.select(Study)
    return FidelitySpec(**{"study_id": study.id, "judge": "probe-judge", **more})


async def ask(store, endpoints, counted, **more) -> Run:
    row = open_work(store, spec(store, **more), endpoints)
    return await carry_out(store, row.id, endpoints, make=counted.make)


def view_of(store, judge_id=None):
    (study,) = store.select(Study)
    own = open_study(store, study.id)
    return fidelity_of(store, own, judge_id)


@pytest.mark.slow
async def test_all_methods_run_once_and_never_again(judged, endpoints, counted):
    ended = await ask(judged, endpoints, counted)
    assert (ended.state, ended.done, ended.failed, ended.unscored) == ("done", CALLS, 0, 0)
    assert counted.total == SENT
    again = await ask(judged, endpoints, counted)
    assert (again.id, again.state, counted.total) == (ended.id, "done", SENT)
    assert len(judged.select(Run)) == 2
    assert {row.state for row in judged.select(Verdict)} == {"scored"}


@pytest.mark.slow
async def test_the_exact_judge_ranks_as_the_checkpoints_do(judged, endpoints, counted):
    await ask(judged, endpoints, counted)
    plant_rankings(judged, judged.select(Study)[0].id)
    view = view_of(judged)
    rows = {row.name: row for row in view.rows}
    assert set(rows) == set(METHODS)
    assert view.people.pairs == SAMPLES * 3
    assert view.people.synthetic
    assert view.shared == SAMPLES
    exact = rows["atom"].accuracy.counts.tolist()
    assert exact == rows["batch"].accuracy.counts.tolist() == rows["scan"].accuracy.counts.tolist()
    assert exact == rows["no_replay"].accuracy.counts.tolist()
    assert rows["scan"].against_atom.gap == 0
    assert rows["atom"].against_atom is None
    calls = {name: row.cost.calls for name, row in rows.items()}
    # ATOM: a replay, criteria, three scorings; without decomposition: the replay and three.
    assert calls == {
        "pointwise": 30, "batch": 10, "scan": 40, "atom": 50, "no_replay": 40,
        "no_decomposition": 40, "no_weights": 50,
    }  # fmt: skip
    assert all(row.cost.usd == 0 and row.cost.tokens_in > 0 for row in view.rows)
    roots = rows["atom"].by_root
    assert sum(share.n for share in roots.values()) == SAMPLES * 3
    assert set(view.roots) == set(roots)
    titles = {METHODS[name].title for name in ("atom", "batch", "scan", "no_replay")}
    assert titles <= set(view.alike)


def ranking_of(store, sample, who, ranks, note=""):
    study = store.select(Study)[0]
    answers = sorted(
        store.select(Response, columns_of(Response).c.sample_id == sample), key=lambda one: one.id
    )
    given = tuple(
        RankedAnswer(response_id=answer.id, rank=rank)
        for answer, rank in zip(answers, ranks, strict=True)
    )
    return Annotation(
        id=content_id("test", sample, who), study_id=study.id, kind="ranking", subject_id=sample,
        annotator=who, ranks=given, note=note, created="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


@pytest.mark.slow
def test_people_and_planted_labels_are_counted_apart(judged):
    plant_rankings(judged, judged.select(Study)[0].id)
    samples = sorted(one.id for one in judged.select(Sample))
    judged.put([ranking_of(judged, samples[0], "Ada", (1, 2, 3))])
    people, planted = view_of(judged).people.kinds
    assert (people.planted, people.annotators, people.labels) == (False, ("Ada",), 1)
    assert (planted.planted, planted.annotators) == (True, (PLANTED,))
    # A person and what was drawn never meet.
    assert people.met == planted.met == 0
    judged.put([ranking_of(judged, samples[0], "Bob", (1, 3, 2))])
    people = view_of(judged).people.kinds[0]
    # They agree on two of the three pairs, of one sample: nothing about judges follows.
    assert (people.met, people.samples) == (3, 1)
    assert people.agreed.value == pytest.approx(2 / 3)
    assert not people.bounds(0.1)
    judged.put([ranking_of(judged, one, "Ada", (1, 2, 3)) for one in samples[1:MIN_MET]])
    judged.put([ranking_of(judged, one, "Bob", (1, 3, 2)) for one in samples[1:MIN_MET]])
    people = view_of(judged).people.kinds[0]
    assert people.samples == MIN_MET
    assert people.bounds(people.agreed.hi)
    # A method that does better refutes the claim.
    assert not people.bounds(people.agreed.hi + 0.01)


@pytest.mark.slow
async def test_a_stopped_run_goes_on_where_it_was(judged, endpoints, counted):
    whole = open_work(judged, spec(judged, methods=("pointwise", "scan")), endpoints)
    asked = SAMPLES * (2 * ANSWERS + 1)
    slow = Counted(latency=0.6)  # a stop is looked for twice a second

    def stop(progress) -> None:
        if progress.done >= 5:
            judged.replace([judged.get(Run, whole.id).model_copy(update={"state": "stopping"})])

    ended = await carry_out(judged, whole.id, endpoints, make=slow.make, on_progress=stop)
    assert ended.state == "stopped"
    assert 0 < slow.total < asked
    assert run_status(judged, whole.id).resumable
    on = await carry_out(judged, ended.id, endpoints, make=counted.make)
    assert on.state == "done"
    assert slow.total + counted.total == asked == len(judged.select(Verdict))


async def test_failures_are_kept_apart_and_asked_again_on_demand(judged, endpoints):
    broken = Counted(faults=FaultPlan(rates={"content_filter": 1.0}))
    ended = await ask(judged, endpoints, broken, methods=("batch",))
    assert (ended.done, ended.unscored) == (SAMPLES, SAMPLES)
    plant_rankings(judged, judged.select(Study)[0].id)
    row = next(row for row in view_of(judged).rows if row.name == "batch")
    assert (row.accuracy.strict.value, row.accuracy.invalid) == (0, SAMPLES * 3)
    assert row.unscored == SAMPLES


async def test_methods_are_compared_on_the_samples_that_all_saw(judged, endpoints, counted):
    await ask(judged, endpoints, counted, methods=("pointwise",), limit=4)
    plant_rankings(judged, judged.select(Study)[0].id)
    view = view_of(judged)
    rows = {row.name: row for row in view.rows}
    assert view.shared == 4
    assert rows["pointwise"].samples == rows["atom"].samples == 4
    assert rows["batch"].accuracy is None
    assert rows["atom"].cost.calls == 4 * 5


@pytest.mark.slow
async def test_another_judge_is_seen_beside_the_studys_own(judged, endpoints, counted):
    await ask(judged, endpoints, counted, judge="probe-judge-coin", methods=("pointwise",))
    plant_rankings(judged, judged.select(Study)[0].id)
    view = view_of(judged)
    coin = next(one for one, name in view.judges if name == "probe-judge-coin")
    other = view_of(judged, coin)
    rows = {row.name: row for row in other.rows}
    assert rows["pointwise"].samples == SAMPLES
    assert rows["atom"].accuracy is None
    assert sum(share.n for share in rows["pointwise"].by_root.values()) == SAMPLES * 3
    assert next(row for row in view.rows if row.name == "pointwise").accuracy is None


def test_a_forecast_says_what_comes(judged, endpoints):
    found = forecast_fidelity(judged, spec(judged), endpoints)
    assert (found.samples, found.ranked, found.calls) == (SAMPLES, 0, CALLS)
    assert found.cost == 0
    assert {one.method: (one.calls, one.later, one.blocked) for one in found.methods}["scan"] == (
        SAMPLES, SAMPLES * ANSWERS, 0,
    )  # fmt: skip


def test_what_has_no_solution_is_counted_and_methods_stand_in_their_own_order(judged, endpoints):
    methods = ("no_decomposition", "batch", "no_decomposition")
    ready = prepare_fidelity(judged, spec(judged, methods=methods), endpoints)
    assert ready.methods == ("batch", "no_decomposition")
    with judged.write() as writer:
        writer.delete(Replay, columns_of(Replay).c.state == "scored")
    found = forecast_fidelity(judged, spec(judged, methods=methods), endpoints)
    assert [(one.calls, one.later, one.blocked) for one in found.methods] == [
        (SAMPLES, 0, 0), (0, 0, SAMPLES),
    ]  # fmt: skip


def test_ranked_samples_come_first(judged, endpoints):
    study = judged.select(Study)[0]
    responses = compared_answers(judged, study).responses
    last = list(responses)[-1]
    one, other = (answer.id for answer in responses[last][:2])
    pair = Annotation.pair(one, other)
    judged.put([Annotation(id="x", study_id=study.id, kind="preference", subject_id=pair,
                           annotator="ann", label="a")])  # fmt: skip
    ready = prepare_fidelity(judged, spec(judged, limit=2), endpoints)
    assert [each.sample.id for each in ready.plan.samples] == [last, next(iter(responses))]
    assert ready.ranked == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"methods": ("best",)}, "no method 'best'"),
        ({"methods": ("atom",)}, "asks nothing"),
        ({"limit": 0}, "at least 1 sample"),
        ({"study_id": "nobody"}, "no study 'nobody'"),
        ({"judge": "model-a"}, "has the roles"),
    ],
)
def test_what_cannot_be_asked_is_refused(judged, endpoints, more, words):
    with pytest.raises(UsageError, match=words):
        prepare_fidelity(judged, spec(judged, **more), endpoints)


def test_a_study_without_two_answers_is_refused(store, study, endpoints):
    with pytest.raises(UsageError, match="two answers"):
        prepare_fidelity(store, spec(store), endpoints)


def test_nothing_leaves_without_consent(judged, endpoints):
    far = Endpoint(name="far", base_url="https://judge.example/v1", model="m", roles=("judge",))
    known = {**endpoints, "far": far}
    with pytest.raises(ConsentNeeded, match=r"judge\.example"):
        open_work(judged, spec(judged, judge="far"), known)
    give_consent(judged, judged.select(Study)[0].id, ["judge.example"])
    assert open_work(judged, spec(judged, judge="far"), known).task.methods


# --- rankings ------------------------------------------------------------------------------------


def take(store, text, name="r.csv"):
    return import_rankings(
        store, store.select(Study)[0].id, [ImportFile.from_bytes(name, text.encode())]
    )


def test_ranks_come_in_by_source_id_or_id(judged):
    first, second = judged.select(Sample)[:2]
    text = "sample,candidate,rank,annotator\n"
    for sample in (first.source_id, second.id):
        for name, rank in zip(JUDGED, ("2.5", "1", "2.5"), strict=True):
            text += f"{sample},{name},{rank},ann\n"
    taken = take(judged, text)
    assert (taken.labels, taken.samples, taken.annotators, taken.n_skipped) == (2, 2, ("ann",), 0)
    for label in judged.select(Annotation):
        assert sorted(ranked.rank for ranked in label.ranks) == [1, 2, 2]
    again = take(judged, text)
    assert (again.labels, len(judged.select(Annotation))) == (2, 2)


def test_traps_in_rankings_are_named_and_nothing_else_is_lost(judged):
    one, two, three = (sample.source_id for sample in judged.select(Sample)[:3])
    h, d, b = JUDGED
    taken = take(
        judged,
        f"Sample;Model;Rank;Annotator\n{one};{h};1;ann\n{one};{d};2;ann\n{one};{b};;ann\n"
        f"{one};nobody;1;ann\nlost;{h};1;ann\n;{h};1;ann\n{two};{h};1;ann\n"
        f"{three};{h};nan;ann\n{three};{h};first;ann\n"
        f"{three};{h};1;bob\n{three};{h};2;bob\n{three};{d};1;bob\n{three};{b};1;bob\n",
    )
    assert taken.labels == 2
    told = "\n".join(taken.skipped)
    for words in ("no number", "no candidate 'nobody'", "no sample 'lost'", "names no sample",
                  "fewer than two answers", "two ranks"):  # fmt: skip
        assert words in told, words
    assert taken.n_skipped == len(taken.skipped) == 8
    bob = next(label for label in judged.select(Annotation) if label.annotator == "bob")
    assert [ranked.rank for ranked in bob.ranks] == [1, 1]


def test_pairs_and_whole_rankings_come_in_as_well(judged):
    one, two, three = (sample.source_id for sample in judged.select(Sample)[:3])
    h, d, b = JUDGED
    rows = [
        {"sample": one, "candidate_a": h, "candidate_b": d, "preferred": d},
        {"sample": one, "candidate_a": d, "candidate_b": h, "preferred": "A"},
        {"sample": one, "candidate_a": d, "candidate_b": b, "preferred": "TIE"},
        {"sample": one, "candidate_a": d, "candidate_b": d, "preferred": "a"},
        {"sample": one, "candidate_a": h, "candidate_b": b, "preferred": "green"},
        {"sample": two, "candidate_a": h, "candidate_b": d, "preferred": "a"},
        {"sample": two, "candidate_a": h, "candidate_b": d, "preferred": "b"},
        {"sample": three, "ranking": {h: 3, d: 1, b: 1}, "annotator": "eve"},
        {"sample": three},
    ]
    taken = take(judged, "\n".join(json.dumps(row) for row in rows), "r.jsonl")
    assert taken.labels == 3
    assert taken.annotators == ("eve", "people")
    told = "\n".join(taken.skipped)
    for words in ("the same one", "'green' is neither", "two orders", "neither candidate and rank"):
        assert words in told, words
    # h against d: both rows of the first sample say d. d against b: a tie. eve: d = b before h.
    view = view_of(judged)
    assert (view.people.pairs, view.people.samples) == (5, 2)
    assert view.people.ties == pytest.approx(2 / 5)


def test_files_that_hold_nothing_are_refused(judged):
    with pytest.raises(UsageError, match="ranks answers"):
        take(judged, "sample,candidate,rank\nlost,model-h,1\n")
    with pytest.raises(FormatError, match="empty"):
        take(judged, "")


def test_planting_needs_a_truth(judged):
    study = judged.select(Study)[0]
    taken = plant_rankings(judged, study.id)
    labels = judged.select(Annotation)
    assert taken.labels == len(labels) == SAMPLES * 3
    assert {label.annotator for label in labels} == {PLANTED}
    assert all("synthetic" in label.note for label in labels)
    once = {label.id: label.label for label in labels}
    plant_rankings(judged, study.id)
    assert {label.id: label.label for label in judged.select(Annotation)} == once
    judged.put([study.model_copy(update={"id": "bare", "name": "Bare"})])
    with pytest.raises(UsageError, match="no question of 'Bare' has two answers"):
        plant_rankings(judged, "Bare")
    judged.replace([study.model_copy(update={"synthetic": False})])
    with pytest.raises(UsageError, match="isn't synthetic"):
        plant_rankings(judged, study.id)


# --- people's labels of criteria -----------------------------------------------------------------


def test_labels_of_criteria_are_summed_up(judged):
    study = judged.select(Study)[0]
    data = open_study(judged, study.id)
    names = data.table.criterion_ids
    leaf_of = dict(zip(data.table.criterion.tolist(), data.table.leaf.tolist(), strict=True))
    right, other = (data.table.leaves[leaf_of[at]] for at in (0, len(names) - 1))
    assert right != other

    def label(kind, name, who, **more):
        return Annotation(id=Annotation.make_id(study.id, kind, name, who), study_id=study.id,
                          kind=kind, subject_id=name, annotator=who, **more)  # fmt: skip

    judged.put(
        [
            label("accuracy", names[0], "ann", value=3.0),
            label("accuracy", names[0], "bob", value=2.0),
            label("accuracy", names[1], "ann", value=1.0),
            label("accuracy", names[1], "ann2", value=7.0),
            label("necessity", names[0], "ann", value=3.0),
            label("accuracy", "gone", "ann", value=3.0),
            label("mapping", names[0], "ann", label=" > ".join(right)),
            label("mapping", names[0], "eve", label=" > ".join(right).upper()),
            label("mapping", names[-1], "ann", label=" › ".join(right)),
            label("mapping", names[-1], "bob", label=" › ".join(other)),
        ]
    )
    view = fidelity(judged, data)
    whole = view.quality[0].quality
    # Accuracy (3 + 2) / 2 = 2.5 and 1: mean 1.75, one of two under 2; necessity 3.
    assert (whole.accuracy.n, whole.accuracy.mean, whole.accuracy.ones) == (2, 1.75, 0.5)
    assert (whole.necessity.n, whole.necessity.mean) == (1, 3)
    assert (view.hits.leaf.n, view.hits.leaf.value, view.undecided) == (1, 1, 1)
    judged.put([label("mapping", names[-1], "eve", label=" › ".join(right), adjudicates=True)])
    again = fidelity(judged, data)
    assert (again.hits.leaf.n, again.hits.leaf.value, again.undecided) == (2, 0.5, 0)


def test_nothing_known_is_an_empty_view(judged):
    view = view_of(judged)
    assert (view.people.pairs, view.rows, view.quality, view.hits) == (0, (), (), None)
    assert view.compared == SAMPLES
    assert isinstance(judged, Store)
