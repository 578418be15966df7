"""What a column of a table is, and the columns of the long table of judgments."""

from __future__ import annotations

from typing import Literal, NamedTuple

Dtype = Literal["str", "Int64", "float64", "boolean", "object"]
"""`str` for texts; `Int64` whole numbers; `float64` other numbers; `boolean` yes or no; `object`
tuples. Each but the tuples may be unknown: NaN or `<NA>` in a frame, empty in a file."""


class ExportColumn(NamedTuple):
    """A column of a table."""

    name: str
    dtype: Dtype
    about: str
    """What it means, with its unit and range."""


SAMPLE = ExportColumn("sample", "str", "the sample's id in this store")
DATASET = ExportColumn("dataset", "str", "the data set it is of")
SOURCE_ID = ExportColumn("source_id", "str", "its id there")
ASKED = ExportColumn("question", "str", "what was asked")
CHOICES = ExportColumn("choices", "object", "a tuple of texts; () where none were given")
REFERENCE = ExportColumn("reference", "str", "the right answer, where it is known")
PICTURES = ExportColumn("pictures", "object", "a tuple of the pictures' names")
SYNTHETIC = ExportColumn("synthetic", "boolean", "whether a program made the sample")
RIGHT = ExportColumn("right", "float64", "whether the answer is right, 0 to 1; missing = not known")
MODEL = ExportColumn("model", "str", "the model's name")
REPEAT = ExportColumn("repeat", "Int64", "which of the model's answers to the sample, from 0")
CRITERION = ExportColumn("criterion", "str", "the criterion's id in this store")
NUMBER = ExportColumn("number", "Int64", "its place among the sample's criteria, from 1")
USE = (
    ExportColumn("criterion_text", "str", "what it asks or requires"),
    ExportColumn("kind", "str", "`question` or `requirement`"),
    ExportColumn("truth", "str", "what is true of it; empty where nobody said"),
    ExportColumn("weight", "float64", "its weight as written, positive"),
    ExportColumn("polarity", "str", "`credit`; `penalty` where it takes points away"),
    ExportColumn("parents", "object", "a tuple of the criteria that must hold first"),
    ExportColumn("gate", "str", "what a miss does to the answer: `cap` or `zero`; else missing"),
    ExportColumn("gate_cap", "float64", "the most that an answer scores then, 0 to 1"),
    ExportColumn("capability", "object", "its leaf in the tree, a tuple of names; () = none"),
)
MARK = (
    ExportColumn("judge", "str", "who marked it"),
    ExportColumn("judge_kind", "str", "`model`, `person` or `program`"),
    ExportColumn(
        "scale", "str", "the declared scale of the mark (`atom.records.MarkScale`), in JSON"
    ),
    ExportColumn("raw", "str", "the mark as it was written"),
    ExportColumn("value", "float64", "the mark on its scale, 0 to 1; missing unless scored"),
    ExportColumn(
        "state",
        "str",
        "`scored`, `unscored`, `failed`, `not_applicable`; `pending` where no mark is there yet",
    ),
    ExportColumn("score", "float64", "1 to 5 on our own judges' scale; missing on any other"),
    ExportColumn("reason", "str", "why, in the judge's words"),
    ExportColumn("quote", "str", "the words of the answer that it rests on"),
    ExportColumn("detail", "str", "why there is no value"),
    ExportColumn(
        "addressed", "boolean", "whether the answer speaks of the step; missing = not asked"
    ),
    ExportColumn(
        "carried", "boolean", "whether only an earlier step is to blame; missing = not asked"
    ),
    ExportColumn("mark_repeat", "Int64", "which time the judge was asked, from 0"),
    ExportColumn(
        "prompt", "str", "the prompt that it was marked with, and its version; or `imported`"
    ),
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
    ExportColumn("answer", "str", "the answer's text"),
    RIGHT,
    CRITERION,
    NUMBER,
    *USE,
    ExportColumn(
        "disagreement",
        "float64",
        "standard deviation over the panel's judges on this checkpoint, in points of 0-100; "
        "missing where one judge marked it",
    ),
    *MARK,
)
