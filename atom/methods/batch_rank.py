"""Batch ranking: all answers of a sample in one call, ranked, ties allowed.

Reference: ATOM 4.1, appendix B (batch ranking).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.judge.templates import JsonValue
from atom.methods.base import Scores, letter, shown, whole_number
from atom.methods.schemas import batch_schema
from atom.records import Response, Sample, Sampling, Verdict
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.verdicts import scored, unscored

TASK: Final = "batch_rank"
PROMPT: Final = "batch_rank/1"


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    order: Sequence[Response],
    sampling: Sampling,
) -> Request:
    """Build the request that ranks a sample's answers.

    Args:
        pictures: its pictures, in order.
        order: the answers in the order in which they are shown; named by letters.
        sampling: how the judge is asked.
    """
    values: dict[str, JsonValue] = {
        "question": sample.question,
        "choices": list(sample.choices),
        "answers": [
            {"id": letter(at), "answer": shown(response.text, len(order))}
            for at, response in enumerate(order)
        ],
    }
    return make_request(
        PROMPT,
        values,
        pictures=pictures,
        sampling=sampling,
        repeat=0,
        schema=batch_schema(len(order)),
    )


def parse(reply: Reply, blank: Verdict, order: Sequence[Response]) -> Verdict:
    """Read the ranking.

    Args:
        blank: the verdict, unscored so far.
        order: as in the request.

    Returns:
        The verdict; `data["ranks"]` holds the rank of each answer that was ranked once and no more,
        and `data["order"]` how they were shown. Under two ranked answers it is unscored.
    """
    usable = read_reply(reply, "ranking")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    names = {letter(at): response.id for at, response in enumerate(order)}
    stated, odd = _entries(usable.data["ranking"], names)
    ranks: dict[str, int] = {}
    for name, response_id in names.items():
        given = stated.get(name, set())
        rank = next(iter(given)) if len(given) == 1 else None
        if rank is None:
            odd.append(f"answer {name} has {'two ranks' if given else 'no readable rank'}")
        else:
            ranks[response_id] = rank
    detail = "; ".join(dict.fromkeys([*([usable.note] if usable.note else []), *odd]))[:400]
    if len(ranks) < 2:
        return unscored(blank, f"Fewer than two answers are ranked: {detail}", reply.call.id)
    shown_as = [response.id for response in order]
    return scored(blank, reply, data={"ranks": ranks, "order": shown_as}, detail=detail)


def _entries(value: object, names: Mapping[str, str]) -> tuple[dict[str, set[int]], list[str]]:
    """Return the ranks stated for each letter, and what couldn't be read."""
    stated: dict[str, set[int]] = {}
    odd: list[str] = []
    for item in value if isinstance(value, list | tuple) else ():
        if not isinstance(item, Mapping):
            odd.append(f"{item!r:.40} is no entry")
            continue
        name = text_of(item.get("id")).strip("#\"'`()[]<>. ").upper().removeprefix("ANSWER ")
        rank = whole_number(item.get("rank"))
        if name not in names:
            odd.append(f"there is no answer {one_line(name, 20)!r}")
        elif rank is None or not 1 <= rank <= len(names):
            odd.append(f"answer {name}: {item.get('rank')!r:.20} is no rank")
        else:
            stated.setdefault(name, set()).add(rank)
    return stated, odd


def ranks_of(verdict: Verdict) -> Scores:
    """Return what a ranking is worth to each answer: the rank with its sign turned."""
    ranks = verdict.data.get("ranks")
    if verdict.state != "scored" or not isinstance(ranks, Mapping):
        return {}
    return {
        str(name): -rank
        for name, rank in ranks.items()
        if isinstance(rank, int) and not isinstance(rank, bool)
    }
