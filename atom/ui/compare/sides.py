"""Who is compared: choosing both sides, their names, and addresses that keep them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from atom.ui import commands, kit, links
from atom.ui.html import Html, el
from atom.ui.pages import COMPARE, OVERVIEW
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.views.compare.page import Comparison
from atom.views.compare.sides import ComparedSides, SideChoice
from atom.views.filters import Filters

KEYS = ("facet", "tab", "at", "left", "right", "other", "depth")


_OWN = ""


def pinned(here: Here, picked: ComparedSides) -> Filters:
    """Return the filters with both sides written down."""
    first, second = picked.first.model_id, picked.second.model_id
    rest = tuple(one for one in here.filters.peers[1:] if one not in (first, second))
    return here.filters.but(model=first, peers=(second, *rest))


def local(here: Here, picked: ComparedSides, **changes: str | None) -> dict[str, str | None]:
    """Return the page's own keys with both sides written down and some changed."""
    held: dict[str, str | None] = {k: v for k, v in here.query.items() if k in KEYS and k != "at"}
    return {**held, **_sides(picked), **changes}


def _sides(picked: ComparedSides) -> dict[str, str | None]:
    return {
        "left": str(picked.first.answer) if picked.first.answer else None,
        "right": str(picked.second.answer) if picked.second.answer else None,
        "other": picked.judge_id,
    }


def to(here: Here, picked: ComparedSides, filters: Filters, **changes: str | None) -> str:
    """Write an address on this page."""
    return links.address(COMPARE.url_path, filters, **local(here, picked, **changes))


def style() -> Html:
    """Return this page's own CSS, for inside a piece of markup."""
    return el("style", Html(kit.ASSETS.joinpath("compare.css").read_text(encoding="utf-8")))


def controls(here: Here, picked: ComparedSides, there: Sequence[SideChoice]) -> None:
    """Draw the two lists of choices, the second side's judge, and the button that swaps."""
    judges = len(here.data.judges) > 1
    first, second, third, swap = st.columns(
        [3, 3, 2.6 if judges else 0.01, 1.2], vertical_alignment="bottom"
    )
    with first:
        _choose(here, picked, there, "Compare", "compare_first")
    with second:
        _choose(here, picked, there, "with", "compare_second")
    if judges:
        with third:
            _judge(here, picked)
    with swap:
        kit.show(kit.button("⇄ Swap", swapped(here, picked)), key="compare_swap")


def _choose(
    here: Here, picked: ComparedSides, there: Sequence[SideChoice], label: str, key: str
) -> None:
    left = key == "compare_first"
    names = [one.label for one in there]
    st.session_state[key] = (picked.first if left else picked.second).label

    def changed() -> None:
        chosen = there[names.index(st.session_state[key])]
        other = picked.second if left else picked.first
        now = ComparedSides(
            first=chosen if left else other,
            second=other if left else chosen,
            judge_id=picked.judge_id,
        )
        _move(here, now)

    st.selectbox(plain(label), names, key=key, on_change=changed)


def _judge(here: Here, picked: ComparedSides) -> None:
    own = here.data.judge
    names = {one.id: one.name for one in here.data.judges if own is None or one.id != own.id}
    options = {_OWN: f"the same judge ({own.name})" if own else "the same judge", **names}
    key = "compare_judge"
    st.session_state[key] = picked.judge_id or _OWN

    def changed() -> None:
        judge = st.session_state[key] or None
        _move(here, ComparedSides(first=picked.first, second=picked.second, judge_id=judge))

    st.selectbox("seen by", list(options), format_func=lambda one: options.get(one, one), key=key,
                 on_change=changed)  # fmt: skip


def _move(here: Here, picked: ComparedSides) -> None:
    query = {**pinned(here, picked).to_query()}
    query.update({key: value for key, value in local(here, picked).items() if value})
    st.query_params.from_dict(query)


def swapped(here: Here, picked: ComparedSides) -> str:
    """Return the address of the same comparison seen from the other side."""
    own = here.data.judge.id if here.data.judge else None
    back = own if picked.judge_id else None
    turned = ComparedSides(first=picked.second, second=picked.first, judge_id=back)
    filters = pinned(here, turned)
    if picked.judge_id:
        filters = filters.but(judge=picked.judge_id)
    tab = here.query.get("tab", "")
    ends = {"first": "second", "second": "first", "first_right": "second_right",
            "second_right": "first_right",
            "first_fails": "second_fails", "second_fails": "first_fails"}  # fmt: skip
    return to(here, turned, filters, tab=ends.get(tab, tab) or None)


def names(view: Comparison) -> tuple[str, str]:
    """Name both sides; two judges of one answer are told apart by the judge."""
    first, second = view.picked.first.label, view.picked.second.label
    if view.picked.judge_id is not None:
        first = f"{first} by {view.first_judge or 'no judge'}"
        second = f"{second} by {view.second_judge or 'no judge'}"
    return first, second


def short(view: Comparison) -> tuple[str, str]:
    """Name both sides by what tells them apart: model, answer or judge."""
    first, second = view.picked.first, view.picked.second
    if view.picked.judge_id is not None and first == second:
        return view.first_judge or "no judge", view.second_judge or "no judge"
    if view.picked.judge_id is None and first.model_id == second.model_id:
        told = [
            "all answers" if side.answer is None else f"answer {side.answer}"
            for side in (first, second)
        ]
        return told[0], told[1]
    return names(view)


def nobody(here: Here) -> Html:
    """Say that no model has answered yet."""
    return kit.empty(
        "This study has no answers yet",
        "Let candidates answer its samples, or import answers that you have.",
        commands.shown(
            here, f"python -m atom run start --study {shlex.quote(here.entry.study.name)}"
        ),
    )


def alone(here: Here, picked: ComparedSides, there: Sequence[SideChoice]) -> Html:
    """Say that there is only one thing, or that the same thing was chosen twice."""
    others = [one for one in there if one != picked.first]
    if others:
        other = ComparedSides(first=picked.first, second=others[0])
        return kit.empty(
            "Both sides are the same",
            f"{picked.first.label} is chosen twice. Choose something else on either side.",
            kit.button(
                f"Compare it with {others[0].label}",
                to(here, other, pinned(here, other)),
                primary=True,
            ),
        )
    return kit.empty(
        f"{picked.first.label} is the only one here",
        "Two models, two answers of one model, or two judges can be compared. Let a second model "
        "answer.",
        commands.shown(
            here,
            f"python -m atom run start --study {shlex.quote(here.entry.study.name)} "
            "--candidates ...",
        ),
        kit.button("Overview", links.address(OVERVIEW.url_path, here.filters)),
    )


def unshared(here: Here, view: Comparison) -> Html:
    """Offer a way out when no sample is shared."""
    if not here.filters.active:
        return Html("")
    less = pinned(here, view.picked).cleared
    return kit.button("Clear filters", to(here, view.picked, less), primary=True)
