"""Self-correction: does telling it where to look help, and is that more than luck?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.correction import answers as correction_answers
from atom.ui.correction import gate as correction_gate
from atom.ui.correction import live as correction_live
from atom.ui.correction import page as correction_page
from atom.ui.correction import parts as correction_parts
from atom.ui.correction import rounds
from atom.ui.html import el
from atom.ui.pages import CORRECTION
from atom.ui.shell import frame


def result(here: frame.Here, looked: correction_page.Looked) -> None:
    """Draw the answer, and what proves it."""
    found = correction_page.read_results(here, looked)
    if found is None:
        return
    doors = looked.doors
    kit.show(
        el(
            "div",
            el("p", correction_parts.what(found), class_="quiet", style="margin-bottom:6px"),
            correction_parts.answer(found, alive=looked.alive),
        ),
        key="correction_answer",
    )
    correction_page.draw_progress(here, looked)
    correction_page.show_fault()
    kit.show(
        el(
            "div",
            correction_parts.effects(found, doors),
            correction_parts.arms(found, doors),
            rounds.rounds(found, doors),
            rounds.costs_and_gates(found),
            class_="stack",
        ),
        key="correction_result",
    )
    correction_gate.draw(here, looked, found)
    history = correction_page.history(here, looked)
    if history is not None:
        kit.show(history, key="correction_history")
    correction_page.draw_files(here, found)


def where(here: frame.Here, looked: correction_page.Looked) -> None:
    """Draw which capabilities it helps on."""
    found = correction_page.read_results(here, looked)
    if found is None:
        return
    pieces = [
        correction_parts.by_root(found, looked.doors),
        correction_parts.by_leaf(found, looked.doors),
        rounds.quality(found),
        correction_parts.unlocking(found, looked.doors),
    ]
    empty = kit.notice("Nothing is scored step by step yet.")
    shown = [piece for piece in pieces if piece is not None] or [empty]
    kit.show(el("div", shown, class_="stack"), key="correction_where")


def draw(here: frame.Here) -> None:
    """Draw the screen."""
    correction_page.take_start(here)
    looked = correction_page.look(here)
    badges = [kit.synthetic_badge()] if here.entry.study.synthetic else []
    parts = correction_page.parts(looked)
    asked = here.query.get("tab")
    chosen = asked if asked in [name for name, _ in parts] else parts[0][0]
    kit.show(
        el(
            "div",
            kit.page_header(CORRECTION.title, CORRECTION.question, *badges),
            correction_parts.tabs(parts, chosen, looked.doors),
            style="display:flex;flex-direction:column;gap:10px;align-items:flex-start",
        ),
        key="correction_head",
    )
    if chosen is None:
        result(here, looked)
    elif chosen == "where":
        where(here, looked)
    elif chosen == "cases":
        correction_answers.draw(here, looked)
    elif chosen == "table4":
        table = correction_page.read_table4(here, looked)
        if table is not None:
            kit.show(correction_parts.table4(table, looked.doors), key="correction_table4")
    elif chosen == "one":
        correction_live.draw(here)
    else:
        correction_page.draw_form(here)


work.style()
work.jobs()
here = frame.here(CORRECTION)
if here is not None:
    draw(here)
work.draw_question()
