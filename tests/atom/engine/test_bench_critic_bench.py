"""CriticBench from files to figures, offline: made, asked, graded, exported, programs run."""

from __future__ import annotations

import asyncio
import json

import pytest

from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import import_replies, items_of, keep_set, make_probe_set, read_set
from atom.engine.code.runs import run_programs
from atom.engine.work import carry_out, open_work
from atom.errors import UsageError
from atom.formats.base import ImportFile
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judgebench.critic_bench.corrections import WORDS
from atom.records import Judge, Verdict
from atom.stages.verdicts import blank
from atom.store import Store
from atom.store import table as columns_of
from atom.views.lab.page import bench_result
from tests.exported import critic_lines


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


def figures(store, set_id, judge):
    return {
        row.metric + "/" + row.group: row for row in bench_result(store, set_id, judge).headline
    }


@pytest.mark.slow
def test_end_to_end_with_a_scorer_and_again_from_the_exported_replies(store):
    record = make_probe_set(store, "critic_bench", 15, seed=2)
    assert (record.synthetic, record.skipped) == (True, ())
    endpoints = {one.name: one for one in builtin_endpoints()}
    spec = BenchSpec(
        set_id=record.id, judge="probe-judge", scorer="probe-judge",
        parts=("feedback", "compare", "correction", "meta_feedback", "run_code"),
    )  # fmt: skip
    row = open_work(store, spec, endpoints)
    ended = asyncio.run(carry_out(store, row.id, endpoints))
    assert ended.state == "done"
    assert "there was no program to run" in ended.message
    judge = next(one.id for one in store.select(Judge) if one.name == "probe-judge")
    found = figures(store, record.id, judge)
    assert found["objective_overall/"].value == pytest.approx(100)
    assert found["subjective_overall/"].value == 8
    assert bench_result(store, record.id, judge).missing == 0

    mine = [v for v in store.select(Verdict) if not v.part.startswith("scorer/")]
    lines = "\n".join(json.dumps(line) for line in critic_lines(mine)).encode()
    taken = import_replies(store, record.id, [ImportFile.from_bytes("r.jsonl", lines)], "copy")
    assert (len(taken.verdicts), taken.skipped) == (len(mine), ())
    assert figures(store, record.id, "copy")["objective_overall/"].value == pytest.approx(100)


def test_programs_are_run_only_when_asked_for(store):
    rows = [
        {"question": f"Square {n}", "generation": "def f(x): return x", "feedback": "Multiply.",
         "feedback_score": 2, "unit_test": "assert f(3) == 9", "data_source": "mbpp",
         "metadata": {"quality": "low"}}
        for n in range(4)
    ]  # fmt: skip
    file = ImportFile.from_bytes("code_exec_feedback_correction.json", json.dumps(rows).encode())
    record = keep_set(store, read_set(store, "critic_bench", "code", [file]))
    replies = ["```python\ndef f(x): return x * x\n```", "```python\ndef f(x): return x\n```",
               "I'd rather not.", "```python\nimport os\nos.system('id')\n```"]  # fmt: skip
    predictions = {str(n): {"origin_prompt": "", "prediction": t} for n, t in enumerate(replies)}
    data = json.dumps(predictions).encode()
    import_replies(
        store, record.id, [ImportFile.from_bytes("dev_code_exec_correction_obj.json", data)], "m"
    )
    before = figures(store, record.id, "m")["pass_rate/correction"]
    assert before.n == 0
    assert "4 programs weren't run: ask for the part run_code" in before.note
    halted = run_programs(store, record.id, "m", stopped=lambda: True)
    assert (halted.left, halted.protection) == (4, "")
    ran = run_programs(store, record.id, "m")
    assert (ran.passed, ran.failed, ran.unscored, ran.left) == (1, 2, 1, 0)
    assert "no network" in ran.sentence
    after = figures(store, record.id, "m")["pass_rate/correction"]
    assert (after.value, after.n, after.invalid) == (25, 4, 1)
    again = run_programs(store, record.id, "m")
    assert again.sentence == "there was no program to run"
    assert len(items_of(store, record.id)) == 4
    # The same judge revised two of them by its own critique: one passes with that, none without.
    own = [
        blank(record.id, one.subject_id, "correction_own", "m", "p/1", one.sampling).model_copy(
            update={"state": "scored", "text": text}
        )
        for one, text in zip(
            store.select(Verdict, columns_of(Verdict).c.part == "correction")[:2],
            ["```python\ndef f(x): return x ** 2\n```", "```python\ndef f(x): return 0\n```"],
            strict=True,
        )
    ]
    store.put(own)
    assert run_programs(store, record.id, "m").passed == 1
    table = bench_result(store, record.id, "m").tables[-1]
    assert [(row.group, row.n) for row in table.rows] == [(w, 2) for w in (*WORDS.values(),)[:2]]
    assert table.rows[1].value == 50
    with pytest.raises(UsageError, match="no set"):
        run_programs(store, "gone", "m")
