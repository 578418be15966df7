"""What CriticBench asks of a judge: critiques with scores, comparisons, corrections.

A critique and its score are one question here; the published scripts put two. Everything that the
judge writes may then be graded by a scorer against the reference that is worth an 8.

Reference: CriticBench 2, 3 and 4; METHODS A18.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.judgebench.base import BenchPlan
from atom.judgebench.critic_bench.code import CODE_DOMAINS, RUN_CODE, VALUE_DOMAINS
from atom.records import BenchItem, Verdict
from atom.stages.asking import make_request
from atom.stages.reading import read_reply, text_of
from atom.stages.schemas import Schema, a_text, a_whole, an_object, one_of
from atom.stages.verdicts import Ask, blank, scored, unscored

FEEDBACK: Final = "feedback"
META: Final = "meta_feedback"
COMPARE: Final = "compare"
CORRECTION: Final = "correction"
CORRECTION_EMPTY: Final = "correction_empty"
CORRECTION_OWN: Final = "correction_own"
CORRECTIONS: Final = (CORRECTION, CORRECTION_OWN, CORRECTION_EMPTY)
PARTS: Final[Mapping[str, str]] = {
    FEEDBACK: "a critique of an answer, with a score from 1 to 7",
    COMPARE: "which of two answers is better, in both orders",
    CORRECTION: "an answer, revised with the help of a critique",
    META: "a score from 1 to 7 for somebody else's critique",
    CORRECTION_OWN: "an answer, revised with the help of the judge's own critique",
    CORRECTION_EMPTY: "an answer, revised without any critique",
    RUN_CODE: "run the revised programs on this computer, in a sandbox",
}
USUAL: Final = (FEEDBACK, COMPARE, CORRECTION, META)
SCORER: Final = "scorer/"
"""Parts of verdicts that a scorer gave: this, the examined judge's id, and the part."""
SCORED: Final = (FEEDBACK, COMPARE, CORRECTION)
MAX_WRITTEN: Final = 20_000
"""Characters of a critique or correction that are kept."""
PROMPTS: Final[Mapping[str, str]] = {
    FEEDBACK: "cb_feedback/1",
    META: "cb_meta_feedback/1",
    COMPARE: "cb_comparison/1",
    CORRECTION: "cb_correction/1",
    CORRECTION_OWN: "cb_correction/1",
    CORRECTION_EMPTY: "cb_correction/1",
    SCORER: "cb_subjective/1",
}

Order = Literal["", "ab", "ba"]


_REVISED: Final = an_object(correction=a_text(MAX_WRITTEN), final_answer=a_text(500))
SCHEMAS: Final[Mapping[str, Schema]] = {
    FEEDBACK: an_object(critique=a_text(6000), score=a_whole(1, 7)),
    META: an_object(reason=a_text(1500), score=a_whole(1, 7)),
    COMPARE: an_object(
        critique=a_text(6000),
        better=one_of("first", "second", "neither"),
    ),
    **dict.fromkeys(CORRECTIONS, _REVISED),
    SCORER: an_object(reason=a_text(1500), score=a_whole(1, 10)),
}
"""By part; `scorer/` for what the scorer replies."""


@dataclass(frozen=True, kw_only=True)
class CriticBenchWorklist:
    """Asks the parts of a plan, each item as often as there are votes, pairs in both orders."""

    plan: BenchPlan

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return what can be asked by now: grading follows what was written."""
        parts = self.plan.parts or USUAL
        if CORRECTION_OWN in parts:
            parts = (FEEDBACK, *parts)
        every: list[Ask] = []
        for item in self.plan.items:
            for repeat in range(self.plan.votes):
                for part, order in questions(item.data, parts):
                    critique = ""
                    if part == CORRECTION_OWN:
                        own = have.get(self._blank(item, FEEDBACK, repeat, "").key)
                        if own is None or own.state != "scored" or not own.text.strip():
                            continue
                        critique = own.text
                    ask = self._ask(item, part, repeat, order, critique)
                    every.append(ask)
                    grade = self._grade(item, ask.blank, have.get(ask.key))
                    every += [grade] if grade is not None else []
        return every

    def _blank(self, item: BenchItem, part: str, repeat: int, order: str) -> Verdict:
        # What is revised with one's own critique is asked anew where that critique would be.
        of = f" of {PROMPTS[FEEDBACK]}" if part == CORRECTION_OWN else ""
        return blank(
            self.plan.set_id, item.id, part, self.plan.judge, f"{PROMPTS[part]}{of}",
            self.plan.sampling, repeat=repeat, order=order,
        )  # fmt: skip

    def _ask(self, item: BenchItem, part: str, repeat: int, order: str, critique: str = "") -> Ask:
        def build() -> Request:
            values = dict(_VALUES[part](item.data, order))
            if part in (CORRECTION_OWN, CORRECTION_EMPTY):
                values["critique"] = critique
            return self._request(item, part, values, repeat)

        return Ask(blank=self._blank(item, part, repeat, order), build=build, read=_READ[part])

    def _request(
        self, item: BenchItem, part: str, values: Mapping[str, JsonValue], repeat: int
    ) -> Request:
        return make_request(
            PROMPTS[part],
            values,
            pictures=self.plan.pictures(item),
            sampling=self.plan.sampling,
            repeat=repeat,
            schema=SCHEMAS[part],
        )

    def _grade(self, item: BenchItem, asked: Verdict, there: Verdict | None) -> Ask | None:
        """Return the scorer's question about a text that is there; None where there is none."""
        reference = reference_for(item.data, asked.part)
        if self.plan.scorer is None or there is None or there.state != "scored":
            return None
        if not reference or not there.text.strip() or asked.order == "ba":
            return None
        # The prompt of what is graded is part of the key: a new version is graded anew.
        verdict = blank(
            self.plan.set_id, item.id, f"{SCORER}{self.plan.judge}/{asked.part}",
            self.plan.scorer, f"{PROMPTS[SCORER]} of {asked.prompt}", self.plan.sampling,
            repeat=asked.repeat, order=asked.order,
        )  # fmt: skip
        values = _grading(item.data, asked.part, reference, there.text)

        def build() -> Request:
            return self._request(item, SCORER, values, asked.repeat)

        return Ask(blank=verdict, build=build, read=_read_grade, by="scorer")


def questions(data: Mapping[str, Any], parts: Sequence[str]) -> Iterator[tuple[str, Order]]:
    """Return the parts that an item is asked, and in which order its answers are shown."""
    kind = data["kind"]
    if kind == "critique" and META in parts:
        yield META, ""
    if kind == "pair" and COMPARE in parts:
        yield COMPARE, "ab"
        yield COMPARE, "ba"
    if kind == "answer":
        if FEEDBACK in parts:
            yield FEEDBACK, ""
        for part in CORRECTIONS:
            if part in parts and is_corrected(data):
                yield part, ""


def is_corrected(data: Mapping[str, Any]) -> bool:
    """Whether a revision of this answer can be examined: by value, by tests, or by a reference."""
    if data["kind"] != "answer" or not data.get("corrected"):
        return False
    domain = data["domain"]
    if domain in VALUE_DOMAINS:
        return bool(data["truth"])
    if domain in CODE_DOMAINS:
        return bool(data["tests"])
    return bool(reference_for(data, CORRECTION))


def reference_for(data: Mapping[str, Any], part: str) -> str:
    """Return the text that is worth an 8, or nothing: mathematics and code are checked instead."""
    if not data.get("references"):
        return ""
    if part in CORRECTIONS:
        checked = data["domain"] in (*VALUE_DOMAINS, *CODE_DOMAINS)
        return "" if checked else str(data.get("correction", ""))
    return str(data.get("critique", "")) if part in SCORED else ""


# --- what prompts are given ----------------------------------------------------------------------


def _material(data: Mapping[str, Any]) -> JsonValue:
    there = {"article": data.get("article"), "unit_tests": data.get("tests")}
    return {name: str(text) for name, text in there.items() if text} or ""


def _of_answer(data: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        "question": data["question"],
        "material": _material(data),
        "execution": data.get("execution", ""),
        "answer": data["answer"],
    }


def _for_feedback(data: Mapping[str, Any], order: str) -> Mapping[str, JsonValue]:
    return _of_answer(data)


def _for_meta(data: Mapping[str, Any], order: str) -> Mapping[str, JsonValue]:
    critiques = {"reference_critique": data["critique"], "critique": data["evaluated"]}
    return {**_of_answer(data), **critiques}


def _for_correction(data: Mapping[str, Any], order: str) -> Mapping[str, JsonValue]:
    return {**_of_answer(data), "critique": data["critique"]}


def _for_compare(data: Mapping[str, Any], order: str) -> Mapping[str, JsonValue]:
    one, two = ("first", "second") if order == "ab" else ("second", "first")
    return {
        "question": data["question"],
        "material": _material(data),
        "first_execution": data[f"{one}_execution"],
        "second_execution": data[f"{two}_execution"],
        "first_answer": data[one],
        "second_answer": data[two],
    }


def _grading(
    data: Mapping[str, Any], part: str, reference: str, text: str
) -> Mapping[str, JsonValue]:
    pair = part == COMPARE
    answers = [data["first"], data["second"]] if pair else [data["answer"]]
    kinds = {
        FEEDBACK: "critique",
        COMPARE: "comparison",
        **dict.fromkeys(CORRECTIONS, "correction"),
    }
    return {
        "kind": kinds[part],
        "question": data["question"],
        "material": _material(data),
        "answers": answers,
        "reference": reference,
        "text": text,
    }


_VALUES: Final[Mapping[str, Callable[[Mapping[str, Any], str], Mapping[str, JsonValue]]]] = {
    FEEDBACK: _for_feedback,
    META: _for_meta,
    COMPARE: _for_compare,
    **dict.fromkeys(CORRECTIONS, _for_correction),
}


# --- what is read --------------------------------------------------------------------------------


def _number(value: object, lowest: int, highest: int) -> float | None:
    """Return a score that was offered; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value)
    return number if math.isfinite(number) and lowest <= number <= highest else None


def _read_scored(reply: Reply, verdict: Verdict, key: str, highest: int) -> Verdict:
    usable = read_reply(reply, "score")
    if usable.data is None:
        return unscored(verdict, usable.reason, reply.call.id)
    number = _number(usable.data["score"], 1, highest)
    if number is None:
        return unscored(verdict, f"the score is no number from 1 to {highest}", reply.call.id)
    text = text_of(usable.data.get(key))[:MAX_WRITTEN]
    return scored(verdict, reply, value=number, text=text, detail=usable.note)


def _read_feedback(reply: Reply, verdict: Verdict) -> Verdict:
    return _read_scored(reply, verdict, "critique", 7)


def _read_meta(reply: Reply, verdict: Verdict) -> Verdict:
    return _read_scored(reply, verdict, "reason", 7)


def _read_grade(reply: Reply, verdict: Verdict) -> Verdict:
    return _read_scored(reply, verdict, "reason", 10)


def _read_compare(reply: Reply, verdict: Verdict) -> Verdict:
    usable = read_reply(reply, "better")
    if usable.data is None:
        return unscored(verdict, usable.reason, reply.call.id)
    said = text_of(usable.data["better"]).lower()
    shown = "ab" if verdict.order == "ab" else "ba"
    labels = {"first": shown[0], "second": shown[1], "neither": "tie"}
    if said not in labels:
        return unscored(verdict, "the verdict is none of those offered", reply.call.id)
    text = text_of(usable.data.get("critique"))[:MAX_WRITTEN]
    return scored(verdict, reply, label=labels[said], text=text, detail=usable.note)


def _read_correction(reply: Reply, verdict: Verdict) -> Verdict:
    usable = read_reply(reply, "correction")
    if usable.data is None:
        return unscored(verdict, usable.reason, reply.call.id)
    text = text_of(usable.data["correction"])[:MAX_WRITTEN]
    final = text_of(usable.data.get("final_answer"))
    if not text and not final:
        return unscored(verdict, "the revised answer is empty", reply.call.id)
    return scored(
        verdict, reply, text=text or final, data={"final_answer": final}, detail=usable.note
    )


_READ: Final[Mapping[str, Callable[[Reply, Verdict], Verdict]]] = {
    FEEDBACK: _read_feedback,
    META: _read_meta,
    COMPARE: _read_compare,
    **dict.fromkeys(CORRECTIONS, _read_correction),
}
