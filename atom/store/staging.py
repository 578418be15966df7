"""An import on its way in: gathered in tables of its own, then moved into the store at once.

What is read goes into temporary tables first, which no reader sees and no writer waits for. One
transaction moves it, which ends when everything is there and counted: so a process that is killed
at any moment leaves nothing, and what is new is found set by set instead of row by row
(design/023). It begins when all was read; where another process reads (`move_on`), with the first
rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from atom.records import (
    Annotation,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Import,
    Judge,
    MarkScale,
    Outcome,
    Picture,
    Preference,
    Record,
    Response,
    Sample,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
    Verdict,
)
from atom.records import Mapping as Mapped
from atom.records.rows import Columns, Row, Rows, row_of
from atom.store import sums
from atom.store.imports.changed import forget_changed
from atom.store.imports.judgments import Stood, stand
from atom.store.imports.undo import ALSO, take_back
from atom.store.schema import KINDS, Kind
from atom.store.stage import Stage
from atom.store.store import Store, Writer

CACHE_KILOBYTES = 32_768
TEMPORARY_PAGE = 16_384
"""Bytes of a page of what is staged, which is written and read from one end to the other."""
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
_UNTOLD = (
    "%(the text of this question is in none of the files)",
    "%(its question is not in the log)",
)
"""Texts that stand for a question's text, which another file may tell."""
_ORDER: tuple[type[Record], ...] = (
    Picture, Candidate, Sample, Response, Outcome, Tag, Preference, Annotation, Verdict,
    Judge, MarkScale, TreeRecord, Criterion, CriteriaSet, Mapped, Checkpoint,
)  # fmt: skip
_BY_KEY = (KINDS[Outcome], KINDS[Tag])
"""Kinds of small rows, put in by their keys: so each page of a key's index is written once.

Questions and answers keep the order of the file: to sort their texts would cost more.
"""
_MORE = 1.25
"""How much more than before has come in when more is moved: so each page of an index that keys fall
into at random is written a few times, however long the import."""
_MOST_NAMED = 5
_PAGE = 1000
_DIGITS = 24
"""Of a record's id; a pair's subject is its two answers' ids."""
_ONE = {
    "questions": "question",
    "answers": "answer",
    "verdicts": "verdict",
    "labels of questions and answers": "label of a question or an answer",
    "votes": "vote",
    "people's labels": "person's label",
    "judge's marks": "judge's mark",
    "marks on criteria": "mark on a criterion",
}
_SAME_WORDS = 0.5
"""The share of words that two wordings of one question have in common, at least."""


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Records of one kind whose content isn't what the store holds under the same id."""

    what: str
    """What changed, in the plural: `answers`."""
    n: int
    names: tuple[str, ...]
    """The first of their questions, by their ids in the source."""

    def __str__(self) -> str:
        more = ", ..." if self.n > len(self.names) else ""
        what = _ONE.get(self.what, self.what) if self.n == 1 else self.what
        return f"{self.n:,} {what} ({', '.join(map(repr, self.names))}{more})"


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What came of moving an import into the store.

    Args:
        found: conflicts; where they stand in the way nothing was moved.
        elsewhere: names of other studies that hold what would have to change.
        new: how many records of each kind are new.
        known: how many were there, unchanged.
        taken_back: imports that went, because this one replaces them.
        reworded: questions that these files word otherwise; the wording that is there stays.
        stood: what came of criteria that were brought.
    """

    found: tuple[Conflict, ...] = ()
    elsewhere: tuple[str, ...] = ()
    new: Mapping[type[Record], int] = field(default_factory=dict)
    known: Mapping[type[Record], int] = field(default_factory=dict)
    taken_back: tuple[Import, ...] = ()
    reworded: int = 0
    stood: Stood = field(default_factory=Stood)


class _LeftError(Exception):
    """Ends the transaction of an import that breaks off."""


class ConflictFoundError(Exception):
    """Ends the transaction: what is there stays as it is."""

    def __init__(self, moved: Moved) -> None:
        super().__init__("conflict")
        self.moved = moved


class Staging:
    """Gathers an import's records; use it in a `with` block.

    Args:
        store: where they go in the end.

    Raises:
        ReadOnlyError: the store is sealed.
    """

    def __init__(self, store: Store) -> None:
        store.must_be_open()
        self._store = store
        self._stages: dict[type[Record], Stage] = {}
        self._all_decided = True
        self._move: _Move | None = None
        self._n_moved = 0
        self._is_together = False
        self._transaction = ExitStack()

    def __enter__(self) -> Staging:
        self._connection = self._store.connect_apart()
        if self._is_sqlite:
            self._connection.exec_driver_sql(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
            self._connection.exec_driver_sql(f"PRAGMA temp.page_size = {TEMPORARY_PAGE}")
            self._connection.exec_driver_sql("PRAGMA temp.journal_mode = OFF")
            self._connection.commit()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._transaction.__exit__(_LeftError, _LeftError(), None)
        finally:
            # The connection goes for good: its temporary tables with it.
            self._connection.invalidate()
            self._connection.close()

    @property
    def is_summed(self) -> bool:
        """Whether the store keeps checksums of rows."""
        return self._is_sqlite

    @property
    def _is_sqlite(self) -> bool:
        return self._connection.dialect.name == "sqlite"

    def add(
        self,
        records: Iterable[Record],
        rows: Iterable[Rows[Any]] = (),
        ready: Iterable[Columns] = (),
    ) -> None:
        """Take records in; the order of those of one kind is kept.

        Args:
            records: single ones.
            rows: records that are kept as rows; answers best come together with their verdicts.
            ready: rows whose cells are written already; of a kind that isn't among the others.
        """
        groups: dict[type[Record], list[Row]] = {}
        for record in records:
            groups.setdefault(record.__class__, []).append(row_of(record))
        for kept in rows:
            groups.setdefault(kept.kind, []).extend(kept.rows)
        for kind, group in groups.items():
            self.stage(kind).add(group)
        names = {kind: {row[0] for row in groups.get(kind, ())} for kind in (Response, Outcome)}
        for columns in ready:
            self.stage(columns.kind).put(columns)
            if columns.kind in names:
                names[columns.kind].update(columns.cells[0])
        self._all_decided &= names[Response] <= names[Outcome]

    def stage(self, kind: type[Record]) -> Stage:
        """Return what gathers one kind of record."""
        stage = self._stages.get(kind)
        if stage is None:
            stage = self._stages[kind] = Stage(KINDS[kind], self._connection)
        return stage

    def _show(self) -> None:
        for stage in self._stages.values():
            stage.show()

    def move_on(self, study: Study, record: Import) -> None:
        """Move what came in so far, while more is read; others see it when all is moved.

        The store is held from then on. Where it holds any of this already, all of it is moved
        together in the end.

        Args:
            study: where it goes; made now if it isn't there.
        """
        n = sum(stage.rows for stage in self._stages.values())
        if self._is_together or not self._is_sqlite or n < self._n_moved * _MORE:
            return
        self._n_moved = n
        with self._moving(study, record) as move:
            self._is_together = not move.go_on()
            if self._is_together:
                move.take_out()
        if self._is_together:
            self._move = None
            self._transaction.close()

    @contextmanager
    def _moving(self, study: Study, record: Import) -> Iterator[_Move]:
        """Give the transaction, begun where it wasn't; it ends at once with what is raised."""
        if self._move is None:
            self._connection.commit()
            writer = self._transaction.enter_context(
                self._store.write_on(self._connection, "import")
            )
            self._move = _Move(writer, self._stages, study, record)
        try:
            yield self._move
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise

    def undecided(self) -> Iterator[tuple[Sample, Response]]:
        """Give the answers that came without a verdict, with their questions.

        Only those that have a text, of questions whose reference is known.
        """
        if self._all_decided or not {Response, Sample} <= set(self._stages):
            return
        self.stage(Outcome)
        self._show()
        samples, responses = self._stages[Sample], self._stages[Response]
        columns = [f's."{name}" AS "s_{name}"' for name in samples.columns]
        columns += [f'r."{name}" AS "r_{name}"' for name in responses.columns]
        # Put aside first: the caller adds outcomes while it reads these.
        self._connection.execute(
            sa.text(
                f"CREATE TEMPORARY TABLE undecided AS SELECT {', '.join(columns)}, r.seq AS seq "
                f"FROM {responses.name} r JOIN {samples.name} s ON s.id = r.sample_id "
                "LEFT JOIN staged_outcomes o ON o.response_id = r.id WHERE o.response_id IS NULL "
                "AND r.state = 'scored' AND r.text <> '' AND s.reference IS NOT NULL"
            )
        )
        self._connection.execute(sa.text("CREATE INDEX undecided_seq ON undecided (seq)"))
        last = -1
        page = sa.text("SELECT * FROM undecided WHERE seq > :last ORDER BY seq LIMIT :most")
        while rows := self._connection.execute(
            page.bindparams(last=last, most=_PAGE)
        ).mappings().all():  # fmt: skip
            last = rows[-1]["seq"]
            for row in rows:
                sample = samples.kind.from_row({name: row[f"s_{name}"] for name in samples.columns})
                response = responses.kind.from_row(
                    {name: row[f"r_{name}"] for name in responses.columns}
                )
                assert isinstance(sample, Sample)
                assert isinstance(response, Response)
                yield sample, response

    def move(
        self,
        study: Study,
        record: Import,
        *,
        replace: bool = False,
        judge: str | None = None,
        tree: str | None = None,
        close: Callable[[Moved], Import],
    ) -> tuple[Import, Moved]:
        """Move everything into the store, in one transaction.

        Args:
            study: where it goes; made now if it isn't there.
            replace: take back the imports that brought other contents under the same ids.
            judge: whose marks on criteria a study without a judge shows.
            tree: the tree that criteria hang in, for a study without one.
            close: makes the import's record of what came of it.

        Returns:
            The import as the study keeps it, and what came of it.

        Raises:
            ConflictFoundError: the store holds other contents under the same ids; nothing changed.
            StoreError: the store can't be written.
        """
        with self._moving(study, record) as move:
            if move.has_begun and not move.go_on():
                move.take_out()
            moved = move.end(replace=replace, judge=judge, tree=tree)
            closed = close(moved)
            move.writer.replace([closed])
            words = f"{closed.format}: {closed.samples:,} questions, {closed.responses:,} answers"
            move.writer.tell("import", study=study.id, subject=closed.id, after=words)
        self._transaction.close()
        return closed, moved


class _Move:
    """The transaction that moves staged records into their tables."""

    def __init__(
        self, writer: Writer, stages: Mapping[type[Record], Stage], study: Study, record: Import
    ) -> None:
        self.writer = writer
        self._staged = stages
        self._study = study
        self._import = record
        self.reworded = 0
        # Whatever fails takes the whole transaction back: no statement needs a journal of its own.
        self._is_sqlite = writer.connection.dialect.name == "sqlite"
        self._put = "INSERT OR FAIL INTO" if self._is_sqlite else "INSERT INTO"
        self._before: dict[str, int] = {}
        if self._is_sqlite:
            for kind in KINDS.values():
                last = f"SELECT coalesce(max(rowid), 0) FROM {kind.table.name}"
                self._before[kind.table.name] = self._count(last)
        self._begin()

    def _begin(self) -> None:
        self._moved: dict[type[Record], int] = {}
        self._first_place: int | None = None
        self._n_placed = 0
        self._new: Counter[type[Record]] = Counter()
        self._known: Counter[type[Record]] = Counter()
        self.writer.put([self._study])

    @property
    def _stages(self) -> Mapping[type[Record], Stage]:
        return {kind: self._staged[kind] for kind in _ORDER if kind in self._staged}

    @property
    def has_begun(self) -> bool:
        """Whether anything was moved."""
        return bool(self._moved)

    def go_on(self) -> bool:
        """Move what was staged since the last time, if the store held nothing of it before."""
        self._show(self._moved)
        if any(map(self._was_met, _CHANGES)):
            return False
        self._bring(self._find_known([kind for kind in self._stages if kind not in _CHANGES]))
        self._moved = {kind: stage.rows for kind, stage in self._stages.items()}
        return True

    def take_out(self) -> None:
        """Take out again what was moved."""
        for table, last in self._before.items():
            self._run(f"DELETE FROM {table} WHERE rowid > :last", last=last)
        links = "DELETE FROM import_links WHERE import_id = :import"
        self._run(links, **{"import": self._import.id})
        self._moved = {}

    def end(self, *, replace: bool, judge: str | None, tree: str | None) -> Moved:
        """Move all that isn't moved yet, and say what came of it."""
        found: tuple[Conflict, ...] = ()
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
        return Moved(
            found=found,
            new=new,
            known=known,
            taken_back=tuple(gone),
            reworded=self.reworded,
            stood=stood,
        )

    def _show(self, since: Mapping[type[Record], int]) -> None:
        for kind, stage in self._stages.items():
            stage.show(since.get(kind, 0))

    def _bring_together(self, *, replace: bool) -> tuple[tuple[Conflict, ...], list[Import]]:
        """Move all of it, in place of other contents where that is wanted."""
        known = self._find_known(self._stages)
        found = self._conflicts(known)
        gone: list[Import] = []
        if found:
            others = self._other_studies()
            if others or not (replace or not self._is_placed()):
                raise ConflictFoundError(Moved(found=found, elsewhere=others))
            old_places = self._keep_places()
            gone = self._take_back()
            known = self._find_known(self._stages)
            if self._conflicts(known):
                forget_changed(self.writer, self._study.id)
                known = self._find_known(self._stages)
        self._bring(known)
        if gone:
            self._restore_places(old_places)
        return found, gone

    def _bring(self, known: Mapping[type[Record], int]) -> None:
        """Move what the views show into its tables."""
        self._n_placed += self._put_places(known)
        for kind, stage in self._stages.items():
            self._link(kind, stage, known.get(kind, 0))
            self._new[kind] += self._insert(stage)
        self._known.update(known)
        self._tell(known)

    def _stand(self, judge: str | None, tree: str | None) -> Stood:
        """Let criteria that came in stand for the study's samples."""
        stage = self._stages.get(CriteriaSet)
        if stage is None:
            return Stood()
        stood = stand(
            self.writer,
            self._study,
            stage.name,
            judge=judge,
            tree=tree,
            created=self._import.created,
        )
        self.writer.link_import(self._import.id, (("criteria", name) for name in stood.made))
        return stood

    def _run(self, sql: str, **values: object) -> sa.CursorResult[Any]:
        statement = sa.text(sql).bindparams(**values)
        return self.writer.execute(statement.execution_options(preserve_rowcount=True))

    def _count(self, sql: str, **values: object) -> int:
        return int(self._run(sql, **values).scalar_one())

    # --- what is there ---------------------------------------------------------------------

    def _was_there(self, table: str, name: str) -> str:
        """Return the condition that rows aren't this import's own, which come after all others."""
        return f"AND {name}.rowid <= {self._before[table]}" if self._is_sqlite else ""

    def _was_met(self, kind: type[Record]) -> bool:
        """Whether the store held any record of a kind, or of its group, that is staged."""
        table = KINDS[kind].table.name
        stage = self._stages.get(kind)
        if stage is None or not self._before[table]:
            return False
        on = stage.same_key("s", "t") if kind is not Tag else _SAME_GROUP
        return bool(
            self._count(
                f"SELECT EXISTS (SELECT 1 FROM {stage.name} s JOIN {table} t ON {on} "
                f"{self._was_there(table, 't')})"
            )
        )

    def _find_known(self, kinds: Collection[type[Record]]) -> dict[type[Record], int]:
        """Note the keys that the store held before, and count them."""
        found = {}
        for kind in kinds:
            stage = self._stages[kind]
            if self._before.get(stage.kind.table.name) == 0:
                continue
            keys = ", ".join(f's."{name}" AS "{name}"' for name in stage.kind.key)
            there = f"known_{stage.kind.table.name}"
            self._run(f"DROP TABLE IF EXISTS {there}")
            self._run(
                f"CREATE TEMPORARY TABLE {there} AS SELECT DISTINCT {keys} FROM {stage.name} s "
                f"JOIN {stage.kind.table.name} t ON {stage.same_key('s', 't')} "
                f"{self._was_there(stage.kind.table.name, 't')}"
            )
            found[kind] = self._count(f"SELECT count(*) FROM {there}")
        return found

    # --- conflicts -------------------------------------------------------------------------

    def _conflicts(self, known: Mapping[type[Record], int]) -> tuple[Conflict, ...]:
        """Find records whose content isn't what the store holds under their ids.

        Leaves their keys in `changed_<table>` and their questions in `changed_in`.
        """
        self._run("DROP TABLE IF EXISTS changed_in")
        self._run("CREATE TEMPORARY TABLE changed_in (sample_id TEXT, what TEXT, name TEXT)")
        for kind, (what, condition, question) in _CHANGES.items():
            stage = self._stages.get(kind)
            table = KINDS[kind].table.name
            self._run(f"DROP TABLE IF EXISTS changed_{table}")
            keys = KINDS[kind].key
            if stage is None or not (known.get(kind) or kind is Tag):
                columns = ", ".join(f'"{key}" TEXT' for key in keys)
                self._run(f"CREATE TEMPORARY TABLE changed_{table} ({columns})")
                continue
            listed = ", ".join(f's."{key}" AS "{key}"' for key in keys)
            on = stage.same_key("s", "t") if kind is not Tag else _SAME_GROUP
            self._run(
                f"CREATE TEMPORARY TABLE changed_{table} AS SELECT DISTINCT {listed} "
                f"FROM {stage.name} s JOIN {table} t ON {on} {self._was_there(table, 't')} "
                f"WHERE {condition}"
            )
            if kind is Sample:
                self._forget_reworded(stage)
            same = " AND ".join(f'c."{key}" = s."{key}"' for key in keys)
            self._run(
                f"INSERT INTO changed_in SELECT DISTINCT {question}, CAST(:what AS TEXT), NULL "
                f"FROM changed_{table} c JOIN {stage.name} s ON {same}",
                what=what,
            )
        if not self._count("SELECT count(*) FROM changed_in"):
            return ()
        self._run(
            "UPDATE changed_in SET name = (SELECT coalesce(source_id, question) FROM samples "
            "WHERE samples.id = changed_in.sample_id)"
        )
        return tuple(
            self._conflict(what)
            for what in dict.fromkeys(what for what, _, _ in _CHANGES.values())
            if self._count("SELECT count(*) FROM changed_in WHERE what = :what", what=what)
        )

    def _forget_reworded(self, stage: Stage) -> None:
        """Take questions that are only worded otherwise out of those that changed.

        Two files of one benchmark often differ in a word; choices and answer must agree.
        """
        rows = self._run(
            "SELECT s.id AS id, s.question AS one, t.question AS other FROM changed_samples c "
            f"JOIN {stage.name} s ON s.id = c.id JOIN samples t ON t.id = c.id "
            "WHERE (s.choices = t.choices OR s.choices = '[]' OR t.choices = '[]') "
            "AND (s.reference IS NULL OR t.reference IS NULL OR s.reference = t.reference)"
        ).mappings()
        alike = [row["id"] for row in rows.all() if _are_alike(row["one"], row["other"])]
        for name in alike:
            self._run("DELETE FROM changed_samples WHERE id = :id", id=name)
        self.reworded = len(alike)

    def _conflict(self, what: str) -> Conflict:
        names = self._run(
            "SELECT DISTINCT name FROM changed_in WHERE what = :what ORDER BY name LIMIT :most",
            what=what,
            most=_MOST_NAMED,
        ).scalars()
        table = next(
            KINDS[kind].table.name for kind, (name, _, _) in _CHANGES.items() if name == what
        )
        n = self._count(f"SELECT count(*) FROM changed_{table}")
        return Conflict(what=what, n=n, names=tuple(str(name)[:60] for name in names))

    def _other_studies(self) -> tuple[str, ...]:
        names = self._run(
            "SELECT DISTINCT studies.name FROM studies JOIN study_samples p "
            "ON p.study_id = studies.id WHERE p.study_id <> :study "
            "AND p.sample_id IN (SELECT sample_id FROM changed_in) ORDER BY studies.name",
            study=self._study.id,
        )
        return tuple(map(str, names.scalars()))

    def _is_placed(self) -> bool:
        return bool(
            self._count(
                "SELECT count(*) FROM study_samples WHERE study_id = :study "
                "AND sample_id IN (SELECT sample_id FROM changed_in)",
                study=self._study.id,
            )
        )

    def _take_back(self) -> list[Import]:
        """Take back the study's imports that brought what changed."""
        brought = {
            str(name)
            for kind, word in ((Sample, "sample"), (Response, "response"), (Outcome, "outcome"),
                               (Preference, "preference"), (Annotation, "annotation"),
                               (Verdict, "verdict"), (Checkpoint, "mark"))
            for name in self._run(
                "SELECT DISTINCT l.import_id FROM import_links l JOIN imports i "
                "ON i.id = l.import_id WHERE i.study_id = :study AND ("
                f"(l.kind = '{word}' AND l.record_id IN (SELECT \"{KINDS[kind].key[0]}\" "
                f"FROM changed_{KINDS[kind].table.name})) OR (l.kind = '{ALSO}' AND l.record_id IN "
                f"(SELECT '{word}:' || \"{KINDS[kind].key[0]}\" "
                f"FROM changed_{KINDS[kind].table.name})))",
                study=self._study.id,
            ).scalars()
        }  # fmt: skip
        brought |= {
            str(name)
            for name in self._run(
                "SELECT DISTINCT l.import_id FROM import_links l JOIN imports i "
                "ON i.id = l.import_id JOIN changed_tags c ON c.subject = l.kind "
                "AND c.subject_id = l.record_id WHERE i.study_id = :study",
                study=self._study.id,
            ).scalars()
        }
        return [take_back(self.writer, name).record for name in sorted(brought)]

    # --- places ----------------------------------------------------------------------------

    def _keep_places(self) -> str:
        """Note the study's places, so that what was chosen for a question stays chosen."""
        name = "old_places"
        self._run(f"DROP TABLE IF EXISTS {name}")
        self._run(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM study_samples WHERE false")
        self._run(
            f"INSERT INTO {name} SELECT * FROM study_samples WHERE study_id = :study "
            "AND sample_id NOT IN (SELECT id FROM changed_samples)",
            study=self._study.id,
        )
        return name

    def _restore_places(self, old: str) -> None:
        self._run(
            "UPDATE study_samples SET position = o.position, replay_id = o.replay_id, "
            f"criteria_set_id = o.criteria_set_id FROM {old} o WHERE "
            "study_samples.study_id = :study AND o.sample_id = study_samples.sample_id",
            study=self._study.id,
        )

    def _put_places(self, known: Mapping[type[Record], int]) -> int:
        """Give new questions and candidates their places, and note that this import did.

        Args:
            known: how many of a kind the store holds; where it holds none, no question of these
                has a place.

        Returns:
            How many questions got one.
        """
        n_placed = 0
        for kind, placing, column, word in (
            (Sample, StudySample, "sample_id", "place"),
            (Candidate, StudyCandidate, "candidate_id", "seat"),
        ):
            stage = self._stages.get(kind)
            if stage is None:
                continue
            place = KINDS[placing]
            places = place.table.name
            some = kind is Candidate or bool(known.get(kind))
            if some or self._first_place is None:
                last = self._count(
                    f"SELECT coalesce(max(position), -1) FROM {places} WHERE study_id = :study",
                    study=self._study.id,
                )
            if not some:  # numbered on from the first ones, whatever was moved before
                last = self._first_place = last if self._first_place is None else self._first_place
            place_of = ":last + 1 + s.seq"
            unplaced = "WHERE true"
            if some:
                self._run(
                    f"{self._put} import_links (import_id, kind, record_id) SELECT DISTINCT "
                    f"CAST(:import AS TEXT), '{ALSO}', '{word}:' || s.id FROM {stage.name} s "
                    f"JOIN {places} p ON p.study_id = :study AND p.{column} = s.id "
                    f"{self._was_there(places, 'p')}",
                    **{"import": self._import.id, "study": self._study.id},
                )
                place_of = ":last + row_number() OVER (ORDER BY s.seq)"
                unplaced = (
                    f"LEFT JOIN {places} p ON p.study_id = :study AND p.{column} = s.id "
                    f"WHERE p.{column} IS NULL"
                )
            placed = self._run_summed(
                place,
                f"{self._put} {_into(place, column, summed=stage.sum is not None)} FROM (SELECT "
                f"CAST(:study AS TEXT) AS study_id, s.id AS {column}, {place_of} AS position "
                f"FROM {stage.name} s {unplaced} ORDER BY 2, 3) n WHERE true "
                "ON CONFLICT DO NOTHING",
                is_summed=stage.sum is not None, study=self._study.id, last=last,
            ).rowcount  # fmt: skip
            got: dict[str, object] = {"import": self._import.id}
            placed_now = f"id FROM {stage.name}"  # where none had a place all got one
            if some:
                got |= {"study": self._study.id, "last": last}
                placed_now = f"{column} FROM {places} WHERE study_id = :study AND position > :last"
            self._run(
                f"{self._put} import_links (import_id, kind, record_id) SELECT "
                f"CAST(:import AS TEXT), '{word}', {placed_now} ORDER BY 3 ON CONFLICT DO NOTHING",
                **got,
            )
            if kind is Sample:
                n_placed = placed
        return n_placed

    # --- records ---------------------------------------------------------------------------

    def _link(self, kind: type[Record], stage: Stage, n_known: int) -> None:
        """Note what this import brought first, and what another one had brought before."""
        if kind is Outcome:
            self._run(
                f"{self._put} import_links (import_id, kind, record_id) SELECT "
                f"CAST(:import AS TEXT), 'outcome', response_id FROM {stage.name} "
                "WHERE how = 'imported' ORDER BY response_id ON CONFLICT DO NOTHING",
                **{"import": self._import.id},
            )
            return
        word = _LINKED.get(kind)
        if word is None:
            return
        key, table = stage.kind.key[0], stage.kind.table.name
        new = f'"{key}" NOT IN (SELECT "{key}" FROM known_{table})' if n_known else "true"
        self._run(
            f"{self._put} import_links (import_id, kind, record_id) SELECT "
            f"CAST(:import AS TEXT), '{word}', \"{key}\" FROM {stage.name} WHERE {new} "
            f'ORDER BY "{key}" ON CONFLICT DO NOTHING',
            **{"import": self._import.id},
        )
        if n_known:
            self._run(
                f"{self._put} import_links (import_id, kind, record_id) SELECT DISTINCT "
                f"CAST(:import AS TEXT), '{ALSO}', '{word}:' || \"{key}\" FROM known_{table}",
                **{"import": self._import.id},
            )

    def _insert(self, stage: Stage) -> int:
        # With the checksum that was staged: a trigger would write each row twice.
        names = stage.columns if stage.sum is None else (*stage.columns, stage.sum)
        columns = ", ".join(f'"{name}"' for name in names)
        order = f"ORDER BY {stage.order}" if stage.kind in _BY_KEY else ""
        return self._run_summed(
            stage.kind,
            f"{self._put} {stage.kind.table.name} ({columns}) SELECT {columns} "
            f"FROM {stage.name} WHERE true {order} ON CONFLICT DO NOTHING",
            is_summed=stage.is_summed,
        ).rowcount

    def _run_summed(
        self, kind: Kind, sql: str, *, is_summed: bool, **values: object
    ) -> sa.CursorResult[Any]:
        """Insert rows of a kind; where all of them bring their checksums, no trigger looks."""
        if not is_summed:
            return self._run(sql, **values)
        stop, resume = sums.without_trigger(kind)
        self._run(stop)
        done = self._run(sql, **values)
        self._run(resume)
        return done

    def _tell(self, known: Mapping[type[Record], int]) -> None:
        """Take texts that come only now: of answers known from votes alone, and of questions."""
        if known.get(Response):
            self._run(
                "UPDATE responses SET text = s.text, detail = s.detail, thoughts = s.thoughts, "
                "cause = s.cause FROM staged_responses s WHERE s.id = responses.id "
                "AND s.text <> '' AND responses.text = '' AND responses.state = 'scored' "
                "AND responses.prompt = 'imported'"
            )
        if known.get(Sample) and Sample in self._stages:
            untold = " OR ".join(f"samples.question LIKE '{text}'" for text in _UNTOLD)
            self._run(
                "UPDATE samples SET question = s.question FROM staged_samples s "
                f"WHERE s.id = samples.id AND ({untold})"
            )
            self._run(
                "UPDATE samples SET reference = s.reference FROM staged_samples s WHERE "
                "s.id = samples.id AND samples.reference IS NULL AND s.reference IS NOT NULL"
            )
            self._run(
                "UPDATE samples SET choices = s.choices, answer_type = s.answer_type "
                "FROM staged_samples s WHERE s.id = samples.id AND samples.choices = '[]' "
                "AND s.choices <> '[]'"
            )


def _into(place: Kind, column: str, *, summed: bool) -> str:
    """Begin the statement that gives places: to be followed by where they are read from.

    Their checksums are worked out with them: a trigger would write each row twice.
    """
    names = ("study_id", column, "position")
    into = values = ", ".join(names)
    if summed:
        into, values = f"{into}, {sums.COLUMN}", f"{values}, {sums.call(place, given=names)}"
    return f"{place.table.name} ({into}) SELECT {values}"


def _are_alike(one: str, other: str) -> bool:
    """Whether two wordings share at least half of their words."""
    here, there = set(one.casefold().split()), set(other.casefold().split())
    return len(here & there) >= _SAME_WORDS * len(here | there)


def _told(column: str) -> str:
    return " AND ".join(f"{column} NOT LIKE '{text}'" for text in _UNTOLD)


_SAME_GROUP = (
    "s.subject = t.subject AND s.subject_id = t.subject_id AND s.source = t.source "
    "AND s.facet = t.facet"
)
_OF_RESPONSE = "(SELECT sample_id FROM responses r WHERE r.id = s.response_id)"
_CHANGES: Mapping[type[Record], tuple[str, str, str]] = {
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


def names_of_sets(store: Store, study_id: str) -> Sequence[Mapping[str, str]]:
    """Return one question of each data set that a study holds, with its ids.

    Returns:
        Rows of `dataset`, `id` and `source_id`; those without an id in the source have None.
    """
    with store.read() as connection:
        return [
            dict(row)
            for row in connection.execute(
                sa.text(
                    "SELECT s.dataset AS dataset, s.id AS id, s.source_id AS source_id "
                    "FROM samples s JOIN (SELECT min(x.id) AS id FROM samples x JOIN "
                    "study_samples p ON p.sample_id = x.id WHERE p.study_id = :study "
                    "GROUP BY x.dataset, x.source_id IS NULL) f ON f.id = s.id"
                ).bindparams(study=study_id)
            ).mappings()
        ]
