"""What findings are looked for in: the view-models of the screens, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats
from atom.analysis.layout import Layout, tree_layout
from atom.reports.records import Finding
from atom.store import Store
from atom.views.failures.page import count_listed
from atom.views.failures.sample import SampleParts, sample_parts
from atom.views.filters import Filters, Measure, answer_values, answers_kept, measure_of, rows_kept
from atom.views.overview.asked_rows import lay_out
from atom.views.overview.more import OverviewMore, overview_more
from atom.views.overview.page import Overview, overview
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData

FAILURES = "failures"
OVERVIEW = ""
COMPARE = "compare"


@dataclass(frozen=True)
class StudyLook:
    """A study under filters, looked at as the screens do.

    Args:
        store: where texts are read from.
        filters: what narrows it; the chain is left out.
        seed: for the finding that draws at random.
        facet: the labels to look at, where the numbers aren't of the process; None = chosen as the
            Overview chooses.
    """

    store: Store
    data: StudyData
    filters: Filters
    seed: int = 0
    facet: str | None = None

    @cached_property
    def base(self) -> Filters:
        """The filters without the chain: where every door starts from."""
        return self.filters.but(
            model=None, node=(), criterion=None, sample=None, peers=(), show="failed", rests=None
        )

    @cached_property
    def measure(self) -> Measure:
        """What the numbers are."""
        return measure_of(self.data, self.filters)

    @cached_property
    def view(self) -> Overview:
        """The Overview."""
        return overview(self.data, self.base, facet=self.facet)

    @cached_property
    def more(self) -> OverviewMore:
        """What stands below its ranking."""
        return overview_more(self.data, self.base)

    def parts_of(self, sample_id: str) -> SampleParts | None:
        """What of a sample is the same for every model's cases, read once."""
        if sample_id not in self._parts:
            self._parts[sample_id] = sample_parts(self.store, self.data, sample_id)
        return self._parts[sample_id]

    @cached_property
    def _parts(self) -> dict[str, SampleParts | None]:
        return {}

    @cached_property
    def answers(self) -> NDArray[np.bool_]:
        """The answers that count, shape (R,)."""
        return answers_kept(self.data, self.base)

    @cached_property
    def rows(self) -> NDArray[np.bool_]:
        """The checkpoints that count, shape (N,)."""
        return rows_kept(self.data, self.base)

    @cached_property
    def mean_rows(self) -> NDArray[np.bool_]:
        """Those of them that capabilities' means are made of, shape (N,)."""
        return mean_rows_kept(self.data, self.base)

    @cached_property
    def layout(self) -> Layout | None:
        """Capabilities by process, else the labels that the Overview tabulates."""
        table = self.data.table
        if self.measure == "process":
            return tree_layout(table) if table.leaves else None
        facet = self.view.facet
        if facet is None:
            return None
        return lay_out(self.data, self.measure, facet, None)

    @cached_property
    def layout_rows(self) -> NDArray[np.bool_]:
        """Which rows of the layout count."""
        return self.mean_rows if self.measure == "process" else self.answers

    @cached_property
    def pivot(self) -> Floats:
        """Mean value of each model on each sample, shape (S, K); NaN where it has none."""
        table = self.data.table
        value = answer_values(self.data, self.base, self.measure)
        good = self.answers & np.isfinite(value)
        cell = table.sample[good].astype(np.int64) * table.n_models + table.model[good]
        size = len(table.sample_ids) * table.n_models
        count = np.bincount(cell, minlength=size)
        total = np.bincount(cell, weights=value[good], minlength=size)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return mean.reshape(len(table.sample_ids), table.n_models)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The models' names, in the study's order."""
        return tuple(candidate.name for candidate in self.data.candidates)

    @property
    def failed_words(self) -> str:
        """What the samples in a list of failures are."""
        if self.measure == "process":
            return "samples with a failed criterion"
        if self.measure == "outcome":
            return "samples answered wrongly"
        return "samples where it lost votes"

    def failed_by(self, name: str) -> str:
        """Say what the samples in a list of one model's failures are."""
        return {
            "process": f"samples with a criterion that {name} failed",
            "outcome": f"samples that {name} answered wrongly",
            "preference": f"samples where {name} lost votes",
        }[self.measure]

    def door(self, filters: Filters, page: str = FAILURES, **local: str | None) -> str:
        """Write where a finding leads, relative to the app.

        Args:
            page: its url path.
            local: keys of that page alone; None leaves a key out.
        """
        return address(filters, page, **local)

    def listed(self, filters: Filters, words: str = "") -> dict[str, object]:
        """Return the fields of a door that leads to a list, its count with them.

        A list with nothing in it gets no door.
        """
        number = count_listed(self.data, filters)
        if not number:
            return {}
        return {
            "door": self.door(filters),
            "behind": number,
            "behind_words": words or self.failed_words,
        }


def address(filters: Filters, page: str = FAILURES, **local: str | None) -> str:
    """Write a relative address: `failures?study=...&model=...`."""
    query: dict[str, object] = dict(filters.to_query())
    query.update({key: value for key, value in local.items() if value})
    return f"{page}?{urlencode(query, doseq=True)}"


def make(**fields: object) -> Finding:
    """Make a finding of named fields, some of which another function gave."""
    return Finding.model_validate(fields)
