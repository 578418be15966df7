"""Samples and their pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from atom.records.base import Id, Record, content_id, hash_of, quoted

Thousandth = Annotated[int, Field(ge=0, le=1000)]


class Region(Record):
    """A box in a picture, in thousandths of its width and height."""

    picture: int = Field(default=1, ge=1)
    """1-based index among the sample's pictures."""
    box: tuple[Thousandth, Thousandth, Thousandth, Thousandth]
    """Left, top, right, bottom."""


class Picture(Record):
    """One picture file, stored beside the database under its hash."""

    id: Id
    """SHA-256 of the original bytes."""
    media_type: str
    """For example `image/png`."""
    width: int
    height: int
    n_bytes: int


class PictureSlot(Record):
    """A place for a picture in a sample; the file may be attached later."""

    name: str = ""
    """The name or path by which the source calls it."""
    picture_id: str | None = None
    """The attached picture; None while it is missing."""


class Sample(Record):
    """A question about pictures."""

    id: Id
    dataset: str
    """The data set's name."""
    source_id: str | None = None
    """Its id in the source, where it has one."""
    question: str
    choices: tuple[str, ...] = ()
    """Answer options; empty for an open question."""
    reference: str | None = None
    """The known final answer (the choice's text where there are choices); None when unknown."""
    answer_type: str = ""
    """`integer`, `float`, `text`, `choice`, ... as the source says; empty when unknown."""
    tolerance: float | None = None
    """Absolute tolerance for a numeric reference; None = by the number of decimals shown."""
    pictures: tuple[PictureSlot, ...] = ()
    cluster: str | None = None
    """The set of samples that share pictures; None = the sample itself."""
    synthetic: bool = False
    """Made by a program, not by people."""

    @staticmethod
    def make_id(
        dataset: str,
        source_id: str | None,
        question: str = "",
        choices: tuple[str, ...] = (),
        picture_ids: tuple[str, ...] = (),
    ) -> str:
        """Hash (data set, source id), or the content where the source has no id."""
        if source_id is not None:
            return hash_of(f'["sample",{quoted(dataset)},{quoted(source_id)}]')
        return content_id("sample", list(picture_ids), question, list(choices))

    @staticmethod
    def named_in(dataset: str) -> Callable[[str], str]:
        """Return what names the questions of a data set by their ids, as `make_id` does."""
        begin = f'["sample",{quoted(dataset)},'
        return lambda source_id: hash_of(f"{begin}{quoted(source_id)}]")
