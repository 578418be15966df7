"""How the judge and the models are asked, in a popover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import streamlit as st

from atom.records import Endpoint, Sampling
from atom.ui import kit
from atom.ui.html import el
from atom.views.sampling import FIELDS, SamplingField, heat_words, open_words, with_setting

Who = Literal["judge", "answer"]
_HEADS: dict[Who, str] = {"judge": "The judge", "answer": "Models that answer"}
OnChange = Callable[[Who, Sampling], None]


def draw(
    settings: dict[Who, Sampling],
    asked: dict[Who, Sequence[Endpoint]],
    *,
    key: str,
    on_change: OnChange,
    note: str = "",
    disabled: bool = False,
) -> None:
    """Draw the button and the settings behind it.

    Args:
        settings: what is asked for now.
        asked: whom each asks, for what holds where a setting is left empty.
        key: the beginning of the fields' keys.
        on_change: told when a setting was changed.
        note: what a change would bring about, in words.
        disabled: whether nothing can be changed now.
    """
    heats = f"judge at {heat_words(settings['judge'])}, models at {heat_words(settings['answer'])}"
    with st.popover(f"Sampling: {heats}", disabled=disabled):
        kit.show(
            el(
                "p",
                "How each is asked, as far as its server allows. An empty field leaves it to the "
                "endpoint or the server.",
                class_="quiet small",
            ),
            key=f"{key}_words",
        )
        for who, column in zip(_HEADS, st.columns(2, gap="medium"), strict=True):
            with column:
                kit.show(el("p", _HEADS[who], class_="strong small"), key=f"{key}_{who}_head")
                for field in FIELDS:
                    _field(field, who, settings[who], asked[who], key, on_change)
        if note:
            kit.show(kit.notice(note), key=f"{key}_note")


def _field(
    field: SamplingField,
    who: Who,
    now: Sampling,
    asked: Sequence[Endpoint],
    key: str,
    on_change: OnChange,
) -> None:
    name = f"{key}_{who}_{field.name}"
    value = getattr(now, field.name)
    hint = open_words(field, asked)

    def changed() -> None:
        on_change(who, with_setting(now, field.name, st.session_state[name]))

    if field.kind in ("number", "whole"):
        whole = field.kind == "whole"
        number = int if whole else float
        st.session_state[name] = None if value is None else number(value)
        st.number_input(
            field.label,
            number(field.least),
            number(field.most),
            step=number(field.step),
            key=name,
            on_change=changed,
            placeholder=hint,
            help=field.help,
        )
        return
    options = [*field.choices, *([value] if value and value not in field.choices else [])]
    st.session_state[name] = value
    st.selectbox(
        field.label,
        options,
        index=None,
        key=name,
        on_change=changed,
        placeholder=hint,
        help=field.help,
        accept_new_options=field.kind == "level",
    )
