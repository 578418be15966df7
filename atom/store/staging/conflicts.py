"""Conflicts: staged records whose content isn't what the store holds under their ids."""

from __future__ import annotations

from collections.abc import Mapping

from atom.records import (
    Annotation,
    Checkpoint,
    Import,
    Outcome,
    Preference,
    Record,
    Response,
    Sample,
    Tag,
    Verdict,
)
from atom.store.imports.undo import ALSO, take_back
from atom.store.schema import KINDS
from atom.store.stage import RowStage
from atom.store.staging.move_result import RecordConflict
from atom.store.staging.transaction import Transaction

_MOST_NAMED = 5
_DIGITS = 24
"""Of a record's id; a pair's subject is its two answers' ids."""
_SAME_WORDS = 0.5
"""The share of words that two wordings of one question have in common, at least."""


UNTOLD = (
    "%(the text of this question is in none of the files)",
    "%(its question is not in the log)",
)
"""Texts that stand for a question's text, which another file may tell."""


def _told(column: str) -> str:
    return " AND ".join(f"{column} NOT LIKE '{text}'" for text in UNTOLD)


SAME_GROUP = (
    "s.subject = t.subject AND s.subject_id = t.subject_id AND s.source = t.source "
    "AND s.facet = t.facet"
)
_OF_RESPONSE = "(SELECT sample_id FROM responses r WHERE r.id = s.response_id)"
CHANGES: Mapping[type[Record], tuple[str, str, str]] = {
    # kind: what it is called, when it changed (s = staged, t = there), which question it is of.
    Sample: (
        "questions",
        f"(s.question <> t.question AND {_told('s.question')} AND {_told('t.question')}) "
        "OR (s.choices <> t.choices AND s.choices <> '[]' AND t.choices <> '[]') "
        "OR (s.reference <> t.reference)",
        "s.id",
    ),
    Response: (
        "answers",
        "t.prompt = 'imported' AND ((s.text <> t.text AND NOT (s.text = '' AND s.state = 'scored') "
        "AND NOT (t.text = '' AND t.state = 'scored')) OR (s.state <> t.state AND s.text = t.text "
        "AND s.text <> ''))",
        "s.sample_id",
    ),
    Outcome: (
        "verdicts",
        "s.how = 'imported' AND (s.state <> t.state OR (s.value IS NULL) <> (t.value IS NULL) "
        "OR s.value <> t.value)",
        _OF_RESPONSE,
    ),
    Tag: (
        "labels of questions and answers",
        "NOT EXISTS (SELECT 1 FROM tags u WHERE u.subject = s.subject AND u.subject_id = "
        "s.subject_id AND u.source = s.source AND u.facet = s.facet AND u.value = s.value)",
        "CASE WHEN s.subject = 'sample' THEN s.subject_id ELSE "
        "(SELECT sample_id FROM responses r WHERE r.id = s.subject_id) END",
    ),
    Preference: (
        "votes",
        "s.state <> t.state OR (s.verdict IS NULL) <> (t.verdict IS NULL) "
        "OR s.verdict <> t.verdict OR s.strength <> t.strength",
        "s.sample_id",
    ),
    Annotation: (
        "people's labels",
        "(s.value IS NULL) <> (t.value IS NULL) OR s.value <> t.value OR s.label <> t.label "
        "OR s.ranks <> t.ranks",
        # An answer's question, or that of the first of a pair's; else the subject is one itself.
        "coalesce((SELECT sample_id FROM responses r WHERE r.id = substr(s.subject_id, 1, "
        f"{_DIGITS})), s.subject_id)",
    ),
    Verdict: (
        "judge's marks",
        "s.state <> t.state OR (s.value IS NULL) <> (t.value IS NULL) OR s.value <> t.value "
        "OR s.label <> t.label",
        "s.subject_id",
    ),
    Checkpoint: (
        "marks on criteria",
        "s.state <> t.state OR (s.value IS NULL) <> (t.value IS NULL) OR s.value <> t.value",
        "(SELECT sample_id FROM criteria c WHERE c.id = s.criterion_id)",
    ),
}


class Conflicts:
    """Finds conflicts, and takes back the imports that brought what is there."""

    def __init__(self, on: Transaction) -> None:
        self._on = on
        self.reworded = 0

    def find(self, known: Mapping[type[Record], int]) -> tuple[RecordConflict, ...]:
        """Find records whose content isn't what the store holds under their ids.

        Leaves their keys in `changed_<table>` and their questions in `changed_in`.
        """
        self._on.run("DROP TABLE IF EXISTS changed_in")
        self._on.run("CREATE TEMPORARY TABLE changed_in (sample_id TEXT, what TEXT, name TEXT)")
        for kind, (what, condition, question) in CHANGES.items():
            stage = self._on.stages.get(kind)
            table = KINDS[kind].table.name
            self._on.run(f"DROP TABLE IF EXISTS changed_{table}")
            keys = KINDS[kind].key
            if stage is None or not (known.get(kind) or kind is Tag):
                columns = ", ".join(f'"{key}" TEXT' for key in keys)
                self._on.run(f"CREATE TEMPORARY TABLE changed_{table} ({columns})")
                continue
            listed = ", ".join(f's."{key}" AS "{key}"' for key in keys)
            on = stage.same_key("s", "t") if kind is not Tag else SAME_GROUP
            self._on.run(
                f"CREATE TEMPORARY TABLE changed_{table} AS SELECT DISTINCT {listed} "
                f"FROM {stage.name} s JOIN {table} t ON {on} {self._on.was_there(table, 't')} "
                f"WHERE {condition}"
            )
            if kind is Sample:
                self._forget_reworded(stage)
            same = " AND ".join(f'c."{key}" = s."{key}"' for key in keys)
            self._on.run(
                f"INSERT INTO changed_in SELECT DISTINCT {question}, CAST(:what AS TEXT), NULL "
                f"FROM changed_{table} c JOIN {stage.name} s ON {same}",
                what=what,
            )
        if not self._on.count("SELECT count(*) FROM changed_in"):
            return ()
        self._on.run(
            "UPDATE changed_in SET name = (SELECT coalesce(source_id, question) FROM samples "
            "WHERE samples.id = changed_in.sample_id)"
        )
        return tuple(
            self._conflict(what)
            for what in dict.fromkeys(what for what, _, _ in CHANGES.values())
            if self._on.count("SELECT count(*) FROM changed_in WHERE what = :what", what=what)
        )

    def _forget_reworded(self, stage: RowStage) -> None:
        """Take questions that are only worded otherwise out of those that changed.

        Two files of one benchmark often differ in a word; choices and answer must agree.
        """
        rows = self._on.run(
            "SELECT s.id AS id, s.question AS one, t.question AS other FROM changed_samples c "
            f"JOIN {stage.name} s ON s.id = c.id JOIN samples t ON t.id = c.id "
            "WHERE (s.choices = t.choices OR s.choices = '[]' OR t.choices = '[]') "
            "AND (s.reference IS NULL OR t.reference IS NULL OR s.reference = t.reference)"
        ).mappings()
        alike = [row["id"] for row in rows.all() if _are_alike(row["one"], row["other"])]
        for name in alike:
            self._on.run("DELETE FROM changed_samples WHERE id = :id", id=name)
        self.reworded = len(alike)

    def _conflict(self, what: str) -> RecordConflict:
        names = self._on.run(
            "SELECT DISTINCT name FROM changed_in WHERE what = :what ORDER BY name LIMIT :most",
            what=what,
            most=_MOST_NAMED,
        ).scalars()
        table = next(
            KINDS[kind].table.name for kind, (name, _, _) in CHANGES.items() if name == what
        )
        n = self._on.count(f"SELECT count(*) FROM changed_{table}")
        return RecordConflict(what=what, n=n, names=tuple(str(name)[:60] for name in names))

    def other_studies(self) -> tuple[str, ...]:
        """Return the names of other studies that hold what changed."""
        names = self._on.run(
            "SELECT DISTINCT studies.name FROM studies JOIN study_samples p "
            "ON p.study_id = studies.id WHERE p.study_id <> :study "
            "AND p.sample_id IN (SELECT sample_id FROM changed_in) ORDER BY studies.name",
            study=self._on.study.id,
        )
        return tuple(map(str, names.scalars()))

    def are_placed(self) -> bool:
        """Say whether the study holds any question of what changed."""
        return bool(
            self._on.count(
                "SELECT count(*) FROM study_samples WHERE study_id = :study "
                "AND sample_id IN (SELECT sample_id FROM changed_in)",
                study=self._on.study.id,
            )
        )

    def take_back(self) -> list[Import]:
        """Take back the study's imports that brought what changed."""
        brought = {
            str(name)
            for kind, word in ((Sample, "sample"), (Response, "response"), (Outcome, "outcome"),
                               (Preference, "preference"), (Annotation, "annotation"),
                               (Verdict, "verdict"), (Checkpoint, "mark"))
            for name in self._on.run(
                "SELECT DISTINCT l.import_id FROM import_links l JOIN imports i "
                "ON i.id = l.import_id WHERE i.study_id = :study AND ("
                f"(l.kind = '{word}' AND l.record_id IN (SELECT \"{KINDS[kind].key[0]}\" "
                f"FROM changed_{KINDS[kind].table.name})) OR (l.kind = '{ALSO}' AND l.record_id IN "
                f"(SELECT '{word}:' || \"{KINDS[kind].key[0]}\" "
                f"FROM changed_{KINDS[kind].table.name})))",
                study=self._on.study.id,
            ).scalars()
        }  # fmt: skip
        brought |= {
            str(name)
            for name in self._on.run(
                "SELECT DISTINCT l.import_id FROM import_links l JOIN imports i "
                "ON i.id = l.import_id JOIN changed_tags c ON c.subject = l.kind "
                "AND c.subject_id = l.record_id WHERE i.study_id = :study",
                study=self._on.study.id,
            ).scalars()
        }
        return [take_back(self._on.writer, name).record for name in sorted(brought)]


def _are_alike(one: str, other: str) -> bool:
    """Whether two wordings share at least half of their words."""
    here, there = set(one.casefold().split()), set(other.casefold().split())
    return len(here & there) >= _SAME_WORDS * len(here | there)
