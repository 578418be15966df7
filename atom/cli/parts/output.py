"""What commands write: results to standard output, progress and problems to standard error."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from pydantic import BaseModel

from atom.display.shown import in_json, on_terminal
from atom.display.writers import laid_out

_PLAIN_EVERY = 10.0
"""Seconds between two progress lines where lines can't be rewritten."""


class Output:
    """Writes a command's results.

    Args:
        as_json: write one JSON document instead of lines for people.
        out: where results go.
        err: where progress and problems go.
    """

    def __init__(
        self, *, as_json: bool, out: TextIO | None = None, err: TextIO | None = None
    ) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def result(self, data: object, lines: Sequence[str]) -> None:
        """Write a result.

        Args:
            data: JSON-able values, or a record; written with `--json`.
            lines: the same in words.
        """
        if self.as_json:
            plain = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
            self._out.write(in_json(json.dumps(plain, ensure_ascii=False, indent=2)) + "\n")
        else:
            self._out.write("".join(f"{on_terminal(line)}\n" for line in lines))
        self._out.flush()

    def problem(self, message: str) -> None:
        """Write what went wrong."""
        self._err.write(f"{on_terminal(message)}\n")
        self._err.flush()

    def ask(self, question: str) -> bool:
        """Ask for a yes, where somebody can answer; no otherwise."""
        if not sys.stdin.isatty():
            return False
        self._err.write(f"{on_terminal(question)} [y/N] ")
        self._err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def progress(self) -> ProgressLine:
        """Make a progress line on standard error."""
        return ProgressLine(self._err, quiet=self.as_json)


class ProgressLine:
    """One line that says how far something is: rewritten on a terminal, repeated elsewhere.

    Args:
        stream: where it goes.
        quiet: nothing is written unless the stream is a terminal.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._quiet = quiet and not self._live
        self._last = -_PLAIN_EVERY
        self._shown = ""
        self._held = ""

    def show(self, text: str, *, now: float | None = None) -> None:
        """Show a text in place of the one before."""
        now = time.monotonic() if now is None else now
        text = on_terminal(text)
        if self._quiet or text == self._shown:
            return
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r" + text[:width].ljust(min(len(self._shown), width)))
        elif now - self._last >= _PLAIN_EVERY:
            self._stream.write(text + "\n")
            self._last = now
        else:
            self._held = text
            return
        self._shown, self._held = text, ""
        self._stream.flush()

    def end(self) -> None:
        """Leave the line as it is, or show the last text held back, and go to the next."""
        if self._live and self._shown:
            self._stream.write("\n")
            self._stream.flush()
        elif self._held:
            self._stream.write(self._held + "\n")
            self._stream.flush()
            self._held = ""


def bar(done: int, total: int, width: int = 10) -> str:
    """Draw a bar: `[###.......]`."""
    full = width if total <= 0 else min(width, width * done // total)
    return f"[{'#' * full}{'.' * (width - full)}]"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out rows in columns, numbers to the right."""
    right = [bool(rows) and all(_is_number(row[n]) for row in rows) for n in range(len(head))]
    return laid_out(head, [[_cell(value) for value in row] for row in rows], right=right)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)
