"""The criteria, edited where they stand: question, truth, weight, leaf, order."""

from __future__ import annotations

import streamlit as st

from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import REPLAY
from atom.ui.plain import plain
from atom.ui.replay.bench import ReplayBench
from atom.ui.shell.frame import Here
from atom.views.replay.drafts import (
    DraftCriterion,
    added,
    balanced,
    changed,
    criterion_id,
    dropped,
    leaf_choices,
    moved,
    total,
)
from atom.views.replay.page import LONGEST
from taxonomy import Path, Tree, format_path

_UNMAPPED = ""


@st.cache_resource(show_spinner=False, max_entries=8)
def _leaves(version: str, _tree: Tree) -> dict[str, Path]:
    del version
    return leaf_choices(_tree)


def draw(here: Here, bench: ReplayBench) -> None:
    """Draw the editor."""
    leaves = _leaves(bench.live.version, bench.live.tree)
    for number, draft in enumerate(bench.drafts, start=1):
        _criterion(here, bench, number, draft, leaves)
    _foot(bench)


def _criterion(
    here: Here, bench: ReplayBench, number: int, draft: DraftCriterion, leaves: dict[str, Path]
) -> None:
    name = f"{bench.key}_{draft.key}"
    busy = bench.busy

    def typed(field: str, key: str) -> None:
        value = st.session_state[key]
        if field == "weight" and value is None:
            return
        if field == "leaf":
            value = leaves.get(value)
        bench.edit(changed(bench.drafts, draft.key, **{field: value}))

    with st.container(key=f"crit_{name}"):
        left, middle, right = st.columns([0.4, 10, 2.4], wrap=False)
        with left:
            kit.show(_number(here, bench, number, draft), key=f"no_{name}")
        with middle:
            key = f"question_{name}"
            st.session_state[key] = draft.question
            st.text_area(
                f"Question of criterion {number}", key=key, height="content",
                label_visibility="collapsed", max_chars=LONGEST, disabled=busy,
                placeholder="What must a right solution get right here?",
                on_change=typed, args=("question", key),
            )  # fmt: skip
        with right, st.container(horizontal=True, key=f"critact_{name}"):
            last = number == len(bench.drafts)
            _act(bench, "↑", f"up_{name}", "Move up", number == 1,
                 lambda: bench.edit(moved(bench.drafts, draft.key, -1)))  # fmt: skip
            _act(bench, "↓", f"down_{name}", "Move down", last,
                 lambda: bench.edit(moved(bench.drafts, draft.key, 1)))  # fmt: skip
            _act(bench, "×", f"drop_{name}", "Drop this criterion", False,
                 lambda: bench.edit(dropped(bench.drafts, draft.key)))  # fmt: skip
        truth, weight, leaf = st.columns([4, 2.6, 6], wrap=False)
        with truth:
            key = f"truth_{name}"
            st.session_state[key] = draft.truth
            st.text_input(
                f"Truth of criterion {number}", key=key, label_visibility="collapsed",
                max_chars=LONGEST, disabled=busy, placeholder="its right answer",
                on_change=typed, args=("truth", key),
            )  # fmt: skip
        with weight:
            key = f"weight_{name}"
            st.session_state[key] = draft.weight
            st.number_input(
                f"Weight of criterion {number}", 1, 10, step=1, key=key, disabled=busy,
                label_visibility="collapsed", on_change=typed, args=("weight", key),
            )  # fmt: skip
        with leaf:
            key = f"leaf_{name}"
            chosen = format_path(draft.leaf) if draft.leaf else _UNMAPPED
            options = [_UNMAPPED, *leaves]
            if chosen not in leaves and draft.leaf:
                options.insert(1, chosen)
            st.session_state[key] = chosen
            st.selectbox(
                f"Capability of criterion {number}", options, key=key, disabled=busy,
                label_visibility="collapsed", on_change=typed, args=("leaf", key),
                format_func=_leaf_label,
            )  # fmt: skip


def _number(here: Here, bench: ReplayBench, number: int, draft: DraftCriterion) -> Html:
    """Write a criterion's number: a door that lights its region in the picture."""
    identity = criterion_id(bench.live.sample, draft)
    if not draft.regions:
        return kit.quiet(number)
    chosen = here.filters.criterion == identity
    filters = here.filters.but(criterion=None if chosen else identity)
    href = links.address(REPLAY.url_path, filters, tab=here.query.get("tab"))
    return kit.door(
        number, href, class_="stepno on" if chosen else "stepno", tip="Show where in the picture"
    )


def _leaf_label(text: str) -> str:
    return text.rsplit(" › ", 1)[-1] if text else "○ not placed yet"


def _act(bench: ReplayBench, label: str, key: str, tip: str, off: bool, act: object) -> None:
    st.button(plain(label), key=key, help=plain(tip), type="tertiary", disabled=off or bench.busy,
              on_click=act)  # type: ignore[arg-type]  # fmt: skip


def _foot(bench: ReplayBench) -> None:
    weights = total(bench.drafts)
    busy = bench.busy
    with st.container(horizontal=True, vertical_alignment="center", key="stepbar_edit"):
        st.button("Add", key="edit_add", disabled=busy or len(bench.drafts) >= 8,
                  on_click=lambda: bench.edit(added(bench.drafts, bench.used_keys)))  # fmt: skip
        st.button("Bring to 10", key="edit_balance", disabled=busy or weights == 10,
                  on_click=lambda: bench.edit(balanced(bench.drafts)))  # fmt: skip
        st.button("Undo", key="edit_undo", disabled=busy or not bench.past, on_click=bench.undo)
        kit.show(
            el("p", "weights total ", kit.strong(weights), " of 10",
               class_="small" if weights == 10 else "small status weak"),
            key="edit_total",
        )  # fmt: skip
    result = bench.result
    if result is not None and result.criteria_set.state != "scored":
        kit.show(kit.notice(result.criteria_set.detail), key="edit_problem")
    elif bench.edited:
        words = "Edited by hand. A changed criterion is scored again; the others keep their scores."
        more = " Weights are brought to 10 when you score or save." if weights != 10 else ""
        kit.show(el("p", words + more, class_="quiet small"), key="edit_words")
