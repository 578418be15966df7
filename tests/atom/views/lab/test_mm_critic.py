from atom.judgebench.mm_critic.ask import score_part
from atom.records import Judge, Sampling
from atom.stages.verdicts import blank
from atom.store import Store
from atom.views.lab.mm_critic import score_spreads, spread
from tests.atom.judgebench.mm_critic.test_data import BASIC, read


def test_scores_are_counted_over_all_and_by_task_type():
    rows = spread([("coding", 8.0), ("perception", 9.0), ("coding", 0.0), ("odd", None)])
    assert [(row.name, row.n) for row in rows] == [
        ("all critiques", 3), ("perception", 1), ("coding", 2), ("odd", 0),
    ]  # fmt: skip
    assert rows[0].counts == (1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0)


def test_each_scorer_has_its_own_scores_and_the_audit_is_none(tmp_path):
    items = read(BASIC, {**BASIC, "id": "b2"}).items
    judges = [Judge(id="j", name="Jay", endpoint="e"), Judge(id="s", name="Sue", endpoint="e")]
    given = [
        blank("set", item.id, part, "s", "mmc_score/1", Sampling()).model_copy(
            update={"state": "scored", "value": value}
        )
        for item, value in zip(items, (7.0, 9.0), strict=True)
        for part in (score_part("j", "critique"), score_part("other", "critique"))
    ]
    with Store.open(tmp_path / "store") as store:
        store.put([*judges, *items, *given])
        (found,) = score_spreads(store, "set", "j")
        assert score_spreads(store, "set", "nobody") == ()
    assert (found.scorer, found.rows[0].n) == ("Sue", 2)
    assert [row.name for row in found.rows] == ["all critiques", "science"]
