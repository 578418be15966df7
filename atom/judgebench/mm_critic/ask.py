"""MM-CRITIC's questions: the judge critiques, corrects and compares, then a scorer reads it.

A scorer sees what was written beside a reference that it is told is worth 8. In the anchor audit
it is shown, unknowingly, that very reference as the text to score, and the same in other words.

Reference: MM-CRITIC 4, appendix B; METHODS A17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from atom.formats.cells import to_number
from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.judgebench.base import BenchPlan
from atom.judgebench.reading import IMPORTED
from atom.records import BenchItem, Verdict
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import Schema, a_text, a_whole, an_object, one_of
from atom.stages.verdicts import Ask, blank, scored, unscored

CRITIQUE: Final = "mmc_critique/1"
CORRECTION: Final = "mmc_correction/1"
COMPARE: Final = "mmc_compare/1"
SCORE: Final = "mmc_score/1"
RUBRIC_SCORE: Final = "mmc_score_rubric/1"
"""The same with the set's own rubric for the kind of task."""
PARAPHRASE: Final = "mmc_paraphrase/1"
PARTS: Final[Mapping[str, str]] = {
    "critique": "write a critique of a response, say whether it is right, and rate it; a scorer "
    "then scores the critique against the reference critique",
    "correction": "correct a response; a scorer then scores the correction against the reference",
    "compare": "say which of two responses is better",
    "anchor": "have the scorer score the reference critiques, and a paraphrase of each, without "
    "telling it what they are",
    "swap": "have critiques scored against the references of other annotators, too",
}
USUAL: Final = ("critique", "correction", "compare", "anchor")
SCORED: Final = frozenset({"critique", "correction", "anchor", "swap"})
SHARED: Final = "any"
"""Stands for the examined judge in parts that are the same whoever is examined."""
REFERENCE_PART: Final = f"scorer/{SHARED}/reference"
PARAPHRASE_PART: Final = f"scorer/{SHARED}/paraphrase"
REWRITE_PART: Final = f"scorer/{SHARED}/rewrite"
MAX_WRITTEN: Final = 12_000
"""Characters of a critique or correction that are kept."""
Kind = Literal["critique", "correction"]

_WRITTEN: Final = a_text(MAX_WRITTEN)
_REASON: Final = a_text(800)
_TEN: Final = a_whole(0, 10)
CRITIQUE_SCHEMA: Final = an_object(critique=_WRITTEN, verdict=one_of("right", "wrong"), score=_TEN)
CORRECTION_SCHEMA: Final = an_object(correction=_WRITTEN)
COMPARE_SCHEMA: Final = an_object(reason=_REASON, better=one_of("first", "second"))
SCORE_SCHEMA: Final = an_object(reason=_REASON, score=_TEN)
PARAPHRASE_SCHEMA: Final = an_object(paraphrase=_WRITTEN)


def score_part(judge: str, kind: Kind, reference: int = 0) -> str:
    """Name the part of a score of what a judge wrote; further references count from 1."""
    return f"scorer/{judge}/{kind}" + (f"/{reference + 1}" if reference else "")


@dataclass(frozen=True, kw_only=True)
class MmCriticWorklist:
    """What is asked of the judge, and of the scorer once there is something to score."""

    plan: BenchPlan

    @property
    def parts(self) -> Sequence[str]:
        """What is asked."""
        return self.plan.parts or USUAL

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return all that can be asked by now; as `Worklist` says."""
        mine = [ask for item in self.plan.items for ask in self._of_judge(item)]
        if self.plan.scorer is None:
            return mine
        written = {ask.key: have[ask.key] for ask in mine if ask.key in have}
        elsewhere: dict[str, list[Verdict]] = {}
        for verdict in have.values():
            if verdict.prompt == IMPORTED and verdict.judge == self.plan.judge:
                elsewhere.setdefault(verdict.subject_id, []).append(verdict)
        by_item: dict[str, list[Verdict]] = {}
        for verdict in written.values():
            by_item.setdefault(verdict.subject_id, []).append(verdict)
        for item in self.plan.items:
            texts = [*by_item.get(item.id, []), *elsewhere.get(item.id, [])]
            mine += self._of_scorer(item, self.plan.scorer, texts)
            if item.data["dimension"] == "basic" and "anchor" in self.parts:
                mine += self._audit(item, self.plan.scorer, have)
        return mine

    def _blank(
        self, item: BenchItem, part: str, by: str, prompt: str, repeat: int = 0, order: str = ""
    ) -> Verdict:
        plan = self.plan
        return blank(
            plan.set_id, item.id, part, by, prompt, plan.sampling, repeat=repeat, order=order
        )

    def _build(
        self,
        prompt: str,
        item: BenchItem,
        values: Mapping[str, JsonValue],
        schema: Schema,
        repeat: int = 0,
    ) -> Callable[[], Request]:
        def build() -> Request:
            return make_request(
                prompt,
                values,
                pictures=self.plan.pictures(item),
                sampling=self.plan.sampling,
                repeat=repeat,
                schema=schema,
            )

        return build

    def _of_judge(self, item: BenchItem) -> Iterator[Ask]:
        plan, data = self.plan, item.data
        dimension, asked = data["dimension"], self.parts
        for repeat in range(plan.votes):
            if dimension == "basic" and "critique" in asked:
                yield Ask(
                    blank=self._blank(item, "critique", plan.judge, CRITIQUE, repeat),
                    build=self._build(CRITIQUE, item, _response(item), CRITIQUE_SCHEMA, repeat),
                    read=read_critique,
                )
            elif dimension == "correction" and "correction" in asked:
                yield Ask(
                    blank=self._blank(item, "correction", plan.judge, CORRECTION, repeat),
                    build=self._build(CORRECTION, item, _response(item), CORRECTION_SCHEMA, repeat),
                    read=read_correction,
                )
            elif dimension == "comparison" and "compare" in asked:
                order = shown_order(item, repeat)
                values = {
                    "question": data["question"],
                    "choices": data["choices"],
                    "first": data[f"response_{order[0]}"],
                    "second": data[f"response_{order[1]}"],
                }
                yield Ask(
                    blank=self._blank(item, "compare", plan.judge, COMPARE, repeat, order),
                    build=self._build(COMPARE, item, values, COMPARE_SCHEMA, repeat),
                    read=read_preference,
                )

    def _of_scorer(self, item: BenchItem, scorer: str, texts: Sequence[Verdict]) -> Iterator[Ask]:
        kinds: dict[str, Kind] = {"critique": "critique", "correction": "correction"}
        references = item.data.get("references", [])
        for verdict in texts:
            kind = kinds.get(verdict.part)
            if kind is None or kind not in self.parts or verdict.state != "scored":
                continue
            most = len(references) if "swap" in self.parts and kind == "critique" else 1
            for number, reference in enumerate(references[:most]):
                yield self._score(
                    item,
                    score_part(self.plan.judge, kind, number),
                    scorer,
                    reference,
                    verdict.text,
                    kind,
                    of=verdict,
                )

    def _audit(self, item: BenchItem, scorer: str, have: Mapping[str, Verdict]) -> Iterator[Ask]:
        """Yield the questions of the anchor audit: they are the same whoever is examined."""
        for reference in item.data["references"][:1]:
            text = reference["text"]
            yield self._score(item, REFERENCE_PART, scorer, reference, text, "critique")
            other = reference["paraphrase"]
            if not other:
                rewrite = Ask(
                    blank=self._blank(item, REWRITE_PART, scorer, PARAPHRASE),
                    build=self._build(
                        PARAPHRASE,
                        item,
                        {"question": item.data["question"], "text": text},
                        PARAPHRASE_SCHEMA,
                    ),
                    read=read_paraphrase,
                    by="scorer",
                )
                yield rewrite
                made = have.get(rewrite.key)
                other = made.text if made is not None and made.state == "scored" else ""
            if other:
                yield self._score(item, PARAPHRASE_PART, scorer, reference, other, "critique")

    def _score(
        self,
        item: BenchItem,
        part: str,
        scorer: str,
        reference: Mapping[str, str],
        text: str,
        kind: Kind,
        *,
        of: Verdict | None = None,
    ) -> Ask:
        # The prompt of what is scored is part of the key: a new version is scored anew.
        asked = RUBRIC_SCORE if "rubric" in item.data else SCORE
        prompt = asked if of is None else f"{asked} of {of.prompt}"
        repeat = 0 if of is None else of.repeat
        values = {
            "kind": kind,
            **_response(item),
            "reference": reference["text"],
            "text": text,
        }
        if asked == RUBRIC_SCORE:
            values["rubric"] = item.data["rubric"]
        about: dict[str, object] = {"annotator": reference["annotator"]}
        if of is not None:
            about["of"] = of.key
        return Ask(
            blank=self._blank(item, part, scorer, prompt, repeat),
            build=self._build(asked, item, values, SCORE_SCHEMA, repeat),
            read=partial(read_score, about=about),
            by="scorer",
        )


def make_worklist(plan: BenchPlan) -> MmCriticWorklist:
    """Return what there is to ask."""
    return MmCriticWorklist(plan=plan)


def shown_order(item: BenchItem, repeat: int) -> str:
    """Return which response of a comparison is shown first: `ab` or `ba`.

    Over a set's items of one pairing the better one comes first half of the time, and over an
    item's repeats each comes first in turn.
    """
    turn = str(item.data["turn"])
    return turn if repeat % 2 == 0 else turn[::-1]


def _response(item: BenchItem) -> dict[str, JsonValue]:
    data = item.data
    return {
        "question": data["question"],
        "choices": data["choices"],
        "response": data["response"],
    }


def whole_score(value: object) -> float | None:
    """Return a whole number from 0 to 10, also one written as text; else None."""
    number = to_number(value)
    if number is None or not number.is_integer() or not 0 <= number <= 10:
        return None
    return number


def read_critique(reply: Reply, blank: Verdict) -> Verdict:
    """Read a critique: its text, its claim, its rating; a text without a claim still counts."""
    usable = read_reply(reply, "critique")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    text = text_of(usable.data.get("critique"))[:MAX_WRITTEN]
    claim = text_of(usable.data.get("verdict")).casefold()
    rating = whole_score(usable.data.get("score"))
    lacking = [
        words
        for words, there in (("claim", claim in ("right", "wrong")), ("score", rating is not None))
        if not there
    ]
    detail = f"The reply has no readable {' and no readable '.join(lacking)}." if lacking else ""
    return scored(
        blank,
        reply,
        value=rating,
        label=claim if claim in ("right", "wrong") else "",
        text=text,
        detail=detail,
    )


def read_correction(reply: Reply, blank: Verdict) -> Verdict:
    """Read a corrected response."""
    usable = read_reply(reply, "correction")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    return scored(blank, reply, text=text_of(usable.data.get("correction"))[:MAX_WRITTEN])


def read_preference(reply: Reply, blank: Verdict) -> Verdict:
    """Read which response is better, as the file's `a` or `b`."""
    usable = read_reply(reply, "better")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    word = text_of(usable.data.get("better")).casefold()
    if word not in ("first", "second"):
        return unscored(
            blank, f"`better` is {word[:40]!r}: first or second was asked for", reply.call.id
        )
    side = blank.order[0 if word == "first" else 1]
    text = one_line(text_of(usable.data.get("reason")))
    return scored(blank, reply, label=side, text=text, data={"shown": word})


def read_score(reply: Reply, blank: Verdict, about: Mapping[str, object]) -> Verdict:
    """Read a score against the reference."""
    noted = blank.model_copy(update={"data": dict(about)})
    usable = read_reply(reply, "score")
    if usable.data is None:
        return unscored(noted, usable.reason, reply.call.id)
    score = whole_score(usable.data.get("score"))
    if score is None:
        said = str(usable.data.get("score"))[:40]
        return unscored(noted, f"The score is {said!r}, not one of 0 to 10.", reply.call.id)
    text = one_line(text_of(usable.data.get("reason")))
    return scored(noted, reply, value=score, text=text, data={**about, "model": reply.call.model})


def read_paraphrase(reply: Reply, blank: Verdict) -> Verdict:
    """Read a reference in other words."""
    usable = read_reply(reply, "paraphrase")
    text = "" if usable.data is None else text_of(usable.data.get("paraphrase"))[:MAX_WRITTEN]
    if not text:
        return unscored(blank, usable.reason or "The paraphrase is empty.", reply.call.id)
    return scored(blank, reply, text=text)
