"""Boxes of replies that are there, read once more: by what is known of the endpoint now.

A study may be judged before anybody has found out how its judge writes boxes. The replies are
kept, so nothing has to be asked again; only regions and their notes change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from atom.engine.items import read_material
from atom.engine.replies import reread
from atom.errors import PictureError
from atom.judge import PictureCache, Reply, Request
from atom.records import (
    Call,
    CriteriaSet,
    CriterionUse,
    Endpoint,
    Record,
    Region,
    Replay,
    ReplayStep,
    Sample,
    Study,
)
from atom.stages import criteria, replay
from atom.stages.schemas import CRITERIA, REPLAY, Schema
from atom.stages.sight import Material, SightContext
from atom.store import Store, study_places, table

_CHUNK = 200
_OF_BOXES = ("box", "region", "no picture")
R = TypeVar("R", Replay, CriteriaSet)


@dataclass(kw_only=True)
class ReadAgain:
    """What came of reading boxes again.

    Args:
        kept: whether it was written; otherwise it says what would be.
        solutions: solutions whose regions changed.
        criteria: sets of criteria whose regions changed.
        same: solutions and sets that were read to the same regions.
        left: solutions and sets that couldn't be read again, by the reason.
    """

    study: Study
    kept: bool
    solutions: int = 0
    criteria: int = 0
    same: int = 0
    left: dict[str, int] = field(default_factory=dict)

    def leave(self, why: str) -> None:
        """Count one that stays as it is."""
        self.left[why] = self.left.get(why, 0) + 1


async def read_boxes_again(
    store: Store, study: Study, endpoints: Mapping[str, Endpoint], *, keep: bool = True
) -> ReadAgain:
    """Read the boxes of a study's stored replies again.

    Args:
        endpoints: the endpoints as they are now, by name.
        keep: write; False only says what would change.

    Returns:
        What came of it. Sets that a person edited stay, as does what has no stored reply.

    Raises:
        ReadOnlyError: the store is sealed.
    """
    if keep:
        store.must_be_open()
    cache = PictureCache()
    sights = {name: SightContext(endpoint=one, cache=cache) for name, one in endpoints.items()}
    done = ReadAgain(study=study, kept=keep)
    for sample, records in _judged(store, study.id):
        changed: list[Record] = []
        for record in records:
            new = await _again(store, sample, record, sights, done)
            if new is not None:
                changed.append(new)
        if changed and keep:
            with store.write() as writer:
                writer.replace(changed)
    return done


def _judged(store: Store, study_id: str) -> Iterator[tuple[Sample, list[Replay | CriteriaSet]]]:
    """Go through a study's samples with their solutions and sets of criteria that have a reply."""
    ids = [place.sample_id for place in study_places(store, study_id)]
    for start in range(0, len(ids), _CHUNK):
        part = ids[start : start + _CHUNK]
        found: dict[str, list[Replay | CriteriaSet]] = {}
        for solved in _scored(store, Replay, part):
            found.setdefault(solved.sample_id, []).append(solved)
        for cut in _scored(store, CriteriaSet, part):
            found.setdefault(cut.sample_id, []).append(cut)
        for sample in store.get_many(Sample, list(found)):
            yield sample, found[sample.id]


def _scored(store: Store, kind: type[R], sample_ids: Sequence[str]) -> list[R]:
    column = table(kind).c
    return store.select(
        kind,
        column.sample_id.in_(sample_ids),
        column.state == "scored",
        column.call_id.is_not(None),
    )


async def _again(
    store: Store,
    sample: Sample,
    record: Replay | CriteriaSet,
    sights: Mapping[str, SightContext],
    done: ReadAgain,
) -> Replay | CriteriaSet | None:
    """Read one record's reply again; None where nothing changes, which is counted."""
    if isinstance(record, CriteriaSet) and record.source != "judge":
        done.leave("a person has edited it")
        return None
    call = store.get(Call, record.call_id or "")
    if call is None or call.reply is None:
        done.leave("its reply isn't stored")
        return None
    sight = sights.get(call.endpoint)
    if sight is None:
        done.leave(f"{call.endpoint!r} is no endpoint any more")
        return None
    try:
        material = await sight.seen(read_material(store, sample))
        new = await _reread(store, material, record, call)
    except PictureError:
        done.leave("a picture of its sample isn't there")
        return None
    if new is None:
        done.leave("its reply reads otherwise than it did")
    elif new == record:
        done.same += 1
    else:
        done.solutions += isinstance(record, Replay)
        done.criteria += isinstance(record, CriteriaSet)
        return new
    return None


async def _reread(
    store: Store, material: Material, record: Replay | CriteriaSet, call: Call
) -> Replay | CriteriaSet | None:
    """Return the record with regions as they are read now; None where the rest reads otherwise."""
    sample, judge, settings = material.sample, record.judge_id, record.sampling
    if isinstance(record, Replay):
        reply = _reply(call, REPLAY)
        space = await material.shown(reply)
        solved = replay.parse(reply, sample, judge, settings, record.repeat, space=space)
        if [step.text for step in solved.steps] != [step.text for step in record.steps]:
            return None
        steps = tuple(
            ReplayStep.model_validate({**old.model_dump(), "regions": new.regions})
            for old, new in zip(record.steps, solved.steps, strict=True)
        )
        notes = _notes(record.detail.split("; "), solved.detail.split("; "))
        return record.model_copy(update={"steps": steps, "detail": "; ".join(notes)})
    solution = store.get(Replay, record.replay_id or "")
    if solution is None:
        return None
    reply = _reply(call, CRITERIA)
    space = await material.shown(reply, copied=True)
    cut = criteria.parse(reply, sample, solution, judge, settings, record.repeat, space=space)
    found: dict[str, tuple[Region, ...]] = {
        use.criterion_id: use.regions for use in cut.criteria_set.uses
    }
    if set(found) != {use.criterion_id for use in record.uses}:
        return None
    uses = tuple(
        CriterionUse.model_validate({**use.model_dump(), "regions": found[use.criterion_id]})
        for use in record.uses
    )
    notes = _notes(record.adjustments, cut.criteria_set.adjustments)
    return record.model_copy(update={"uses": uses, "adjustments": tuple(notes)})


def _reply(call: Call, schema: Schema) -> Reply:
    """Read a stored call again as what it answered."""
    request = Request(
        task=call.task, prompt_id=call.prompt, system="", parts=(), schema=schema,
        schema_name=f"atomscope_{call.task}",
    )  # fmt: skip
    return reread(request, call)


def _notes(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Keep the notes that aren't about boxes, and take those that are from the new reading."""

    def of_boxes(note: str) -> bool:
        return any(word in note for word in _OF_BOXES)

    boxes = [note for note in now if note and of_boxes(note)]
    if set(boxes) == {note for note in before if of_boxes(note)}:
        return [note for note in before if note]
    return [*(note for note in before if note and not of_boxes(note)), *boxes]
