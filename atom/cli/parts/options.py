"""Options that every command takes, and what they mean."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import get_args

from atom.analysis.readings import Reading
from atom.errors import UsageError
from atom.settings import Settings, load_settings


def common() -> argparse.ArgumentParser:
    """Make the parent parser with `--store`, `--endpoints` and `--json`."""
    parser = argparse.ArgumentParser(add_help=False)
    add_common(parser)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare `--store`, `--endpoints` and `--json`."""
    parser.add_argument(
        "--store", metavar="PLACE", help="folder or postgresql:// URL (ATOM_STORE, else workspace/)"
    )
    parser.add_argument(
        "--endpoints", metavar="FILE", help="endpoints file (ATOM_ENDPOINTS, else in the store)"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Declare `--reading`."""
    parser.add_argument(
        "--reading", choices=get_args(Reading), default="strict",
        help="means over all steps (strict), or over those that an answer speaks of (said)",
    )  # fmt: skip


def settings_of(args: argparse.Namespace) -> Settings:
    """Return the settings that the options and the environment give."""
    settings = load_settings(store=args.store)
    if args.endpoints:
        settings = replace(settings, endpoints=Path(args.endpoints))
    return settings


def names_of(text: str | None) -> tuple[str, ...]:
    """Split a list of names at commas.

    Raises:
        UsageError: a name stands there twice.
    """
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if len(set(names)) < len(names):
        raise UsageError(f"{text!r} names something twice")
    return names
