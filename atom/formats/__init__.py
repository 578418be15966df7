"""Foreign formats: files in, records out. Pure: no store, no network."""

from atom.formats.base import (
    Batch,
    FacetCount,
    Format,
    ImportFile,
    ImportReport,
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
    "PictureData",
    "PictureFinder",
    "Preview",
    "ReadOptions",
    "Reading",
    "candidate_id",
    "detect",
    "dry_run",
    "preview",
    "read",
    "read_column_map",
]
