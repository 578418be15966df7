"""How the judge and the models are asked, in a popover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st

from atom.records import Endpoint, Sampling
from atom.ui.plain import plain
from atom.views.runs.sampling import FIELDS, SamplingField, heat_words, open_words, with_setting

SamplingRole = Literal["judge", "answer"]
_HEADS: dict[SamplingRole, str] = {"judge": "Judge", "answer": "Models"}
_WIDTHS = [0.8, 1, 1]
OnChange = Callable[[SamplingRole, Sampling], None]


def draw(
    settings: dict[SamplingRole, Sampling],
    asked: dict[SamplingRole, Sequence[Endpoint]],
    *,
    key: str,
    on_change: OnChange,
    note: str = "",
) -> None:
    """Draw the button and the settings behind it.

    Args:
        settings: what is asked for now.
        asked: whom each asks, for what holds where a setting is left empty.
        key: the beginning of the fields' keys.
        on_change: told when a setting was changed.
        note: what a change would bring about, in words of ours.
    """
    heats = f"judge at {heat_words(settings['judge'])}, models at {heat_words(settings['answer'])}"
    with st.popover(plain(f"Sampling: {heats}")):
        st.caption(
            "How each is asked, as far as its server allows. An empty field leaves it to the "
            "endpoint or the server."
        )
        heads = st.columns(_WIDTHS, gap="small")
        for who, column in zip(_HEADS, heads[1:], strict=True):
            column.caption(_HEADS[who])
        for field in FIELDS:
            label, *cells = st.columns(_WIDTHS, gap="small", vertical_alignment="center")
            label.caption(plain(field.label), help=plain(field.help))
            for who, cell in zip(_HEADS, cells, strict=True):
                with cell:
                    _field(field, who, settings[who], asked[who], key, on_change)
        if note:
            st.caption(plain(note))


def _field(
    field: SamplingField,
    who: SamplingRole,
    now: Sampling,
    asked: Sequence[Endpoint],
    key: str,
    on_change: OnChange,
) -> None:
    name = f"{key}_{who}_{field.name}"
    label = f"{field.label} ({_HEADS[who].lower()})"
    value = getattr(now, field.name)
    hint = open_words(field, asked)

    def changed() -> None:
        on_change(who, with_setting(now, field.name, st.session_state[name]))

    if field.kind in ("number", "whole"):
        number = int if field.kind == "whole" else float
        st.session_state[name] = None if value is None else number(value)
        st.number_input(
            plain(label),
            number(field.least),
            number(field.most),
            step=number(field.step),
            format=None if field.kind == "whole" else "%g",
            key=name,
            on_change=changed,
            placeholder=hint,
            label_visibility="collapsed",
        )
        return
    options = [*field.choices, *([value] if value and value not in field.choices else [])]
    st.session_state[name] = value
    st.selectbox(
        plain(label),
        options,
        index=None,
        key=name,
        on_change=changed,
        placeholder=hint,
        accept_new_options=field.kind == "level",
        label_visibility="collapsed",
    )
