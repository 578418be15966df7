import math

import pytest

from atom.judgebench.critic_bench.ask import COMPARE, CORRECTION, FEEDBACK, META
from atom.judgebench.critic_bench.figures import measure
from atom.records import BenchItem, Sampling
from atom.stages.verdicts import blank, failed, unscored

BASE = {"source": "", "tests": "", "truth": "", "corrected": True, "references": True,
        "correction": "good", "critique": "good", "places": []}  # fmt: skip


def item(number, kind, domain="chat", quality="low", **data):
    return BenchItem(
        set_id="set", id=f"i{number}", position=number,
        data={**BASE, "kind": kind, "domain": domain, "quality": quality, **data},
    )  # fmt: skip


def verdict(number, part, *, value=None, label="", order="", text="t", repeat=0, **data):
    empty = blank("set", f"i{number}", part, "judge", "p/1", Sampling(), repeat=repeat, order=order)
    state = {"state": "scored", "value": value, "label": label, "text": text, "data": data}
    return empty.model_copy(update=state)


def rows_of(result, title=None):
    if title is None:
        return {row.metric + "/" + row.group: row for row in result.headline}
    table = next(one for one in result.tables if one.title.startswith(title))
    return {(row.metric, row.group, row.rule): row for row in table.rows}


def scores(values, truths, part=FEEDBACK, kind="answer", **data):
    items = [item(n, kind, score=truth, **data) for n, truth in enumerate(truths)]
    verdicts = [
        verdict(n, part, value=value) if value is not None
        else unscored(verdict(n, part), "no score")
        for n, value in enumerate(values)
    ]  # fmt: skip
    return items, verdicts


def test_correlations_under_both_rules():
    items, verdicts = scores([1, 2, 3, 4, None], [1, 2, 3, 4, 5])
    found = measure(items, verdicts)
    strict = rows_of(found)["spearman/feedback"]
    assert (strict.value, strict.n, strict.invalid, strict.chance, strict.rule) == (
        pytest.approx(100), 4, 1, 0, "strict")  # fmt: skip
    released = rows_of(found, "Counted as the released")["spearman", "feedback", "released"]
    # -1 for the unread one: ranks 2 3 4 5 1 against 1..5: 1 - 6 x 20 / 120 = 0.
    assert (released.value, released.n) == (pytest.approx(0, abs=1e-9), 5)
    verdicts[4] = verdicts[4].model_copy(update={"data": {"released": 9.0}})
    again = rows_of(measure(items, verdicts), "Counted as")["spearman", "feedback", "released"]
    assert again.value == pytest.approx(100)  # the released parser takes a 9 as it is


def test_a_judge_that_says_the_same_each_time_has_no_correlation_and_no_overall():
    items, verdicts = scores([4, 4, 4, 4], [1, 2, 3, 4])
    found = rows_of(measure(items, verdicts))
    assert math.isnan(found["spearman/feedback"].value)
    assert "never varies" in found["spearman/feedback"].note
    assert math.isnan(found["objective_overall/"].value)
    assert "not defined without" in found["objective_overall/"].note


def pair_of(forward, backward, preference="a"):
    """Verdicts by position: 0 first, 1 second, 2 neither, -1 unread."""
    labels = {"ab": ("a", "b", "tie"), "ba": ("b", "a", "tie")}
    said = []
    for order, position in (("ab", forward), ("ba", backward)):
        one = verdict(
            0, COMPARE, order=order, label="" if position < 0 else labels[order][position]
        )
        said.append(unscored(one, "unread") if position < 0 else one)
    return [item(0, "pair", preference=preference)], said


@pytest.mark.parametrize(
    ("forward", "backward", "strict", "released", "unread"),
    [(0, 1, 100, 100, 0), (0, 0, 0, 0, 0), (0, 2, 0, 100, 0), (1, 0, 0, 0, 0), (2, 2, 0, 0, 0),
     (0, -1, 0, 0, 1), (-1, 1, 0, 0, 1)],
)  # fmt: skip
def test_comparisons_under_both_rules(forward, backward, strict, released, unread):
    found = measure(*pair_of(forward, backward))
    row = rows_of(found)["accuracy/comp_feedback"]
    assert (row.value, row.invalid, row.chance) == (strict, unread, 25)
    other = rows_of(found, "Counted as")["accuracy", "comp_feedback", "released"]
    assert other.value == released
    if not unread:
        same = rows_of(found, "What the order")["swap_consistency", "comp_feedback",
                                                "readable only"]  # fmt: skip
        assert same.value == 100 * ((forward, backward) in ((0, 1), (1, 0), (2, 2)))
        # A coin says the same of both orders in 2 of 4 cases; with ties there is no such level.
        assert math.isnan(same.chance) if 2 in (forward, backward) else same.chance == 50


def test_a_judge_locked_to_the_first_position_gets_nothing():
    items, verdicts = [], []
    for n in range(12):
        items.append(item(n, "pair", quality="easy" if n < 4 else "hard", preference="ab"[n % 2]))
        verdicts += [verdict(n, COMPARE, order="ab", label="a"),
                     verdict(n, COMPARE, order="ba", label="b")]  # fmt: skip
    found = measure(items, verdicts)
    assert rows_of(found)["accuracy/comp_feedback"].value == 0
    order = rows_of(found, "What the order")
    first = order["first_both", "comp_feedback", "readable only"]
    assert (first.value, first.chance) == (100, 25)
    levels = rows_of(found, "Comparisons by difficulty")
    assert levels["accuracy", "comp_feedback, easy", "strict"].n == 4
    assert levels["accuracy", "comp_feedback, hard", "released"].n == 8


def test_failed_calls_and_half_asked_pairs_count_nowhere():
    items, verdicts = pair_of(0, 1)
    half = measure(items, verdicts[:1])
    assert rows_of(half)["accuracy/comp_feedback"].n == 0
    broken = measure(items, [verdicts[0], failed(verdicts[1], "the server was down")])
    assert rows_of(broken)["accuracy/comp_feedback"].n == 0
    none = measure(items, [])
    assert (none.missing, none.items) == (1, 1)
    assert measure(items, [failed(verdicts[1], "the server was down")]).missing == 1


def test_votes_are_averaged_and_decided_by_the_majority():
    items, verdicts = pair_of(0, 1)
    more = [verdict(0, COMPARE, order="ab", label=label, repeat=k)
            for k, label in enumerate(("b", "a", "a"))]  # fmt: skip
    assert rows_of(measure(items, [*more, verdicts[1]]))["accuracy/comp_feedback"].value == 100
    split = measure(items, [*more[:2], verdicts[1]])  # one vote each: neither
    assert rows_of(split)["accuracy/comp_feedback"].value == 0


def corrections():
    items = [item(n, "answer", "math_cot", truth="42", score=None) for n in range(4)]
    items += [item(n, "answer", "code_exec", tests="assert f()", score=None) for n in (4, 5)]
    verdicts = [
        verdict(0, CORRECTION, text="It is 42", final_answer="42"),
        verdict(1, CORRECTION, text="It is 41", final_answer="41"),
        verdict(2, CORRECTION, text="Who knows"),
        unscored(verdict(3, CORRECTION), "unread"),
        verdict(4, CORRECTION, text="def f(): return 1"),
        unscored(verdict(5, CORRECTION), "unread"),
    ]
    return items, verdicts


def test_the_pass_rate_is_the_mean_of_the_domains_and_names_what_wasn_t_run():
    items, verdicts = corrections()
    found = rows_of(measure(items, verdicts))["pass_rate/correction"]
    # Mathematics only: 1 right of 4, of which two can't be read.
    assert (found.value, found.n, found.invalid, found.chance) == (25, 4, 2, 0)
    assert "2 programs weren't run" in found.note
    assert "without math_pot, code_exec, code_not_exec" in found.note
    ran = [*verdicts, verdict(4, "code_run", value=1.0, label="passed")]
    found = rows_of(measure(items, ran))["pass_rate/correction"]
    # Code: 1 of 2, the unread one counts as failed: (25 + 50) / 2 = 37.5.
    assert (found.value, found.n, found.invalid) == (37.5, 6, 3)
    # Wilson of 1/4 is 4.56 to 69.94, of 1/2 9.45 to 90.55; MOVER:
    # 37.5 - sqrt(20.44^2 + 40.55^2) / 2 = 14.80; 37.5 + sqrt(44.94^2 + 40.55^2) / 2 = 67.77.
    assert (found.lo, found.hi) == (pytest.approx(14.80, abs=0.02), pytest.approx(67.77, abs=0.02))


def test_the_overall_of_gpt_4_turbo_from_its_parts():
    from atom.judgebench.base import MetricRow
    from atom.judgebench.critic_bench.figures import _objective

    # METHODS A18: ((63.54+100)/2 + 69.67 + 57.33 + (62.90+100)/2)/4 = 72.555.
    parts = {"feedback": 63.54, "comp_feedback": 57.33, "correction": 69.67, "meta_feedback": 62.9}
    rows = [
        MetricRow(metric="m", label=name, value=value, lo=value - 8, hi=value + 8, rule="strict",
                  group=name)
        for name, value in parts.items()
    ]  # fmt: skip
    found = _objective(rows)
    assert (found.value, found.chance) == (pytest.approx(72.555), 31.25)
    # Half-widths 8/8, 8/4, 8/4, 8/8: sqrt(1 + 4 + 4 + 1) = 3.162.
    assert found.hi - found.value == pytest.approx(math.sqrt(10))


def test_grades_are_the_plain_mean_of_the_domains():
    items = [item(0, "answer", "chat"), item(1, "answer", "chat"), item(2, "answer", "qa"),
             item(3, "pair", "qa", preference="a")]  # fmt: skip
    graded = [
        verdict(n, f"scorer/judge/{part}", value=value, order=order)
        for n, part, value, order in (
            (0, FEEDBACK, 6.0, ""), (1, FEEDBACK, 8.0, ""), (2, FEEDBACK, 3.0, ""),
            (0, CORRECTION, 9.0, ""), (3, COMPARE, 4.0, "ab"))
    ]  # fmt: skip
    graded.append(unscored(verdict(1, f"scorer/judge/{CORRECTION}"), "unread"))
    found = rows_of(measure(items, graded))
    assert found["subjective_score/feedback"].value == 5.0  # (7 + 3) / 2
    assert found["subjective_score/correction"].invalid == 1
    assert found["subjective_overall/"].value == 6.0  # (5 + 4 + 9) / 3
    table = rows_of(measure(items, graded), "Grades by")
    assert table["subjective_score", "feedback, chat", ""].value == 7.0
    assert "subjective_overall/" not in rows_of(measure(items, []))


def test_by_quality_and_domain_with_the_warning_about_the_range():
    items, verdicts = scores([1, 2, 3, 4], [1, 2, 3, 4], META, "critique", quality="med")
    found = measure(items, verdicts)
    table = next(one for one in found.tables if one.title.startswith("Correlation by response"))
    assert "hardly vary" in table.note
    assert [row.group for row in table.rows] == ["meta_feedback, medium"]
    domains = rows_of(found, "By domain")
    assert domains["spearman", "meta_feedback, chat", "strict"].value == pytest.approx(100)
