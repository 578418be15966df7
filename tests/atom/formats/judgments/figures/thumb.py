"""THumB: precision, recall and penalties of captions."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from atom.analysis.agreement.rubric import with_points
from atom.records import Response
from tests.atom.formats.judgments.figures.common import Figures
from tests.atom.formats.judgments.frames import Brought, marked

NAMES = {"P": "Precision", "R": "Recall", "Fl": "Fluency", "Inc": "Inclusive language",
         "Con": "Conciseness"}  # fmt: skip


def figures(brought: Brought, folder: Path) -> Figures:
    """Return every figure of the source."""
    frame = brought.frame
    rows, answers = marked(frame)
    score = pd.Series(1 + 4 * with_points(rows).value, index=answers)
    of = frame.drop_duplicates("answer").set_index("answer")
    path = next(folder.rglob("*THumB*.jsonl"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    told = {(line["seg_id"], line["SYS"]): line["human_score"] for line in lines}
    return {
        "rows": frame.answer.nunique(),
        "images": frame["sample"].nunique(),
        "rows_where_human_score_is_the_formula": sum(
            abs(value - told[of["sample"][name], of.model[name]]) < 1e-9
            for name, value in score.items()
        ),
        "means": {
            model: {
                **{key: _mean(marks, key) for key in NAMES},
                "human_score": score[of.model[score.index] == model].mean(),
            }
            for model, marks in frame.groupby("model")
        },
        "rows_with_a_penalty": {
            key: int((frame[frame.criterion == NAMES[key]].value > 0).sum())
            for key in ("Fl", "Inc", "Con")
        },
        "equal_captions_of_two_systems_with_different_P_or_R": _apart(brought),
    }


def _mean(marks: pd.DataFrame, key: str) -> float:
    value = float(marks[marks.criterion == NAMES[key]].value.mean())
    return 4 * value + 1 if key in "PR" else -value


def _apart(brought: Brought) -> int:
    frame = brought.frame
    texts = {one.id: one.text for one in brought.store.select(Response)}
    marks = frame[frame.criterion.isin(["Precision", "Recall"])]
    marks = marks.assign(text=marks.answer.map(texts))
    different = marks.groupby(["sample", "text", "criterion"]).value.nunique() > 1
    return int(different.groupby(["sample", "text"]).any().sum())
