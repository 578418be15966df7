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


@pytest.mark.slow
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
    lines = text.splitlines()
    assert lines[1].split() == ["Capability", "Criteria", "Samples"]
    rows = {line.rsplit(None, 2)[0]: [int(n) for n in line.split()[-2:]] for line in lines[2:]}
    under = [leaf for leaf in tree["leaves"] if leaf["path"][0] == "Perception"]
    assert rows["Perception"][0] == sum(leaf["criteria"] for leaf in under)
    most = max(leaf["samples"] for leaf in under)
    assert most <= rows["Perception"][1] <= sum(leaf["samples"] for leaf in under)
    assert "· Fine detail" in rows

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


@pytest.mark.slow
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


def evaltree(rows: int) -> bytes:
    """Write a tree of two groups: even rows and odd ones."""
    return json.dumps({
        "description": "All",
        "subtrees": {
            str(part): {
                "description": f"Part {part} of {rows}",
                "subtrees": [{"description": f"row {row}", "subtrees": row}
                             for row in range(part, rows, 2)],
            }
            for part in (0, 1)
        },
    }).encode()  # fmt: skip


def test_an_evaltree_file_becomes_a_study_s_tree(place, tmp_path, atom, capsys):
    file = tmp_path / "capability_tree.json"
    # As many rows as samples: rows are samples. Fewer: only where it is said.
    file.write_bytes(evaltree(12))
    code, found, _ = atom("import", str(file), as_json=True)
    assert (code, found["leaves"], found["depth"], found["criteria"]) == (0, 2, 2, 0)
    file.write_bytes(evaltree(10))
    code, out, _ = atom("import", str(file), "--rows-are-samples")
    assert "leaves, 2 layers" in out
    assert "31 scored criteria hang nowhere yet.\n`run start --stages mapping` hangs" in out
    file.write_bytes(evaltree(40))
    code, _, err = atom("import", str(file), "--rows-are-samples")
    assert code != 0
    assert "the file speaks of row 39 and the study has 18 samples" in err
    file.write_bytes(evaltree(18))
    code, found, _ = atom("import", str(file), as_json=True)
    assert code == 0
    # Every criterion hangs in its sample's half.
    code, shown, _ = atom("show", as_json=True)
    assert [leaf["path"] for leaf in shown["leaves"]] == [
        ["All", "Part 0 of 18"],
        ["All", "Part 1 of 18"],
    ]
    assert [leaf["samples"] for leaf in shown["leaves"]] == [9, 9]
    code, _, err = atom("import", str(tmp_path / "nowhere.json"))
    assert code != 0
    assert "there is no file" in err


def test_a_published_evaltree_file_opens_with_its_published_weaknesses(shared_folder, capsys):
    folder = shared_folder / "real" / "evaltree" / "DS-1000"
    expected = json.loads((shared_folder / "real" / "expected.json").read_text())["evaltree"]
    for model in ("deepseek-coder-6.7b-base", "gpt-4o-2024-08-06"):
        want = expected[f"DS-1000/{model}"]
        words = ["tree", "open", str(folder / "capability_tree.json")]
        assert main([*words, "--results", str(folder / model / "results.json"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["all_nodes"], found["rows"]) == (want["nodes"], want["leaves"])
        assert found["overall"] == pytest.approx(want["overall_accuracy_all_rows"])
        assert found["nodes"][0]["value"] == pytest.approx(want["root_accuracy"], abs=1e-4)
        assert [one["rows"] for one in found["weak"]] == want["profile_sizes_alpha0.05_thr0.4"]
        known = [one for one in found["nodes"] if one["interval"] is not None]
        assert len(known) == want["nodes_with_ci"]
    assert main([*words, "--results", str(folder.parent / "MATH" / "synthetic_ground_truth.json")])
    assert "expected 0, 1 or verdicts" in capsys.readouterr().err
