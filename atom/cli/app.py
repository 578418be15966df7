"""`app`: opens the dashboard."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from atom.cli.parts.options import add_common, settings_of
from atom.cli.parts.output import Output
from atom.errors import AwayError, UsageError
from atom.settings import deployment_file, name_deployment

_BEYOND = (
    "WARNING: the app listens beyond this computer. Whoever has the address can use your keys, "
    "your files and your models, and what is sent isn't encrypted."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser)
    parser.add_argument("--port", type=int, help="the port; the first free one from 8501 on")
    parser.add_argument("--headless", action="store_true", help="don't open a browser")
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="the IP address to listen on; another than loopback opens the app to other computers",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help="a further host name by which browsers reach the app (repeatable)",
    )
    parser.add_argument(
        "--deployment",
        metavar="FILE",
        help="serve a team: sign-in, roles and budgets as this file says (docs/deploy.md)",
    )
    parser.set_defaults(call=launch)


def launch(args: argparse.Namespace, out: Output) -> int:
    """Start the dashboard and stay until it's closed."""
    found = args.deployment or deployment_file()
    if found:
        return _launch_for_team(Path(found), args, out)
    from atom.ui.shell.launch import AppAddress
    from atom.ui.shell.launch import launch as start

    def say(opened: AppAddress) -> None:
        if opened.beyond:
            out.problem(_BEYOND)
        out.result(
            asdict(opened),
            [
                "Atomscope is open at",
                "",
                f"  {opened.enter}",
                "",
                "The address lets in whoever has it. Ctrl+C closes the app.",
            ],
        )

    start(
        settings_of(args),
        say=say,
        port=args.port,
        headless=args.headless,
        address=args.address,
        names=args.name,
    )
    return 0


def _launch_for_team(path: Path, args: argparse.Namespace, out: Output) -> int:
    """Start the dashboard for a team, as a deployment's file says."""
    if args.address != "127.0.0.1" or args.name or args.store:
        raise UsageError(
            "in a deployment its file says address, names and store: leave --address, --name and "
            "--store"
        )
    from atom.engine.team import team_store
    from atom.ui.shell.launch import AppAddress, install_policy, launch_for_team

    name_deployment(path)
    deployment = install_policy()
    assert deployment is not None
    try:
        team_store()
    except AwayError as away:  # the app waits for it, as it does when it goes away later
        out.problem(away.message)
    settings = replace(settings_of(args), store=deployment.secret(deployment.store))

    def say(opened: AppAddress) -> None:
        words = ["Atomscope is open to its team at", "", f"  {opened.address}"]
        out.result(asdict(opened), words)

    launch_for_team(settings, deployment, say=say, port=args.port)
    return 0
