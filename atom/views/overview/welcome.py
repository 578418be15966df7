"""What a newcomer sees first: one failed criterion in its picture, and a tour of five stops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from atom.records import Region
from atom.store import Store
from atom.views.failures.page import failures
from atom.views.failures.sample import SampleView, sample_view
from atom.views.filters import Filters
from atom.views.overview.page import Overview, overview
from atom.views.overview.weaknesses import Weakness
from atom.views.study_data import StudyData

_MOST_FINDINGS = 4
_MOST_ROWS = 8
"""Samples of a finding that are looked through for one that shows well."""


@dataclass(frozen=True, kw_only=True)
class ExampleCase:
    """A failed criterion that explains itself.

    Attributes:
        case: the sample, with the criterion and the answer chosen.
        regions: where in its first picture the criterion looks; never empty.
        filters: its door.
        finding: the weakness that it is an example of; None where none is found.
    """

    case: SampleView
    regions: tuple[Region, ...]
    filters: Filters
    finding: Weakness | None

    @property
    def quoted(self) -> bool:
        """Whether the judge quotes words of the answer."""
        point = self.case.mark.checkpoint if self.case.mark else None
        return bool(point and point.quote)


def picked_case(store: Store, data: StudyData) -> ExampleCase | None:
    """Pick a failed criterion with a region and, where there is one, a quote.

    Examples of the largest confirmed weaknesses come first, then whatever failed.

    Returns:
        The same pick each time; None where no failed criterion has a region in a picture.
    """
    return data.table.kept.get("picked case", lambda: _pick(store, data))


def _pick(store: Store, data: StudyData) -> ExampleCase | None:
    first: ExampleCase | None = None
    for finding, filters in _places(data, overview(data, Filters())):
        for row in failures(store, data, filters).rows[:_MOST_ROWS]:
            found = _shown(store, data, row.filters.but(criterion=row.criterion_id), finding)
            if found is not None and found.quoted:
                return found
            first = first or found
    return first


def _places(data: StudyData, view: Overview) -> Iterator[tuple[Weakness | None, Filters]]:
    sure = [one for row in view.ranking for one in row.findings if one.status == "confirmed"]
    for one in sorted(sure, key=lambda one: -abs(one.pooled))[:_MOST_FINDINGS]:
        yield one, one.filters
    yield None, Filters(model=data.candidates[0].id if data.candidates else None)


def _shown(
    store: Store, data: StudyData, filters: Filters, finding: Weakness | None
) -> ExampleCase | None:
    case = sample_view(store, data, filters)
    if case is None or case.criterion is None or case.mark is None:
        return None
    pictures = case.sample.pictures
    regions = tuple(one for one in case.criterion.regions if one.picture == 1)
    failed = case.mark.near is not None and case.mark.near <= 2
    if not (failed and regions and pictures and pictures[0].picture_id):
        return None
    return ExampleCase(case=case, regions=regions, filters=filters, finding=finding)


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop of the tour.

    Attributes:
        title: what it shows.
        words: two or three plain sentences.
        page: address of its screen.
        filters: what is chosen there.
        local: keys of that screen alone.
    """

    title: str
    words: str
    page: str
    filters: Filters
    local: dict[str, str] = field(default_factory=dict)


def tour(store: Store, data: StudyData, filters: Filters) -> tuple[Stop, ...]:
    """Return the stops, on real pages and picked cases of the study.

    Args:
        filters: its key; nothing else of them is kept.
    """
    home = Filters(study=filters.study)
    picked = picked_case(store, data)
    case = picked.filters.but(study=filters.study) if picked else home
    finding = picked.finding if picked else None
    model = next((one.name for one in data.candidates if one.id == case.model), "a model")
    weak = home.but(model=case.model, node=finding.path if finding else ())
    onward = f"{model} on {finding.name}" if finding else "one answer, step by step"
    card = (
        f"is {finding.name}: what it means, how every model does there"
        if finding
        else "is the whole tree until you choose a capability in it: how every model does there"
    )
    judged = (
        f"A question that {model} got wrong. Its picture shows where the chosen step looks; beside "
        "it stand the judge's reason and the words of the answer that it rests on; the table has "
        "every step with each model's mark."
    )
    unjudged = (
        "The questions that models got wrong, each with its picture and every answer. Once a judge "
        "has marked the steps, each mark stands here with the judge's reason and the place in the "
        "picture."
    )
    return (
        Stop(
            title="Who is ahead, and what breaks each of them?",
            words="A row is a model: its mean score, with the range that chance leaves it. Models "
            "that the data don't tell apart share their ranks. ▼ names a capability at which a "
            f"model does surely worse than expected. Next: {onward if picked else 'the answers'}.",
            page="",
            filters=home,
        ),
        Stop(
            title="From the number to its cause",
            words=judged if picked else unjudged,
            page="failures",
            filters=case,
        ),
        Stop(
            title="What is being tested?",
            words="Every step belongs to a capability, and capabilities form a tree. The card at "
            f"the right {card}, and the steps that lose most.",
            page="tree",
            filters=weak,
        ),
        Stop(
            title="What shape is each model?",
            words="The radars draw a model's strong and weak sides against the grey band of all "
            "models; below them each capability stands with its evidence, the surest first.",
            page="fingerprints",
            filters=home.but(model=case.model),
        ),
        Stop(
            title="Why believe the judge?",
            words="Marks are a judge model's opinion. Here it is held against itself, other "
            "judges, known truth and people; what isn't known is said. That was the tour: bring "
            "results of your own, or let your model be judged.",
            page="judge-lab",
            filters=home,
        ),
    )
