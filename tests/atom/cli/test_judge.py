"""`judge`: data in, a judge asked, figures out, as words and as one JSON document."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.ledger import LEASE, run_claim
from atom.engine.process import owner_name
from atom.engine.work import open_work
from atom.errors import PictureError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judgebench.registry import BENCHES
from atom.probes.bench.registry import MAKERS
from atom.records import PictureSlot
from atom.store import Store
from atom.store.schema import claims
from tests.app.lab_store import ITEMS, NAME, TOY, Questions, load, make_files, make_set


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """Register the tiny benchmark."""
    monkeypatch.setitem(BENCHES, NAME, TOY)
    monkeypatch.setitem(MAKERS, NAME, make_files)


@pytest.fixture
def letters(tmp_path):
    path = tmp_path / "letters.jsonl"
    path.write_text('{"best": "a"}\nbroken\n', encoding="utf-8")
    return path


def test_benchmarks_and_sets_are_listed(say, place):
    assert "no sets yet" in say("judge", "list").out
    assert say("judge", "bench", NAME, "--probes", "3").code == 0
    data = say("judge", "list", "--json").data
    assert {"name": NAME, "title": "Toy bench", "about": TOY.about, "parts": dict(TOY.parts)} in (
        data["benchmarks"]
    )
    assert [(one["name"], one["items"], one["synthetic"]) for one in data["sets"]] == [
        ("Probes 0 (3 items)", 3, True)
    ]


def test_the_same_probes_are_made_once(say):
    for _ in range(2):
        assert say("judge", "bench", NAME, "--probes", "3").code == 0
    assert len(say("judge", "list", "--json").data["sets"]) == 1


def test_files_are_taken_in_with_a_column_map(say, letters, tmp_path):
    columns = tmp_path / "columns"
    columns.write_text("better = best", encoding="utf-8")
    said = say("judge", "bench", NAME, "--files", str(letters), "--columns", str(columns))
    assert said.code == 0
    assert "1 item; name a judge with --judge" in said.out
    assert "letters.jsonl line 2: no 'best'" in said.err
    assert "a note" in said.err
    again = say("judge", "bench", NAME, "--files", str(letters), "--columns", str(columns))
    assert again.code != 0
    assert "choose another name, or delete it" in again.err


def test_what_would_be_asked_is_said_first(say):
    say("judge", "bench", NAME, "--probes", "3")
    words = ("judge", "bench", NAME, "--judge", "probe-judge", "--dry-run")
    assert "3 items: 3 calls to probe-judge, free" in say(*words).out
    assert say(*words, "--json").data == {
        "items": 3, "calls": {"probe-judge": 3}, "cost": 0.0, "later": False,
        "without_picture": 0,
    }  # fmt: skip


def test_figures_are_one_json_document(say, place, tmp_path):
    make_set(tmp_path / "store", {"good": ["a"] * 9 + [""]})
    data = say("judge", "show", "Letters", "--judge", "good", "--json").data
    assert (data["judge"], data["set"]["name"], data["missing"]) == ("good", "Letters", ITEMS - 10)
    strict, valid = data["headline"]
    assert (strict["rule"], strict["n"], strict["invalid"], strict["chance"]) == (
        "strict", 10, 1, 50.0
    )  # fmt: skip
    assert valid["value"] == 100.0
    # There is no value to compute: null, since JSON knows no NaN.
    assert data["tables"][0]["rows"][0]["value"] is None
    assert "NaN" not in json.dumps(data)


def test_judges_are_shown_with_chance(say, place, tmp_path):
    make_set(tmp_path / "store", {"good": ["a"] * ITEMS})
    said = say("judge", "show", "Letters")
    assert "Accuracy 100.0 % (chance 50.0)" in said.out
    data = say("judge", "show", "Letters", "--json").data
    assert [(one["name"], len(one["headline"])) for one in data["judges"]] == [("good", 1)]


def test_replies_made_elsewhere_are_scored(say, tmp_path):
    make_set(tmp_path / "store")
    replies = tmp_path / "replies.txt"
    replies.write_text("a b a b", encoding="utf-8")
    words = ("judge", "bench", NAME, "--set", "Letters", "--replies", str(replies))
    assert "--as NAME" in say(*words).err
    said = say(*words, "--as", "elsewhere", "--json")
    assert said.data["judge"] == "elsewhere"
    assert said.data["headline"][0]["value"] == 50.0
    assert "one too many" in said.err


def test_published_figures_are_printed_with_errata(say, monkeypatch):
    monkeypatch.setitem(BENCHES, "vl_rewardbench", TOY)
    said = say("judge", "published", "vl_rewardbench")
    assert "65.8 printed, 65.629 recomputed" in said.out
    data = say("judge", "published", "vl_rewardbench", "--json").data
    assert [one["figure"] for one in data][:2] == ["Overall accuracy", "Macro accuracy"]
    assert (data[0]["of"], data[0]["place"], len(data[0]["models"])) == (16, None, 16)
    assert len(say("judge", "published", "--json").data) > 20


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bench", "nope"), "there are "),
        (("bench", NAME), "--probes 60"),
        (("bench", NAME, "--probes", "0"), "1 to 5,000"),
        (("bench", NAME, "--probes", "3", "--files", "x"), "not from both"),
        (("bench", NAME, "--study", "x"), "makes a set of best_of_n"),
        (("bench", NAME, "--model", "m"), "of a --study"),
        (("bench", "best_of_n", "--study", "x"), "--model NAME"),
        (("bench", "best_of_n", "--study", "x", "--model", "m"), "no study"),
        (("bench", NAME, "--files", "/no/such"), "no file or folder '/no/such'"),
        (("bench", NAME, "--set", "gone"), "there is no set 'gone'"),
        (("show", "gone"), "there is no set 'gone'"),
        (("delete", "gone"), "there is no set 'gone'"),
        (("published", "nope"), "there are "),
    ],
)
def test_an_error_names_what_to_do(say, words, told):
    said = say("judge", *words)
    assert said.code != 0
    assert told in said.err
    assert "Traceback" not in said.err


def test_pictures_and_columns_that_are_not_there_are_errors(say, letters):
    base = ("judge", "bench", NAME, "--files", str(letters))
    assert "(--pictures)" in say(*base, "--pictures", "/no/such").err
    assert "there is no file" in say(*base, "--columns", "/no/such").err


def test_a_set_is_deleted(say, tmp_path):
    make_set(tmp_path / "store", {"good": ["a"]})
    assert "is gone" in say("judge", "delete", "Letters").out
    assert say("judge", "list", "--json").data["sets"] == []


def test_a_set_that_a_run_works_on_stays(say, tmp_path):
    with Store.open(tmp_path / "store") as store:
        record = make_probe_set(store, NAME, 2, name="Letters")
        endpoints = {one.name: one for one in builtin_endpoints()}
        run = open_work(store, BenchSpec(set_id=record.id, judge="probe-judge"), endpoints)
        owner = owner_name(run.id)
        with store.write() as writer:
            assert writer.claim([run_claim(run.id)], owner, LEASE, time.time())
        said = say("judge", "delete", "Letters")
        assert said.code != 0
        assert f"`run stop {run.id}`" in said.err
        with store.write() as writer:
            writer.execute(claims.delete())
    assert "is gone" in say("judge", "delete", "Letters").out


def test_what_was_left_out_is_said_when_a_set_is_new(say, letters):
    letters.write_text('{"better": "a"}\n' + "broken\n" * 15, encoding="utf-8")
    words = ("judge", "bench", NAME, "--files", str(letters), "--judge", "probe-judge")
    for more in (("--dry-run",), ()):
        said = say(*words, *more)
        assert said.code == 0
        # Fifteen rows were left out: twelve are named, three counted.
        assert said.err.count("letters.jsonl line ") == 12
        assert "and 3 more were left out" in said.err


@pytest.mark.parametrize("new", ["files", "probes"])
def test_a_dry_run_keeps_nothing(say, letters, new):
    letters.write_text('{"better": "a"}\n' * 4, encoding="utf-8")
    source = ("--files", str(letters)) if new == "files" else ("--probes", "4")
    words = ("judge", "bench", NAME, *source, "--dry-run")
    assert "4 items; nothing was kept" in say(*words).out
    assert "4 items: 4 calls to probe-judge" in say(*words, "--judge", "probe-judge").out
    assert say("judge", "list", "--json").data["sets"] == []


def _half_without(files, options):
    """Read items of which every second one lacks its picture."""
    loaded = load(files, options)
    lost = (PictureSlot(name="gone.png"),)
    items = tuple(
        item.model_copy(update={"pictures": lost}) if item.position % 2 else item
        for item in loaded.items
    )
    return replace(loaded, items=items)


def test_items_without_a_picture_are_said_and_not_asked(say, monkeypatch):
    monkeypatch.setitem(BENCHES, NAME, replace(TOY, load=_half_without))
    words = ("judge", "bench", NAME, "--probes", "4", "--judge", "probe-judge")
    said = say(*words, "--dry-run")
    assert "2 items: 2 calls to probe-judge" in said.out
    assert "2 items without a picture aren't asked about" in said.out
    said = say(*words)
    assert "2 of 2 items" in said.err
    assert "0 items failed" in said.err
    assert "2 items without a picture aren't asked about" in said.err
    # Where each item is about a picture, having none is lacking one: nobody can be asked.
    monkeypatch.setitem(BENCHES, NAME, replace(TOY, pictured=True))
    said = say("judge", "bench", NAME, "--probes", "1", "--judge", "probe-judge")
    assert said.code != 0
    assert "1 item without a picture isn't asked about" in said.err


def _failing(plan):
    """Ask questions that can't be put."""

    def fail():
        raise PictureError("the picture fell off")

    asks = [replace(ask, build=fail) for ask in Questions(plan=plan).asks({})]

    class Failing:
        def asks(self, have):
            del have
            return asks

    return Failing()


def test_a_run_in_which_all_failed_says_so(say, monkeypatch):
    monkeypatch.setitem(BENCHES, NAME, replace(TOY, worklist=_failing))
    words = ("judge", "bench", NAME, "--probes", "3", "--judge", "probe-judge")
    for _ in range(2):  # The second time nothing is missing, and there are still no figures.
        said = say(*words)
        assert said.code == 1
        assert "3 of 3 questions to probe-judge failed, so there are no figures" in said.out
        assert "most often (3 times): the picture fell off" in said.out
        assert "--retry-failed" in said.out
        assert "Accuracy" not in said.out
    shown = say("judge", "show", "Probes 0 (3 items)")
    assert "3 of 3 questions to probe-judge failed" in shown.out
    assert say("judge", "show", "Probes 0 (3 items)", "--json").data["judges"][0]["failed"] == 3


def test_parts_that_need_a_scorer_are_said(say):
    words = ("judge", "bench", NAME, "--probes", "2", "--judge", "probe-judge", "--dry-run")
    assert "--scorer" not in say(*words).err
    said = say(*words, "--parts", "pair,text")
    assert "(text) need somebody who gives them: name an endpoint with --scorer" in said.err
    assert "--scorer" not in say(*words, "--parts", "text", "--scorer", "probe-judge").err


def test_figures_come_with_their_notes_and_no_place_on_probes(say, tmp_path):
    make_set(tmp_path / "store", {"good": ["a"] * 9 + [""]})
    said = say("judge", "show", "Letters", "--judge", "good")
    assert "- First half — why" in said.out
    assert f"without a verdict yet: {ITEMS - 10} of {ITEMS} items" in said.out
    # Two figures of one name are told apart by how they count.
    assert "(strict; chance 50.0)" in say("judge", "show", "Letters").out


def test_a_file_that_cannot_be_decoded_is_no_empty_one(say, letters):
    letters.write_bytes(b"\xff\xfe\x00garbage\x80")
    said = say("judge", "bench", "vl_rewardbench", "--files", str(letters))
    assert said.code != 0
    assert "the encoding of 'letters.jsonl' can't be read" in said.err
