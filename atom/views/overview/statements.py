"""What stands out on the Overview, in a few sentences, each with its door."""

from __future__ import annotations

from dataclasses import dataclass

from atom.views.filters import Filters, Measure
from atom.views.overview.quadrants import MIN_SAMPLES, ModelQuadrant
from atom.views.overview.ranking import RankRow
from atom.views.overview.weakness_words import effect_words, frame_in_words
from atom.views.overview.weaknesses import Weakness, Weaknesses, leading
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that stands out, and the door behind it."""

    text: str
    filters: Filters
    page: str
    """`failures` or `overview`."""


def selected_statement(
    filters: Filters, ranking: tuple[RankRow, ...], selected: str
) -> tuple[Statement, ...]:
    """Say that chosen answers rank nobody."""
    if not any(row.score.known for row in ranking):
        return ()
    text = (
        f"Only {selected} are looked at, which are other samples for every model: "
        "the scores below describe them, and rank nobody."
    )
    door = filters.but(model=None, node=(), sample=None, criterion=None, show="all")
    return (Statement(text=text, filters=door, page="failures"),)


def statements_of(
    data: StudyData,
    measure: Measure,
    ranking: tuple[RankRow, ...],
    quadrants: tuple[ModelQuadrant, ...],
    looked: Weaknesses | None,
    anchor: int | None,
    n_out: int,
) -> tuple[Statement, ...]:
    """Say in words what stands out; every sentence names its numbers."""
    known = [row for row in ranking if row.score.known and row.colour != anchor]
    found: list[Statement] = []
    if not known:
        return ()
    first = known[0]
    rivals = [row for row in known[1:] if row.rank_best == 1]
    verb = "leads with" if len(known) > 1 else "has"
    lead = f"{first.name} {verb} {_lead_words(data, measure, first, anchor)}"
    if len(known) == 1:
        lead += "; with one model there is nobody to rank it against"
    elif rivals:
        names = rivals[0].name if len(rivals) == 1 else f"{len(rivals):,} others"
        lead += f", but not surely: {names} can't be told apart from it"
    else:
        others = known[1].name if len(known) == 2 else f"all {len(known) - 1:,} others"
        lead += f", ahead of {others} beyond chance"
    found.append(Statement(text=lead + ".", filters=first.filters, page="failures"))
    if looked is not None:
        if looked.benchmarks > 1:
            found.append(_benchmarks_statement(known[0], looked))
        found += _weakness_statements(known, looked)
    if quadrants:
        luckiest = max(quadrants, key=lambda q: q.counts.lucky_share if q.counts.lucky else -1.0)
        counts = luckiest.counts
        n_right = counts.sound + counts.lucky
        if counts.lucky:
            found.append(
                Statement(
                    text=(
                        f"{luckiest.name} reaches {counts.lucky:,} of its {n_right} "
                        "right answers although its steps don't hold: right answer, wrong reason."
                    ),
                    filters=luckiest.filters,
                    page="failures",
                )
            )
    if n_out:
        found.append(
            Statement(
                text=(
                    f"{n_out} {'sample is' if n_out == 1 else 'samples are'} set aside: there the "
                    "judge's own solution disagrees with "
                    "the reference answer."
                ),
                filters=Filters(study=first.filters.study, show="all"),
                page="failures",
            )
        )
    return tuple(found[:5])


def _benchmarks_statement(first: RankRow, looked: Weaknesses) -> Statement:
    """Say that labels are compared within their benchmark, and how to compare across."""
    return Statement(
        text=(
            f"The study holds {looked.benchmarks:,} benchmarks: each label of {looked.facet} is "
            "compared within its own. Choose the labels “source” to compare the benchmarks."
        ),
        filters=Filters(study=first.filters.study, show="all"),
        page="failures",
    )


def _lead_words(data: StudyData, measure: Measure, first: RankRow, anchor: int | None) -> str:
    """Write what a model's score is."""
    value = f"{first.score.value:.1f}"
    if measure == "process":
        return f"a mean score of {value} of 100"
    if measure == "outcome":
        return f"right answers in {value} %"
    against = "" if anchor is None else f" against {data.candidates[anchor].name}"
    return f"{value} % of its votes{against} won (a tie counts half)"


def _weakness_statements(known: list[RankRow], looked: Weaknesses) -> list[Statement]:
    """Name the leader's own largest confirmed weakness, and the largest of any other model."""
    first, *others = known
    own = _confirmed(first)
    rest = [(row, item) for row in others for item in _confirmed(row)]
    found = []
    if own:
        found.append(_weakness_statement(f"{first.name}'s largest confirmed weakness is", own[0]))
    if rest:
        row, item = max(rest, key=lambda pair: abs(pair[1].pooled))
        if own and abs(own[0].pooled) > abs(item.pooled):
            start = f"Among the others, the largest is {row.name}'s"
        else:
            start = f"The largest confirmed weakness of any model is {row.name}'s"
        found.append(_weakness_statement(start, item))
    return found or [_nothing_confirmed(known, looked)]


def _confirmed(row: RankRow) -> list[Weakness]:
    return [item for item in leading(row.findings) if item.status == "confirmed"]


def _weakness_statement(start: str, item: Weakness) -> Statement:
    n = "1 sample" if item.samples == 1 else f"{item.samples:,} samples"
    # What peers predict is said in the effect's own words; a doubt about it isn't left out.
    notes = f"{frame_in_words(item)}; {n}" if item.confounded else n
    return Statement(
        text=f"{start} {item.name}: {effect_words(item)} ({notes}).",
        filters=item.filters,
        page="failures",
    )


def _nothing_confirmed(known: list[RankRow], looked: Weaknesses) -> Statement:
    """Say plainly that there is no confirmed weakness; the door leads to the surest suspicion."""
    by = "" if looked.facet is None else f"by {looked.facet}"
    what = f"{by} nothing" if by else "no capability"
    if not any(row.tested for row in known):
        return Statement(
            text=(
                "No weakness can be confirmed: the evidence is insufficient, "
                f"{what} can be compared on {MIN_SAMPLES} samples or more."
            ),
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    text = f"No weakness is confirmed in any model{by and f', {by}'} ({frame_in_words(looked)})"
    suspected = [item for row in known for item in leading(row.findings)]
    if not suspected:
        return Statement(
            text=f"{text}, and none is suspected.",
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    number = len(suspected)
    surest = max(suspected, key=lambda item: abs(item.pooled))
    return Statement(
        text=f"{text}; {number} {'is' if number == 1 else 'are'} suspected.",
        filters=surest.filters,
        page="failures",
    )
