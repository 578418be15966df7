"""`app`: opens the dashboard."""

from __future__ import annotations

import argparse

from atom.cli.options import add_common, settings_of
from atom.cli.output import Output


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser)
    parser.add_argument("--port", type=int, help="the port; the first free one from 8501 on")
    parser.add_argument("--headless", action="store_true", help="don't open a browser")
    parser.set_defaults(call=launch)


def launch(args: argparse.Namespace, _out: Output) -> int:
    """Start the dashboard and stay until it's closed."""
    from atom.ui.launch import launch as start

    start(settings_of(args), port=args.port, headless=args.headless)
    return 0
