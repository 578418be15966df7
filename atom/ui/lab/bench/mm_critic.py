"""MM-CRITIC's own drawing in the Judge lab: how critiques were scored around the reference's 8."""

from __future__ import annotations

import streamlit as st

from atom.judgebench.mm_critic.measures import ANCHOR
from atom.records import BenchSet
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.lab.bench import figures
from atom.ui.lab.bench.sets import LabContext
from atom.views.lab.mm_critic import LEVELS, ScoreRow, ScoreSpread, score_spreads
from atom.views.lab.page import SetProgress
from atom.views.stores import OpenStore

_CELL = "padding:6px 8px;text-align:center;border:1px solid var(--line);min-width:38px"
_HEAD = "padding:6px 8px;font-weight:600;font-size:13px;vertical-align:bottom"
_MARK = ";border-left:3px solid var(--ink);border-right:3px solid var(--ink)"


def draw(lab: LabContext, record: BenchSet, judges: tuple[SetProgress, ...]) -> None:
    """Draw the scores that the chosen judge's critiques were given."""
    del judges
    if lab.chosen is None:
        return
    store = lab.store
    spreads = _spreads(store.url, record.id, lab.chosen.judge, store.revision(), store)
    if spreads:
        kit.show(
            kit.section(
                "Critiques beside the reference",
                kit.note(
                    "How many critiques were given each score. The reference critique is fixed at "
                    "8, the marked column: right of it a critique was found better than the "
                    "reference, left of it worse.",
                    style="max-width:860px",
                ),
                [grid(one) for one in spreads],
                class_="stack",
            ),
            key="lab_critique_scores",
        )


@st.cache_resource(show_spinner=False, max_entries=8)
def _spreads(
    url: str, set_id: str, judge: str, revision: int, _store: OpenStore
) -> tuple[ScoreSpread, ...]:
    del url, revision
    return score_spreads(_store, set_id, judge)


def grid(found: ScoreSpread) -> Html:
    """Draw one scorer's scores: a row for each task type, a column for each score."""
    head = el(
        "tr",
        el("th", "task type", scope="col", style=f"{_HEAD};text-align:left"),
        [el("th", _score_words(at), scope="col", style=_HEAD + _mark(at)) for at in range(LEVELS)],
        el("th", "critiques", scope="col", style=_HEAD),
    )
    rows = [_line(row) for row in found.rows]
    return figures.matrix(f"Scored by {found.scorer}", head, rows)


def _line(row: ScoreRow) -> Html:
    most = max(row.counts, default=0)
    return el(
        "tr",
        el("th", row.name, scope="row", style=f"{_HEAD};text-align:left"),
        [
            el(
                "td",
                str(count) if count else "·",
                title=f"{row.name}: {count:,} of {row.n:,} with a score of {at}",
                style=f"{_CELL}{_mark(at)};background:{_tint(count, most)}",
            )
            for at, count in enumerate(row.counts)
        ],
        el("td", str(row.n), style=_CELL),
    )


def _score_words(score: int) -> str:
    return f"{score} = reference" if score == ANCHOR else str(score)


def _mark(score: int) -> str:
    return _MARK if score == ANCHOR else ""


def _tint(count: int, most: int) -> str:
    """Shade a cell by its share of the row's largest; the number in it says the same."""
    share = round(40 * count / most) if most else 0
    return f"color-mix(in srgb, var(--accent) {share}%, transparent)"
