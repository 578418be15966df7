"""Setting an experiment up: the sentence, what is tried, who judges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from atom.engine.correction.ground import CorrectionSpec
from atom.engine.endpoints.configured import known_endpoints
from atom.errors import AtomError
from atom.records import Arm, Endpoint, FailedRule, Judge
from atom.ui import kit, links
from atom.ui.correction import forecast, start
from atom.ui.correction.experiments import no_endpoint, show_fault
from atom.ui.html import Html, el
from atom.ui.pages import RUNS
from atom.ui.replay import page as replay_page
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.correction.form import (
    ARM_WORDS,
    CONTROLS,
    FEEDBACK,
    RULE_WORDS,
    CorrectionForm,
    arms_possible,
    first_form,
    nodes_of,
)
from atom.views.filters import Filters
from taxonomy import format_path


def _warnings(form: CorrectionForm) -> Html | None:
    """Say which claims a missing control costs."""
    if not form.warnings:
        return None
    return kit.notice(el("div", [el("p", kit.told(words)) for words in form.warnings]))


def _no_criteria(filters: Filters) -> Html:
    """Say that nothing can be asked about."""
    del filters
    return kit.notice(
        "Nothing in this study is judged step by step, so no step can be asked about: only another "
        "try, being told, and showing the truth are possible. Judge the study on Runs first."
    )


FORMS = "correction_forms"


MORE = "correction_more"


def _form(here: Here) -> CorrectionForm:
    held: dict[str, CorrectionForm] = st.session_state.setdefault(FORMS, {})
    if here.entry.key not in held:
        held[here.entry.key] = first_form(here.data, here.filters)
    return held[here.entry.key]


def draw(here: Here) -> None:
    """Draw the sentence that sets an experiment up, what it would cost, and its start."""
    if start.start_of(here) is not None:
        start.starting(here)
        return
    if not here.data.candidates or not (here.data.has_process or here.data.has_outcome):
        kit.show(
            kit.empty(
                "Nothing can be tried again yet",
                "Self-correction starts from answers that are known to be wrong. This study has "
                "none that are judged: import results, or judge it on Runs.",
                kit.button("Open Runs", links.address(RUNS.url_path, here.filters)),
            ),
            key="correction_nothing",
        )
        return
    form = _form(here)
    with st.container(horizontal=True, key="sentence", vertical_alignment="center"):
        _sentence(here, form)
    if here.filters.active:
        kit.show(
            el("p", "Filters don't narrow an experiment; the menu after “on” above does, by where "
               "answers failed.", class_="quiet small"),
            key="correction_filters",
        )  # fmt: skip
    _arms(here)
    try:
        endpoints = known_endpoints(stores.settings())
    except AtomError as error:
        kit.show(no_endpoint(error.message, here.filters), key="correction_ends")
        return
    with st.expander("More: threshold, right answers, judge, other draws", key=MORE):
        _more(here, endpoints)
    form = _form(here)
    notes = _warnings(form)
    if notes is not None:
        kit.show(notes, key="correction_warnings")
    if not here.data.has_process:
        kit.show(_no_criteria(here.filters), key="correction_no_criteria")
    if form.problem:
        kit.show(kit.notice(form.problem), key="correction_problem")
        show_fault()
        return
    spec = spec_of(here, form, endpoints)
    found = forecast.draw(here, spec, endpoints)
    start.button(here, spec, found)
    show_fault()


def _bound(here: Here, field: str, value: object, *, empty: object = None) -> dict[str, Any]:
    key = f"cform_{field}_{here.entry.key}"
    st.session_state[key] = value

    def typed() -> None:
        held: dict[str, CorrectionForm] = st.session_state[FORMS]
        given = st.session_state[key]
        changes: dict[str, Any] = {field: empty if given is None else given}
        held[here.entry.key] = replace(held[here.entry.key], **changes)

    return {"key": key, "on_change": typed, "label_visibility": "collapsed"}


def _sentence(here: Here, form: CorrectionForm) -> None:
    names = {candidate.id: candidate.name for candidate in here.data.candidates}
    rules: list[FailedRule] = []
    if here.data.has_outcome:
        rules.append("outcome")
    if here.data.has_process:
        rules += ["score", "criterion"]
    nodes = [(), *nodes_of(here.data)]
    node = form.node if form.node in nodes else ()
    st.text("Take", width="content")
    st.selectbox("Model", list(names), format_func=lambda i: names.get(i, i), width=140,
                 **_bound(here, "model", form.model if form.model in names else None))  # fmt: skip
    st.text("’s", width="content")
    st.selectbox("Which answers failed", rules, format_func=lambda i: RULE_WORDS[i], width=205,
                 **_bound(here, "failed_rule", form.failed_rule))  # fmt: skip
    st.text("on", width="content")
    st.selectbox("Where they failed", nodes, width=165,
                 format_func=lambda i: format_path(i) if i else "anything",
                 **_bound(here, "node", node, empty=()))  # fmt: skip
    st.text("at most", width="content")
    st.number_input("Answers at most", 1, 100_000, step=10, placeholder="all", width=78,
                    **_bound(here, "limit", form.limit))  # fmt: skip
    st.text("answers,", width="content")
    st.selectbox("Rounds", [1, 2, 3, 4, 5], width=68, **_bound(here, "rounds", form.rounds))
    words = "round" if form.rounds == 1 else "rounds"
    st.text(f"{words}, at most", width="content")
    st.number_input("Spend at most (USD)", 0.0, 1_000_000.0, step=1.0, placeholder="any",
                    width=82, **_bound(here, "budget", form.budget))  # fmt: skip
    st.text("USD.", width="content")


def _arms(here: Here) -> None:
    possible = arms_possible(here.data)
    groups: tuple[tuple[str, tuple[Arm, ...]], ...] = (
        ("Try controls: what would have happened anyway", CONTROLS),
        ("Try feedback", FEEDBACK),
    )
    held: dict[str, CorrectionForm] = st.session_state[FORMS]

    def ticked(arm: Arm, key: str) -> None:
        form = held[here.entry.key]
        kept = {*form.arms, arm} if st.session_state[key] else {*form.arms} - {arm}
        arms = tuple(one for one in ARM_WORDS if one in kept)
        held[here.entry.key] = replace(form, arms=arms)

    for number, (title, arms) in enumerate(groups):
        kit.show(el("p", title, class_="quiet small"), key=f"correction_arms_{number}")
        with st.container(horizontal=True, key=f"stepbar_arms_{number}", gap="medium"):
            for arm in arms:
                key = f"cform_arm_{arm}_{here.entry.key}"
                st.session_state[key] = arm in held[here.entry.key].arms and arm in possible
                st.checkbox(
                    ARM_WORDS[arm].name,
                    key=key,
                    help=ARM_WORDS[arm].meaning,
                    disabled=arm not in possible,
                    on_change=ticked,
                    args=(arm, key),
                    width="content",
                )


def _more(here: Here, endpoints: dict[str, Endpoint]) -> None:
    form = _form(here)
    judges = ["", *replay_page.judges(endpoints)]
    usual = default_judge(here, endpoints)
    own = usual or (here.data.judge.name if here.data.judge else "the study's own")
    one, two, three, four = st.columns(4)
    with one:
        st.caption("A step counts as failed up to this score")
        st.selectbox("Failed up to", [2, 3, 4], **_bound(here, "threshold", form.threshold))
    with two:
        st.caption("Right answers that get feedback, too (break rate)")
        st.number_input("Right answers", 0, 10_000, step=10,
                        **_bound(here, "right_answers", form.right_answers, empty=0))  # fmt: skip
    with three:
        st.caption("Judge")
        st.selectbox("Judge", judges, format_func=lambda name: name or f"{own} (usual)",
                     **_bound(here, "judge", form.judge if form.judge in judges else "",
                              empty=""))  # fmt: skip
    with four:
        st.caption("Seed: another number draws other answers")
        st.number_input("Seed", 0, 1_000_000, step=1, **_bound(here, "seed", form.seed, empty=0))


def spec_of(here: Here, form: CorrectionForm, endpoints: dict[str, Endpoint]) -> CorrectionSpec:
    """Say what the form asks for."""
    possible = arms_possible(here.data)
    return CorrectionSpec(
        study_id=here.entry.study.id,
        candidate=form.model,
        judge=form.judge or default_judge(here, endpoints),
        arms=tuple(arm for arm in form.arms if arm in possible),
        failed_rule=form.failed_rule,
        threshold=form.threshold,
        rounds=form.rounds,
        node=form.node,
        limit=form.limit,
        right_answers=form.right_answers,
        seed=form.seed,
        budget=form.budget,
    )


def default_judge(here: Here, endpoints: dict[str, Endpoint]) -> str | None:
    """Return who judges when nobody is chosen: None = the study's own judge can be asked."""
    record = here.store.get(Judge, here.data.study.judge_id or "")
    if record is not None and record.endpoint in endpoints:
        return None
    return replay_page.usual_judge(here, endpoints)
