"""What was made ready of a large study: the last of it, and when it was made.

A folder beside the other snapshots holds the study in one piece, its parts, sums, and where its
criteria hang. It gets its name when it is whole, so whoever looks sees all of it or none.

Reference: design/079-large-studies-made-ready.md.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from atom.records import Study
from atom.store import Store, find_study
from atom.store.together.revisions import StudyMoment
from atom.views.prepared.kept import KeptSums
from atom.views.prepared.places import read_placed
from atom.views.shards import InThreads, part_of
from atom.views.snapshot import FORMAT, depends_on, is_own, read_snapshot, selected_name
from atom.views.study_data import StudyData, assemble, chosen_judge
from atom.views.tree.node_table import placed_key

SUFFIX = ".ready"
MANIFEST, WHOLE, SUMS, PLACES = "ready.json", "whole.arrow", "sums", "places.arrow"


MOST_PARTS = 99_999
"""Parts at most: their files are numbered in five digits."""


@cache
def code_of_sums() -> str:
    """Return a digest of the code that sums are made with: of other code, they may be others."""
    views = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for room in (views.with_name("analysis"), views):
        for file in sorted(room.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class PreparedStudy:
    """A study made ready.

    Attributes:
        place: its folder.
        made: when the store was read, seconds since the epoch.
        changes: of the study's moment then, what isn't results.
        results: its results then.
        seconds: how long it took to make.
        parts: how many there are.
        judge: whose marks it holds.
        depends: the study's settings then (`snapshot.depends_on`).
        format: of its files.
        code: what its sums were made with (`code_of_sums`).
    """

    place: Path
    made: float
    changes: int
    results: int
    seconds: float
    parts: int
    judge: str | None
    depends: tuple[str | None, ...]
    format: int = FORMAT
    code: str = field(default_factory=lambda: code_of_sums())

    @property
    def moment(self) -> StudyMoment:
        """The moment in the study's life that it shows."""
        return StudyMoment(self.changes, self.results)

    @property
    def rest_until(self) -> float:
        """When the next may be made: where results come all the while, half of the time is kept."""
        return self.made + 2 * self.seconds

    def text(self) -> str:
        """Write its manifest."""
        return json.dumps({**asdict(self), "place": self.place.name})

    @property
    def files(self) -> list[Path]:
        """Its parts' files."""
        return [part_file(self.place, number) for number in range(self.parts)]


def part_file(place: Path, number: int) -> Path:
    """Return where a part lies in its folder."""
    return place / f"part-{number:05}.arrow"


def last_ready(
    store: Store, study: Study, judge_id: str | None, folder: Path
) -> PreparedStudy | None:
    """Return what was last made ready of a study and a judge; None where nothing fits.

    What was made under another tree or other settings doesn't: it would show a tree's edit undone.
    Nor does what another version of this program added up.

    Args:
        judge_id: whose marks; the study's own judge's when None or unknown.
        folder: where snapshots lie.
    """
    judge = chosen_judge(store, study, judge_id)
    found = [one for one in all_ready(store, study, judge, folder) if fits(one, study)]
    return max(found, key=lambda one: one.made, default=None)


def fits(ready: PreparedStudy, study: Study) -> bool:
    """Say whether something made ready is this program's, in the study's tree, by its settings."""
    ours = ready.format == FORMAT and ready.code == code_of_sums()
    return ours and list(ready.depends) == depends_on(study)


def all_ready(
    store: Store, study: Study, judge_id: str | None, folder: Path
) -> list[PreparedStudy]:
    """List everything that was made ready of a study and a judge."""
    beginning = selected_name(store, study, judge_id)
    places = folder.glob(f"{beginning}-*{SUFFIX}")
    return [one for one in map(_read, places) if one is not None]


def _read(place: Path) -> PreparedStudy | None:
    try:
        if not is_own(place):
            return None
        held = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        own = {"place": place, "depends": tuple(held["depends"]), "code": held.get("code", "")}
        found = PreparedStudy(**{**held, **own})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if _can_be(found) else None


def _can_be(ready: PreparedStudy) -> bool:
    """Say whether a manifest's values are of the kinds that are written."""
    whole = (ready.changes, ready.results, ready.parts, ready.format)
    times = (ready.made, ready.seconds)
    return (
        all(type(one) is int for one in whole)
        and 0 < ready.parts <= MOST_PARTS
        and all(type(one) in (int, float) and math.isfinite(one) for one in times)
        and isinstance(ready.judge, str | None)
        and isinstance(ready.code, str)
    )


def open_ready(store: Store, study_id: str, ready: PreparedStudy) -> StudyData | None:
    """Open a study as it was made ready; None where its files are gone or damaged."""
    study = find_study(store, study_id)
    whole = read_snapshot(ready.place / WHOLE)
    if whole is None:
        return None
    data = assemble(store, study, ready.judge, whole, ready.moment.revision)
    try:
        parts = parts_here(data, ready.files)
    except FileNotFoundError:
        return None
    where = read_placed(ready.place / PLACES)
    if where is not None:
        data.table.kept.get(placed_key(study.tree_version), lambda: where)
    return replace(data, shards=KeptSums(parts=parts, folder=ready.place / SUMS))


def parts_here(head: StudyData, files: Sequence[Path]) -> InThreads:
    """Open parts in this process.

    Args:
        head: what they share.

    Raises:
        FileNotFoundError: one isn't there, or isn't as it was written.
    """
    held = [read_snapshot(file) for file in files]
    found = tuple(part_of(head, one) for one in held if one is not None)
    if len(found) < len(files):
        raise FileNotFoundError("a part isn't there any more")
    return InThreads(parts=found)


def tidy(
    store: Store, study: Study, judge_id: str | None, folder: Path, keep: PreparedStudy
) -> None:
    """Delete what something newly made ready replaces; whoever has it open can go on."""
    for one in all_ready(store, study, judge_id, folder):
        if one.place != keep.place:
            shutil.rmtree(one.place, ignore_errors=True)
