"""The store: schema, migrations, records in SQLite or PostgreSQL, pictures beside them."""

from atom.store.check import check_store
from atom.store.imports.undo import ALSO, undo_import
from atom.store.reading.clusters import asks_again
from atom.store.reading.scales import scales_of
from atom.store.schema import table
from atom.store.staging.gather import Staging, names_of_sets
from atom.store.staging.move_result import ConflictFoundError, MoveResult, RecordConflict
from atom.store.standing.members import study_candidates, study_places
from atom.store.store import Store, Writer
from atom.store.studies import (
    change_consent,
    copy_sets,
    copy_study,
    count_study,
    delete_study,
    find_study,
    list_studies,
    rename_study,
    set_sampling,
)
from atom.store.trees import (
    TreeDraft,
    add_version,
    begin_history,
    carried,
    find_version,
    leaf_mappings,
    load_tree,
    study_criteria,
    tree_log,
    tree_record,
    tree_versions,
    use_version,
)

__all__ = [
    "ALSO",
    "ConflictFoundError",
    "MoveResult",
    "RecordConflict",
    "Staging",
    "Store",
    "TreeDraft",
    "Writer",
    "add_version",
    "asks_again",
    "begin_history",
    "carried",
    "change_consent",
    "check_store",
    "copy_sets",
    "copy_study",
    "count_study",
    "delete_study",
    "find_study",
    "find_version",
    "leaf_mappings",
    "list_studies",
    "load_tree",
    "names_of_sets",
    "rename_study",
    "scales_of",
    "set_sampling",
    "study_candidates",
    "study_criteria",
    "study_places",
    "table",
    "tree_log",
    "tree_record",
    "tree_versions",
    "undo_import",
    "use_version",
]
