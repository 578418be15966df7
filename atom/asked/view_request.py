"""A view that somebody asked for in words: a closed form, whatever a question or a judge says.

It names a page, models, a capability, labels and how to lay them out; it holds no address, no text
to show and nothing to be done. What it names is looked up afterwards (`views/asked`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

Page = Literal["overview", "tree", "fingerprints", "failures", "compare"]
Measure = Literal["process", "outcome", "preference"]
Layout = Literal["list", "grid", "groups"]
Tab = Literal["answers", "apart", "errors"]
Sort = Literal["loss", "failed", "score", "models", "spread"]
Show = Literal["failed", "imperfect", "unscored", "all", "disputed"]
MOST_QUESTION: Final = 300
"""Characters of a question that are read."""
MOST_NAME: Final = 200


class Label(BaseModel):
    """A label of samples."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    facet: str = Field(max_length=MOST_NAME)
    """What kind of label, `difficulty`."""
    value: str = Field(max_length=MOST_NAME)
    """Which, `hard`."""


class ViewRequest(BaseModel):
    """What a question asks to see."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: Page | None = None
    """Which page answers it; None where the question names nothing that there is."""
    models: tuple[str, ...] = Field(default=(), max_length=2)
    """One model, or the two to be compared: the one that is asked about first."""
    capability: str = Field(default="", max_length=600)
    """A capability's path, or its name."""
    labels: tuple[Label, ...] = Field(default=(), max_length=4)
    """Labels that samples must have."""
    facet: str = Field(default="", max_length=MOST_NAME)
    """Labels to take apart by, in place of capabilities, on Fingerprints."""
    measure: Measure | None = None
    """Steps, final answers or votes; the page's own where it isn't asked for."""
    outcome: Literal["right", "wrong"] | None = None
    """Only answers whose final answer is so."""
    process: Literal["sound", "flawed"] | None = None
    """Only answers without, or with, a failed step."""
    show: Show = "failed"
    """Which checkpoints the list of failures shows; `disputed`: those on which judges differ."""
    layout: Layout = "list"
    """How failures are laid out."""
    tab: Tab | None = None
    """A tab of Fingerprints."""
    sort: Sort = "loss"
    """What comes first among failures."""
    search: str = Field(default="", max_length=120)
    """Words to look for in questions, answers, reasons and criteria."""
    sample: int | None = Field(default=None, ge=1, le=10_000_000)
    """A sample's number."""
    not_understood: tuple[str, ...] = Field(default=(), max_length=12)
    """Words of the question that nothing here stands for."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The names that a study has.

    Attributes:
        models: names of its models, in its order.
        capabilities: paths of its capabilities, parts with ` › ` between them.
        labels: values by facet.
    """

    models: tuple[str, ...]
    capabilities: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
