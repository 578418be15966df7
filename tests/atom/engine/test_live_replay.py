from __future__ import annotations

import pytest

from atom.engine.live_replay import Live, upload_sample
from atom.engine.members import judge_of, study_tree
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import ReadOnlyError, UsageError
from atom.judge import JudgeClient, PictureCache
from atom.pipeline import ANSWER, CRITERIA, REPLAY, SCORING
from atom.probes.serving.transport import ProbeTransport
from atom.records import Call, Checkpoint, PictureLimit, Prices, Response
from atom.stages import criteria
from atom.stages.criteria import EditedCriterion, edited
from atom.store import Store, study_places
from tests.habits import HABITS, HabitualEndpoint
from tests.live import answered, checked, cut, hang, score, solve


@pytest.fixture
def live(store, study, endpoints, counted) -> Live:
    place = study_places(store, study.id)[0]
    tree, _ = study_tree(store, study, "")
    made = Live.of_study(store, place.sample_id, endpoints["probe-judge"], study, tree)
    return Live(**{**vars(made), "make": counted.make})


async def test_one_sample_goes_through_the_stages_step_by_step(live, endpoints):
    solved = await solve(live)
    assert solved.state == "scored"
    result = await cut(live, solved)
    assert sum(use.weight for use in result.criteria_set.uses) == 10
    mappings = await hang(live, result)
    assert {m.state for m in mappings} == {"scored"}
    response, verdict = await answered(live, endpoints["model-a"])
    assert response.state == "scored"
    points = await score(live, result, response)
    assert [p.criterion_id for p in points] == [c.id for c in result.criteria]
    assert verdict is not None or (await checked(live, response)).state == "scored"


async def test_text_streams_in_while_a_step_is_taken(live):
    pieces = []
    solved = await solve(live, pieces.append)
    assert solved.steps[0].text in "".join(pieces).encode().decode("unicode_escape") or pieces
    assert len(pieces) > 1


async def test_criteria_can_be_changed_between_the_steps(live, endpoints):
    solved = await solve(live)
    result = await cut(live, solved)
    response, _ = await answered(live, endpoints["model-a"])
    before = await score(live, result, response)
    by_id = {c.id: c for c in result.criteria}
    rows = [
        EditedCriterion(
            question=by_id[use.criterion_id].question,
            ground_truth=by_id[use.criterion_id].ground_truth,
            weight=use.weight,
        )
        for use in reversed(result.criteria_set.uses)
    ]
    mine = edited(live.sample, live.judge_id, solved.id, rows)
    after = await score(live, mine, response)
    assert {p.key: p.score for p in after} == {p.key: p.score for p in before}


async def test_faulty_criteria_go_back_once_here_too(live, monkeypatch):
    solved = await solve(live)
    fault = "criterion 1 can be answered by yes or no"
    monkeypatch.setattr(criteria, "broken_rules", lambda *_, **__: (fault,))
    pieces: list[str] = []
    result = await cut(live, solved, pieces.append)
    assert result.criteria_set.state == "unscored"
    assert result.criteria_set.detail.count(fault) == 2
    assert [call.task for call in live.calls] == ["replay", "criteria", "criteria"]
    assert len({call.id for call in live.calls}) == 3
    assert "".join(pieces).count('"criteria"') == 2


def habitual(live: Live, habit: str, boxes: str | None) -> Live:
    """Let a judge point in its own way at pictures that were scaled for it."""
    endpoint = live.judge.model_copy(
        update={"name": habit, "boxes": boxes, "pictures": PictureLimit(max_side=300)}
    )

    def make(asked, spend, pictures):
        transport = ProbeTransport(HabitualEndpoint(habit))
        return JudgeClient(asked, spend=spend, pictures=pictures, transport=transport)

    return Live(**{**vars(live), "judge": endpoint, "make": make, "_cache": PictureCache()})


@pytest.mark.parametrize("habit", HABITS)
async def test_boxes_of_each_convention_land_where_the_judge_pointed(live, habit):
    plain, asked = await solve(live), habitual(live, habit, habit)
    solved = await solve(asked)
    # Half a pixel of 300 is 1.7 thousandths.
    assert near(solved.steps, plain.steps)
    first, second = await cut(live, plain), await cut(asked, solved)
    assert near(second.criteria_set.uses, first.criteria_set.uses)
    assert "dropped" not in solved.detail


def near(found, meant) -> bool:
    assert len(found) == len(meant)
    pairs = [
        (a.box, b.box)
        for one, other in zip(found, meant, strict=True)
        for a, b in zip(one.regions, other.regions, strict=True)
    ]
    assert pairs
    return all(abs(x - y) <= 3 for a, b in pairs for x, y in zip(a, b, strict=True))


async def test_boxes_of_another_convention_are_dropped_with_a_note(live):
    solved = await solve(habitual(live, "xyxy_unit", "xyxy_1000"))
    assert solved.state == "scored"
    assert not any(step.regions for step in solved.steps)
    assert "isn't in thousandths and was dropped" in solved.detail


async def test_a_stored_reply_is_read_again_to_the_same_boxes(live, store, study):
    asked = habitual(live, "xyxy_pixels", "xyxy_pixels")
    solved = await solve(asked)
    result = await cut(asked, solved)
    asked.save(store, study.id, solved=solved, result=result)
    again = habitual(live, "xyxy_pixels", "xyxy_pixels")
    assert again.price(CRITERIA, again.about(replay=solved)).cost == 0.0
    assert (await solve(again)).steps == solved.steps


async def test_steps_have_a_price_beforehand(live, endpoints):
    dear = endpoints["probe-judge"].model_copy(update={"prices": Prices(input=1.0, output=1.0)})
    asked = Live(**{**vars(live), "judge": dear})
    assert asked.price(REPLAY, asked.about()).cost > 0
    assert asked.price(ANSWER, asked.about(), endpoints["model-a"]).cost == 0
    with pytest.raises(UsageError, match="step before"):
        asked.price(SCORING, asked.about())
    assert asked.spent == 0
    await solve(asked)
    assert asked.spent > 0


async def test_replies_that_the_store_holds_are_used_again(live, store, study, endpoints, counted):
    await run(store, RunSpec(study_id=study.id, judge="probe-judge", candidates=("model-a",)),
              endpoints, make=counted.make)  # fmt: skip
    sent, said = counted.total, []
    solved = await solve(live, said.append)
    await cut(live, solved)
    assert counted.total == sent
    assert said


async def test_what_was_made_can_be_saved_into_a_study(live, store, study, endpoints):
    solved = await solve(live)
    result = await cut(live, solved)
    mappings = await hang(live, result)
    response, verdict = await answered(live, endpoints["model-b"])
    points = await score(live, result, response)
    place = live.save(
        store,
        study.id,
        solved=solved,
        result=result,
        mappings=mappings,
        answers=[(endpoints["model-b"], response)],
        others=[*points, *([verdict] if verdict else [])],
    )
    assert study_places(store, study.id)[0] == place
    assert place.criteria_set_id == result.criteria_set.id
    assert {p.key for p in store.select(Checkpoint)} == {p.key for p in points}
    assert store.get(Response, response.id) == response
    assert len(store.select(Call)) >= 5


async def test_an_upload_becomes_a_sample_and_can_be_saved(store, study, endpoints, counted):
    probe = store.select(type(study_places(store, study.id)[0]))[0]
    from atom.records import Sample

    source = store.get(Sample, probe.sample_id)
    data = [store.pictures.read(slot.picture_id) for slot in source.pictures]
    sample, parts = upload_sample(
        source.question, data, choices=source.choices, reference=source.reference
    )
    assert sample.synthetic
    assert sample.id != source.id
    live = Live(sample=sample, pictures=parts, judge=endpoints["probe-judge"], make=counted.make)
    solved = await solve(live)
    place = live.save(store, study.id, solved=solved, result=None)
    assert place.position == len(study_places(store, study.id)) - 1
    assert place.replay_id == solved.id
    (now,) = store.select(type(study))
    assert now.judge_id == judge_of(endpoints["probe-judge"]).id


def test_an_upload_needs_a_question():
    with pytest.raises(UsageError, match="question is empty"):
        upload_sample("  ", [])


async def test_a_sealed_store_takes_nothing(live, place, study):
    with Store.open(place, read_only=True) as sealed, pytest.raises(ReadOnlyError):
        live.save(sealed, study.id, solved=None, result=None)
