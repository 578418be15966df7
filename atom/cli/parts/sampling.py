"""Options that set a study's sampling: how its judge and its candidates are asked."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, Literal

from atom.records import Sampling

SamplingRole = Literal["judge", "answer"]
LEAVE = "default"
"""Given instead of a value: the study leaves it open, so that the endpoint's or the server's own
holds."""
_WHO: Mapping[SamplingRole, str] = {"judge": "the judge", "answer": "candidates"}
_FIELDS: tuple[tuple[str, str, Callable[[str], Any], str], ...] = (
    ("temperature", "T", float, "temperature of {who}; 0 = always the likeliest word"),
    ("top_p", "P", float, "draw from the likeliest words that hold this share"),
    ("seed", "N", int, "seed of the draws; repeats count up from it"),
    ("max_tokens", "N", int, "longest reply in tokens"),
    ("reasoning_effort", "LEVEL", str, "how long a thinking model thinks: minimal, low, ..."),
    ("image_detail", "LEVEL", str, "how closely pictures are looked at: low, high, auto"),
)


def sampling_options(parser: argparse.ArgumentParser) -> None:
    """Declare `--judge-temperature` and so on, and the same for `--answer-`."""
    for who, words in _WHO.items():
        group = parser.add_argument_group(
            f"how {words} {'is' if who == 'judge' else 'are'} asked",
            f"The study's settings from then on; {LEAVE!r} leaves one to the endpoint.",
        )
        for name, metavar, kind, about in _FIELDS:
            group.add_argument(
                f"--{who}-{name.replace('_', '-')}",
                metavar=metavar,
                type=_reader(kind),
                help=about.format(who=words),
            )


def _reader(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        return LEAVE if text == LEAVE else kind(text)

    # argparse names the kind of value when it refuses one.
    read.__name__ = getattr(kind, "__name__", "value")
    return read


def sampling_from(args: argparse.Namespace, who: SamplingRole, now: Sampling) -> Sampling | None:
    """Return the settings that the options ask for; None where they set nothing.

    Args:
        now: the study's settings, which stay where no option is given.
    """
    given = {name: getattr(args, f"{who}_{name}") for name, *_ in _FIELDS}
    update = {
        name: None if value == LEAVE else value
        for name, value in given.items()
        if value is not None
    }
    return now.model_copy(update=update) if update else None
