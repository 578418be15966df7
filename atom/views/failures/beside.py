"""Two answers to one question, word by word: of two models, or before and after a correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.records import Response
from atom.store import Store, table
from atom.views.correction.case import DiffPart, word_diff
from atom.views.correction.form import ARM_WORDS
from atom.views.failures.sample import AnswerView, SampleView
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class OtherAnswer:
    """An answer that can stand beside the one that is read.

    Attributes:
        key: names it in an address: the candidate's id, or the answer's where a candidate has
            several.
        colour: its candidate's place in the study.
        after: whether it is a later try at the answer that is read.
    """

    key: str
    name: str
    colour: int
    response: Response
    after: bool = False


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The answer that is read, and another one.

    Attributes:
        answer: the one that is read.
        other: the other.
        parts: pieces of both in order: in both, only in the first, only in the second.
        shared: share of both texts' letters that stand in both, 0 to 1; 1 for two empty texts.
    """

    answer: AnswerView
    other: OtherAnswer
    parts: tuple[DiffPart, ...]
    shared: float


def others(store: Store, data: StudyData, view: SampleView) -> tuple[OtherAnswer, ...]:
    """List the answers that can stand beside the one that is read: other models', later tries."""
    if view.answer is None:
        return ()
    read = view.answer.response
    seen: set[str] = set()
    found = []
    for one in view.answers:
        if one.response.id == read.id:
            continue
        first = one.candidate.id not in seen and one.candidate.id != read.candidate_id
        seen.add(one.candidate.id)
        found.append(
            OtherAnswer(
                key=one.candidate.id if first else one.response.id,
                name=one.candidate.name,
                colour=one.colour,
                response=one.response,
            )
        )
    return (*found, *_tries(store, data, read))


def _tries(store: Store, data: StudyData, read: Response) -> list[OtherAnswer]:
    """List what came of letting the model try again."""
    column = table(Response).c
    tries = store.select(
        Response,
        column.sample_id == read.sample_id,
        column.parent_id == read.id,
        order_by=(column.arm, column.id),
    )
    number = data.model_index(read.candidate_id)
    names = {str(arm): words.name for arm, words in ARM_WORDS.items()}
    return [
        OtherAnswer(key=one.id, name=f"after: {names[one.arm]}", colour=number or 0,
                    response=one, after=True)
        for one in tries
        if one.arm in names and one.state == "scored"
    ]  # fmt: skip


def difference(
    view: SampleView, there: Sequence[OtherAnswer], key: str | None
) -> Difference | None:
    """Hold the answer that is read against another one.

    Args:
        there: what can stand beside it.
        key: which of them, as the address has it.

    Returns:
        None where none is chosen, or the chosen one isn't there.
    """
    other = next((one for one in there if key and one.key == key), None)
    if other is None or view.answer is None:
        return None
    parts = word_diff(view.answer.response.text, other.response.text)
    size = {kind: sum(len(part.text) for part in parts if part.kind == kind)
            for kind in ("same", "gone", "new")}  # fmt: skip
    total = 2 * size["same"] + size["gone"] + size["new"]
    shared = 2 * size["same"] / total if total else 1.0
    return Difference(answer=view.answer, other=other, parts=parts, shared=shared)
