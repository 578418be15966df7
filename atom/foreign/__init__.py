"""What strangers give: their files, opened with care; native parsers, in processes of their own."""

from atom.foreign.files import (
    files_in,
    open_foreign,
    read_foreign,
    read_foreign_text,
)

__all__ = ["files_in", "open_foreign", "read_foreign", "read_foreign_text"]
