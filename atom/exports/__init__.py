"""Studies as files for others: an exact archive, tables, other tools' forms, one HTML page."""

from atom.exports.archive import Archived, write_archive
from atom.exports.archive_form import ArchiveManifest
from atom.exports.archive_read import (
    ArchiveImported,
    import_archive,
    is_archive,
    read_manifest,
)
from atom.exports.base import Exporter, ExportOptions, Source, Written
from atom.exports.registry import EXPORTERS, find_exporter

__all__ = [
    "ArchiveImported",
    "ArchiveManifest",
    "Archived",
    "EXPORTERS",
    "ExportOptions",
    "Exporter",
    "Source",
    "Written",
    "find_exporter",
    "import_archive",
    "is_archive",
    "read_manifest",
    "write_archive",
]
