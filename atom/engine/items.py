"""What an item is about, and doing it."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from functools import partial
from typing import TypeVar

from atom.engine.imports.attaching import HOW
from atom.engine.plan import Item, PlanKeys, RecordState, SampleState
from atom.errors import PictureError, StoreError
from atom.judge import PicturePart
from atom.pipeline import BY_NAME
from atom.records import CriteriaSet, Criterion, Record, Replay, Response, Sample
from atom.stages.sight import Material, SightContext
from atom.stages.stage import Ask, Setting, StageResult, Subject
from atom.store import Store
from taxonomy import Tree

R = TypeVar("R", Sample, Replay, CriteriaSet, Criterion, Response)
KEPT = (Replay, CriteriaSet, Criterion, Response)
"""Kinds of records that later items of the same sample need."""


def read_material(store: Store, sample: Sample) -> Material:
    """Find a sample's pictures.

    Raises:
        PictureError: one isn't attached.
    """
    parts = []
    for number, slot in enumerate(sample.pictures, start=1):
        if slot.picture_id is None:
            raise PictureError(
                f"picture {number} ({slot.name or 'without a name'}) of this sample isn't "
                f"attached: {HOW}"
            )
        parts.append(
            PicturePart(sha256=slot.picture_id, load=partial(store.pictures.read, slot.picture_id))
        )
    return Material(sample=sample, pictures=tuple(parts))


def fetch_subject(
    store: Store, have: SampleState, item: Item, kept: MutableMapping[str, Record]
) -> Subject:
    """Fetch what an item is about.

    Args:
        kept: records of this sample that are at hand, by id; what is read is added.

    Returns:
        The sample and what the item's stage needs of it.

    Raises:
        StoreError: something of it was deleted meanwhile.
    """

    def there(kind: type[R], record_id: str) -> R:
        found = kept.get(record_id)
        if not isinstance(found, kind):
            found = store.get(kind, record_id)
        if found is None:
            raise StoreError(
                f"{kind.__name__.lower()} {record_id} was deleted while the run needed it: "
                "resume the run to go on with what is there"
            )
        kept[record_id] = found
        return found

    def held(kind: type[R], field: str, name: RecordState | None) -> R | None:
        return there(kind, name.id) if field in needs and name is not None else None

    needs = BY_NAME[item.stage].needs
    return Subject(
        sample=there(Sample, item.sample_id),
        replay=held(Replay, "replay", have.replay),
        criteria_set=held(CriteriaSet, "criteria_set", have.criteria),
        wanted=tuple(there(Criterion, name) for name in item.criterion_ids),
        response=there(Response, item.response_id) if "response" in needs else None,
    )


def setting_of(item: Item, keys: PlanKeys, tree: Tree | None = None) -> Setting:
    """Say who an item asks, and how.

    Args:
        keys: the run's judge, settings and prompts.
        tree: the tree; needed to do a mapping.
    """
    by_candidate = BY_NAME[item.stage].by_candidate
    return Setting(
        who=item.candidate_id if by_candidate else keys.judge_id,
        sampling=keys.asks(item.candidate_id) if by_candidate else keys.judge_sampling,
        tree=tree,
        tree_version=keys.tree_version,
        repeat=item.repeat,
        told=keys.told,
        blind=keys.blind,
    )


def points(records: Iterable[Record]) -> bool:
    """Whether a judge's solution or criteria among records point into a picture."""
    return any(
        part.regions
        for record in records
        if isinstance(record, Replay | CriteriaSet)
        for part in (record.steps if isinstance(record, Replay) else record.uses)
    )


async def perform(
    ask: Ask, store: Store, item: Item, subject: Subject, setting: Setting, sight: SightContext
) -> StageResult:
    """Do an item.

    Args:
        ask: asks the item's model.
        setting: who is asked, and how.
        sight: how the item's model sees pictures.

    Raises:
        AtomError: it can't be done, or no reply came.
    """
    stage = BY_NAME[item.stage]
    material = read_material(store, subject.sample)
    if stage.points:
        material = await sight.seen(material)
    return await stage.take(ask, material, subject, setting)
