"""One judge under several settings, by hand."""

from __future__ import annotations

import pytest

from atom.judgebench.registry import BENCHES
from atom.judgebench.vl_rewardbench.settings import TITLE, settings_table
from atom.records import BenchItem, Sampling, Verdict

ITEMS = [
    BenchItem(set_id="s", id=f"i{at}", position=at,
              data={"query": "q", "responses": ["x", "y"], "better": "a", "tags": [],
                    "category": category})
    for at, category in enumerate(("general", "general", "reasoning"))
]  # fmt: skip


def votes(labels, temperature, top_p=None):
    sampling = Sampling(temperature=temperature, top_p=top_p)
    return [
        Verdict(key=f"{at}{sampling.key}", group="s", subject_id=f"i{at}", part="pair", judge="j",
                prompt="p/1", sampling=sampling, state="scored", label=label)
        for at, label in enumerate(labels) if label
    ]  # fmt: skip


def test_each_setting_has_its_macro_average_on_the_same_pairs():
    said = [*votes("aba", 0.2, 0.4), *votes("aab", 0.8, 0.4), *votes("bb", 0.8, 1.0)]
    table = settings_table(ITEMS, said)
    # Only the first two pairs have votes under all three settings; both are general.
    assert [(row.label, row.value, row.n) for row in table.rows] == [
        ("temperature 0.2, top-p 0.4", 50, 2),
        ("temperature 0.8, top-p 0.4", 100, 2),
        ("temperature 0.8, top-p 1", 0, 2),
    ]
    assert "standard deviation over settings 50.00 points" in table.note
    # All three pairs: general 1 of 2, reasoning 1 of 1, so (50 + 100) / 2; and (100 + 0) / 2.
    table = settings_table(ITEMS, said[:6])
    assert [row.value for row in table.rows] == pytest.approx([75, 50])


def test_one_setting_or_no_shared_pair_makes_no_table():
    assert settings_table(ITEMS, votes("aba", 0.2)) is None
    assert settings_table(ITEMS, []) is None
    apart = [*votes("a", 0.2), votes("aaa", 0.8)[2]]
    assert settings_table(ITEMS, apart) is None


def test_it_stands_among_the_benchmarks_tables():
    said = [*votes("aba", None), *votes("aab", 0.8)]
    found = BENCHES["vl_rewardbench"].measure(ITEMS, said)
    table = next(one for one in found.tables if one.title == TITLE)
    assert table.rows[0].label == "temperature as the server has it, top-p as the server has it"
