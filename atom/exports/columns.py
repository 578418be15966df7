"""What a column of a table is, and the columns of the long table of judgments."""

from __future__ import annotations

from typing import Literal, NamedTuple

Dtype = Literal["str", "Int64", "float64", "boolean", "object"]
"""`str` for texts; `Int64` whole numbers; `float64` other numbers; `boolean` yes or no; `object`
tuples. Each but the tuples may be unknown: NaN or `<NA>` in a frame, empty in a file."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    dtype: Dtype
    about: str
    """What it means, with its unit and range."""


SAMPLE = Column("sample", "str", "the sample's id in this store")
DATASET = Column("dataset", "str", "the data set it is of")
SOURCE_ID = Column("source_id", "str", "its id there")
ASKED = Column("question", "str", "what was asked")
CHOICES = Column("choices", "object", "a tuple of texts; () where none were given")
REFERENCE = Column("reference", "str", "the right answer, where it is known")
PICTURES = Column("pictures", "object", "a tuple of the pictures' names")
SYNTHETIC = Column("synthetic", "boolean", "whether a program made the sample")
RIGHT = Column("right", "float64", "whether the answer is right, 0 to 1; missing = not known")
MODEL = Column("model", "str", "the model's name")
REPEAT = Column("repeat", "Int64", "which of the model's answers to the sample, from 0")
CRITERION = Column("criterion", "str", "the criterion's id in this store")
NUMBER = Column("number", "Int64", "its place among the sample's criteria, from 1")
USE = (
    Column("criterion_text", "str", "what it asks or requires"),
    Column("kind", "str", "`question` or `requirement`"),
    Column("truth", "str", "what is true of it; empty where nobody said"),
    Column("weight", "float64", "its weight as written, positive"),
    Column("polarity", "str", "`credit`; `penalty` where it takes points away"),
    Column("parents", "object", "a tuple of the criteria that must hold first"),
    Column("gate", "str", "what a miss does to the answer: `cap` or `zero`; else missing"),
    Column("gate_cap", "float64", "the most that an answer scores then, 0 to 1"),
    Column("capability", "object", "its leaf in the tree, a tuple of names; () = none"),
)
MARK = (
    Column("judge", "str", "who marked it"),
    Column("judge_kind", "str", "`model`, `person` or `program`"),
    Column("scale", "str", "the declared scale of the mark (`atom.records.MarkScale`), in JSON"),
    Column("raw", "str", "the mark as it was written"),
    Column("value", "float64", "the mark on its scale, 0 to 1; missing unless scored"),
    Column(
        "state",
        "str",
        "`scored`, `unscored`, `failed`, `not_applicable`; `pending` where no mark is there yet",
    ),
    Column("score", "float64", "1 to 5 on our own judges' scale; missing on any other"),
    Column("reason", "str", "why, in the judge's words"),
    Column("quote", "str", "the words of the answer that it rests on"),
    Column("detail", "str", "why there is no value"),
    Column("addressed", "boolean", "whether the answer speaks of the step; missing = not asked"),
    Column("carried", "boolean", "whether only an earlier step is to blame; missing = not asked"),
    Column("mark_repeat", "Int64", "which time the judge was asked, from 0"),
    Column("prompt", "str", "the prompt that it was marked with, and its version; or `imported`"),
)
JUDGMENTS = (
    SAMPLE,
    DATASET,
    SOURCE_ID,
    ASKED,
    CHOICES,
    REFERENCE,
    PICTURES,
    SYNTHETIC,
    MODEL,
    REPEAT,
    Column("answer", "str", "the answer's text"),
    RIGHT,
    CRITERION,
    NUMBER,
    *USE,
    Column(
        "disagreement",
        "float64",
        "standard deviation over the panel's judges on this checkpoint, in points of 0-100; "
        "missing where one judge marked it",
    ),
    *MARK,
)
