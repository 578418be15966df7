"""WildVision-Bench files: a judge's verdicts, in five levels, against one baseline model.

Judgements (`games`), the models' answers, a table of verdicts (`question_id, model, judge, score`)
and the published leaderboard, which is compared figure by figure. Assistant A is always the
baseline. A score that names no level (some hold the judge's free text, or nothing) stays an
unscored vote; the published table counts it as a tie, and the report says how many there are.

Reference: WildVision-Arena (Lu et al., 2024), repository WildVision-AI/WildVision-Bench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from atom.analysis.levels import count_levels, level_of
from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_number, to_text
from atom.formats.intake.by_row import Limit, SortedRow, in_batches, names_keys, sort_rows
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.formats.intake.maker import UNTOLD, Maker, SourceQuestion, words
from atom.formats.intake.names import cut
from atom.records import PreferenceVerdict

NAME = "wildvision"
DATASET = "WildVision-Bench"
BASELINE = "claude-3-sonnet-20240229"
"""Who assistant A is; the files don't say."""
_KINDS = {
    "judgement": ("question_id", "model", "games"),
    "answer": ("question_id", "model", "output"),
    "score": ("question_id", "model", "judge", "score"),
    "published": ("model", "win_rate", "reward"),
}
_EXPECTED = (
    "judgements (`question_id`, `model`, `games`), answers (`instruction`, `output`), scores "
    "(`question_id`, `model`, `judge`, `score`) or the leaderboard (`win_rate`, `reward`)"
)
_LEVELS: Mapping[str, tuple[PreferenceVerdict, int]] = {
    "A>>B": ("a", 2), "A>B": ("a", 1), "A=B": ("tie", 1), "B>A": ("b", 1), "B>>A": ("b", 2),
}  # fmt: skip
_USER = "<|User Prompt|>"
_OPEN = "<|The Start of Assistant {}'s Answer|>"
_CLOSE = "<|The End of Assistant {}'s Answer|>"
_COUNTS = ("much_better", "better", "tie", "worse", "much_worse")


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of WildVision-Bench's files."""
    if names_keys(head, "question_id", "model", "judge", "games"):
        return 0.95
    if names_keys(head, "model", "win_rate", "reward", "much_better", "much_worse"):
        return 0.95
    if names_keys(head, "question_id", "instruction", "output", "model"):
        return 0.9
    return 0.9 if names_keys(head, "question_id", "model", "judge", "score") else 0.0


@dataclass(frozen=True, kw_only=True)
class _Vote:
    place: str
    file: str
    model: str
    judge: str
    verdict: PreferenceVerdict | None
    strength: int
    words: str
    detail: str


@dataclass(kw_only=True)
class _Item:
    """What the files say of one question."""

    file: str
    text: str | None = None
    image: str | None = None
    language: str | None = None
    answers: dict[str, str] = field(default_factory=dict)
    votes: dict[tuple[str, str], _Vote] = field(default_factory=dict)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read judgements, answers, scores and the leaderboard together.

    Raises:
        FormatError: a file is none of these, or there is only the leaderboard.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    items: dict[str, _Item] = {}
    published: list[SortedRow] = []
    for found in sort_rows(files, collector, _KINDS, _EXPECTED):
        if found.kind == "published":
            published.append(found)
        else:
            _take(found, items, collector)
    if not items:
        raise FormatError(
            f"{files[0].name!r} is a leaderboard, which only counts verdicts; name the verdicts "
            "(judgements, or a table with `question_id`, `model`, `judge`, `score`) as well"
        )
    maker = Maker(collector, options)
    levels: dict[str, list[int]] = {}
    return Reading(
        in_batches(
            items.items(),
            lambda one: _item(*one, levels, maker),
            Limit(options, collector, "questions"),
            end=lambda whole: _say(published if whole else (), levels, collector),
        ),
        collector,
    )


def _take(found: SortedRow, items: dict[str, _Item], collector: Collector) -> None:
    row, place = found.row.values, found.row.place
    identity, model = to_name(row["question_id"]), to_name(row["model"])
    if identity is None or model is None:
        collector.skip(place, "it names no question or no model")
        return
    item = items.setdefault(identity, _Item(file=found.file.name))
    if found.kind == "answer":
        item.text = item.text or to_text(row.get("instruction"))
        item.language = item.language or to_name(row.get("language"))
        _tell(item, model, to_text(row["output"]), place, collector)
        return
    game: Mapping[str, object] = row
    if found.kind == "judgement":
        games = row["games"]
        first = games[0] if isinstance(games, list) and games else None
        if not isinstance(first, dict):
            collector.skip(place, "it holds no game")
            return
        if isinstance(games, list) and len(games) > 1:
            collector.tally("more than one game of a question; the first counts", place)
        game = first
        _prompt(game.get("user_prompt"), item, model, place, collector)
    _vote(found, game, item, model, to_name(row.get("judge")) or "", collector)


def _prompt(prompt: object, item: _Item, model: str, place: str, collector: Collector) -> None:
    """Take the question, both answers and the picture from what the judge was shown."""
    for part in prompt if isinstance(prompt, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "image":
            item.image = item.image or to_name(part.get("image"))
            continue
        shown = _shown(to_text(part.get("text")) or "")
        if shown is None:
            collector.tally("a judge's prompt isn't laid out as usual; only its vote counts", place)
            continue
        item.text = item.text or shown.question
        _tell(item, BASELINE, shown.a, place, collector)
        _tell(item, _seat(model), shown.b, place, collector)


@dataclass(frozen=True, kw_only=True)
class _ShownAnswers:
    question: str | None
    a: str
    b: str


def _shown(prompt: str) -> _ShownAnswers | None:
    """Cut a judge's prompt at its markers; None where one is missing."""
    question, mark, rest = prompt.partition(_OPEN.format("A"))
    a, mark_a, rest = rest.partition(_CLOSE.format("A"))
    _, mark_b, rest = rest.partition(_OPEN.format("B"))
    b, end, _ = rest.partition(_CLOSE.format("B"))
    if not (mark and mark_a and mark_b and end):
        return None
    question = question.partition(_USER)[2] if _USER in question else question
    return _ShownAnswers(question=question.strip() or None, a=a.strip("\n"), b=b.strip("\n"))


def _tell(item: _Item, model: str, text: str | None, place: str, collector: Collector) -> None:
    if text is None or not text.strip():
        return
    known = item.answers.setdefault(model, text)
    if known.strip() != text.strip():
        collector.tally(f"another answer of {model} to one question; the first is kept", place)


def _seat(model: str) -> str:
    """Name assistant B; the baseline against itself sits in both seats."""
    return f"{model} (again)" if model == BASELINE else model


def _vote(
    found: SortedRow,
    game: Mapping[str, object],
    item: _Item,
    model: str,
    judge: str,
    collector: Collector,
) -> None:
    place = found.row.place
    said = to_name(game.get("score"))
    level = _LEVELS.get(said or "")
    detail = ""
    if level is None:
        detail = f"the score is {cut(said, 80)!r}" if said else "the file holds no score"
    vote = _Vote(
        place=place,
        file=found.file.name,
        model=model,
        judge=judge,
        verdict=None if level is None else level[0],
        strength=1 if level is None else level[1],
        words=words(game.get("judgment")),
        detail=detail,
    )
    before = item.votes.get((model, judge))
    if before is None:
        item.votes[model, judge] = vote
    elif (before.verdict, before.strength) != (vote.verdict, vote.strength):
        collector.tally(
            f"{vote.file} has another verdict than {before.file}, which counts", place, "votes"
        )
    elif before.file == vote.file:
        collector.skip(place, "this verdict stood before", "votes")
    elif vote.words and not before.words:
        item.votes[model, judge] = vote
        collector.left_out("votes", STOOD_TWICE)
    else:
        collector.left_out("votes", STOOD_TWICE)


def _say(
    published: Sequence[SortedRow], levels: Mapping[str, Sequence[int]], collector: Collector
) -> None:
    """Say what the verdicts come to."""
    unread = sum(level == -9 for found in levels.values() for level in found)
    if levels:
        collector.note(f"{BASELINE} is the baseline, assistant A of every comparison")
    if unread:
        collector.note(
            f"{unread:,} verdicts can't be read and stay unscored; the published table counts them "
            "as ties"
        )
    _check(published, levels, collector)


def _item(identity: str, item: _Item, levels: dict[str, list[int]], maker: Maker) -> None:
    if item.text is None:
        maker.out.tally("a question's text is in none of the files; its verdicts count", identity)
    sample_id = maker.sample(
        identity,
        item.file,
        identity,
        SourceQuestion(
            text=item.text or f"Question {identity} {UNTOLD}",
            pictures=(item.image,) if item.image else (),
            labels=(("language", item.language),) if item.language else (),
            find_by_id=True,
        ),
    )
    if sample_id is None:
        return
    names = {_seat(vote.model): None for vote in item.votes.values()}
    told = dict.fromkeys((*((BASELINE,) if names else ()), *names, *item.answers))
    answers = {
        name: maker.answer(identity, sample_id, name, item.answers.get(name), known=False)
        for name in told
    }
    for vote in item.votes.values():
        a, b = answers[BASELINE], answers[_seat(vote.model)]
        if a is None or b is None:
            continue
        levels.setdefault(vote.model, []).append(level_of(vote.verdict, vote.strength, "b"))
        maker.prefer(
            vote.place,
            sample_id,
            (a, b),
            vote.judge,
            vote.verdict,
            strength=vote.strength,
            reason=vote.words,
            detail=vote.detail,
        )


def _check(
    published: Sequence[SortedRow], levels: Mapping[str, Sequence[int]], collector: Collector
) -> None:
    """Compare with the published leaderboard, figure by figure."""
    agreeing, differing = 0, []
    for found in published:
        row = found.row.values
        model = to_name(row["model"]) or ""
        if model not in levels:
            continue
        counts = count_levels(np.array(levels[model]), unread="tie")
        ours = {name: float(getattr(counts, name)) for name in _COUNTS}
        ours |= {"win_rate": round(100 * counts.win_rate, 1), "reward": round(counts.reward, 1)}
        for name, value in ours.items():
            there = to_number((to_name(row.get(name)) or "").rstrip("%"))
            if there is None:
                continue
            if abs(there - value) < 0.051:
                agreeing += 1
            else:
                differing.append(f"{model} {name} {value:g}, published {there:g}")
    if published:
        collector.figures(published[0].file.name, agreeing, differing)


FORMAT = Format(
    name=NAME,
    about="WildVision-Bench: a judge's verdicts in five levels against one baseline.",
    patterns=("judgements*.jsonl", "model_answers*.jsonl", "scores.csv", "*leaderboard.csv"),
    wanted="judgements or scores",
    sniff=sniff,
    read=read,
)
