"""What says whether a judge deserves trust: people's labels, benchmark items, and verdicts.

Reference: ATOM 4.1 and appendix A; VL-RewardBench, Multi-Crit, MM-CRITIC, CriticBench.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from atom.records.base import Id, Record, State, content_id
from atom.records.call import Sampling
from atom.records.sample import PictureSlot

AnnotationKind = Literal[
    "ranking",
    "accuracy",
    "necessity",
    "mapping",
    "score",
    "error_type",
    "report",
    "preference",
    "version",
    "flag",
    "remark",
    "slice",
    "grouping",
    "written",
    "match",
    "wanted",
]
"""What a person was asked: to rank a sample's answers; whether a criterion is right, and needed
(1..3); its leaf; a checkpoint's score (1..5); a judge's kind of error; whose report it is; which
answer is better; which criteria they would ask, in their own words (`written`), which of the
judge's asks the same (`match`), and whether they would ask one of the judge's (`wanted`). `version`
was asked of nobody: a candidate is declared to be a version of another (`subject_id` the later one,
`label` the one before). Nor were these: a checkpoint is flagged (`flag`) or noted on (`remark`, the
note in `label`), filters have a name (`slice`, `subject_id` the name, `label` the address), and a
choice holds for groups of failures (`grouping`, `subject_id` the judge, a `GroupingChoice` in
`note`)."""
UNASKED: tuple[AnnotationKind, ...] = ("version", "flag", "remark", "slice", "grouping")
"""What people say without being asked: no label of theirs, and in no agreement."""
PICKED = "picked: "
"""How the note of a label begins whose subject wasn't drawn at random: it corrects no mean."""
PICKED_HERE = f"{PICKED}seen in the list of failures"


class RankedAnswer(Record):
    """An answer's place in a person's ranking."""

    response_id: Id
    rank: int = Field(ge=1)
    """1 = best; equal ranks = a tie."""


class Annotation(Record):
    """One label that a person gave."""

    id: Id
    study_id: Id
    kind: AnnotationKind
    subject_id: Id
    """The sample (ranking), criterion (accuracy, necessity, mapping), checkpoint key (score),
    verdict key (error_type), candidate (report) or preference's pair (preference)."""
    annotator: str
    """Who, by a name of their own choice."""
    value: float | None = None
    """The number given, where the kind asks for one."""
    label: str = ""
    """The word given, where it asks for one: a leaf's path, an error's kind, `a`, `b` or `tie`."""
    ranks: tuple[RankedAnswer, ...] = ()
    shown: tuple[str, ...] = ()
    """In which order things were shown."""
    state: Literal["given", "skipped"] = "given"
    adjudicates: bool = False
    """Given by a third person where two disagreed: it stands for both."""
    note: str = ""
    created: str = ""

    @staticmethod
    def make_id(study_id: str, kind: str, subject_id: str, annotator: str) -> str:
        """Hash what makes a label this one: a person who labels again replaces it."""
        return content_id("annotation", study_id, kind, subject_id, annotator)

    @staticmethod
    def pair(response_a: str, response_b: str) -> str:
        """Name the pair that a preference label is about; `a` and `b` are in this order."""
        return f"{response_a}/{response_b}"


class BenchSet(Record):
    """A judge benchmark's data, as it was read from files."""

    id: Id
    benchmark: str
    """Name of the benchmark's module, for example `vl_rewardbench`."""
    name: str
    """What the user calls it."""
    sources: tuple[str, ...] = ()
    """File names (without folders)."""
    created: str = ""
    n_items: int = 0
    synthetic: bool = False
    """Made from probes."""
    skipped: tuple[str, ...] = ()
    """What was left out and why, a line each (at most 200)."""
    notes: tuple[str, ...] = ()
    """What the reader should know, a line each."""
    consent: tuple[str, ...] = ()
    """Hosts that the user agreed to send these pictures and texts to."""

    @staticmethod
    def make_id(benchmark: str, name: str) -> str:
        """A set is named by its benchmark and name: unique in a store."""
        return content_id("bench_set", benchmark, name)


class BenchItem(Record):
    """One item of a benchmark's data."""

    set_id: Id
    id: Id
    position: int
    pictures: tuple[PictureSlot, ...] = ()
    data: dict[str, Any] = Field(default_factory=dict)
    """The item's own fields, plain JSON; its benchmark's module knows them."""


class Verdict(Record):
    """What a judge said when it was asked once: in a judge benchmark, or by a rival method.

    Checkpoints, outcomes and preferences have records of their own; this is for everything else.
    """

    key: Id
    group: Id
    """The benchmark's set, or the study."""
    subject_id: Id
    """The benchmark's item, or the sample."""
    part: str
    """Which of the questions on it, for example `pair`, `critique`, `pointwise/<response id>`."""
    judge: str
    """The judge's id, or a name where the verdict was made elsewhere."""
    prompt: str
    """Template id and version, or `imported`."""
    sampling: Sampling = Sampling()
    repeat: int = 0
    order: str = ""
    """How things were shown, where that varies: `ab` or `ba`."""
    state: State = "unscored"
    value: float | None = None
    """The number that was read; None unless scored, and where the question has none."""
    label: str = ""
    """The word that was read: `a`, `b`, `tie`, ..."""
    text: str = ""
    """What it wrote, where the text counts (a critique, a correction)."""
    data: dict[str, Any] = Field(default_factory=dict)
    """Whatever else was read, plain JSON."""
    detail: str = ""
    """Why it couldn't be read (unscored) or what failed."""
    call_id: str | None = None

    @staticmethod
    def make_key(
        group: str,
        subject_id: str,
        part: str,
        judge: str,
        prompt: str,
        sampling: Sampling,
        repeat: int = 0,
        order: str = "",
    ) -> str:
        """Hash what makes a verdict this one and no other."""
        return content_id(
            "verdict", group, subject_id, part, judge, prompt, sampling.key, repeat, order
        )
