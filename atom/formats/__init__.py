"""Foreign formats: files in, records out. Pure: no store, no network."""

from atom.formats.base import ImportFile, Reading
from atom.formats.column_map import ColumnMap, read_column_map
from atom.formats.intake.account import Account, account_of
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import STOOD_TWICE, Owner
from atom.formats.intake.report import ImportReport
from atom.formats.pictures import (
    FolderPictures,
    MemoryPictures,
    NoPictures,
    PictureFinder,
)
from atom.formats.registry import FORMATS, ImportPreview, detect, dry_run, preview, read

__all__ = [
    "FORMATS",
    "STOOD_TWICE",
    "Account",
    "Batch",
    "ColumnMap",
    "FolderPictures",
    "ImportFile",
    "ImportPreview",
    "ImportReport",
    "MemoryPictures",
    "NoPictures",
    "Owner",
    "PictureFinder",
    "Reading",
    "account_of",
    "detect",
    "dry_run",
    "preview",
    "read",
    "read_column_map",
]
