"""Pictures after an import: which places are empty, and filling them.

A sample keeps its id, its answers and its place; only the picture comes to it. Doing it again
changes nothing, since a place that has its picture isn't looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from atom.errors import PictureError
from atom.formats.picture_stock import PictureStock, Place, StockFile
from atom.records import Picture, PictureSlot, Sample, Study
from atom.store import Store, study_places
from atom.store.pictures import inspect_picture, make_thumbnail

HOW = "attach it with `study pictures FOLDER --study NAME` or on the Data page"
"""What every place says that misses a picture."""
_BY = {"name": "by name", "id": "by the question's id", "hash": "by hash"}
_CHUNK = 200
OnPlaces = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class MissingPicture:
    """A place without its picture.

    Args:
        position: 1-based in its study.
        place: what is known of the picture.
    """

    sample_id: str
    position: int
    place: Place

    @property
    def words(self) -> str:
        """How messages and lists call it: by its expected name, else by the question's id."""
        if self.place.name:
            return self.place.name
        which = f"picture {self.place.number} of " if self.place.places > 1 else "picture of "
        return which + (self.place.source_id or f"sample {self.position}")


@dataclass(frozen=True, kw_only=True)
class AttachReport:
    """What came of looking for the missing pictures of a study.

    Args:
        kept: whether anything was written; otherwise it says what would be.
        places: places that were empty.
        attached: places that have their picture now.
        samples: samples that have all of theirs now, and had not before.
        by: places by what they were found by: `name`, `id`, `hash`.
        still: the places that are still empty.
        doubtful: places that several files could be meant for, with those files.
        refused: files that were meant and can't be used, with the reason.
        unused: files that no empty place means.
    """

    study: Study
    kept: bool
    places: int
    attached: int
    samples: int
    by: dict[str, int]
    still: tuple[MissingPicture, ...]
    doubtful: tuple[tuple[MissingPicture, tuple[str, ...]], ...]
    refused: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What came of it, in a sentence."""
        if not self.places:
            return f"{self.study.name!r} misses no picture"
        verb = "attached" if self.kept else "would be attached"
        how = ", ".join(f"{n:,} {_BY[by]}" for by, n in self.by.items())
        words = f"{self.attached:,} of {self.places:,} missing pictures {verb}"
        return f"{words} ({how})" if how else words

    @property
    def lists(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What is left to look at: a title and its lines, empty ones aside."""
        doubted = {(one.sample_id, one.place.number) for one, _ in self.doubtful}
        still = tuple(
            one.words for one in self.still if (one.sample_id, one.place.number) not in doubted
        )
        doubtful = tuple(f"{one.words}: {', '.join(files[:6])}" for one, files in self.doubtful)
        lists = (
            ("Still missing", still),
            ("Several files could be meant, so none was taken", doubtful),
            ("Files that can't be used", self.refused),
            ("Files that matched nothing", self.unused),
        )
        return tuple((title, lines) for title, lines in lists if lines)


def missing_pictures(store: Store, study_id: str) -> tuple[MissingPicture, ...]:
    """List a study's places without a picture, in the study's order.

    A place counts, too, whose picture's file is gone from the store.
    """
    return tuple(
        missing
        for position, sample in _samples(store, study_id)
        for missing in _missing(store, sample, position)
    )


def attach_pictures(
    store: Store,
    study: Study,
    stock: PictureStock,
    *,
    keep: bool = True,
    on_places: OnPlaces | None = None,
) -> AttachReport:
    """Fill the empty places of a study's samples.

    Args:
        stock: the files at hand.
        keep: write; False only says what would come of it.
        on_places: told how many samples were looked at, and of how many.

    Raises:
        ReadOnlyError: the store is sealed.
    """
    if keep:
        store.must_be_open()
    work = _Work(store=store, stock=stock, keep=keep)
    total = len(study_places(store, study.id))
    changed: list[tuple[Sample, list[Picture]]] = []
    for number, (position, sample) in enumerate(_samples(store, study.id), start=1):
        filled = work.fill(sample, position)
        if filled is not None:
            changed.append(filled)
        if len(changed) >= _CHUNK:
            _write(store, changed, keep=keep)
            changed = []
        if on_places is not None and number % _CHUNK == 0:
            on_places(number, total)
    _write(store, changed, keep=keep)
    return work.account(study)


def _samples(store: Store, study_id: str) -> Iterator[tuple[int, Sample]]:
    places = study_places(store, study_id)
    for start in range(0, len(places), _CHUNK):
        part = places[start : start + _CHUNK]
        found = {one.id: one for one in store.get_many(Sample, [p.sample_id for p in part])}
        for at, place in enumerate(part, start=start + 1):
            if place.sample_id in found:
                yield at, found[place.sample_id]


def _missing(store: Store, sample: Sample, position: int) -> list[MissingPicture]:
    return [
        MissingPicture(
            sample_id=sample.id,
            position=position,
            place=Place(
                name=slot.name,
                source_id=sample.source_id,
                number=number,
                places=len(sample.pictures),
                hash=slot.picture_id,
            ),
        )
        for number, slot in enumerate(sample.pictures, start=1)
        if slot.picture_id is None or not store.pictures.has(slot.picture_id)
    ]


def _write(store: Store, changed: list[tuple[Sample, list[Picture]]], *, keep: bool) -> None:
    if not changed or not keep:
        return
    with store.write() as writer:
        writer.put(picture for _, pictures in changed for picture in pictures)
        writer.replace(sample for sample, _ in changed)


class _Work:
    """Goes through samples, and accounts for every place and every file."""

    def __init__(self, *, store: Store, stock: PictureStock, keep: bool) -> None:
        self._store = store
        self._stock = stock
        self._keep = keep
        self._known: dict[StockFile, tuple[Picture | None, str]] = {}
        self._touched: set[StockFile] = set()
        self._places = self._attached = self._whole = 0
        self._by: dict[str, int] = {}
        self._still: list[MissingPicture] = []
        self._doubtful: list[tuple[MissingPicture, tuple[str, ...]]] = []

    def fill(self, sample: Sample, position: int) -> tuple[Sample, list[Picture]] | None:
        """Fill a sample's empty places; None when none of them could be."""
        slots = list(sample.pictures)
        pictures: list[Picture] = []
        empty = _missing(self._store, sample, position)
        self._places += len(empty)
        for missing in empty:
            picture = self._find(missing)
            if picture is None:
                self._still.append(missing)
                continue
            at = missing.place.number - 1
            slots[at] = PictureSlot(name=slots[at].name, picture_id=picture.id)
            pictures.append(picture)
        if not pictures:
            return None
        self._attached += len(pictures)
        self._whole += len(pictures) == len(empty)
        return sample.model_copy(update={"pictures": tuple(slots)}), pictures

    def _find(self, missing: MissingPicture) -> Picture | None:
        match = self._stock.match(missing.place)
        self._touched.update(match.candidates)
        if match.candidates:
            files = tuple(file.where for file in match.candidates)
            self._doubtful.append((missing, files))
        if match.file is None:
            return None
        self._touched.add(match.file)
        picture, _ = self._take(match.file)
        if picture is not None:
            self._by[match.by] = self._by.get(match.by, 0) + 1
        return picture

    def _take(self, file: StockFile) -> tuple[Picture | None, str]:
        """Keep a file's picture, once for all places that mean it."""
        if file not in self._known:
            self._known[file] = self._kept(file)
        return self._known[file]

    def _kept(self, file: StockFile) -> tuple[Picture | None, str]:
        look = self._stock.look(file)
        if look.picture is None:
            return None, look.reason
        try:
            if self._keep:
                return self._store.pictures.add(look.picture.data, file.where), ""
            make_thumbnail(look.picture.data)
            return inspect_picture(look.picture.data, file.where), ""
        except PictureError as error:
            return None, error.message

    def account(self, study: Study) -> AttachReport:
        """Say what came of it."""
        return AttachReport(
            study=study,
            kept=self._keep,
            places=self._places,
            attached=self._attached,
            samples=self._whole,
            by=dict(sorted(self._by.items())),
            still=tuple(self._still),
            doubtful=tuple(self._doubtful),
            refused=tuple(
                f"{file.where}: {why}"
                for file, (picture, why) in self._known.items()
                if picture is None
            ),
            unused=tuple(file.where for file in self._stock.files if file not in self._touched),
        )
