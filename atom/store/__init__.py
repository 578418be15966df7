"""The store: schema, migrations, records in SQLite or PostgreSQL, pictures beside them."""

from atom.store.check import Report, check_store
from atom.store.schema import table
from atom.store.store import Store, Writer
from atom.store.studies import (
    StudyCounts,
    add_to_study,
    copy_study,
    count_study,
    delete_study,
    find_study,
    list_studies,
    rename_study,
    study_candidates,
    study_places,
)

__all__ = [
    "Report",
    "Store",
    "StudyCounts",
    "Writer",
    "add_to_study",
    "check_store",
    "copy_study",
    "count_study",
    "delete_study",
    "find_study",
    "list_studies",
    "rename_study",
    "study_candidates",
    "study_places",
    "table",
]
