"""What an item is about, and doing it."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from dataclasses import replace
from typing import TypeVar

from atom.engine import steps
from atom.engine.failures import Subject
from atom.engine.plan import Case, Item, PlanKeys
from atom.errors import StoreError
from atom.records import CriteriaSet, Criterion, Record, Replay, Response, Sample
from atom.stages import replay, scoring
from atom.store import Store
from taxonomy import Tree

R = TypeVar("R", Sample, Replay, CriteriaSet, Criterion, Response)
KEPT = (Replay, CriteriaSet, Criterion, Response)
"""Kinds of records that later items of the same sample need."""


def fetch_subject(
    store: Store, case: Case, item: Item, kept: MutableMapping[str, Record]
) -> Subject:
    """Fetch what an item is about.

    Args:
        store: the store.
        case: the sample's case.
        item: the item.
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

    subject = Subject(sample=there(Sample, item.sample_id))
    if item.stage == "criteria":
        assert case.replay is not None
        return replace(subject, replay=there(Replay, case.replay.id))
    if item.stage in ("scoring", "outcome"):
        subject = replace(subject, response=there(Response, item.response_id))
    if item.stage in ("mapping", "scoring"):
        assert case.criteria is not None
        subject = replace(
            subject,
            criteria_set=there(CriteriaSet, case.criteria.id),
            wanted=tuple(there(Criterion, name) for name in item.criterion_ids),
        )
    return subject


def points(records: Iterable[Record]) -> bool:
    """Whether a judge's solution or criteria among records point into a picture."""
    return any(
        part.regions
        for record in records
        if isinstance(record, Replay | CriteriaSet)
        for part in (record.steps if isinstance(record, Replay) else record.uses)
    )


async def perform(
    ask: steps.Ask,
    store: Store,
    item: Item,
    subject: Subject,
    keys: PlanKeys,
    tree: Tree,
    sight: steps.Sight,
) -> steps.Brought:
    """Do an item.

    Args:
        ask: asks the item's model.
        store: where pictures are.
        item: the item.
        subject: what it is about.
        keys: the run's judge, settings and tree version.
        tree: the tree.
        sight: how the item's model sees pictures.

    Raises:
        AtomError: it can't be done, or no reply came.
    """
    judge, sampling = keys.judge_id, keys.judge_sampling
    material = steps.read_material(store, subject.sample)
    if item.stage == "answer":
        asked = keys.asks(item.candidate_id)
        return await steps.do_answer(ask, material, item.candidate_id, asked, item.repeat)
    if item.stage in ("replay", "criteria"):
        material = await sight.seen(material)
    if item.stage == "replay":
        told = keys.prompts["replay"] == replay.TOLD
        return await steps.do_replay(ask, material, judge, sampling, with_reference=told)
    if item.stage == "criteria":
        assert subject.replay is not None
        return await steps.do_criteria(ask, material, subject.replay, judge, sampling)
    if item.stage == "mapping":
        version = keys.tree_version
        return await steps.do_mapping(ask, material, subject.wanted, tree, version, judge, sampling)
    assert subject.response is not None
    if item.stage == "outcome":
        return await steps.do_outcome(ask, material, subject.response, judge, sampling)
    assert subject.criteria_set is not None
    return await steps.do_scoring(
        ask,
        material,
        subject.criteria_set,
        subject.wanted,
        subject.response,
        judge,
        sampling,
        item.repeat,
        blind=keys.prompts["scoring"] == scoring.BLIND,
    )
