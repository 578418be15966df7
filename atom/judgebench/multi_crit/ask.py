"""Multi-Crit's questions to a judge: one criterion a request, or all of a pair's at once.

Reference: Multi-Crit 4 (one criterion at a time), Table 18 (all at once); METHODS A13 (votes in
balanced order).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.judge.templates import JsonValue
from atom.judgebench.base import BenchPlan
from atom.judgebench.multi_crit.criteria import find_criterion
from atom.judgebench.multi_crit.files import CriteriaPair, Label, PreferredCriterion, pair_of
from atom.judgebench.multi_crit.replies import shown_label
from atom.records import BenchItem, Verdict
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import Schema, a_list, a_text, an_object, one_of
from atom.stages.verdicts import Ask, blank, scored, unscored

SINGLE: Final = "single"
JOINT: Final = "joint"
PROMPT: Final = "multi_crit/1"
JOINT_PROMPT: Final = "multi_crit_joint/1"
_PLACES: Final[Mapping[str, Literal[1, 2]]] = {"first": 1, "second": 2}
_SAID: Final[Mapping[str, Literal[1, 2]]] = {**_PLACES, "1": 1, "2": 2}


def _schema(reason: int) -> dict[str, object]:
    return {"reason": a_text(reason), "better": one_of(*_PLACES)}


def single_schema() -> Schema:
    """Return the schema of a reply on one criterion."""
    return an_object(**_schema(600))


def joint_schema(keys: Sequence[str]) -> Schema:
    """Return the schema of a reply on several criteria, which are named by their keys."""
    entry = an_object(id=one_of(*keys), **_schema(400))
    return an_object(verdicts=a_list(entry, len(keys), len(keys)))


def shown_order(item_id: str, repeat: int) -> Literal["ab", "ba"]:
    """Return in which order a pair's answers are shown.

    The first order is drawn from the item's id, and each further vote shows the other one: of K
    votes floor or ceil of K/2 show either, and more votes can be added later. All criteria of a
    pair are shown alike: with orders of their own, a judge that always takes the first answer would
    seem to tell criteria apart.

    Args:
        repeat: 0-based index of the vote.

    Reference:
        METHODS A13.
    """
    drawn = hashlib.blake2b(item_id.encode("utf-8"), digest_size=1).digest()[0]
    return "ab" if (drawn + repeat) % 2 == 0 else "ba"


@dataclass(frozen=True, kw_only=True)
class MultiCritWorklist:
    """What a judge is asked; no question builds on another."""

    plan: BenchPlan

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return all questions: the first vote on every pair comes before any second one."""
        parts = self.plan.parts or (SINGLE,)
        asks: list[Ask] = []
        for repeat in range(self.plan.votes):
            for item in self.plan.items:
                pair = pair_of(item)
                if SINGLE in parts:
                    asks += [self._single(item, pair, entry, repeat) for entry in pair.criteria]
                if JOINT in parts:
                    asks.append(self._joint(item, pair, repeat))
        return asks

    def _blank(self, item: BenchItem, part: str, prompt: str, repeat: int) -> Verdict:
        plan = self.plan
        return blank(
            plan.set_id,
            item.id,
            part,
            plan.judge,
            prompt,
            plan.sampling,
            repeat=repeat,
            order=shown_order(item.id, repeat),
        )

    def _single(
        self, item: BenchItem, pair: CriteriaPair, entry: PreferredCriterion, repeat: int
    ) -> Ask:
        start = self._blank(item, f"{SINGLE}/{entry.key}", PROMPT, repeat)
        return Ask(
            blank=start,
            build=partial(single_request, self.plan, item, pair, entry.key, start),
            read=read_single,
        )

    def _joint(self, item: BenchItem, pair: CriteriaPair, repeat: int) -> Ask:
        keys = tuple(entry.key for entry in pair.criteria)
        start = self._blank(item, JOINT, JOINT_PROMPT, repeat)
        return Ask(
            blank=start,
            build=partial(joint_request, self.plan, item, pair, keys, start),
            read=partial(read_joint, keys),
        )


def _shown(pair: CriteriaPair, order: str) -> dict[str, JsonValue]:
    first, second = pair.answers if order == "ab" else pair.answers[::-1]
    return {"question": pair.question, "first_response": first, "second_response": second}


def _described(key: str) -> dict[str, JsonValue]:
    criterion = find_criterion(key)
    return {"id": key, "name": criterion.name, "definition": criterion.definition}


def single_request(
    plan: BenchPlan, item: BenchItem, pair: CriteriaPair, key: str, start: Verdict
) -> Request:
    """Ask about one criterion of a pair.

    Args:
        plan: pictures and sampling.
        key: the criterion's key.
        start: the verdict that it will be: its order and repeat are used.
    """
    return make_request(
        PROMPT,
        {**_shown(pair, start.order), "criterion": _described(key)},
        pictures=plan.pictures(item),
        sampling=plan.sampling,
        repeat=start.repeat,
        schema=single_schema(),
    )


def joint_request(
    plan: BenchPlan, item: BenchItem, pair: CriteriaPair, keys: Sequence[str], start: Verdict
) -> Request:
    """Ask about all criteria of a pair in one request; arguments as in `single_request`."""
    return make_request(
        JOINT_PROMPT,
        {**_shown(pair, start.order), "criteria": [_described(key) for key in keys]},
        pictures=plan.pictures(item),
        sampling=plan.sampling,
        repeat=start.repeat,
        schema=joint_schema(keys),
    )


def _named(value: object, order: str) -> Label | None:
    """Return which answer a reply names: `first`, `second_response`, `Response 1`; else None."""
    word = text_of(value).casefold().replace("response", "").strip(" _-")
    return shown_label(_SAID[word], order) if word in _SAID else None


def read_single(reply: Reply, start: Verdict) -> Verdict:
    """Read a reply on one criterion."""
    usable = read_reply(reply, "better")
    if usable.data is None:
        return unscored(start, usable.reason, reply.call.id)
    label = _named(usable.data["better"], start.order)
    if label is None:
        said = one_line(str(usable.data["better"]), 60)
        return unscored(start, f"The reply names {said!r}, not a response.", reply.call.id)
    text = text_of(usable.data.get("reason"))
    return scored(start, reply, label=label, text=text, detail=usable.note)


def read_joint(keys: Sequence[str], reply: Reply, start: Verdict) -> Verdict:
    """Read a reply on several criteria.

    Args:
        keys: the criteria that were asked.

    Returns:
        The verdict; `data["labels"]` holds the answer by criterion that each named entry calls
        better. What is missing, names no response, or comes twice with different verdicts isn't in
        it and counts as unreadable; ids that weren't asked are ignored.
    """
    usable = read_reply(reply, "verdicts")
    if usable.data is None:
        return unscored(start, usable.reason, reply.call.id)
    entries = usable.data["verdicts"]
    found: dict[str, set[Label]] = {}
    reasons: dict[str, str] = {}
    for entry in entries if isinstance(entries, list) else []:
        key = text_of(entry.get("id")) if isinstance(entry, dict) else ""
        label = _named(entry.get("better"), start.order) if key in keys else None
        if label is not None:
            found.setdefault(key, set()).add(label)
            reasons.setdefault(key, text_of(entry.get("reason")))
    labels = {key: next(iter(found[key])) for key in keys if len(found.get(key, ())) == 1}
    if not labels:
        return unscored(start, "The reply has no verdict on any criterion.", reply.call.id)
    lost = [key for key in keys if key not in labels]
    note = f"No single verdict on {', '.join(lost)}." if lost else ""
    return scored(
        start,
        reply,
        data={"labels": labels, "reasons": {key: reasons[key] for key in labels}},
        detail=" ".join(part for part in (usable.note, note) if part),
    )
