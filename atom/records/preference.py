"""Preferences: which of two answers to one sample is better."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from atom.records.base import Id, Record, State, content_id

Side = Literal["a", "b"]
PreferenceVerdict = Literal["a", "b", "tie"]


class Preference(Record):
    """One judgement of two answers, in one order of showing them.

    Both orders are two records; what they say together is for the analysis to decide.
    """

    id: Id
    sample_id: Id
    response_a: Id
    response_b: Id
    judge: str = ""
    """The judge's id, or its name where the judgement was imported."""
    prompt: str = ""
    """Template id and version, or `imported`."""
    repeat: int = 0
    first: Side = "a"
    """Whose answer was shown first."""
    state: State = "scored"
    verdict: PreferenceVerdict | None = None
    """None unless scored."""
    strength: int = Field(default=1, ge=1, le=2)
    """2 = much better, where the judge was offered both; 1 otherwise, and for ties."""
    reason: str = ""
    detail: str = ""
    """Why it couldn't be read (unscored) or what failed."""
    call_id: str | None = None

    @staticmethod
    def make_id(
        response_a: str, response_b: str, judge: str, prompt: str, first: Side, repeat: int = 0
    ) -> str:
        """Hash what makes a judgement this one and no other."""
        return content_id("preference", response_a, response_b, judge, prompt, first, repeat)
