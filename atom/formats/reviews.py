"""Reviews of two answers by a judge that scores both: Vicuna's, LLaVA's and MT-bench's files.

Questions (`question_id`, `text` or `turns`), answers (`answer_id`, `model_id`, `text` or
`choices`), reviews (`answer1_id`, `answer2_id`, two scores), and MT-bench judgements (`model`,
`score` for one answer; `model_1`, `model_2`, `g1_winner`, `g2_winner` for both orders). Reviews
without their questions and answers come in under ids and file names. A score of -1 is the sign
that the judge's reply couldn't be read.

Reference: Vicuna (Chiang et al., 2023); LLaVA (Liu et al., 2023), repository haotian-liu/LLaVA,
`llava/eval/table`; MT-bench (Zheng et al., 2023).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_list, to_name, to_number, to_text
from atom.formats.intake.batch import GivenVerdict
from atom.formats.intake.by_row import Limit, SortedRow, in_batches, names_keys, sort_rows
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion, words
from atom.formats.intake.names import cut
from atom.records import Annotation, PreferenceVerdict, Side

NAME = "reviews"
DATASET = "Reviews"
_KINDS = {
    "review": ("question_id", "answer1_id", "answer2_id"),
    "pair": ("question_id", "model_1", "model_2", "g1_winner"),
    "single": ("question_id", "model", "judgment", "score"),
    "answer": ("question_id", "answer_id", "model_id"),
    "question": ("question_id", "text"),
    "turns": ("question_id", "turns"),
    "rule": ("role", "prompt"),
}
_EXPECTED = (
    "questions (`question_id`, `text`), answers (`answer_id`, `model_id`) or reviews "
    "(`answer1_id`, `answer2_id`, `score`)"
)
_TOP = 10


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of these files."""
    for keys in (_KINDS["review"], _KINDS["pair"], _KINDS["single"], _KINDS["answer"]):
        if names_keys(head, *keys):
            return 0.9
    if names_keys(head, "question_id", "turns", "category"):
        return 0.9
    if names_keys(head, "role", "prompt", "default", "coding"):
        return 0.9
    return 0.7 if names_keys(head, "question_id", "text", "category") else 0.0


@dataclass(kw_only=True)
class _Item:
    """A question (a turn of it) with everything that the files say about it."""

    place: str
    file: str
    text: str | None = None
    category: str | None = None
    image: str | None = None
    answers: dict[str, str | None] = field(default_factory=dict)
    reviews: list[SortedRow] = field(default_factory=list)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read questions, answers and reviews together, in any order.

    Raises:
        FormatError: a file is none of these, or they hold prompts only.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    items: dict[str, _Item] = {}
    models: dict[str, str] = {}
    for found in sort_rows(files, collector, _KINDS, _EXPECTED):
        if found.kind == "rule":
            collector.note(f"{found.file.name} holds the judge's prompts; they are left out")
        else:
            _take(found, items, models, collector)
    if not items:
        raise FormatError(
            f"{files[0].name!r} holds only a judge's prompts; name questions, answers and reviews"
        )
    maker = Maker(collector, options)
    limit = Limit(options, collector, "questions")
    return Reading(
        in_batches(items.items(), lambda one: _item(*one, models, maker), limit), collector
    )


def _take(
    found: SortedRow, items: dict[str, _Item], models: dict[str, str], collector: Collector
) -> None:
    row, place = found.row.values, found.row.place
    question = to_name(row["question_id"])
    if question is None:
        collector.skip(place, "it names no question")
        return

    def item(turn: int = 1) -> _Item:
        key = question if turn == 1 else f"{question} turn {turn}"
        return items.setdefault(key, _Item(place=place, file=found.file.name))

    if found.kind == "question":
        asked = item()
        asked.text = asked.text or to_text(row["text"])
        asked.category = asked.category or to_name(row.get("category"))
        asked.image = asked.image or to_name(row.get("image"))
    elif found.kind == "turns":
        turns = [to_text(turn) or "" for turn in to_list(row["turns"]) or ()]
        for number in range(1, len(turns) + 1):
            asked = item(number)
            asked.text = asked.text or "\n\n".join(turns[:number])
            asked.category = asked.category or to_name(row.get("category"))
    elif found.kind == "answer":
        _take_answer(found, models, item(), item)
    else:
        turn = to_number(row.get("turn"))
        item(int(turn) if turn is not None and 1 <= turn <= 20 else 1).reviews.append(found)


def _take_answer(
    found: SortedRow, models: dict[str, str], first: _Item, item: Callable[[int], _Item]
) -> None:
    row = found.row.values
    name, model = to_name(row["answer_id"]), to_name(row["model_id"])
    if model is None:
        return
    if name is not None:
        models[name] = model
    choices = row.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        for number, turn in enumerate(to_list(choices[0].get("turns")) or (), start=1):
            item(number).answers.setdefault(model, to_text(turn))
    else:
        first.answers.setdefault(model, to_text(row.get("text")))


def _item(identity: str, item: _Item, models: Mapping[str, str], maker: Maker) -> None:
    sample_id = maker.sample(
        item.place,
        item.file,
        identity,
        SourceQuestion(
            text=maker.told(item.text, identity, item.place),
            pictures=(item.image,) if item.image else (),
            labels=(("category", item.category),) if item.category else (),
            cluster=identity.split(" turn ")[0],
        ),
    )
    if sample_id is None:
        return
    for model, text in item.answers.items():
        maker.answer(item.place, sample_id, model, text)
    for found in item.reviews:
        if found.kind == "single":
            _single(found, item, sample_id, maker)
        elif found.kind == "pair":
            _both_orders(found, item, sample_id, maker)
        else:
            _review(found, item, models, sample_id, maker)


def _judge(value: object) -> str:
    """Name the judge: MT-bench gives a list of model and prompt."""
    items = to_list(value)
    return cut(" ".join(name for item in items or [value] if (name := to_name(item))))


def _known(item: _Item, model: str, place: str, sample_id: str, maker: Maker) -> str | None:
    return maker.answer(place, sample_id, model, item.answers.get(model), known=False)


def _models_of(found: SortedRow, models: Mapping[str, str]) -> tuple[str, str]:
    """Name both models: by their answers, else by the file's name, else by the answers' ids."""
    row = found.row.values
    ids = [to_name(row["answer1_id"]) or "", to_name(row["answer2_id"]) or ""]
    parts = re.sub(r"^reviews?_", "", found.file.stem).split("_")
    names = parts if len(parts) == 2 and parts != [found.file.stem] else ["", ""]
    one, two = (
        models.get(key) or name or key or f"answer {at}"
        for at, (key, name) in enumerate(zip(ids, names, strict=True), start=1)
    )
    return cut(one), cut(two)


def _review(
    found: SortedRow, item: _Item, models: Mapping[str, str], sample_id: str, maker: Maker
) -> None:
    row, place = found.row.values, found.row.place
    one, two = _models_of(found, models)
    if one == two:
        maker.out.skip(place, "both answers are of one model")
        return
    a = _known(item, one, place, sample_id, maker)
    b = _known(item, two, place, sample_id, maker)
    if a is None or b is None:
        return
    judge = _judge(row.get("reviewer_id")) or "judge"
    text = words(row.get("text") or row.get("content"))
    given = to_list(row.get("score") if "score" in row else row.get("tuple")) or []
    numbers = [to_number(value) for value in given]
    scores = [n for n in numbers if n is not None and 0 <= n <= _TOP]
    if len(numbers) != 2 or len(scores) != 2:
        detail = f"the scores are {words(given, 80)!r}"
        maker.out.tally("a review's two scores can't be read; it stays unscored", place)
        maker.prefer(place, sample_id, (a, b), judge, None, reason=text, detail=detail)
        return
    verdict: PreferenceVerdict = (
        "tie" if scores[0] == scores[1] else "a" if scores[0] > scores[1] else "b"
    )
    maker.prefer(place, sample_id, (a, b), judge, verdict, reason=text)
    for side, score in zip(("a", "b"), scores, strict=True):
        maker.said(
            place,
            GivenVerdict(
                subject_id=sample_id,
                part=f"{Annotation.pair(a, b)}/{side}",
                judge=judge,
                order="ab",
                value=score,
            ),
        )


def _single(found: SortedRow, item: _Item, sample_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    model = to_name(row["model"])
    response_id = None if model is None else _known(item, model, place, sample_id, maker)
    if response_id is None:
        maker.out.skip(place, "it names no model")
        return
    maker.score(
        place,
        sample_id,
        f"score/{response_id}",
        _judge(row.get("judge")) or "judge",
        row["score"],
        (0, _TOP),
        text=words(row["judgment"]),
    )


_WINNER: Mapping[str, PreferenceVerdict] = {"model_1": "a", "model_2": "b", "tie": "tie"}


def _both_orders(found: SortedRow, item: _Item, sample_id: str, maker: Maker) -> None:
    row, place = found.row.values, found.row.place
    one, two = to_name(row["model_1"]), to_name(row["model_2"])
    if one is None or two is None or one == two:
        maker.out.skip(place, "it doesn't name two models")
        return
    a = _known(item, one, place, sample_id, maker)
    b = _known(item, two, place, sample_id, maker)
    if a is None or b is None:
        return
    orders: tuple[tuple[str, Side], ...] = (("g1", "a"), ("g2", "b"))
    for key, first in orders:
        said = to_name(row.get(f"{key}_winner"))
        verdict = _WINNER.get(said or "")
        if verdict is None:
            maker.out.tally("a vote that names no winner; it stays unscored", place)
        maker.prefer(
            f"{place} {key}",
            sample_id,
            (a, b),
            _judge(row.get("judge")) or "judge",
            verdict,
            first=first,
            reason=words(row.get(f"{key}_judgment")),
            detail="" if verdict else f"the file says {cut(said or 'nothing', 80)!r}",
        )


FORMAT = Format(
    name=NAME,
    about="Vicuna, LLaVA and MT-bench reviews: a judge's scores of two answers, or of one.",
    patterns=(
        "question*.jsonl",
        "answer*.jsonl",
        "review*.jsonl",
        "*_pair.jsonl",
        "*_single.jsonl",
    ),
    wanted="questions, answers and reviews",
    sniff=sniff,
    read=read,
)
