"""Self-correction: does telling it where to look help, and is that more than luck?"""

from __future__ import annotations

from atom.ui import kit, work
from atom.ui.correction import (
    answers,
    arms,
    effects,
    experiments,
    form,
    gate,
    live,
    rounds,
    start,
    table4,
    where,
)
from atom.ui.html import el
from atom.ui.pages import CORRECTION
from atom.ui.shell import frame


def result(here: frame.Here, looked: experiments.ChosenExperiment) -> None:
    """Draw the answer, and what proves it."""
    found = experiments.read_results(here, looked)
    if found is None:
        return
    doors = looked.doors
    kit.show(
        el(
            "div",
            el("p", effects.what(found), class_="quiet", style="margin-bottom:6px"),
            effects.answer(found, alive=looked.alive),
        ),
        key="correction_answer",
    )
    experiments.draw_progress(here, looked)
    experiments.show_fault()
    kit.show(
        el(
            "div",
            effects.effects(found, doors),
            arms.arms(found, doors),
            rounds.rounds(found, doors),
            rounds.costs_and_gates(found),
            class_="stack",
        ),
        key="correction_result",
    )
    gate.draw(here, looked, found)
    history = experiments.history(here, looked)
    if history is not None:
        kit.show(history, key="correction_history")
    experiments.draw_files(here, found)


def helped(here: frame.Here, looked: experiments.ChosenExperiment) -> None:
    """Draw which capabilities it helps on."""
    found = experiments.read_results(here, looked)
    if found is None:
        return
    pieces = [
        where.by_root(found, looked.doors),
        where.by_leaf(found, looked.doors),
        rounds.quality(found),
        where.unlocking(found, looked.doors),
    ]
    empty = kit.notice("Nothing is scored step by step yet.")
    shown = [piece for piece in pieces if piece is not None] or [empty]
    kit.show(el("div", shown, class_="stack"), key="correction_where")


def draw(here: frame.Here) -> None:
    """Draw the screen."""
    start.take_start(here)
    looked = experiments.look(here)
    parts = experiments.parts(looked)
    asked = here.query.get("tab")
    chosen = asked if asked in [name for name, _ in parts] else parts[0][0]
    kit.show(
        el(
            "div",
            frame.head(here.screen, here.entry),
            kit.tabs(
                [(label, looked.doors.tab(name), name == chosen) for name, label in parts],
                label="Parts of this page",
            ),
            style="display:flex;flex-direction:column;gap:10px;align-items:flex-start",
        ),
        key="correction_head",
    )
    if chosen is None:
        result(here, looked)
    elif chosen == "where":
        helped(here, looked)
    elif chosen == "cases":
        answers.draw(here, looked)
    elif chosen == "table4":
        table = table4.read_table4(here, looked)
        if table is not None:
            kit.show(table4.table4(table, looked.doors), key="correction_table4")
    elif chosen == "one":
        live.draw(here)
    else:
        form.draw(here)


work.style()
work.jobs()
here = frame.here(CORRECTION)
if here is not None:
    draw(here)
work.draw_question()
