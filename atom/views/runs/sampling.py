"""Sampling settings in words: what each does, what holds where a study leaves one open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atom.records import Endpoint, Sampling
from atom.stages.asking import MAX_TOKENS

Kind = Literal["number", "whole", "choice", "level"]


@dataclass(frozen=True, kw_only=True)
class SamplingField:
    """A setting as it is shown.

    Attributes:
        name: the field of `Sampling`.
        label: its name on screen.
        short: its name in a line of settings.
        help: what it does, in plain words.
        kind: `number`, `whole` number, a `choice` of those listed, or a `level` that the provider
            names (the listed ones are the usual).
        least: the smallest number.
        most: the largest number.
        step: of the arrows beside a number.
        choices: what can be chosen.
    """

    name: str
    label: str
    short: str
    help: str
    kind: Kind
    least: float = 0.0
    most: float = 0.0
    step: float = 1.0
    choices: tuple[str, ...] = ()


FIELDS = (
    SamplingField(
        name="temperature",
        label="Temperature",
        short="temperature",
        help="0 takes the likeliest word each time; higher values draw more freely. Repeats need "
        "a value above 0 to differ.",
        kind="number",
        most=2.0,
        step=0.1,
    ),
    SamplingField(
        name="top_p",
        label="Top-p",
        short="top-p",
        help="Draws only from the likeliest words that together hold this share.",
        kind="number",
        least=0.01,
        most=1.0,
        step=0.05,
    ),
    SamplingField(
        name="seed",
        label="Seed",
        short="seed",
        help="Makes draws the same again where the server keeps to it; repeats count up from it.",
        kind="whole",
        most=2**31 - 1,
    ),
    SamplingField(
        name="max_tokens",
        label="Longest reply, tokens",
        short="at most tokens",
        help="Where a reply is cut off. A cut reply is asked for once more with twice the room.",
        kind="whole",
        least=1,
        most=1_000_000,
        step=256,
    ),
    SamplingField(
        name="reasoning_effort",
        label="Reasoning effort",
        short="effort",
        help="How long a thinking model thinks, in its provider's own words.",
        kind="level",
        choices=("minimal", "low", "medium", "high"),
    ),
    SamplingField(
        name="image_detail",
        label="Image detail",
        short="image detail",
        help="How closely pictures are looked at; more detail costs more tokens.",
        kind="choice",
        choices=("low", "high", "auto"),
    ),
)


def sampling_words(sampling: Sampling) -> str:
    """Write settings in a line: `temperature 0.7, seed 3`; what is left open isn't named."""
    said = []
    for field in FIELDS:
        value = getattr(sampling, field.name)
        if value is not None:
            said.append(f"{field.short} {plain(value)}")
    if sampling.extra is not None:
        said.append(f"and {sampling.extra}")
    return ", ".join(said) or "as the server has it"


def heat_words(sampling: Sampling) -> str:
    """Write the temperature alone, for a button: `0.7`, or `the server's own`."""
    hot = sampling.temperature
    return "the server's own" if hot is None else plain(hot)


def open_words(field: SamplingField, endpoints: Sequence[Endpoint]) -> str:
    """Say what holds where a study leaves a setting open.

    Args:
        endpoints: who is asked.

    Returns:
        The endpoint's own value; `their own` where several differ; else that the server decides.
    """
    values = {getattr(endpoint, field.name, None) for endpoint in endpoints}
    if len(values) > 1:
        return "each endpoint's"
    value = next(iter(values), None)
    if value is None and field.name == "max_tokens":
        return str(MAX_TOKENS)
    return "the server's" if value is None else f"{plain(value)}, the endpoint's"


def plain(value: object) -> str:
    """Write a setting's value."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def with_setting(sampling: Sampling, name: str, value: object) -> Sampling:
    """Return settings with one changed; an empty value leaves it open."""
    return sampling.model_copy(update={name: None if value == "" else value})
