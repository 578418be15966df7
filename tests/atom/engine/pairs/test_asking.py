"""Hard pairs of a study: drawn, asked, confirmed, and read back as the benchmarks' own files."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import zipfile
from dataclasses import replace

import pytest

from atom.engine.bench.sets import items_of
from atom.engine.consent import ConsentNeeded
from atom.engine.pairs import keeping
from atom.engine.pairs.asking import PairsSpec, draw, forecast_pairs
from atom.engine.pairs.keeping import keep_pairs
from atom.engine.people.annotations import give
from atom.engine.work import carry_out, open_work, run
from atom.errors import UsageError
from atom.exports.hard_pairs import READ_ME, VL_FILE, WARNING, pair_files
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judgebench.vl_rewardbench.ask import HARD_PART
from atom.probes.serving.faults import FaultPlan
from atom.records import BenchSet, Endpoint, Outcome, PairsTask, Prices, Run, Study, Verdict
from atom.store import Store, copy_study, table
from atom.store.reading.pairs import known_pairs
from atom.store.store import SEAL
from atom.views.lab.hard_pairs import hard_pairs, pair_runs
from atom.views.study_data import load_study
from tests.atom.engine.conftest import Counted

COIN, NOISY, SURE = "probe-judge-coin", "probe-judge-noisy", "probe-judge"


def spec_for(store, **told) -> PairsSpec:
    (study,) = store.select(Study)
    usual = {"study_id": study.id, "weak": (COIN, NOISY), "strong": SURE, "fail": 1, "votes": 2}
    return PairsSpec(**{**usual, **told})


@pytest.fixture(scope="session")
def hard_folder(judged_folder, tmp_path_factory):
    """Look for hard pairs, once."""
    folder = tmp_path_factory.mktemp("hard") / "store"
    shutil.copytree(judged_folder, folder)
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        asyncio.run(run(store, spec_for(store), known))
    return folder


@pytest.fixture
def hard(hard_folder, tmp_path):
    """Give each test its own copy."""
    shutil.copytree(hard_folder, tmp_path / "hard")
    with Store.open(tmp_path / "hard") as opened:
        yield opened


def test_a_right_answer_beats_a_wrong_one_and_people_beat_both(judged):
    (study,) = judged.select(Study)
    found = known_pairs(judged, study)
    right = {one.response_id: one.value for one in judged.select(Outcome)}
    by_outcome = [pair for pair in found.pairs if pair.by == "outcome"]
    assert by_outcome
    for pair in by_outcome:
        assert right[pair.a if pair.better == "a" else pair.b] == 1
        assert right[pair.b if pair.better == "a" else pair.a] == 0
    assert found.by == {"outcome": len(by_outcome), "score": len(found.pairs) - len(by_outcome)}
    assert found.compared == 30  # 10 samples, 3 answers each, 3 pairs of them
    assert {pair.by for pair in known_pairs(judged, study, ("score",)).pairs} == {"score"}
    first, second = by_outcome[:2]
    other = {"a": "b", "b": "a"}
    give(judged, study.id, "preference", first.name, "Ann", label=other[first.better])
    give(judged, study.id, "preference", second.name, "Ann", label="tie")
    now = {pair.name: pair for pair in known_pairs(judged, study).pairs}
    assert (now[first.name].by, now[first.name].better) == ("people", other[first.better])
    assert second.name not in now


def test_a_larger_draw_holds_a_smaller_one(judged):
    (study,) = judged.select(Study)
    pairs = known_pairs(judged, study).pairs
    few, many = draw(study.id, pairs, 4, 1), draw(study.id, pairs, None, 1)
    assert many[:4] == few
    assert len({pair.sample_id for pair in many}) == len(many)


def test_weak_judges_choose_and_a_strong_one_confirms(hard, endpoints):
    (row,), (study,) = hard.select(Run, table(Run).c.judge.is_(None)), hard.select(Study)
    view = hard_pairs(hard, load_study(hard, study.id))
    assert view is not None
    assert (row.state, view.run, view.asked) == ("done", row, len(row.task.pairs))
    assert row.message == f"{len(view.hard)} of {view.asked} pairs are hard"
    assert 0 < len(view.hard) < view.asked
    # Two weak judges, two votes in either order; the strong one only about what is hard.
    assert row.done == view.asked * 2 * 4 + 4 * len(view.hard)
    votes = hard.select(Verdict, table(Verdict).c.part == HARD_PART)
    asked = {one.subject_id for one in votes if one.judge == row.task.strong_id}
    assert asked == {case.pair.name for case in view.hard}
    assert {one.order for one in votes} == {"ab", "ba"}
    assert sum(view.decisions.values()) == len(view.hard)
    # The same again is the same run, with nothing left to ask.
    assert forecast_pairs(hard, spec_for(hard), endpoints).calls == 0
    assert open_work(hard, spec_for(hard), endpoints).id == row.id
    assert len(pair_runs(hard, study.id)) == 1
    # Weak judges get worse by more votes on what they chose; the coin doesn't on all pairs.
    for judge in view.judges:
        assert judge.hard[-1].value <= judge.hard[0].value + 1e-9
        assert judge.every[0].value > judge.hard[0].value


def refuse_second(read):
    """Return a reader that reads one set and refuses the next."""
    done = []

    def reads(*args, **more):
        done.append(args)
        if len(done) > 1:
            raise UsageError("unreadable")
        return read(*args, **more)

    return reads


def test_the_set_is_read_back_by_both_loaders_and_says_who_chose_it(hard, monkeypatch):
    (study,) = hard.select(Study)
    data = load_study(hard, study.id)
    view = hard_pairs(hard, data)
    first = next(case for case in view.hard if case.decision == "keep")
    # A person turns a pair round: it stays, the other way.
    turned = "b" if first.pair.better == "a" else "a"
    give(hard, study.id, "preference", first.pair.name, "Ann", label=turned)
    view = hard_pairs(hard, data)
    files = pair_files(hard, data, view)
    assert files.pairs == len(view.chosen()) > 0
    assert WARNING in files.texts[READ_ME]
    rows = [json.loads(line) for line in files.texts[VL_FILE].splitlines()]
    assert {tuple(one["chosen_by"]) for one in rows} == {(COIN, NOISY)}
    assert zipfile.ZipFile(io.BytesIO(files.zipped())).testzip() is None
    kept = keep_pairs(hard, study, view.run, files.texts, files.pictures)
    assert [one.benchmark for one in kept] == ["vl_rewardbench", "multi_crit"]
    assert all(one.synthetic and not one.skipped for one in kept)
    pairs, criteria = (items_of(hard, one.id) for one in kept)
    assert len(pairs) == len(criteria) == files.pairs
    better = {tuple(item.data["responses"]): item.data["better"] for item in pairs}
    whole = {
        (item.data["pred_a"], item.data["pred_b"]): next(
            one["label"] for one in item.data["criteria"] if one["key"] == "overall"
        )
        for item in criteria
    }
    assert better == whole
    assert all(item.data["chosen_by"] == [COIN, NOISY] for item in pairs)
    assert all(slot.picture_id for item in pairs for slot in item.pictures)
    (case,) = [one for one in view.chosen() if one.pair.name == first.pair.name]
    assert (case.decision, case.better) == ("invert", turned)
    # Once more replaces the sets: both, or none where the second can't be kept.
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "read_set", refuse_second(keeping.read_set))
        with pytest.raises(UsageError, match="unreadable"):
            keep_pairs(hard, study, view.run, files.texts, files.pictures)
    assert [len(items_of(hard, one.id)) for one in kept] == [files.pairs] * 2
    again = keep_pairs(hard, study, view.run, files.texts, files.pictures)
    assert [one.id for one in again] == [one.id for one in kept]


async def test_a_stopped_run_goes_on_and_asks_nothing_twice(judged, endpoints):
    spec = spec_for(judged, strong=None, limit=4, votes=1)
    calls = forecast_pairs(judged, spec, endpoints).calls
    assert calls == 4 * 2 * 2
    row = open_work(judged, spec, endpoints)
    down = Counted(faults=FaultPlan(rates={"reset": 0.5}, tries=100))
    once = {name: one.model_copy(update={"max_tries": 1}) for name, one in endpoints.items()}
    await carry_out(judged, row.id, once, make=down.make)
    left = forecast_pairs(judged, replace(spec, retry_failed=True), endpoints).calls
    assert 0 < left < calls
    again = Counted()
    ended = await carry_out(judged, row.id, endpoints, retry_failed=True, make=again.make)
    assert (ended.state, again.total) == ("done", left)
    votes = judged.select(Verdict, table(Verdict).c.part == HARD_PART)
    assert (len(votes), {one.state for one in votes}) == (calls, {"scored"})
    (study,) = judged.select(Study)
    view = hard_pairs(judged, load_study(judged, study.id))
    assert set(view.decisions) <= {"open"}
    assert view.chosen() == ()


def test_what_cannot_be_asked_says_what_helps(judged, endpoints):
    for told, words in (
        ({"weak": ()}, "at least one weak judge"),
        ({"strong": COIN}, "can't confirm what it chose"),
        ({"votes": 0}, "1 to 20"),
        ({"fail": 3}, "of 2 weak judges"),
        ({"gap": 0.0}, "more than 0"),
        ({"by": ("people",)}, "fidelity rankings"),
    ):
        with pytest.raises(UsageError, match=words):
            forecast_pairs(judged, spec_for(judged, **told), endpoints)


def test_nothing_goes_to_a_host_that_nobody_agreed_to(judged, endpoints):
    far = Endpoint(name="far", base_url="https://judge.example/v1", model="far", roles=("judge",),
                   prices=Prices(input=1, output=1))  # fmt: skip
    known = {**endpoints, "far": far}
    with pytest.raises(ConsentNeeded, match=r"judge\.example"):
        open_work(judged, spec_for(judged, strong="far"), known)
    told = forecast_pairs(judged, replace(spec_for(judged), strong="far", limit=2), known)
    assert told.later_cost > 0
    assert not judged.select(Run, table(Run).c.study_id == "nobody")


def test_a_run_says_whom_it_asks(judged, endpoints):
    row = open_work(judged, spec_for(judged, limit=3), endpoints)
    assert isinstance(row.task, PairsTask)
    assert row.asked == (COIN, NOISY, SURE)
    assert (row.kind, len(row.task.pairs)) == ("pairs", 3)


@pytest.fixture
def bundled(project, tmp_path):
    """Open a copy of the bundled study, whose hard pairs `demo build` made."""
    shutil.copytree(project / "data" / "demo", tmp_path / "own")
    (tmp_path / "own" / SEAL).unlink()
    with Store.open(tmp_path / "own") as opened:
        yield opened


@pytest.mark.slow
def test_the_bundled_studys_hard_pairs_are_read_back_and_only_worse_by_more_votes(bundled):
    (study,) = bundled.select(Study)
    data = load_study(bundled, study.id)
    view = hard_pairs(bundled, data)
    files = pair_files(bundled, data, view)
    assert files.pairs == len(view.chosen()) == view.decisions["keep"] > 10
    assert not view.decisions.get("open")
    # Our own loader reads the files again, in place of the set that is in the bundle: the same.
    kept = {one.benchmark: one for one in bundled.select(BenchSet) if "Hard pairs" in one.name}
    there = [item.data for item in items_of(bundled, kept["vl_rewardbench"].id)]
    again = keep_pairs(bundled, study, view.run, files.texts, files.pictures)
    (read,) = [one for one in again if one.benchmark == "vl_rewardbench"]
    assert (read.id, read.skipped) == (kept["vl_rewardbench"].id, kept["vl_rewardbench"].skipped)
    assert [item.data for item in items_of(bundled, read.id)] == there
    assert len(there) == files.pairs
    # The coin fails at every one: each further vote makes it worse there, hardly on all pairs, and
    # votes that didn't choose are right more often (METHODS T9). The noisy one chose few of them.
    noisy, coin = view.judges
    failed = [view.asked - one.stands["right"] for one in view.judges]
    assert (noisy.name, coin.name, failed[1]) == (NOISY, COIN, len(view.hard))
    assert failed[0] < len(view.hard) / 2
    hard, every = ([point.value for point in points] for points in (coin.hard, coin.every))
    assert hard == sorted(hard, reverse=True)
    assert hard[0] - hard[-1] > 0.1 > every[0] - every[-1]
    assert coin.fresh > hard[0]
    assert view.strong == SURE
    # A copy of one's own has the same four steps.
    mine = copy_study(bundled, bundled, study.id, "Mine")
    copied = hard_pairs(bundled, load_study(bundled, mine.id))
    assert copied is not None
    assert view.run.id == view.task.run_id(study.id) != copied.run.id
    assert (
        forecast_pairs(
            bundled,
            PairsSpec(
                study_id=mine.id,
                weak=view.task.weak,
                strong=SURE,
                votes=view.task.votes,
                fail=view.task.fail,
                pairs=view.task.pairs,
            ),
            {one.name: one for one in builtin_endpoints()},
        ).calls
        == 0
    )
    assert (copied.cases, copied.judges) == (view.cases, view.judges)
