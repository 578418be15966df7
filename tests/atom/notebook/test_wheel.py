"""The wheel, installed in an environment of its own and used from another folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
BUNDLED = "Probe world (synthetic demo)"
USE = f"""
import atom
from atom.settings import DEMO_FOLDER
with atom.open({BUNDLED!r}) as study:
    print(len(study.scores()), study.ranking()["model"].iloc[0])
print(DEMO_FOLDER.relative_to({{prefix!r}}))
"""
DRAW = """
from streamlit.testing.v1 import AppTest
from atom.settings import PROJECT_ROOT
app = AppTest.from_file(str(PROJECT_ROOT / "app.py"), default_timeout=120).run()
print([error.value for error in app.exception], len(app.main.children) > 0)
"""

THEME = """
from streamlit import config
from streamlit.starlette import App
from atom.settings import load_settings
from atom.ui.shell.launch import launch
def read(*_, **__):
    config.get_config_options(force_reparse=True)
    print(config.get_option("theme.light.primaryColor"))
App.run = read
launch(load_settings(), say=lambda opened: None, headless=True)
"""


@pytest.fixture(scope="module")
def wheel(project, tmp_path_factory) -> Path:
    """Build the wheel, as `pip install .` does."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=project, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (found,) = folder.glob("atomscope-*.whl")
    return found


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Path:
    """Install it into a fresh environment; what it needs is read from this one."""
    place = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=120
    )
    python = place / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index",
         "--quiet", str(wheel)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (site,) = place.glob("lib/python*/site-packages")
    (site / "needs.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return place


@pytest.fixture
def elsewhere(fresh, tmp_path):
    """Run a command of the fresh environment in an empty folder."""
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [str(fresh / "bin" / words[0]), *words[1:]], cwd=tmp_path, env=env,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


@pytest.mark.slow
def test_the_wheel_holds_what_the_app_reads_and_no_tests(wheel, project):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        needs = packed.read(next(n for n in names if n.endswith("METADATA"))).decode()
    inside = "atom/bundled/"
    for folder in ("pages", "data/demo", "data/published"):
        tracked = subprocess.run(
            ["git", "ls-files", folder], cwd=project, capture_output=True, text=True, check=True
        ).stdout.split()
        assert tracked
        assert {inside + name for name in tracked} <= names
    assert {"app.py", "docs/glossary.md", ".streamlit/config.toml"} <= {
        name.removeprefix(inside) for name in names
    }
    assert {"taxonomy/anchors.yaml", "taxonomy/rivals/hand_made.yaml", "atom/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]
    wanted = (project / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in wanted if line and not line.startswith("#")]
    assert needs.count("Requires-Dist:") == len(wanted)


@pytest.mark.slow
def test_the_command_works_from_another_folder(elsewhere):
    assert elsewhere("atomscope", "--version").startswith("atomscope 0.")
    assert BUNDLED in elsewhere("atomscope", "study", "list")
    assert "usage: atomscope" in elsewhere("atomscope", "--help")


@pytest.mark.slow
def test_a_notebook_opens_the_bundled_study(elsewhere, fresh):
    said = elsewhere("python", "-c", USE.format(prefix=str(next(fresh.glob("lib/*/site*")))))
    assert said.splitlines() == ["10176 model-b", "atom/bundled/data/demo"]


@pytest.mark.slow
def test_the_app_draws_its_first_screen(elsewhere):
    assert elsewhere("python", "-W", "ignore", "-c", DRAW).splitlines()[-1] == "[] True"


@pytest.mark.slow
def test_the_app_has_its_theme_wherever_it_is_started(elsewhere):
    assert elsewhere("python", "-W", "ignore", "-c", THEME).split()[-1] == "#2457D6"


@pytest.mark.slow
def test_the_app_starts(fresh, tmp_path):
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = subprocess.Popen(
        [str(fresh / "bin" / "atomscope"), "app", "--headless", "--port", str(port)],
        cwd=tmp_path, env={"PATH": os.defpath, "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert _answer(f"http://127.0.0.1:{port}/_stcore/health", app) == b"ok"
    finally:
        app.terminate()
        app.wait(timeout=30)


def _answer(address: str, app: subprocess.Popen[bytes]) -> bytes:
    end = time.monotonic() + 120
    while time.monotonic() < end and app.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return reply.read()
        except OSError:
            time.sleep(0.2)
    return b""
