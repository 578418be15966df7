"""The columns of every frame that a study gives, said once: name, type, what it means.

docs/notebook.md lists the same; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from atom.exports.columns import (
    ASKED,
    CHOICES,
    CRITERION,
    DATASET,
    JUDGMENTS,
    MODEL,
    NUMBER,
    PICTURES,
    REFERENCE,
    REPEAT,
    RIGHT,
    SAMPLE,
    SOURCE_ID,
    SYNTHETIC,
    USE,
    ExportColumn,
)
from atom.views.overview.accuracy import WITHHELD_WORDS

_ESTIMATE = (
    ExportColumn("score", "float64", "mean, 0-100; NaN where nothing is known"),
    ExportColumn("low", "float64", "lower end of its 95 % interval"),
    ExportColumn("high", "float64", "upper end"),
    ExportColumn("n", "Int64", "values that it is the mean of"),
    ExportColumn("samples", "Int64", "distinct samples among these"),
)

STUDIES = (
    ExportColumn("name", "str", "what `atom.open` takes"),
    ExportColumn("id", "str", "its id, which `atom.open` takes, too"),
    ExportColumn("bundled", "boolean", "whether it is the sealed study that comes along"),
    ExportColumn("synthetic", "boolean", "whether programs made it"),
    ExportColumn("created", "str", "UTC time, ISO 8601"),
)
SAMPLES = (
    SAMPLE,
    DATASET,
    SOURCE_ID,
    ASKED,
    CHOICES,
    REFERENCE,
    PICTURES,
    ExportColumn("tags", "object", "a tuple of (facet, value) pairs"),
    ExportColumn(
        "quarantined", "boolean", "whether judge and reference disagree; it counts nowhere"
    ),
    SYNTHETIC,
)
CRITERIA = (SAMPLE, CRITERION, NUMBER, *USE)
ANSWERS = (
    SAMPLE,
    MODEL,
    REPEAT,
    ExportColumn("answer", "str", "the answer's text"),
    ExportColumn(
        "state", "str", "`scored` where there is an answer; `unscored` or `failed` where none"
    ),
    RIGHT,
    ExportColumn("score", "float64", "the sample score, 0-100; NaN where nothing is marked"),
    ExportColumn("votes_won", "float64", "share of its votes that it won, 0 to 1; NaN without any"),
)
SCORES = JUDGMENTS
RANKING = (
    MODEL,
    ExportColumn("rank_best", "Int64", "best rank that the data allow; <NA> = not ranked"),
    ExportColumn("rank_worst", "Int64", "worst rank that they allow"),
    *_ESTIMATE,
    ExportColumn("right", "float64", "right answers of all asked, 0-100"),
    ExportColumn("right_low", "float64", "lower end of its 95 % interval"),
    ExportColumn("right_high", "float64", "upper end"),
    ExportColumn("asked", "Int64", "answers with an outcome, which that is of"),
    ExportColumn("right_of_given", "float64", "right answers of those that it gave, 0-100"),
    ExportColumn("right_of_given_low", "float64", "lower end of its 95 % interval"),
    ExportColumn("right_of_given_high", "float64", "upper end"),
    ExportColumn("given", "Int64", "answers that it gave"),
    *(
        ExportColumn(f"withheld_{cause}", "Int64", f"answers that aren't given: {words}")
        for cause, words in WITHHELD_WORDS.items()
    ),
    ExportColumn("lucky", "float64", "right answers by a wrong reason, of all right ones, 0-100"),
    ExportColumn("unscored_percent", "float64", "checkpoints without a score, 0-100"),
    ExportColumn("unscored", "Int64", "how many those are: unscored or failed, counted in no mean"),
    ExportColumn("confirmed_weaknesses", "Int64", "confirmed weaknesses"),
    ExportColumn("suspected_weaknesses", "Int64", "suspected weaknesses"),
    ExportColumn("strengths", "Int64", "strengths"),
    ExportColumn("score_of_what_was_said", "float64", "its score over what its answers say, 0-100"),
    ExportColumn(
        "steps_said_percent", "float64", "scored checkpoints that they say anything of, 0-100"
    ),
    ExportColumn(
        "terse", "Int64", "answers that speak of less than half of the weight of their steps"
    ),
    ExportColumn("carried", "Int64", "checkpoints that are wrong only because an earlier step was"),
    ExportColumn("judges_differ_percent", "float64", "checkpoints on which a panel differs, 0-100"),
    ExportColumn("disagreement", "float64", "the panel's mean standard deviation there, 0-100"),
)
_NODE = (
    MODEL,
    ExportColumn("path", "object", "the capability's path, a tuple of names; () for a label"),
    ExportColumn("name", "str", "its own name, or the label's value"),
    ExportColumn("facet", "str", "the label's facet; missing for a capability"),
)
_EFFECT = (
    ExportColumn(
        "effect", "float64", "difference from what is expected of it there, in points of 100"
    ),
    ExportColumn("effect_low", "float64", "lower end of its 95 % interval"),
    ExportColumn("effect_high", "float64", "upper end"),
)
CAPABILITIES = (
    *_NODE,
    ExportColumn("depth", "Int64", "1 for a root of the tree"),
    *_ESTIMATE,
    ExportColumn("status", "str", "what may be claimed; empty where nothing was looked for"),
    *_EFFECT,
    ExportColumn("claim_n", "Int64", "checkpoints that the claim rests on"),
)
WEAKNESSES = (
    *_NODE,
    ExportColumn("status", "str", "`confirmed`, `suspected` or `strength`"),
    ExportColumn(
        "frame", "str", "held against its `peer`s, or against its `own` other capabilities"
    ),
    *_EFFECT,
    ExportColumn("mean", "float64", "its mean there, 0-100, over the checkpoints of the claim"),
    ExportColumn("n", "Int64", "checkpoints (or answers) that it rests on"),
    ExportColumn("samples", "Int64", "distinct samples among these"),
    ExportColumn("p_adjusted", "float64", "after control for multiplicity; NaN where not tested"),
    ExportColumn("more_samples", "float64", "how many more would settle a suspicion"),
)

_OF_SCORES = {column.name: column for column in JUDGMENTS}
JUDGED = tuple(
    _OF_SCORES[name]
    for name in (
        "model", "number", "criterion_text", "truth", "weight", "capability", "state", "score",
        "reason", "detail",
    )
)  # fmt: skip


def frame_of(columns: Sequence[ExportColumn], lines: Iterable[Sequence[object]]) -> pd.DataFrame:
    """Make a frame whose columns have the types that are declared, with or without lines.

    Args:
        lines: a value a column; None = unknown.
    """
    by_column = zip(*lines, strict=True)
    values = list(by_column) or [() for _ in columns]
    return pd.DataFrame(
        {
            column.name: pd.Series(list(value), dtype=column.dtype)
            for column, value in zip(columns, values, strict=True)
        }
    )
