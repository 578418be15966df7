"""The same store code on PostgreSQL, where a server is installed."""

from datetime import UTC, datetime

import pytest

from atom.engine.imports.importing import import_reading
from atom.errors import ConflictError
from atom.formats import ImportFile, account_of, read
from atom.records import Call, Checkpoint, Outcome, Response, Sample, Study
from atom.store import Store, check_store, find_study, study_places, table, undo_import


def test_records_are_kept_and_checked_on_postgresql(pg_url):
    with Store.open(pg_url) as store:
        sample = Sample(id="s", dataset="d", question="a\x00b", choices=("x",), synthetic=True)
        call = Call(
            id="k",
            request_hash="h",
            task="t",
            endpoint="e",
            model="m",
            prompt="p",
            reply="r\n" * 99,
        )
        assert store.put([sample, call, Study(id="u", name="mine")]) == 3
        assert store.put([sample]) == 0
        assert store.get(Sample, "s").question == "a\ufffdb"
        assert store.get(Call, "k") == call
        assert find_study(store, "mine").id == "u"
        assert store.select(Sample, table(Sample).c.synthetic)[0].id == "s"
        with store.write() as writer:
            assert writer.claim(["a"], "one", 10, now=0) == {"a"}
            assert writer.claim(["a"], "two", 10, now=5) == set()
        assert check_store(store).problems == ()
        first = store.revision()
        store.replace([sample.model_copy(update={"question": "c"})])
        assert store.revision() == first + 1
    with Store.open(pg_url) as again:
        assert again.get(Sample, "s").question == "c"


def test_an_import_is_staged_moved_replaced_and_taken_back_on_postgresql(pg_url):
    head = "id,question,choices,answer,response,correct,skill\n"
    rows = head + '1,How %s?,,3,3,1,a\n2,Which?,"[""red"", ""blue""]",red,A,,b\n'

    def bring(text, **how):
        reading = read("table", [ImportFile.from_bytes("results.csv", text.encode())])
        return import_reading(store, reading, "Staged", datetime(2026, 1, 1, tzinfo=UTC), **how)

    with Store.open(pg_url) as store:
        first = bring(rows)
        again = bring(rows)
        assert account_of(again.record).is_known
        outcomes = {outcome.how: outcome.value for outcome in store.select(Outcome)}
        assert outcomes == {"imported": 1.0, "choice": 1.0}
        with pytest.raises(ConflictError, match="1 answer"):
            bring(rows.replace("3,3,1", "3,4,0"))
        store.put([
            Checkpoint(key=f"mark {answer.id}", criterion_id="c", response_id=answer.id,
                       judge_id="j", prompt="scoring/2", state="scored", score=5)
            for answer in store.select(Response)
        ])  # fmt: skip
        other = bring(rows.replace("3,3,1", "3,4,0"), replace=True)
        assert len(other.taken_back) == 2
        assert len(study_places(store, first.study.id)) == 2
        assert sorted(answer.text for answer in store.select(Response)) == ["4", "A"]
        assert len(store.select(Checkpoint)) == 1
        undo_import(store, other.record.id)
        assert study_places(store, first.study.id) == []


def test_answers_that_came_without_any_verdict_are_graded_on_postgresql(pg_url):
    text = b"id,question,answer,response\n1,How many?,3,3\n2,And here?,4,5\n"
    reading = read("table", [ImportFile.from_bytes("results.csv", text)])
    with Store.open(pg_url) as store:
        import_reading(store, reading, "Graded", datetime(2026, 1, 1, tzinfo=UTC))
        assert sorted(outcome.value for outcome in store.select(Outcome)) == [0.0, 1.0]
