"""People's own criteria, matched by a judge to those that it wrote itself.

A person writes what they would check an answer by; the judge says which of its own criteria asks
the same as each line. The person may say so, too, and whoever looks is told who decided.

Reference: ATOM appendix C; METHODS A6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Criterion, Sample, Sampling, Verdict, content_id
from atom.stages.asking import make_request
from atom.stages.reading import read_reply, text_of
from atom.stages.schemas import Schema, a_list, a_text, an_object
from atom.stages.verdicts import Ask, blank, scored, unscored

TASK: Final = "match"
PROMPT: Final = "match/1"
MATCH_PART: Final = "match/"
"""How the part of such verdicts begins; what was matched follows."""
MOST_LINES, LONGEST = 20, 300
_BULLET = re.compile(r"^\s*(?:[-*•]+|\(?\d{1,2}[.):]|\(?[a-z][.)])\s+")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the criteria that a person wrote, one a line: without bullets, each once.

    Args:
        text: as typed; at most `MOST_LINES` lines count, each cut at `LONGEST` letters.
    """
    found = (" ".join(_BULLET.sub("", line).split())[:LONGEST] for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in found if line))[:MOST_LINES]


def line_key(sample_id: str, line: str) -> str:
    """Name a line, as labels that match it do: equal lines of two people share it."""
    return f"{sample_id}/{content_id('own criterion', sample_id, line)[:16]}"


def match_schema(lines: int, criteria: int) -> Schema:
    """Return the schema of the reply about so many lines and criteria."""
    number = {"type": "integer", "minimum": 0, "maximum": criteria}
    return an_object(
        matches=a_list(an_object(id=a_text(8), reason=a_text(400), number=number), lines, lines)
    )


@dataclass(frozen=True, kw_only=True)
class OwnSample:
    """A sample with the lines that people wrote and the judge's criteria.

    Args:
        lines: every line that anybody wrote, each once.
        criteria: the judge's, in order.
    """

    sample: Sample
    lines: tuple[str, ...]
    criteria: tuple[Criterion, ...]

    @property
    def part(self) -> str:
        """What its verdict is called: other lines or criteria make another one."""
        ids = [one.id for one in self.criteria]
        return f"{MATCH_PART}{content_id('match', list(self.lines), ids)[:16]}"


def build(own: OwnSample, sampling: Sampling) -> Request:
    """Build the request; the picture isn't needed to tell two questions apart."""
    return make_request(
        PROMPT,
        {
            "question": own.sample.question,
            "own": [{"id": str(n), "text": line} for n, line in enumerate(own.lines, start=1)],
            "criteria": [
                {"number": n, "question": one.question, "truth": one.ground_truth}
                for n, one in enumerate(own.criteria, start=1)
            ],
        },
        pictures=(),
        sampling=sampling,
        repeat=0,
        schema=match_schema(len(own.lines), len(own.criteria)),
    )


def parse(own: OwnSample, reply: Reply, blank: Verdict) -> Verdict:
    """Read the matches.

    Returns:
        The verdict with `data["matches"]`: line -> the criterion's id, empty = none. Unscored where
        a line was left out, or a number is none of those offered.
    """
    usable = read_reply(reply, "matches")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    rows = usable.data["matches"]
    said: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else ():
        number = row.get("number") if isinstance(row, dict) else None
        if type(number) is not int or not 0 <= number <= len(own.criteria):
            return unscored(blank, "A number is none of the criteria.", reply.call.id)
        said[text_of(row.get("id"))] = own.criteria[number - 1].id if number else ""
    matches = {line: said.get(str(n)) for n, line in enumerate(own.lines, start=1)}
    if None in matches.values():
        return unscored(blank, "A criterion was left out of the reply.", reply.call.id)
    return scored(blank, reply, data={"matches": matches})


@dataclass(frozen=True, kw_only=True)
class MatchWorklist:
    """Asks one judge about every sample that people wrote criteria for.

    Args:
        judge: the judge's id.
    """

    study_id: str
    samples: Sequence[OwnSample]
    judge: str
    sampling: Sampling

    def asks(self, have: Mapping[str, Verdict]) -> list[Ask]:
        """Return all questions; none builds on another."""
        del have
        return [
            Ask(
                blank=blank(
                    self.study_id, own.sample.id, own.part, self.judge, PROMPT, self.sampling
                ),
                build=partial(build, own, self.sampling),
                read=partial(parse, own),
            )
            for own in self.samples
        ]
