"""Write: a judge puts the chosen findings into prose, and every number and name is checked.

The judge sees the findings of one section as data and nothing else: no picture, no answer. What it
states beyond them is marked in the report; a reply that can't be used leaves the section as the
rules composed it, and says why.

Reference: ATOM 3.4, appendix H.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from atom.judge import Reply, Request
from atom.judge.templates import JsonValue, sendable
from atom.records import Sampling
from atom.reports.checker import WriterMaterial, check
from atom.reports.compose import sentence
from atom.reports.findings.looking import StudyLook
from atom.reports.records import (
    PART_TITLES,
    Exhibit,
    Finding,
    Number,
    Part,
    PartText,
    Passage,
    Report,
    Section,
)
from atom.stages.asking import make_request
from atom.stages.reading import read_reply, text_of

TASK: Final = "report"
PROMPT: Final = "report/1"
BY_RULE: Final[frozenset[Part]] = frozenset({"care"})
"""Parts that no judge may reword: what limits the numbers is said as it is."""
MAX_PARAGRAPHS = 18
MAX_TEXT = 2400
_SHORT = 300


def report_schema(parts: Sequence[str], findings: int) -> Mapping[str, object]:
    """Return the schema of a reply.

    Args:
        parts: the parts that it may be about.
        findings: how many findings were given.
    """
    row = {
        "type": "object",
        "properties": {
            "part": {"type": "string", "enum": list(parts)},
            "text": {"type": "string", "maxLength": MAX_TEXT},
            "findings": {
                "type": "array",
                "items": {"type": "string", "maxLength": 12},
                "maxItems": findings,
            },
        },
        "required": ["part", "text", "findings"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "paragraphs": {
                "type": "array", "items": row, "minItems": 1, "maxItems": MAX_PARAGRAPHS,
            }
        },
        "required": ["paragraphs"],
        "additionalProperties": False,
    }  # fmt: skip


@dataclass(frozen=True)
class Brief:
    """What the judge is given for one section.

    Args:
        section: the section as the rules composed it.
        findings: its findings that are told, without those that only rules may word.
        known: all names of the study, so that a wrong one is recognised.
    """

    section: Section
    findings: tuple[Finding, ...]
    report: Report
    known: tuple[str, ...] = ()

    @cached_property
    def ids(self) -> dict[str, str]:
        """Short id in the prompt -> the finding's own."""
        return {f"F{number}": finding.id for number, finding in enumerate(self.findings, start=1)}

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Parts to be written."""
        return tuple(part.part for part in self.section.parts if part.part not in BY_RULE)

    @cached_property
    def values(self) -> dict[str, JsonValue]:
        """The prompt's variables."""
        numbers = {finding.id: finding.numbers for finding in self.findings}
        said = {
            finding: _as_sent(passage.text, numbers.get(finding, ()))
            for part in self.section.parts
            for passage in part.passages
            for finding in passage.findings
        }
        short = {own: name for name, own in self.ids.items()}
        return {
            "section": (
                f"the {'selection' if self.report.selection else 'study'} as a whole"
                if self.section.place is None
                else self.section.title
            ),
            "study": {
                "name": self.report.study,
                "synthetic": self.report.synthetic,
                "numbers": f"{self.report.lead} Intervals are 95 %.",
            },
            "parts": [{"part": part, "title": PART_TITLES[part]} for part in self.parts],
            "findings": [
                _plain(
                    short[finding.id],
                    finding,
                    said.get(finding.id) or sentence(finding, 0, self.report.measure),
                )
                for finding in self.findings
            ],
            "cases": [_case(exhibit, short) for exhibit in self.section.exhibits],
        }

    @cached_property
    def given(self) -> WriterMaterial:
        """What its text is checked against."""
        names = [self.report.study, self.section.title]
        for finding in self.findings:
            names += [*finding.models, *finding.place]
            for fact in ("datasets", "places"):
                names += [name.strip() for name in finding.facts.get(fact, "").split(";")]
        for exhibit in self.section.exhibits:
            names += [exhibit.dataset, *exhibit.place]
        return WriterMaterial(
            texts=tuple(_texts(self.values)),
            names=tuple(dict.fromkeys(name for name in names if name)),
            known=self.known,
        )


def briefs(report: Report, look: StudyLook) -> tuple[Brief, ...]:
    """Return what a judge is given for each section that has something to write."""
    known = known_names(look)
    found = []
    for section in report.sections:
        owner = None if section.place is None else section.id
        mine = tuple(f for f in report.told if f.owner == owner and f.part not in BY_RULE)
        brief = Brief(section, mine, report, known)
        if mine and brief.parts:
            found.append(brief)
    return tuple(found)


def known_names(look: StudyLook) -> tuple[str, ...]:
    """Return every name of a study: models, capabilities, labels, data sets, the judge."""
    table = look.data.table
    names = [*look.names, look.data.study.name]
    names += [judge.name for judge in look.data.judges]
    names += [name for leaf in table.leaves for name in leaf]
    names += [value for facet in table.facets.values() for value in facet.values]
    return tuple(dict.fromkeys(names))


def build(brief: Brief, sampling: Sampling, *, repeat: int = 0) -> Request:
    """Build the request for one section.

    Args:
        repeat: 0-based index among equal requests.
    """
    return make_request(
        PROMPT,
        brief.values,
        pictures=(),
        sampling=sampling,
        repeat=repeat,
        schema=report_schema(brief.parts, len(brief.findings)),
    )


def parse(reply: Reply, brief: Brief) -> Section:
    """Read a judge's text and check it.

    Returns:
        The section with the judge's text where there is one. A part that the judge left out keeps
        the text that the rules composed; a reply that can't be used changes nothing but the note.
    """
    usable = read_reply(reply, "paragraphs")
    if usable.data is None:
        return fallback(brief.section, usable.reason)
    written: dict[str, list[Passage]] = {}
    rows = usable.data["paragraphs"]
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, Mapping):
            continue
        text = sendable(text_of(row.get("text")))[:MAX_TEXT]
        part = text_of(row.get("part"))
        if text and part in brief.parts:
            written.setdefault(part, []).append(_passage(text, row.get("findings"), brief))
    if not written:
        return fallback(brief.section, "the reply holds no paragraph for any part")
    left = [PART_TITLES[part] for part in brief.parts if part not in written]
    note = f"By rule, since the judge left it out: {', '.join(left)}." if left else ""
    parts = tuple(
        PartText(part=part.part, passages=tuple(written[part.part]))
        if part.part in written
        else part
        for part in brief.section.parts
    )
    return brief.section.model_copy(update={"parts": parts, "note": note})


def fallback(section: Section, reason: str) -> Section:
    """Leave a section as the rules composed it, and say why."""
    note = f"Written by rule: the judge's text could not be used ({reason.rstrip('.')})."
    return section.model_copy(update={"note": note})


def _passage(text: str, findings: object, brief: Brief) -> Passage:
    named = [text_of(name) for name in findings] if isinstance(findings, list) else []
    return Passage(
        text=text,
        findings=tuple(dict.fromkeys(brief.ids[name] for name in named if name in brief.ids)),
        by="judge",
        marks=check(text, brief.given),
    )


def _as_sent(text: str, numbers: Iterable[Number]) -> str:
    """Write numbers in a sentence as the writer has always been sent them: stored replies fit."""
    for number in numbers:
        text = text.replace(number.shown, number.text)
    return text


def _plain(name: str, finding: Finding, says: str) -> dict[str, JsonValue]:
    numbers: list[JsonValue] = [
        {
            "name": number.name.replace("_", " "),
            "printed": number.text,
            "unit": number.unit,
            **({"n": f"{number.n:,} {number.n_unit}"} if number.n is not None else {}),
        }
        for number in finding.numbers
    ]
    return {
        "id": name,
        "part": finding.part,
        "kind": finding.kind.replace("_", " "),
        "about": list(finding.models),
        "place": " › ".join(finding.place),
        "frame": finding.frame,
        "numbers": numbers,
        "says": says,
    }


def _case(exhibit: Exhibit, short: Mapping[str, str]) -> dict[str, JsonValue]:
    return {
        "question": exhibit.question[:_SHORT],
        "criterion": exhibit.criterion[:_SHORT],
        "truth": exhibit.truth,
        "score": exhibit.score,
        "reason": exhibit.reason[:_SHORT],
        "finding": short.get(exhibit.finding_id),
    }


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
