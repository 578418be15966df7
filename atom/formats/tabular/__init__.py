"""The generic table, read with a column map."""

from atom.formats.tabular.plan import NAME, read, sniff

__all__ = ["NAME", "read", "sniff"]
