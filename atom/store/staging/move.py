"""The move of staged records into their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from atom.records import (
    Annotation,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Import,
    Outcome,
    Preference,
    Record,
    Response,
    Sample,
    Study,
    Tag,
    Verdict,
)
from atom.store.imports.changed import forget_changed
from atom.store.imports.judgments import CriteriaImport, stand
from atom.store.imports.undo import ALSO
from atom.store.schema import KINDS
from atom.store.stage import RowStage
from atom.store.staging.conflicts import CHANGES, SAME_GROUP, UNTOLD, Conflicts
from atom.store.staging.move_result import ConflictFoundError, MoveResult, RecordConflict
from atom.store.staging.places import PlaceNumbers
from atom.store.staging.transaction import Transaction
from atom.store.store import Writer

_LINKED: Mapping[type[Record], str] = {
    Sample: "sample",
    Response: "response",
    Candidate: "candidate",
    Preference: "preference",
    Annotation: "annotation",
    Verdict: "verdict",
    Criterion: "criterion",
    CriteriaSet: "criteria",
    Checkpoint: "mark",
}
"""Kinds that an import is noted to have brought; outcomes have a rule of their own."""
_BY_KEY = (KINDS[Outcome], KINDS[Tag])
"""Kinds of small rows, put in by their keys: so each page of a key's index is written once.

Questions and answers keep the order of the file: to sort their texts would cost more.
"""


class StagedMove:
    """The transaction that moves staged records into their tables."""

    def __init__(
        self, writer: Writer, stages: Mapping[type[Record], RowStage], study: Study, record: Import
    ) -> None:
        self.writer = writer
        self._on = Transaction(writer, stages, study, record)
        self._conflicts = Conflicts(self._on)
        self._begin()

    def _begin(self) -> None:
        self._moved: dict[type[Record], int] = {}
        self._places = PlaceNumbers(self._on)
        self._n_placed = 0
        self._new: Counter[type[Record]] = Counter()
        self._known: Counter[type[Record]] = Counter()
        self._on.writer.put([self._on.study])

    @property
    def has_begun(self) -> bool:
        """Whether anything was moved."""
        return bool(self._moved)

    def go_on(self) -> bool:
        """Move what was staged since the last time, if the store held nothing of it before."""
        self._show(self._moved)
        if any(map(self._was_met, CHANGES)):
            return False
        self._bring(self._find_known([kind for kind in self._on.stages if kind not in CHANGES]))
        self._moved = {kind: stage.rows for kind, stage in self._on.stages.items()}
        return True

    def take_out(self) -> None:
        """Take out again what was moved."""
        for table, last in self._on.before.items():
            self._on.run(f"DELETE FROM {table} WHERE rowid > :last", last=last)
        links = "DELETE FROM import_links WHERE import_id = :import"
        self._on.run(links, **{"import": self._on.record.id})
        self._moved = {}

    def end(self, *, replace: bool, judge: str | None, tree: str | None) -> MoveResult:
        """Move all that isn't moved yet, and say what came of it."""
        found: tuple[RecordConflict, ...] = ()
        gone: list[Import] = []
        self._show({})
        if not self.has_begun:
            self._begin()
            found, gone = self._bring_together(replace=replace)
        stood = self._stand(judge, tree)
        # A question that another study brought is new to this one.
        new, known = dict(self._new), dict(self._known)
        asked = new.get(Sample, 0) + known.get(Sample, 0)
        known[Sample], new[Sample] = asked - self._n_placed, self._n_placed
        return MoveResult(
            found=found,
            new=new,
            known=known,
            taken_back=tuple(gone),
            reworded=self._conflicts.reworded,
            stood=stood,
        )

    def _show(self, since: Mapping[type[Record], int]) -> None:
        for kind, stage in self._on.stages.items():
            stage.show(since.get(kind, 0))

    def _bring_together(self, *, replace: bool) -> tuple[tuple[RecordConflict, ...], list[Import]]:
        """Move all of it, in place of other contents where that is wanted."""
        known = self._find_known(self._on.stages)
        found = self._conflicts.find(known)
        gone: list[Import] = []
        if found:
            others = self._conflicts.other_studies()
            if others or not (replace or not self._conflicts.are_placed()):
                raise ConflictFoundError(MoveResult(found=found, elsewhere=others))
            old_places = self._places.keep()
            gone = self._conflicts.take_back()
            known = self._find_known(self._on.stages)
            if self._conflicts.find(known):
                forget_changed(self._on.writer, self._on.study.id)
                known = self._find_known(self._on.stages)
        self._bring(known)
        if gone:
            self._places.restore(old_places)
        return found, gone

    def _bring(self, known: Mapping[type[Record], int]) -> None:
        """Move what the views show into its tables."""
        self._n_placed += self._places.give(known)
        for kind, stage in self._on.stages.items():
            self._link(kind, stage, known.get(kind, 0))
            self._new[kind] += self._insert(stage)
        self._known.update(known)
        self._tell(known)

    def _stand(self, judge: str | None, tree: str | None) -> CriteriaImport:
        """Let criteria that came in stand for the study's samples."""
        stage = self._on.stages.get(CriteriaSet)
        if stage is None:
            return CriteriaImport()
        stood = stand(
            self._on.writer,
            self._on.study,
            stage.name,
            judge=judge,
            tree=tree,
            created=self._on.record.created,
        )
        self._on.writer.link_import(self._on.record.id, (("criteria", name) for name in stood.made))
        return stood

    def _was_met(self, kind: type[Record]) -> bool:
        """Whether the store held any record of a kind, or of its group, that is staged."""
        table = KINDS[kind].table.name
        stage = self._on.stages.get(kind)
        if stage is None or not self._on.before[table]:
            return False
        on = stage.same_key("s", "t") if kind is not Tag else SAME_GROUP
        return bool(
            self._on.count(
                f"SELECT EXISTS (SELECT 1 FROM {stage.name} s JOIN {table} t ON {on} "
                f"{self._on.was_there(table, 't')})"
            )
        )

    def _find_known(self, kinds: Collection[type[Record]]) -> dict[type[Record], int]:
        """Note the keys that the store held before, and count them."""
        found = {}
        for kind in kinds:
            stage = self._on.stages[kind]
            if self._on.before.get(stage.kind.table.name) == 0:
                continue
            keys = ", ".join(f's."{name}" AS "{name}"' for name in stage.kind.key)
            there = f"known_{stage.kind.table.name}"
            self._on.run(f"DROP TABLE IF EXISTS {there}")
            self._on.run(
                f"CREATE TEMPORARY TABLE {there} AS SELECT DISTINCT {keys} FROM {stage.name} s "
                f"JOIN {stage.kind.table.name} t ON {stage.same_key('s', 't')} "
                f"{self._on.was_there(stage.kind.table.name, 't')}"
            )
            found[kind] = self._on.count(f"SELECT count(*) FROM {there}")
        return found

    def _link(self, kind: type[Record], stage: RowStage, n_known: int) -> None:
        """Note what this import brought first, and what another one had brought before."""
        if kind is Outcome:
            self._on.run(
                f"{self._on.put} import_links (import_id, kind, record_id) SELECT "
                f"CAST(:import AS TEXT), 'outcome', response_id FROM {stage.name} "
                "WHERE how = 'imported' ORDER BY response_id ON CONFLICT DO NOTHING",
                **{"import": self._on.record.id},
            )
            return
        word = _LINKED.get(kind)
        if word is None:
            return
        key, table = stage.kind.key[0], stage.kind.table.name
        new = f'"{key}" NOT IN (SELECT "{key}" FROM known_{table})' if n_known else "true"
        self._on.run(
            f"{self._on.put} import_links (import_id, kind, record_id) SELECT "
            f"CAST(:import AS TEXT), '{word}', \"{key}\" FROM {stage.name} WHERE {new} "
            f'ORDER BY "{key}" ON CONFLICT DO NOTHING',
            **{"import": self._on.record.id},
        )
        if n_known:
            self._on.run(
                f"{self._on.put} import_links (import_id, kind, record_id) SELECT DISTINCT "
                f"CAST(:import AS TEXT), '{ALSO}', '{word}:' || \"{key}\" FROM known_{table}",
                **{"import": self._on.record.id},
            )

    def _insert(self, stage: RowStage) -> int:
        # With the checksum that was staged: a trigger would write each row twice.
        names = stage.columns if stage.sum is None else (*stage.columns, stage.sum)
        columns = ", ".join(f'"{name}"' for name in names)
        order = f"ORDER BY {stage.order}" if stage.kind in _BY_KEY else ""
        return self._on.run_summed(
            stage.kind,
            f"{self._on.put} {stage.kind.table.name} ({columns}) SELECT {columns} "
            f"FROM {stage.name} WHERE true {order} ON CONFLICT DO NOTHING",
            is_summed=stage.is_summed,
        ).rowcount

    def _tell(self, known: Mapping[type[Record], int]) -> None:
        """Take texts that come only now: of answers known from votes alone, and of questions."""
        if known.get(Response):
            self._on.run(
                "UPDATE responses SET text = s.text, detail = s.detail, thoughts = s.thoughts, "
                "cause = s.cause FROM staged_responses s WHERE s.id = responses.id "
                "AND s.text <> '' AND responses.text = '' AND responses.state = 'scored' "
                "AND responses.prompt = 'imported'"
            )
        if known.get(Sample) and Sample in self._on.stages:
            untold = " OR ".join(f"samples.question LIKE '{text}'" for text in UNTOLD)
            self._on.run(
                "UPDATE samples SET question = s.question FROM staged_samples s "
                f"WHERE s.id = samples.id AND ({untold})"
            )
            self._on.run(
                "UPDATE samples SET reference = s.reference FROM staged_samples s WHERE "
                "s.id = samples.id AND samples.reference IS NULL AND s.reference IS NOT NULL"
            )
            self._on.run(
                "UPDATE samples SET choices = s.choices, answer_type = s.answer_type "
                "FROM staged_samples s WHERE s.id = samples.id AND samples.choices = '[]' "
                "AND s.choices <> '[]'"
            )
