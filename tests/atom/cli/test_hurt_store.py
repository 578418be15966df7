"""Every command on a store that can't be written, or can't be read: a sentence, no traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from atom.cli.main import main
from tests.app.screen_store import Made, make_store
from tests.hurt import LOST, READABLE, impatient

pytestmark = pytest.mark.attack

STUDY = ("--study", "Test study")
READERS = {
    "study list": (),
    "run status": (),
    "correct list": STUDY,
    "tree show": STUDY,
    "tree validity": STUDY,
    "profile show": ("--model", "model-a", *STUDY),
    "compare": ("model-a", "model-b", *STUDY),
    "study version": STUDY,
    "judge list": (),
    "fidelity show": STUDY,
    "report write": STUDY,
    "report write --out": (*STUDY, "--out", "{new}.html"),
    "export csv": ("csv", *STUDY, "--out", "{new}"),
    "export parquet": ("parquet", *STUDY, "--out", "{new}.zip"),
    "export html": ("html", *STUDY, "--out", "{new}.html"),
    "tree export": (*STUDY, "--form", "yaml", "--out", "{new}.yaml"),
    "store check": (),
    "store check --read-only": ("--read-only",),
    "endpoint list": (),
    "endpoint presets": (),
    "figure list": (),
    "figure write": (*STUDY, "--figures", "ranking", "--format", "csv", "--out", "{new}"),
    "judge blind": STUDY,
    "judge panel": STUDY,
    "failures groups": ("Test study",),
    "run blind": STUDY,
    "run settle": STUDY,
}
WRITERS = {
    "study copy": ("Test study", "Another"),
    "study prepare": ("Test study", "--processes", "1"),
    "study rename": ("Test study", "Another"),
    "study delete": ("Test study", "--yes"),
    "study boxes": STUDY,
    "study pictures": (*STUDY, "{pictures}"),
    "demo build": ("--samples", "1", "--candidates", "1", "--parts", "none"),
    "probe make": ("--samples", "1", "--study", "Fresh"),
    "import": ("table", "{answers}", "--study", "Fresh"),
    "run start": (*STUDY, "--judge", "probe-judge", "--stages", "scoring", "--yes"),
    "run resume": ("nowhere",),
    "run stop": ("nowhere",),
    "run batch": ("status",),
    "correct run": (*STUDY, "--model", "model-a", "--judge", "probe-judge", "--yes"),
    "correct show": ("nowhere",),
    "correct gate": ("nowhere",),
    "tree induce": (*STUDY, "--judge", "probe-judge", "--yes"),
    "tree compare": (*STUDY, "0"),
    "judge bench": (
        "mm_critic",
        "--set",
        "mm_critic",
        "--probes",
        "1",
        "--judge",
        "probe-judge",
        "--yes",
    ),
    "judge show": ("nowhere",),
    "judge calibrate": ("--judge", "probe-judge", "--probes", "1", "--yes"),
    "judge delete": ("nowhere",),
    "judge run-code": ("nowhere", "--judge", "probe-judge"),
    "fidelity run": (*STUDY, "--judge", "probe-judge", "--yes"),
    "fidelity plant": STUDY,
    "fidelity rankings": (*STUDY, "{answers}"),
    "pairs find": (*STUDY, "--weak", "probe-judge", "--yes"),
    "pairs show": STUDY,
    "ask": ("Test study", "who is best?"),
    "fidelity criteria": STUDY,
    "fidelity match": (*STUDY, "--judge", "probe-judge", "--yes"),
    "pairs write": (*STUDY, "{new}"),
    "pairs keep": STUDY,
    "study import": ("{answers}",),
    "tree import": (*STUDY, "{answers}"),
    "tree rivals": (*STUDY, "--judge", "probe-judge", "--yes"),
    "run batch write": (*STUDY, "--judge", "probe-judge", "--yes"),
    "endpoint prices": ("{answers}",),
    "endpoint add": ("mine", "--url", "http://127.0.0.1:9/v1", "--model", "m"),
}
COMMANDS = {**READERS, **WRITERS}
EMPTY_HANDED = {"correct list", "fidelity show", "judge blind", "judge panel", "run blind"}
"""Readers that have nothing to show of this study."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Made:
    """Return a judged study that nobody hurts."""
    return make_store(tmp_path_factory.mktemp("whole") / "store")


@pytest.fixture
def given(whole, tmp_path, monkeypatch) -> Path:
    """Return a folder with a copy of the store, answers to import and pictures."""
    shutil.copytree(whole.folder, tmp_path / "store")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "answers.csv").write_text(
        "id,question,answer,model,prediction\n1,What?,A,m,A\n2,Who?,B,m,C\n", encoding="utf-8"
    )
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "no-demo"))
    return tmp_path


def say(command: str, given: Path) -> int:
    """Run a command in this process; whatever it raises goes through."""
    name = command.split(" --")[0].split()
    if name[0] == "export":
        name = name[:1]
    new = given / "new" / command.replace(" ", "-")
    words = [
        word.format(new=new, pictures=given / "pictures", answers=given / "answers.csv")
        for word in COMMANDS[command]
    ]
    try:
        return main([*name, *words, "--store", str(given / "store")])
    except SystemExit as usage:
        pytest.fail(f"{command}: the command line is wrong ({usage})")


def sentence(err: str) -> str:
    """Return what stands on the error output, which is words and no stack."""
    assert "Traceback" not in err
    assert "sqlalche.me" not in err
    return err.strip()


@pytest.mark.parametrize("hurt", READABLE, ids=lambda hurt: hurt.__name__)
def test_what_can_be_read_is_read(given, capsys, hurt):
    with impatient(), hurt(given / "store"):
        for command in READERS:
            code = say(command, given)
            told = sentence(capsys.readouterr().err)
            assert code == (2 if command in EMPTY_HANDED and code else 0), f"{command}: {told}"


@pytest.mark.parametrize("hurt", READABLE, ids=lambda hurt: hurt.__name__)
def test_what_cannot_be_written_is_said_in_words(given, capsys, hurt):
    with impatient(), hurt(given / "store"):
        for command in WRITERS:
            code = say(command, given)
            told = sentence(capsys.readouterr().err)
            assert code in (0, 1, 2, 3), f"{command}: {told}"
            assert told or code in (0, 1), f"{command}: refused without a word"


@pytest.mark.parametrize("hurt", LOST, ids=lambda hurt: hurt.__name__)
def test_what_cannot_be_read_is_said_in_words(given, capsys, hurt):
    """Fall 24 of design/074."""
    with impatient(), hurt(given / "store"):
        for command in COMMANDS:
            code = say(command, given)
            told = sentence(capsys.readouterr().err)
            assert code in (0, 1, 2, 3), f"{command}: {told}"
            assert told or code in (0, 1), f"{command}: refused without a word"
