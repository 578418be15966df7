"""One question through the whole method, without a study: `atom.judge_sample(...)`.

`import atom` loads this module and nothing behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def judge_sample(
    question: str,
    answers: Mapping[str, str],
    *,
    judge: str,
    pictures: Sequence[str | Path | bytes] = (),
    choices: Sequence[str] = (),
    reference: str | None = None,
    send: bool = False,
    budget: float | None = None,
) -> pd.DataFrame:
    """Let a judge take a question apart and mark answers to it, step by step.

    Nothing is stored. The judge solves the question itself, cuts its solution into weighted
    criteria, maps them to the general tree, and marks every answer at every criterion (ATOM 3).

    Args:
        answers: the answer of each model, by the model's name.
        judge: an endpoint's name, as Settings and `endpoint list` show it.
        pictures: the pictures in order: their files, or their bytes.
        choices: answer options; empty for an open question.
        reference: the right answer, where it's known.
        send: agree that pictures and texts go to an endpoint beyond this computer.
        budget: spend cap in USD.

    Returns:
        A row a mark (`atom.notebook.columns.JUDGED`). `frame.attrs` holds the judge's `solution`
        (a list of steps), its `final_answer`, what each answer came to under `right` (True, False
        or None, by model), `cost` in USD (None = unknown), and `problem`, empty unless the method
        stopped early.

    Raises:
        UsageError: no such endpoint, no question, no answer, or `send` is needed.
        AtomError: a picture can't be read, or no reply came.
    """
    from atom.notebook.method import Question, judged

    asked = Question(
        text=question,
        pictures=tuple(pictures),
        choices=tuple(choices),
        reference=reference,
    )
    return judged(asked, answers, judge, send=send, budget=budget)
