"""Commands that are killed, and what they are given: every command of Atomscope that writes."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from atom.records import BenchSet, Import, Run, Study, StudySample
from atom.store import Store
from atom.store.team.people import sign_in
from benchmarks.attacks._forked import Came, Commands, Kill
from benchmarks.attacks._ground import Ground, ServerGround
from benchmarks.attacks._own import write_criteria

NAME = "Whole"
"""A judged study; small, so that a kill costs seconds."""
ROWS = 3_000
"""Of the table that is imported."""
PICTURES = 24
"""Of the study whose pictures come later."""
_ON = ("--study", NAME)
_NOISY = ("--judge", "probe-judge-noisy", "--yes")
_JUDGE = """\
- {name: mine, base_url: "probe:", model: probe-judge, roles: [judge], boxes: BOXES}
"""
"""A judge whose boxes turn out to be another kind of boxes afterwards."""
_DEPLOYMENT = """\
url: https://atom.example.org
sign_in: {metadata_url: "https://id.example.org/x", client_id: atom, roles: {admin: admins}}
limits: {budgets: {analyst: 200}}
"""


@dataclass(frozen=True)
class Victim:
    """A command that is killed.

    Args:
        words: what stands behind `python -m atom`; `{new}` is a place for what it writes, other
            names are those of `prepare`.
        suffix: of that place.
        goes_on: what it did stays, and the same words go on with it to the same end. All others
            are done as a whole or not at all.
        again: what goes on with it where the same words are refused: what they make is there.
        deployed: it is a deployment's, whose file names the store.
    """

    words: tuple[str, ...]
    suffix: str = ""
    goes_on: bool = False
    again: tuple[str, ...] = ()
    deployed: bool = False


VICTIMS: Mapping[str, Victim] = {
    "import": Victim(("import", "table", "{rows}", "--study", "Fresh", "--accept")),
    "import into a study": Victim(("import", "table", "{rows}", *_ON, "--accept")),
    "import undo": Victim(("import", "undo", "{import}")),
    "study import": Victim(("study", "import", "{archive}", "--name", "Brought")),
    "study copy": Victim(("study", "copy", NAME, "Another")),
    "study delete": Victim(("study", "delete", NAME, "--yes")),
    "study rename": Victim(("study", "rename", NAME, "Renamed")),
    "study version": Victim(("study", "version", "model-b", "--of", "model-a", *_ON)),
    "study pictures": Victim(("study", "pictures", "{pictures}", "--study", "Before"),
                             goes_on=True),
    "study boxes": Victim(("study", "boxes", "--study", "Boxed"), goes_on=True),
    "endpoint add": Victim(
        ("endpoint", "add", "another", "--url", "http://127.0.0.1:9/v1", "--model", "m")
    ),
    "endpoint prices": Victim(("endpoint", "prices", "{prices}")),
    "demo build": Victim(
        ("demo", "build", "--samples", "2", "--candidates", "1", "--parts", "none", "--name", "D")
    ),
    "probe make": Victim(("probe", "make", "--samples", "20", "--study", "Probes")),
    "export csv": Victim(("export", "csv", *_ON, "--out", "{new}")),
    "export parquet": Victim(("export", "parquet", *_ON, "--out", "{new}"), ".zip"),
    "export html": Victim(("export", "html", *_ON, "--out", "{new}"), ".html"),
    "export judgments": Victim(("export", "judgments", *_ON, "--out", "{new}"), ".csv"),
    "export evaltree": Victim(("export", "evaltree", *_ON, "--out", "{new}"), ".zip"),
    "export llm-comparator": Victim(
        ("export", "llm-comparator", *_ON, "--models", "model-a,model-b", "--out", "{new}"),
        ".json",
    ),
    "report write": Victim(("report", "write", *_ON, "--out", "{new}"), ".html"),
    "compare": Victim(("compare", "model-a", "model-b", *_ON, "--markdown", "{new}"), ".md"),
    "figure write": Victim(
        ("figure", "write", *_ON, "--figures", "ranking,heatmap", "--format", "csv",
         "--out", "{new}")
    ),
    "tree export": Victim(("tree", "export", *_ON, "--out", "{new}"), ".yaml"),
    "tree import": Victim(("tree", "import", "{tree}", *_ON)),
    "tree induce": Victim(("tree", "induce", *_ON, "--samples", "12", *_NOISY), goes_on=True,
                          again=("tree", "induce", "--resume-id", "{induction}", *_NOISY)),
    "tree rivals": Victim(("tree", "rivals", "--study", "Few", *_NOISY), goes_on=True),
    "run start": Victim(
        ("run", "start", "--study", "Few", "--candidates", "model-h", *_NOISY), goes_on=True
    ),
    "run start panel": Victim(
        ("run", "start", "--study", "Few", "--candidates", "model-g", "--panel", "probe-judge",
         *_NOISY), goes_on=True,
    ),
    "run start blind": Victim(
        ("run", "start", *_ON, "--candidates", "model-b", "--blind", "4", "--yes"), goes_on=True
    ),
    "run settle": Victim(
        ("run", "settle", *_ON, "--goal", "nodes", "--within", "30", "--calls", "10", "--go",
         *_NOISY), goes_on=True,
    ),
    "run resume": Victim(("run", "resume", "{run}"), goes_on=True),
    "run batch write": Victim(
        ("run", "batch", "write", "--study", "Few", "--candidates", "model-g", *_NOISY),
        goes_on=True,
    ),
    "correct run": Victim(
        ("correct", "run", *_ON, "--model", "model-b", "--limit", "4", *_NOISY), goes_on=True
    ),
    "judge bench": Victim(
        ("judge", "bench", "mm_critic", "--set", "New", "--probes", "4", *_NOISY), goes_on=True,
        again=("judge", "bench", "mm_critic", "--set", "New", *_NOISY),
    ),
    "pairs find": Victim(
        ("pairs", "find", *_ON, "--weak", "probe-judge-noisy", "--votes", "1", "--limit", "6",
         "--yes"), goes_on=True,
    ),
    "pairs write": Victim(("pairs", "write", "{new}", *_ON, "--all")),
    "pairs keep": Victim(("pairs", "keep", *_ON, "--all")),
    "judge calibrate": Victim(("judge", "calibrate", "--probes", "8", *_NOISY), goes_on=True),
    "judge delete": Victim(("judge", "delete", "{set}")),
    "fidelity run": Victim(
        ("fidelity", "run", *_ON, "--methods", "pointwise,batch", "--limit", "6", *_NOISY),
        goes_on=True,
    ),
    "fidelity match": Victim(("fidelity", "match", *_ON, *_NOISY), goes_on=True),
    "fidelity criteria": Victim(("fidelity", "criteria", *_ON, "--csv", "{new}"), ".csv"),
    "fidelity plant": Victim(("fidelity", "plant", *_ON, "--seed", "9")),
    "fidelity rankings": Victim(("fidelity", "rankings", "{rankings}", *_ON)),
    "store copy": Victim(("store", "copy", "{store}", "{new}"), goes_on=True),
    "people role": Victim(("people", "role", "a@x", "analyst"), deployed=True),
    "budget set": Victim(("budget", "set", "deployment", "$30"), deployed=True),
}  # fmt: skip
"""Every command that writes; `tests/rules/test_kills.py` reads the commands off their parsers and
names those that are left out, each with its reason.
"""


@dataclass(frozen=True)
class Given:
    """What every victim is given.

    Args:
        commands: runs them.
        folder: where all of it lies.
        ground: the store of which each victim gets a copy.
        names: what stands in the words of the victims in braces.
    """

    commands: Commands
    folder: Path
    ground: Ground
    names: Mapping[str, str]

    def run(
        self,
        words: Sequence[str],
        work: Path,
        new: Path,
        kill: Kill | None = None,
        *,
        deployed: bool = False,
    ) -> Came:
        """Run a command on a copy of the store.

        Args:
            words: a victim's.
            work: the folder that holds the copy.
            new: where it writes what it writes into a file.
            kill: when it is killed.
            deployed: whether a deployment's file says where the store is.
        """
        store = self.ground.location
        told = [word.format(new=new, store=store, **self.names) for word in words]
        if deployed:
            env = {"ATOM_DEPLOYMENT": str(self.folder / "deployment.yaml"), "ATOM_STORE": store}
            return self.commands.run(told, work, kill, env)
        if "{store}" not in words:
            told += ["--store", store]
        return self.commands.run(told, work, kill)


def prepare(commands: Commands, folder: Path) -> Given:
    """Make the store that the victims get copies of, and the files that they read."""
    store = folder / "store"

    def run(*words: str) -> None:
        came = commands.run([*words, "--store", str(store)], folder)
        if came.code:
            raise RuntimeError(f"{' '.join(words[:2])}: {came.said}")

    _write_rows(folder)
    run("demo", "build", "--samples", "24", "--candidates", "3", "--parts", "none", "--name", NAME)
    run("judge", "calibrate", "--probes", "4", *_NOISY)
    _write_judge(store, "xyxy_1000")
    run("probe", "make", "--samples", "4", "--study", "Boxed")
    run("run", "start", "--study", "Boxed", "--judge", "mine", "--stages", "replay,criteria",
        "--yes")  # fmt: skip
    _write_judge(store, "yxyx_1000")
    run("import", "table", str(folder / "before.csv"), "--study", "Before", "--accept")
    run("endpoint", "add", "dear", "--url", "http://127.0.0.1:9/v1", "--model", "m")
    run("demo", "build", "--samples", "4", "--candidates", "2", "--parts", "none", "--name", "Few")
    run("export", "parquet", "--study", NAME, "--out", str(folder / "archive.zip"))
    run("tree", "export", "--study", NAME, "--out", str(folder / "tree.yaml"))
    _change_tree(folder / "tree.yaml")
    run("pairs", "find", *_ON, "--weak", "probe-judge-noisy", "--votes", "1", "--limit", "12",
        "--fail", "1", "--gap", "1", "--yes")  # fmt: skip
    _leave_half(commands, folder, "--study", "Few", "--candidates", "model-e", *_NOISY)
    (folder / "deployment.yaml").write_text(_DEPLOYMENT, encoding="utf-8")
    with Store.open(store) as opened:
        sign_in(opened, "idp#1", "Anna", "a@x", role="viewer", issued=1)
        study = next(one for one in opened.select(Study) if one.name == NAME)
        write_criteria(opened, study, "Ann", lambda one: f"{one.question}\nIs it polite?")
    return Given(commands, folder, Ground(folder), _names(folder, store))


def moved(given: Given, ground: ServerGround) -> Given:
    """Take all that was prepared to a server's store, of which victims get copies from then on."""
    words = ("store", "copy", str(given.folder / "store"), ground.master)
    came = given.commands.run(words, given.folder)
    if came.code:
        raise RuntimeError(f"store copy: {came.said}")
    return replace(given, ground=ground)


def _leave_half(commands: Commands, folder: Path, *words: str) -> None:
    """Kill a run half-way: how often one writes is counted on a copy, as it hangs on the speed."""
    start = ["run", "start", *words, "--store"]
    copy = Path(shutil.copytree(folder / "store", folder / "copy"))
    came = commands.run([*start, str(copy)], folder)
    shutil.rmtree(copy)
    commands.run([*start, str(folder / "store")], folder, Kill(point=came.points // 2))


def _write_judge(store: Path, boxes: str) -> None:
    (store / "endpoints.yaml").write_text(_JUDGE.replace("BOXES", boxes), encoding="utf-8")


def _write_rows(folder: Path) -> None:
    """Write the files that are read."""
    lines = [f"{n},What is {n}?,{n % 7},m{n % 3},{n % 5}" for n in range(ROWS)]
    text = "\n".join(["id,question,answer,model,prediction", *lines])
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    lines = [f"{n},What is on {n}?,{n % 7},m,{n % 5},{n}.png" for n in range(PICTURES)]
    text = "\n".join(["id,question,answer,model,prediction,image", *lines])
    (folder / "before.csv").write_text(text, encoding="utf-8")
    (folder / "pictures").mkdir()
    for number in range(PICTURES):
        picture = Image.new("RGB", (32, 32), (9 * number, 99, 200))
        picture.save(folder / "pictures" / f"{number}.png")
    (folder / "prices.csv").write_text("model,input,output\nm,3,9\n", encoding="utf-8")


def _change_tree(file: Path) -> None:
    """Give a node of a tree another name."""
    text = file.read_text(encoding="utf-8")
    old = next(line for line in text.splitlines() if "- name: " in line)
    file.write_text(text.replace(old, f"{old} and more", 1), encoding="utf-8")


def _names(folder: Path, store: Path) -> dict[str, str]:
    """Name what stands in braces in the words of the victims."""
    files = {name: str(folder / f"{name}{end}") for name, end in (
        ("rows", ".csv"), ("prices", ".csv"), ("rankings", ".csv"), ("archive", ".zip"),
        ("tree", ".yaml"), ("pictures", ""),
    )}  # fmt: skip
    with Store.open(store) as opened:
        study = next(one for one in opened.select(Study) if one.name == NAME)
        places = [one for one in opened.select(StudySample) if one.study_id == study.id][:5]
        ids = {
            "import": opened.select(Import)[0].id,
            "run": next(run.id for run in opened.select(Run) if run.state != "done"),
            "set": opened.select(BenchSet)[0].id,
        }
    with Path(files["rankings"]).open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("sample", "candidate", "rank", "annotator"))
        for one in places:
            rows.writerows((one.sample_id, f"model-{m}", at, "me") for at, m in enumerate("abc", 1))
    return files | ids
