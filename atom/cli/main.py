"""Reads the command line and calls the noun's verb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from atom.access import install
from atom.cli.parts.output import Output
from atom.errors import AtomError, ConflictError, DoubtError
from atom.settings import app_version, deployment_file, load_settings, person_of_process

NOUNS: dict[str, tuple[str, str]] = {
    "app": ("app", "open the dashboard, on this computer only"),
    "study": ("study", "the studies of a store: list, copy, rename, delete, import"),
    "endpoint": ("endpoint", "the configured models, and whether they answer: list, test"),
    "demo": ("demo", "make a synthetic study from probes, offline: build"),
    "probe": ("probe", "fresh probes, and the probe endpoint as a server: make, serve"),
    "import": ("imports", "take in questions, answers and verdicts"),
    "run": ("run", "ask models and judge: start, status, resume, stop, settle, batch"),
    "cluster": ("parts.cluster", "the Ray cluster that runs may be sent to: status"),
    "correct": (
        "correct",
        "let a model try its failed answers again, with controls: run, list, show, gate",
    ),
    "tree": ("tree", "the capability tree: induce, show, validity, compare, export"),
    "compare": (
        "compare",
        "a version against the one before: what was fixed, what broke; fails a pipeline if asked",
    ),
    "ask": ("explore.ask", "which view answers a question in words: prints its link"),
    "failures": ("explore.failures", "what goes wrong in one way, and in which models: groups"),
    "profile": ("profile", "one model: score, rank, capabilities, weaknesses: show"),
    "judge": (
        "judge",
        "does the judge deserve trust? bench, calibrate, panel, list, show, published, run-code, "
        "delete",
    ),
    "fidelity": (
        "fidelity",
        "do scores rank answers as people do? rival methods: run, show, rankings, plant",
    ),
    "pairs": (
        "pairs",
        "hard pairs: what weak judges fail at, as a set for others: find, show, write, keep",
    ),
    "report": ("report", "findings, text, figures and cases in one file: write"),
    "figure": ("figure", "figures to publish, with caption and data: list, write"),
    "export": ("export", "a study as files: exact archive, tables, other tools' forms, one page"),
    "people": ("team.people", "who has signed in to a deployment, and what they may: list, role"),
    "budget": ("team.budget", "what people of a deployment may spend in a month: list, set"),
    "log": ("team.log", "who did what in a deployment"),
    "store": ("store", "the store itself: check, copy, migrate"),
}
"""Noun → module in this package, and what it is about. A noun's module is imported when used."""
COMMAND = "atomscope"
"""What an installed package calls it."""
USER_ERROR = 2
STOPPED = 3
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words behind `python -m atom` or `atomscope`; the process's own when None.

    Returns:
        The exit code: 0 done, 1 done with findings, 2 the user's to mend, 3 stopped before
        anything changed because something must be accepted or replaced first, 130 interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parse(words)
        _join_deployment(args)
        code: int = args.call(args, Output(as_json=args.json))
    except AtomError as error:
        Output(as_json=False).problem(error.message)
        return STOPPED if isinstance(error, DoubtError | ConflictError) else USER_ERROR
    except BrokenPipeError:
        return 1
    except Exception as error:
        # The one place where what a disk or a database raises becomes a sentence.
        from atom.store.faults import fault_of

        found = fault_of(error, _place(words))
        if found is None:
            raise
        Output(as_json=False).problem(found.message)
        return USER_ERROR
    except KeyboardInterrupt:
        Output(as_json=False).problem("interrupted")
        return INTERRUPTED
    return code


def _join_deployment(args: argparse.Namespace) -> None:
    """Let a deployment's policy hold for a command, where `ATOM_DEPLOYMENT` names its file."""
    path = deployment_file()
    if path is None or args.noun == "app":
        return
    from atom.deployment import load_deployment

    person = person_of_process()
    deployment = load_deployment(path)
    install(deployment.policy(), lambda: person)


def _place(words: Sequence[str]) -> str:
    """Return what the command calls its store, for what is said of it."""
    for before, word in pairwise(words):
        if before == "--store":
            return word
    return load_settings().store


def _parse(words: Sequence[str]) -> argparse.Namespace:
    name = COMMAND if Path(sys.argv[0]).stem == COMMAND else "python -m atom"
    parser = argparse.ArgumentParser(
        prog=name,
        description="Atomscope shows where a multimodal model breaks, and why.",
        epilog=f"`{name} NOUN --help` tells more.",
    )
    parser.add_argument("--version", action="version", version=f"{COMMAND} {app_version()}")
    nouns = parser.add_subparsers(dest="noun", metavar="NOUN", required=True)
    wanted = next((word for word in words if not word.startswith("-")), None)
    for noun, (module, about) in NOUNS.items():
        child = nouns.add_parser(noun, help=about, description=about[0].upper() + about[1:] + ".")
        if noun == wanted:
            import_module(f"atom.cli.{module}").add(child)
    return parser.parse_args(words)
