"""Draft: from a study to a whole report that is composed by rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean, pstdev

from atom.errors import UsageError
from atom.reports.compose import compose
from atom.reports.findings.caveats import chosen_words
from atom.reports.findings.exhibits import exhibits
from atom.reports.findings.looking import StudyLook
from atom.reports.findings.saturate import find_of, find_shared
from atom.reports.findings.selection import select
from atom.reports.records import (
    Axis,
    Bar,
    Choice,
    Finding,
    PartText,
    Report,
    ReportSetting,
    Section,
)
from atom.settings import app_version
from atom.store import Store
from atom.views.filters import Filters, Measure, label_words
from atom.views.judges.panel import panel_view
from atom.views.judges.panel_words import panel_words
from atom.views.overview.page import SkillRow
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.reading import READINGS
from atom.views.study_data import StudyData, load_study

STUDY = "study"
"""Id of the section about the study as a whole."""
AXES = (3, 12)
"""Fewest and most rows of a profile."""
RADAR = (3, 18)
"""Fewest and most axes of a radar."""
MOST_SECTIONS = 24
"""Models that a report has a section on: nobody reads two hundred."""
SKILLS = 6
"""Capabilities shown at both ends of a model's range."""


@dataclass(frozen=True, kw_only=True)
class ReportSpec:
    """What a report is to hold.

    Args:
        models: ids of the models with a section of their own; None = all.
        landscape: whether there is a section about the study as a whole.
        cases: exhibits for each model.
        left_out: findings that the reader doesn't want.
        added: findings that the reader wants whatever the rules say.
        seed: of what is drawn at random.
        made: when, in words; empty where it isn't to be said.
    """

    models: tuple[str, ...] | None = None
    landscape: bool = True
    cases: int = 3
    left_out: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    seed: int = 0
    made: str = ""


@dataclass(frozen=True)
class ReportDraft:
    """A study looked at for a report: findings once, any number of reports from them.

    Args:
        look: the study under its filters.
    """

    look: StudyLook
    _held: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    _of_models: dict[str, tuple[Finding, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        store: Store,
        data: StudyData,
        filters: Filters,
        *,
        seed: int = 0,
        facet: str | None = None,
    ) -> ReportDraft:
        """Look at a study.

        Raises:
            UsageError: labels are asked for, but the report is about the process.
        """
        look = StudyLook(store, data, filters, seed, facet)
        if facet is not None and look.measure == "process":
            raise UsageError(
                "a report on a judged study is about its capabilities: leave --facet out, or see "
                f"`profile show --facet {facet}`"
            )
        return cls(look)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that the data show, of the models that have a section by themselves."""
        return self._found(self._wanted(ReportSpec()))

    def _found(self, wanted: Iterable[str]) -> tuple[Finding, ...]:
        """Compute the findings of the study and of some models; each model's are kept."""
        own, after = self._shared
        among = set(wanted)
        rows = [row for row in self.look.view.ranking if row.model_id in among]
        for row in rows:
            if row.model_id not in self._of_models:
                self._of_models[row.model_id] = find_of(self.look, row)
        each = (found for row in rows for found in self._of_models[row.model_id])
        return (*own, *each, *after)

    @cached_property
    def _shared(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        return find_shared(self.look)

    def report(self, spec: ReportSpec) -> Report:
        """Compose a report by rule."""
        look = self.look
        wanted = self._wanted(spec)
        choices = self.choices(spec)
        told_ids = {choice.finding_id for choice in choices if choice.told}
        told = [finding for finding in self._found(wanted) if finding.id in told_ids]
        sections = []
        if spec.landscape:
            sections.append(self._study(told))
        else:
            care = [part for part in compose(told, None, look.measure) if part.part == "care"]
            sections.append(self._section(STUDY, "Read with care", None, care))
        sections += [self._model(spec, told, model_id) for model_id in wanted]
        study = look.data.study
        return Report(
            title=study.name,
            study=study.name,
            synthetic=study.synthetic,
            measure=look.measure,
            lead=_lead(look.measure, self.look.base),
            selection=chosen_words(look.base),
            sections=tuple(sections),
            findings=tuple(self._kept(spec, wanted)),
            choices=choices,
            settings=tuple(self._settings(spec)),
        )

    def choices(self, spec: ReportSpec) -> tuple[Choice, ...]:
        """Choose what is told."""
        kept = self._kept(spec, self._wanted(spec))
        return select(kept, added=spec.added, left_out=spec.left_out)

    def _wanted(self, spec: ReportSpec) -> list[str]:
        """Return the models with a section, in the ranking's order."""
        order = [row.model_id for row in self.look.view.ranking]
        asked = order if spec.models is None else [name for name in order if name in spec.models]
        return asked[:MOST_SECTIONS]

    def without_section(self, spec: ReportSpec) -> int:
        """Count the models that are asked for and have no section: a report has so many."""
        asked = len(self.look.view.ranking) if spec.models is None else len(spec.models)
        return max(0, asked - MOST_SECTIONS)

    def _kept(self, spec: ReportSpec, wanted: Iterable[str]) -> list[Finding]:
        owners = set(wanted)
        return [
            finding
            for finding in self._found(owners)
            if (finding.owner in owners)
            or (finding.owner is None and (spec.landscape or finding.part == "care"))
        ]

    def _study(self, told: list[Finding]) -> Section:
        parts = compose(told, None, self.look.measure)
        bars = tuple(
            Bar(
                name=row.name,
                place=row.colour,
                value=row.score.value,
                lo=row.score.lo,
                hi=row.score.hi,
                n=row.score.n,
                note=_ranks(row.rank_best, row.rank_worst),
                differ=row.judges.share if row.judges and row.judges.n else None,
                disagreement=row.judges.disagreement if row.judges and row.judges.n else None,
            )
            for row in self.look.view.ranking
            if row.score.known
        )
        whole = "selection" if chosen_words(self.look.base) else "study"
        return self._section(
            STUDY, f"The {whole} as a whole", None, parts, bars=bars, panel=self._panel
        )

    @cached_property
    def _panel(self) -> tuple[str, ...]:
        """Say what the judges are worth together; nothing where one judge marked the study."""
        look = self.look
        if look.data.table.apart is None:
            return ()
        name = look.data.study.id
        view = panel_view(
            look.store, look.data, lambda judge: load_study(look.store, name, judge), look.base
        )
        return () if view is None else panel_words(view)

    def _model(self, spec: ReportSpec, told: list[Finding], model_id: str) -> Section:
        look = self.look
        place = look.data.model_index(model_id)
        assert place is not None
        key = f"{model_id}/{spec.cases}/{','.join(f.id for f in told if f.owner == model_id)}"
        if key not in self._held:
            self._held[key] = exhibits(look, model_id, told, spec.cases)
        return self._section(
            model_id,
            look.names[place],
            place,
            compose(told, model_id, look.measure),
            axes=tuple(self._level(place, (1, 2), AXES)),
            radar=tuple(self._level(place, (2, 1), RADAR)),
            models=len(look.view.ranking),
            skills=tuple(self._skills(place)),
            exhibits=self._held[key],
        )

    def _section(
        self,
        name: str,
        title: str,
        place: int | None,
        parts: Iterable[PartText],
        **fields: object,
    ) -> Section:
        return Section.model_validate(
            {"id": name, "title": title, "place": place, "parts": tuple(parts), **fields}
        )

    # Figures

    def _level(
        self, place: int, depths: tuple[int, ...], bounds: tuple[int, int]
    ) -> Iterator[Axis]:
        """Return a model on the first level of the tree that has a readable number of nodes."""
        rows = [row for row in self.look.view.skills if row.cells[place].estimate.known]
        for depth in depths:
            level = [row for row in rows if row.depth == depth]
            if bounds[0] <= len(level) <= bounds[1]:
                yield from (_axis(row, place) for row in level)
                return

    def _skills(self, place: int) -> Iterator[Axis]:
        """Return the capabilities at both ends of a model's range, the lowest first."""
        leaves = set(self.look.data.table.leaves)
        rows = [
            row
            for row in self.look.view.skills
            if (row.label is not None or row.path in leaves)
            and row.cells[place].estimate.known
            and row.cells[place].estimate.samples >= MIN_SAMPLES
        ]
        rows.sort(key=lambda row: (row.cells[place].estimate.value, row.path, row.name))
        ends = rows if len(rows) <= 2 * SKILLS else [*rows[:SKILLS], *rows[-SKILLS:]]
        yield from (_axis(row, place) for row in ends)

    # How it was made

    def _settings(self, spec: ReportSpec) -> Iterator[ReportSetting]:
        look = self.look
        data, looked = look.data, look.view.weaknesses
        rows = {
            "Study": f"{data.study.name} ({data.study.id})",
            "Revision of the store": str(data.revision),
            "Measure": _MEASURES[look.measure],
            **({"Reading": READINGS[look.base.reading]} if look.measure == "process" else {}),
            "Judge": data.judge.name if data.judge else "none",
            "Capability tree": data.study.tree_version or "none",
            "Judge's sampling": _sampling(data.study.judge_sampling.model_dump())
            if data.judge
            else "none",
            "Answers' sampling": _sampling(data.study.answer_sampling.model_dump())
            if any(candidate.endpoint for candidate in data.candidates)
            else "not known: the answers were imported",
            "Selection": ", ".join(_selection(look.base)) or "the whole study",
            "Intervals": "95 %, moderated Wilson, clustered by picture",
            "Seed": str(spec.seed),
            "Atomscope": app_version(),
        }
        if looked is not None:
            rows["Weaknesses"] = (
                f"{looked.frame} frame, margin {looked.margin:.1f} points of 100, false discovery "
                f"rate {looked.q:.2f} (Benjamini–Hochberg)"
            )
        left = self.without_section(spec)
        if left:
            rows["Models with a section"] = (
                f"{MOST_SECTIONS}, the first in the ranking; {left:,} more have none: choose those "
                "you want to read about"
            )
        if spec.made:
            rows["Made"] = spec.made
        yield from (ReportSetting(name=name, value=value) for name, value in rows.items())


_LEADS = {
    "process": (
        "Scores are mean sample scores on 0–100: each answer is marked at small weighted criteria, "
        "not only at its end."
    ),
    "outcome": "Numbers are shares of right final answers, in percent.",
    "preference": "Numbers are shares of votes won against other answers, in percent; a tie counts "
    "half.",
}
_MEASURES = {
    "process": "steps (criteria scored 1 to 5 by a judge)",
    "outcome": "final answers, right or wrong",
    "preference": "votes between answers",
}


def _lead(measure: Measure, filters: Filters) -> str:
    """Say what the numbers are, and over which steps."""
    if measure == "process" and filters.reading == "said":
        return f"{_LEADS[measure]} They are over the steps that an answer speaks of."
    return _LEADS[measure]


def _ranks(best: int, worst: int) -> str:
    if not best:
        return ""
    return f"{best}" if best == worst else f"{best}–{worst}"


def _sampling(values: dict[str, object]) -> str:
    said = [f"{name} {value}" for name, value in values.items() if value is not None]
    return ", ".join(said).replace("_", " ") or "the server's own"


def _selection(filters: Filters) -> Iterator[str]:
    yield from label_words(filters)
    for name in ("root", "judge", "outcome", "process"):
        value = getattr(filters, name)
        if value:
            yield f"{name} {value}"


def _axis(row: SkillRow, place: int) -> Axis:
    mine = row.cells[place].estimate
    others = [cell.estimate.value for cell in row.cells if cell.estimate.known]
    return Axis(
        name=row.name,
        path=row.label or row.path,
        value=mine.value,
        lo=mine.lo,
        hi=mine.hi,
        mean=fmean(others) if len(others) > 1 else None,
        spread=pstdev(others) if len(others) > 1 else 0.0,
        n=mine.n,
    )
