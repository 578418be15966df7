"""Stores of every older schema open, and hold what they held."""

import json
import sqlite3

import pytest
import sqlalchemy

from atom.cli.main import main
from atom.records import (
    JUDGE_SCALE,
    BenchTask,
    Checkpoint,
    ExperimentTask,
    Induction,
    MethodsTask,
    Run,
    Sampling,
    Study,
    StudyTask,
    TreeTask,
    TreeVersion,
)
from atom.store import Store, tree_versions
from atom.store.migrate import migrate, migrations
from atom.store.schema import metadata
from atom.store.sums import teach
from benchmarks._old_store import bring_back, make_schema
from tests.factories import STUDY, open_small

NEWEST = migrations()[-1][0]


def old_store(folder, number):
    """Make the database as the code of that schema made it."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "atomscope.sqlite")
    make_schema(connection, number)
    connection.execute(
        "INSERT INTO studies (id, name, created, synthetic, judge_sampling, answer_sampling, note,"
        " consent) VALUES ('s', 'Old', '', 0, '{}', '{}', '', '[]')"
    )
    connection.commit()
    connection.close()


def test_a_new_store_is_what_all_migrations_come_to():
    """`make schema` writes `newest.sql` anew."""
    made = {}
    for stepwise in (False, True):
        engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
        sqlalchemy.event.listen(engine, "connect", lambda raw, _: teach(raw))
        with engine.begin() as connection:
            assert migrate(connection, stepwise=stepwise) == NEWEST
            schema = connection.exec_driver_sql(
                "SELECT type, name, tbl_name, sql FROM sqlite_master"
            )
            meta = connection.exec_driver_sql("SELECT key, value FROM meta")
            made[stepwise] = [sorted(map(str, rows.all())) for rows in (schema, meta)]
    assert made[False] == made[True]
    assert len(made[True][0]) > 90


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=() if number % 5 == 1 else pytest.mark.slow)
        for number in range(1, NEWEST)
    ],
)
def test_an_old_store_is_brought_up_to_date(tmp_path, number):
    old_store(tmp_path / "old", number)
    with Store.open(tmp_path / "old") as store:
        assert [study.name for study in store.select(Study)] == ["Old"]
        assert store.revision() == 6
        store.put([TreeVersion(study_id="s", position=0, version="v", origin="seed")])
        assert [v.version for v in tree_versions(store, "s")] == ["v"]
        with store.read() as connection:
            for name, known in metadata.tables.items():
                rows = connection.exec_driver_sql(f"PRAGMA table_info({name})").all()
                assert {row[1] for row in rows} - {"row_sum"} == {c.name for c in known.columns}, (
                    name
                )


def test_a_sealed_store_of_the_first_schema_has_no_history(tmp_path):
    old_store(tmp_path / "old", 1)
    with Store.open(tmp_path / "old", read_only=True) as store:
        assert tree_versions(store, "s") == []


def test_older_marks_get_the_value_of_their_score(tmp_path):
    old_store(tmp_path / "old", 7)
    with sqlite3.connect(tmp_path / "old" / "atomscope.sqlite") as connection:
        connection.executemany(
            "INSERT INTO checkpoints (key, criterion_id, response_id, judge_id, prompt, sampling, "
            "repeat, state, score, reason, quote, detail) VALUES (?, 'c', 'r', 'j', 'scoring/2', "
            "'{}', 0, ?, ?, '', '', '')",
            [*((str(n), "scored", n) for n in range(1, 6)), ("6", "unscored", None)],
        )
    with Store.open(tmp_path / "old") as store:
        marks = {point.key: point for point in store.select(Checkpoint)}
    assert {key: point.value for key, point in marks.items()} == {
        "1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0, "6": None,
    }  # fmt: skip
    assert [marks[key].raw for key in "123456"] == ["1", "2", "3", "4", "5", ""]
    assert {point.scale for point in marks.values()} == {JUDGE_SCALE.id}


RUN = {
    "study_id": "s", "stages": "[]", "candidates": '["a","b"]', "repeats": 1, "state": "done",
    "created": "", "heartbeat": "", "done": 3, "total": 4, "unscored": 1, "failed": 0, "cost": 0.5,
    "message": "",
}  # fmt: skip
OLD_RUNS = (
    {
        "id": "study", "stages": '["replay","scoring"]', "judge": 'a "quoted" \\ name', "limit": 5,
        "repeats": 2, "answer_repeats": 3, "show_reference": True, "score_pictures": False,
        "judge_sampling": '{"temperature":0.7}', "retry_unscored": True,
    },
    {"id": "experiment", "experiment_id": "e1"},
    {
        "id": "bench", "study_id": "set", "bench_set_id": "set", "methods": '["pair"]', "votes": 3,
        "scorer": 'a "quoted" \\ name', "sampling": '{"top_p":0.5}',
    },
    {"id": "methods", "methods": '["scan","rank"]'},
)  # fmt: skip
TASKS = {
    "study": StudyTask(
        kind="study", stages=("replay", "scoring"), repeats=2, answer_repeats=3,
        show_reference=True, score_pictures=False, retry_unscored=True,
        judge_sampling=Sampling(temperature=0.7),
    ),
    "experiment": ExperimentTask(kind="experiment", experiment_id="e1"),
    "bench": BenchTask(
        kind="bench", parts=("pair",), votes=3, scorer='a "quoted" \\ name',
        sampling=Sampling(top_p=0.5),
    ),
    "methods": MethodsTask(kind="methods", methods=("scan", "rank")),
}  # fmt: skip


def test_older_runs_tell_their_task_and_inductions_have_a_run(tmp_path):
    old_store(tmp_path / "old", 9)
    with sqlite3.connect(tmp_path / "old" / "atomscope.sqlite") as connection:
        for values in (RUN | run for run in OLD_RUNS):
            names = ", ".join(f'"{name}"' for name in values)
            marks = ", ".join("?" for _ in values)
            connection.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", [*values.values()])
        connection.execute(
            "INSERT INTO inductions VALUES ('ind', 's', 'judge', '{}', 'stopped', 'mapping', 'c', "
            "'h', 7, 9, 1.5, 2.0, NULL, 4, '[]', 'why')"
        )
    with Store.open(tmp_path / "old") as store:
        runs = {run.id: run for run in store.select(Run)}
        (induction,) = store.select(Induction)
    grown = runs.pop("ind")
    assert {name: run.task for name, run in runs.items()} == TASKS
    account = [(run.done, run.total, run.unscored, run.cost) for run in runs.values()]
    assert account == [(3, 4, 1, 0.5)] * 4
    assert (runs["study"].judge, runs["study"].limit) == ('a "quoted" \\ name', 5)
    assert grown == Run(
        id="ind", study_id="s", judge="judge", budget=2.0, state="stopped", created="c",
        heartbeat="h", done=7, total=9, cost=1.5, message="why", task=TreeTask(kind="tree"),
    )  # fmt: skip
    assert (induction.phase, induction.unplaced, induction.created) == ("mapping", 4, "c")


@pytest.mark.parametrize("old", OLD_RUNS, ids=lambda old: old["id"])
def test_rows_of_older_archives_tell_the_same(old):
    assert Run.model_validate(RUN | old | {"candidates": []}).task == TASKS[old["id"]]


def figures(folder, capsys, model):
    """Return what the command prints of a model, as it prints it."""
    words = ["profile", "show", "--model", model, "--study", STUDY, "--store", str(folder)]
    assert main([*words, "--json"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("number", [1, pytest.param(7, marks=pytest.mark.slow)])
def test_a_migration_keeps_every_figure(tmp_path, capsys, number):
    open_small(tmp_path / "now").close()
    bring_back(tmp_path / "now", tmp_path / "old", number)
    models = [f"Candidate {letter}" for letter in "AB"]
    before = [figures(tmp_path / "now", capsys, model) for model in models]
    # A's five samples, weights 2, 3, 5: 1, .925, .875, .95 and 1; their mean is .95.
    assert json.loads(before[0])["score"]["value"] == pytest.approx(95.0)
    with sqlite3.connect(tmp_path / "old" / "atomscope.sqlite") as connection:
        found = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'")
        assert found.fetchone() == (str(number),)
    Store.open(tmp_path / "old").close()
    assert [figures(tmp_path / "old", capsys, model) for model in models] == before
