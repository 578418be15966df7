"""Live replay: watch a judge think."""

from __future__ import annotations

import streamlit as st

from atom.errors import AtomError
from atom.ui import kit, work
from atom.ui.pages import REPLAY
from atom.ui.replay import answer as replay_answer
from atom.ui.replay import bench as replay_bench
from atom.ui.replay import editor as replay_editor
from atom.ui.replay import page as replay_page
from atom.ui.replay import parts as replay_parts
from atom.ui.replay import steps
from atom.ui.shell import frame


def first(here: frame.Here, bench: replay_bench.ReplayBench) -> None:
    """Draw the picture and the question."""
    own = replay_page.own_question().pictures if replay_page.is_upload(here) else ()
    kit.show(replay_parts.pictures(here, bench, own), key="replay_pictures")
    if not replay_page.is_upload(here):
        kit.show(replay_parts.question(bench.live.sample), key="replay_question")


def second(here: frame.Here, bench: replay_bench.ReplayBench) -> None:
    """Draw the judge's solution and the criteria."""
    kit.show(
        replay_parts.heading(
            2, "The judge's own solution", "cognitive replay", "step by step, before any answer"
        ),
        key="replay_head_2",
    )
    calls = replay_answer.calls_of(bench)
    solved = bench.solved
    done = solved is not None and solved.state == "scored"
    if not steps.step_bar(bench, "replay", done=done):
        call = calls.get(solved.call_id or "") if solved else None
        kit.show(replay_parts.solution(solved, call), key="replay_solution")
    kit.show(
        replay_parts.heading(
            3, "Criteria", "criterion", "a question, its true answer, its weight, its capability"
        ),
        key="replay_head_3",
    )
    usable = bench.judged is not None and bench.judged.criteria_set.state == "scored"
    steps.step_bar(bench, "criteria", done=usable)
    if bench.drafts:
        replay_editor.draw(here, bench)
        steps.step_bar(bench, "mapping", done=not bench.unmapped)
    elif bench.judged is not None:
        words = f"{bench.judged.criteria_set.state}: {bench.judged.criteria_set.detail}"
        kit.show(kit.notice(words), key="replay_no_criteria")


def draw(here: frame.Here) -> None:
    """Draw the screen."""
    kit.show(frame.head(here.screen, here.entry), key="replay_title")
    endpoints = work.endpoints_or_none("endpoints_fault")
    if endpoints is None:
        return
    with st.container(key="replay_columns"):
        one, two, three = st.columns([1, 1.38, 1.12], wrap=False)
    with one:
        kit.show(
            replay_parts.heading(1, "Picture and question", "sample", "what the judge is given"),
            key="replay_head_1",
        )
        replay_page.draw_source(here)
        judge = replay_page.pick_judge(here, endpoints)
        replay_page.draw_how(here, judge, endpoints)
        try:
            bench = replay_page.open_bench(here, judge)
        except AtomError as error:
            kit.show(kit.fault(error, title="This sample can't be judged"), key="replay_fault")
            return
        if bench is None:
            with two:
                kit.show(replay_parts.what_follows(), key="replay_what_follows")
            return
        all_steps = st.container()
        first(here, bench)
    if not replay_page.knows_it(bench):
        with two:
            replay_page.draw_only_probes(here, endpoints)
        return
    with two:
        second(here, bench)
    with three:
        kit.show(
            replay_parts.heading(4, "Answer and scores", "checkpoint", "each criterion, 1 to 5"),
            key="replay_head_4",
        )
        replay_answer.draw_answer(here, bench, endpoints)
        replay_answer.draw_scores(bench)
        replay_answer.draw_save(here, bench)
    with all_steps:
        steps.run_all(bench, replay_answer.chosen_candidate(bench, endpoints))


work.style()
work.jobs()
here = frame.here(REPLAY)
if here is not None:
    draw(here)
work.draw_question()
