"""DSG: questions with dependencies, three VQA models, people's ratings."""

from __future__ import annotations

import itertools
import re

import pandas as pd

from atom.analysis.agreement.rubric import plain, with_parents
from atom.records import Criterion, Mapping, Sample
from tests.atom.formats.judgments.figures.common import Figures, alpha, counts, mean_by, two
from tests.atom.formats.judgments.frames import Brought, marked

RULES = {"with": with_parents, "without": plain}
ITEMS = 160
JUDGES = ("mplug", "instructblip", "pali17b")


def figures(brought: Brought) -> Figures:
    """Return every figure of the source."""
    frame, notes = brought.frame, " ".join(brought.imported.report.notes)
    people = frame[frame.kind == "person"]
    leaves = {one.criterion_id: one.leaf for one in brought.store.select(Mapping)}
    asked = [one.id for one in brought.store.select(Criterion) if one.id in leaves]
    named = re.search(r"([\d,]+) criteria name others.*?([\d,]+) of them two or more", notes)
    assert named is not None
    return {
        "criteria": len(asked),
        "items": len(brought.store.select(Sample)),
        "criteria_with_parents": int(named[1]),
        "criteria_with_two_or_more_parents": int(named[2]),
        "broad_categories": counts(leaves[one][-2] for one in asked),
        "likert": _likert(people),
        "judges": {name: _judge(frame, people, name) for name in JUDGES},
        "kappa_between_judges": _kappas(frame),
    }


def _likert(people: pd.DataFrame) -> Figures:
    pictures = people.groupby(["model", "answer"]).value.mean().reset_index()
    return {
        "ratings": len(people),
        "images": people.answer.nunique(),
        "workers": people.judge.nunique(),
        "ratings_per_image": counts(people.groupby("answer").size()),
        "alpha_ordinal": alpha(people, "answer"),
        "mean": {name: 4 * value + 1 for name, value in mean_by(pictures, "model").items()},
    }


def _judge(frame: pd.DataFrame, people: pd.DataFrame, name: str) -> Figures:
    mine = frame[frame.judge == name]
    # What is neither yes nor no is unscored here and was published as no.
    as_no = mine.assign(value=mine.value.fillna(0.0), broad=mine.leaf.str[-2])
    rows, answers = marked(mine)
    model_of = mine.drop_duplicates("answer").set_index("answer").model
    rated = people.groupby("answer").value.mean()
    made: Figures = {
        "rows": len(mine),
        "answers": counts(mine.raw.replace("", "(empty)")),
        "answers_neither_yes_nor_no": int((mine.state == "unscored").sum()),
        "items_without_answers": people.answer.nunique() - mine.answer.nunique(),
        "duplicate_rows": int(mine.duplicated(["answer", "criterion_id"]).sum()),
        "share_yes_over_criteria": mean_by(as_no, "model"),
        "share_yes_by_broad_category": mean_by(as_no, "broad"),
    }
    for word, rule in RULES.items():
        found = rule(rows, unread="unmet")
        value = pd.Series(found.value, index=answers)
        # tifa160_134 has criteria and no answers: no score here, published as 0 among 160.
        total = value.groupby(model_of[value.index].to_numpy()).sum()
        made[f"score_{word}_dependency"] = (total / ITEMS).to_dict()
        whole = pd.Series(0.0, index=rated.index)
        whole.update(value)
        both = two(whole, rated)
        told: Figures = {"spearman": both.spearman.value, "kendall": both.kendall.value}
        if word == "with":
            told["n"] = both.n
            made["answers_set_to_no_by_dependency"] = int(found.touched.sum())
        made[f"{word}_dependency_vs_likert"] = told
    return made


def _kappas(frame: pd.DataFrame) -> Figures:
    marks = frame[frame.kind == "model"].assign(value=lambda one: one.value.fillna(0.0))
    wide = marks.pivot_table(index=["criterion_id", "answer"], columns="judge", values="value")
    return {
        f"{one}~{other}": two(wide[one], wide[other]).kappa.value
        for one, other in itertools.combinations(JUDGES, 2)
    }
