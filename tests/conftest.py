"""Rules for all tests: no network beyond loopback, no leftover settings, and no silent skips in CI.

A test that needs something this machine may lack (Chromium, the local model, the shared folder
beside the checkout) calls `pytest.skip` with a reason. Where CI is set and the shared folder is
there, a skip is a failure.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import settings
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from xdist.scheduler import LoadFileScheduling

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared"
STRICT = bool(os.environ.get("ATOM_CI") or os.environ.get("CI")) and SHARED.is_dir()
TESTS = PROJECT / "tests"
FOLDER_MARKERS = {"e2e": "browser", "model": "model"}
SPREAD = {"browser": 0.7, "slow": 0.8, "quick": 1.0}
"""Files of each kind lie evenly in this share of all, the first one first."""
TOGETHER = ("tests/rules/",)
"""Folders that one worker takes as a whole: what their files share takes long to make."""
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")
OWN_VARIABLES = (
    "ATOM_STORE",
    "ATOM_ENDPOINTS",
    "ATOM_DEMO",
    "ATOM_KEYS",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)

settings.register_profile("all", deadline=None, derandomize=True, database=None)
settings.register_profile("quick", settings.get_profile("all"), max_examples=25)
settings.load_profile("all")


class NetworkUseError(RuntimeError):
    """A test tried to reach something beyond this computer."""


def pytest_configure(config: pytest.Config) -> None:
    """Start from the same environment everywhere; draw fewer examples where slow tests are out."""
    settings.load_profile("quick" if "not slow" in config.option.markexpr else "all")
    for name in OWN_VARIABLES:
        os.environ.pop(name, None)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of a folder that needs a browser or a model, and spread them among the rest.

    Workers take files in this order (`--no-loadscope-reorder`): browsers then wait while others
    count, and no worker is left alone with a long file at the end.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if marker := FOLDER_MARKERS.get(item.path.relative_to(TESTS).parts[0]):
            item.add_marker(marker)
            item.add_marker("slow")
        files.setdefault(item.path, []).append(item)
    kinds: dict[str, list[Path]] = {"browser": [], "slow": [], "quick": []}
    for path, its in files.items():
        browser = path.relative_to(TESTS).parts[0] in FOLDER_MARKERS
        slow = any(item.get_closest_marker("slow") for item in its)
        kinds["browser" if browser else "slow" if slow else "quick"].append(path)
    places = {
        path: at * SPREAD[kind] / len(paths)
        for kind, paths in kinds.items()
        for at, path in enumerate(paths)
    }
    whole = [path for path in files if str(path.relative_to(PROJECT)).startswith(TOGETHER)]
    places |= dict.fromkeys(whole, 0.0)
    in_order = sorted(files, key=lambda path: places[path])
    items[:] = [item for path in in_order for item in files[path]]


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later search for garbage, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class _Rooms(LoadFileScheduling):
    """Files to whichever worker is free, some folders as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _Rooms | None:
    """Schedule by files and rooms, unless another way is asked for."""
    return _Rooms(config, log) if config.getvalue("dist") == "loadfile" else None


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not (STRICT and report.skipped) or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"in CI a skip is a failure. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Turn a skipped test into a failure in CI."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Turn a skipped module into a failure in CI."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Refuse every connection beyond this computer."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def check(address: object) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise NetworkUseError(f"a test connects to {address!r}; only loopback is allowed")

    def guarded_connect(self: socket.socket, address: object) -> None:
        check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        check(address)
        return connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        yield


@pytest.fixture(scope="session", autouse=True)
def statements_are_compiled_once() -> Iterator[None]:
    """Let all stores in files compile as one does, which keeps every statement that it compiled.

    Each of some thousand stores would compile its own again, for .01 s and more.
    """
    first = sa.create_engine("sqlite://")
    with first.connect():
        """A dialect is told by its first connection what SQLite can do."""
    compiled = sa.util.LRUCache(2_000)

    def share(_: type, engine: sa.Engine) -> None:
        engine.dialect = first.dialect
        engine.update_execution_options(compiled_cache=compiled)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLiteDialect_pysqlite, "engine_created", classmethod(share))
        yield
    first.dispose()


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Return what is logged; `caplog` would cost each of all tests a thousandth of a second."""
    told, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(told), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield told
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(scope="session")
def project() -> Path:
    """Return the checkout's folder."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder of foreign files beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder `shared` beside the checkout")
    return SHARED
