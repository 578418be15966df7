"""A study as data frames. Every number is the screens' own: the same views make it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, Self

import pandas as pd

from atom.analysis.readings import Reading
from atom.display.estimate import Estimate
from atom.engine.items import read_material
from atom.errors import UsageError
from atom.exports.base import ExportSource
from atom.exports.columns import ExportColumn
from atom.exports.judgments import criterion_line, every_judge, judgments
from atom.exports.whole_samples import WholeSample, whole_samples
from atom.notebook.adding import AddedMarks, add_frame
from atom.notebook.columns import (
    ANSWERS,
    CAPABILITIES,
    CRITERIA,
    RANKING,
    SAMPLES,
    SCORES,
    WEAKNESSES,
    frame_of,
)
from atom.records import Sample
from atom.reports.profile import Profile, find_judge, find_model, known_facet, profile
from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.overview.ranking_table import ranking_table
from atom.views.overview.weaknesses import Weakness
from atom.views.stores import StudyEntry
from atom.views.study_data import StudyData

Line = tuple[object, ...]


class Study:
    """An open study. Each call reads what stands now; a frame is the reader's own copy.

    A frame's `attrs` say what it is of: `study`, `judge`, and `synthetic`.
    """

    def __init__(self, store: Store, entry: StudyEntry, *, judge: str | None = None) -> None:
        """Open it; `atom.open` is the usual way.

        Raises:
            UsageError: it has no marks by this judge.
        """
        self._store, self._entry = store, entry
        self._source = ExportSource(store, entry.study.id, entry.key)
        if judge is not None:
            self._source = replace(self._source, judge_id=find_judge(self._source.data, judge))

    @property
    def name(self) -> str:
        """Its name."""
        return self._data.study.name

    @property
    def id(self) -> str:
        """Its id."""
        return self._entry.study.id

    @property
    def synthetic(self) -> bool:
        """Whether programs made it."""
        return self._data.study.synthetic

    @property
    def models(self) -> tuple[str, ...]:
        """Its models' names, in its order."""
        return tuple(one.name for one in self._data.candidates)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges that marked anything of it, the most first."""
        return tuple(one.name for one in self._data.judges)

    @property
    def judge(self) -> str | None:
        """The name of the judge whose marks are looked at; None without any."""
        return None if self._data.judge is None else self._data.judge.name

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        table = self._data.table
        mark = ", SYNTHETIC" if self.synthetic else ""
        return (
            f"<atom study {self.name!r}: {len(table.sample_ids):,} samples, "
            f"{table.n_models:,} models, judge {self.judge!r}{mark}>"
        )

    def samples(self) -> pd.DataFrame:
        """Return a row a sample (`columns.SAMPLES`)."""
        return self._frame(SAMPLES, map(_sample_line, self._samples()))

    def criteria(self) -> pd.DataFrame:
        """Return a row a criterion of each sample's standing set (`columns.CRITERIA`)."""
        return self._frame(
            CRITERIA, (line for whole in self._samples() for line in _criteria(whole))
        )

    def answers(self) -> pd.DataFrame:
        """Return a row an answer, with its score and outcome (`columns.ANSWERS`)."""
        names = self.models
        return self._frame(
            ANSWERS, (line for whole in self._samples() for line in _answers(whole, names))
        )

    def scores(self, *, judges: Literal["one", "all"] = "one") -> pd.DataFrame:
        """Return a row a mark: a criterion on an answer, `pending` ones too (`columns.SCORES`).

        Args:
            judges: marks of the judge that is looked at, or of every judge.
        """
        source = self._current()
        every = every_judge(source) if judges == "all" else (source,)
        return self._frame(SCORES, chain.from_iterable(judgments(one) for one in every))

    def ranking(self, *, reading: Reading = "strict") -> pd.DataFrame:
        """Return a row a model, the best first, as the Overview ranks them (`columns.RANKING`).

        Args:
            reading: means over all steps (`strict`), or over those that an answer speaks of
                (`said`).
        """
        found = ranking_table(
            overview(self._data, _look(reading)), overview(self._data, _look("said"))
        )
        return self._frame(RANKING, (tuple(row.values()) for row in found.documents))

    def capabilities(
        self, model: str | None = None, *, facet: str | None = None, reading: Reading = "strict"
    ) -> pd.DataFrame:
        """Return a row a capability and model, with what may be claimed (`columns.CAPABILITIES`).

        Args:
            model: its name or id; all models when None.
            facet: labels in place of capabilities, by their name.
            reading: as for `ranking`.

        Raises:
            UsageError: there is no such model, or there are no such labels.
        """
        profiles = self._profiles(model, facet, reading)
        return self._frame(CAPABILITIES, (line for one in profiles for line in _nodes(one)))

    def weaknesses(
        self, model: str | None = None, *, facet: str | None = None, reading: Reading = "strict"
    ) -> pd.DataFrame:
        """Return a row a labelled weakness or strength, the surest first (`columns.WEAKNESSES`).

        Arguments and errors are those of `capabilities`.
        """
        profiles = self._profiles(model, facet, reading)
        return self._frame(
            WEAKNESSES,
            (_weakness(one.row.name, found) for one in profiles for found in one.weaknesses),
        )

    def add_judgments(
        self,
        frame: pd.DataFrame,
        *,
        scale: Mapping[str, object] | Sequence[object] | None = None,
        columns: Mapping[str, object] | None = None,
        dataset: str | None = None,
        accept: bool = False,
        replace: bool = False,
    ) -> AddedMarks:
        """Bring marks on criteria in: by models, people or programs, on any scale.

        A frame from `scores()` comes back as it was. Any other needs a criterion and a mark in
        each row; columns with usual names are found, others are named in `columns`.

        Args:
            frame: a row a mark.
            scale: what marks mean, as in a column map: `{"from": 1, "to": 10}`,
                `{"values": {"bad": 0, "good": 1}}`, or words alone, the worst first; guessed where
                it is obvious (yes and no, 0 and 1, 1 to 5 with all five seen) when None.
            columns: further keys of a column map: `{"criterion": "rubric", "mark": "points"}`.
            dataset: what the samples belong to; what the frame says, else `frame`, when None.
            accept: bring it in although something is doubtful.
            replace: where the study holds other contents under the same ids, take the imports back
                that brought them.

        Raises:
            UsageError: the study is sealed, the frame is empty, or a column or scale can't be used.
            FormatError: no column holds a criterion or a mark, or their scale isn't obvious.
            DoubtError: something must be accepted first; the message says what.
            ConflictError: the study holds other contents under the same ids. Whatever is raised,
                nothing of the frame stays.
        """
        return add_frame(
            self._store, self.name, frame, scale=scale, columns=columns, dataset=dataset,
            accept=accept, replace=replace,
        )  # fmt: skip

    def pictures(self, sample: str) -> list[bytes]:
        """Return a sample's pictures in order, as they were imported.

        Args:
            sample: its id, as `samples` lists it.

        Raises:
            UsageError: there is no such sample.
            PictureError: one isn't attached.
        """
        found = self._store.get(Sample, sample)
        if found is None:
            raise UsageError(f"there is no sample {sample!r} in {self.name!r}")
        return [part.read() for part in read_material(self._store, found).pictures]

    def close(self) -> None:
        """Close the store that it lies in."""
        self._store.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @property
    def _data(self) -> StudyData:
        return self._current().data

    def _current(self) -> ExportSource:
        """Return the study as it stands, read anew only after the store has changed."""
        if "data" in self._source.__dict__:
            now = self._store.revision(self._source.data.study.id)
            if self._source.data.revision == now:
                return self._source
        self._source = replace(self._source)
        return self._source

    def _samples(self) -> Iterator[WholeSample]:
        return whole_samples(self._current())

    def _profiles(self, model: str | None, facet: str | None, reading: Reading) -> list[Profile]:
        data = self._data
        facet = known_facet(data, facet)
        chosen = data.table.model_ids if model is None else (find_model(data, model),)
        return [profile(data, _look(reading), one, facet=facet) for one in chosen]

    def _frame(self, columns: Sequence[ExportColumn], lines: Iterable[Line]) -> pd.DataFrame:
        frame = frame_of(columns, lines)
        frame.attrs = {"study": self.name, "judge": self.judge, "synthetic": self.synthetic}
        return frame


def _look(reading: Reading) -> Filters:
    return Filters(reading=reading)


def _sample_line(whole: WholeSample) -> Line:
    one = whole.sample
    return (
        one.id, one.dataset, one.source_id, one.question, one.choices, one.reference,
        tuple(slot.name for slot in one.pictures), whole.tags, whole.quarantined, one.synthetic,
    )  # fmt: skip


def _criteria(whole: WholeSample) -> Iterator[Line]:
    for number, use in enumerate(whole.criteria, start=1):
        yield (whole.sample.id, *criterion_line(number, use))


def _answers(whole: WholeSample, models: Sequence[str]) -> Iterator[Line]:
    for one in whole.answers:
        answer = one.response
        yield (
            whole.sample.id, models[one.model], answer.repeat, answer.text, answer.state, one.right,
             one.score, one.preferred,
        )  # fmt: skip


def _numbers(one: Estimate) -> Line:
    return one.value, one.lo, one.hi, one.n, one.samples


def _place(model: str, name: str, path: tuple[str, ...], label: tuple[str, str] | None) -> Line:
    return model, path, name, None if label is None else label[0]


def _nodes(found: Profile) -> Iterator[Line]:
    for node in found.nodes:
        yield (
            *_place(found.row.name, node.name, node.path, node.label), node.depth,
            *_numbers(node.estimate), node.status, node.effect.value, node.effect.lo,
            node.effect.hi, node.claim_n,
        )  # fmt: skip


def _weakness(model: str, one: Weakness) -> Line:
    return (
        *_place(model, one.name, one.path, one.label), one.status, one.frame, one.effect, one.lo,
        one.hi, one.mean, one.n, one.samples, one.p_adjusted, one.more_samples,
    )  # fmt: skip
