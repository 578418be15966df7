"""A settled file: the same to the byte for equal contents, and nothing lost."""

from __future__ import annotations

from atom.records import Tag
from atom.store import Store
from atom.store.check import settle
from atom.store.store import DATABASE

TAGS = [
    Tag(subject="sample", subject_id=f"s{n}", source="x", facet="family", value=f"v{n % 3}")
    for n in (5, 2, 9, 1)
]


def test_equal_contents_settle_to_equal_bytes_in_whatever_order_they_came(tmp_path):
    with Store.open(tmp_path / "at_once") as store:
        store.put(TAGS)
    with Store.open(tmp_path / "one_by_one") as store:
        for tag in reversed(TAGS):
            store.put([tag])
        store.put(TAGS)
    found = []
    for name in ("at_once", "one_by_one"):
        settle(tmp_path / name / DATABASE)
        found.append((tmp_path / name / DATABASE).read_bytes())
        with Store.open(tmp_path / name, read_only=True) as store:
            assert {tag.subject_id for tag in store.select(Tag)} == {"s1", "s2", "s5", "s9"}
        assert {path.name for path in (tmp_path / name).iterdir()} <= {
            DATABASE,
            "pictures",
            "thumbs",
        }
    assert found[0] == found[1]


def test_other_contents_settle_to_other_bytes(tmp_path):
    for name, tags in (("whole", TAGS), ("less", TAGS[1:])):
        with Store.open(tmp_path / name) as store:
            store.put(tags)
        settle(tmp_path / name / DATABASE)
    assert (tmp_path / "whole" / DATABASE).read_bytes() != (
        tmp_path / "less" / DATABASE
    ).read_bytes()
