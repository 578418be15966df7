"""How the criteria of samples are read, also where their lists are odd."""

from __future__ import annotations

from atom.store.reading.columns import uses


def test_uses_are_read_the_plain_way_where_they_are_odd():
    use = '{"criterion_id": "c", "position": 1, "weight": 2, "step": null}'
    assert plain(uses._parse_uses([f"[{use}]", "[]", f"[{use},\n{use}]"])) == [
        [1, 0, 2], ["c", "c", "c"], [1, 1, 1], [2, 2, 2]
    ]  # fmt: skip
    # Arrow reads no number with a fraction as a whole one; the plain reader cuts it.
    odd = use.replace("2", "2.0")
    assert plain(uses._parse_uses([f"[{odd}]"])) == [[1], ["c"], [1], [2]]
    assert plain(uses._parse_uses([])) == [[], [], [], []]


def plain(columns):
    return [list(column) for column in columns]
