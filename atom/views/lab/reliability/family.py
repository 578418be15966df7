"""Models of one family: a judge may be kinder to its own kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atom.records import Candidate, Judge

_WORD = re.compile(r"[a-z]+")


_MAKERS = {
    "gpt": "openai", "o": "openai", "chatgpt": "openai", "claude": "anthropic",
    "gemini": "google", "gemma": "google", "qwen": "alibaba", "qvq": "alibaba",
    "llama": "meta", "pixtral": "mistral", "mixtral": "mistral", "grok": "xai",
    "internvl": "opengvlab", "phi": "microsoft", "glm": "zhipu",
}  # fmt: skip


def family_of(name: str, family: str = "") -> str:
    """Return a family's plain name: what is said, else the first word of the model's name.

    `Qwen2-VL-72B` and `qwen` are one family; `gpt-4o` and `OpenAI` as well.

    Args:
        name: the model's name, with or without the maker in front (`openai/gpt-4o`).
        family: the family, where one is given.
    """
    for text in (family, name.rsplit("/", 1)[-1]):
        found = _WORD.search(text.casefold())
        if found:
            return _MAKERS.get(found.group(), found.group())
    return ""


def same_family(judge: Judge | None, candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """Name the candidates of a judge's own family; simulated ones have none."""
    if judge is None or judge.synthetic:
        return ()
    own = {family_of(judge.name), family_of(judge.name, judge.family)} - {""}
    return tuple(
        one.name
        for one in candidates
        if not one.synthetic
        and own & ({family_of(one.name), family_of(one.name, one.family)} - {""})
    )
