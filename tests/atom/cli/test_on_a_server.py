"""Commands that write, on a server: they do what they do in a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from atom.cli.main import main
from atom.engine.batch.files import list_parcels, requests_file
from atom.probes.serving.batches import BatchEndpoint, jsonl
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.server import serving
from atom.records import BenchSet, Call, Experiment, Run, Sample
from atom.store import Store
from atom.store.schema import KINDS
from benchmarks.attacks._own import write_criteria
from tests.app.screen_store import draw_bars, make_store

pytestmark = pytest.mark.slow

ON = ("--study", "Test study")
FRESH = ("--study", "Fresh")
ASKED = ("--judge", "probe-judge", "--yes")
SERVED = ("--judge", "served", "--yes")
BROUGHT = ("--replies", "{new}/dev_code_exec_correction_obj.json", "--as", "me")
CHAINS = {
    "studies": (
        ("study", "copy", "Test study", "Another"),
        ("study", "rename", "Another", "Third"),
        ("export", "parquet", "--study", "Third", "--out", "{new}/third.zip"),
        ("study", "import", "{new}/third.zip", "--name", "Back"),
        ("study", "delete", "Third", "--yes"),
        ("study", "boxes", *ON),
        ("study", "version", *ON),
        ("study", "prepare", "Test study", "--processes", "1"),
        ("import", "table", "{new}/answers.csv", *FRESH),
        ("tree", "export", *ON, "--form", "yaml", "--out", "{new}/tree.yaml"),
        ("tree", "import", "{new}/tree.yaml", *FRESH),
        ("fidelity", "rankings", *ON, "{new}/rankings.csv"),
        ("study", "pictures", *FRESH, "{new}/pictures"),
        ("endpoint", "add", "mine", "--url", "http://127.0.0.1:9/v1", "--model", "m"),
        ("endpoint", "prices", "{new}/prices.csv"),
        ("endpoint", "test", "probe-judge"),
        ("figure", "write", *ON, "--figures", "ranking", "--format", "csv", "--out", "{new}/f"),
        ("report", "write", *ON, "--out", "{new}/report.html"),
    ),
    "runs": (
        ("run", "start", *ON, "--stages", "scoring", *ASKED),
        ("run", "resume", "{run}"),
        ("correct", "run", *ON, "--model", "model-a", *ASKED),
        ("tree", "rivals", *ON, *ASKED),
        ("run", "batch", "write", *ON, *ASKED),
        ("fidelity", "run", *ON, "--methods", "pointwise", "--limit", "3", *ASKED),
        ("pairs", "find", *ON, "--weak", "probe-judge", "--yes"),
        ("pairs", "keep", *ON, "--all"),
        ("pairs", "write", "{new}/pairs", *ON, "--all"),
        ("fidelity", "match", *ON, *ASKED),
        ("fidelity", "criteria", *ON, "--csv", "{new}/criteria.csv"),
    ),
    "probes": (
        ("probe", "make", "--samples", "3", "--seed", "2", "--families", "charts", *FRESH),
        ("run", "start", *FRESH, "--candidates", "model-a,model-b,model-d,model-h", *ASKED),
        ("tree", "induce", *FRESH, "--min-criteria", "1", "--min-samples", "1", *ASKED),
        ("tree", "compare", *FRESH, "0"),
        ("judge", "bench", "mm_critic", "--set", "New", "--probes", "2", *ASKED),
        ("judge", "calibrate", "--probes", "1", *ASKED),
        ("judge", "show", "{set}"),
        ("judge", "delete", "{set}"),
        ("fidelity", "plant", *FRESH),
        ("judge", "blind", *FRESH, "--questions", "1", "--answers", "1", *ASKED),
        ("correct", "run", *FRESH, "--model", "model-a", "--arms", "peer", *ASKED),
        ("correct", "show", "{experiment}"),
        ("correct", "gate", "{experiment}", "--yes"),
        ("run", "settle", *FRESH, "--goal", "leader", "--go", *ASKED),
        ("judge", "bench", "critic_bench", "--set", "Code", "--files", "{new}/code", *BROUGHT),
        ("judge", "run-code", "Code", "--judge", "me"),
        ("demo", "build", "--samples", "1", "--candidates", "1", "--parts", "none"),
    ),
    "service": (
        ("endpoint", "add", "served", "--url", "probe:{service}", "--model", "probe-judge"),
        ("run", "batch", "write", *ON, *SERVED),
        ("run", "batch", "drop", "{batch}"),
        ("run", "batch", "write", *ON, *SERVED),
        ("run", "batch", "send"),
        ("run", "batch", "cancel", "{batch}"),
        ("run", "batch", "fetch"),
        ("run", "batch", "write", *ON, *SERVED),
        ("run", "batch", "take", "{new}/replies.jsonl"),
        ("run", "batch", "status"),
        ("run", "batch", "run", *ON, *SERVED),
        ("probe", "make", "--samples", "3", "--seed", "2", "--families", "charts", *FRESH),
        ("run", "start", *FRESH, "--candidates", "model-h", "--detach", *SERVED),
        ("run", "stop"),
        ("run", "resume"),
    ),
}
"""`tests/rules/test_commands.py` says which commands are looked at elsewhere."""


@pytest.fixture(scope="module")
def both(tmp_path_factory, pg_server) -> tuple[Path, str]:
    """Return a judged study in a folder, and the database of a server that it was copied to."""
    here = make_store(tmp_path_factory.mktemp("both") / "store")
    made = here.folder
    with Store.open(made) as store:
        write_criteria(store, here.study, "Ann", lambda one: f"{one.question}\nIs it polite?")
    pg_server.sql("CREATE DATABASE judged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATOM_FILES", str(made.parent / "files"))
        assert main(["store", "copy", str(made), pg_server.url("judged")]) == 0
    return made, "judged"


def rows(store: str) -> dict[str, int]:
    """Count what a store holds, kind by kind; calls aside, of which equal runs make 15 or 16."""
    with Store.open(store) as opened, opened.read() as connection:
        count = sa.select(sa.func.count())
        return {
            record.__name__: connection.execute(count.select_from(kind.table)).scalar_one()
            for record, kind in KINDS.items()
            if record is not Call
        }


def newest(store: str, new: Path) -> dict[str, str]:
    """Name what commands go on with, the last of each kind; answer the last batch."""
    with Store.open(store) as opened:
        runs = sorted(opened.select(Run), key=lambda run: run.created)
        sets = sorted(one.id for one in opened.select(BenchSet))
        tried = opened.select(Experiment)
        batches = list_parcels(opened)
        if batches:
            lines = requests_file(opened, batches[-1]).read_bytes().splitlines()
            answers = [BatchEndpoint().answer(json.loads(line)) for line in lines]
            (new / "replies.jsonl").write_bytes(jsonl(answers))
    return {
        "run": runs[-1].id if runs else "",
        "set": sets[0] if sets else "",
        "experiment": tried[0].id if tried else "",
        "batch": batches[-1].name if batches else "",
    }


def write_files(new: Path, store: str) -> None:
    """Write what commands read: answers, pictures, prices, rankings, programs."""
    with Store.open(store) as opened:
        sample = min(one.id for one in opened.select(Sample))
    picture = draw_bars(99)
    program = {
        "question": "Square n", "generation": "def f(x): return x", "feedback": "Multiply.",
        "feedback_score": 2, "unit_test": "assert f(3) == 9", "data_source": "mbpp",
        "metadata": {"quality": "low"},
    }  # fmt: skip
    written = {"0": {"origin_prompt": "", "prediction": "```python\ndef f(x): return x * x\n```"}}
    files: dict[str, bytes | str] = {
        "answers.csv": "id,question,answer,model,prediction,image\n"
        "1,What?,A,m,A,1.png\n2,Who?,B,m,C,1.png\n",
        "pictures/1.png": picture,
        "prices.csv": "model,input,output\nm,3,9\n",
        "rankings.csv": f"sample,candidate,rank,annotator\n{sample},model-a,1,me\n"
        f"{sample},model-b,2,me\n",
        "code/code_exec_feedback_correction.json": json.dumps([program]),
        "dev_code_exec_correction_obj.json": json.dumps(written),
    }
    for name, data in files.items():
        (new / name).parent.mkdir(exist_ok=True)
        (new / name).write_bytes(data.encode() if isinstance(data, str) else data)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Serve models that take batches, and answer after a moment."""
    with serving(BatchEndpoint(ProbeConfig(latency=0.1), states=("completed",))) as url:
        yield url


@pytest.mark.parametrize("chain", CHAINS)
def test_commands_do_on_a_server_what_they_do_in_a_folder(
    both, pg_server, service, tmp_path, monkeypatch, capsys, chain
):
    folder, template = both
    pg_server.sql(f"CREATE DATABASE {chain} TEMPLATE {template}")
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "no-demo"))
    seen: list[list[object]] = []
    for number, store in enumerate((str(tmp_path / "0" / "store"), pg_server.url(chain))):
        files, new = tmp_path / str(number) / "store", tmp_path / str(number)
        shutil.copytree(folder if number == 0 else folder.parent / "files", files)
        write_files(new, store)
        monkeypatch.setenv("ATOM_FILES", str(files))
        found: list[object] = []
        for words in CHAINS[chain]:
            given = [w.format(new=new, service=service, **newest(store, new)) for w in words]
            code = main([*given, "--store", store])
            told = capsys.readouterr().err
            assert code == 0, f"{' '.join(words)}: {told[-500:]}"
            # How far a run comes before it is stopped is a matter of moments.
            if "--detach" not in words and words[1] != "stop":
                found.append((words[:3], rows(store)))
        seen.append(found)
    assert seen[0] == seen[1]
