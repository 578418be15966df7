"""`app`: opens the dashboard."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.cli.parts.options import add_common, settings_of
from atom.cli.parts.output import Output

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
    parser.set_defaults(call=launch)


def launch(args: argparse.Namespace, out: Output) -> int:
    """Start the dashboard and stay until it's closed."""
    from atom.ui.shell.launch import Opened
    from atom.ui.shell.launch import launch as start

    def say(opened: Opened) -> None:
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
