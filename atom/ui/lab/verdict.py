"""The Judge lab's first tab: for what can this study's judge be trusted, and how do others do?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.display import numbers
from atom.judgebench.base import BenchResult, MetricRow
from atom.judgebench.registry import BENCHES
from atom.records import BenchSet
from atom.ui import commands, kit, links
from atom.ui.html import Child, Html, el
from atom.ui.lab import fidelity as lab_fidelity
from atom.ui.lab import flaws as judge_flaws
from atom.ui.lab import methods as lab_judge_methods
from atom.ui.pages import JUDGE_LAB
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.judges.figures import estimate
from atom.views.lab.page import (
    CHANCE_WORDS,
    SetProgress,
    against_chance,
    bench_results,
    bench_sets,
    standings,
)
from atom.views.lab.verdict import (
    PEOPLE,
    PROBES,
    JudgeEvidence,
    JudgeVerdict,
    PeopleShare,
    RootVerdict,
    judge_verdict,
)
from atom.views.stores import OpenStore

TAB = "verdict"
MOST_JUDGES = 12
"""Judges of the table; further ones are counted."""
_STANDS = {"trust": ("✓", "trust"), "not": ("▼", "don’t"), "unknown": ("○", "not known")}


def draw(here: Here) -> None:
    """Draw the verdict on the study's judge with its reasons, then a table of all judges."""
    found = read(here)
    own = next((one for one in found if here.data.judge is not None
                and one.known.judge == here.data.judge.id), None)  # fmt: skip
    if own is None:
        head: Child = el("h2", "No judge has scored this study yet, so there is none to trust.",
                         class_="text", style="margin:0")  # fmt: skip
    else:
        head = el("h2", own.sentence, class_="text", style="margin:0", data_testid="lab-verdict")
    kit.show(
        el(
            "div",
            head,
            _reasons(here, own) if own is not None else None,
            _next(here, own) if own is not None else None,
            _table(here, found) if found else None,
            class_="stack",
        ),
        key="lab_verdict",
    )


def read(here: Here) -> tuple[JudgeVerdict, ...]:
    """Say of each judge of the study and of the user's benchmarks what is known; own first."""
    benches = _benches()
    names = {one.id: one.name for one in here.data.judges}
    if here.data.judge is not None:
        names = {here.data.judge.id: here.data.judge.name} | names
    for mine in benches.values():
        names |= {judge: name for judge, (name, _) in mine.items() if judge not in names}
    people, guess, settling = _people(here)
    own = stores.user_store()
    roots = tuple(dict.fromkeys(leaf[0] for leaf in here.data.table.leaves if leaf))
    found = []
    for judge, name in names.items():
        if judge in settling:
            continue
        held = judge_flaws.calibrated(
            here.store.url, here.store.revision(), -1 if own is None else own.revision(), judge,
            here.store, own,
        )  # fmt: skip
        known = JudgeEvidence(
            judge=judge,
            name=name,
            probes=held.view if held is not None else None,
            people=people.get(judge),
            benches={bench: mine[judge][1] for bench, mine in benches.items() if judge in mine},
        )
        mine_roots = roots or tuple(one.path[0] for one in held.view.roots) if held else roots
        found.append(judge_verdict(known, mine_roots, guess))
    return tuple(found)


def _people(here: Here) -> tuple[Mapping[str, PeopleShare], float, frozenset[str]]:
    """Return judges' shares of pairs in people's order, what guessing gives, and who only settles.

    A person who marks only what others disagree on is no judge beside the others.
    """
    view = lab_fidelity.read(here)
    if not view.people.pairs:
        return {}, math.nan, frozenset()
    held = lab_judge_methods.read(here, tuple(judge for judge, _ in view.judges))
    ties = view.people.ties
    shares = {
        row.judge.id: PeopleShare(whole=row.accuracy["atom"], by_root=row.by_root)
        for row in held.rows
        if "atom" in row.accuracy
    }
    return shares, max(ties, (1 - ties) / 2), frozenset(one.id for one in held.settling)


# --- benchmarks ---------------------------------------------------------------------------------


def _benches() -> Mapping[str, Mapping[str, tuple[str, MetricRow]]]:
    """Return, by benchmark, each judge's name and first figure on the newest set that it judged."""
    store = stores.user_store()
    return {} if store is None else _first_figures(store.url, store.revision(), store)


@st.cache_resource(show_spinner=False, max_entries=4)
def _first_figures(
    url: str, revision: int, _store: OpenStore
) -> dict[str, dict[str, tuple[str, MetricRow]]]:
    del url, revision
    found: dict[str, dict[str, tuple[str, MetricRow]]] = {}
    for record in bench_sets(_store):
        if record.benchmark == CALIBRATION or record.benchmark not in BENCHES:
            continue
        mine = found.setdefault(record.benchmark, {})
        new = [one for one in standings(_store, record.id) if one.judge not in mine]
        if new:
            mine |= _figures(_store, record, new)
    return found


def _figures(
    store: OpenStore, record: BenchSet, judges: list[SetProgress]
) -> dict[str, tuple[str, MetricRow]]:
    results = bench_results(store, record.id, [one.judge for one in judges])
    first = {one.judge: (one.name, _first(results[one.judge])) for one in judges}
    return {judge: (name, row) for judge, (name, row) in first.items() if row is not None}


def _first(result: BenchResult) -> MetricRow | None:
    return next((row for row in result.headline if not math.isnan(row.value)), None)


# --- drawing ------------------------------------------------------------------------------------


def _tab(here: Here, key: str, **local: str | None) -> str:
    return links.address(JUDGE_LAB.url_path, here.filters, tab=key, **local)


def _reasons(here: Here, own: JudgeVerdict) -> Html | None:
    if not any(one.reasons for one in own.roots):
        return None
    doors = {PROBES: _tab(here, CALIBRATION, who=own.known.judge), PEOPLE: _tab(here, "people")}
    words = {PROBES: "On test pictures", PEOPLE: "Against people"}

    def trust(one: RootVerdict) -> Html:
        glyph, word = _STANDS[one.stand]
        sign = el("span", f"{glyph} ", aria_hidden="true")
        return el("span", sign, word, style="white-space:nowrap")

    def why(one: RootVerdict) -> Html:
        reasons = [
            el(
                "div",
                kit.door(words[each.source], doors[each.source]),
                f": {each.words}",
                class_="small",
            )
            for each in one.reasons
        ]
        return el("div", reasons or kit.quiet("not tested yet"))

    return kit.grid(
        own.roots,
        kit.MarkupColumn("Branch", lambda one: el("span", one.root, class_="strong text")),
        kit.MarkupColumn("Trust", trust),
        kit.MarkupColumn("Why", why),
        label="Branch by branch",
    )


def _next(here: Here, own: JudgeVerdict) -> Html | None:
    """Say how what isn't known could be."""
    if own.known.probes is not None or here.data.judge is None:
        return None
    endpoint = here.data.judge.endpoint or "ENDPOINT"
    where = _tab(here, CALIBRATION)
    return el(
        "div",
        el(
            "div",
            "Let it score answers about test pictures whose truth is known: that tells where it "
            "misreads.",
            kit.button("Calibrate on test pictures", where, primary=True),
            class_="row",
        ),
        commands.shown(here, f"python -m atom judge calibrate --judge {endpoint}"),
    )


_PERSON = "people’s marks, to compare with"


def _table(here: Here, found: tuple[JudgeVerdict, ...]) -> Html:
    held = [name for name in BENCHES if any(name in one.known.benches for one in found)]
    persons = {one.id for one in here.data.judges if one.kind == "person"}

    def verdict(one: JudgeVerdict) -> Html:
        words = _PERSON if one.known.judge in persons else one.short
        return el("span", words, class_="text small")

    left = len(found) - MOST_JUDGES
    note = (f"{numbers.count(left, 'further judge')} aren’t shown. " if left > 0 else "") + (
        "A benchmark’s cell is its first figure on the newest set that the judge worked through."
        if held
        else ""
    )
    own = here.data.judge.id if here.data.judge is not None else ""
    return kit.section(
        "All judges",
        kit.grid(
            found[:MOST_JUDGES],
            kit.MarkupColumn(
                "Judge",
                lambda one: el("span", numbers.middle(one.known.name, 34), class_="strong text"),
            ),
            kit.MarkupColumn("Trust it", verdict, width="26%"),
            kit.number(
                "On test pictures",
                lambda one: _probes(here, one.known),
                when=any(one.known.probes is not None for one in found),
            ),
            kit.number(
                "As people rank",
                lambda one: _ranked(here, one.known),
                when=any(one.known.people is not None for one in found),
            ),
            *kit.each(
                held,
                lambda name: BENCHES[name].title,
                lambda one, name: _bench(here, one.known, name),
            ),
            label="All judges",
            on=lambda one: one.known.judge == own,
        ),
        kit.note(note),
    )


def _probes(here: Here, known: JudgeEvidence) -> Html:
    if known.probes is None:
        return kit.quiet(numbers.NONE)
    whole = known.probes.whole
    ends = _ends(whole.accuracy, whole.accuracy_lo, whole.accuracy_hi)
    return kit.door(ends, _tab(here, CALIBRATION, who=known.judge))


def _ranked(here: Here, known: JudgeEvidence) -> Html:
    if known.people is None:
        return kit.quiet(numbers.NONE)
    to = _tab(here, "people", who=known.judge)
    return kit.door(lab_judge_methods.share(known.people.whole), to)


def _bench(here: Here, known: JudgeEvidence, name: str) -> Html:
    row = known.benches.get(name)
    if row is None:
        return kit.quiet(numbers.NONE)
    against = CHANCE_WORDS[against_chance(row)]
    door = kit.door(str(estimate(row)), _tab(here, name, who=known.judge),
                    tip=f"{row.label}, n = {row.n:,}")  # fmt: skip
    return el("span", door, el("div", against, class_="small quiet") if against else None)


def _ends(value: float, lo: float, hi: float) -> str:
    return numbers.share(value, 1) + numbers.share_ends(lo, hi)
