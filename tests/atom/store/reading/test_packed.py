"""How texts are found in columns, whatever is in them."""

from __future__ import annotations

from atom.store.reading import packed


def test_texts_are_found_whatever_is_in_them():
    known = packed.array(["a", "b\x1fc", "", "ü"])
    texts = packed.array("ü\x1fx\x1f\x1f")
    plain = packed.array(["b\x1fc", "a", None])
    assert packed.look_up([texts, plain], known).tolist() == [3, -1, 2, 1, 0, -1]
