"""Which commands there are, read off their parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from atom.cli.main import NOUNS


def every_command() -> set[str]:
    """Return all commands: noun, and verb and step where it has them."""
    found: set[str] = set()
    for noun, (module, _) in NOUNS.items():
        parser = argparse.ArgumentParser()
        import_module(f"atom.cli.{module}").add(parser)
        found |= set(_below(parser, noun))
    return found


def _below(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not inner:
        yield name
    for choice, child in (inner[0].choices if inner else {}).items():
        yield from _below(child, f"{name} {choice}")
