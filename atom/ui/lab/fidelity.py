"""The Judge lab's tab that holds scores against people's rankings, beside rival methods.

Reference: ATOM 4.1, Tables 1, 2 and 5, Figure 7.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

import streamlit as st

from atom.analysis.agreement.criteria_quality import HitRates, LabelMean
from atom.analysis.agreement.fidelity import FidelityShare, MethodAccuracy
from atom.display import numbers
from atom.ui import commands, kit, links
from atom.ui.html import Child, Html, el
from atom.ui.lab import fidelity_run as lab_fidelity_run
from atom.ui.lab import methods as lab_judge_methods
from atom.ui.lab import people as lab_people
from atom.ui.lab import people_items as lab_people_items
from atom.ui.lab.method_table import table, told_share
from atom.ui.pages import HUMAN_CHECK, JUDGE_LAB
from atom.ui.shell.frame import Here
from atom.views.lab.fidelity.people import MIN_MET, Meeting
from atom.views.lab.fidelity.rows import MethodRow
from atom.views.lab.fidelity.tab import FidelityView, fidelity_of
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData

TAB = "people"
_ORDERS = ("worse", "tie", "better")


def draw(here: Here) -> None:
    """Draw how well methods rank answers as people do; what to do next where nothing is known."""
    if lab_people_items.wanted(here.query) and lab_people_items.draw(here, here.query):
        return
    view = read(here)
    parts: list[Child] = [_title(view), _judges(here, view)]
    if not view.people.pairs:
        parts += [_nobody_ranked(here, view), lab_judge_methods.draw(here, view, TAB)]
    else:
        side = lab_judge_methods.draw(here, view, TAB)
        parts += [_answer(view), table(here, view), side, _missing(here, view), _more(view)]
    # What is known comes first, what could be done after it.
    if not view.measured:
        lab_people.draw(here)
    kit.show(el("div", parts, class_="stack"), key="fidelity")
    if view.measured:
        lab_people.draw(here)
    lab_fidelity_run.draw(here, view)
    people = el("div", _quality(here, view), _hits(here, view), class_="stack")
    kit.show(people, key="fidelity_criteria")


def read(here: Here) -> FidelityView:
    """Compute the tab, once for each revision and judge."""
    own = here.data.judge.id if here.data.judge else ""
    who = here.query.get("who", "")
    return _fidelity(
        here.store.url,
        f"{here.entry.study.id} {here.data.study.tree_version}",
        here.store.revision(),
        own,
        who,
        here.store,
        here.data,
    )


@st.cache_resource(show_spinner="Holding scores against people’s rankings", max_entries=8)
def _fidelity(
    url: str,
    study_id: str,
    revision: int,
    own: str,
    who: str,
    _store: OpenStore,
    _data: StudyData,
) -> FidelityView:
    del url, study_id, revision, own
    return fidelity_of(_store, _data, who or None)


# --- the answer ----------------------------------------------------------------------------------


def _title(view: FidelityView) -> Html:
    synthetic = view.synthetic or view.people.synthetic
    badge = kit.synthetic_badge() if synthetic else None
    return el(
        "div",
        el("h2", "Do scores put answers in the order that people do?", style="margin:0"),
        badge,
        class_="row",
    )


def _judges(here: Here, view: FidelityView) -> Html | None:
    if len(view.judges) < 2:
        return None
    chosen = view.judge.id if view.judge else ""
    return kit.tabs(
        [
            (name, links.address(JUDGE_LAB.url_path, here.filters, tab=TAB, who=one), one == chosen)
            for one, name in view.judges
        ],
        label="Judge",
    )


def _answer(view: FidelityView) -> Html:
    people = view.people
    who = " and ".join(_givers(kind) for kind in people.kinds)
    best = max(view.measured, key=lambda row: _value(row), default=None)
    atom = next((row for row in view.measured if row.name == "atom"), None)
    first = atom or best
    words: list[Child] = []
    if first is not None and first.accuracy is not None:
        words = [
            kit.strong(f"{first.title}: {told_share(first.accuracy.strict)}"),
            f" of {first.accuracy.strict.n:,} pairs of answers stand in people’s order. ",
        ]
        if best is not None and best is not first and best.accuracy is not None:
            words.append(f"Highest here: {best.title}, {told_share(best.accuracy.strict)}. ")
    base = (
        f"People’s orders: {people.pairs:,} pairs of {numbers.count(people.samples, 'sample')}, "
        f"{who}; {numbers.share(people.ties, 1)} are ties."
    )
    top = best.accuracy.strict.value if best is not None and best.accuracy else math.nan
    agreed = [_agreed(kind, top) for kind in people.kinds]
    foreign = (
        f" {people.foreign:,} ranked answers are none of those compared, and were left out."
        if people.foreign
        else ""
    )
    return el("div", el("p", words) if words else None, kit.note(base, agreed, foreign))


def _givers(kind: Meeting) -> str:
    n = len(kind.annotators)
    who = (
        numbers.count(
            n, "planted labeller (drawn from the truth)", "planted labellers (drawn from the truth)"
        )
        if kind.planted
        else numbers.count(n, "person", "people")
    )
    return f"{numbers.count(kind.labels, 'label')} by {who}"


def _agreed(kind: Meeting, best: float) -> str:
    """Say how far two agree, and what follows only where enough samples bear it."""
    if not kind.met:
        return ""
    who = "planted labellers" if kind.planted else "people"
    words = (
        f" Two {who} give a pair the same order {told_share(kind.agreed)} of the time "
        f"({kind.met:,} pairs of orders on {numbers.count(kind.samples, 'sample')})"
    )
    if kind.bounds(best):
        return f"{words}: no judge should be expected to do better."
    if not kind.planted and kind.samples < MIN_MET:
        return f"{words}: under {MIN_MET} samples, too few to say what a judge could reach."
    return f"{words}."


def _value(row: MethodRow) -> float:
    return row.accuracy.strict.value if row.accuracy else -1.0


# --- more ----------------------------------------------------------------------------------------


def _more(view: FidelityView) -> Html | None:
    if not view.measured:
        return None
    boxes = [
        el("div", el("p", row.title, class_="strong small"), _confusion(row.accuracy))
        for row in view.measured
        if row.accuracy is not None
    ]
    tolerant = [
        (row.title, row.accuracy, row.tolerant)
        for row in view.measured
        if row.accuracy is not None and row.tolerant is not None
    ]
    return el(
        "div",
        kit.fold(
            "What people say against what each method says",
            el("div", boxes, style="display:flex;flex-wrap:wrap;gap:20px"),
            kit.note("Of the first answer of each pair, in pairs that could be read."),
        ),
        kit.fold(
            "With a tolerance for ties",
            kit.grid(
                tolerant,
                kit.MarkupColumn("Method", lambda row: row[0]),
                kit.number("exact ties", lambda row: told_share(row[1].strict)),
                kit.number("with a tolerance", lambda row: told_share(row[2].strict)),
                kit.number("tolerance", lambda row: f"{row[2].epsilon:.2f}"),
                label="Accuracy with a tolerance for ties",
            ),
            kit.note(
                "The tolerance (in the method’s own numbers) is fitted on one half of the samples "
                "and used on the other, both ways, never on the samples it was fitted on."
            ),
        ),
    )


def _confusion(accuracy: MethodAccuracy) -> Html:
    places = range(len(_ORDERS))
    return kit.grid(
        places,
        kit.MarkupColumn("people say", lambda row: _ORDERS[row]),
        *kit.each(
            places,
            lambda at: f"it says {_ORDERS[at]}",
            lambda row, at: f"{int(accuracy.counts[row, at]):,}",
        ),
        label="Orders of pairs",
    )


def _missing(here: Here, view: FidelityView) -> Html | None:
    """Say which methods have no numbers yet, and how they get some."""
    missing = [row for row in view.rows if row.accuracy is None]
    if not missing:
        return None
    study = shlex.quote(here.entry.study.name)
    stored = [row for row in missing if row.name in ("atom", "no_weights")]
    asked = [row for row in missing if row not in stored]
    endpoint = view.judge.endpoint if view.judge else None
    judge = shlex.quote(endpoint) if endpoint else "ENDPOINT"
    lines = []
    if asked:
        names = ",".join(row.name for row in asked)
        told = ", ".join(row.title for row in asked)
        way = "Tick them under “Ask a judge to rank the answers” below, or:"
        command = f"python -m atom fidelity run --study {study} --judge {judge} --methods {names}"
        lines += [el("p", f"Not asked yet: {told}. {way}"), commands.shown(here, command)]
    if stored:
        command = f"python -m atom run start --study {study} --judge {judge} --stages scoring"
        lines += [
            el("p", "This judge has scored no checkpoints of the ranked answers:"),
            commands.shown(here, command),
        ]
    return el("div", lines, class_="notice")


def _nobody_ranked(here: Here, view: FidelityView) -> Html:
    ways = "Let people rank answers on Human check, or take their rankings in from a file below. "
    plant = (
        "This study is synthetic, so rankings can be drawn from the truth as well."
        if view.synthetic
        else ""
    )
    what = (
        "Nobody has ranked this study’s answers yet"
        if view.compared
        else "No sample of this study has two answers that could be ranked"
    )
    return kit.empty(what, ways + plant, _human_check(here))


def _human_check(here: Here) -> Html:
    return kit.button("Human check", links.address(HUMAN_CHECK.url_path, here.filters))


# --- people's labels of criteria -----------------------------------------------------------------


def _quality(here: Here, view: FidelityView) -> Html:
    title = el("h2", "Are the criteria right, and needed?")
    if not view.quality:
        return el(
            "section",
            title,
            el("p", "Nobody has labelled criteria yet: people mark each criterion’s accuracy and "
               "necessity from 1 to 3 on Human check.", class_="quiet"),
            _human_check(here),
        )  # fmt: skip
    return el(
        "section",
        title,
        kit.grid(
            view.quality,
            kit.MarkupColumn("Capability", lambda row: row.root or kit.strong("all")),
            kit.number("Accuracy, 1–3", lambda row: _mean(row.quality.accuracy)),
            kit.number("of 1", lambda row: _ones(row.quality.accuracy)),
            kit.number("Necessity, 1–3", lambda row: _mean(row.quality.necessity)),
            kit.number("of 1", lambda row: _ones(row.quality.necessity)),
            kit.number("both 3", lambda row: lab_judge_methods.share(row.quality.both)),
            kit.number(
                "criteria",
                lambda row: f"{max(row.quality.accuracy.n, row.quality.necessity.n):,}",
            ),
            label="Criteria quality",
        ),
        kit.note(
            "Accuracy: is the ground truth right? Necessity: is the question needed? Several "
            "people’s labels of a criterion are averaged; “of 1” counts criteria under 2."
        ),
    )


def _mean(mean: LabelMean) -> str:
    if math.isnan(mean.mean):
        return numbers.NONE
    if math.isnan(mean.lo):
        return f"{mean.mean:.2f}"
    return f"{mean.mean:.2f} ({numbers.ends(mean.lo, mean.hi, 2)})"


def _ones(mean: LabelMean) -> str:
    return numbers.share(mean.ones, 1)


def _hits(here: Here, view: FidelityView) -> Html:
    title = el("h2", "Do criteria sit where people would put them?")
    if view.hits is None:
        return el(
            "section",
            title,
            el("p", "Nobody has chosen capabilities for criteria yet: people do so on Human check.",
               class_="quiet"),
            _human_check(here),
        )  # fmt: skip
    return el("section", title, _hit_table(view.hits), _hit_words(view))


def _hit_table(hits: HitRates) -> Html:
    rows: Sequence[tuple[Child, FidelityShare]] = [
        (kit.strong("all, same capability"), hits.leaf),
        ("all, same top branch", hits.root),
        *hits.by_root,
    ]
    return kit.grid(
        rows,
        kit.MarkupColumn("People’s branch", lambda row: row[0]),
        kit.number("hit rate", lambda row: lab_judge_methods.share(row[1])),
        kit.number("criteria", lambda row: f"{row[1].n:,}"),
        label="Hit rate",
    )


def _hit_words(view: FidelityView) -> Html:
    hits = view.hits
    assert hits is not None

    left = (
        f" {numbers.count(view.undecided, 'criterion', 'criteria')} on which people don’t agree "
        "left out."
        if view.undecided
        else ""
    )
    return kit.note(
        f"Mean of the branches {numbers.share(hits.macro, 1)}; beyond chance (kappa) "
        f"{numbers.plain(hits.kappa)} "
        f"of capabilities, {numbers.plain(hits.root_kappa)} of top branches; shared depth "
        f"{numbers.plain(hits.credit)} "
        f"of 1.{left}",
    )
