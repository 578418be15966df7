"""A small study against some of the stand-ins: nothing is lost, and what was adapted is named."""

from __future__ import annotations

import pytest

from atom.judge.servers.presets import PRESETS
from benchmarks import dialects
from benchmarks._fakes import FAKES, Fake, Refusal, has, openai

CHOSEN = ("openai (reasoning)", "azure-openai", "gemini", "openrouter", "mistral", "lm-studio")


@pytest.fixture(scope="module")
def rows():
    chosen = [fake for fake in FAKES if fake.name in CHOSEN]
    return {row.server: row for row in dialects.measure(chosen, samples=4)}


def test_every_preset_has_a_stand_in():
    assert {fake.preset for fake in FAKES} == set(PRESETS)
    assert len({fake.name for fake in FAKES}) == len(FAKES)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_every_item_is_scored_and_every_box_in_its_place(rows, name):
    row = rows[name]
    assert (row.scored, row.lost, row.misplaced, row.unnamed) == (row.items, 0, 0, ())
    assert row.items > 0
    assert row.boxes > 0
    assert not row.short


@pytest.mark.slow
def test_a_model_that_thinks_longer_than_its_room_is_given_more(rows):
    row = rows["openai (reasoning)"]
    # Beyond the refusals and one request a call there are replies that were cut while thinking.
    assert row.requests > row.calls + row.refused


def test_a_refusal_that_nothing_avoids_is_short():
    stubborn = Fake(
        preset="openai",
        model="gpt-4.1",
        refusals=(
            Refusal(part="nobody", found=has("messages"), words=openai("No messages today.")),
        ),
    )
    (row,) = dialects.measure([stubborn], samples=1)
    assert (row.short, row.scored, row.unnamed) == (True, 0, ("nobody",))


def test_boxes_that_are_read_wrongly_are_short():
    fake = Fake(preset="openai", model="gpt-4.1", boxes="yxyx_1000", asks={"boxes": "xyxy_1000"})
    (row,) = dialects.measure([fake], samples=1)
    assert row.short
    assert row.misplaced > 0
