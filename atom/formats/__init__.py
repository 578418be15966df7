"""Foreign formats: files in, records out. Pure: no store, no network."""

from atom.formats.account import Account, Tally, account_of
from atom.formats.base import (
    STOOD_TWICE,
    Batch,
    FacetCount,
    Format,
    ImportFile,
    ImportReport,
    Owner,
    Reading,
    ReadOptions,
    candidate_id,
)
from atom.formats.column_map import ColumnMap, read_column_map
from atom.formats.pictures import (
    FolderPictures,
    Look,
    MemoryPictures,
    NoPictures,
    PictureData,
    PictureFinder,
)
from atom.formats.registry import FORMATS, Preview, detect, dry_run, preview, read

__all__ = [
    "Account",
    "Batch",
    "ColumnMap",
    "FORMATS",
    "FacetCount",
    "FolderPictures",
    "Format",
    "ImportFile",
    "ImportReport",
    "Look",
    "MemoryPictures",
    "NoPictures",
    "Owner",
    "PictureData",
    "PictureFinder",
    "Preview",
    "ReadOptions",
    "Reading",
    "STOOD_TWICE",
    "Tally",
    "account_of",
    "candidate_id",
    "detect",
    "dry_run",
    "preview",
    "read",
    "read_column_map",
]
