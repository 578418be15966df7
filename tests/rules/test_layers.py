"""Imports point one way: records, then pure logic, then edges, then screens and commands."""

from __future__ import annotations

import pytest

COMMON = {"atom.errors", "atom.access", "atom.settings"}
TEAM = {"atom.deployment"}
FILES = {"atom.files"}
PURE = {"taxonomy", "atom.records", "atom.errors", "atom.foreign", "atom.display", "atom.asked"}
LOGIC = {"atom.analysis", "atom.stages", "atom.methods", "atom.judgebench", "atom.formats"}
METHOD = {"atom.pipeline"}
MAY_IMPORT = {
    "taxonomy": {"atom.errors"},
    "atom.errors": set(),
    "atom.access": {"atom.errors"},
    "atom.settings": {"atom.errors", "atom.access"},
    "atom.deployment": {*COMMON, "atom.foreign"},
    "atom.foreign": {"atom.errors"},
    "atom.files": {"atom.errors"},
    "atom.display": set(),
    "atom.asked": set(),
    "atom.records": {"taxonomy", *COMMON},
    "atom.analysis": PURE,
    "atom.formats": {*PURE, "atom.analysis"},
    "atom.probes": PURE,
    "atom.judge": {*PURE, *FILES, *COMMON, "atom.probes"},
    "atom.stages": {*PURE, "atom.judge"},
    "atom.pipeline": {*PURE, "atom.stages"},
    "atom.methods": {*PURE, "atom.judge", "atom.stages", "atom.analysis"},
    "atom.judgebench": {*PURE, "atom.judge", "atom.stages", "atom.analysis", "atom.formats"},
    "atom.store": {*PURE, *FILES, *COMMON},
    "atom.engine": {
        *PURE,
        *FILES,
        *COMMON,
        *LOGIC,
        *METHOD,
        "atom.judge",
        "atom.store",
        "atom.probes",
    },
    "atom.views": {*PURE, *FILES, *COMMON, *LOGIC, "atom.store"},
    "atom.reports": {
        *PURE,
        *FILES,
        *COMMON,
        *LOGIC,
        "atom.engine",
        "atom.judge",
        "atom.store",
        "atom.views",
    },
    "atom.exports": {*PURE, *FILES, *COMMON, *LOGIC, "atom.store", "atom.views", "atom.reports"},
    "atom.ui": {
        *PURE,
        *TEAM,
        *FILES,
        *COMMON,
        *LOGIC,
        *METHOD,
        "atom.engine",
        "atom.views",
        "atom.reports",
        "atom.exports",
    },
    "atom.cli": {
        *PURE,
        *TEAM,
        *FILES,
        *COMMON,
        *LOGIC,
        *METHOD,
        "atom.engine",
        "atom.views",
        "atom.store",
        "atom.probes",
        "atom.reports",
        "atom.exports",
    },
    "atom.notebook": {
        *PURE,
        *COMMON,
        *LOGIC,
        "atom.engine",
        "atom.views",
        "atom.store",
        "atom.reports",
        "atom.exports",
    },
    "atom": {"atom.notebook"},
    "atom.__main__": {"atom.cli"},
    "pages": {"atom.ui", "atom.views", *PURE},
    "app": {"atom.ui", *COMMON},
}
STREAMLIT_USERS = {"atom.ui", "pages", "app"}
LAUNCHER = "atom.ui.shell.launch"


def layer(name: str) -> str:
    """Return the layer that a dotted name belongs to; empty for anything foreign."""
    head, _, rest = name.partition(".")
    if head in {"taxonomy", "pages", "app"}:
        return head
    if head != "atom":
        return ""
    return f"atom.{rest.partition('.')[0]}" if rest else "atom"


def wrong_arrows(modules, imports_of):
    """List every import that points the wrong way."""
    wrong = []
    for module in modules:
        own = layer(module.name)
        allowed = MAY_IMPORT.get(own, set())
        for line in imports_of(module):
            target = layer(line.target)
            if target in {"", "atom", own} or target in allowed:
                continue
            if own == "atom.cli" and line.lazy and line.target.startswith(LAUNCHER):
                continue
            wrong.append(f"{module.path}:{line.line} imports {line.target}")
    return wrong


def test_every_package_has_its_arrows_written_down(modules):
    layers = {layer(module.name) for module in modules} - {"atom"}
    assert layers <= set(MAY_IMPORT)


def test_imports_point_one_way(modules, imports_of):
    assert wrong_arrows(modules, imports_of) == []


def test_arrows_have_no_cycle():
    done: set[str] = set()
    while rest := {name for name in MAY_IMPORT if name not in done}:
        free = {name for name in rest if MAY_IMPORT[name] <= done}
        assert free, f"a cycle among {sorted(rest)}"
        done |= free


def test_only_the_screens_import_streamlit(modules, imports_of):
    users = {
        str(module.path)
        for module in modules
        for line in imports_of(module)
        if line.target.partition(".")[0] == "streamlit"
        and layer(module.name) not in STREAMLIT_USERS
    }
    assert users == set()


def test_only_the_store_holds_sql(modules, imports_of):
    users = {
        str(module.path)
        for module in modules
        for line in imports_of(module)
        if line.target.partition(".")[0] in {"sqlalchemy", "sqlite3"}
        and layer(module.name) != "atom.store"
    }
    assert users == set()


def test_pages_hold_no_sql_prompt_or_model_call(modules, imports_of):
    foreign = {"sqlalchemy", "openai", "numpy", "pandas", "scipy", "sqlite3"}
    wrong = [
        f"{module.path}:{line.line} imports {line.target}"
        for module in modules
        if layer(module.name) == "pages"
        for line in imports_of(module)
        if line.target.partition(".")[0] in foreign
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("atom.judge.client", "atom.judge"), ("taxonomy.path", "taxonomy"), ("numpy.linalg", "")],
)
def test_layer_of_a_name(name, expected):
    assert layer(name) == expected
