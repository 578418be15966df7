"""People's labels of pairs and their ratings as lines and as plain values, for `fidelity show`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from atom.cli.parts.output import table
from atom.display import writers
from atom.store import Store
from atom.views.people.pair_labels import LabelFigure, PairLabels, pair_labels
from atom.views.people.pair_table import pair_table
from atom.views.people.ratings import PeopleRatings, RatingRow, people_ratings
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class PeopleLabels:
    """What people say beside rankings; None where they say nothing."""

    pairs: PairLabels | None
    ratings: PeopleRatings | None

    def lines(self) -> list[str]:
        """Write what there is, a line each."""
        return [
            *(_pair_lines(self.pairs) if self.pairs is not None else ()),
            *(_rating_lines(self.ratings) if self.ratings is not None else ()),
        ]

    def plain(self) -> dict[str, object]:
        """Return what `--json` prints; numbers that aren't defined are still NaN."""
        return {
            "pair_labels": None if self.pairs is None else asdict(self.pairs),
            "ratings": None if self.ratings is None else asdict(self.ratings),
        }


def people_labels(store: Store, data: StudyData) -> PeopleLabels:
    """Read a study's labels of pairs and ratings."""
    return PeopleLabels(pairs=pair_labels(store, data), ratings=people_ratings(store, data))


def finite(value: object) -> object:
    """Return values as JSON can hold them: numbers that aren't defined become null."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _pair_lines(view: PairLabels) -> list[str]:
    kind = ", synthetic" if view.synthetic else ""
    lines = [
        f"labels of pairs by {len(view.annotators):,} annotators{kind}: {view.pairs:,} "
        "pairs, most say "
        f"first {view.first}, second {view.second}, tie {view.ties}, no majority {view.open}",
        *(
            f"kappa of {one.first} and {one.second}: {_figure(one.kappa)}, {one.kappa.n:,} pairs"
            for one in view.kappas
        ),
    ]
    if view.alpha is not None:
        lines.append(f"alpha of all: {_figure(view.alpha)}, {view.alpha.n:,} pairs")
    if not view.judges:
        return [*lines, "no judge voted on these pairs"]
    return [
        *lines,
        *writers.lines(pair_table(view)),
        "precision, recall and F1 are means over the three labels",
    ]


def _rating_lines(view: PeopleRatings) -> list[str]:
    head = ["criterion", "alpha of raters", *(one.name for one in view.judges), "rated"]
    rows = [_rating(row) for row in (view.whole, *view.rows)]
    lines = [
        f"{view.ratings:,} ratings by {view.raters:,} people on {view.samples:,} samples, "
        f"{view.lowest:g} to {view.highest:g}",
        *table(tuple(head), rows),
    ]
    if view.judges:
        lines.append("under each judge: Spearman's correlation with people's mean; chance gives 0")
    if math.isfinite(view.one_rater):
        lines.append(f"one rater with the mean of the others, on average: {view.one_rater:.3f}")
    lines += [f"{one.unread:,} scores of {one.name} unread" for one in view.judges if one.unread]
    if view.unjudged:
        lines.append(f"no judge rated {', '.join(view.unjudged)}: not in `all`")
    return lines


def _rating(row: RatingRow) -> list[object]:
    cells = [_figure(row.alpha), *(_figure(one) for one in row.correlations)]
    return [row.criterion or "all", *cells, row.things]


def _figure(figure: LabelFigure) -> str:
    if math.isnan(figure.value):
        return "-"
    if math.isnan(figure.lo):
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} ({figure.lo:.2f} to {figure.hi:.2f})"
