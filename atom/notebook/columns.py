"""The columns of every frame that a study gives, said once: name, type, what it means.

docs/notebook.md lists the same; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import pandas as pd

Dtype = Literal["str", "Int64", "float64", "boolean", "object"]
"""`str` for texts, where a missing one is NaN; `Int64` and `boolean` have `<NA>` for unknown;
`float64` has NaN; `object` holds tuples."""


class Column(NamedTuple):
    """A column of a frame."""

    name: str
    dtype: Dtype
    about: str
    """What it means, with its unit and range."""


_SAMPLE = Column("sample", "str", "the sample's id")
_MODEL = Column("model", "str", "the model's name")
_REPEAT = Column("repeat", "Int64", "which of the model's answers to the sample, from 0")
_ANSWER = Column("answer", "str", "the answer's id")
_CRITERION = Column("criterion", "str", "the criterion's id")
_NUMBER = Column("number", "Int64", "its place among the sample's criteria, from 1")
_QUESTION = Column("question", "str", "what the criterion asks")
_TRUTH = Column("truth", "str", "the right answer to it; empty where none is given")
_WEIGHT = Column("weight", "float64", "its weight as written, positive")
_CAPABILITY = Column("capability", "object", "its leaf in the tree, a tuple of names; () = none")
_ESTIMATE = (
    Column("score", "float64", "mean, 0-100; NaN where nothing is known"),
    Column("low", "float64", "lower end of its 95 % interval"),
    Column("high", "float64", "upper end"),
    Column("n", "Int64", "values that it is the mean of"),
    Column("samples", "Int64", "distinct samples among these"),
)

STUDIES = (
    Column("name", "str", "what `atom.open` takes"),
    Column("id", "str", "its id, which `atom.open` takes, too"),
    Column("bundled", "boolean", "whether it is the sealed study that comes along"),
    Column("synthetic", "boolean", "whether programs made it"),
    Column("created", "str", "UTC time, ISO 8601"),
)
SAMPLES = (
    _SAMPLE,
    Column("dataset", "str", "the data set it is of"),
    Column("source_id", "str", "its id there"),
    Column("question", "str", "what was asked"),
    Column("choices", "object", "a tuple of texts; () where none were given"),
    Column("reference", "str", "the right answer, where it is known"),
    Column("pictures", "object", "a tuple of the pictures' names"),
    Column("tags", "object", "a tuple of (facet, value) pairs"),
    Column("quarantined", "boolean", "whether judge and reference disagree; it counts nowhere"),
    Column("synthetic", "boolean", "whether a program made it"),
)
CRITERIA = (_SAMPLE, _CRITERION, _NUMBER, _QUESTION, _TRUTH, _WEIGHT, _CAPABILITY)
ANSWERS = (
    _SAMPLE,
    _MODEL,
    _REPEAT,
    _ANSWER,
    Column("state", "str", "`scored` where there is an answer; `unscored` or `failed` where none"),
    Column("text", "str", "the answer"),
    Column("right", "float64", "whether it is right, 0 to 1; NaN where that isn't known"),
    Column("score", "float64", "the sample score, 0-100; NaN where nothing is marked"),
    Column("votes_won", "float64", "share of its votes that it won, 0 to 1; NaN without any"),
)
SCORES = (
    _SAMPLE,
    _MODEL,
    _REPEAT,
    _ANSWER,
    _CRITERION,
    _NUMBER,
    _QUESTION,
    _TRUTH,
    _WEIGHT,
    _CAPABILITY,
    Column("state", "str", "`scored`, `unscored`, `failed`; `pending` where no mark is there yet"),
    Column("score", "float64", "1 to 5; NaN unless scored"),
    Column("reason", "str", "why, in the judge's words"),
    Column("quote", "str", "the words of the answer that it rests on"),
    Column("detail", "str", "why there is no score"),
    Column("judge", "str", "who marked it"),
    Column("mark_repeat", "Int64", "which time the judge was asked, from 0"),
    Column("prompt", "str", "the prompt that it was marked with, and its version"),
    Column("addressed", "boolean", "whether the answer speaks of the step; <NA> = wasn't asked"),
    Column("carried", "boolean", "whether only an earlier step is to blame; <NA> = wasn't asked"),
)
RANKING = (
    _MODEL,
    Column("rank_best", "Int64", "best rank that the data allow; <NA> = not ranked"),
    Column("rank_worst", "Int64", "worst rank that they allow"),
    *_ESTIMATE,
    Column("right", "float64", "right answers of all asked, 0-100"),
    Column("right_low", "float64", "lower end of its 95 % interval"),
    Column("right_high", "float64", "upper end"),
    Column("unscored", "Int64", "checkpoints that are unscored or failed, counted in no mean"),
    Column("confirmed", "Int64", "confirmed weaknesses"),
    Column("suspected", "Int64", "suspected weaknesses"),
    Column("strengths", "Int64", "strengths"),
)
_NODE = (
    _MODEL,
    Column("path", "object", "the capability's path, a tuple of names; () for a label"),
    Column("name", "str", "its own name, or the label's value"),
    Column("facet", "str", "the label's facet; missing for a capability"),
)
_EFFECT = (
    Column("effect", "float64", "difference from what is expected of it there, in points of 100"),
    Column("effect_low", "float64", "lower end of its 95 % interval"),
    Column("effect_high", "float64", "upper end"),
)
CAPABILITIES = (
    *_NODE,
    Column("depth", "Int64", "1 for a root of the tree"),
    *_ESTIMATE,
    Column("status", "str", "what may be claimed; empty where nothing was looked for"),
    *_EFFECT,
    Column("claim_n", "Int64", "checkpoints that the claim rests on"),
)
WEAKNESSES = (
    *_NODE,
    Column("status", "str", "`confirmed`, `suspected` or `strength`"),
    Column("frame", "str", "held against its `peer`s, or against its `own` other capabilities"),
    *_EFFECT,
    Column("mean", "float64", "its mean there, 0-100, over the checkpoints of the claim"),
    Column("n", "Int64", "checkpoints (or answers) that it rests on"),
    Column("samples", "Int64", "distinct samples among these"),
    Column("p_adjusted", "float64", "after control for multiplicity; NaN where not tested"),
    Column("more_samples", "float64", "how many more would settle a suspicion"),
)


def frame_of(columns: Sequence[Column], lines: Iterable[Sequence[object]]) -> pd.DataFrame:
    """Make a frame whose columns have the types that are declared, with or without lines.

    Args:
        columns: what they are.
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
