"""Live replay: one sample through the stages, step by step.

Each step can be called by itself, with whatever the reader has changed since the step before.
Nothing is stored until `save`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from atom.engine import steps
from atom.engine.members import asks, candidate_of, judge_of
from atom.engine.replies import PaidOnce
from atom.engine.shift import ClientMaker, make_client
from atom.errors import UsageError
from atom.judge import Estimate, JudgeClient, PictureCache, PicturePart, Reply, Request, SpendLedger
from atom.probes.chunk import read_program
from atom.records import (
    Call,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Endpoint,
    Mapping,
    Outcome,
    PictureSlot,
    Record,
    Replay,
    Response,
    Sample,
    Sampling,
    Stage,
    Study,
    StudyCandidate,
    StudySample,
    TreeRecord,
)
from atom.stages import answer, criteria, mapping, outcome, replay, scoring
from atom.stages.criteria import CriteriaResult
from atom.store import Store, find_study, study_candidates, study_places
from taxonomy import Tree, load_anchors, to_json, tree_version

OnText = Callable[[str], None]
R = TypeVar("R", bound=Record)
LIVE = "Live replay"
"""The data set's name of samples that were uploaded here."""


def upload_sample(
    question: str,
    pictures: Sequence[bytes],
    *,
    choices: Sequence[str] = (),
    reference: str | None = None,
    names: Sequence[str] = (),
) -> tuple[Sample, tuple[PicturePart, ...]]:
    """Make a sample of an upload; it's named by its content.

    Args:
        question: the question.
        pictures: the pictures' bytes, in order.
        choices: answer options; empty for an open question.
        reference: the right answer, where it's known.
        names: the files' names.

    Returns:
        The sample, synthetic when every picture carries a probe's program, and its pictures.

    Raises:
        UsageError: there is no question.
    """
    if not question.strip():
        raise UsageError("the question is empty: write what is asked about the pictures")
    parts = tuple(PicturePart.from_bytes(data) for data in pictures)
    slots = tuple(
        PictureSlot(name=names[n] if n < len(names) else "", picture_id=part.sha256)
        for n, part in enumerate(parts)
    )
    ids = tuple(part.sha256 for part in parts)
    sample = Sample(
        id=Sample.make_id(LIVE, None, question, tuple(choices), ids),
        dataset=LIVE,
        question=question,
        choices=tuple(choices),
        reference=reference or None,
        pictures=slots,
        synthetic=bool(pictures) and all(read_program(data) is not None for data in pictures),
    )
    return sample, parts


@dataclass(frozen=True, kw_only=True)
class Live:
    """One sample and who is asked about it.

    Args:
        sample: the sample.
        pictures: its pictures.
        judge: the judge's endpoint.
        store: replies that it holds are used again; None = always ask.
        judge_sampling: the study's settings for the judge.
        answer_sampling: the study's settings for candidates.
        tree: the tree that criteria are mapped to.
        budget: spend cap in USD for all steps together.
        show_reference: tell the judge the reference answer when it solves the sample.
        score_pictures: let the judge see the pictures when it scores.
        make: opens clients.
    """

    sample: Sample
    pictures: tuple[PicturePart, ...]
    judge: Endpoint
    store: Store | None = None
    judge_sampling: Sampling = Study.model_fields["judge_sampling"].default
    answer_sampling: Sampling = Study.model_fields["answer_sampling"].default
    tree: Tree = field(default_factory=load_anchors)
    budget: float | None = None
    show_reference: bool = False
    score_pictures: bool = True
    make: ClientMaker = make_client
    calls: list[Call] = field(default_factory=list)
    _spend: list[SpendLedger] = field(default_factory=list, repr=False)
    _cache: PictureCache = field(default_factory=PictureCache, repr=False)

    @classmethod
    def of_study(
        cls, store: Store, sample_id: str, judge: Endpoint, study: Study, tree: Tree
    ) -> Live:
        """Take a sample of a study, with the study's settings.

        Raises:
            UsageError: there is no such sample.
            PictureError: a picture isn't attached.
        """
        sample = store.get(Sample, sample_id)
        if sample is None:
            raise UsageError(f"there is no sample {sample_id!r} in this store")
        return cls(
            sample=sample,
            pictures=steps.read_material(store, sample).pictures,
            judge=judge,
            store=store,
            judge_sampling=study.judge_sampling,
            answer_sampling=study.answer_sampling,
            tree=tree,
        )

    @property
    def material(self) -> steps.Material:
        """The sample with its pictures at hand."""
        return steps.Material(sample=self.sample, pictures=self.pictures)

    @property
    def sight(self) -> steps.Sight:
        """How the judge sees the pictures."""
        return steps.Sight(endpoint=self.judge, cache=self._cache)

    async def _seen(self) -> steps.Material:
        return await self.sight.seen(self.material)

    @property
    def judge_id(self) -> str:
        """The judge's name."""
        return judge_of(self.judge).id

    @property
    def judge_asks(self) -> Sampling:
        """What the judge's requests ask for."""
        return asks(self.judge, self.judge_sampling)

    @property
    def spent(self) -> float:
        """USD spent so far."""
        return sum(ledger.spent for ledger in self._spend[-1:])

    @property
    def version(self) -> str:
        """The tree's version."""
        return tree_version(self.tree)

    # Steps

    async def replay(self, on_text: OnText | None = None) -> Replay:
        """Let the judge solve the sample.

        Args:
            on_text: told each piece of text as it streams in.

        Raises:
            AtomError: no reply came; the message says why.
        """
        material = await self._seen()
        brought = await self._step(
            self.judge,
            on_text,
            lambda ask: steps.do_replay(
                ask,
                material,
                self.judge_id,
                self.judge_asks,
                with_reference=self.show_reference,
            ),
        )
        return _one(brought, Replay)

    async def criteria(self, solved: Replay, on_text: OnText | None = None) -> CriteriaResult:
        """Let the judge cut its replay into weighted criteria.

        Raises:
            AtomError: no reply came.
        """
        material = await self._seen()
        brought = await self._step(
            self.judge,
            on_text,
            lambda ask: steps.do_criteria(ask, material, solved, self.judge_id, self.judge_asks),
        )
        return CriteriaResult(
            criteria_set=_one(brought, CriteriaSet), criteria=_all(brought, Criterion)
        )

    async def mapping(
        self, wanted: Sequence[Criterion], on_text: OnText | None = None
    ) -> tuple[Mapping, ...]:
        """Let the judge hang criteria on the tree's leaves.

        Raises:
            AtomError: no reply came.
        """
        brought = await self._step(
            self.judge,
            on_text,
            lambda ask: steps.do_mapping(
                ask,
                self.material,
                wanted,
                self.tree,
                self.version,
                self.judge_id,
                self.judge_asks,
            ),
        )
        return _all(brought, Mapping)

    async def answer(
        self, candidate: Endpoint, on_text: OnText | None = None
    ) -> tuple[Response, Outcome | None]:
        """Let a candidate answer; with a verdict where a rule can give one.

        Raises:
            AtomError: no reply came.
        """
        candidate_id = candidate_of(candidate).id
        asked = asks(candidate, self.answer_sampling)
        brought = await self._step(
            candidate,
            on_text,
            lambda ask: steps.do_answer(ask, self.material, candidate_id, asked),
        )
        verdicts = _all(brought, Outcome)
        return _one(brought, Response), verdicts[0] if verdicts else None

    async def score(
        self,
        criteria_set: CriteriaSet,
        wanted: Sequence[Criterion],
        response: Response,
        on_text: OnText | None = None,
    ) -> tuple[Checkpoint, ...]:
        """Let the judge score an answer at the criteria that are wanted.

        Raises:
            AtomError: no reply came.
        """
        brought = await self._step(
            self.judge,
            on_text,
            lambda ask: steps.do_scoring(
                ask,
                self.material,
                criteria_set,
                wanted,
                response,
                self.judge_id,
                self.judge_asks,
                blind=not self.score_pictures,
            ),
        )
        return _all(brought, Checkpoint)

    async def verdict(self, response: Response, on_text: OnText | None = None) -> Outcome:
        """Say whether the final answer is right, by rule or by the judge.

        Raises:
            AtomError: no reply came.
        """
        brought = await self._step(
            self.judge,
            on_text,
            lambda ask: steps.do_outcome(
                ask, self.material, response, self.judge_id, self.judge_asks
            ),
        )
        return _one(brought, Outcome)

    def price(
        self,
        stage: Stage,
        *,
        solved: Replay | None = None,
        criteria_set: CriteriaSet | None = None,
        wanted: Sequence[Criterion] = (),
        response: Response | None = None,
        candidate: Endpoint | None = None,
    ) -> Estimate:
        """Estimate what a step would cost, before it's taken.

        Args:
            stage: the step; give what it needs.
            solved: the replay, for criteria.
            criteria_set: the set, for scoring.
            wanted: the criteria, for mapping and scoring.
            response: the answer, for scoring and outcome.
            candidate: who answers, for answer.

        Returns:
            The estimate; nothing to pay where the store holds the reply already.

        Raises:
            UsageError: something that the step needs isn't given.
        """
        sample, shown, sampling = self.sample, self.pictures, self.judge_asks
        request: Request
        if stage == "answer":
            request = answer.build(sample, shown, asks(candidate, self.answer_sampling))
        elif stage == "replay":
            request = replay.build(sample, shown, sampling, with_reference=self.show_reference)
        elif stage == "criteria" and solved is not None:
            space = self.sight.space_now(shown)
            request = criteria.build(sample, shown, solved, sampling, space=space)
        elif stage == "mapping" and wanted:
            request = mapping.build(sample, shown, wanted, self.tree, sampling)
        elif stage == "scoring" and criteria_set is not None and response is not None:
            part = steps.only(criteria_set, wanted)
            blind = not self.score_pictures
            request = scoring.build(sample, shown, part, wanted, response, sampling, blind=blind)
        elif stage == "outcome" and response is not None:
            request = outcome.build(sample, shown, response, sampling)
        else:
            raise UsageError(f"the step {stage!r} needs what the step before it brings")
        endpoint = candidate if stage == "answer" and candidate is not None else self.judge
        client = self._client(endpoint)
        if self.store is not None and PaidOnce(self.store, client).stored(request) is not None:
            return Estimate(prompt_tokens=0, completion_tokens=0, cost=0.0, most=0.0)
        return client.estimate(request)

    async def _step(
        self,
        endpoint: Endpoint,
        on_text: OnText | None,
        step: Callable[[steps.Ask], Awaitable[steps.Brought]],
    ) -> steps.Brought:
        async with self._client(endpoint) as client:

            async def ask(request: Request) -> Reply:
                stored = PaidOnce(self.store, client).stored(request) if self.store else None
                if stored is not None:
                    if on_text is not None:
                        on_text(stored.text)
                    self.calls.append(stored.call)
                    return stored
                reply = await (client.ask(request) if on_text is None else stream(request, on_text))
                self.calls.append(reply.call)
                return reply

            async def stream(request: Request, tell: OnText) -> Reply:
                async for piece in client.stream(request):
                    if not isinstance(piece, str):
                        return piece
                    tell(piece)
                raise AssertionError("a stream ends with its reply")

            brought = await step(ask)
        return brought

    def _client(self, endpoint: Endpoint) -> JudgeClient:
        # A ledger belongs to one event loop, and each step has its own.
        ledger = SpendLedger(self.budget, spent=self.spent)
        self._spend.append(ledger)
        return self.make(endpoint, ledger, self._cache)

    # Saving

    def save(
        self,
        store: Store,
        study_id: str,
        *,
        solved: Replay | None,
        result: CriteriaResult | None,
        mappings: Sequence[Mapping] = (),
        answers: Sequence[tuple[Endpoint | Candidate, Response]] = (),
        others: Sequence[Record] = (),
    ) -> StudySample:
        """Put the sample and what was made of it into a study.

        Args:
            store: the store.
            study_id: the study.
            solved: the replay.
            result: the criteria, as the judge cut them or a person edited them.
            mappings: where the criteria hang.
            answers: answers, with who gave them: an endpoint, or a candidate for a stored or
                typed answer.
            others: checkpoints and outcomes.

        Returns:
            The sample's place in the study.

        Raises:
            ReadOnlyError: the store is sealed.
            PictureError: a picture can't be kept.
        """
        store.must_be_open()
        study = find_study(store, study_id)
        for part in self.pictures:
            store.add_picture(part.read())
        judge = judge_of(self.judge)
        candidates = {c.id: c for c in (_candidate(who) for who, _ in answers)}
        there = {c.id for c in study_candidates(store, study.id)}
        tree = TreeRecord(version=self.version, name=self.tree.name, body=to_json(self.tree))
        places = study_places(store, study.id)
        known = next((p for p in places if p.sample_id == self.sample.id), None)
        place = StudySample(
            study_id=study.id,
            sample_id=self.sample.id,
            position=known.position if known else max((p.position for p in places), default=-1) + 1,
            replay_id=solved.id if solved else known.replay_id if known else None,
            criteria_set_id=(
                result.criteria_set.id if result else known.criteria_set_id if known else None
            ),
        )
        changed = study.model_copy(
            update={
                "judge_id": study.judge_id or judge.id,
                "tree_version": study.tree_version or tree.version,
            }
        )
        records: list[Record] = [self.sample, judge, tree, *candidates.values(), *self.calls]
        records += [solved] if solved else []
        records += [*result.criteria, result.criteria_set] if result else []
        records += [response for _, response in answers]
        with store.write() as writer:
            writer.put(records)
            writer.replace([*mappings, *others, place, changed])
            writer.put(
                StudyCandidate(study_id=study.id, candidate_id=c, position=len(there) + number)
                for number, c in enumerate(c for c in candidates if c not in there)
            )
        return place


def _candidate(who: Endpoint | Candidate) -> Candidate:
    return who if isinstance(who, Candidate) else candidate_of(who)


def _all(brought: steps.Brought, kind: type[R]) -> tuple[R, ...]:
    return tuple(record for record in brought.records if isinstance(record, kind))


def _one(brought: steps.Brought, kind: type[R]) -> R:
    return _all(brought, kind)[0]
