"""The README's two set-up commands are one line each, and CI runs the second as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

RUN = (
    "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt "
    "&& .venv/bin/python -m atom app"
)
TEST = (
    "python3 -m venv .venv && .venv/bin/pip install -q -r requirements-dev.txt "
    "&& .venv/bin/python -m pytest -q"
)


@pytest.fixture(scope="module")
def readme(project: Path) -> str:
    """Return the README's text."""
    return (project / "README.md").read_text(encoding="utf-8")


def set_up_commands(readme: str) -> list[str]:
    """Return the commands that make an environment, a line each."""
    blocks = re.findall(r"```bash\n(.*?)```", readme, re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if "venv .venv" in line or "pip install" in line]


def test_there_are_exactly_two_set_up_commands(readme):
    assert set_up_commands(readme) == [RUN, TEST]


def test_ci_runs_the_test_command_as_it_stands(project):
    assert TEST in (project / ".ci" / "run").read_text(encoding="utf-8")


def test_ci_is_executable(project):
    assert (project / ".ci" / "run").stat().st_mode & 0o111


def test_pictures_and_links_lead_somewhere(project, readme):
    targets = re.findall(r"\]\(([^)#]+)\)|src=\"([^\"]+)\"", readme)
    local = [a or b for a, b in targets if not (a or b).startswith("http")]
    assert local
    assert [target for target in local if not (project / target).exists()] == []


def test_the_picture_and_a_result_come_first(readme):
    head = readme.splitlines()[:25]
    assert any("docs/images/" in line for line in head)


def test_the_endpoint_example_can_be_read(readme):
    from atom.judge.servers.endpoints import parse_endpoints

    example = re.search(r"```yaml\n(.*?)```", readme, re.S)[1]
    judge, candidate = parse_endpoints(example)
    assert (judge.roles, candidate.roles) == (("judge",), ("candidate",))


def test_commands_named_in_the_documents_exist(project, readme):
    from atom.cli.main import NOUNS

    guide = "".join(file.read_text(encoding="utf-8") for file in (project / "docs").glob("*.md"))
    named = set(re.findall(r"(?:python -m |`)atom ([a-z]+)", readme + guide))
    assert named
    assert named - set(NOUNS) == set()


def test_import_formats_named_in_the_readme_exist(readme):
    from atom.formats import FORMATS

    named = set(re.findall(r"atom import (\w+) ", readme)) - {"FORMAT", "list"}
    assert named
    assert named <= set(FORMATS)


def test_the_architecture_names_what_is_there(project):
    text = (project / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+)(\.\w+)?`", text))
    assert len(named) > 40
    missing = []
    for path, word in named:
        places = [project / root / path for root in ("", "atom")]
        file = next((p.with_suffix(".py") for p in places if p.with_suffix(".py").exists()), None)
        whole = any(place.is_dir() or Path(f"{place}{word}").is_file() for place in places)
        told = file is not None and (not word or word[1:] in file.read_text(encoding="utf-8"))
        if not (whole or told):
            missing.append(path + word)
    assert missing == [], "docs/architecture.md names a module or a name that is gone"


def test_requirements_are_bounded_on_both_sides(project):
    for kind in ("", "-postgresql", "-cluster", "-dev", "-model"):
        name = f"requirements{kind}.txt"
        rows = (project / name).read_text(encoding="utf-8").splitlines()
        rows = [row for row in rows if row and not row.startswith(("#", "-r"))]
        assert [row for row in rows if not re.fullmatch(r"[\w\[\]-]+>=[\d.]+,<[\d.]+", row)] == []
        names = [re.split(r"[\[>]", row)[0].lower() for row in rows]
        assert names == sorted(names)


def test_every_foreign_import_is_a_requirement(project, modules, imports_of):
    import sys

    rows = (project / "requirements.txt").read_text(encoding="utf-8").lower().splitlines()
    listed = {re.split(r"[\[>]", row)[0] for row in rows if row and not row.startswith("#")}
    names = {"pyyaml": "yaml", "pillow": "pil", "vl-convert-python": "vl_convert",
             "scikit-learn": "sklearn"}  # fmt: skip
    modules_of = {names.get(name, name.replace("-", "_")) for name in listed}
    known = modules_of | {"atom", "taxonomy", "app", "pages"}
    brought = {
        "httpx2": "the openai client's own transport",
        "pydantic_core": "pydantic",
        "tornado": "streamlit",
    }
    optional = {"psycopg": "asked for by a PostgreSQL store", "ray": "asked for by a cluster"}
    foreign = {
        line.target.partition(".")[0].lower()
        for module in modules
        for line in imports_of(module)
        if line.target.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign - known - set(brought) - set(optional) == set()
