"""The session of `same_as.py`: it runs inside the checkout that is looked at, and writes a folder.

Whatever the checkout's own `atom` prints, keeps and shows becomes files: `commands`, `files` that
commands wrote, `tables` of the store that they wrote into, and `pages` with the doors and texts of
each. Only moments, ids made of moments and paths are taken out.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import math
import os
import re
import shlex
import shutil
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

MINE = "Mine"
TABLES_LEFT_OUT = {"sqlite_stat1", "claims", "quotas", "revisions", "meta"}
"""What holds moments, processes and counts of transactions, and nothing else."""
SECONDS = {"seconds", "heartbeat", "row_sum"}
"""Columns that hold how long something took or when, and the row's checksum over them."""
PATIENCE, REST = 1800.0, 0.3
"""Seconds that a page is waited for at most, however slow or held the machine is."""
OF_MINE, OF_REAL = 40, 20
"""Pages that are opened at most of the copy, and of each imported study."""


@dataclass(kw_only=True)
class Session:
    """Where a session reads, works and writes.

    Args:
        checkout: the checkout whose code runs.
        demo: the bundled study's folder.
        out: the folder that is written.
        work: a folder for stores and files on the way.
        real: the folder of real files; None leaves them out.
        most: pages of the bundled study that are opened at most, a door of each shape once.
    """

    checkout: Path
    demo: Path
    out: Path
    work: Path
    real: Path | None = None
    most: int = 120
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def mine(self) -> Path:
        """The store that commands write into."""
        return self.work / "mine"

    def tell(self, text: str) -> None:
        """Say how far it is."""
        sys.stderr.write(f"{time.process_time():7.1f} s  {text}\n")
        sys.stderr.flush()

    # What is written

    def keep(self, name: str, text: str) -> None:
        """Write a text under a name; it is plain of moments and paths when the session ends."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def learn_ids(self, store: Path) -> None:
        """Take note of ids that are made of a moment: runs, imports, experiments."""
        with contextlib.closing(sqlite3.connect(store / "atomscope.sqlite")) as connection:
            for table in ("runs", "imports"):
                rows = connection.execute(f'SELECT id FROM "{table}" ORDER BY rowid').fetchall()
                for at, (name,) in enumerate(rows, start=1):
                    self.ids.setdefault(name, f"({table[:-1]} {at})")

    def plain(self, text: str) -> str:
        """Take out moments of this session, ids that are made of them, and paths."""
        for place, name in ((self.out, "(out)"), (self.work, "(work)"), (self.demo, "(demo)"),
                            (self.real, "(real)"), (self.checkout, "(checkout)")):  # fmt: skip
            if place is not None:
                text = text.replace(str(place), name)
        days = {self.begun + timedelta(days=n) for n in (0, 1)}
        for day in sorted(f"{one:%Y-%m-%d}" for one in days):
            text = re.sub(
                rf"{day}([T ]\d\d[:-]\d\d([:-]\d\d(\.\d+)?)?( ?UTC|Z|\+00:00)?)?", "(moment)", text
            )
        text = re.sub(r"\bgradient_\d+", "(gradient)", text)  # counted since the process began
        text = re.sub(r'("(?:seconds|pid|revision|port)": )[-\d.]+', r"\1(passing)", text)
        for name, said in self.ids.items():
            text = text.replace(name, said)
        return text

    def finish(self) -> None:
        """Make every text plain, in its lines and in its file's name."""
        for path in sorted(p for p in self.out.rglob("*") if p.is_file()):
            data = path.read_bytes()
            with contextlib.suppress(UnicodeDecodeError):
                path.write_text(self.plain(data.decode("utf-8")), encoding="utf-8", newline="")
            named = path.with_name(self.plain(path.name))
            if named != path:
                path.rename(named)


# --- commands -------------------------------------------------------------------------------------


def command(session: Session, name: str, words: str, store: Path, **given: str) -> str:
    """Run a command as a person does, keep what it says and the code it ends with.

    Args:
        session: the session.
        name: the file's name.
        words: the command's words; `{x}` is given by name and may hold spaces.
        store: the store that it works on.
        given: what stands for the names in braces.

    Returns:
        What it printed.
    """
    from atom.cli.main import main

    argv = [part.format(**given) for part in shlex.split(words)]
    out, log = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(log):
        try:
            code: object = main([*argv, "--store", str(store)])
        except SystemExit as ended:
            code = ended.code
        except Exception as error:  # noqa: BLE001 - a command that falls is a finding, too
            code = f"{type(error).__name__}: {error}"
    said = f"$ {' '.join(argv)}\n{out.getvalue()}\n--- {log.getvalue()}\nexit {code}\n"
    session.keep(f"commands/{name}.txt", said)
    return out.getvalue()


def asked(session: Session, name: str, words: str, store: Path, **given: str) -> None:
    """Run a command that only reads, as text and as JSON."""
    command(session, name, words, store, **given)
    command(session, f"{name}.json", f"{words} --json", store, **given)


def reading(session: Session, store: Path, study: str, prefix: str) -> None:
    """Run every command that reads, on one study."""
    from atom.records import BenchSet, Candidate, Experiment
    from atom.store import Store, list_studies

    with Store.open(store, read_only=True) as held:
        (mine,) = [one for one in list_studies(held) if one.name == study]
        models = sorted(one.name for one in held.select(Candidate))
        sets = sorted((one.id, one.benchmark) for one in held.select(BenchSet))
        experiments = sorted(one.id for one in held.select(Experiment) if one.study_id == mine.id)
    given = {"study": study}
    plain = [
        "study list", "run status --study {study}", "tree show --study {study}",
        "tree show --study {study} --versions", "tree show --study {study} --log",
        "tree show --study {study} --yaml", "tree validity --study {study}",
        "fidelity show --study {study}", "judge list", "judge panel --study {study}",
        "judge published", "export list", "figure list", "endpoint list", "endpoint presets",
        "correct list --study {study}", "run blind --study {study}",
        "run settle --study {study} --goal leader", "run settle --study {study} --goal nodes",
        "run settle --study {study} --goal weaknesses", "import list", "store check --read-only",
        "study boxes --study {study} --dry-run",
    ]  # fmt: skip
    for words in plain:
        asked(session, f"{prefix}{words.replace(' --study {study}', '').replace(' ', '-')}",
              words, store, **given)  # fmt: skip
    for model in models[:12]:
        for way in ("strict", "said"):
            asked(session, f"{prefix}profile-{model}-{way}",
                  "profile show --study {study} --model {model} --reading {way}",
                  store, model=model, way=way, **given)  # fmt: skip
    if len(models) > 1:
        pair = {"one": models[0], "two": models[1], **given}
        asked(session, f"{prefix}compare", "compare {one} {two} --study {study}", store, **pair)
        asked(session, f"{prefix}compare-said",
              "compare {one} {two} --study {study} --reading said", store, **pair)  # fmt: skip
    for name in experiments:
        for way in ("show", "gate"):
            asked(session, f"{prefix}correct-{way}-{name}", f"correct {way} {name}", store)
    for name, kind in sets:
        asked(session, f"{prefix}judge-show-{kind}", f"judge show {name}", store)


def writing_files(session: Session, store: Path, study: str, prefix: str) -> None:
    """Run every command that writes a study as files."""
    from atom.records import Candidate
    from atom.store import Store

    with Store.open(store, read_only=True) as held:
        models = sorted(one.name for one in held.select(Candidate))
    files = session.out / "files" / (prefix.strip("-") or "demo")
    files.mkdir(parents=True, exist_ok=True)
    given = {"study": study, "to": str(files)}
    for form in ("json", "markdown", "html"):
        command(session, f"{prefix}report-{form}",
                "report write --study {study} --format {form} --out {to}/report-{form}",
                store, form=form, **given)  # fmt: skip
    command(session, f"{prefix}report-said", "report write --study {study} --reading said "
            "--format json --out {to}/report-said.json", store, **given)  # fmt: skip
    for model in models[:2]:
        command(session, f"{prefix}report-{model}", "report write --study {study} --model {model} "
                "--format markdown --out {to}/report-{model}.md",
                store, model=model, **given)  # fmt: skip
    for form, ending in (("csv", ""), ("judgments", ".csv"), ("html", ".html"), ("evaltree", ""),
                         ("parquet", "")):  # fmt: skip
        command(session, f"{prefix}export-{form}",
                "export {form} --study {study} --out {to}/export-{form}{ending}",
                store, form=form, ending=ending, **given)  # fmt: skip
    if len(models) > 1:
        command(session, f"{prefix}export-llm-comparator",
                "export llm-comparator --study {study} --models {one},{two} --out {to}/llm.json",
                store, one=models[0], two=models[1], **given)  # fmt: skip
    for form in ("yaml", "graphml", "evaltree"):
        command(session, f"{prefix}tree-export-{form}",
                "tree export --study {study} --form {form} --out {to}/tree-{form}",
                store, form=form, **given)  # fmt: skip
    command(session, f"{prefix}figures",
            "figure write --study {study} --format svg,csv --out {to}/figures",
            store, **given)  # fmt: skip
    unpack(files)


def unpack(folder: Path) -> None:
    """Write Parquet files and archives out as lines, which say more than that bytes differ.

    A manifest's checksum is written as `(its own)` where a table beside it has it: it hangs on the
    moments in that table, which is compared itself.
    """
    import zipfile

    import pyarrow.parquet as pq

    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as packed:
            packed.extractall(path.with_suffix(".unpacked"))
        path.unlink()
    beside = [path for path in folder.rglob("*") if path.suffix in (".parquet", ".jsonl")]
    checksums = {hashlib.sha256(path.read_bytes()).hexdigest() for path in beside}
    for path in sorted(folder.rglob("*.parquet")):
        rows = [json.dumps(row, sort_keys=True, default=str)
                for row in pq.read_table(path).to_pylist()]  # fmt: skip
        path.with_suffix(".jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
        path.unlink()
    for path in folder.rglob("manifest.json"):
        text = path.read_text(encoding="utf-8")
        for checksum in checksums:
            text = text.replace(checksum, "(its own)")
        path.write_text(text, encoding="utf-8")


QUESTIONS = (
    "id,question,answer,model-x,model-y,topic\n"
    "1,How many legs has a spider?,8,8,six,animals\n"
    "2,What is 7 times 6?,42,42,42,numbers\n"
    "3,Which is larger: 3/4 or 2/3?,3/4,2/3,3/4,numbers\n"
)


def changing(session: Session, study: str) -> None:
    """Run every command that writes into a store, on a copy of the bundled study."""
    store, files = session.mine, session.work / "files"
    files.mkdir(parents=True, exist_ok=True)
    (files / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    given = {"study": MINE, "bundled": study, "files": str(files), "out": str(session.out)}

    def do(name: str, words: str) -> str:
        session.tell(name)
        return command(session, f"change-{name}", f"{words} --json", store, **given)

    do("copy", "study copy {bundled} {study}")
    do("copy-again", "study copy {study} Spare")
    do("rename", "study rename Spare Other")
    do("delete-unsure", "study delete Other")
    do("delete", "study delete Other --yes")
    do("version", "study version model-b --of model-a --study {study}")
    do("compare-versions", "compare model-a model-b --study {study} --fail-on-regression "
       "--markdown {files}/note.md")  # fmt: skip
    do("version-none", "study version model-b --none --study {study}")
    do("endpoint-add", "endpoint add local --model m --url http://127.0.0.1:9/v1 --role candidate")
    do("endpoint-test", "endpoint test probe-judge")
    do("run", "run start --study {study} --judge probe-judge-lenient --limit 3 --yes")
    do("run-repeats", "run start --study {study} --judge probe-judge --stages scoring --limit 7 "
       "--repeats 2 --yes")  # fmt: skip
    do("run-unknown", "run start --study {study} --judge nobody")
    do("run-blind", "run start --study {study} --blind 6 --candidates model-a,model-b --yes")
    do("run-settle", "run settle --study {study} --goal leader --calls 8 --go --yes")
    do("batch-write", "run batch write --study {study} --judge probe-judge-coin --limit 2 --yes")
    do("correct-plan", "correct run --study {study} --model model-c --limit 4 --dry-run")
    do("correct", "correct run --study {study} --model model-c --limit 4 "
       "--arms fresh,told,guided --yes")  # fmt: skip
    do("tree-plan", "tree induce --study {study} --samples 24 --dry-run")
    do("tree", "tree induce --study {study} --samples 24 --yes")
    do("rivals-plan", "tree rivals --study {study} --dry-run")
    for bench in ("vl_rewardbench", "multi_crit", "mm_critic", "critic_bench", "best_of_n"):
        do(f"bench-{bench}", f"judge bench {bench} --probes 4 --seed 5 --judge probe-judge --yes")
    do("calibrate", "judge calibrate --judge probe-judge-coin --probes 6 --seed 5 --yes")
    do("fidelity", "fidelity run --study {study} --judge probe-judge --limit 2 --dry-run")
    do("plant", "fidelity plant --study {study} --seed 3")
    do("report-judge", "report write --study {study} --judge probe-judge --format json "
       "--out {files}/judge.json --yes")  # fmt: skip
    do("probe", "probe make --samples 4 --seed 9 --study Probes")
    do("import-look", "import auto {files}/questions.csv --study Table --dry-run")
    do("import", "import table {files}/questions.csv --study Table")
    do("import-again", "import table {files}/questions.csv --study Table")
    do("study-pictures", "study pictures {files} --study {study} --dry-run")
    session.learn_ids(store)
    imported = next((n for n, said in session.ids.items() if said.startswith("(import")), "none")
    do("import-undo", f"import undo {imported}")
    first = next((n for n, said in session.ids.items() if said.startswith("(run")), "none")
    do("run-status", f"run status {first}")
    do("run-resume", f"run resume {first}")
    session.learn_ids(store)
    shutil.copytree(files, session.out / "files" / "changed")


def tables(session: Session) -> None:
    """Write every table of the store that was worked in, sorted."""
    with contextlib.closing(sqlite3.connect(session.mine / "atomscope.sqlite")) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in sorted(found):
            if name in TABLES_LEFT_OUT:
                continue
            cursor = connection.execute(f'SELECT * FROM "{name}"')
            columns = [each[0] for each in cursor.description]
            rows = [
                {c: _cell(v) for c, v in zip(columns, row, strict=True) if c not in SECONDS}
                for row in cursor
            ]
            lines = sorted(session.plain(json.dumps(row, sort_keys=True)) for row in rows)
            session.keep(f"tables/{name}.jsonl", "".join(f"{line}\n" for line in lines))


def _cell(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


# --- pages ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Address:
    """A page with what its address asks for."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, href: str) -> Address | None:
        """Read a link; None where it leads elsewhere."""
        parts = urlsplit(href)
        if parts.scheme or parts.netloc or href.startswith("#") or "/media/" in parts.path:
            return None
        return cls(path=parts.path.strip("./"), query=tuple(sorted(parse_qsl(parts.query))))

    @property
    def shape(self) -> tuple[str, ...]:
        """What it is an example of: the page, its tab, and what else its address says."""
        tab = dict(self.query).get("tab", "")
        return (self.path, tab, *sorted({key for key, _ in self.query} - {"study", "tab"}))

    @property
    def name(self) -> str:
        """The shape as a file's name."""
        path, tab, *keys = self.shape
        return ".".join((path or "overview", *([tab] if tab else []), *(f"+{k}" for k in keys)))


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a page shows."""

    markup: str
    fields: tuple[str, ...]
    problem: str


def look(store: Path, demo: Path, address: Address) -> Looked:
    """Open a page in Streamlit's own harness, and wait until nothing works behind it."""
    from streamlit.testing.v1 import AppTest, app_test

    from atom.ui import work
    from atom.ui.pages import SCREENS
    from atom.ui.shell import welcome

    os.environ.update({"ATOM_STORE": str(store), "ATOM_DEMO": str(demo)})
    screen = next(one for one in SCREENS if one.url_path == address.path)
    test = AppTest.from_file(str(Path.cwd() / "app.py"), default_timeout=PATIENCE)
    test.switch_page(screen.file)
    hash_of = getattr(app_test, "calc_hash", None) or app_test.calc_md5
    test._page_hash = hash_of(screen.url_path)
    gathered: dict[str, list[str]] = {}
    for key, value in address.query:
        gathered.setdefault(key, []).append(value)
    for key, values in gathered.items():
        test.query_params[key] = values if len(values) > 1 else values[0]
    test.session_state[welcome.SEEN] = True
    test.run()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and (jobs := work.jobs().running()):
        for job in jobs:
            job.wait(PATIENCE)
        test.run()
    before = ""
    while (now := _markup(test)) != before and time.monotonic() < until:
        before = now
        time.sleep(REST if "skeleton" in now else 0)
        test.run()
    problem = "; ".join(f"{one.message}" for one in test.exception)
    return Looked(markup=now, fields=tuple(_fields(test)), problem=problem)


def _markup(test: Any) -> str:
    found = [json.loads(one.proto.json).get("html", "") for one in test.get("bidi_component")]
    return "\n".join(found)


def _fields(test: Any) -> Iterator[str]:
    """Say what Streamlit's own elements offer: their kind, label, options and value."""
    for kind in ("button", "checkbox", "multiselect", "number_input", "radio", "selectbox",
                 "slider", "text_area", "text_input", "toggle", "expander", "tabs", "metric",
                 "caption", "markdown", "warning", "error", "info"):  # fmt: skip
        try:
            elements = list(test.get(kind))
        except Exception:  # noqa: BLE001, S112 - an element that this Streamlit doesn't know
            continue
        for one in elements:
            said = [str(getattr(one, name, "")) for name in ("label", "options", "value")]
            yield f"{kind}: {' | '.join(part for part in said if part)}"


def counts_of(seen: Looked, plain: Callable[[str], str] = str) -> dict[str, dict[str, int]]:
    """Count a page's doors and texts.

    Args:
        seen: the page.
        plain: takes moments and paths out of a text or a door.

    Returns:
        `doors` and `texts`, each value with how often it stands there.
    """
    bare = re.sub(r"<(style|script)\b.*?</\1>", " ", seen.markup, flags=re.S)
    texts = [re.sub(r"\s+", " ", unescape(one)).strip() for one in re.split(r"<[^>]+>", bare)]
    told = re.findall(r'(?:data-tip|title|aria-label|alt|placeholder)="([^"]*)"', bare)
    texts = [plain(one) for one in (*texts, *map(unescape, told), *seen.fields) if one]
    doors = [plain(unescape(one)) for one in re.findall(r'\b(?:href|action)="([^"]*)"', bare)]
    doors = [one for one in doors if not one.startswith("data:")]
    if seen.problem:
        texts.append(f"FAILED: {seen.problem}")
    kinds = {"doors": doors, "texts": texts}
    return {kind: dict(sorted(Counter(found).items())) for kind, found in kinds.items()}


def saved(markup: str) -> Iterator[tuple[str, str]]:
    """Return the files that a page carries in its links: (name, text)."""
    for tag in re.findall(r"<a\b[^>]*>", markup):
        href = re.search(r'href="data:[^,"]*,([^"]*)"', tag)
        if href is not None:
            named = re.search(r'download="([^"]*)"', tag)
            yield (named[1] if named else "file"), unquote(unescape(href[1]))


def pages(session: Session, store: Path, demo: Path, study: str, prefix: str, most: int) -> None:
    """Open every page and tab of a study, and a door of each shape that these lead to.

    Args:
        session: the session.
        store: the user's store.
        demo: the bundled study's folder.
        study: the study's key in addresses; empty = the one that opens by itself.
        prefix: what the files' names begin with.
        most: pages that are opened at most.
    """
    import streamlit as st

    from atom.ui.pages import SCREENS

    paths = {screen.url_path for screen in SCREENS}
    home = (("study", study),) if study else ()
    waiting = [Address(path=path, query=home) for path in sorted(paths)]
    met = {one.shape for one in waiting}
    opened = 0
    while waiting and opened < most:
        address = waiting.pop(0)
        try:
            seen = look(store, demo, address)
        except Exception as error:  # noqa: BLE001 - a page that falls is a finding, too
            seen = Looked(markup="", fields=(), problem=f"{type(error).__name__}: {error}")
        opened += 1
        name = f"pages/{prefix}{address.name}"
        session.tell(f"{opened:3d}  {prefix}{address.path}?{urlencode(address.query)}")
        counts = counts_of(seen, session.plain)
        session.keep(f"{name}.page.json", json.dumps(counts, indent=0, ensure_ascii=False))
        for at, (file, text) in enumerate(saved(seen.markup)):
            session.keep(f"{name}.{at}.{file}", text)
        doors = counts_of(seen)["doors"]
        found = sorted(filter(None, map(Address.of, doors)), key=lambda a: a.query)
        for door in found:
            same = dict(door.query).get("study", study) == study or not study
            if door.path in paths and door.shape not in met and same:
                met.add(door.shape)
                waiting.append(door)
    left = sorted(".".join(one.shape) for one in waiting)
    session.keep(f"pages/{prefix}not-opened.txt", "".join(f"{one}\n" for one in left))
    st.cache_resource.clear()


# --- real files -----------------------------------------------------------------------------------

REAL: Mapping[str, Sequence[str]] = {
    "MathVista": ("mathvista/output_bard.json", "mathvista/output_llava_llama_2_13b.json"),
    "Vicuna": ("vicuna80/question.jsonl", "vicuna80/answer_bard.jsonl",
               "vicuna80/answer_vicuna-13b.jsonl", "vicuna80/review_bard_vicuna-13b.jsonl"),
    "Inspect": ("inspect/log_read_sample.json",),
    "PandaLM": ("pandalm/testset-v1.json",),
}  # fmt: skip


def real(session: Session) -> None:
    """Import studies that nobody here wrote; read them by commands, files and pages."""
    assert session.real is not None
    from atom.store import Store, list_studies

    os.environ["ATOM_DEMO"] = str(session.work / "none")
    for name, files in REAL.items():
        store = session.work / f"real-{name}"
        words = " ".join(shlex.quote(str(session.real / file)) for file in files)
        session.tell(f"real: {name}")
        prefix = f"real-{name}-"
        command(session, f"{prefix}import", f"import auto {words} --study {shlex.quote(name)} "
                "--accept", store)  # fmt: skip
        with Store.open(store) as held:
            there = any(one.name == name for one in list_studies(held))
        session.learn_ids(store)
        if there:
            reading(session, store, name, prefix)
            writing_files(session, store, name, prefix)
            pages(session, store, session.work / "none", "", prefix, OF_REAL)


def main() -> None:
    """Do the session that the words ask for: CHECKOUT DEMO OUT WORK PARTS PAGES [REAL]."""
    checkout, demo, out, work, parts, most, *more = sys.argv[1:]
    session = Session(checkout=Path(checkout), demo=Path(demo), out=Path(out), work=Path(work),
                      most=int(most), real=Path(more[0]) if more else None)  # fmt: skip
    from atom.cli.parts import output
    from atom.engine import execution

    os.chdir(session.checkout)
    logging.disable(logging.WARNING)
    output._PLAIN_EVERY = math.inf  # how often a bar is told again hangs on the moment
    execution.LEASE = math.inf  # and so does whether a run stood still, on a machine that is held
    os.environ["ATOM_DEMO"] = str(session.demo)
    study = json.loads((session.demo / "manifest.json").read_text(encoding="utf-8"))["name"]
    steps: Mapping[str, Callable[[], None]] = {
        "read": lambda: reading(session, session.demo, study, ""),
        "files": lambda: writing_files(session, session.demo, study, ""),
        "change": lambda: changing(session, study),
        "tables": lambda: tables(session),
        "after": lambda: reading(session, session.mine, MINE, "after-"),
        "pages": lambda: pages(session, session.work / "none", session.demo, "", "", session.most),
        "mine": lambda: pages(session, session.mine, session.work / "none", "", "mine-", OF_MINE),
        "real": lambda: real(session),
    }
    for part in parts.split(","):
        session.tell(part)
        steps[part]()
    session.finish()


if __name__ == "__main__":
    main()
