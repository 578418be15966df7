"""Frames hold what the screens show, and say what they are of."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import atom
from atom.cli.main import main
from atom.errors import UsageError
from atom.notebook.columns import (
    ANSWERS,
    CAPABILITIES,
    CRITERIA,
    RANKING,
    SAMPLES,
    SCORES,
    STUDIES,
    WEAKNESSES,
    frame_of,
)
from atom.records import Checkpoint, Judge, Response
from atom.settings import DEMO_FOLDER
from atom.store import Store
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.overview.ranking_table import ranking_table
from atom.views.study_data import load_study
from tests.factories import ANSWERING, JUDGE, SAMPLING, STUDY, open_small
from tests.factories import SCORES as GIVEN

KEY = ["sample", "model", "repeat"]
BUNDLED = "Probe world (synthetic demo)"
METHODS = {
    "samples": SAMPLES, "criteria": CRITERIA, "answers": ANSWERS, "scores": SCORES,
    "ranking": RANKING, "capabilities": CAPABILITIES, "weaknesses": WEAKNESSES,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    open_small(tmp_path / "store").close()
    return tmp_path / "store"


@pytest.fixture
def small(folder):
    with atom.open(STUDY, store=folder) as study:
        yield study


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    with atom.open(BUNDLED, store=tmp_path_factory.mktemp("none") / "no store") as study:
        yield study


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_frame_has_the_columns_and_types_that_are_declared(small, name):
    frame = getattr(small, name)()
    columns = METHODS[name]
    assert {n: str(t) for n, t in frame.dtypes.items()} == {c.name: c.dtype for c in columns}
    assert frame.attrs == {"study": STUDY, "judge": "Judge X", "synthetic": False}


def test_a_frame_without_lines_has_its_columns_and_types_all_the_same():
    frame = frame_of(SCORES, [])
    assert len(frame) == 0
    assert [str(one) for one in frame.dtypes] == [one.dtype for one in SCORES]


def test_scores_are_the_marks_one_a_row(small):
    frame = small.scores()
    # 6 samples x 3 models x 3 criteria = 54: one unscored, one failed, one still to be scored.
    assert frame["state"].value_counts().to_dict() == {
        "scored": 51, "unscored": 1, "failed": 1, "pending": 1,
    }  # fmt: skip
    given = [score for sample in GIVEN for seat in sample for score in seat]
    assert sorted(frame["score"].dropna()) == sorted(s for s in given if s is not None and s > 0)
    row = frame[frame["state"] == "failed"].iloc[0]
    assert (row["detail"], row["model"], row["weight"]) == ("HTTP 500", "Candidate B", 5.0)
    assert row["capability"][-1] == "Difference"


def test_an_answers_score_is_the_weighted_mean_of_its_marks(small):
    frame = small.answers()
    at = {(row.sample, row.model): row for row in frame.itertuples()}
    first = small.samples()["sample"].iloc[0]
    # Weights 2, 3, 5, marks 5, 2, 1: (2*5 + 3*2 + 5*1) / 10 = 2.1; (2.1 - 1) / 4 = 27.5 %.
    assert at[first, "Candidate B"].score == pytest.approx(27.5)
    assert at[first, "Candidate A"].right == 1
    assert len(frame) == 18


def mark_of(row, **changes):
    """Make another mark of the criterion and answer that a row is about."""
    answer = Response.make_id(row["sample"], "cand-a", "answer/1", ANSWERING)
    return Checkpoint(
        criterion_id=row["criterion"], response_id=answer, judge_id=JUDGE, sampling=SAMPLING,
        state="scored", **changes,
    )  # fmt: skip


def test_marks_of_every_repeat_are_rows_of_their_own(folder, small):
    one = small.scores().iloc[0]
    with Store.open(folder) as store:
        store.put(
            mark_of(one, key=f"again {repeat}", prompt="scoring/2", repeat=repeat, score=score)
            for repeat, score in ((1, 3), (0, 4))
        )
    frame = small.scores()
    mine = frame[(frame["criterion"] == one["criterion"]) & (frame["model"] == one["model"])]
    # On the newer scale there are these two alone: the older marks count no more.
    assert mine[["mark_repeat", "score"]].values.tolist() == [[0, 4], [1, 3]]
    assert (frame["state"] == "scored").sum() == 2


@pytest.mark.slow
def test_every_judges_marks_can_be_asked_for(folder, small):
    one = small.scores().iloc[0]
    mark = mark_of(one, key="other", prompt="imported", score=1)
    with Store.open(folder) as store:
        store.put([Judge(id="anna", name="Anna", kind="person")])
        store.put([mark.model_copy(update={"judge_id": "anna"})])
    frame = small.scores(judges="all")
    assert frame["judge_kind"].value_counts().to_dict() == {"model": 53, "person": 1}
    with atom.open(STUDY, store=folder, judge="Anna") as study:
        assert study.scores()["judge"].dropna().tolist() == ["Anna"]
        # One answer of three criteria is marked, at 1: (1 - 1) / 4 = 0.
        assert study.answers()["score"].dropna().tolist() == [0.0]


@pytest.mark.slow
def test_the_bundled_studys_frames_are_what_the_screens_show(bundled):
    with Store.open(DEMO_FOLDER, read_only=True) as store:
        data = load_study(store, BUNDLED)
        shown = overview(data, Filters())
        frame = bundled.ranking()
        assert frame["model"].tolist() == [row.name for row in shown.ranking]
        assert frame["score"].tolist() == [row.score.value for row in shown.ranking]
        assert frame["low"].tolist() == [row.score.lo for row in shown.ranking]
        assert list(frame.columns) == ranking_table(shown).names
        answers = bundled.answers()
        sample = answers["sample"].iloc[1000]
        view = sample_view(store, data, Filters(sample=sample))
    on_screen = {one.candidate.name: 25 * (one.score - 1) for one in view.answers}
    mine = answers[answers["sample"] == sample]
    assert dict(zip(mine["model"], mine["score"], strict=True)) == pytest.approx(on_screen)
    scores = bundled.scores()
    assert len(scores) == 10176
    # The mean of an answer's marks by weight is its score, for all 2,400 of them.
    weighted = scores.assign(part=scores["weight"] * scores["value"]).groupby(KEY)
    mean = 100 * weighted["part"].sum() / weighted["weight"].sum()
    assert answers.set_index(KEY)["score"].to_dict() == pytest.approx(mean.to_dict())


@pytest.mark.slow
def test_capabilities_and_weaknesses_are_the_profiles(bundled, tmp_path, capsys):
    main(["profile", "show", "--study", BUNDLED, "--model", "model-a", "--json",
          "--store", str(tmp_path)])  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    nodes, weak = bundled.capabilities("model-a"), bundled.weaknesses("model-a")
    assert nodes["score"].tolist() == [node["value"] for node in told["nodes"]]
    assert nodes["status"].tolist() == [node["status"] for node in told["nodes"]]
    assert weak[["name", "effect", "p_adjusted"]].values.tolist() == [
        [one["name"], one["effect"], one["p_adjusted"]] for one in told["weaknesses"]
    ]
    assert set(bundled.weaknesses()["model"]) <= set(bundled.models)
    assert len(bundled.weaknesses()) > len(weak)


def test_labels_and_readings_can_be_asked_for(bundled):
    labels = bundled.capabilities("model-a", facet="source")
    assert labels["facet"].unique().tolist() == ["source"]
    said = bundled.ranking(reading="said").set_index("model")["score"]
    strict = bundled.ranking().set_index("model")["score"]
    # model-d was planted terse: of what it says, more is right.
    assert (said >= strict[said.index] - 1e-9).any()
    assert not said.sort_index().equals(strict.sort_index())


def test_a_study_says_what_it_is(bundled, small):
    assert repr(bundled) == (
        f"<atom study {BUNDLED!r}: 300 samples, 8 models, judge 'probe-judge', SYNTHETIC>"
    )
    assert (bundled.synthetic, small.synthetic) == (True, False)
    assert small.models == ("Candidate A", "Candidate B", "Candidate C")
    assert (small.judge, small.judges) == ("Judge X", ("Judge X",))


def test_studies_are_listed_the_own_first(folder):
    frame = atom.studies(store=folder)
    assert [str(one) for one in frame.dtypes] == [one.dtype for one in STUDIES]
    assert frame["name"].tolist() == ["Imported", STUDY, BUNDLED]
    assert frame["bundled"].tolist() == [False, False, True]


@pytest.mark.slow
def test_errors_name_what_there_is(folder, small):
    with pytest.raises(UsageError, match=rf"no study 'Nope'.*'Imported', '{STUDY}', 'Probe world"):
        atom.open("Nope", store=folder)
    with pytest.raises(UsageError, match=r"no model 'Nobody'.*'Candidate A'"):
        small.weaknesses("Nobody")
    with pytest.raises(UsageError, match="no labels 'colour'; labels are 'level'"):
        small.capabilities(facet="colour")
    with pytest.raises(UsageError, match="no marks by 'Nobody'; judges are 'Judge X'"):
        atom.open(STUDY, store=folder, judge="Nobody")


def test_a_study_without_criteria_has_its_outcomes(folder):
    with atom.open("Imported", store=folder) as study:
        assert len(study.scores()) == len(study.criteria()) == 0
        assert study.answers()["right"].mean() == 0.75
        assert study.ranking()["score"].tolist() == [75.0]
        assert study.weaknesses("Candidate A")["status"].tolist() == []


@pytest.mark.slow
def test_importing_loads_nothing_heavy_and_opening_makes_no_folder(project, tmp_path):
    heavy = ["pandas", "numpy", "pydantic", "sqlalchemy", "pyarrow", "streamlit", "scipy"]
    code = (
        f"import sys; sys.path.insert(0, {str(project)!r}); import atom; "
        f"print([m for m in {heavy!r} if m in sys.modules]); "
        f"print(len(atom.open({BUNDLED!r}).criteria()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "1222"]
    assert list(tmp_path.iterdir()) == []
