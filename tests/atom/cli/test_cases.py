"""Small inputs that once went wrong: the right value on screen, in `profile`, report and CSV."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study


@dataclass(frozen=True, kw_only=True)
class Right:
    """What is right of one model, worked by hand.

    Attributes:
        score: percent right of all that was asked; None = nothing is graded.
        n: graded answers.
        given: percent right of the answers given; None = as `score`.
        n_given: answers given; None = as `n`.
        samples: graded questions; None = as `n`.
        withheld: what wasn't given, by cause.
    """

    score: float | None
    n: int
    given: float | None = None
    n_given: int | None = None
    samples: int | None = None
    withheld: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file or a folder of files, and what is right.

    Attributes:
        files: below `cases`; a folder's files all go in together.
        models: model -> what is right.
        texts: answer texts, in the CSV's order, as far as they matter.
        says: what the import must say.
        never: what no output may hold.
    """

    files: tuple[str, ...]
    models: dict[str, Right]
    texts: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


LOG_01 = "logs/01-inspect-zstd/"
LOG_02 = "logs/02-inspect-nan-list/"
LOG_18 = "logs/18-large-ids/"
TWO_OF_THREE = Right(score=66.7, n=3)  # 2 / 3
ONE = Right(score=100.0, n=1)  # 1 / 1: the other two scores are no numbers from 0 to 1
IDS = ("1009513310189256287", "1009513310189256288", "1009513310189256289")

CASES = {
    "empty answers": Case(
        files=("rows/empty_answers.csv",),
        models={
            "steady": Right(score=66.7, n=60),  # 40 / 60
            # 30 right, 30 empty and marked 0: 30 / 60 of all asked, 30 / 30 of those given
            "refuser": Right(score=50.0, n=60, given=100.0, n_given=30, withheld={"empty": 30}),
        },
    ),
    "MMMU's raw letters": Case(
        files=("rows/mmmu_raw_letters.json",),
        models={"mmmu_raw_letters": Right(score=100.0, n=4)},  # C, B, A and the key's text: 4 / 4
        says=("read by our own rules, 4 are right and 0 wrong",),
    ),
    "01 deflate": Case(
        files=(LOG_01 + "shelf-deflate.eval",), models={"acme/vision-1": TWO_OF_THREE}
    ),
    "01 zstd": Case(files=(LOG_01 + "shelf.eval",), models={"acme/vision-1": TWO_OF_THREE}),
    "02 eval": Case(
        files=(LOG_02 + "log.eval",),
        models={"acme/vision-1": ONE},
        says=("it stays unscored",),
    ),
    "02 json": Case(
        files=(LOG_02 + "log.json",),
        models={"acme/vision-1": ONE},
        says=("it stays unscored",),
    ),
    "05 two scorers": Case(
        files=("logs/05-inspect-two-scorers",),
        models={"acme/vision-1": TWO_OF_THREE},
        says=("the scorer 'match' is followed", "'format_ok', 'judge'", "--score NAME"),
    ),
    "07 likelihoods": Case(
        files=("logs/07-lm-eval-loglikelihood",),
        models={"07-lm-eval-loglikelihood": TWO_OF_THREE},  # acc 1, 0, 1
        texts=("square", "circle", "star"),  # -0.31, -0.9 and -0.4 are the greatest
        never=("-2.64", "-0.31"),
    ),
    "09 repeats": Case(
        files=("logs/09-lmms-eval-repeats",),
        # (3 * .6667 + 1) / 4 questions; 3 * 3 + 1 graded answers: the log scores one of the last 3
        models={"09-lmms-eval-repeats": Right(score=75.0, n=10, samples=4)},
        texts=("STOP", "STEP", "STOP") * 3 + ("STOP", "STAP", "STIP"),
    ),
    "10 thoughts": Case(
        files=("logs/10-lmms-eval-reasoning-tags",),
        models={  # 42 and 9 of 3; one was cut while it thought: 2 / 3 asked, 2 / 2 given
            "10-lmms-eval-reasoning-tags": Right(
                score=66.7, n=3, given=100.0, n_given=2, withheld={"cut": 1}
            )
        },
        texts=("42", "", "9"),
        never=("needle", "it says so", "think>"),
    ),
    "15 batch on /v1/responses": Case(
        files=("logs/15-batch-responses-api",),
        models={"acme-pro": Right(score=None, n=0)},  # no key, so no verdict
        texts=("red", "red"),
    ),
    "17 half a pair": Case(
        files=("logs/17-lone-surrogate",),
        models={"acme �": Right(score=None, n=0)},  # free words: judged, not ruled
        texts=("It is � a stop sign 😀", "yield"),
    ),
    **{
        f"18 large ids, {form}": Case(
            files=(f"{LOG_18}big.{form}",),
            models={"acme": Right(score=100.0, n=3)},  # 3 / 3
            texts=("0", "1", "2"),
        )
        for form in ("csv", "jsonl", "parquet")
    },
    "19 nested columns": Case(files=("logs/19-parquet-nested",), models={}),
    "23 letters with texts": Case(
        files=("logs/23-choice-with-option-text",),
        models={"acme": Right(score=100.0, n=7)},  # 7 of 9 can be read, as `expected.json` has it
        says=("7 are right and 0 wrong; 2 name no answer",),
    ),
    "25 empty answers": Case(
        files=("logs/25-lmms-eval-empty-answers",),
        models={  # the file's figure: 2 / 10; of those given 2 / 2
            "acme-vl": Right(score=20.0, n=10, given=100.0, n_given=2, withheld={"empty": 8})
        },
        says=("exact_match 0.2000", "as 20260801_100000_results.json says"),
    ),
    "60 odd names": Case(
        files=("logs/60-odd-names",),
        models={  # the k-th model is right on 24, 20, 16, 12, 8, 4 of 24
            "qwen2.5-vl:7b[int4]": Right(score=100.0, n=24),
            "$acme-pro$": Right(score=83.3, n=24),
            "<b>bold</b><img src=x onerror=alert(1)>": Right(score=66.7, n=24),
            "a.b:Q": Right(score=50.0, n=24),
            "名前モデル｜v2": Right(score=33.3, n=24),
            "acme/vision-1.5-very-long-name-which-never-ends-and-never-ends-2026-08-01-preview": (
                Right(score=16.7, n=24)
            ),
        },
    ),
}


@pytest.fixture
def cases(shared_folder) -> Path:
    return shared_folder / "real" / "cases"


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What `export csv` wrote: rows as dictionaries."""

    ranking: dict[str, dict[str, str]]
    answers: list[dict[str, str]]
    samples: list[dict[str, str]]


def paths_of(cases: Path, case: Case) -> list[str]:
    found: list[Path] = []
    for name in case.files:
        path = cases / name
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [p for p in inside if p.name not in ("CASE.md", "expected.json")]
    return [str(path) for path in found]


def tables_of(say, folder: Path, study: str) -> Tables:
    said = say("export", "csv", "--study", study, "--out", str(folder))
    assert said.code == 0, said.err

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text("utf-8"))))

    ranking = {row["model"]: row for row in rows("ranking")}
    return Tables(ranking=ranking, answers=rows("answers"), samples=rows("samples"))


def agrees(value: float | str | None, right: float | None) -> bool:
    """Whether a printed or computed percentage is the right one, to a tenth."""
    if value in (None, "") or value != value:
        return right is None
    return right is not None and abs(float(value) - right) < 0.06


def held_on_screen(place: str, study: str, models: dict[str, Right]) -> None:
    with Store.open(place) as store:
        view = overview(load_study(store, study), Filters())
    assert {row.name for row in view.ranking} == set(models)
    for row in view.ranking:
        right = models[row.name]
        given = right.score if right.given is None else right.given
        assert agrees(row.score.value, right.score), row
        assert agrees(row.right.value, right.score), row
        assert agrees(row.given.value, given), row
        assert agrees(row.accuracy.asked, right.score), row
        assert agrees(row.accuracy.given, given), row
        assert row.accuracy.n_asked == right.n
        assert row.accuracy.n_given == (right.n if right.n_given is None else right.n_given)
        assert row.score.samples == (right.n if right.samples is None else right.samples)
        assert dict(row.accuracy.withheld) == right.withheld


def held_in_profiles(say, study: str, models: dict[str, Right]) -> None:
    for name, right in models.items():
        told = say("profile", "show", "--study", study, "--model", name, "--json").data
        given = right.score if right.given is None else right.given
        assert agrees(told["score"]["value"], right.score), told
        assert agrees(told["right"]["value"], right.score), told
        assert agrees(told["right_of_given"]["value"], given), told
        assert told["withheld"] == right.withheld


def held_in_the_report(say, study: str, models: dict[str, Right]) -> str:
    said = say("report", "write", "--study", study, "--format", "json", "--json")
    assert said.code == 0, said.err
    text: str = said.data["text"]
    found = json.loads(text)["findings"]
    stands = {f["models"][0]: f for f in found if f["kind"] == "ranking"}
    assert set(stands) == set(models)
    for name, right in models.items():
        numbers = {n["name"]: n for n in stands[name]["numbers"]}
        assert agrees(numbers["score"]["value"] if "score" in numbers else None, right.score)
        apart = [
            f for f in found if f["id"].startswith("caveat:withheld") and f["models"] == [name]
        ]
        assert bool(apart) == bool(right.withheld)
        for finding in apart:
            numbers = {n["name"]: n for n in finding["numbers"]}
            assert numbers["withheld"]["value"] == sum(right.withheld.values())
            assert agrees(numbers["right"]["value"], right.score)
            assert agrees(numbers["given"]["value"], right.given)
    return text


def held_in_the_csv(found: Tables, models: dict[str, Right]) -> None:
    assert set(found.ranking) == set(models)
    for name, right in models.items():
        row = found.ranking[name]
        given = right.score if right.given is None else right.given
        assert agrees(row["score"], right.score), row
        assert agrees(row["right"], right.score), row
        assert agrees(row["right_of_given"], given), row
        assert int(row["asked"]) == right.n
        assert int(row["given"]) == (right.n if right.n_given is None else right.n_given)
        withheld = {
            key.removeprefix("withheld_"): int(n)
            for key, n in row.items()
            if key.startswith("withheld_") and n != "0"
        }
        assert withheld == right.withheld


@dataclass(frozen=True, kw_only=True)
class Everywhere:
    """Holds all four outputs against what is right."""

    say: object
    place: str
    folder: Path

    def __call__(self, study: str, models: dict[str, Right]) -> tuple[Tables, str]:
        held_on_screen(self.place, study, models)
        held_in_profiles(self.say, study, models)
        text = held_in_the_report(self.say, study, models)
        tables = tables_of(self.say, self.folder / f"tables of {study}", study)
        held_in_the_csv(tables, models)
        return tables, text


@pytest.fixture
def everywhere(say, place, tmp_path) -> Everywhere:
    return Everywhere(say=say, place=place, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_case_is_right_everywhere(say, cases, everywhere, name):
    case = CASES[name]
    said = say("import", "auto", *paths_of(cases, case), "--study", "Case")
    assert said.code == 0, said.out + said.err
    assert [words for words in case.says if words not in said.out] == []
    tables, report = everywhere("Case", case.models)
    if case.texts:
        assert tuple(row["text"].removeprefix("'") for row in tables.answers) == case.texts
    outputs = report + "".join(row["text"] for row in tables.answers)
    assert [words for words in case.never if words in outputs] == []


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_large_ids_stay_exact(say, cases, everywhere, form):
    assert say("import", "auto", str(cases / f"{LOG_18}big.{form}"), "--study", "Ids").code == 0
    tables, _ = everywhere("Ids", CASES[f"18 large ids, {form}"].models)
    assert tuple(row["source_id"] for row in tables.samples) == IDS


def test_every_picture_of_a_nested_column_comes_in(say, cases, tmp_path):
    path = cases / "logs" / "19-parquet-nested" / "pairs.parquet"
    assert say("import", "auto", str(path), "--study", "Pairs").code == 0
    first, second = tables_of(say, tmp_path / "tables", "Pairs").samples
    assert first["pictures"].count("|") == 1  # two pictures
    assert (first["choices"], first["reference"]) == ("first | second", "second")
    assert (second["choices"], second["reference"]) == ("yes | no", "yes")


def test_choices_are_read_as_the_case_expects(say, cases, tmp_path):
    folder = cases / "logs" / "23-choice-with-option-text"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert say("import", "auto", str(folder / "choices.jsonl"), "--study", "Letters").code == 0
    tables = tables_of(say, tmp_path / "tables", "Letters")
    names = {row["sample"]: row["source_id"] for row in tables.samples}
    right = {names[row["sample"]]: row["right"] for row in tables.answers}
    assert right == {name: "1.0" if letter else "" for name, letter in expected.items()}


# --- the same names in other studies -------------------------------------------------------------

GOOD = {"results": Right(score=100.0, n=20)}  # 20 / 20
BAD = {"results": Right(score=0.0, n=20)}  # 0 / 20


@pytest.mark.slow
def test_equal_names_in_three_studies_never_meet(say, cases, everywhere):
    for run in ("run1", "run2", "run3"):
        path = str(cases / "rows" / run / "results.csv")
        assert say("import", "auto", path, "--study", run).code == 0
    good, _ = everywhere("run1", GOOD)
    assert {row["text"] for row in good.answers} == {"good"}
    bad, _ = everywhere("run2", BAD)
    assert {row["text"] for row in bad.answers} == {"bad"}
    other, _ = everywhere("run3", BAD)
    assert other.samples[0]["question"] == "A wholly different problem number 0?"
    assert {row["text"] for row in other.answers} == {"no"}


@pytest.mark.slow
def test_other_contents_under_the_same_ids_are_a_conflict(say, cases, everywhere):
    first, second = (str(cases / "rows" / run / "results.csv") for run in ("run1", "run2"))
    assert say("import", "auto", first, "--study", "One").code == 0
    again = say("import", "auto", first, "--study", "One")
    assert (again.code, "nothing was added" in again.out) == (0, True), again.out
    refused = say("import", "auto", second, "--study", "One")
    assert refused.code == 3
    assert "20" in refused.out + refused.err
    assert "--replace" in refused.out + refused.err
    kept, _ = everywhere("One", GOOD)
    assert {row["text"] for row in kept.answers} == {"good"}
    assert say("import", "auto", second, "--study", "One", "--replace").code == 0
    everywhere.folder.joinpath("tables of One").rename(everywhere.folder / "before")
    changed, _ = everywhere("One", BAD)
    assert {row["text"] for row in changed.answers} == {"bad"}


# --- groups, rows without ids, rotations ---------------------------------------------------------


@pytest.mark.slow
def test_groups_are_found_in_a_sorted_file(say, cases, everywhere):
    path = str(cases / "rows" / "sorted_by_skill.csv")
    said = say("import", "auto", path, "--study", "Sorted")
    assert said.code == 0, said.out
    rows = list(csv.DictReader(io.StringIO(Path(path).read_text(encoding="utf-8"))))
    names = {row["skill"] for row in rows}
    assert len(names) == 3
    share = 100 * sum(row["correct"] == "1" for row in rows) / len(rows)
    everywhere("Sorted", {"sorted_by_skill": Right(score=share, n=len(rows))})
    words = ("--study", "Sorted", "--model", "sorted_by_skill", "--json")
    told = say("profile", "show", *words).data
    for node in told["nodes"]:
        mine = [row["correct"] == "1" for row in rows if row["skill"] == node["name"]]
        assert (node["n"], agrees(node["value"], 100 * sum(mine) / len(mine))) == (len(mine), True)
    assert {node["name"] for node in told["nodes"]} == names


@pytest.mark.slow
def test_rows_without_an_id_all_come_in(say, everywhere, tmp_path):
    # 1,500 rows of 30 groups; 881 texts stand once or first, 619 are equal to one before them
    path = tmp_path / "long.csv"
    lines = [f"Question {n % 881}?,yes,{int(n % 3 > 0)},g{n % 30}" for n in range(1500)]
    path.write_text("question,response,correct,group\n" + "\n".join(lines), encoding="utf-8")
    said = say("import", "auto", str(path), "--study", "Long")
    assert said.code == 0, said.out
    assert "Came in: 1,500 samples, 1 model, 1,500 answers" in said.out
    assert ["Rows", "1,500", "1,500", "0"] in [line.split() for line in said.out.splitlines()]
    assert "id" in said.out.split("note:", 1)[1]
    # n mod 3 is 0 in 500 of 1,500 rows: 1,000 / 1,500
    tables, _ = everywhere("Long", {"long": Right(score=66.7, n=1500)})
    assert len({row["sample"] for row in tables.samples}) == 1500
    assert {row["source_id"] for row in tables.samples if row["source_id"]}


@pytest.mark.slow
def test_four_rotations_are_one_model(say, place, everywhere, tmp_path):
    # Picture n is read right at rotation r unless n mod 4 = r (n < 8 of 10): 8 right 3 times of 4,
    # 2 right at all 4: (8 * 3 + 2 * 4) / 40 = 32 / 40 right, 2 / 10 right every time.
    paths = []
    for turn, angle in enumerate((0, 90, 180, 270)):
        path = tmp_path / f"Eye-2_TDBench_rot{angle}.csv"
        lines = [
            f"{n},What is it? ({n}),car,bus,A,{'B' if n < 8 and n % 4 == turn else 'A'},counting"
            for n in range(10)
        ]
        head = "index,question,A,B,answer,prediction,category\n"
        path.write_text(head + "\n".join(lines), encoding="utf-8")
        paths.append(str(path))
    said = say("import", "auto", *paths, "--study", "Turned")
    assert said.code == 0, said.out + said.err
    with Store.open(place) as store:
        (row,) = overview(load_study(store, "Turned"), Filters()).ranking
    everywhere("Turned", {row.name: Right(score=80.0, n=40, samples=10)})
    told = say("profile", "show", "--study", "Turned", "--model", row.name).out
    assert "right every time" in told
    assert "20.0" in told


# --- a newcomer's odd files ----------------------------------------------------------------------

PLAIN = "id,question,response,correct\n1,Q1,a,1\n2,Q2,b,0\n"


@pytest.mark.parametrize("way", ["auto", "table"])
@pytest.mark.parametrize("packing", ["gzip", "ZIP"])
def test_a_packed_file_is_said_to_be_packed(say, tmp_path, packing, way):
    path = tmp_path / f"mine.csv.{packing}"
    if packing == "gzip":
        path.write_bytes(gzip.compress(PLAIN.encode()))
    else:
        with zipfile.ZipFile(path, "w") as box:
            box.writestr("mine.csv", PLAIN)
    said = say("import", way, str(path), "--study", "Mine")
    assert said.code == 2
    assert f"is packed ({packing}): unpack it" in said.err


def test_a_table_without_answers_says_that_only_questions_come_in(say, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("id,question,first-vlm,other\n1,Q1,a,b\n2,Q2,c,d\n", encoding="utf-8")
    said = say("import", "auto", str(path), "--study", "Wide")
    assert said.code == 0
    assert "only questions come in" in said.out
    path.write_text(PLAIN, encoding="utf-8")
    assert "only questions" not in say("import", "auto", str(path), "--study", "Plain").out


def test_answers_without_a_verdict_among_others_are_counted(say, everywhere, tmp_path):
    path = tmp_path / "some.csv"
    head = "id,question,response,correct\n"
    path.write_text(f"{head}1,Q1,a,nan\n2,Q2,b,\n3,Q3,c,1\n", encoding="utf-8")
    said = say("import", "auto", str(path), "--study", "Some")
    assert "2 of 3 answers came without a verdict" in said.out
    everywhere("Some", {"some": Right(score=100.0, n=1)})  # 1 / 1: two aren't graded
