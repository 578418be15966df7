"""Places: which of an import's questions and candidates are a study's, and in which order."""

from __future__ import annotations

from collections.abc import Mapping

from atom.records import Candidate, Record, Sample, StudyCandidate, StudySample
from atom.store import sums
from atom.store.imports.undo import ALSO
from atom.store.schema import KINDS, Kind
from atom.store.staging.transaction import Transaction


class PlaceNumbers:
    """Gives new questions and candidates their places."""

    def __init__(self, on: Transaction) -> None:
        self._on = on
        self._first_place: int | None = None

    def keep(self) -> str:
        """Note the study's places, so that what was chosen for a question stays chosen."""
        name = "old_places"
        self._on.run(f"DROP TABLE IF EXISTS {name}")
        self._on.run(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM study_samples WHERE false")
        self._on.run(
            f"INSERT INTO {name} SELECT * FROM study_samples WHERE study_id = :study "
            "AND sample_id NOT IN (SELECT id FROM changed_samples)",
            study=self._on.study.id,
        )
        return name

    def restore(self, old: str) -> None:
        """Put the places back that were noted."""
        self._on.run(
            "UPDATE study_samples SET position = o.position, replay_id = o.replay_id, "
            f"criteria_set_id = o.criteria_set_id FROM {old} o WHERE "
            "study_samples.study_id = :study AND o.sample_id = study_samples.sample_id",
            study=self._on.study.id,
        )

    def give(self, known: Mapping[type[Record], int]) -> int:
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
            stage = self._on.stages.get(kind)
            if stage is None:
                continue
            place = KINDS[placing]
            places = place.table.name
            some = kind is Candidate or bool(known.get(kind))
            if some or self._first_place is None:
                last = self._on.count(
                    f"SELECT coalesce(max(position), -1) FROM {places} WHERE study_id = :study",
                    study=self._on.study.id,
                )
            if not some:  # numbered on from the first ones, whatever was moved before
                last = self._first_place = last if self._first_place is None else self._first_place
            place_of = ":last + 1 + s.seq"
            unplaced = "WHERE true"
            if some:
                self._on.run(
                    f"{self._on.put} import_links (import_id, kind, record_id) SELECT DISTINCT "
                    f"CAST(:import AS TEXT), '{ALSO}', '{word}:' || s.id FROM {stage.name} s "
                    f"JOIN {places} p ON p.study_id = :study AND p.{column} = s.id "
                    f"{self._on.was_there(places, 'p')}",
                    **{"import": self._on.record.id, "study": self._on.study.id},
                )
                place_of = ":last + row_number() OVER (ORDER BY s.seq)"
                unplaced = (
                    f"LEFT JOIN {places} p ON p.study_id = :study AND p.{column} = s.id "
                    f"WHERE p.{column} IS NULL"
                )
            placed = self._on.run_summed(
                place,
                f"{self._on.put} {_into(place, column, summed=stage.sum is not None)} FROM (SELECT "
                f"CAST(:study AS TEXT) AS study_id, s.id AS {column}, {place_of} AS position "
                f"FROM {stage.name} s {unplaced} ORDER BY 2, 3) n WHERE true "
                "ON CONFLICT DO NOTHING",
                is_summed=stage.sum is not None, study=self._on.study.id, last=last,
            ).rowcount  # fmt: skip
            got: dict[str, object] = {"import": self._on.record.id}
            placed_now = f"id FROM {stage.name}"  # where none had a place all got one
            if some:
                got |= {"study": self._on.study.id, "last": last}
                placed_now = f"{column} FROM {places} WHERE study_id = :study AND position > :last"
            self._on.run(
                f"{self._on.put} import_links (import_id, kind, record_id) SELECT "
                f"CAST(:import AS TEXT), '{word}', {placed_now} ORDER BY 3 ON CONFLICT DO NOTHING",
                **got,
            )
            if kind is Sample:
                n_placed = placed
        return n_placed


def _into(place: Kind, column: str, *, summed: bool) -> str:
    """Begin the statement that gives places: to be followed by where they are read from.

    Their checksums are worked out with them: a trigger would write each row twice.
    """
    names = ("study_id", column, "position")
    into = values = ", ".join(names)
    if summed:
        into, values = f"{into}, {sums.COLUMN}", f"{values}, {sums.call(place, given=names)}"
    return f"{place.table.name} ({into}) SELECT {values}"
