from __future__ import annotations

import json
from pathlib import Path

import pytest

from atom.probes.serving.batches import BatchEndpoint, jsonl

WRITE = ("run", "batch", "write", "--study", "Fresh", "--judge", "probe-judge",
         "--stages", "replay,criteria")  # fmt: skip


def answered(files: list[str], to: Path) -> str:
    """Answer files of requests as a service would, elsewhere."""
    lines = [json.loads(x) for file in files for x in Path(file).read_bytes().splitlines()]
    to.write_bytes(jsonl([BatchEndpoint().answer(line) for line in lines]))
    return str(to)


@pytest.mark.slow
def test_files_go_out_and_replies_come_back(say, probes, tmp_path):
    first = say(*WRITE, "--json").data
    assert (first["requests"], first["waiting"], first["run"]["done"]) == (3, 0, 0)
    listed = say("run", "batch", "status")
    assert "written" in listed.out
    assert "Fresh" in listed.out
    replies = answered(first["files"], tmp_path / "replies.jsonl")
    taken = say("run", "batch", "take", replies)
    assert taken.code == 0
    assert "3 replies taken in" in taken.out
    second = say(*WRITE, "--json").data
    assert (second["run"]["id"], second["run"]["done"]) == (first["run"]["id"], 3)
    say("run", "batch", "take", answered(second["files"], tmp_path / "more.jsonl"))
    ended = say("run", "batch", "write", "--run", first["run"]["id"])
    assert f"run {first['run']['id']}: done, 6 of 6 items" in ended.out
    known = say("run", "batch", "take", replies, "--json")
    assert (known.code, known.data["known"], known.data["replies"]) == (0, 3, 0)


@pytest.mark.slow
def test_what_belongs_nowhere_is_said(say, probes, tmp_path):
    name = say(*WRITE, "--json").data["run"]["id"]
    stray = tmp_path / "stray.jsonl"
    stray.write_bytes(jsonl([{"custom_id": "x", "response": {"status_code": 200, "body": {}}}]))
    taken = say("run", "batch", "take", str(stray))
    assert (taken.code, "belong to no batch" in taken.out) == (1, True)
    assert "no batch service" in say("run", "batch", "send").err
    assert say("run", "batch", "drop", f"{name}-001").code == 0
    assert say("run", "batch", "cancel", f"{name}-001").code == 2
    assert say("run", "batch", "fetch").out.startswith("nothing is over")
    assert say(*WRITE, "--per-file", "0").code == 2
    assert say("run", "batch", "write", "--run", "nowhere").code == 2
