from __future__ import annotations

import pytest

from atom.engine.account import FAULT, EndAccount, cause_of
from atom.records import Call, Usage

BEGAN = "2026-11-28T15:00:00.000+00:00"
LATER = "2026-11-28T15:00:01.000+00:00"


def call(**told) -> Call:
    base = {
        "id": "c", "request_hash": "h", "task": "scoring", "endpoint": "mine", "model": "m",
        "prompt": "scoring/2", "reply": "{}", "created": LATER,
    }  # fmt: skip
    return Call(**{**base, **told})


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"finish": "refusal", "reply": "No."}, "declined by the model"),
        ({"finish": "content_filter", "reply": ""}, "stopped by a content filter"),
        ({"finish": "length", "reply": "half"}, "cut by the token limit"),
        ({"finish": "error", "reply": "half"}, FAULT),
        ({"finish": "stop"}, "without anything usable in the reply"),
    ],
)
def test_each_end_has_its_cause(told, cause):
    assert cause_of(call(**told)) == cause


def test_what_servers_adapted_repaired_and_thought_is_counted():
    account = EndAccount(since=BEGAN)
    line = "temperature was left out"
    for _ in range(2):
        account.enter(call(adapted=(line, line)), "scored")
    account.enter(call(repaired=True, usage=Usage(thinking_tokens=1200)), "unscored")
    account.enter(None, "unscored")
    assert account.sentences() == (
        f"Not all that was asked for was taken: {line} (2 calls).",
        "1 reply needed a repair turn.",
        "Thoughts took 1,200 tokens.",
    )
    assert account.unscored == {"without anything usable in the reply": 2}


def test_a_stored_reply_that_is_used_again_isnt_this_runs():
    account = EndAccount(since=LATER)
    account.enter(call(created=BEGAN, adapted=("seed was left out",), repaired=True), "scored")
    assert account.sentences() == ()
    assert account.asked == set()
