"""VL-RewardBench: judge replies that were made elsewhere, scored without a call.

Two layouts are read:

- What the released code writes: one object a line, or wrapped as `{"0": {...}}`, several runs of
  the same pair in one file or in several. The verdict is read anew from the judge's text
  (`meta.filter_choice`), by the rule of the released code; `meta.flag_status` counts where there is
  no text.
- Verdicts as Atomscope keeps them: `id` (the pair's) and `label`, or `value` for an answer by
  itself, with `part`, `order`, `repeat` and `state` where they are known.

Reference: VL-RewardBench 3.2; its inference and evaluation code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from atom.formats.base import ImportFile
from atom.formats.cells import to_list, to_name, to_number, to_text
from atom.formats.intake.collector import Collector
from atom.judgebench.base import Replies
from atom.judgebench.reading import IMPORTED, Unusable, repeat_of, rows_of
from atom.judgebench.vl_rewardbench.ask import HIGHEST, LOWEST, PAIR, POINT_PARTS, side_shown
from atom.judgebench.vl_rewardbench.data import NAME, item_key
from atom.judgebench.words import count
from atom.records import BenchItem, Sampling, State, Verdict
from atom.stages.reading import one_line
from atom.stages.verdicts import blank

Flag = Literal["agree", "reject", "doesntMatch"]
"""The released code's three outcomes of a vote: the better answer, the worse one, no verdict."""
FLAGS: Final[tuple[Flag, ...]] = ("agree", "reject", "doesntMatch")
_MAX_TEXT = 20_000

_LEAD = re.compile(r"overall judgment|therefore", re.IGNORECASE)
_BETTER = re.compile(r"answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE)
_OWN: Final = ("label", "value", "state")


@dataclass(frozen=True, kw_only=True)
class ParsedChoice:
    """A judge's text, read.

    Args:
        place: the number that it calls better; None where it says none.
        detail: why there is none.
    """

    place: int | None
    detail: str = ""


def read_judgment(text: str) -> ParsedChoice:
    """Read which answer a judge's text calls better.

    Line breaks and asterisks go; then the last "Answer N is (the) (slightly) better" counts that
    stands somewhere after "Overall Judgment" or "Therefore". That is what the released pattern
    finds, without its search through all ways to stretch the gaps.

    Args:
        text: the judge's whole reply.

    Reference:
        VL-RewardBench's inference code.
    """
    flat = text.replace("\n", "").replace("*", "")
    lead = _LEAD.search(flat)
    if lead is None:
        return ParsedChoice(place=None, detail='it has neither "Overall Judgment" nor "Therefore"')
    numbers: list[str] = _BETTER.findall(flat, lead.end())
    if not numbers:
        return ParsedChoice(place=None, detail='no "Answer 1 is better" stands in its judgment')
    return ParsedChoice(place=int(numbers[-1]) if len(numbers[-1]) <= 6 else 999_999)


def released_flag(place: int | None, swapped: bool, better: str) -> Flag:
    """Return what the released code makes of a verdict.

    It asks only whether the place of the worse answer was named: any other number agrees.

    Args:
        place: the number that the judge calls better; None = none was found.
        swapped: whether the answers were shown in the opposite order.
        better: the better answer, `a` or `b`.
    """
    if place is None:
        return "doesntMatch"
    worse = "b" if better == "a" else "a"
    rejected = "ab".index(worse) + 1
    return "reject" if place == (3 - rejected if swapped else rejected) else "agree"


def read_replies(files: Sequence[ImportFile], items: Sequence[BenchItem], judge: str) -> Replies:
    """Read a judge's replies.

    Args:
        files: any number of files, each with any number of runs; votes are numbered as they come.
        judge: the judge's name.

    Returns:
        A verdict for each reply that belongs to an item; the rest is named.

    Raises:
        FormatError: a file can't be read at all.
    """
    out = Collector(NAME, judge, [file.name for file in files])
    reader = _Reader(items, judge, out)
    for _, row in rows_of(files, out):
        for values in _unwrapped(row.values):
            reader.take(row.place, values)
    report = out.report()
    notes = list(report.notes)
    if report.n_skipped:
        notes.append(f"left out: {count(report.n_skipped, 'reply', 'replies')}")
    return Replies(verdicts=tuple(reader.verdicts), skipped=report.skipped, notes=tuple(notes))


def _unwrapped(values: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Take the objects out of a line like `{"0": {...}}`, which may hold several runs."""
    inner = [value for key, value in values.items() if key.isdigit()]
    if inner and not any(isinstance(values.get(key), str) for key in ("query", "item")):
        return [value for value in inner if isinstance(value, dict)]
    return [values]


class _Reader:
    """Turns lines into verdicts."""

    def __init__(self, items: Sequence[BenchItem], judge: str, out: Collector) -> None:
        self.verdicts: list[Verdict] = []
        self._judge = judge
        self._out = out
        self._votes: Counter[tuple[str, str]] = Counter()
        self._keys: set[str] = set()
        self._by_key = {str(item.data["key"]): item for item in items if "key" in item.data}
        self._by_id: dict[str, list[BenchItem]] = {}
        for item in items:
            for name in (item.id, str(item.data["id"])):
                self._by_id.setdefault(name, []).append(item)

    def take(self, place: str, values: Mapping[str, object]) -> None:
        """Take a line in, or say why not."""
        try:
            verdict = self._verdict(place, values)
        except Unusable as why:
            self._out.skip(place, str(why))
            return
        if verdict.key in self._keys:
            self._out.skip(place, "this vote stood before (same pair, part, order and repeat)")
            return
        self._keys.add(verdict.key)
        self.verdicts.append(verdict)

    def _verdict(self, place: str, values: Mapping[str, object]) -> Verdict:
        meta = values.get("meta")
        if isinstance(meta, dict) and ("filter_choice" in meta or "flag_status" in meta):
            return self._released(place, values, meta)
        if any(key in values for key in _OWN):
            return self._own(values)
        raise Unusable(
            "it is no reply: neither `meta.filter_choice` nor `meta.flag_status`, and no `label`"
        )

    def _find(self, values: Mapping[str, object]) -> BenchItem:
        names = [to_name(values.get(key)) for key in ("subject_id", "item", "id")]
        name = next((one for one in names if one is not None), None)
        if name is None:
            raise Unusable("it names no pair (`id`)")
        listed = to_list(values.get("response")) or []
        answers = [one for one in listed if isinstance(one, str)]
        query = to_text(values.get("query"))
        if query is not None and len(answers) == 2:
            exact = self._by_key.get(item_key(name, query, answers))
            if exact is not None:
                return exact
        found = self._by_id.get(name, [])
        if len(answers) == 2:
            found = [one for one in found if sorted(one.data["responses"]) == sorted(answers)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise Unusable(f"the set has no pair {name!r:.60} with these answers")
        raise Unusable(f"the set has {len(found)} pairs {name!r:.60}: it doesn't say which")

    def _blank(self, item: BenchItem, part: str, order: str, repeat: int | None) -> Verdict:
        if repeat is None:
            repeat = self._votes[item.id, part]
        self._votes[item.id, part] += 1
        return blank(
            item.set_id,
            item.id,
            part,
            self._judge,
            IMPORTED,
            Sampling(),
            repeat=repeat,
            order=order,
        )

    def _released(
        self, place: str, values: Mapping[str, object], meta: Mapping[str, object]
    ) -> Verdict:
        item = self._find(values)
        number = to_number(meta.get("random_number"))
        if number not in (0.0, 1.0):
            raise Unusable("it doesn't say in which order it was asked (`meta.random_number`)")
        answers = to_list(values.get("response"))
        turned = answers is not None and list(answers) == list(item.data["responses"][::-1])
        swapped = (number == 1.0) != turned
        better = str(item.data["better"])
        self._check_ranking(place, values, "b" if (better == "a") == turned else "a")
        named = meta.get("flag_status")
        told: Flag | None = next((flag for flag in FLAGS if flag == named), None)
        text = to_text(meta.get("filter_choice"))
        if text is None and told is None:
            raise Unusable("it has neither a judge's text nor a known `flag_status`")
        said = ParsedChoice(place=None) if text is None else read_judgment(text)
        flag = told if text is None else released_flag(said.place, swapped, better)
        if told is not None and flag != told:
            self._out.tally(
                f"the file calls a vote {told!r}, its text reads as {flag!r}; the text counts",
                place,
            )
        order = "ba" if swapped else "ab"
        label, detail = "", said.detail
        if text is None:
            label = {"agree": better, "reject": "b" if better == "a" else "a"}.get(str(flag), "")
            detail = "" if label else "the file calls it `doesntMatch`"
        elif said.place in (1, 2):
            label = side_shown(said.place, order)
        elif said.place is not None:
            detail = f"it calls answer {said.place} better; there are two"
            self._out.tally("a text calls an answer better that there is none of", place)
        return self._blank(item, PAIR, order, None).model_copy(
            update={
                "state": "scored" if label else "unscored",
                "label": label,
                "detail": detail,
                "text": (text or "")[:_MAX_TEXT],
                "data": {"flag": flag},
            }
        )

    def _check_ranking(self, place: str, values: Mapping[str, object], better: str) -> None:
        """Note a line whose ranking isn't the set's: the set's counts."""
        ranks = to_list(values.get("ranking", values.get("human_ranking")))
        expected = [0, 1] if better == "a" else [1, 0]
        if ranks is not None and [to_number(rank) for rank in ranks] != expected:
            self._out.tally("a reply ranks the answers unlike the set; the set counts", place)

    def _own(self, values: Mapping[str, object]) -> Verdict:
        item = self._find(values)
        part = to_name(values.get("part")) or PAIR
        if part != PAIR and part not in POINT_PARTS:
            raise Unusable(f"its part {part!r:.40} is none of {PAIR}, {', '.join(POINT_PARTS)}")
        order = to_name(values.get("order")) or ("ab" if part == PAIR else "")
        if part == PAIR and order not in ("ab", "ba"):
            raise Unusable(f"its order {order!r:.40} is neither ab nor ba")
        repeat = repeat_of(values.get("repeat"))
        stated = to_name(values.get("state"))
        if stated == "failed":
            raise Unusable("its call failed: nothing was said")
        verdict = self._blank(item, part, order if part == PAIR else "", repeat)
        detail = one_line(to_text(values.get("detail")) or "")
        state: State = "unscored"
        label, number = (to_name(values.get("label")) or "").lower(), to_number(values.get("value"))
        if part == PAIR and label in ("a", "b"):
            state, number = "scored", None
        elif part != PAIR and number is not None and LOWEST <= number <= HIGHEST:
            state, label = "scored", ""
        else:
            detail = detail or "nothing that could be read"
            label, number = "", None
        if stated == "unscored":
            state, label, number = "unscored", "", None
        return verdict.model_copy(
            update={"state": state, "label": label, "value": number, "detail": detail}
        )
