"""Boxes that were read before anybody knew the convention are read again; nothing is asked."""

from __future__ import annotations

import pytest

from atom.engine.imports.boxes_again import read_boxes_again
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import ReadOnlyError
from atom.judge import JudgeClient
from atom.probes.serving.transport import ProbeTransport
from atom.records import CriteriaSet, PictureLimit, Replay
from atom.store import Store
from tests.habits import HabitualEndpoint


def boxes_of(store) -> list[tuple[int, ...]]:
    steps = [step for one in store.select(Replay) for step in one.steps]
    uses = [use for one in store.select(CriteriaSet) for use in one.uses]
    return sorted(region.box for part in (*steps, *uses) for region in part.regions)


async def judged_by(store, study, endpoints, habit, boxes):
    """Judge the study by a judge of this habit that is taken for one of another."""
    judge = endpoints["probe-judge"].model_copy(
        update={"boxes": boxes, "pictures": PictureLimit(max_side=300)}
    )

    def make(endpoint, spend, pictures):
        transport = ProbeTransport(HabitualEndpoint(habit))
        return JudgeClient(endpoint, spend=spend, pictures=pictures, transport=transport)

    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay", "criteria"))
    known = {**endpoints, "probe-judge": judge}
    await run(store, spec, known, make=make)
    return known


@pytest.mark.slow
@pytest.mark.parametrize("habit", ["yxyx_1000", "xyxy_pixels"])
async def test_a_convention_found_later_is_applied(store, study, endpoints, habit, twin_place):
    with Store.open(twin_place) as twin:
        await judged_by(twin, study, endpoints, habit, habit)
        right = boxes_of(twin)
        replies = {one.id: one.detail for one in twin.select(Replay)}
    known = await judged_by(store, study, endpoints, habit, None)
    assert boxes_of(store) != right
    told = {
        **known, "probe-judge": known["probe-judge"].model_copy(update={"boxes": habit})
    }  # fmt: skip
    tried = await read_boxes_again(store, study, told, keep=False)
    assert boxes_of(store) != right
    done = await read_boxes_again(store, study, told)
    assert (done.solutions, done.criteria) == (tried.solutions, tried.criteria)
    assert done.solutions > 0
    assert done.left == {}
    assert boxes_of(store) == right
    assert {one.id: one.detail for one in store.select(Replay)} == replies
    again = await read_boxes_again(store, study, told)
    assert (again.solutions, again.criteria) == (0, 0)


async def test_what_cant_be_read_again_is_counted(store, study, endpoints, place):
    known = await judged_by(store, study, endpoints, "xyxy_1000", None)
    done = await read_boxes_again(store, study, {})
    assert done.left == {"'probe-judge' is no endpoint any more": 12}
    one = store.select(CriteriaSet)[0]
    store.replace([one.model_copy(update={"source": "hand"})])
    done = await read_boxes_again(store, study, known)
    assert done.left == {"a person has edited it": 1}
    assert done.same == 11
    store.close()
    with Store.open(place, read_only=True) as sealed, pytest.raises(ReadOnlyError, match="copy it"):
        await read_boxes_again(sealed, study, known)
