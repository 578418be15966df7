"""What all stages share when they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.judge.request import PicturePart, Request, TextPart
from atom.judge.templates import JsonValue, TemplateError, load_template, render
from atom.records import Sampling
from atom.stages.schemas import Schema

MAX_TOKENS = 4096
"""Limit on a reply's tokens where the study sets none: no model may run for ever."""


def make_request(
    prompt: str,
    values: Mapping[str, JsonValue],
    *,
    pictures: Sequence[PicturePart],
    sampling: Sampling,
    repeat: int,
    schema: Schema | None = None,
    form: str | None = None,
) -> Request:
    """Build a request from a prompt template.

    Args:
        prompt: id and version of the template; the id is the task.
        values: the template's variables.
        pictures: sent before the text, in order.
        repeat: 0-based index among equal requests.
        schema: of the reply; None for free text.
        form: the template's user section, where it has several.

    Returns:
        The request; equal arguments give an equal request.

    Raises:
        TemplateError: the template and its use don't fit.
    """
    template = load_template(prompt)
    if (schema is None) != (template.reply == "text"):
        raise TemplateError(f"prompt {prompt!r}: its header says reply {template.reply!r}")
    rendered = render(template, values, form=form)
    return Request(
        task=template.id,
        prompt_id=prompt,
        system=rendered.system,
        parts=(*pictures, TextPart(text=rendered.user)),
        schema=schema,
        schema_name="" if schema is None else template.reply,
        sampling=request_sampling(sampling, repeat),
        repeat=repeat,
    )


def request_sampling(sampling: Sampling, repeat: int) -> Sampling:
    """Return what a request is sent with.

    Args:
        sampling: the study's settings, as records keep them.
        repeat: 0-based index among equal requests.

    Returns:
        The settings with a token limit, and with a seed of its own for each repeat wherever the
        model draws at random: `seed + repeat`, counted from 0 where the study has no seed. At
        temperature 0 nothing is drawn and the seed stays. With no temperature given the server's
        own holds, and a first request needs no seed.
    """
    seed = sampling.seed
    draws = sampling.temperature is None or sampling.temperature > 0
    if draws and (seed is not None or repeat > 0 or sampling.temperature is not None):
        seed = (seed or 0) + repeat
    return sampling.model_copy(
        update={"seed": seed, "max_tokens": sampling.max_tokens or MAX_TOKENS}
    )
