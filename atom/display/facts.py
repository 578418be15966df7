"""What is said of one thing, for every reader: a sentence, what belongs beside it, a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atom.display.table import Table


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is said of one thing.

    Attributes:
        head: the sentence that matters.
        more: sentences beside it.
        table: its parts.
    """

    head: str
    more: tuple[str, ...] = ()
    table: Table[Any] | None = None
