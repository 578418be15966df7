"""Commands that write, on a server: they do what they do in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from atom.cli.main import main
from atom.records import BenchSet, Call, Run, Sample
from atom.store import Store
from atom.store.schema import KINDS
from tests.app.screen_store import make_store

pytestmark = pytest.mark.slow

ON = ("--study", "Test study")
FRESH = ("--study", "Fresh")
ASKED = ("--judge", "probe-judge", "--yes")
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
        ("endpoint", "add", "mine", "--url", "http://127.0.0.1:9/v1", "--model", "m"),
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
    ),
    "probes": (
        ("probe", "make", "--samples", "3", "--families", "charts", *FRESH),
        ("run", "start", *FRESH, "--candidates", "model-h", *ASKED),
        ("tree", "induce", *FRESH, "--min-criteria", "1", "--min-samples", "1", *ASKED),
        ("judge", "bench", "mm_critic", "--set", "New", "--probes", "2", *ASKED),
        ("judge", "calibrate", "--probes", "1", *ASKED),
        ("judge", "delete", "{set}"),
        ("demo", "build", "--samples", "1", "--candidates", "1", "--parts", "none"),
    ),
}
"""People's roles and budgets are in `tests/atom/test_deployment.py`."""


@pytest.fixture(scope="module")
def both(tmp_path_factory, pg_server) -> tuple[Path, str]:
    """Return a judged study in a folder, and the database of a server that it was copied to."""
    made = make_store(tmp_path_factory.mktemp("both") / "store").folder
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


def newest(store: str) -> dict[str, str]:
    """Name what commands go on with: the last run, and a set of verdicts."""
    with Store.open(store) as opened:
        runs = sorted(opened.select(Run), key=lambda run: run.created)
        sets = sorted(one.id for one in opened.select(BenchSet))
    return {"run": runs[-1].id if runs else "", "set": sets[0] if sets else ""}


@pytest.mark.parametrize("chain", CHAINS)
def test_commands_do_on_a_server_what_they_do_in_a_folder(
    both, pg_server, tmp_path, monkeypatch, capsys, chain
):
    folder, template = both
    pg_server.sql(f"CREATE DATABASE {chain} TEMPLATE {template}")
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "no-demo"))
    seen: list[list[object]] = []
    for number, store in enumerate((str(tmp_path / "0" / "store"), pg_server.url(chain))):
        files, new = tmp_path / str(number) / "store", tmp_path / str(number)
        shutil.copytree(folder if number == 0 else folder.parent / "files", files)
        (new / "answers.csv").write_text(
            "id,question,answer,model,prediction\n1,What?,A,m,A\n2,Who?,B,m,C\n", encoding="utf-8"
        )
        with Store.open(store) as opened:
            sample = min(one.id for one in opened.select(Sample))
        (new / "rankings.csv").write_text(
            f"sample,candidate,rank,annotator\n{sample},model-a,1,me\n{sample},model-b,2,me\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("ATOM_FILES", str(files))
        found: list[object] = []
        for words in CHAINS[chain]:
            code = main([*(w.format(new=new, **newest(store)) for w in words), "--store", store])
            told = capsys.readouterr().err
            assert code == 0, f"{' '.join(words)}: {told[-500:]}"
            found.append((words[:2], rows(store)))
        seen.append(found)
    assert seen[0] == seen[1]
