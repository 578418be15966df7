import math

import pytest

from atom.judgebench.mm_critic.ask import PARAPHRASE_PART, REFERENCE_PART, score_part
from atom.judgebench.mm_critic.report import measure
from atom.records import Sampling, content_id
from atom.stages.verdicts import blank
from tests.atom.judgebench.mm_critic.test_data import BASIC, FIX, PAIR, read


def row_of(rows, metric, group="", rule=None):
    (found,) = [row for row in rows if row.metric == metric and row.group == group
                and rule in (None, row.rule)]  # fmt: skip
    return found


def table(result, start):
    return next(one for one in result.tables if one.title.startswith(start)).rows


def verdict(item, part, judge="j", repeat=0, order="", state="scored", **more):
    made = blank("set", item.id, part, judge, "p/1", Sampling(), repeat=repeat, order=order)
    return made.model_copy(update={"state": state, **more})


def critique(item, claim, score, text="x" * 100, scorer="s", repeat=0, rating=None, annotator=""):
    """A critique and what a scorer gave it; score None = the scorer's reply was unreadable."""
    written = verdict(item, "critique", label=claim, text=text, value=rating, repeat=repeat)
    data = {"of": written.key, "annotator": annotator}
    given = verdict(item, score_part("j", "critique"), scorer, repeat, value=score, data=data,
                    state="scored" if score is not None else "unscored")  # fmt: skip
    return [written, given]


def basics(n, **more):
    return read(*[{**BASIC, "id": f"b{at}", **more} for at in range(n)]).items


def test_accuracy_and_score_under_both_ways_of_counting():
    items = basics(4)
    verdicts = [
        *critique(items[0], "right", 9.0),
        *critique(items[1], "wrong", 6.0),
        *critique(items[2], "right", None),
        verdict(items[3], "critique", state="unscored"),
    ]
    rows = measure(items, verdicts).headline
    # Right claims: 2 of 4 strictly, 2 of 3 readable ones.
    assert row_of(rows, "acc_critic", rule="strict").value == 50
    assert row_of(rows, "acc_critic", rule="readable only").value == pytest.approx(200 / 3)
    assert row_of(rows, "acc_critic", rule="strict").chance == 50
    # Readable: (9 + 6) / 2; strict: the judge's unreadable one is a 0: (9 + 6 + 0) / 3. The score
    # that the scorer failed to give is in neither.
    assert row_of(rows, "critique_score", rule="readable only").value == 7.5
    assert row_of(rows, "critique_score", rule="strict").value == 5
    assert row_of(rows, "critique_score", rule="strict").invalid == 2


def test_shares_beside_the_reference():
    items = basics(4)
    verdicts = [one for item, score in zip(items, (10.0, 9.0, 8.0, 2.0), strict=True)
                for one in critique(item, "right", score)]  # fmt: skip
    rows = table(measure(items, verdicts), "Critiques beside")
    assert [row.value for row in rows] == [50, 25, 25]


def test_the_audit_finds_a_lenient_scorer():
    # The scorer gives all one point too much: true 6 and 8 come out as 7 and 9, mean 8; the
    # reference blindly 9, its paraphrase 9. So the anchored score is 8 - 1 = 7.
    items = basics(2)
    verdicts = [*critique(items[0], "right", 7.0), *critique(items[1], "right", 9.0)]
    verdicts += [verdict(item, part, "s", value=9.0)
                 for item in items for part in (REFERENCE_PART, PARAPHRASE_PART)]  # fmt: skip
    result = measure(items, verdicts)
    rows = table(result, "Anchor audit")
    assert row_of(rows, "anchor_offset_reference", "scorer s").value == 1
    assert row_of(rows, "anchor_offset_paraphrase", "scorer s").value == 1
    assert row_of(rows, "critique_score_less_reference", "scorer s").value == 7
    assert row_of(result.headline, "critique_score_anchored").value == 7


def test_preferences_by_pairing_and_scheme():
    rows = [{**PAIR, "id": f"p{at}", "quality_a": a, "quality_b": b}
            for at, (a, b) in enumerate([(2, 6), (3, 7), (6, 9), (4, 10)])]  # fmt: skip
    items = read(*rows).items
    said = zip(items, "babb", ("ab", "ba", "ba", "ab"), strict=True)
    verdicts = [verdict(one, "compare", label=label, order=order) for one, label, order in said]
    result = measure(items, verdicts)
    # Analysis bands: two G1 (one right), one G2 (right), one G3 (right).
    got = {row.group: (row.value, row.n) for row in result.headline if row.metric == "acc_prefer"}
    assert got == {"low and medium": (50, 2), "medium and high": (100, 1), "low and high": (100, 1)}
    # Annotator bands: the last is medium against correct, which is no pairing of the paper.
    other = table(result, "By quality of the response, annotator")
    assert sum(row.n for row in other if row.metric == "acc_prefer") == 3
    # Shown first was picked in: ab/b no, ba/a no, ba/b yes, ab/b no.
    assert row_of(table(result, "Position"), "prefers_first").value == 25


def test_task_types_average_over_readable_items():
    places = [("coding", "core"), ("coding", "open"), ("planning", "core")]
    items = read(*[{**BASIC, "id": f"b{at}", "task_type": kind, "subset": subset}
                   for at, (kind, subset) in enumerate(places)]).items  # fmt: skip
    verdicts = [one for item, score in zip(items, (3.0, 5.0, 10.0), strict=True)
                for one in critique(item, "right", score)]  # fmt: skip
    result = measure(items, verdicts)
    by_type = table(result, "By task type")
    assert row_of(by_type, "critique_score", "coding").value == 4
    assert row_of(by_type, "critique_score", "planning").value == 10
    assert [row.group for row in by_type if row.metric == "acc_critic"] == ["planning", "coding"]
    # Micro: (3 + 5 + 10) / 3 = 6, not the mean of 4 and 10.
    assert row_of(result.headline, "critique_score").value == 6
    assert row_of(table(result, "By sub-dataset"), "critique_score", "Core").value == 6.5
    assert row_of(table(result, "Core: by task type"), "critique_score", "coding").value == 3


def test_repeats_of_an_item_count_as_one_item():
    items = basics(2)
    verdicts = [
        *critique(items[0], "right", 4.0, text="x" * 1000),
        *critique(items[0], "wrong", 8.0, text="x" * 2000, repeat=1),
        *critique(items[0], "right", 6.0, text="x" * 1500, repeat=2),
        *critique(items[1], "right", 9.0),
    ]
    result = measure(items, verdicts)
    # Majority of item 0: right. Item means: 6 and 9.
    assert row_of(result.headline, "acc_critic").value == 100
    assert row_of(result.headline, "critique_score").value == 7.5
    slope = row_of(table(result, "Length"), "length_slope")
    assert (slope.value, slope.n) == (pytest.approx(4.0), 1)  # 4 points over 1,000 characters


def test_the_judges_own_rating_is_held_to_the_bands():
    items = read(*[{**BASIC, "id": f"b{q}", "quality": q} for q in (2, 4, 6, 9)]).items
    verdicts = [one for item, rating in zip(items, (1.0, 5.0, 7.0, 8.0), strict=True)
                for one in critique(item, "right", 8.0, rating=rating)]  # fmt: skip
    result = measure(items, verdicts)
    # 4 is low for the analysis (5 isn't), medium for the annotators (5 is).
    analysis = table(result, "By quality of the response, analysis")
    annotator = table(result, "By quality of the response, annotator")
    assert row_of(analysis, "rating_band_accuracy").value == 75
    assert row_of(annotator, "rating_band_accuracy").value == 100
    # A number drawn from 0..10: low 5/11 twice, medium 3/11, high 3/11: mean 4/11.
    assert row_of(analysis, "rating_band_accuracy").chance == pytest.approx(100 * 4 / 11)
    assert row_of(analysis, "rating_spearman").value == 1


def test_scorers_and_annotators_are_crossed_never_pooled():
    items = read(*[{**BASIC, "id": f"b{at}", "annotator": "GPT-4o"} for at in range(2)]).items
    gpt = content_id("judge", "GPT-4o")
    verdicts = []
    for item, own, other in zip(items, (9.0, 9.0), (6.0, 8.0), strict=True):
        verdicts += critique(item, "right", own, scorer=gpt, annotator="GPT-4o")
        verdicts += critique(item, "right", other, scorer="s", annotator="GPT-4o")[1:]
    result = measure(items, verdicts)
    assert row_of(result.headline, "critique_score", "scorer GPT-4o").value == 9
    assert row_of(result.headline, "critique_score", "scorer s").value == 7
    rows = table(result, "Who wrote")
    assert row_of(rows, "critique_score", "reference by GPT-4o, scored by s").value == 7
    assert row_of(rows, "swap_own").value == 2  # 9 - 7


def test_corrections_and_what_is_missing():
    items = read(BASIC, FIX).items
    written = verdict(items[1], "correction", text="So.")
    given = verdict(items[1], score_part("j", "correction"), "s", value=5.0,
                    data={"of": written.key, "annotator": ""})  # fmt: skip
    failed = verdict(items[0], "critique", state="failed")
    result = measure(items, [written, given, failed])
    assert row_of(result.headline, "correction_critique_score").value == 5
    assert (result.items, result.missing) == (2, 1)
    assert [row.metric for row in result.headline] == ["correction_critique_score"]
    empty = measure(items, [])
    assert (empty.headline, empty.tables, empty.missing) == ((), (), 2)


def test_a_judge_whose_every_reply_is_unreadable_has_no_score_but_an_invalid_rate():
    items = basics(2)
    rows = measure(items, [verdict(one, "critique", state="unscored") for one in items]).headline
    assert row_of(rows, "acc_critic", rule="strict").value == 0
    assert math.isnan(row_of(rows, "acc_critic", rule="readable only").value)
    assert row_of(rows, "acc_critic", rule="strict").invalid == 2
