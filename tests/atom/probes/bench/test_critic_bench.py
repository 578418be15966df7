"""CriticBench's probes: files in the published layout, three judges, chance levels."""

import json
import math
from functools import partial

import pytest

from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judge.reply import Reply
from atom.judge.request import TextPart
from atom.judgebench.base import BenchPlan, LoadOptions
from atom.judgebench.critic_bench.benchmark import BENCH
from atom.probes.answers.step_reader import read_steps
from atom.probes.bench import critic_bench as bench_critic_bench
from atom.probes.bench.critic_bench import (
    TASKS,
    comparison,
    critique,
    look_at,
    share_true,
    worth,
)
from atom.probes.bench.registry import make_bench_files
from atom.probes.bench.types import BenchQuestion
from atom.probes.chunk import read_program
from atom.probes.draws import Draws
from atom.probes.worlds import make_probe, make_probes
from atom.records import Call

CHEAP = {"geometry": 1}


@pytest.fixture(scope="module")
def probes():
    """200 items of the families that are drawn fast, read back from files made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_critic_bench, "make_probes", partial(make_probes, mix=CHEAP))
        files = make_bench_files("critic_bench", 200, 5)
    read = BENCH.load(
        [ImportFile.from_bytes(name, data) for name, data in files.rows.items()],
        LoadOptions(set_id="set", pictures=MemoryPictures(files.pictures)),
    )
    programs = {name: read_program(data) for name, data in files.pictures.items()}
    return files, read, programs


def ask_all(worklist, items, programs, characters):
    """Have probe judges answer a worklist without an endpoint."""
    by_id = {item.id: item for item in items}
    steps, have = {}, {}
    for _ in range(2):
        for ask in worklist.asks(have):
            if ask.key in have:
                continue
            request = ask.build()
            text = next(part.text for part in request.parts if isinstance(part, TextPart))
            block = text.split("BEGIN DATA\n")[1].split("\nEND DATA")[0]
            name = by_id[ask.blank.subject_id].pictures[0].name
            program = programs[name]
            readers = steps.setdefault(name, read_steps(program))
            question = BenchQuestion(
                task=request.task, data=json.loads(block), program=program, readers=readers,
                character=characters[ask.by], draws=Draws("test", ask.key),
            )  # fmt: skip
            data = TASKS[request.task](question)
            call = Call(id="c", request_hash="h", task=request.task, endpoint="e", model="m",
                        prompt=request.prompt_id)  # fmt: skip
            reply = Reply(state="ok", text=json.dumps(data), data=data, call=call)
            have[ask.key] = ask.read(reply, ask.blank)
    return list(have.values())


def judged(probes, character, scorer=None):
    _, read, programs = probes
    plan = BenchPlan(set_id="set", items=read.items, pictures=lambda _: (), judge="judge",
                     scorer="scorer" if scorer else None)  # fmt: skip
    verdicts = ask_all(
        BENCH.worklist(plan), read.items, programs, {"judge": character, "scorer": scorer}
    )
    return {
        row.metric + "/" + row.group: row for row in BENCH.measure(read.items, verdicts).headline
    }


@pytest.mark.slow
def test_files_are_in_the_published_layout(probes):
    files, read, _ = probes
    assert sorted(files.rows) == sorted(
        name.format(domain)
        for domain in ("qa", "math_cot")
        for name in ("{}_feedback_correction.json", "{}_comp_feedback.json",
                     "meta_feedback_singlewise_{}.json")
    )  # fmt: skip
    assert read.skipped == ()
    assert len(read.items) == 200
    kinds = [item.data["kind"] for item in read.items]
    assert [kinds.count(kind) for kind in ("answer", "pair", "critique")] == [80, 80, 40]
    preferred = [item.data["preference"] for item in read.items if item.data["kind"] == "pair"]
    assert {"a", "b"} == set(preferred)
    assert all(slot.picture_id for item in read.items for slot in item.pictures)


@pytest.mark.slow
def test_equal_seeds_give_equal_files():
    one, two = (make_bench_files("critic_bench", 3, 3) for _ in range(2))
    assert one.rows == two.rows
    assert one.rows != make_bench_files("critic_bench", 3, 4).rows


@pytest.mark.slow
def test_the_exact_judge_is_right_throughout(probes):
    found = judged(probes, "exact", "exact")
    assert found["spearman/feedback"].value == pytest.approx(100)
    assert found["spearman/meta_feedback"].value == pytest.approx(100)
    assert found["accuracy/comp_feedback"].value == 100
    assert found["pass_rate/correction"].value == 100
    assert found["objective_overall/"].value == pytest.approx(100)
    for part in ("feedback", "comp_feedback", "correction"):
        assert found[f"subjective_score/{part}"].value == 8


@pytest.mark.slow
def test_a_coin_is_at_every_chance_level(probes):
    found = judged(probes, "coin", "exact")
    for part in ("feedback", "meta_feedback"):
        row = found[f"spearman/{part}"]
        # The error of a correlation of independent scores is 100 / sqrt(n - 1).
        assert abs(row.value - row.chance) <= 3.5 * 100 / math.sqrt(row.n - 1)
    row = found["accuracy/comp_feedback"]
    assert row.chance == 25
    assert abs(row.value - 25) <= 3.5 * 100 * math.sqrt(0.25 * 0.75 / row.n)
    assert found["pass_rate/correction"].value == found["pass_rate/correction"].chance == 0
    overall = found["objective_overall/"]
    # The 95 % interval's half-widths are 1.96 standard errors.
    wide = 3.5 / 1.96
    assert overall.value - wide * (overall.value - overall.lo) < overall.chance
    assert overall.chance < overall.value + wide * (overall.hi - overall.value)
    assert found["subjective_score/feedback"].value < 6


@pytest.mark.slow
def test_the_noisy_judge_is_between(probes):
    found = judged(probes, "noisy")
    for name in ("spearman/feedback", "spearman/meta_feedback", "accuracy/comp_feedback"):
        assert found[name].chance + 20 < found[name].value < 100, name


def test_a_critique_is_worth_the_share_of_its_true_claims():
    program = make_probe("tables", 3, 0).program
    steps = read_steps(program)
    look = look_at(steps, "I can't tell.")
    # Silence on every step is a 2: 1 + 1.5 (2 - 1) = 2.5, rounded half up.
    assert (look.mean, look.likert) == (2.0, 3)
    right = critique(steps, look.claims)
    assert (share_true(steps, right, look.claims), worth(steps, right, look.claims)) == (1.0, 7)
    wrong = critique(steps, {step: not said for step, said in look.claims.items()})
    assert worth(steps, wrong, look.claims) == 1
    assert worth(steps, "", look.claims) == 1
    assert comparison(steps, look.claims, look.claims, "neither").endswith("They are alike.")
