"""One model's profile: score, rank, every capability with its evidence, luck, weaknesses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from atom.analysis.readings import Reading
from atom.display.estimate import Estimate
from atom.display.table import Column, Table
from atom.display.table import data as columns_of
from atom.errors import UsageError
from atom.records import Candidate, Judge
from atom.views.facets import data_facets
from atom.views.filters import Filters, Measure, measure_of
from atom.views.overview.evidence import GLYPHS, NodeEvidence, UnusedMarks, evidence
from atom.views.overview.page import overview
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.overview.ranking import RankRow
from atom.views.overview.weaknesses import ModelWeaknesses, Weakness, Weaknesses, weaknesses
from atom.views.study_data import StudyData
from taxonomy import Path, format_path

UNITS: Final[Mapping[Measure, str]] = {
    "process": "score 0-100",
    "outcome": "right, %",
    "preference": "votes won, %",
}
_NOTHING: Final = Estimate(value=math.nan, unit="gap")


@dataclass(frozen=True, kw_only=True)
class ProfileNode:
    """A model on one capability or label.

    Attributes:
        path: its path in the tree; empty for a label.
        label: (facet, value) for a label; None for a capability.
        depth: 1 for a root; 1 for a label.
        estimate: the model's mean there.
        status: what may be claimed, in words.
        effect: departure from what the frame expects, in points of 100.
        claim_n: checkpoints that the claim rests on; 0 for labels.
        left_out: checkpoints that it doesn't rest on.
    """

    name: str
    path: Path
    label: tuple[str, str] | None
    depth: int
    estimate: Estimate
    status: str
    glyph: str
    effect: Estimate = _NOTHING
    claim_n: int = 0
    left_out: UnusedMarks = field(default_factory=UnusedMarks)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One model's profile.

    Attributes:
        measure: what the numbers are.
        reading: what steps means are over.
        models: models in the ranking.
        nodes: capabilities in the tree's order, or labels.
        lucky: right answers whose steps don't hold; None where that can't be said.
        right: right answers that this was counted over.
        weaknesses: labelled weaknesses and strengths, the surest first.
        looked: how weaknesses were looked for; None where there was nothing to look at.
        tested: places with enough evidence to be tested.
        facet: the labels that `nodes` are; None = capabilities.
    """

    measure: Measure
    row: RankRow
    models: int
    nodes: tuple[ProfileNode, ...]
    lucky: int | None
    right: int
    weaknesses: tuple[Weakness, ...]
    looked: Weaknesses | None
    tested: int = 0
    facet: str | None = None
    reading: Reading = "strict"


def find_model(data: StudyData, name: str) -> str:
    """Return the id of a model that is named by its id or name.

    Raises:
        UsageError: there is none, or there are several.
    """
    return _find(data, data.candidates, name, ("no model", "several models", "models"))


def find_judge(data: StudyData, name: str) -> str:
    """Return the id of a judge that marked anything, as `find_model` does."""
    return _find(data, data.judges, name, ("no marks by", "several judges", "judges"))


def _find(
    data: StudyData, known: Sequence[Candidate | Judge], name: str, words: tuple[str, str, str]
) -> str:
    found = [one.id for one in known if name in (one.id, one.name)]
    if len(found) != 1:
        none, several, all_ = words
        names = ", ".join(repr(one.name) for one in known) or "none"
        raise UsageError(
            f"the study {data.study.name!r} has {several if found else none} {name!r}; "
            f"{all_} are {names}"
        )
    return found[0]


def known_facet(data: StudyData, name: str | None) -> str | None:
    """Return a facet that is asked for by its name; None when none is.

    Raises:
        UsageError: the study has no labels of that name.
    """
    facets = data_facets(data.table.facets)
    if name is None or name in facets:
        return name
    known = ", ".join(map(repr, facets)) or "none"
    raise UsageError(f"the study {data.study.name!r} has no labels {name!r}; labels are {known}")


def profile(
    data: StudyData, filters: Filters, model_id: str, *, facet: str | None = None
) -> Profile:
    """Compute a model's profile.

    Args:
        filters: what narrows it; the chain doesn't.
        model_id: the model, which must be of the study.
        facet: labels to look at; None = capabilities, else what the Overview chooses.
    """
    view = overview(data, filters, facet=facet)
    row = next(row for row in view.ranking if row.model_id == model_id)
    place = row.colour
    quadrant = next((q.counts for q in view.quadrants if q.model_id == model_id), None)
    measure = measure_of(data, filters)
    by_tree = measure == "process" and view.facet is None
    seen = evidence(data, filters, place) if by_tree else None
    looked, found, tested = view.weaknesses, row.findings, row.tested
    if facet is not None and measure == "process":
        # The Overview's own weaknesses are of capabilities; these are of the labels asked for.
        looked = weaknesses(data, filters, measure, facet)
        mine = looked.models[place] if looked is not None else ModelWeaknesses()
        found, tested = mine.found, mine.tested
    labelled = {item.label: item for item in found if item.label is not None}
    nodes = []
    for skill in view.skills:
        estimate = skill.cells[place].estimate
        if not estimate.known:
            continue
        known = seen.at(skill.path) if seen is not None and skill.label is None else None
        item = labelled.get(skill.label) if skill.label is not None else None
        status, glyph = "", ""
        effect = _NOTHING
        if known is not None:
            status, glyph, effect = known.words, known.glyph, _gap(known)
        elif item is not None:
            (glyph, status), effect = GLYPHS[item.status], _gap(item)
        elif looked is not None:
            few = estimate.samples < MIN_SAMPLES
            glyph, status = GLYPHS["insufficient" if few else "nothing found"]
        nodes.append(
            ProfileNode(
                name=skill.name,
                path=skill.path,
                label=skill.label,
                depth=skill.depth,
                estimate=estimate,
                status=status,
                glyph=glyph,
                effect=effect,
                claim_n=known.n if known is not None else 0,
                left_out=known.left_out if known is not None else UnusedMarks(),
            )
        )
    return Profile(
        measure=measure,
        row=row,
        models=len(view.ranking),
        nodes=tuple(nodes),
        lucky=quadrant.lucky if quadrant is not None else None,
        right=quadrant.sound + quadrant.lucky if quadrant is not None else 0,
        weaknesses=found,
        looked=looked,
        tested=tested,
        facet=view.facet,
        reading=filters.reading,
    )


def _gap(one: Weakness | NodeEvidence) -> Estimate:
    return Estimate(value=one.effect, lo=one.lo, hi=one.hi, n=one.n, unit="gap")


def node_table(found: Profile) -> Table[ProfileNode]:
    """Table a model on every capability or label, for the command and its JSON."""
    columns = (
        Column[ProfileNode](title="where", of=lambda one: f"{'· ' * (one.depth - 1)}{one.name}"),
        *columns_of("name"),
        Column[ProfileNode](title="", of=lambda one: format_path(one.path), name="path",
                            seen="data"),
        *columns_of("label", "status"),
        Column[ProfileNode](title=UNITS[found.measure], of=lambda one: one.estimate, name="value",
                            ends=("lo", "hi"), number=True),
        Column[ProfileNode](title="n", of=lambda one: one.estimate.n, name="n", number=True),
        Column[ProfileNode](title="samples", of=lambda one: one.estimate.samples, name="samples",
                            number=True),
        Column[ProfileNode](title="label", of=lambda one: f"{one.glyph} {one.status}".strip()),
        Column[ProfileNode](title="difference", of=lambda one: one.effect, name="effect",
                            ends=("effect_lo", "effect_hi"), number=True),
        *columns_of("claim_n"),
    )  # fmt: skip
    return Table(label=f"Profile of {found.row.name}", columns=columns, rows=found.nodes)
