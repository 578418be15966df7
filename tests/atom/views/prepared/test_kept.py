"""Sums that were kept give what adding up gives, without a look at a part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from atom.analysis.merged import Additive
from atom.views.filters import Filters
from atom.views.fingerprints.claims import claims
from atom.views.fingerprints.shape import shape
from atom.views.overview.page import overview
from atom.views.prepared.kept import KeptSums, name_of, read_sums, write_sums
from atom.views.shards import in_threads
from atom.views.study_data import Shards
from tests.atom.views.test_shards import assert_same, figures, study


class Nobody(Shards):
    """Parts that nobody may look at."""

    def collect(self, collect, given):
        raise AssertionError(f"{collect.__qualname__} reads rows")

    def forget(self):
        pass


def keeper(data, parts, folder, *, writes=False):
    """Return a study that remembers nothing but what lies in the folder."""
    kept = KeptSums(parts=parts, folder=folder, writes=writes)
    return replace(data, table=replace(data.table), shards=kept)


@pytest.fixture(scope="module")
def parted():
    return in_threads(study(6, missing=0.1), 3)


@pytest.mark.parametrize(
    "filters",
    [Filters(), Filters(tags=(("source", "one"),)), Filters(root="Perception", reading="said")],
)
def test_what_was_kept_is_read_instead_of_the_rows(parted, tmp_path, filters):
    keeping = keeper(parted, parted.shards, tmp_path, writes=True)
    first = overview(keeping, filters)
    said = claims(keeping, shape(keeping, filters))
    again = keeper(parted, Nobody(), tmp_path)
    # To the last digit: they are the same sums.
    assert repr(dict(figures(first))) == repr(dict(figures(overview(again, filters))))
    assert_same(said.seen, claims(again, shape(again, filters)).seen)


def test_another_filter_is_added_up(parted, tmp_path):
    overview(keeper(parted, parted.shards, tmp_path, writes=True), Filters())
    only = keeper(parted, Nobody(), tmp_path)
    with pytest.raises(AssertionError, match="collect reads rows"):
        overview(only, Filters(tags=(("source", "two"),)))


def test_the_chain_of_a_link_needs_no_sums_of_its_own():
    def named(filters):
        return name_of(overview, (filters,))

    plain = Filters(tags=(("source", "one"),))
    assert named(plain) == named(plain.but(study="s", model="m", node=("a",), sample="x"))
    assert named(plain) == named(plain.but(judge="another"))  # a folder is of one judge
    assert named(plain) != named(plain.but(root="Perception"))
    assert named(plain) != named(plain.but(reading="said"))


def test_numbers_of_an_earlier_pass_are_part_of_the_name():
    means = np.array([0.25, 0.5])
    assert name_of(overview, (means,)) == name_of(overview, (means.copy(),))
    assert name_of(overview, (means,)) != name_of(overview, (np.nextafter(means, 1),))
    assert name_of(overview, (means,)) != name_of(overview, (means.astype(np.float32),))
    assert name_of(overview, (1, "2")) != name_of(overview, ("1", 2))
    assert name_of(overview, (object(),)) is None
    assert name_of(lambda part: part, ()) is None


@dataclass(frozen=True, kw_only=True)
class Some(Additive):
    n: int
    share: float
    array: np.ndarray
    inner: Some | None
    by_name: dict[str, np.ndarray]
    several: tuple[np.ndarray, ...]


def some(inner=None):
    return Some(n=3, share=float("nan"), array=np.arange(6).reshape(2, 3), inner=inner,
                by_name={"a": np.array([True])}, several=(np.float64(1), np.zeros(0)))  # fmt: skip


def test_a_sum_comes_back_as_it_was(tmp_path):
    write_sums(tmp_path / "x.npz", some(some()))
    back = read_sums(tmp_path / "x.npz")
    assert repr(back) == repr(some(some()))
    assert (back + some()).n == 6
    assert back.inner.array.dtype == np.int64


@pytest.mark.parametrize("harm", ["gone", "cut", "empty", "object", "kind", "deep", "none"])
def test_a_file_that_isnt_as_it_was_written_counts_as_none(tmp_path, harm):
    place = tmp_path / "x.npz"
    write_sums(place, some())
    body = place.read_bytes()
    if harm == "gone":
        place.unlink()
    elif harm == "object":
        np.savez(place, of=np.array("x"), tree=np.array([print], dtype=object))
    elif harm in ("kind", "deep", "none"):
        trees = {"kind": '{"sums": "os:system", "held": {}}', "deep": "[" * 9999, "none": "7"}
        np.savez(place, of=np.array("x"), tree=np.array(trees[harm]))
    else:
        place.write_bytes(body[: len(body) // 2] if harm == "cut" else b"")
    assert read_sums(place) is None


def test_no_flipped_byte_is_taken_for_a_sum(tmp_path):
    place = tmp_path / "x.npz"
    write_sums(place, some(some()))
    body, as_written = place.read_bytes(), repr(some(some()))
    for at in range(0, len(body), 29):
        place.write_bytes(body[:at] + bytes([body[at] ^ (1, 8, 255)[at % 3]]) + body[at + 1 :])
        assert repr(read_sums(place)) in ("None", as_written), at


def test_a_sum_under_anothers_name_counts_as_none(tmp_path):
    write_sums(tmp_path / "x.npz", some())
    (tmp_path / "x.npz").rename(tmp_path / "y.npz")
    assert read_sums(tmp_path / "y.npz") is None
