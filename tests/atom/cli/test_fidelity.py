"""`fidelity` from planting to the table, as a user types it."""

from __future__ import annotations

import json

import pytest

from atom.cli.main import main
from atom.engine.demo import build_demo
from atom.records import Judge
from atom.store import Store


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fidelity") / "store"
    with Store.open(folder) as store:
        build_demo(store, samples=3, candidates=3, name="Few")
    return str(folder)


def call(*words):
    return main(["fidelity", *words])


@pytest.mark.slow
def test_from_nothing_to_a_table(place, capsys):
    told = ("--study", "Few", "--store", place)
    assert call("show", *told) == 0
    assert "fidelity plant" in capsys.readouterr().out
    assert call("plant", *told) == 0
    assert "9 labels on 3 samples" in capsys.readouterr().out
    assert call("show", *told) == 0
    out = capsys.readouterr().out
    assert "no rival method was asked yet: `fidelity run" in out
    assert "can’t be compared" not in out
    assert "Batch ranking" not in out
    assert call("run", "--judge", "probe-judge", "--dry-run", *told) == 0
    assert "3 samples: about 45 calls to probe-judge, free, offline." in capsys.readouterr().out
    assert call("run", "--judge", "probe-judge", "--methods", "batch,pointwise", *told) == 0
    out = capsys.readouterr().out
    assert "Batch ranking" in out
    assert "not asked yet: scan, no_replay, no_decomposition" in out
    assert call("show", "--json", *told) == 0
    shown = json.loads(capsys.readouterr().out)
    by_name = {row["name"]: row for row in shown["methods"]}
    assert by_name["atom"]["strict"]["value"] == by_name["batch"]["strict"]["value"]
    assert by_name["scan"]["strict"] is None
    assert shown["people"]["pairs"] == 9


def test_rankings_say_what_was_left_out(place, tmp_path, capsys):
    file = tmp_path / "r.csv"
    file.write_text("sample,candidate,rank\nlost,model-a,1\n", encoding="utf-8")
    assert call("rankings", str(file), "--study", "Few", "--store", place) == 2
    assert "no sample 'lost'" in capsys.readouterr().err


def test_an_unknown_judge_is_named(place, capsys):
    assert call("show", "--study", "Few", "--judge", "me", "--store", place) == 2
    assert "no judge 'me'" in capsys.readouterr().err
    with Store.open(place) as store:
        store.put([Judge(id=name, name="twin") for name in ("one", "two")])
    assert call("show", "--study", "Few", "--judge", "twin", "--store", place) == 2
    assert "2 judges are called 'twin': name one by its id" in capsys.readouterr().err
