"""How columns are read fast, whatever is in them."""

from __future__ import annotations

from atom.store.reading import columns, packed


def test_texts_are_found_whatever_is_in_them():
    known = packed.array(["a", "b\x1fc", "", "ü"])
    texts = packed.array("ü\x1fx\x1f\x1f")
    plain = packed.array(["b\x1fc", "a", None])
    assert packed.look_up([texts, plain], known).tolist() == [3, -1, 2, 1, 0, -1]


def test_uses_are_read_the_plain_way_where_they_are_odd():
    use = '{"criterion_id": "c", "position": 1, "weight": 2, "step": null}'
    assert plain(columns._read_uses([f"[{use}]", "[]", f"[{use},\n{use}]"])) == [
        [1, 0, 2], ["c", "c", "c"], [1, 1, 1], [2, 2, 2]
    ]  # fmt: skip
    # Arrow reads no number with a fraction as a whole one; the plain reader cuts it.
    odd = use.replace("2", "2.0")
    assert plain(columns._read_uses([f"[{odd}]"])) == [[1], ["c"], [1], [2]]
    assert plain(columns._read_uses([])) == [[], [], [], []]


def plain(columns):
    return [list(column) for column in columns]
