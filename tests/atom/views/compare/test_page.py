"""Two sides held against each other: hand-worked, planted, seen from either side."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.score_table import Facet
from atom.records import Candidate, Checkpoint, Judge, Outcome, Preference, Response, Study
from atom.views.compare.page import compare
from atom.views.compare.pairs import (
    PAGE_SIZE,
    nodes_csv,
    pair_list,
    pair_view,
    pairs_csv,
    read_tab,
)
from atom.views.compare.sides import ComparedSides, choices, pick
from atom.views.failures.page import count_listed, failures
from atom.views.filters import Filters
from atom.views.study_data import StudyData, load_study
from tests.factories import (
    ANSWERING,
    COUNT,
    DIFFERENCE,
    HOSTILE,
    SAMPLING,
    SOME,
    STUDY,
    open_small,
)
from tests.planted import WorldSettings, plant

PROMPT = "answer/1"


def sides(data, first, second, **query):
    return pick(data, Filters(model=first, peers=(second,)), query)


def versus(data, first, second, filters=None, facet=None, **query):
    chosen = pick(data, (filters or Filters()).but(model=first, peers=(second,)), query)
    return compare(data, filters or Filters(), chosen, facet=facet)


def node(view, path):
    return next(one for one in view.nodes if one.path == path)


def study_of(table, **changes):
    """Return a study around a table, without a store."""
    return StudyData(
        study=Study(id="s", name="s"),
        revision=0,
        judge=None,
        candidates=tuple(Candidate(id=name, name=name) for name in table.model_ids),
        tree=None,
        table=table,
        pending=0,
        sample_position={name: at for at, name in enumerate(table.sample_ids)},
        **changes,
    )


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """Return a store where a answered twice, a second judge marked a, and votes were cast.

    The second answers: to samples 0 to 2, every criterion 3, all wrong. The second judge: gives
    every criterion of a's first answers 4. Votes, each in both orders: a beats b on 0 and 1, loses
    on 2, ties on 4.
    """
    with open_small(tmp_path_factory.mktemp("again")) as store:
        first = load_study(store, STUDY)
        table = first.table
        records = [Judge(id="judge-y", name="Judge Y")]
        for row, name in enumerate(table.response_ids):
            sample = int(table.sample[row])
            if table.model[row] != 0:
                continue
            criteria = sorted({int(c) for c in table.criterion[table.response == row]})
            second = Response(
                id=Response.make_id(table.sample_ids[sample], "cand-a", PROMPT, ANSWERING, 1),
                sample_id=table.sample_ids[sample],
                candidate_id="cand-a",
                prompt=PROMPT,
                sampling=ANSWERING,
                repeat=1,
                text=f"Second thoughts. {HOSTILE}",
            )
            if sample < 3:
                records += [second, Outcome(response_id=second.id, how="exact", value=0.0)]
            for criterion in (table.criterion_ids[at] for at in criteria):
                marks = [(name, "judge-y", 4)]
                marks += [(second.id, "judge-x", 3)] if sample < 3 else []
                for response, judge, score in marks:
                    key = Checkpoint.make_key(criterion, response, judge, "scoring/1", SAMPLING)
                    records.append(
                        Checkpoint(
                            key=key, criterion_id=criterion, response_id=response, judge_id=judge,
                            prompt="scoring/1", sampling=SAMPLING, state="scored", score=score,
                            reason=f"{judge} says so",
                        )
                    )  # fmt: skip
        store.put(records)
        store.put(votes(table))
        yield store


def votes(table):
    """Cast votes on a's first answers against b's."""
    found = []
    for sample, verdict in ((0, "a"), (1, "a"), (2, "b"), (4, "tie")):
        pair = [
            next(
                table.response_ids[row]
                for row in np.flatnonzero((table.model == model) & (table.sample == sample))
            )
            for model in (0, 1)
        ]
        for first in ("a", "b"):
            found.append(
                Preference(
                    id=Preference.make_id(*pair, "judge-x", "vote/1", first),
                    sample_id=table.sample_ids[sample],
                    response_a=pair[0],
                    response_b=pair[1],
                    judge="judge-x",
                    prompt="vote/1",
                    first=first,
                    verdict=verdict,
                )
            )
    return found


# --- hand-worked ---------------------------------------------------------------------------------


def test_the_gap_is_the_hand_worked_one(data):
    view = versus(data, "cand-a", "cand-b")
    # Weights 2, 3, 5; only criteria that both have a score for; points of 1..5, over 4:
    # (0*2 + 3*3 + 4*5)/10 = 2.9   (1*2 + 0*3 + 1*5)/10 = 0.7   (0*2 + 2*5)/7 = 1.4286
    # (-1*2 + 0*3)/5 = -0.4        (2*2 + 2*5)/7 = 2            mean 6.6286/5/4 = 0.33143
    assert view.gap.value == pytest.approx(100 * (2.9 + 0.7 + 10 / 7 - 0.4 + 2) / 5 / 4)
    # Residuals 39.357, -15.643, 2.571, -43.143, 16.857; squares add up to 3945.77;
    # se = sqrt(5/4 * 3945.77) / 5 = 14.046; t(4) at .975 is 2.7764, half the interval 38.998.
    assert view.gap.se == pytest.approx(14.046, abs=1e-3)
    assert (view.gap.lo, view.gap.hi) == pytest.approx((-5.855, 72.141), abs=2e-3)
    assert (view.gap.samples, view.gap.clusters) == (5, 5)
    assert not view.decided
    assert view.more >= 1


def test_right_answers_are_counted_sample_by_sample(data):
    rights = versus(data, "cand-a", "cand-b").rights
    # a is right on all five, b on 1 and 3: P(B <= 0) of 3 flips is 1/8, so 2/8 - 1/8.
    assert (rights.both, rights.first_only, rights.second_only, rights.neither) == (2, 3, 0, 0)
    assert rights.mid_p == pytest.approx(0.125)
    assert versus(data, "cand-a", "cand-c").rights.n == 4  # c's outcome on sample 2 isn't known


def test_nodes_are_the_hand_worked_ones(data):
    view = versus(data, "cand-a", "cand-b")
    count, some, last = (node(view, path) for path in (COUNT, SOME, DIFFERENCE))
    # Differences of scores: 0 1 0 -1 2 -> 2/5/4; 3 0 0 -> 3/3/4; 4 1 2 2 -> 9/4/4.
    assert (count.gap, some.gap, last.gap) == pytest.approx((10, 25, 56.25))
    assert (count.n, some.n, last.n) == (5, 3, 4)
    # a's scores there are 5 5 5 4 5: 19/20; b's 5 4 5 5 3: 17/20.
    assert (count.first, count.second) == pytest.approx((95, 85))
    assert some.verdict == last.verdict == "thin"
    above = node(view, COUNT[:3])
    assert (above.n, above.samples, above.depth) == (8, 5, 3)
    assert view.thin == 5  # both leaves, and the root and two nodes above `Difference`
    assert [one.path for one in view.nodes][:4] == [COUNT[:1], COUNT[:2], COUNT[:3], COUNT]


def test_samples_left_out_are_counted_with_the_reason(data):
    view = versus(data, "cand-a", "cand-b")
    assert view.left_out.quarantined == view.left_out.n == 1
    easy = versus(data, "cand-a", "cand-b", Filters(tags=(("level", "easy"),)))
    assert (easy.gap.samples, easy.left_out.filtered, easy.left_out.quarantined) == (3, 2, 1)
    right = versus(data, "cand-a", "cand-b", Filters(outcome="right"))
    # Both answers must be kept: b is right on samples 1 and 3 only.
    assert (right.gap.samples, right.left_out.filtered) == (2, 3)


def test_pairs_are_listed_by_weighted_difference(data, store):
    view = versus(data, "cand-a", "cand-b")
    filters = Filters(model="cand-a", peers=("cand-b",))
    listed = pair_list(store, view, filters)
    # Weight x difference: 2.9*10, 0.7*10, 1.4286*7, -0.4*5, 2*7 -> 29, 7, 10, -2, 14.
    order = [data.sample_position[name] for name in listed.order]
    assert order == [0, 4, 2, 1, 3]
    assert dict(listed.counts) == {
        "all": 5, "first": 4, "second": 1, "fail": 0,
        # b has a failed criterion on samples 0 and 2, a on none.
        "first_fails": 0, "second_fails": 2,
        "first_right": 3, "second_right": 0, "both_right": 2, "neither_right": 0,
    }  # fmt: skip
    assert listed.equal == 0
    assert listed.rows[0].difference == pytest.approx(72.5)
    assert (listed.rows[0].first_right, listed.rows[0].second_right) == (True, False)
    worse = pair_list(store, view, filters, "second", 99)
    assert [row.sample_id for row in worse.rows] == [data.table.sample_ids[3]]
    assert worse.page == 0


def test_both_fail_where_each_has_a_failed_criterion(data, store):
    view = versus(data, "cand-b", "cand-c")
    # b scores 2 or less on samples 0 and 2, c on 0, 1, 3 and 4.
    listed = pair_list(store, view, Filters(), "fail")
    assert [data.sample_position[name] for name in listed.order] == [0]


def test_the_chains_node_limits_the_pairs_and_nothing_else(data, store):
    whole = versus(data, "cand-a", "cand-b")
    for one in whole.nodes:
        view = versus(data, "cand-a", "cand-b", one.inside)
        listed = pair_list(store, view, one.inside)
        assert listed.total == one.samples
        assert view.gap == whole.gap
    inside = pair_list(store, versus(data, "cand-a", "cand-b", Filters(node=SOME)), Filters())
    assert [data.sample_position[name] for name in inside.order] == [0, 1, 3]


def test_counts_of_doors_equal_the_lists_behind_them(data, store):
    for filters in (Filters(), Filters(root="Perception"), Filters(tags=(("level", "hard"),)),
                    Filters(outcome="right"), Filters(process="sound"), Filters(reading="said"),
                    Filters(measure="outcome")):  # fmt: skip
        for facet in (None, "level"):
            view = versus(data, "cand-b", "cand-a", filters, facet)
            for one in view.nodes:
                assert one.filters.model == "cand-b"
                assert one.filters.peers == ("cand-a",)
                assert one.filters.show == "failed"
                assert count_listed(data, one.filters) == one.failed
                assert one.failed <= one.answered
    view = versus(data, "cand-b", "cand-a")
    seen = failures(store, data, node(view, SOME).filters)
    # b's marks there are 2, 4, unscored, 5; to sample 4 none is there yet, and 5 is set aside:
    # one failure of four.
    assert seen.total == node(view, SOME).failed == 1
    assert node(view, SOME).answered == 4


def test_labels_group_samples(data):
    view = versus(data, "cand-a", "cand-b", facet="level")
    easy, hard = view.nodes
    # Samples 0 to 2 are easy, 3 and 4 hard (5 is set aside).
    assert easy.gap == pytest.approx(100 * (2.9 + 0.7 + 10 / 7) / 3 / 4, abs=1e-4)
    assert hard.gap == pytest.approx(100 * (-0.4 + 2) / 2 / 4, abs=1e-4)
    assert (easy.samples, hard.samples) == (3, 2)
    assert view.facet == "level"
    assert versus(data, "cand-a", "cand-b", easy.inside).gap.samples == 3


def test_a_root_filter_narrows_both_sides(data):
    view = versus(data, "cand-a", "cand-b", Filters(root="Reasoning"))
    assert view.gap.samples == 4
    assert view.gap.value == pytest.approx(56.25)


# --- who -----------------------------------------------------------------------------------------


def test_the_first_two_of_the_ranking_come_by_themselves(data):
    chosen = pick(data, Filters(), {})
    assert (chosen.first.model_id, chosen.second.model_id) == ("cand-a", "cand-b")
    chosen = pick(data, Filters(model="cand-b"), {})
    assert (chosen.first.model_id, chosen.second.model_id) == ("cand-b", "cand-a")
    chosen = pick(data, Filters(peers=("cand-a",)), {"other": "nobody", "left": "7"})
    assert (chosen.first.model_id, chosen.second.model_id) == ("cand-b", "cand-a")
    assert chosen.judge_id is None
    assert sides(data, "cand-a", "cand-a").alike


def test_one_model_is_alone(imported):
    chosen = pick(imported, Filters(), {})
    assert chosen.alike
    assert [one.label for one in choices(imported)] == ["Candidate A"]


@pytest.mark.slow
def test_two_answers_of_one_model_are_compared(again):
    data = load_study(again, STUDY)
    labels = [one.label for one in choices(data)]
    assert labels[:3] == ["Candidate A, all 2 answers", "Candidate A, answer 1",
                          "Candidate A, answer 2"]  # fmt: skip
    chosen = sides(data, "cand-a", "cand-a")
    assert (chosen.first.answer, chosen.second.answer) == (1, 2)
    view = compare(data, Filters(measure="process"), chosen)
    # First answers (5,5,5), (5,4,5), (5,5,4) by 2, 3, 5: 5, 4.7, 4.5; second ones 3 throughout.
    assert view.gap.value == pytest.approx(100 * (2 + 1.7 + 1.5) / 3 / 4)
    assert (view.gap.samples, view.left_out.first_only) == (3, 3)
    assert (view.rights.first_only, view.rights.second_only) == (3, 0)
    asked = pair_view(again, data, Filters(sample=data.table.sample_ids[0]), chosen)
    assert asked.first.response.repeat == 0
    assert asked.second.response.repeat == 1
    assert [mark.difference for mark in asked.marks] == [2, 2, 2]
    # All answers of a model are averaged by criterion: (5 + 3) / 2 against b's 5, 2, 1.
    whole = compare(
        data, Filters(measure="process"), sides(data, "cand-a", "cand-b", left="", right="")
    )
    assert whole.pairs.first[0] == pytest.approx(0.75)


def test_one_model_is_compared_as_two_judges_see_it(again):
    data = load_study(again, STUDY)
    other = load_study(again, STUDY, "judge-y")
    chosen = sides(data, "cand-a", "cand-a", other="judge-y", left="1", right="1")
    assert chosen.judge_id == "judge-y"
    assert not chosen.alike
    view = compare(data, Filters(measure="process"), chosen, other)
    # The first judge's sample scores are 5, 4.7, 4.5, 4.8 and 5, the second's 4 throughout.
    assert view.gap.value == pytest.approx(100 * (1 + 0.7 + 0.5 + 0.8 + 1) / 5 / 4)
    assert (view.first_judge, view.second_judge) == ("Judge X", "Judge Y")
    filters = Filters(sample=data.table.sample_ids[1])
    pair = pair_view(again, data, filters, chosen, other)
    assert [mark.difference for mark in pair.marks] == [1, 0, 1]
    assert pair.marks[0].second.checkpoint.reason == "judge-y says so"


def test_votes_on_the_two_against_each_other_come_first(again):
    data = load_study(again, STUDY)
    filters = Filters(measure="preference")
    view = compare(data, filters, sides(data, "cand-a", "cand-b", left="1"))
    # Won 2, lost 1, tied 1: 62.5 % against 37.5 %.
    assert view.direct
    assert (view.gap.first, view.gap.second) == pytest.approx((62.5, 37.5))
    assert view.gap.value == pytest.approx(25)
    assert view.rights is None
    turned = compare(data, filters, sides(data, "cand-b", "cand-a", right="1"))
    assert turned.gap.value == pytest.approx(-25)
    none = compare(data, filters, sides(data, "cand-a", "cand-c"))
    assert not none.direct
    assert none.gap.samples == 0


# --- planted and degenerate ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def world():
    return plant(WorldSettings(samples=400, models=3, drop=2.0), np.random.default_rng(5))


def test_a_planted_gap_is_found_again(world):
    """The gap on the judge's scale lies in the interval, and planted weak leaves are regressions.

    Of the leaves reported, at most one in ten should be false: none is on the wrong side by truth.
    """
    data = study_of(world.table())
    names = world.table().model_ids
    expected = (world.expected() - 1) / 4
    for first, second in ((0, 2), (1, 2)):
        view = versus(data, names[first], names[second])
        share = np.bincount(world.leaf, minlength=len(world.leaves)) / len(world.leaf)
        truth = 100 * float(((expected[first] - expected[second]) * share).sum())
        assert view.gap.lo - 1 <= truth <= view.gap.hi + 1
        weak = world.weak[first] & ~world.weak[second]
        behind = {one.path for one in view.found("second")}
        found = [world.leaves[at] in behind for at in np.flatnonzero(weak)]
        assert sum(found) >= len(found) - 1
        for one in view.found("first") + view.found("second"):
            if len(one.path) == 4:
                at = world.leaves.index(one.path)
                assert (expected[first, at] > expected[second, at]) == (one.verdict == "first")


def test_a_model_against_its_own_copy_is_identical(world):
    table = world.table()
    clone = replace(table, model_ids=("x", "y", "z"))
    rows = {m: np.flatnonzero(table.model[table.response] == m) for m in (0, 1)}
    score = clone.score.copy()
    score[rows[1]] = score[rows[0]]
    outcome = clone.outcome.copy()
    outcome[clone.model == 1] = outcome[clone.model == 0]
    data = study_of(replace(clone, score=score, outcome=outcome))
    view = versus(data, "x", "y")
    assert view.identical
    assert not view.decided
    assert math.isnan(view.more)
    assert view.gap.value == 0
    assert not view.found("first")
    assert not view.found("second")
    listed = pair_list_of(view)
    assert listed == (400, 0, 0)


def pair_list_of(view):
    gap = view.pairs.first - view.pairs.second
    return int(np.isfinite(gap).sum()), int((gap > 1e-9).sum()), int((gap < -1e-9).sum())


def test_constant_scores_that_differ_are_beyond_chance(world):
    table = world.table()
    score = np.where(table.model[table.response] == 0, 5, 3).astype(np.int8)
    view = versus(study_of(replace(table, score=score)), *table.model_ids[:2])
    assert view.gap.value == view.gap.hi == pytest.approx(50)
    # 400 equal differences: seen with chance .025 where 0.025^(1/400) = 99.08% of all are so.
    assert view.gap.lo == pytest.approx(50 * 0.025 ** (1 / 400)) == pytest.approx(49.54, abs=0.01)
    # All 400 signs alike, one way or the other, by chance: 2 * (1/2)^400.
    assert view.gap.p == pytest.approx(2.0**-399)
    assert view.decided
    assert {one.verdict for one in view.nodes if one.samples >= 5} == {"first"}


def test_under_five_samples_nothing_is_claimed():
    view = versus(outcome_study([1, 1, 1, 1], [0, 0, 0, 0]), "x", "y")
    assert view.gap.value == pytest.approx(100)
    assert math.isnan(view.gap.p)
    assert not view.decided
    assert math.isnan(view.more)
    spread = versus(outcome_study([1, 1, 0, 1, 1], [0, 0, 1, 0, 1]), "x", "y")
    # Differences 1 1 -1 1 0: mean .4, se .4; t(4) would reach 1.51, beyond what is possible.
    assert (spread.gap.value, spread.gap.hi) == pytest.approx((40, 100))


def only(table, answered):
    """Keep some answers alone: of the others nothing is known."""
    outcome = np.where(answered, table.outcome, np.nan).astype(np.float32)
    return replace(table, answered=answered, outcome=outcome)


def test_nothing_shared_is_said_and_counted(world):
    table = world.table()
    answered = (table.model == 0) == (table.sample < 200)
    data = study_of(only(table, answered))
    view = versus(data, *table.model_ids[:2])
    assert view.gap.samples == 0
    assert (view.left_out.first_only, view.left_out.second_only) == (200, 200)
    assert not view.identical
    assert view.found("first") == view.found("second") == ()
    assert math.isnan(view.more)


def test_an_empty_study_has_nobody_to_compare(world):
    table = world.table()
    data = study_of(only(table, np.zeros(len(table.sample), dtype=bool)))
    assert pick(data, Filters(), {}) is None


def outcome_study(first, second, labels=True):
    """Return an outcome-only study of two models from their right answers."""
    n = len(first)
    table = plant(WorldSettings(samples=1, models=1), np.random.default_rng(0)).table()
    none = {name: getattr(table, name)[:0] for name in
            ("response", "criterion", "leaf", "weight", "position", "score")}  # fmt: skip
    facets = {"kind": Facet(values=("even", "odd"), response=np.arange(2 * n, dtype=np.int32),
                            value=np.tile(np.arange(n) % 2, 2).astype(np.int32))}  # fmt: skip
    return study_of(
        replace(
            table,
            **none,
            sample=np.tile(np.arange(n), 2).astype(np.int32),
            model=np.repeat([0, 1], n).astype(np.int16),
            repeat=np.zeros(2 * n, dtype=np.int16),
            outcome=np.array([*first, *second], dtype=np.float32),
            answered=np.ones(2 * n, dtype=bool),
            cluster=np.arange(n, dtype=np.int32),
            quarantined=np.zeros(n, dtype=bool),
            sample_ids=tuple(f"s{at}" for at in range(n)),
            model_ids=("x", "y"),
            criterion_ids=(),
            response_ids=tuple(f"r{at}" for at in range(2 * n)),
            leaves=(),
            facets=facets if labels else {},
        )
    )


def test_outcomes_alone_are_compared_by_mcnemar_and_grouped_by_label():
    # 15 only x, 5 only y, 20 both, 10 neither: mid-p .0266037 (METHODS B9), gap 10/50.
    x = [1] * 15 + [0] * 5 + [1] * 20 + [0] * 10
    y = [0] * 15 + [1] * 5 + [1] * 20 + [0] * 10
    view = versus(outcome_study(x, y), "x", "y")
    assert view.measure == "outcome"
    assert view.gap.value == pytest.approx(20)
    assert view.gap.p == pytest.approx(0.0266037, abs=5e-8)
    assert view.decided
    assert [one.label for one in view.nodes] == [("kind", "even"), ("kind", "odd")]
    assert sum(one.samples for one in view.nodes) == 50
    assert view.pairs.both_fail.sum() == 10
    bare = versus(outcome_study(x, y, labels=False), "x", "y")
    assert bare.nodes == ()
    assert bare.facet is None


def test_how_many_more_pairs_would_settle_it():
    # 6 only x, 3 only y of 20: D = .15, psi = .45; z = 1.95996 and .84162:
    # (1.95996 * .67082 + .84162 * .65383)^2 / .0225 = 1.86507^2 / .0225 = 154.6: 155, 135 more.
    x = [1] * 6 + [0] * 3 + [1] * 11
    y = [0] * 6 + [1] * 3 + [1] * 11
    view = versus(outcome_study(x, y), "x", "y")
    assert not view.decided
    assert view.more == 135
    assert math.isinf(versus(outcome_study([1, 0, 1, 1, 0], [0, 1, 1, 1, 0]), "x", "y").more)


# --- symmetry ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), pair=st.permutations([0, 1, 2]))
def test_the_other_side_sees_the_same_turned_round(seed, pair):
    drawn = plant(
        WorldSettings(samples=40, models=3, missing=0.15, unscored=0.1),
        np.random.default_rng(seed),
    )
    data = study_of(drawn.table())
    a, b = (data.table.model_ids[at] for at in pair[:2])
    one, two = versus(data, a, b), versus(data, b, a)
    assert two.gap.value == pytest.approx(-one.gap.value)
    assert (two.gap.lo, two.gap.hi) == pytest.approx((-one.gap.hi, -one.gap.lo))
    assert (two.gap.p, two.decided) == (pytest.approx(one.gap.p), one.decided)
    assert two.rights.first_only == one.rights.second_only
    assert two.left_out == replace(
        one.left_out, first_only=one.left_out.second_only, second_only=one.left_out.first_only
    )
    assert one.gap.samples + one.left_out.n == 40
    turned = {"first": "second", "second": "first", "none": "none", "thin": "thin"}
    for left, right in zip(one.nodes, two.nodes, strict=True):
        assert right.gap == pytest.approx(-left.gap, nan_ok=True)
        assert right.adjusted == pytest.approx(left.adjusted, nan_ok=True)
        assert (right.samples, right.n) == (left.samples, left.n)
        assert right.verdict == turned[left.verdict]
    assert (two.pairs.both_fail == one.pairs.both_fail).all()


# --- lists and files -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_list_of_many_pairs_comes_in_pages(tmp_path):
    with open_small(tmp_path) as store:
        x = [1] * 40 + [0] * 20
        view = versus(outcome_study(x, [0] * 60), "x", "y")
        page = pair_list(store, view, Filters(sample="s30"))
        assert (page.page, page.pages, page.total) == (1, 3, 60)
        assert len(page.rows) == PAGE_SIZE
        last = pair_list(store, view, Filters(), "all", 2)
        assert len(last.rows) == 10
        assert page.equal == 20
    assert read_tab("nothing") == read_tab(None) == "all"
    assert read_tab("fail") == "fail"


def test_files_hold_every_node_and_every_pair(data, store):
    view = versus(data, "cand-a", "cand-b")
    rows = list(csv.DictReader(io.StringIO(nodes_csv(view))))
    assert len(rows) == len(view.nodes)
    last = next(row for row in rows if row["name"] == "Difference")
    assert float(last["difference"]) == 56.25
    assert last["verdict"] == "too little evidence"
    pairs = list(csv.DictReader(io.StringIO(pairs_csv(store, view))))
    assert [row["source_id"] for row in pairs] == ["0", "1", "2", "3", "4"]
    assert float(pairs[0]["difference"]) == 72.5
    assert pairs[3]["question"] == " ".join(HOSTILE.split())


def test_text_that_looks_like_a_formula_stays_text(data, store):
    view = versus(data, "cand-a", "cand-b")
    evil = replace(view.picked.first, label="=HYPERLINK(0)")
    view = replace(view, picked=ComparedSides(first=evil, second=view.picked.second))
    assert "'=HYPERLINK(0)" in pairs_csv(store, view)


def test_a_pair_that_is_not_there_is_none(data, store):
    chosen = sides(data, "cand-a", "cand-b")
    assert pair_view(store, data, Filters(sample="nowhere"), chosen) is None
    pair = pair_view(store, data, Filters(sample=data.table.sample_ids[4]), chosen)
    # One criterion of b's is still to be scored.
    assert [mark.difference for mark in pair.marks] == [2, None, 2]
