"""Several processes on one store, each test on both kinds of database where both can show it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from atom.errors import ConflictError
from atom.records import Study, TreeVersion
from atom.store import Store, Writer, change_consent, table, use_version
from atom.store.trees import TreeDraft, add_version
from taxonomy import parse_tree

THREADS = 4


def at_once(jobs) -> list[object]:
    """Do jobs at the same moment, each in a thread; return what each returned or raised."""
    gate = threading.Barrier(len(jobs))

    def one(job):
        gate.wait(20)
        try:
            return job()
        except Exception as error:  # noqa: BLE001 - what it is, the test says
            return error

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(one, jobs))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_four_first_starts_at_once_make_one_store(kind, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "new" if kind == "sqlite" else request.getfixturevalue("pg_empty")

    def start() -> int:
        with Store.open(place) as store:
            return store.put([Study(id="s", name="S", created="")])

    assert Counter(at_once([start] * THREADS)) == {1: 1, 0: THREADS - 1}


def test_an_item_claimed_by_four_at_once_is_one_owners(location):
    """Fall 15 of design/074."""
    with Store.open(location) as store:

        def claim(owner: str, item: str):
            def job() -> set[str]:
                with store.write() as writer:
                    return writer.claim([item], owner, 60)

            return job

        for number in range(20):
            got = at_once([claim(f"o{one}", f"item {number}") for one in range(THREADS)])
            assert sorted(got, key=len) == [set()] * (THREADS - 1) + [{f"item {number}"}]


def test_claims_of_the_same_items_in_other_orders_dont_deadlock(location):
    items = [f"item {number}" for number in range(60)]
    with Store.open(location) as store:

        def claim(owner: str, wanted: list[str]):
            def job() -> set[str]:
                got: set[str] = set()
                for start in range(0, len(wanted), 20):
                    part = wanted[start : start + 20]
                    got |= store.transact(
                        partial(Writer.claim, items=part, owner=owner, seconds=60)
                    )
                return got

            return job

        got = at_once([
            claim(f"o{number}", items if number % 2 else items[::-1]) for number in range(THREADS)
        ])  # fmt: skip
        assert not [one for one in got if isinstance(one, Exception)]
        assert sorted(item for one in got for item in one) == sorted(items)


def test_transactions_that_deadlock_are_done_again(pg_url):
    with Store.open(pg_url) as store, Store.open(pg_url) as other:
        store.put([Study(id=name, name=name, created="") for name in "ab"])
        rows = table(Study)
        first_locks = threading.Barrier(2)
        tries = Counter()

        def change(opened: Store, first: str, second: str):
            def job(writer) -> None:
                tries[first] += 1
                for name in (first, second):
                    note = sa_append(rows, name, first)
                    writer.execute(note)
                    if name == first and tries[first] == 1:
                        first_locks.wait(20)

            return lambda: opened.transact(job)

        assert at_once([change(store, "a", "b"), change(other, "b", "a")]) == [None, None]
        assert sum(tries.values()) == 3
        assert [sorted(study.note) for study in store.select(Study)] == [["a", "b"]] * 2


def sa_append(rows, name: str, letter: str):
    return rows.update().where(rows.c.id == name).values(note=rows.c.note + letter)


def test_consents_given_at_once_are_all_kept_and_undo_nothing(location):
    hosts = [f"{number}.example" for number in range(THREADS)]
    with Store.open(location) as store:
        store.put([Study(id="s", name="S", created="", tree_version="one")])
        for number in range(10):
            jobs = [lambda h=host: change_consent(store, "s", add=[h]) for host in hosts]

            def edit(version=f"tree {number}") -> None:
                with store.write() as writer:
                    use_version(writer, "s", version)

            assert at_once([*jobs, edit])[-1] is None
            study = store.get(Study, "s")
            assert (sorted(study.consent), study.tree_version) == (hosts, f"tree {number}")
            change_consent(store, "s", drop=hosts)


def tree(name: str):
    leaf = {"name": name, "meaning": "It is.", "children": []}
    middle = {"name": "m", "meaning": "It is.", "children": [leaf]}
    return parse_tree(json.dumps({"name": "t", "roots": [middle]}), depth=None)


def test_of_two_trees_made_from_one_the_second_is_refused_whole(location):
    with Store.open(location) as store:
        for number in range(10):
            study_id = f"s{number}"
            store.put([Study(id=study_id, name=study_id, created="", tree_version="base")])

            def edit(name: str, study_id=study_id):
                def job() -> str:
                    with store.write() as writer:
                        draft = TreeDraft(tree=tree(name), origin="hand")
                        made = add_version(writer, study_id, draft, "")
                        use_version(writer, study_id, made.version, instead_of="base")
                        return made.version

                return job

            ended = at_once([edit(f"leaf {one}") for one in range(THREADS)])
            kept = [one for one in ended if isinstance(one, str)]
            refused = [one for one in ended if isinstance(one, ConflictError)]
            assert (len(kept), len(refused)) == (1, THREADS - 1)
            history = store.select(TreeVersion, table(TreeVersion).c.study_id == study_id)
            assert [one.version for one in history] == kept
            assert store.get(Study, study_id).tree_version == kept[0]
