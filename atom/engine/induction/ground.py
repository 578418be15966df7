"""What a tree grows from: what is asked, the study's criteria, a balanced part of its samples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import ClassVar, Literal

from atom.engine.consent import ConsentQuestion, consent_questions, is_remote
from atom.engine.induction.first_tree import first_tree
from atom.engine.induction.growing import GrowSettings
from atom.engine.members import Members, gather, pick_endpoint
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.records import Criterion, Endpoint, Induction, Replay, Run, RunKind, Sample, Study, Tag
from atom.stages.growing.induction import SUBSET, SampleCriteria, balanced_subset
from atom.store import Store, study_criteria
from taxonomy import Tree, tree_version
from taxonomy.grow import roots_of

DEFAULTS = GrowSettings()
Start = Literal["roots", "current"]


@dataclass(frozen=True, kw_only=True)
class InductionSpec:
    """What an induction is asked to do.

    Args:
        study_id: the study whose criteria the tree grows from.
        judge: the judge's endpoint name; None = the study's own.
        samples: samples that proposals are made from; all when None.
        facet: the facet whose values are the sources to balance; the data set when None.
        start: grow from the bare roots, or extend the study's tree.
        grow: seed, rounds, batch sizes and thresholds.
        budget: spend cap in USD, resumptions included.
        embedding: endpoint that turns texts into vectors, to find likely duplicates; letters
            alone decide what is worth asking about when None.
        retry_failed: nothing: what failed is asked again in any case.
    """

    kind: ClassVar[RunKind] = "tree"

    study_id: str
    judge: str | None = None
    samples: int | None = SUBSET
    facet: str | None = None
    start: Start = "roots"
    grow: GrowSettings = DEFAULTS
    budget: float | None = None
    embedding: str | None = None
    retry_failed: bool = False

    @property
    def settings(self) -> str:
        """What the tree depends on, as JSON."""
        kept = {"samples": self.samples, "facet": self.facet, "start": self.start}
        kept["embedding"] = self.embedding
        return json.dumps({**kept, **asdict(self.grow)}, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class InductionParts:
    """What a tree grows from.

    Args:
        members: the study and its judge.
        cuts: every sample with criteria, in the study's order.
        subset: those that proposals are made from, in the order in which they are shown.
        start: the tree that the edits start from.
        row: the induction as it begins; its name is equal for equal study, judge, settings and
            criteria.
        embedding: who turns texts into vectors; None = nobody.
    """

    members: Members
    cuts: tuple[SampleCriteria, ...]
    subset: tuple[SampleCriteria, ...]
    start: Tree
    row: Induction
    embedding: Endpoint | None = None

    @property
    def judge(self) -> Endpoint:
        """The judge's endpoint."""
        assert self.members.judge_endpoint is not None
        return self.members.judge_endpoint


def spec_of(store: Store, induction_id: str) -> InductionSpec:
    """Return what an induction was asked to do, so that it can go on.

    Raises:
        UsageError: there is no such induction.
    """
    row, run = store.get(Induction, induction_id), store.get(Run, induction_id)
    if row is None or run is None:
        raise UsageError(f"there is no induction {induction_id!r}")
    asked = json.loads(row.settings)
    grow = {field.name: asked.pop(field.name) for field in fields(GrowSettings)}
    return InductionSpec(
        study_id=row.study_id,
        judge=row.judge,
        budget=run.budget,
        grow=GrowSettings(**grow),
        **asked,
    )


def prepare(
    store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint], created: str
) -> InductionParts:
    """Find what a tree would grow from.

    Raises:
        UsageError: a setting is out of range, or the study has no criteria yet.
    """
    settings = spec.grow
    if spec.samples is not None and spec.samples < 1:
        raise UsageError(f"{spec.samples:,} samples: at least 1 is needed")
    if min(settings.rounds, settings.seed) < 0 or settings.rounds > 20:
        raise UsageError("the seed is 0 or more, and 0 to 20 rounds are allowed")
    if min(settings.batch, settings.wave, settings.min_criteria, settings.min_samples) < 1:
        raise UsageError("batch, wave and the support thresholds are 1 or more")
    run = RunSpec(study_id=spec.study_id, stages=("mapping",), judge=spec.judge, budget=spec.budget)
    members = gather(store, run, endpoints, created)
    cuts = load_cuts(store, members.study.id)
    if not cuts:
        raise UsageError(
            f"the study {members.study.name!r} has no criteria yet: run the stages "
            "'replay' and 'criteria' first"
        )
    doubted = _quarantined(store, members)
    usable = [cut for cut in cuts if cut.sample.id not in doubted]
    source_of = _sources(store, spec.facet, [cut.sample.id for cut in usable])
    tree = members.tree if spec.start == "current" else roots_of(first_tree(store, members.study))
    assert members.judge_endpoint is not None
    subset = balanced_subset(usable, source_of, spec.samples, spec.grow.seed)
    embedding = (
        None if spec.embedding is None else pick_endpoint(endpoints, spec.embedding, "embedding")
    )
    name = Induction.make_id(
        members.study.id,
        members.judge_endpoint.model,
        f"{spec.settings}/{members.judge_sampling.key}/{tree_version(tree)}",
        [criterion.id for cut in cuts for criterion in cut.criteria],
    )
    before = store.get(Induction, name)
    return InductionParts(
        members=members,
        embedding=embedding,
        cuts=cuts,
        subset=subset,
        start=replace(tree, name=grown_name(members.study)),
        row=Induction(
            id=name,
            study_id=members.study.id,
            judge=members.judge_endpoint.name,
            settings=spec.settings,
            created=before.created if before else created,
        ),
    )


def grown_name(study: Study) -> str:
    """Return the name of a tree that grows from a study's criteria."""
    return f"Grown from {study.name}"


def load_cuts(store: Store, study_id: str) -> tuple[SampleCriteria, ...]:
    """Read a study's samples with their criteria, in the study's order."""
    sample_of = study_criteria(store, study_id)
    samples = {s.id: s for s in store.get_many(Sample, sample_of.values())}
    criteria = {c.id: c for c in store.get_many(Criterion, sample_of)}
    by_sample: dict[str, list[Criterion]] = {}
    for criterion_id, sample_id in sample_of.items():
        if criterion_id in criteria and sample_id in samples:
            by_sample.setdefault(sample_id, []).append(criteria[criterion_id])
    return tuple(
        SampleCriteria(sample=samples[sample_id], criteria=tuple(own))
        for sample_id, own in by_sample.items()
    )


def _quarantined(store: Store, members: Members) -> set[str]:
    """Return samples whose replay disagrees with the reference: their criteria may be wrong."""
    ids = [place.replay_id for place in members.places if place.replay_id]
    return {r.sample_id for r in store.get_many(Replay, ids) if r.agrees is False}


def _sources(store: Store, facet: str | None, sample_ids: Sequence[str]) -> dict[str, str]:
    if facet is None:
        return {}
    tags = store.get_many(Tag, sample_ids, "subject_id")
    found = {t.subject_id: t.value for t in tags if t.subject == "sample" and t.facet == facet}
    if not found:
        known = sorted({t.facet for t in tags if t.subject == "sample"})
        raise UsageError(f"no sample has the facet {facet!r}; facets: {', '.join(known) or 'none'}")
    return found


def questions(store: Store, ground: InductionParts) -> tuple[ConsentQuestion, ...]:
    """Say what would go to hosts that nobody has agreed to yet."""
    asked = consent_questions(store, ground.members)
    endpoint = ground.embedding
    agreed = (*ground.members.study.consent, ground.judge.host)
    if endpoint is None or not is_remote(endpoint) or endpoint.host in agreed:
        return asked
    texts = len(ground.subset)
    return (
        *asked,
        ConsentQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=texts),
    )
