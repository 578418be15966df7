"""Every command, read off the parsers: killed where it writes, tried on stores that are hurt."""

from __future__ import annotations

import pytest

from atom.exports.registry import EXPORTERS
from benchmarks.attacks._victims import VICTIMS
from tests.app.test_both_stores import COMMANDS as READ_ON_BOTH
from tests.atom.cli.every_command import every_command
from tests.atom.cli.test_hurt_store import COMMANDS
from tests.atom.cli.test_on_a_server import CHAINS

UNKILLED = {
    "run stop": "writes one state",
    "correct gate": "asks, and keeps its calls one by one",
    "store migrate": "each migration is a transaction: tests/atom/store/test_migrate.py",
    "endpoint find": "writes as `endpoint add` does",
    "judge blind": "asks, and keeps verdicts one by one, as `fidelity run` does",
    "judge run-code": "needs a sandbox",
    "study prepare": "writes beside the store: tests/atom/views/prepared/test_making.py",
    **dict.fromkeys((f"run batch {step}" for step in (
        "cancel", "drop", "fetch", "run", "send", "status", "take",
    )), "needs a service: tests/atom/engine/batch"),
}  # fmt: skip
READERS = frozenset({
    "app", "ask", "budget list", "cluster status", "correct list", "correct show", "endpoint list",
    "endpoint presets", "endpoint test", "failures groups", "fidelity show", "figure list",
    "judge list", "judge panel", "judge published", "judge show", "log", "pairs show",
    "people list", "probe serve", "profile show", "run blind", "run status", "store check",
    "study list", "tree compare", "tree open", "tree show", "tree validity",
})  # fmt: skip
"""They write nothing."""
UNHURT = {
    **dict.fromkeys(("budget list", "budget set", "people list", "people role", "log",
                     "store migrate"), "needs a deployment"),
    **dict.fromkeys(("app", "probe serve"), "serves"),
    **dict.fromkeys(("cluster status", "endpoint find", "endpoint test", "judge published",
                     "store copy", "tree open"), "looks beyond the store"),
    **dict.fromkeys((f"run batch {step}" for step in (
        "cancel", "drop", "fetch", "run", "send", "take",
    )), "goes on with a batch that was sent"),
}  # fmt: skip

ON_BOTH_STORES_ELSEWHERE = {
    **dict.fromkeys(("budget list", "budget set", "log", "people list", "people role",
                     "store migrate"), "tests/atom/cli/team/test_team_commands.py"),
    "app": "tests/app/test_both_stores.py",
    "store copy": "brings all of it to the server",
    **dict.fromkeys(("cluster status", "endpoint find", "endpoint presets", "judge published",
                     "probe serve", "tree open"), "opens no store"),
}  # fmt: skip


@pytest.fixture(scope="module")
def commands() -> set[str]:
    return every_command()


def test_every_command_that_writes_is_killed(commands):
    """So a new command is killed, or stands above with the reason why not."""
    killed = {
        command
        for command in commands
        for victim in VICTIMS.values()
        if f"{' '.join(victim.words)} ".startswith(f"{command} ")
    }
    assert commands == killed | UNKILLED.keys() | READERS
    assert not killed & (UNKILLED.keys() | READERS)


def test_every_form_of_export_is_killed():
    assert {f"export {name}" for name in EXPORTERS} <= VICTIMS.keys()


def test_every_command_is_tried_on_a_store_that_is_hurt(commands):
    tried = {command.split(" --")[0] for command in COMMANDS} | {"export", "run batch status"}
    assert commands - tried == UNHURT.keys()


def test_every_command_is_tried_on_both_stores(commands):
    """Those that write in `test_on_a_server`, those that read beside the pages."""
    words = [" ".join(line) for lines in (*CHAINS.values(), READ_ON_BOTH) for line in lines]
    tried = {one for one in commands for line in words if f"{line} ".startswith(f"{one} ")}
    assert commands == tried | ON_BOTH_STORES_ELSEWHERE.keys()
    assert not tried & ON_BOTH_STORES_ELSEWHERE.keys()
