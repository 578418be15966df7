"""Where criteria hang, in a file: it comes back as it was, or not at all."""

import numpy as np

from atom.views.prepared.places import read_placed, write_placed
from atom.views.tree.node_table import PlacedCriteria

WHERE = PlacedCriteria(
    criterion=("a", "b", "c"), sample=np.array([0, 0, 1]), leaf=(("x", "y"), None, ("z",))
)


def test_what_was_written_comes_back(tmp_path):
    write_placed(tmp_path / "p.arrow", WHERE)
    back = read_placed(tmp_path / "p.arrow")
    assert (back.criterion, back.leaf) == (WHERE.criterion, WHERE.leaf)
    assert back.sample.tolist() == [0, 0, 1]


def test_no_flipped_or_cut_byte_is_read(tmp_path):
    # Arrow follows the places that stand in a file: flipped, they ended the process.
    place = tmp_path / "p.arrow"
    write_placed(place, WHERE)
    body = place.read_bytes()
    for at in range(0, len(body), 5):
        place.write_bytes(body[:at] + bytes([body[at] ^ 127]) + body[at + 1 :])
        assert read_placed(place) is None, at
        place.write_bytes(body[:at])
        assert read_placed(place) is None, at
    place.unlink()
    assert read_placed(place) is None
