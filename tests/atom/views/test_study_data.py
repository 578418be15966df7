import numpy as np
import pytest

from atom.errors import UsageError
from atom.records import Checkpoint, Judge, Mapping, Outcome, Response, Tag, TreeRecord
from atom.store import Store, copy_study
from atom.store.reading.columns import rows as study_rows
from atom.views.filters import Filters, known, unknown
from atom.views.study_data import load_study
from taxonomy import Tree, to_json, tree_version
from tests.factories import COUNT, DIFFERENCE, SOME, TREE


def test_the_table_holds_every_checkpoint_with_its_state(data):
    table = data.table
    # 6 samples x 3 candidates x 3 criteria = 54, one of which is still to be scored.
    assert len(table.score) == 53
    assert data.pending == 1
    assert (table.score == 0).sum() == 1
    assert (table.score == -1).sum() == 1
    assert table.leaves == (COUNT, SOME, DIFFERENCE)
    assert data.tree == TREE
    assert table.quarantined.tolist() == [False] * 5 + [True]


def test_outcomes_and_labels_are_brought_to_the_answers(data):
    # 18 answers, one outcome unknown.
    assert np.isfinite(data.table.outcome).sum() == 17
    level = data.table.facets["level"]
    assert sorted(level.values) == ["easy", "hard"]
    assert len(level.response) == 18
    assert data.table.facets["source"].values == ("balls",)


def test_a_study_without_criteria_is_looked_at_by_outcome(imported):
    assert not imported.has_process
    assert imported.has_outcome
    assert imported.tree is None
    # An answer may carry several labels: 8 algebra + 3 geometry.
    assert len(imported.table.facets["skills"].response) == 11


def test_reading_twice_gives_equal_columns(store, data):
    again = load_study(store, data.study.name)
    assert np.array_equal(again.table.score, data.table.score)
    assert again.revision == data.revision


def test_an_unknown_study_is_named(store):
    with pytest.raises(UsageError, match="no study 'x'"):
        load_study(store, "x")


def test_leaves_come_in_the_trees_order_and_not_by_name(tmp_path, store, data):
    with Store.open(tmp_path) as mine:
        copy = copy_study(store, mine, data.study.id, "Turned")
        turned = Tree("Turned", tuple(reversed(TREE.roots)))
        version = tree_version(turned)
        mappings = [m.model_copy(update={"tree_version": version}) for m in mine.select(Mapping)]
        mine.put([TreeRecord(version=version, name="Turned", body=to_json(turned)), *mappings])
        mine.replace([copy.model_copy(update={"tree_version": version})])
        assert load_study(mine, copy.id).table.leaves == (DIFFERENCE, COUNT, SOME)


@pytest.fixture
def twice_judged(tmp_path, store, data):
    """Return a copy of the study with a second judge's scores of two of its checkpoints."""
    with Store.open(tmp_path / "twice") as mine:
        copy = copy_study(store, mine, data.study.id, "Twice judged")
        some = sorted(mine.select(Checkpoint), key=lambda mark: mark.key)[:2]
        mine.put([Judge(id="judge-y", name="Judge Y")])
        mine.put(
            mark.model_copy(
                update={
                    "key": f"y-{mark.key}", "judge_id": "judge-y", "score": 3, "state": "scored"
                }
            )
            for mark in some
        )  # fmt: skip
        yield mine, copy, some


def test_another_judges_scores_can_be_looked_at(twice_judged):
    mine, copy, some = twice_judged
    own, other = load_study(mine, copy.id), load_study(mine, copy.id, "judge-y")
    assert [one.id for one in own.judges] == ["judge-x", "judge-y"]
    assert (own.judge.id, other.judge.id) == ("judge-x", "judge-y")
    assert len(own.table.score) == 53
    assert other.table.score.tolist() == [3, 3]
    # 18 answers x 3 criteria less the two scored.
    assert other.pending == 52
    assert set(other.table.criterion_ids) == {mark.criterion_id for mark in some}
    assert load_study(mine, copy.id, "nobody").judge.id == "judge-x"
    # A link may name it, too.
    assert load_study(mine, copy.id, "Judge Y").judge.id == "judge-y"
    assert (own.judge_id("Judge Y"), own.judge_id("judge-y")) == ("judge-y", "judge-y")
    assert known(own, Filters(judge="Judge Y")).judge == "judge-y"
    assert unknown(own, Filters(judge="Judge Y")) == ()


def test_a_name_that_two_judges_have_is_told_by_ids(twice_judged):
    mine, copy, some = twice_judged
    mine.put([Judge(id="judge-z", name="Judge Y")])
    mine.put([some[0].model_copy(update={"key": "z", "judge_id": "judge-z", "score": 3})])
    own = load_study(mine, copy.id)
    assert own.judge_id("Judge Y") is None
    assert load_study(mine, copy.id, "Judge Y").judge.id == "judge-x"
    (said,) = unknown(own, Filters(judge="Judge Y"))
    assert "judge-y" in said
    assert "judge-z" in said


def row_of(table, mark):
    return (table.response == table.response_ids.index(mark.response_id)) & (
        table.criterion == table.criterion_ids.index(mark.criterion_id)
    )


def again(marks, prompt, **changes):
    """Return marks as another prompt's; some fields changed."""
    return [
        mark.model_copy(update={"key": f"{prompt}-{mark.key}", "prompt": prompt, **changes})
        for mark in marks
    ]


def test_the_newest_prompts_score_counts(twice_judged):
    mine, copy, (first, _) = twice_judged
    mine.put(again(mine.select(Checkpoint), "scoring/2"))
    mine.put(again([first], "scoring/3", score=4, state="scored"))
    table = load_study(mine, copy.id).table
    assert len(table.score) == 53
    assert table.score[row_of(table, first)].tolist() == [4]


def test_marks_of_two_scales_never_share_a_mean(twice_judged):
    mine, copy, (first, second) = twice_judged
    before = load_study(mine, copy.id)
    assert (before.scale, before.left_out) == ("firmness", 0)
    scored = int((before.table.score > 0).sum())
    mine.put(again([first, second], "scoring/2", score=4, state="scored"))
    after = load_study(mine, copy.id)
    # Only what is on the newer scale is shown; the rest waits to be marked again.
    assert after.table.score.tolist() == [4, 4]
    assert (after.scale, after.left_out) == ("appendix_d", scored - 2)
    assert after.pending == before.pending + 51
    # An unscored one on the newer scale replaces nothing that a mean is made of.
    assert load_study(mine, copy.id, "judge-y").scale == "firmness"


@pytest.mark.parametrize("scan", [True, False])
def test_what_a_mark_says_beside_its_score_is_read(twice_judged, monkeypatch, scan):
    mine, copy, (first, second) = twice_judged
    monkeypatch.setattr(study_rows, "_scan", lambda *_: scan)
    before = load_study(mine, copy.id).table
    assert before.addressed.all()
    assert not before.carried.any()
    assert not before.carried_known
    # Every sample of the factory's has a replay that its criteria rest on.
    assert before.chained.tolist() == [True] * 6
    mine.put(again([first], "scoring/2", score=2, state="scored", addressed=False, carried=False))
    mine.put(again([second], "scoring/2", score=1, state="scored", addressed=True, carried=True))
    after = load_study(mine, copy.id).table
    assert after.carried_known
    said, rests = row_of(after, first), row_of(after, second)
    assert (after.addressed[said], after.addressed[rests]) == (False, True)
    assert (after.carried[said], after.carried[rests]) == (False, True)


def test_labels_with_odd_texts_and_of_answers_alone(twice_judged):
    mine, copy, _ = twice_judged
    before = load_study(mine, copy.id).table
    odd = "a\x1fb\n, 'c'"
    mine.put(
        [
            Tag(subject="response", subject_id=before.response_ids[4], source="s", facet="level",
                value=odd),
            Outcome(response_id=before.response_ids[0], how="imported", value=0.25),
        ]
    )  # fmt: skip
    table = load_study(mine, copy.id).table
    level = table.facets["level"]
    # An answer's own label beats its sample's; the other 17 inherit theirs.
    assert [level.values[at] for at in level.value[level.response == 4]] == [odd]
    assert len(level.response) == 18
    assert table.outcome[0] == 0.25


def test_a_small_study_in_a_large_store_is_looked_up_row_by_row(store, data, monkeypatch):
    monkeypatch.setattr(study_rows, "_scan", lambda *_: False)
    again = load_study(store, data.study.id)
    assert again.table.response_ids == data.table.response_ids
    assert again.table.criterion_ids == data.table.criterion_ids
    for name in ("score", "leaf", "response", "criterion", "outcome", "position", "weight"):
        one, other = getattr(again.table, name), getattr(data.table, name)
        assert np.array_equal(one, other, equal_nan=name == "outcome")


def test_an_imported_answer_without_a_text_waits_for_no_score(twice_judged):
    mine, copy, _ = twice_judged
    before = load_study(mine, copy.id, "judge-y")
    answer = mine.get(Response, before.table.response_ids[-1])
    assert answer is not None
    pending, answers = before.pending, before.table.answered.sum()
    # Only an answer with a text adds its three criteria; both are answers.
    for number, (text, more) in enumerate((("", 0), ("It's two.", 3)), start=1):
        again = {"id": f"again-{number}", "prompt": "imported", "repeat": number, "text": text}
        mine.put([answer.model_copy(update=again)])
        after = load_study(mine, copy.id, "judge-y")
        assert after.pending == (pending := pending + more)
        assert after.table.answered.sum() == answers + number


def test_repeats_of_one_prompt_are_averaged_and_never_two_prompts(twice_judged):
    mine, copy, (first, second) = twice_judged
    before = load_study(mine, copy.id).table
    # Under the first scale's prompt a second mark may be an experiment's: it isn't averaged.
    mine.put(again([first], first.prompt, score=5, state="scored", repeat=1))
    assert load_study(mine, copy.id).table.score.tolist() == before.score.tolist()
    mine.put(again([first, second], "scoring/2", score=2, state="scored"))
    for repeat, score in ((1, 3), (2, 5)):
        more = {"score": score, "state": "scored", "repeat": repeat}
        mine.put([
            mark.model_copy(update={"key": f"{repeat}-{mark.key}"})
            for mark in again([first], "scoring/2", **more)
        ])  # fmt: skip
    after = load_study(mine, copy.id).table
    # (2 + 3 + 5) / 3 and 2.
    assert sorted(after.score.tolist()) == pytest.approx([2, 10 / 3])
    # A newer prompt's one mark counts alone, whatever the older one's three said.
    mine.put(again([first], "scoring/3", score=1, state="scored"))
    assert sorted(load_study(mine, copy.id).table.score.tolist()) == [1, 2]


def test_a_view_is_made_once_for_all_who_look_and_anew_for_other_filters(data):
    from atom.views.compare.page import compare
    from atom.views.compare.sides import pick
    from atom.views.overview.more import overview_more
    from atom.views.overview.page import overview

    filters, narrowed = Filters(study="x"), Filters(study="x", tags=(("level", "easy"),))
    picked = pick(data, filters, {})
    makers = (overview, overview_more, lambda *given: compare(*given, picked))
    for make in makers:
        first = make(data, filters)
        assert make(data, Filters(study="x")) is first
        assert make(data, narrowed) is not first
    seen = overview(data, filters), overview(data, narrowed)
    assert seen[0].samples != seen[1].samples
    data.forget()
    again = overview(data, filters)
    assert again is not seen[0]
    assert again.ranking == seen[0].ranking
