"""`tree induce|show|validity|compare|export`, on a small judged study."""

import json
import shutil

import pytest

from atom.cli.main import main
from atom.engine.demo import build_demo
from atom.store import Store


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged") / "store"
    with Store.open(folder) as store:
        build_demo(store, samples=18, candidates=3, seed=4, name="Small")
    return folder


@pytest.fixture
def place(judged, tmp_path):
    shutil.copytree(judged, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def atom(place, capsys):
    """Return a function that runs a command on the store and gives code, output and problems."""

    def call(*words, as_json=False):
        extra = ["--json"] if as_json else []
        code = main(["tree", *words, "--study", "Small", "--store", str(place), *extra])
        out, err = capsys.readouterr()
        return code, json.loads(out) if as_json else out, err

    return call


GROW = ("induce", "--min-criteria", "2", "--min-samples", "2", "--rounds", "1")


def test_growing_and_looking(atom, tmp_path):
    code, expected, _ = atom(*GROW, "--dry-run", as_json=True)
    assert code == 0
    assert expected["cost"] == 0
    phases = [phase["phase"] for phase in expected["phases"]]
    assert phases == ["proposing", "uniting", "weeding", "mapping"]

    code, grown, err = atom(*GROW, as_json=True)
    assert (code, grown["state"], grown["position"]) == (0, "done", 1)
    assert "about" in err
    assert grown["unmapped"] == 0

    code, tree, _ = atom("show", as_json=True)
    assert tree["version"] == grown["version"]
    assert len(tree["leaves"]) == grown["leaves"]
    assert all(leaf["criteria"] >= 2 and leaf["samples"] >= 2 for leaf in tree["leaves"])
    code, text, _ = atom("show")
    assert "  Fine detail" in text
    assert "criteria of" in text

    _, versions, _ = atom("show", "--versions", as_json=True)
    assert [v["origin"] for v in versions] == ["seed", "induced"]
    assert [v["current"] for v in versions] == [False, True]
    _, log, _ = atom("show", "--log", as_json=True)
    assert len(log) == grown["edits"]
    assert "round" in atom("show", "--log")[1]
    assert atom("show", "--yaml")[1].startswith("name:")
    assert "no edits are logged" in atom("show", "--version", "0", "--log")[1]

    _, diff, _ = atom("compare", "0", as_json=True)
    assert diff["new"] == grown["version"]
    gone = len(diff["dropped"]) + len(diff["merged"]) + len(diff["moved"]) + len(diff["renamed"])
    assert gone + diff["kept"] == 40
    assert "leaves stayed" in atom("compare", "0", "1")[1]

    for form in ("yaml", "graphml", "evaltree"):
        file = tmp_path / f"tree.{form}"
        code, made, _ = atom("export", "--form", form, "--out", str(file), as_json=True)
        assert (code, made["bytes"]) == (0, file.stat().st_size)
    assert atom("export", "--out", str(tmp_path / "tree.yaml"))[0] == 2


def test_validity(atom):
    code, found, _ = atom("validity", as_json=True)
    assert code == 0
    assert 0 < found["own"]["p"] <= 1
    assert found["own"]["loso"]["n"] > 0
    code, text, _ = atom("validity")
    assert "LOSO delta" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("induce", "--samples", "some"), "a number or `all`"),
        (("induce", "--samples", "0"), "0 samples"),
        (("induce", "--judge", "nobody"), "no endpoint"),
        (("show", "--version", "9"), "0 tree versions fit"),
        (("compare", "zzz"), "0 tree versions fit"),
    ],
)
def test_mistakes_are_told_in_words(atom, words, said):
    code, _, err = atom(*words)
    assert code == 2
    assert said in err


def test_a_price_needs_a_yes(atom, place, tmp_path):
    file = place / "endpoints.yaml"
    file.write_text(
        "- {name: dear, base_url: 'probe:', model: probe-judge,"
        " prices: {input: 100, output: 100}}\n"
    )
    code, _, err = atom("induce", "--judge", "dear")
    assert code == 2
    assert "agree with --yes" in err
    assert "$" in err
    code, stopped, _ = atom("induce", "--judge", "dear", "--yes", "--budget", "0.5", as_json=True)
    assert (code, stopped["state"], stopped["version"]) == (1, "stopped", None)
    assert "larger budget" in stopped["message"]
