"""Human check, own criteria: written first, then matched and ticked; recall, precision, scores."""

from __future__ import annotations

import asyncio
import html

import numpy as np
import pytest

from atom.engine.people.matching import MatchSpec, forecast_match, own_samples
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.methods.own_criteria import lines_of
from atom.records import Annotation, Criterion
from atom.store import Store
from atom.ui.people.acts import Act
from atom.ui.people.deck import deck_items
from atom.ui.people.desk import Desk
from atom.views.people.own_criteria import own_criteria
from atom.views.people.own_table import own_csv, score_table
from atom.views.study_data import load_study
from tests.app.screen_store import make_store

KNOWN = {one.name: one for one in builtin_endpoints()}


class Person:
    """Somebody at their desk."""

    def __init__(self, store, study, name="Ann"):
        self.desk = Desk(store, load_study(store, study.id), "own", name, "random")
        self._number = 0

    def press(self, **told):
        self._number += 1
        self.desk.take([Act(number=self._number, item=self.desk.item.id, **told)])

    @property
    def item(self):
        return self.desk.item


@pytest.fixture
def opened(tmp_path):
    made = make_store(tmp_path / "own")
    with Store.open(made.folder) as store:
        yield store, made.study


def test_lines_lose_their_bullets_and_repeats():
    assert lines_of("- is it red?\n\n 2) How many\n* is it red?\n") == ("is it red?", "How many")
    assert lines_of(" \n ") == ()


def test_nothing_of_the_judges_is_seen_before_one_has_written(opened):
    store, study = opened
    ann = Person(store, study)
    assert ann.item.kind == "written"
    asked = {one.question for one in store.select(Criterion)}
    drawn = deck_items(ann.desk)
    # What comes next hangs on what is written: the browser holds nothing ahead of it.
    assert [one["mode"] for one in drawn] == ["write"]
    assert not any(question in html.unescape(str(drawn[0]["html"])) for question in asked)
    view = ann.desk.view(ann.item.sample_id)
    first, *others = [one.criterion for one in view.criteria]
    ann.press(do="give", text=f"{first.question}\nIs the wording polite?")
    # Two lines to match, then the judge's criteria to tick.
    assert [ann.item.kind, *(one.kind for one in ann.desk.window())].count("match") >= 2
    ann.press(do="give", key="2")  # the first criterion
    ann.press(do="give", key="1")  # none of them
    ticked = []
    while ann.item.kind == "wanted":
        ticked.append(ann.item.criterion_id)
        ann.press(do="give", key="1" if len(ticked) == 1 else "2")
    # The one that they wrote themselves isn't asked about again.
    assert ticked == [one.id for one in others]
    data = load_study(store, study.id)
    found = own_criteria(store, data)
    assert (found.by, found.samples, found.people) == ("people", 1, ("Ann",))
    # One of two lines is among the judge's; of its criteria the first and the first ticked.
    assert (found.recall.value, found.recall.n) == (0.5, 2)
    wanted = 1 + min(len(others), 1)
    assert found.precision.value == pytest.approx(wanted / (1 + len(others)))
    assert [line for _, line in found.unasked] == ["Is the wording polite?"]
    assert found.scored == 1
    # Each model's score by either set, by hand: weighted means of the kept criteria's marks.
    table = data.table
    keep = {first.id, *ticked[:1]}
    sample = data.sample_position[view.sample.id]
    row = found.rows[0]
    rows = [at for at in range(len(table.score)) if table.score[at] > 0
            and table.sample[table.response[at]] == sample
            and table.model[table.response[at]] == row.model]  # fmt: skip
    for got, kept in ((row.judge, rows),
                      (row.people, [at for at in rows if table.criterion_ids[table.criterion[at]]
                                    in keep])):  # fmt: skip
        value = np.average([25 * (table.score[at] - 1) for at in kept],
                           weights=[table.weight[at] for at in kept])  # fmt: skip
        assert got.gap == pytest.approx(value)
    assert row.gap.gap == pytest.approx(row.people.gap - row.judge.gap)
    assert f"difference,{row.name}" in own_csv(found)
    (line, *_), (doc, *_) = (score_table(found).rows, score_table(found).documents)
    assert (line.name, doc["judge"], doc["gap"]) == (row.name, row.judge.gap, row.gap.gap)
    assert str(found.recall.n) in own_csv(found).splitlines()[1]


def test_a_judge_matches_by_words_and_who_decided_is_told(opened):
    store, study = opened
    with pytest.raises(UsageError, match="Own criteria"):
        forecast_match(store, MatchSpec(study_id=study.id, judge="probe-judge"), KNOWN)
    ann = Person(store, study)
    view = ann.desk.view(ann.item.sample_id)
    first = view.criteria[0].criterion
    ann.press(do="give", text=f"{first.question}\nIs the wording polite?")
    ann.press(do="give", key="1")  # Ann says that none asks it; the judge will say that one does
    ann.press(do="give", key="1")
    spec = MatchSpec(study_id=study.id, judge="probe-judge")
    assert forecast_match(store, spec, KNOWN).calls == 1
    ended = asyncio.run(run(store, spec, KNOWN))
    assert (ended.kind, ended.state, ended.unscored, ended.failed) == ("criteria", "done", 0, 0)
    assert forecast_match(store, spec, KNOWN).calls == 0
    data = load_study(store, study.id)
    by_person = own_criteria(store, data)
    judge = next(key for key in by_person.deciders if key != "people")
    by_judge = own_criteria(store, data, judge)
    assert (by_person.recall.value, by_judge.recall.value) == (0.0, 0.5)
    assert (by_judge.agree.value, by_judge.agree.n) == (0.5, 2)
    # Other words make another question.
    (label,) = [one for one in store.select(Annotation) if one.kind == "written"]
    store.replace([label.model_copy(update={"label": "Is it red?"})])
    assert [one.lines for one in own_samples(store, study)] == [("Is it red?",)]
    assert forecast_match(store, spec, KNOWN).calls == 1


def test_whoever_skips_the_writing_ticks(opened):
    store, study = opened
    ann = Person(store, study)
    criteria = len(ann.desk.view(ann.item.sample_id).criteria)
    ann.press(do="skip")
    for _ in range(criteria):
        assert ann.item.kind == "wanted"
        ann.press(do="give", key="1")
    found = own_criteria(store, load_study(store, study.id))
    assert (found.precision.value, found.precision.n, found.recall.n) == (1.0, criteria, 0)
