"""What the Reports page shows: what goes in, what is told, and every finding with its door."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atom.display import numbers
from atom.reports import MOST_SECTIONS, Choice, Finding, Report, ReportDraft, ReportSpec
from atom.reports.html_file import BEYOND, behind_words, kind_words, number_words
from atom.ui import commands, kit, links
from atom.ui.html import Child, Html, el
from atom.ui.pages import REPORTS, SETTINGS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters

CASES = (0, 1, 2, 3)
USUAL_CASES = 3
BY_RULE = ""
"""The writer's name in the URL when no model is asked."""
TABS = (("preview", "Preview"), ("findings", "Findings"))
_CODE = 4
"""Letters of a finding's code in the URL."""


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """What the reader wants, as the URL says it.

    Attributes:
        models: places of the models with a section, in the study; None = all.
        cases: exhibits of a model.
        whole: whether there is a section about the study as a whole.
        writer: the judge's endpoint; empty = by rule.
        picked: codes of findings whose tick was changed.
        tab: `preview` or `findings`.
    """

    models: tuple[int, ...] | None
    cases: int
    whole: bool
    writer: str
    picked: tuple[str, ...]
    tab: str


def wish(here: Here) -> ReportRequest:
    """Read what the reader wants from the URL; what can't be understood is the usual."""
    count = len(here.data.candidates)
    query = here.query
    models: tuple[int, ...] | None = None
    if "of" in query:
        places = {int(p) for p in query["of"].split(".") if p.isascii() and p.isdigit()}
        models = tuple(sorted(place for place in places if place < count))
    cases = query.get("cases", "")
    return ReportRequest(
        models=models if models is None or len(models) < count else None,
        cases=int(cases) if cases in {str(number) for number in CASES} else USUAL_CASES,
        whole=query.get("whole") != "no",
        writer=query.get("writer", BY_RULE),
        picked=tuple(dict.fromkeys(c for c in query.get("pick", "").split(".") if len(c) == _CODE)),
        tab="findings" if query.get("tab") == "findings" else "preview",
    )


def code_of(finding_id: str) -> str:
    """Return a finding's code for the URL."""
    digest = hashlib.blake2b(finding_id.encode(), digest_size=3)
    return digest.hexdigest()[:_CODE]


def spec_of(here: Here, draft: ReportDraft, wanted: ReportRequest) -> ReportSpec:
    """Say what a report is to hold; a changed tick turns the rules' choice round."""
    ids = [candidate.id for candidate in here.data.candidates]
    plain = ReportSpec(
        models=None if wanted.models is None else tuple(ids[place] for place in wanted.models),
        landscape=wanted.whole,
        cases=wanted.cases,
    )
    if not wanted.picked:
        return plain
    turned = [c for c in draft.choices(plain) if code_of(c.finding_id) in wanted.picked]
    return ReportSpec(
        models=plain.models,
        landscape=plain.landscape,
        cases=plain.cases,
        left_out=frozenset(c.finding_id for c in turned if c.told),
        added=frozenset(c.finding_id for c in turned if not c.told),
    )


def to(here: Here, wanted: ReportRequest, **changes: str | None) -> str:
    """Write this page's address with something changed."""
    held: dict[str, str | None] = {
        "of": None if wanted.models is None else ".".join(map(str, wanted.models)) or "none",
        "cases": None if wanted.cases == USUAL_CASES else str(wanted.cases),
        "whole": None if wanted.whole else "no",
        "writer": wanted.writer or None,
        "pick": ".".join(wanted.picked) or None,
        "tab": None if wanted.tab == "preview" else wanted.tab,
    }
    return links.address(REPORTS.url_path, here.filters, **{**held, **changes})


# --- what goes in --------------------------------------------------------------------------------


def amount(here: Here) -> str:
    """Say how much findings are looked for in."""
    models = numbers.count(len(here.data.candidates), "model")
    leaves = numbers.count(len(here.data.table.leaves), "capability", "capabilities")
    return f"{numbers.count(len(here.data.table.model), 'answer')} of {models} on {leaves}"


def choices(here: Here, wanted: ReportRequest, writers: Sequence[str]) -> Html:
    """Draw what can be chosen: models, parts, and who writes."""
    return el(
        "div",
        _line("Models", _models(here, wanted), _limit(here, wanted)),
        _line(
            "Parts",
            _tick(
                "The study as a whole",
                wanted.whole,
                to(here, wanted, whole="no" if wanted.whole else None),
            ),
            el(
                "span",
                kit.tabs(
                    [
                        (
                            "no cases" if number == 0 else numbers.count(number, "case"),
                            to(here, wanted, cases=None if number == USUAL_CASES else str(number)),
                            number == wanted.cases,
                        )
                        for number in CASES
                    ],
                    label="Cases of each model",
                ),
            ),
        ),
        _line(
            "Written by",
            kit.tabs(
                [
                    ("rules", to(here, wanted, writer=None), not wanted.writer),
                    *(
                        (name, to(here, wanted, writer=name), name == wanted.writer)
                        for name in writers
                    ),
                ],
                label="Who writes",
            ),
        ),
        class_="reports-form",
    )


def _line(name: str, *content: Child) -> Html:
    return el("div", kit.small(name), el("div", content, class_="row"), class_="reports-line")


def _limit(here: Here, wanted: ReportRequest) -> Html | None:
    """Say that a report has only so many sections, where more are chosen."""
    count = len(here.data.candidates if wanted.models is None else wanted.models)
    if count <= MOST_SECTIONS:
        return None
    words = (
        f"A report has a section on at most {MOST_SECTIONS} models: the first {MOST_SECTIONS} of "
        f"these {count:,} in the ranking. Choose those that you want to read about."
    )
    return el("span", words, class_="quiet small", data_testid="reports-limit")


def _models(here: Here, wanted: ReportRequest) -> list[Html]:
    everyone = tuple(range(len(here.data.candidates)))
    chosen = everyone if wanted.models is None else wanted.models
    pieces = []
    for place, candidate in enumerate(here.data.candidates):
        rest = tuple(p for p in everyone if (p in chosen) != (p == place))
        value = None if rest == everyone else ".".join(map(str, rest)) or "none"
        pieces.append(
            _tick(kit.model(candidate.name, place), place in chosen, to(here, wanted, of=value))
        )
    return pieces


def _tick(label: Child, on: bool, href: str, *, tip: str | None = None) -> Html:
    return el(
        "a",
        el("span", "☑" if on else "☐", aria_hidden="true", class_="tickbox"),
        label,
        href=href,
        data_go=True,
        role="checkbox",
        aria_checked="true" if on else "false",
        class_="tick",
        data_tip=tip,
    )


# --- what came of it -----------------------------------------------------------------------------


def summary(here: Here, wanted: ReportRequest, report: Report) -> Html:
    """Say what the report tells, before it is shown."""
    del wanted
    told, everything = len(report.told), len(report.findings)
    chapters = numbers.count(len(report.sections), "chapter")
    text = f"The report includes {told:,} of {everything:,} findings, in {chapters}"
    if not report.written_by:
        by = ", each in a sentence composed by rule."
        return el("p", el("strong", text), by)
    doubts = report.unverified
    words = (
        f"{numbers.count(doubts, 'number or name', 'numbers and names')} that "
        f"{report.written_by} was not given {'is' if doubts == 1 else 'are'} marked in its text."
        if doubts
        else f"Every number and name in {report.written_by}'s text is one that it was given."
    )
    notes = [el("p", f"{s.title}: {s.note}", class_="small") for s in report.sections if s.note]
    del here
    return el(
        "div",
        el("p", el("strong", f"{text}, written by {report.written_by}."), f" {words} "),
        el("p", BEYOND, class_="quiet small"),
        notes,
    )


def tabs(here: Here, wanted: ReportRequest) -> Html:
    """Draw the two views of a report."""
    return kit.tabs(
        [
            (title, to(here, wanted, tab=None if name == "preview" else name), name == wanted.tab)
            for name, title in TABS
        ],
        label="Views",
    )


def findings(here: Here, wanted: ReportRequest, report: Report) -> Html:
    """List every finding by chapter, with a tick for what is told and a door to its samples."""
    choice = {c.finding_id: c for c in report.choices}
    tags = report.tags
    owners = dict.fromkeys(f.owner for f in report.findings)
    names = {c.id: (c.name, place) for place, c in enumerate(here.data.candidates)}
    blocks = []
    for owner in owners:
        mine = [f for f in report.findings if f.owner == owner]
        mine.sort(key=lambda f: (not choice[f.id].told, -f.salience))
        title: Child = "The study as a whole" if owner is None else kit.model(*names[owner])
        told = sum(choice[f.id].told for f in mine)
        blocks.append(
            kit.section(
                (title, kit.small(f" {told:,} of {len(mine):,} told")),
                _table(here, wanted, mine, choice, tags),
            )
        )
    return el(
        "div",
        el(
            "p",
            "A tick says that a finding is told; hover it for the reason. Caveats are always told. "
            "The last column opens the samples behind a finding.",
            class_="quiet small",
        ),
        blocks,
        class_="stack",
    )


def _table(
    here: Here,
    wanted: ReportRequest,
    mine: Iterable[Finding],
    choice: dict[str, Choice],
    tags: dict[str, str],
) -> Html:
    return kit.grid(
        mine,
        kit.MarkupColumn("Told", lambda one: _told(here, wanted, one, choice[one.id]), slim=True),
        kit.MarkupColumn("", lambda one: tags.get(one.id, ""), slim=True),
        kit.MarkupColumn("What", kind_words, width="17%"),
        kit.MarkupColumn("Where", _where, width="21%"),
        kit.MarkupColumn("Numbers", _figures),
        kit.MarkupColumn("Behind it", _door, width="19%"),
        label="Findings",
        light=lambda one: one.id if choice[one.id].told else None,
    )


def _told(here: Here, wanted: ReportRequest, finding: Finding, told: Choice) -> Html:
    if finding.kind == "caveat":
        return _tick("", True, to(here, wanted), tip=told.reason)
    code = code_of(finding.id)
    picked = [one for one in wanted.picked if one != code]
    if code not in wanted.picked:
        picked.append(code)
    href = to(here, wanted, pick=".".join(picked) or None)
    return _tick("", told.told, href, tip=told.reason)


def _where(finding: Finding) -> Child:
    about = " · ".join(finding.models[:3]) + (" …" if len(finding.models) > 3 else "")
    return [
        el("div", finding.place_name, title=" › ".join(finding.place)),
        kit.under(about if finding.owner is None else ""),
    ]


def _figures(finding: Finding) -> Child:
    figures = [number_words(finding, at) for at in range(len(finding.numbers))]
    return [el("div", text, class_="small") for text in figures[:3]]


def _door(finding: Finding) -> Child:
    if not finding.door:
        return None
    return kit.door(behind_words(finding) or "open", f"./{finding.door}")


# --- empty states --------------------------------------------------------------------------------


def nothing_to_report(here: Here) -> Html:
    """Say why there is no report, and what to do next."""
    if here.filters.active:
        less = Filters(study=here.entry.key)
        return kit.empty(
            "Nothing passes these filters",
            "A report tells of what the filters leave over. Clear them to report on everything.",
            kit.button("Clear filters", links.address(REPORTS.url_path, less), primary=True),
        )
    return kit.empty(
        "There is nothing to report yet",
        "Nothing is scored, and no outcome or vote is known. Judge the study's answers first.",
        commands.shown(
            here, f"python -m atom run start --study {shlex.quote(here.entry.study.name)}"
        ),
    )


def unknown_writer(here: Here, wanted: ReportRequest) -> Html:
    """Say that the chosen judge isn't there."""
    return kit.empty(
        f"There is no judge {wanted.writer!r}",
        "It was removed, or it may not judge. Choose another writer, or add an endpoint.",
        kit.button("Write by rule", to(here, wanted, writer=None), primary=True),
        kit.button("Settings", links.address(SETTINGS.url_path, Filters(study=here.entry.key))),
    )
