"""Rival methods against the noise model of `design/012-rivals.md`; `judge_recovery.py` prints them.

Each method asks the probe endpoint through its own requests and reads the replies itself; people's
preferences are drawn as METHODS D3 sets them down. What is predicted rests on the true scores of
the answers' steps alone: closed forms, and one sum over what is missed without a replay.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.special import ndtr

from atom.analysis.agreement.fidelity import PairOrder, method_accuracy, people_pairs
from atom.engine.bench.rankings import PEOPLE_SD, TIE_WITHIN, people_see, said_of
from atom.judge.exchange import judge_completion
from atom.judge.replies.completion import Completion
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request, TextPart
from atom.methods.base import MethodPlan, MethodSample, shuffled
from atom.methods.batch_rank import TASK as BATCH
from atom.methods.registry import METHODS
from atom.probes.answers.covering import with_truth
from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.bench.methods import (
    NOISE,
    batch_mean,
    differing,
    nearest,
    numerator,
    other_truth,
    pointwise_mean,
    quality,
    scan_row,
    scan_truth,
    step_scores,
    whole_mean,
)
from atom.probes.bench.types import BenchQuestion, Character
from atom.probes.candidates import planted_world
from atom.probes.chunk import write_program
from atom.probes.draws import Draws
from atom.probes.judge import AnswerJudge
from atom.probes.program import Program
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.worlds.make import make_probes
from atom.records import (
    Call,
    CriteriaSet,
    Criterion,
    CriterionUse,
    PictureSlot,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Usage,
    Verdict,
)
from atom.stages import scoring
from atom.stages.gate import read_weights
from tests.planted import WorldSettings, confusion

Floats = NDArray[np.float64]
MODELS: Mapping[Character, str] = {
    "exact": "probe-judge",
    "noisy": "probe-judge-noisy",
    "coin": "probe-judge-coin",
}
CANDIDATES = 5
"""Answers a sample, as in ATOM 4.1."""
MIX = {"charts": 1, "gauges": 1, "tables": 1, "geometry": 1}
SLACK = 3.5
"""Standard errors within which a measured accuracy has to lie."""
LEAST, MOST = -40, 60
"""Whole numbers that a distribution is kept over."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A probe with five answers, and what people say of each pair.

    Attributes:
        sample: the question, its answers and its solution.
        program: the truth.
        readers: the program's steps, ready to read with.
        true: answer's id → true score of each step.
        picture: a small picture that carries the program.
        people: pair (of ids, sorted) → 1, 0 or -1.
    """

    sample: MethodSample
    program: Program
    readers: tuple[StepReader, ...]
    true: Mapping[str, tuple[int, ...]]
    picture: bytes
    people: Mapping[tuple[str, str], int]


def draw(n: int, seed: int, *, mix: Mapping[str, int] | None = None) -> list[Asked]:
    """Draw probes and five simulated candidates' answers to each."""
    world = planted_world()
    blank = io.BytesIO()
    Image.new("RGB", (2, 2), "white").save(blank, "PNG")
    found = []
    for probe in make_probes(n, seed, mix=mix or MIX):
        program, readers = probe.program, read_steps(probe.program)
        sample = Sample(
            id=Sample.make_id("rivals", f"{seed}/{program.index}"),
            dataset="rivals",
            question=program.question,
            choices=program.choices,
            reference=program.answer,
            pictures=(PictureSlot(name="p.png"),),
        )
        answers = tuple(
            Response(
                id=Response.make_id(sample.id, model, "answer/1", Sampling()),
                sample_id=sample.id,
                candidate_id=model,
                prompt="answer/1",
                text=world.answer(model, program).text,
            )
            for model in world.models[:CANDIDATES]
        )
        replay = Replay(
            id=f"replay {sample.id}", sample_id=sample.id, judge_id="judge", prompt="replay/1",
            state="scored", steps=tuple(ReplayStep(text=s.truth) for s in program.steps),
            final_answer=program.answer,
        )  # fmt: skip
        seems = people_see(program, answers, seed)
        order = {"a": 1, "b": -1, "tie": 0}
        found.append(
            Asked(
                sample=MethodSample(sample=sample, responses=answers, replay=replay),
                program=program,
                readers=readers,
                true={each.id: step_scores(readers, each.text) for each in answers},
                picture=write_program(blank.getvalue(), program.model_copy(update={"picture": 1})),
                people={
                    (one, other): order[said_of(seems[one], seems[other])]
                    for one, other in itertools.combinations(sorted(seems), 2)
                },
            )
        )
    return found


# --- what the methods say ------------------------------------------------------------------------


def ask(endpoint: ProbeEndpoint, model: str, picture: bytes, request: Request) -> Reply:
    """Send a request straight to the endpoint, and read the reply as a client would."""
    text = next(part.text for part in request.parts if isinstance(part, TextPart))
    url = "data:image/png;base64," + base64.b64encode(picture).decode("ascii")
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]
    messages = [
        {"role": "system", "content": request.system},
        {"role": "user", "content": content},
    ]
    body = json.dumps({"model": model, "messages": messages}).encode()
    document = json.loads(endpoint.respond(body).body)
    said = document["choices"][0]["message"]["content"]
    verdict = judge_completion(
        request, Completion(content=said, refusal=None, finish="stop", usage=Usage())
    )
    call = Call(id="call", request_hash="h", task=request.task, endpoint="e", model=model,
                prompt=request.prompt_id)  # fmt: skip
    return Reply(
        state=verdict.state, text=said, call=call, data=verdict.data, reason=verdict.reason
    )


def numbers(asked: Asked, method: str, character: Character) -> dict[str, int | None]:
    """Have a method rank a sample's answers; what each got, None where nothing could be read."""
    endpoint, model = ProbeEndpoint(), MODELS[character]
    if METHODS[method].source == "checkpoints":
        return _checkpoints(asked, method, endpoint, model)
    make, scores = METHODS[method].worklist, METHODS[method].scores
    if make is None or scores is None:
        raise ValueError(f"{method!r} asks nothing")
    picture = PicturePart.from_bytes(asked.picture)
    plan = MethodPlan(
        study_id="rivals", samples=[asked.sample], pictures=lambda _: (picture,), judge="judge",
    )  # fmt: skip
    have: dict[str, Verdict] = {}
    while left := [each for each in make(plan).asks(have) if each.key not in have]:
        for each in left:
            reply = ask(endpoint, model, asked.picture, each.build())
            have[each.key] = each.read(reply, each.blank)
    return dict(scores([each.id for each in asked.sample.responses], list(have.values())))


def _checkpoints(
    asked: Asked, method: str, endpoint: ProbeEndpoint, model: str
) -> dict[str, int | None]:
    """Score the program's own steps, as a study's run does."""
    sample, found = asked.sample.sample, {}
    criteria = [
        Criterion(id=Criterion.make_id(sample.id, step.question, step.truth), sample_id=sample.id,
                  question=step.question, ground_truth=step.truth)
        for step in asked.program.steps
    ]  # fmt: skip
    weight = {c.id: s.weight for c, s in zip(criteria, asked.program.steps, strict=True)}
    uses = tuple(CriterionUse(criterion_id=c.id, position=at, weight=weight[c.id])
                 for at, c in enumerate(criteria))  # fmt: skip
    cut = CriteriaSet(id="set", sample_id=sample.id, judge_id="judge", prompt="criteria/1",
                      state="scored", uses=uses)  # fmt: skip
    picture = PicturePart.from_bytes(asked.picture)
    for response in asked.sample.responses:
        request = scoring.build(sample, (picture,), cut, criteria, response, Sampling())
        reply = ask(endpoint, model, asked.picture, request)
        points = scoring.parse(reply, cut, criteria, response, "judge", Sampling())
        scores = [(weight[p.criterion_id], p.score) for p in points]
        known = [(w, s) for w, s in scores if s is not None]
        total = sum((w if method == "atom" else 1) * s for w, s in known)
        found[response.id] = total if len(known) == len(scores) else None
    return found


# --- what the noise model predicts ---------------------------------------------------------------


def people_chances(asked: Asked, one: str, other: str) -> Floats:
    """Return P(people say loss, tie, win of the first): `d ~ N(S_1 - S_2, 2 sd^2)`, tie within .4.

    Reference:
        METHODS D3.
    """
    gap = quality(asked.program, asked.true[one]) - quality(asked.program, asked.true[other])
    sd = PEOPLE_SD * math.sqrt(2)
    below, above = ndtr((-TIE_WITHIN - gap) / sd), ndtr((TIE_WITHIN - gap) / sd)
    return np.array([below, above - below, 1 - above])


def order_chances(first: Floats, second: Floats) -> Floats:
    """Return P(loss, tie, win) of two independent whole numbers from their distributions."""
    below = np.concatenate([[0.0], np.cumsum(second)[:-1]])
    win, tie = float(first @ below), float(first @ second)
    return np.array([max(float(first.sum() * second.sum()) - win - tie, 0.0), tie, win])


def _point(value: int) -> Floats:
    found = np.zeros(MOST - LEAST + 1)
    found[value - LEAST] = 1.0
    return found


def rounded_normal(mean: float, sd: float, least: int, most: int) -> Floats:
    """Return the distribution of a normal number rounded half up, within limits."""
    found = np.zeros(MOST - LEAST + 1)
    edges = np.arange(least, most) + 0.5
    upper = np.concatenate([ndtr((edges - mean) / sd), [1.0]])
    found[least - LEAST : most - LEAST + 1] = np.diff(np.concatenate([[0.0], upper]))
    return found


def weighted_sum(rows: Sequence[tuple[int, Sequence[float]]]) -> Floats:
    """Return the distribution of `sum w s` of independent scores 1..5: (weight, chances)."""
    total = np.array([1.0])
    for weight, chances in rows:
        step = np.zeros(5 * weight + 1)
        step[weight * np.arange(1, 6)] = chances
        total = np.convolve(total, step)
    found = np.zeros(MOST - LEAST + 1)
    found[-LEAST : -LEAST + len(total)] = total
    return found


def uniform(least: int, most: int) -> Floats:
    """Return the distribution of a fair draw."""
    found = np.zeros(MOST - LEAST + 1)
    found[least - LEAST : most - LEAST + 1] = 1 / (most - least + 1)
    return found


D3 = confusion(WorldSettings())
CERTAIN = np.eye(5)
FAIR = np.full((5, 5), 0.2)
SCORED: Mapping[Character, Floats] = {"exact": CERTAIN, "noisy": D3, "coin": FAIR}
"""P(said | true score) of `scoring`; rows = true score."""
LOST: Mapping[Character, float] = {"exact": 0.0, "noisy": NOISE.drop, "coin": 0.5}
"""Chance that a step is missed where nothing was solved first."""


def _question(asked: Asked, character: Character) -> BenchQuestion:
    return BenchQuestion(task="", data={}, program=asked.program, readers=asked.readers,
                         character=character, draws=Draws("unused"))  # fmt: skip


def distributions(asked: Asked, method: str, character: Character) -> dict[str, Floats]:
    """Return the distribution of each answer's number, independent given the truth.

    Methods whose answers depend on each other (`no_replay`, a coin's `batch`) aren't among them.
    """
    question = _question(asked, character)
    program, exact, coin = asked.program, character == "exact", character == "coin"
    order = shuffled(asked.sample.sample.id, asked.sample.responses, BATCH)
    apart = differing(list(asked.true.values()))
    found = {}
    for response in asked.sample.responses:
        true = asked.true[response.id]
        if method == "pointwise":
            mean = pointwise_mean(question, response.text)
            noisy = rounded_normal(mean, NOISE.point_sd, 1, 10)
            found[response.id] = (
                uniform(1, 10) if coin else _point(nearest(mean, 1, 10)) if exact else noisy
            )
        elif method == "no_decomposition":
            mean = whole_mean(question, response.text)
            noisy = rounded_normal(mean, NOISE.whole_sd, 1, 5)
            found[response.id] = (
                uniform(1, 5) if coin else _point(nearest(mean, 1, 5)) if exact else noisy
            )
        elif method == "batch":
            place = next(at for at, each in enumerate(order) if each.id == response.id)
            mean = batch_mean(question, response.text, place, len(order)) / NOISE.batch_grid
            noisy = rounded_normal(mean, NOISE.batch_sd / NOISE.batch_grid, LEAST, MOST)
            found[response.id] = _point(numerator(program, true)) if exact else noisy
        elif method == "scan":
            steps = [program.steps[at] for at in apart]
            parts = [(step.weight, scan_truth(program, true, step)) for step in steps]
            parts = parts or [(10, scan_truth(program, true, None))]
            rows = [(w, CERTAIN[s - 1] if exact else scan_row(s)) for w, s in parts]
            found[response.id] = weighted_sum(rows)
        else:
            weights = [s.weight if method == "atom" else 1 for s in program.steps]
            matrix = SCORED[character]
            found[response.id] = weighted_sum(
                [(w, matrix[s - 1]) for w, s in zip(weights, true, strict=True)]
            )
    return found


def chances(asked: Asked, method: str, character: Character) -> dict[tuple[str, str], Floats]:
    """Return P(the method says loss, tie, win of the first) of each pair of answers."""
    if method == "no_replay":
        return _without_replay(asked, character)
    if character == "coin" and method == "batch":
        return dict.fromkeys(asked.people, np.array([0.5, 0.0, 0.5]))
    if character == "coin" and method == "scan":
        return _coin_scan(asked)
    found = distributions(asked, method, character)
    return {pair: order_chances(found[pair[0]], found[pair[1]]) for pair in asked.people}


def _coin_scan(asked: Asked) -> dict[tuple[str, str], Floats]:
    """Sum over the criteria that a coin picks: each step with one half, the whole for none."""
    total = np.zeros(3)
    fair = [0.2] * 5
    steps = asked.program.steps
    for kept in itertools.product((False, True), repeat=len(steps)):
        rows = [(s.weight, fair) for s, there in zip(steps, kept, strict=True) if there]
        one = weighted_sum(rows or [(10, fair)])
        total += order_chances(one, one) / 2 ** len(steps)
    return dict.fromkeys(asked.people, total)


def _without_replay(asked: Asked, character: Character) -> dict[tuple[str, str], Floats]:
    """Sum over which steps are missed, and which of the found ones get a wrong truth."""
    program = asked.program
    wrong = {}
    for at, step in enumerate(program.steps):
        text = other_truth(step)
        edited = with_truth(step, text) if text is not None else None
        if edited is not None:
            wrong[at] = StepReader(edited)
    misread = {
        response.id: {
            at: AnswerJudge(asked.readers, response.text).score(reader).score
            for at, reader in wrong.items()
        }
        for response in asked.sample.responses
    }
    # A coin scores whatever the truth is: which truths are wrong changes nothing.
    spoil = NOISE.wrong_truth if character == "noisy" else 0.0
    drop, matrix = LOST[character], SCORED[character]
    kinds = range(len(program.steps))
    total = {pair: np.zeros(3) for pair in asked.people}
    for state in _states(len(program.steps), drop, spoil, frozenset(wrong)):
        kept = [at for at in kinds if state.kept[at]]
        weights = read_weights([program.steps[at].weight for at in kept]).weights
        found: dict[str, Floats | None] = {}
        for name, true in asked.true.items():
            scores = [misread[name][at] if state.spoilt[at] else true[at] for at in kept]
            known = [score for score in scores if score is not None]
            found[name] = (
                weighted_sum([(w, matrix[s - 1]) for w, s in zip(weights, known, strict=True)])
                if len(known) == len(scores)
                else None
            )
        for pair in total:
            one, other = found[pair[0]], found[pair[1]]
            if one is not None and other is not None:
                total[pair] += state.chance * order_chances(one, other)
    return total


@dataclass(frozen=True, kw_only=True)
class _State:
    kept: tuple[bool, ...]
    spoilt: tuple[bool, ...]
    chance: float


def _states(n: int, drop: float, spoil: float, can: frozenset[int]) -> Iterator[_State]:
    """Give every way in which steps are missed or spoilt, with its chance; two stay at least."""
    for kept in itertools.product((True, False), repeat=n):
        chance = math.prod(1 - drop if there else drop for there in kept)
        held = kept if sum(kept) > 1 else tuple(at < 2 for at in range(n))
        choices = [(False, True) if held[at] and at in can else (False,) for at in range(n)]
        if not chance:
            continue
        for spoilt in itertools.product(*choices):
            share = math.prod(
                (spoil if spoilt[at] else 1 - spoil) for at in range(n) if held[at] and at in can
            )
            if share:
                yield _State(kept=held, spoilt=spoilt, chance=chance * share)


# --- measured against predicted ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A method's accuracy, and what the noise model says of it.

    Attributes:
        value: measured share of pairs ordered as people do; unread ones are wrong.
        predicted: mean over the same pairs of the chance to agree.
        se: cluster-robust standard error of measured less predicted.
        ties: share of pairs that the method ties.
        pairs: pairs of answers.
    """

    value: float
    predicted: float
    se: float
    ties: float
    pairs: int

    @property
    def follows(self) -> bool:
        """Whether the two are within Monte Carlo error."""
        return abs(self.value - self.predicted) <= SLACK * self.se + 1e-9


def measure(world: Sequence[Asked], method: str, character: Character) -> Measured:
    """Have a method rank a world's answers, and hold its accuracy against the prediction."""
    orders, gap, expected, group = [], [], [], []
    for number, asked in enumerate(world):
        said = numbers(asked, method, character)
        model = chances(asked, method, character)
        for (one, other), order in asked.people.items():
            orders.append(PairOrder(sample=f"{number:06d}", first=one, second=other, order=order,
                                    annotator="planted"))  # fmt: skip
            mine, theirs = said[one], said[other]
            gap.append(math.nan if mine is None or theirs is None else float(mine - theirs))
            expected.append(float(people_chances(asked, one, other) @ model[(one, other)]))
            group.append(number)
    wanted = people_pairs(orders).order
    cluster = np.array(group)
    found = method_accuracy(np.array(gap), wanted, cluster, cluster)
    right = np.isfinite(gap) & (np.sign(np.nan_to_num(gap)) == wanted)
    residual = np.bincount(cluster, weights=right - np.array(expected))
    count = len(world)
    spread = residual - residual.mean()
    se = math.sqrt(count / (count - 1) * float((spread**2).sum())) / len(gap)
    return Measured(value=found.strict.value, predicted=float(np.mean(expected)), se=se,
                    ties=found.judge_ties, pairs=len(gap))  # fmt: skip


def lines(
    probes: int = 300, seed: int = 0, tell: Callable[[str], None] = lambda _: None
) -> Iterator[dict[str, object]]:
    """Measure every method under every judge; a line a figure.

    Args:
        probes: samples, with five answers each.
        seed: of the probes and of people's draws.
        tell: told what is being measured.
    """
    world = draw(probes, seed)
    values = np.array([order for asked in world for order in asked.people.values()])
    expected = [float(people_chances(asked, *pair)[1]) for asked in world for pair in asked.people]
    yield _line("people_ties", float((values == 0).mean()), float(np.mean(expected)), len(values),
                "share of pairs that planted people tie", None)  # fmt: skip
    for character in MODELS:
        for method in METHODS:
            tell(f"{character} {method}")
            found = measure(world, method, character)
            yield _line(
                f"{character}_{method}", found.value, found.predicted, found.pairs,
                f"se {found.se:.4f}; ties {found.ties:.3f}", found,
            )  # fmt: skip


def _line(
    name: str, value: float, baseline: float, n: int, note: str, found: Measured | None
) -> dict[str, object]:
    if found is not None:
        short = "" if found.follows else "short: "
        note = f"{short}required the noise model's accuracy within {SLACK:g} se; {note}"
    return {
        "name": name,
        "value": round(value, 4),
        "unit": "share",
        "baseline": round(baseline, 4),
        "ratio": round(value / baseline, 3) if baseline else None,
        "n": n,
        "note": note,
    }
