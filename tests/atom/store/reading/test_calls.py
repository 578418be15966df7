"""What calls brought and took."""

from __future__ import annotations

from atom.records import Call, Usage
from atom.store import Store
from atom.store.reading.calls import adapted_calls, paid_for


def call(name: str, **told) -> Call:
    given = {"request_hash": name, "task": "scoring", "endpoint": "e", "model": "m", "prompt": "p"}
    return Call(id=name, **{**given, **told})


def test_the_last_adaptations_and_prices_are_read(tmp_path):
    with Store.open(tmp_path) as store:
        store.put([
            call("old", created="2026-01-01", adapted=("without a seed",)),
            call("new", created="2026-01-02", adapted=("one", "two"), cost=0.5,
                 usage=Usage(prompt_tokens=3)),
            call("plain", created="2026-01-03"),
            call("other", created="2026-01-04", endpoint="f", adapted=("elsewhere",)),
        ])  # fmt: skip
        assert adapted_calls(store, "e", 9) == [[], ["one", "two"], ["without a seed"]]
        assert adapted_calls(store, "e", 2) == [[], ["one", "two"]]
        paid = paid_for(store, ["new", "plain", "nowhere"])
    assert paid["new"].cost == 0.5
    assert paid["new"].usage.prompt_tokens == 3
    assert paid["plain"].cost is None
    assert "nowhere" not in paid
