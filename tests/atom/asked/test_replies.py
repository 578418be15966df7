"""Replies as they came over the client (see `record_replies`), read into the views of the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atom.judge.reply import Reply
from atom.records import Call
from atom.stages.asked.ask import parse
from tests.atom.asked.questions import QUESTIONS, UNANSWERED

RECORDED = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))


def recorded(question: str) -> Reply:
    held = RECORDED[question]
    call = Call(id="c", request_hash="h", task="ask", endpoint="probe-judge", prompt="ask/1",
                model=held["model"], form=held["form"],
                reply=held["reply"])  # fmt: skip
    return Reply(state="ok", text=held["reply"], call=call, data=json.loads(held["reply"]))


@pytest.mark.parametrize(("question", "view"), QUESTIONS)
def test_a_recorded_reply_is_read_into_the_right_view(question, view):
    heard = parse(recorded(question))
    assert heard.wanted.model_dump(exclude_defaults=True, mode="json") == view


def test_a_recorded_reply_says_what_was_not_understood():
    question, missed = UNANSWERED[0]
    heard = parse(recorded(question)).wanted
    assert (heard.page, heard.not_understood) == (None, missed)
    assert len(RECORDED) == len(QUESTIONS) + 1 == 21
