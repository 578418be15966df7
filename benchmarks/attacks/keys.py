"""Keys: a server that repeats the key everywhere; then all that a session wrote is searched."""

from __future__ import annotations

import asyncio
import io
import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from urllib.parse import quote

from atom.cli.main import main
from atom.errors import AtomError
from atom.judge import JudgeClient, Request, TextPart
from atom.judge.keys import HIDDEN
from atom.records import Endpoint, Sampling
from benchmarks.attacks._echo import HABITS, echo_server, escaped
from benchmarks.attacks._tried import Tried

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "ECHO_API_KEY"
RUN_OF = 10
"""So many signs of the key in a row are as good as the key."""
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
STUDY = "Keys"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("probe", "make", "--samples", "2", "--seed", "5", "--families", "charts", "--study", STUDY),
    ("endpoint", "list"),
    ("endpoint", "test", "echo"),
    ("endpoint", "test", "refusing"),
    ("run", "start", "--study", STUDY, "--judge", "echo", "--candidates", "model-a,echo-model"),
    ("run", "start", "--study", STUDY, "--judge", "refusing", "--retry-failed"),
    ("run", "status", "--study", STUDY),
    ("study", "list"),
    ("profile", "show", "--study", STUDY, "--model", "model-a"),
    ("tree", "show", "--study", STUDY),
    ("report", "write", "--study", STUDY, "--out", "{out}/report.html"),
    ("report", "write", "--study", STUDY, "--out", "{out}/report.md", "--format", "markdown"),
    ("report", "write", "--study", STUDY, "--out", "{out}/written.md", "--format", "markdown",
     "--judge", "echo", "--yes"),
    ("export", "parquet", "--study", STUDY, "--out", "{out}/study"),
    ("export", "csv", "--study", STUDY, "--out", "{out}/csv"),
    ("export", "html", "--study", STUDY, "--out", "{out}/study.html"),
    ("export", "llm-comparator", "--study", STUDY, "--out", "{out}/comparator"),
    ("store", "check"),
)  # fmt: skip


def attack() -> Iterator[Tried]:
    """Ask servers with every habit, run a whole session against one, and search what is left."""
    key = "sk-" + secrets.token_urlsafe(24) + "/+=Zz"
    for habit in HABITS:
        with echo_server(habit) as address:
            yield Tried(name=f"client: {habit}", fell=found_in(key, _told(address, key)))
    with tempfile.TemporaryDirectory() as folder, _variable(key):
        yield from _session(Path(folder), key)


def _told(address: str, key: str) -> str:
    """Ask once whole and once by stream; return all that came back."""
    endpoint = Endpoint(
        name="e", base_url=address, model="m", key_env=VARIABLE, max_tries=1, structured="text"
    )
    texts: list[str] = []

    async def ask() -> None:
        async with JudgeClient(endpoint, environ={VARIABLE: key}) as client:
            for schema in (None, SCHEMA):
                request = Request(
                    task="t",
                    prompt_id="t/1",
                    system="s",
                    parts=(TextPart(text="q"),),
                    schema=schema,
                    sampling=Sampling(max_tokens=50),
                )
                try:
                    texts.append(repr(await client.ask(request)))
                except AtomError as error:
                    texts.append(f"{error!r} {error} {vars(error)}")
                shown = ""
                try:
                    async for piece in client.stream(request):
                        shown += piece if isinstance(piece, str) else ""
                        texts.append(repr(piece))
                except AtomError as error:
                    texts.append(f"{error!r} {error} {vars(error)}")
                texts.append(shown)
            texts.extend(client.adaptations)
            try:
                texts.extend(await client.list_models())
            except AtomError as error:
                texts.append(str(error))

    asyncio.run(ask())
    return "\n".join(texts)


def found_in(key: str, text: str | bytes) -> str:
    """Say which form of the key stands in a text; empty where none does."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    forms = {
        "the key": key,
        "the key in JSON's escapes": escaped(key),
        "the key, percent-encoded": quote(key, safe=""),
        "the key in base64": b64encode(key.encode()).decode().rstrip("="),
    }
    for name, form in forms.items():
        if form.encode() in data:
            return f"{name} is in it"
    for at in range(len(key) - RUN_OF + 1):
        if key[at : at + RUN_OF].encode() in data:
            return f"{RUN_OF} signs of the key are in it"
    return ""


@contextmanager
def _variable(key: str) -> Iterator[None]:
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = key
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def _session(folder: Path, key: str) -> Iterator[Tried]:
    store, out = folder / "store", folder / "out"
    store.mkdir()
    out.mkdir()
    with echo_server() as address, echo_server("error 401") as refusing:
        (store / "endpoints.yaml").write_text(_endpoints(address, refusing), encoding="utf-8")
        for command in COMMANDS:
            words = [word.format(out=out) for word in command]
            code, said = _say([*words, "--store", str(store)])
            name = " ".join(command[:3])
            fell = found_in(key, said)
            if "Traceback" in said or code not in (0, 1, 2, 3):
                fell = fell or f"exit {code}: {said[-200:]}"
            yield Tried(name=f"output: {name} {command[-1]}", fell=fell)
        yield Tried(name="ps of a detached run", fell=_detached(folder, store, key))
    yield Tried(name="endpoints.yaml with a key in it", fell=_misplaced(folder, key))
    words = b"\n".join(_values(store / "atomscope.sqlite"))
    kept = HIDDEN.encode() in words
    yield Tried(name="the replies themselves", fell="" if kept else "no reply that held it is kept")
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            for part, data in _parts(file):
                place = f"{file.relative_to(folder)}{part}"
                yield Tried(name=f"file: {place}", fell=found_in(key, data))


def _endpoints(address: str, refusing: str) -> str:
    bearer = f'{{authorization: "Bearer ${{{VARIABLE}}}"}}'
    return (
        f"- {{name: echo, base_url: 'probe:{address}', model: probe-judge, roles: [judge], "
        f"extra_headers: {bearer}, prices: {{input: 1, output: 1}}}}\n"
        f"- {{name: echo-model, base_url: 'probe:{address}', model: model-b, roles: [candidate], "
        f"extra_headers: {bearer}}}\n"
        f"- {{name: refusing, base_url: '{refusing}', model: m, key_env: {VARIABLE}, "
        "max_tries: 1}\n"
    )


def _say(words: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            code = main(words)
        except Exception as error:  # noqa: BLE001 - a traceback on screen is what is looked for
            return 70, f"Traceback: {error!r}"
    return code, said.getvalue()


def _detached(folder: Path, store: Path, key: str) -> str:
    """Start a run in a process of its own, and look at all command lines while it works."""
    words = ["run", "start", "--study", STUDY, "--judge", "echo", "--repeat", "2", "--detach"]
    started = subprocess.run(
        [sys.executable, "-m", "atom", *words, "--store", str(store)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    fell = found_in(key, started.stdout + started.stderr)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        lines = [_command_line(place) for place in Path("/proc").glob("[0-9]*")]
        fell = fell or found_in(key, b"\n".join(lines))
        if fell or not any(str(store).encode() in line for line in lines):
            return fell
        time.sleep(0.2)
    return "the run didn't end"


def _command_line(place: Path) -> bytes:
    try:
        return (place / "cmdline").read_bytes()
    except OSError:
        return b""


def _misplaced(folder: Path, key: str) -> str:
    """Read endpoints files into which somebody wrote the key itself."""
    rows = (
        f"- {{name: a, base_url: 'https://h/v1', model: m, key_env: '{key}'}}",
        f"- {{name: a, base_url: 'https://h/v1', model: m, api_key: '{key}'}}",
        f"- {{name: a, base_url: 'https://h/v1', model: m, headers: {{x: '{key}'}}}}",
        f"- {{name: a, base_url: 'https://h/v1', model: m, extra_headers: {{x-key: '{key}'}}}}",
        f"- {{name: a, base_url: 'https://u:{key}@h/v1', model: m}}",
        f"- {{name: a, base_url: 'https://h/v1?key={key}', model: m}}",
        f"- {{name: a, base_url: 'https://h/v1', model: m, query: {{key: '{key}'}}}}",
        f"- {{name: a, base_url: 'https://h/v1', model: m, extra_body: {{api_key: '{key}'}}}}",
        f"- name: a\n  key_env: {key}: x\n",
        f"{key}",
        f"- [{key}]",
    )
    for number, row in enumerate(rows):
        file = folder.parent / f"{folder.name}-{number}.yaml"
        file.write_text(row, encoding="utf-8")
        try:
            for words in (["endpoint", "list"], ["endpoint", "test", "a"]):
                _, said = _say([*words, "--endpoints", str(file), "--store", str(folder / "none")])
                fell = found_in(key, said)
                if fell:
                    return f"row {number}, {' '.join(words)}: {fell}"
        finally:
            file.unlink()
    return ""


def _parts(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield a file's bytes, and what is packed in it."""
    data = file.read_bytes()
    yield "", data
    if data.startswith(b"SQLite format 3"):
        yield ", unpacked", b"\n".join(_values(file))
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            for name in packed.namelist():
                yield f", {name}", _unpacked(name, packed.read(name))
    elif file.suffix == ".parquet":
        yield ", unpacked", _unpacked(file.name, data)


def _unpacked(name: str, data: bytes) -> bytes:
    if not name.endswith(".parquet"):
        return data
    import pyarrow.parquet as pq

    return repr(pq.read_table(io.BytesIO(data)).to_pylist()).encode("utf-8", "replace")


def _values(file: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str):
                        yield value.encode("utf-8", "replace")
                    elif isinstance(value, bytes):
                        yield value
                        try:
                            yield zlib.decompress(value)
                        except zlib.error:
                            continue
