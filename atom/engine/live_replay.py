"""Live replay: one sample through the stages, step by step.

Each step can be called by itself, with whatever the reader has changed since the step before.
Nothing is stored until `save`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from atom.engine.execution import ClientMaker, make_client
from atom.engine.items import read_material
from atom.engine.members import asks, candidate_of, judge_of
from atom.engine.replies import PaidOnce
from atom.errors import UsageError
from atom.judge import (
    CostEstimate,
    JudgeClient,
    PictureCache,
    PicturePart,
    Reply,
    Request,
    SpendLedger,
)
from atom.pipeline import ANSWER, SCORING, Respondent, judge_sample
from atom.probes.chunk import read_program
from atom.records import (
    Call,
    Candidate,
    CriteriaSet,
    Criterion,
    Endpoint,
    Mapping,
    PictureSlot,
    Record,
    Replay,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
    TreeRecord,
)
from atom.stages.criteria import CriteriaResult
from atom.stages.sight import Material, SightContext
from atom.stages.stage import Ask, Setting, Stage, StageResult, Subject
from atom.store import Store, find_study, study_candidates, study_places
from atom.store.team.budgets import may_ask
from taxonomy import Tree, load_anchors, to_json, tree_version

OnText = Callable[[str], None]
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
        judge: the judge's endpoint.
        store: replies that it holds are used again; None = always ask.
        judge_sampling: the study's settings for the judge.
        answer_sampling: the study's settings for candidates.
        tree: the tree that criteria are mapped to.
        budget: spend cap in USD for all steps together.
        show_reference: tell the judge the reference answer when it solves the sample.
        score_pictures: let the judge see the pictures when it scores.
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
            pictures=read_material(store, sample).pictures,
            judge=judge,
            store=store,
            judge_sampling=study.judge_sampling,
            answer_sampling=study.answer_sampling,
            tree=tree,
        )

    @property
    def material(self) -> Material:
        """The sample with its pictures at hand, as the judge sees them."""
        return Material(sample=self.sample, pictures=self.pictures, sight=self.sight)

    @property
    def sight(self) -> SightContext:
        """How the judge sees the pictures."""
        return SightContext(endpoint=self.judge, cache=self._cache)

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

    def setting(self, stage: Stage, candidate: Endpoint | None = None) -> Setting:
        """Say who a stage asks, and how; give the candidate that answers."""
        if stage.by_candidate and candidate is None:
            raise UsageError("choose a model that answers")
        if candidate is not None and stage.by_candidate:
            asked = asks(candidate, self.answer_sampling)
            return Setting(who=candidate_of(candidate).id, sampling=asked)
        return Setting(
            who=self.judge_id,
            sampling=self.judge_asks,
            tree=self.tree,
            tree_version=self.version,
            told=self.show_reference,
            blind=not self.score_pictures,
        )

    async def take(
        self,
        stage: Stage,
        subject: Subject | None = None,
        on_text: OnText | None = None,
        *,
        candidate: Endpoint | None = None,
    ) -> StageResult:
        """Take a step.

        Args:
            subject: the sample with what the stage needs; the sample alone if left out.
            on_text: told each piece of text as it streams in.
            candidate: who answers, for the answer.

        Raises:
            AtomError: something that the stage needs is missing, or no reply came.
        """
        subject = subject or self.about()
        setting, material = self.setting(stage, candidate), self.material
        if stage.points:
            material = await self.sight.seen(material)
        endpoint = candidate if stage.by_candidate and candidate else self.judge
        async with self._asking(endpoint, on_text) as ask:
            return await stage.take(ask, material, subject, setting)

    def about(
        self,
        *,
        replay: Replay | None = None,
        criteria_set: CriteriaSet | None = None,
        wanted: Sequence[Criterion] = (),
        response: Response | None = None,
    ) -> Subject:
        """Return the sample with what is there of it."""
        return Subject(
            sample=self.sample,
            replay=replay,
            criteria_set=criteria_set,
            wanted=tuple(wanted),
            response=response,
        )

    def price(
        self, stage: Stage, subject: Subject, candidate: Endpoint | None = None
    ) -> CostEstimate:
        """Estimate what a step would cost, before it's taken.

        Args:
            subject: the sample with what the step needs.
            candidate: who answers, for the answer.

        Returns:
            The estimate; nothing to pay where the store holds the reply already.

        Raises:
            UsageError: something that the step needs isn't given.
        """
        material = self.material
        if stage.points:
            material = replace(material, space=self.sight.space_now(self.pictures))
        request = stage.build(material, subject, self.setting(stage, candidate))
        client = self._client(candidate if stage.by_candidate and candidate else self.judge)
        if self.store is not None and PaidOnce(self.store, client).stored(request) is not None:
            return CostEstimate(prompt_tokens=0, completion_tokens=0, cost=0.0, most=0.0)
        return client.estimate(request)

    async def whole(
        self, answers: Sequence[Response] = (), candidates: Sequence[Endpoint] = ()
    ) -> AsyncIterator[StageResult]:
        """Take all steps in a row, for answers that are there and for candidates that give one.

        Yields:
            What each stage brings, in order.

        Raises:
            AtomError: no reply came.
        """
        async with AsyncExitStack() as opened:

            async def asked(endpoint: Endpoint, stage: Stage) -> Respondent:
                ask = await opened.enter_async_context(self._asking(endpoint, None))
                return Respondent(ask=ask, setting=self.setting(stage, endpoint))

            async for brought in judge_sample(
                await self.sight.seen(self.material),
                await asked(self.judge, SCORING),
                candidates=[await asked(one, ANSWER) for one in candidates],
                answers=answers,
            ):
                yield brought

    @asynccontextmanager
    async def _asking(self, endpoint: Endpoint, on_text: OnText | None) -> AsyncIterator[Ask]:
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

            yield ask

    def _client(self, endpoint: Endpoint) -> JudgeClient:
        may_ask(self.store, endpoint)
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
            result: the criteria, as the judge cut them or a person edited them.
            mappings: where the criteria hang.
            answers: answers, with who gave them: an endpoint, or a candidate for a stored or
                typed answer.
            others: checkpoints and outcomes.

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
