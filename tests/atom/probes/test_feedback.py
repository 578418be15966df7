"""What feedback does to simulated candidates, asked through the client as a study asks them."""

import asyncio
from math import exp

import pytest

from atom.judge import JudgeClient, PicturePart
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.answers.step_reader import read_steps
from atom.probes.candidates import planted_world
from atom.probes.judge import AnswerJudge
from atom.probes.worlds.make import make_probe
from atom.records import HintUse, Sampling
from atom.stages import answer, blind, correction, hint
from benchmarks.leak_gates import records_of

MODELS = ("model-b", "model-c", "model-d", "model-e", "model-g", "model-h")
PEER = "model-a"
REPEATS = 3
TEMPLATES = (
    ("charts", "peak"), ("charts", "trend"), ("tables", "gap"), ("tables", "convert"),
    ("gauges", "margin"), ("gauges", "numerals"), ("geometry", "area"), ("geometry", "angle"),
)  # fmt: skip
WARM = Sampling(temperature=0.7)


class Trial:
    """One probe with its records and a reader of its answers."""

    def __init__(self, family, template, index):
        probe = make_probe(family, 5, index, template=template)
        self.program = probe.program
        self.sample, self.criteria = records_of(probe.program)
        self.readers = read_steps(probe.program)
        self.pictures = [PicturePart.from_bytes(data) for data in probe.pictures]

    def scores(self, text):
        judge = AnswerJudge(self.readers, text)
        found = (judge.score(reader).score for reader in self.readers)
        return dict(zip((c.id for c in self.criteria), found, strict=True))


async def ask(clients, model, request):
    endpoints = {endpoint.model: endpoint for endpoint in builtin_endpoints()}
    if model not in clients:
        clients[model] = await JudgeClient(endpoints[model]).__aenter__()
    return await clients[model].ask(request)


async def run():
    """Return arm → (planted level, whether it's right now) of every failed step, and the rest."""
    world = planted_world()
    seen = {arm: [] for arm in ("told", "sham", "guided", "peer", "oracle")}
    clients, leaked, oracles = {}, [], []
    for family, template in TEMPLATES:
        trial = Trial(family, template, 0)
        steps = dict(zip((c.id for c in trial.criteria), trial.program.steps, strict=True))
        asked = answer.build(trial.sample, trial.pictures, WARM)
        reply = await ask(clients, PEER, asked)
        peer = answer.parse(reply, trial.sample, PEER, WARM)
        hints = []
        for c in trial.criteria:
            for attempt in range(2):
                request = hint.build(trial.sample, trial.pictures, c, peer, WARM, attempt=attempt)
                made = hint.parse(
                    await ask(clients, PEER, request), trial.sample, c, PEER, peer, WARM, attempt,
                    truths=trial.criteria,
                )  # fmt: skip
                leaked.append((attempt, made.detail.startswith(hint.LEAKED)))
                if made.state == "scored":
                    break
            hints.append(HintUse(criterion_id=c.id, hint_id=made.id, peer_id=PEER, text=made.text))
        for model in MODELS:
            first = answer.parse(await ask(clients, model, asked), trial.sample, model, WARM)
            scores = trial.scores(first.text)
            failing = [c for c in trial.criteria if (scores[c.id] or 5) <= 2]
            passed = [c for c in trial.criteria if (scores[c.id] or 0) >= 4]
            for arm in seen if failing and passed else ():
                about = {"told": (), "sham": passed}.get(arm, failing)
                for repeat in range(REPEATS):
                    built = correction.build(
                        trial.sample, trial.pictures, first, arm, WARM,
                        criteria=about, hints=hints, repeat=repeat,
                    )  # fmt: skip
                    if built.request is None:
                        continue
                    reply = await ask(clients, model, built.request)
                    made = correction.parse(
                        reply, trial.sample, first, arm, built.feedback, WARM, repeat
                    )
                    after = trial.scores(made.text)
                    if arm == "oracle":
                        oracles.append(made.text.rsplit("Answer: ", 1)[1])
                        oracles.append(
                            trial.program.answer
                            if not trial.sample.choices
                            else "ABCDEFGH"[trial.sample.choices.index(trial.program.answer)]
                        )
                    named = set(built.criterion_ids) if arm not in ("told", "sham") else None
                    seen[arm] += [
                        (world.eta(model, trial.program, steps[c.id]), (after[c.id] or 0) >= 4)
                        for c in failing
                        if named is None or c.id in named
                    ]
    for client in clients.values():
        await client.__aexit__(None, None, None)
    return seen, leaked, oracles


@pytest.fixture(scope="module")
def experiment():
    return asyncio.run(run())


def gain(rows):
    """Return the shift of the planted levels under which as many are right as were seen.

    `sum sigma(1.7 (eta + gain - 0.1)) = count`: 0.1 is the cut between 3 and 4.
    """
    count = sum(right for _, right in rows)
    low, high = -3.0, 6.0
    for _ in range(50):
        middle = (low + high) / 2
        expected = sum(1 / (1 + exp(-1.7 * (eta + middle - 0.1))) for eta, _ in rows)
        low, high = (middle, high) if expected < count else (low, middle)
    return low


@pytest.mark.slow
def test_planted_effects_are_recovered(experiment):
    seen, _, _ = experiment
    # told .3; .8 more where a failed step is named; nothing more on it where passed ones are
    planted = {"told": 0.3, "sham": 0.3, "guided": 1.1, "peer": 1.1}
    for arm, size in planted.items():
        rows = seen[arm]
        assert len(rows) > 80
        # the standard error of a share near .5, over the slope 1.7 / 4 at its steepest
        tolerance = 3 * 0.5 / len(rows) ** 0.5 / (1.7 * 0.2)
        assert gain(rows) == pytest.approx(size, abs=tolerance), arm
    assert gain(seen["guided"]) - gain(seen["sham"]) > 0.4


@pytest.mark.slow
def test_the_oracle_is_a_ceiling(experiment):
    seen, _, oracles = experiment
    assert all(right for _, right in seen["oracle"])
    assert oracles[::2] == oracles[1::2]


@pytest.mark.slow
def test_only_first_attempts_leak(experiment):
    _, leaked, _ = experiment
    assert not any(leak for attempt, leak in leaked if attempt)


def test_a_blind_candidate_guesses():
    trial = Trial("gauges", "numerals", 0)
    (choice,) = [c for c in trial.sample.choices if c == trial.program.answer]

    async def answers(text):
        clients = {}
        replies = [
            await ask(clients, "model-a", blind.build(trial.sample, text, WARM, repeat=n))
            for n in range(24)
        ]
        for client in clients.values():
            await client.__aexit__(None, None, None)
        return [blind.right(reply, trial.sample) for reply in replies]

    without = asyncio.run(answers(None))
    assert 0 < sum(map(bool, without)) < 24
    assert all(asyncio.run(answers(f"The clock shows {choice}.")))
