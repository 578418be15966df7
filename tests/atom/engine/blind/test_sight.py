"""Does the judge look: asked of planted judges, stopped, resumed, priced, kept apart."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from atom.display import writers
from atom.engine.blind.sight import SightSpec, forecast_sight, lay_sight, other_samples
from atom.engine.consent import ConsentNeeded
from atom.engine.work import carry_out, open_work, run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.methods.sight import DESCRIBED, MARKS, NOTE, OTHER, SIGHT_PART, shown_of
from atom.probes import eyes
from atom.probes.serving.faults import FaultPlan
from atom.records import Checkpoint, PictureSlot, Prices, Run, Sample, Study, Tag, Verdict
from atom.store import Store, copy_study, table
from atom.views.filters import Filters
from atom.views.judges.sight_table import every, sight_table
from atom.views.lab.fidelity.tab import fidelity
from atom.views.lab.sight import said_of, sight_runs, sight_view
from atom.views.study_data import load_study
from tests.atom.engine.conftest import Counted

SIGHTED, SIGHTLESS = eyes.SIGHTED, eyes.SIGHTLESS


def spec_for(store: Store, **told) -> SightSpec:
    (study,) = store.select(Study)
    return SightSpec(**{"study_id": study.id, "judge": SIGHTED, "answers": 1, **told})


@pytest.fixture(scope="session")
def looked_folder(judged_folder, tmp_path_factory):
    """Ask a judge that looks and one that doesn't, once."""
    folder = tmp_path_factory.mktemp("looked") / "store"
    shutil.copytree(judged_folder, folder)
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        for judge in (SIGHTED, SIGHTLESS):
            asyncio.run(run(store, spec_for(store, judge=judge), known))
    return folder


@pytest.fixture
def looked(looked_folder, tmp_path):
    """Give each test its own copy."""
    shutil.copytree(looked_folder, tmp_path / "looked")
    with Store.open(tmp_path / "looked") as opened:
        yield opened


def view_of(store: Store, judge: str, **told):
    (study,) = store.select(Study)
    row = next(one for one in sight_runs(store, study.id) if one.judge == judge)
    return sight_view(store, load_study(store, study.id), Filters(study=study.id), row.id, **told)


@pytest.mark.slow
def test_the_judge_that_looks_moves_where_it_should_and_the_other_nowhere(looked, endpoints):
    seeing, blind = view_of(looked, SIGHTED), view_of(looked, SIGHTLESS)
    for view in (seeing, blind):
        assert (view.questions, view.answers, view.how) == (10, 10, "branches")
        assert view.chosen == ("Perception",)
        assert view.unread == {}
        assert {name for name, _ in view.sight.by} == {"again", "none", "other", "caption"}
    for name in ("none", "other"):
        assert seeing.sight.by[name, "visual"].moved.value > 0.2
        assert seeing.sight.by[name, "rest"].moved.value == 0
        assert blind.sight.by[name, "visual"].moved.value == 0
        assert blind.sight.by[name, "visual"].shift.value == 0
    # What is described is seen: no mark moves; and nothing moves when the picture is shown again.
    assert seeing.sight.by["caption", "all"].moved.value == 0
    assert seeing.sight.by["again", "all"].moved.value == 0
    assert all(case.visual for case in seeing.cases)
    assert blind.cases == ()
    # Ten questions are too few to say a word of a judge.
    assert seeing.sight.finding == "few"
    assert said_of(seeing).startswith("Too few questions to say: 10 of the 20")
    # A reader's own choice of branches counts.
    other = view_of(looked, SIGHTED, visual=("Reasoning",))
    assert other.chosen == ("Reasoning",)
    assert other.sight.by["other", "visual"].moved.value == 0
    head, *lines = writers.csv(every(seeing)).splitlines()
    assert head == (
        "judge,shown,criteria,marks,questions,moved,moved_lo,moved_hi,silent,shift,shift_lo,"
        "shift_hi,size,excess,excess_lo,excess_hi"
    )
    none = seeing.sight.by["none", "visual"].moved
    first = sight_table(seeing).rows.index(("none", "visual", seeing.sight.by["none", "visual"]))
    assert f"{100 * none.value:.0f} %" in writers.lines(sight_table(seeing))[1 + first]
    assert len(lines) == 12  # four conditions, two kinds of criteria and both


@pytest.mark.slow
def test_nothing_of_it_counts_as_a_mark_and_the_same_again_costs_nothing(looked, endpoints):
    (study,) = looked.select(Study)
    said = looked.select(Verdict, table(Verdict).c.part.startswith(SIGHT_PART))
    assert {shown_of(one.part)[0] for one in said if one.part != DESCRIBED} == {
        "picture", "again", "none", "other", "caption",
    }  # fmt: skip
    # 10 answers in 5 ways, and 10 descriptions, of each judge
    assert len(said) == 2 * (10 * 5 + 10)
    assert all(one.data[OTHER] != one.subject_id for one in said if OTHER in one.data)
    ids = {one.judge for one in said}
    assert not looked.select(Checkpoint, table(Checkpoint).c.judge_id.in_(ids))
    data = load_study(looked, study.id)
    assert not ids & {one.id for one in data.judges}
    assert not ids & {one for one, _ in fidelity(looked, data).judges}
    assert forecast_sight(looked, spec_for(looked), endpoints).calls == 0
    rows = looked.select(Run, table(Run).c.judge == SIGHTED)
    assert open_work(looked, spec_for(looked), endpoints).id == rows[0].id


@pytest.mark.slow
async def test_a_stopped_run_goes_on_with_the_same_questions(judged, endpoints):
    quick = {n: e.model_copy(update={"max_tries": 1}) for n, e in endpoints.items()}
    spec = spec_for(judged, samples=2, shown=("picture", "none"))
    row = open_work(judged, spec, quick)
    down = Counted(faults=FaultPlan(rates={"reset": 1.0}, tries=100))
    ended = await carry_out(judged, row.id, quick, make=down.make)
    assert ended.failed == ended.done == 4
    assert view_of(judged, SIGHTED).unread == {"picture": 2, "none": 2}
    up = Counted()
    ended = await carry_out(judged, row.id, quick, retry_failed=True, make=up.make)
    assert (ended.state, up.total) == ("done", 4)
    assert view_of(judged, SIGHTED).questions == 2
    # More questions hold these: two more are asked about.
    more = spec_for(judged, samples=4, shown=("picture", "none"))
    assert forecast_sight(judged, more, endpoints).by == {"picture": 2, "none": 2}


async def test_its_own_mark_in_the_study_is_the_second_look(judged, endpoints):
    told = forecast_sight(judged, spec_for(judged, judge="probe-judge", samples=3), endpoints)
    assert (told.own, told.by.get("again")) == (3, None)
    assert (told.calls, told.descriptions) == (3 * 4 + 3, 3)
    await run(judged, spec_for(judged, judge="probe-judge", samples=3), endpoints)
    view = view_of(judged, "probe-judge")
    assert view.own == 3
    assert view.sight.by["again", "all"].moved.value == 0
    # The exact judge reads nothing but a probe's own picture.
    assert view.sight.by["none", "all"].silent == 1


def test_a_label_that_describes_pictures_saves_the_description(judged, endpoints):
    ground = lay_sight(judged, spec_for(judged, samples=1), endpoints)
    (item,) = ground.worklist.items
    judged.put([
        Tag(subject="sample", subject_id=item.sample.id, source="file", facet="caption",
            value="Two bars.")
    ])  # fmt: skip
    told = forecast_sight(judged, spec_for(judged, samples=1), endpoints)
    assert told.descriptions == 0
    assert told.by["caption"] == 1
    (item,) = lay_sight(judged, spec_for(judged, samples=1), endpoints).worklist.items
    request = ground.worklist.ask(item, "caption", item.described).build()
    assert f"{NOTE} Two bars." in request.parts[-1].text
    assert len(request.parts) == 1  # no picture goes along


def test_the_probe_knows_the_note_behind_a_question():
    assert eyes.NOTE == NOTE


def test_what_is_sent_and_paid_is_said_before(judged, endpoints):
    far = endpoints[SIGHTED].model_copy(
        update={"name": "far", "base_url": "https://judge.example/v1", "model": "far",
                "prices": Prices(input=1.0, output=2.0)}
    )  # fmt: skip
    known = {**endpoints, "far": far}
    told = forecast_sight(judged, spec_for(judged, judge="far", samples=3), known)
    assert told.calls == 3 * 5 + 3
    assert told.cost is not None
    assert 0 < told.cost < 1
    with pytest.raises(ConsentNeeded):
        open_work(judged, spec_for(judged, judge="far", samples=3), known)
    ground = lay_sight(judged, spec_for(judged, judge="far", samples=1), known)
    (item,) = ground.worklist.items
    own, other = (ground.worklist.ask(item, name).build() for name in ("picture", "other"))
    assert own.parts[-1] == other.parts[-1]  # the words are the same
    assert own.parts[0].sha256 != other.parts[0].sha256


def test_what_can_t_be_asked_says_what_to_do(store, judged, endpoints):
    with pytest.raises(UsageError, match="cut criteria first"):
        lay_sight(store, spec_for(store), endpoints)
    with pytest.raises(UsageError, match="nothing is compared"):
        lay_sight(judged, spec_for(judged, shown=("picture", "again")), endpoints)
    with pytest.raises(UsageError, match="at least 1"):
        lay_sight(judged, spec_for(judged, samples=0), endpoints)
    with pytest.raises(UsageError, match="1 to 20"):
        lay_sight(judged, spec_for(judged, answers=21), endpoints)


def test_another_s_picture_has_another_known_answer():
    def sample(name: str, picture: str, reference: str | None, **told) -> Sample:
        return Sample(
            id=name, dataset="d", question="?", reference=reference,
            pictures=(PictureSlot(picture_id=picture),), **told,
        )  # fmt: skip

    samples = {
        one.id: one
        for one in (
            sample("a", "p1", "4"), sample("b", "p1", "5"), sample("c", "p2", " 4 "),
            sample("d", "p3", "6", cluster="x"), sample("e", "p4", "7", cluster="x"),
        )
    }  # fmt: skip
    found = other_samples("s", samples, list(samples))
    assert found == other_samples("s", samples, list(samples))
    assert found["a"].id in ("d", "e")  # b shares the picture, c the answer
    assert found["d"].id in ("a", "b", "c")  # e is of the same pictures' set
    assert other_samples("s", {"a": samples["a"], "c": samples["c"]}, ["a"]) == {}
    assert MARKS == "marks"


@pytest.mark.slow
def test_a_copy_of_the_study_says_the_same(looked):
    (study,) = looked.select(Study)
    (first, second) = (view_of(looked, judge) for judge in (SIGHTED, SIGHTLESS))
    copy = copy_study(looked, looked, study.id, "Mine")
    data = load_study(looked, copy.id)
    for view in (first, second):
        mine = sight_view(looked, data, Filters(study=copy.id), view.run.task.run_id(copy.id))
        assert (mine.judge, mine.marks, said_of(mine)) == (view.judge, view.marks, said_of(view))
        assert mine.run.id != view.run.id
