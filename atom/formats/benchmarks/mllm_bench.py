"""MLLM-Bench files: open questions about pictures, and a judge's votes between two answers.

`questions.json` holds the questions with their level and capability. Votes come as raw files
(`judged_with_criteria_*.jsonl`, `vote_results_*.json`, with both answers' texts) or as a table
(`votes.csv`, without them); `vote_counts_*.json` is the published count to check the votes against.
Any files may be given together. Every pair is judged in both orders: `<id>_1` and `<id>_2`, the
second with the answers swapped.

Raw files carry their question inside the judge's prompt; a table of votes alone doesn't, and is
refused. The criteria in the prompts are one text a question, without truths to score by: they are
left out.

Reference: MLLM-Bench (Ge et al., 2023), repository FreedomIntelligence/MLLM-Bench.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from atom.errors import FormatError
from atom.formats.base import ImportFile, Reading, ReadOptions
from atom.formats.benchmarks.mllm_bench_votes import Totals, Vote, check, merge, read_vote, say
from atom.formats.cells import to_name, to_number, to_text
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, UnreadRows
from atom.formats.json_scan import BrokenJsonError, JsonScanner
from atom.formats.layout import find_layout
from atom.formats.rows import read_rows
from atom.records import (
    PictureSlot,
    Preference,
    Response,
    Sample,
    Sampling,
    Tag,
)

NAME = "mllm-bench"
DATASET = "MLLM-Bench"
NO_TEXT = "the file holds no answer text"
"""Kept with an answer that only votes are known of."""
FACETS = ("capability", "level", "question type")
_INDEX = re.compile(r"(.+)_([12])\Z", re.DOTALL)
_QUESTION = re.compile(r"~~~Question[ \t\r]*\n")
_QUESTION_END = re.compile(r"\n~~~\s*\n~~~Question Type")
_CRITERIA = re.compile(r"^Criteria:", re.MULTILINE)
_MAX_TOTALS = 1_000_000


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is an MLLM-Bench file."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if all(f'"{key}"' in text for key in ("unique_idx", "model_1", "model_2")):
        return 0.95
    if all(f'"{key}"' in text for key in ("image_path", "meta", "capability", "level")):
        return 0.95
    first = text.split("\n", 1)[0]
    if all(key in first for key in ("unique_idx", "model_1", "model_2", "answer")):
        return 0.9
    if text.startswith("{") and '"unable to decide' in text and '"total"' in text:
        return 0.9
    return 0.0


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question, from its own file or from a judge's prompt."""

    file: str
    text: str
    image: str | None
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class _Content:
    """What all files together hold."""

    questions: dict[str, _Question] = field(default_factory=dict)
    told: dict[str, _Question] = field(default_factory=dict)
    """Questions known from prompts."""
    votes: list[Vote] = field(default_factory=list)
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """(question, model) -> answer."""
    totals: list[Totals] = field(default_factory=list)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read questions, votes and published counts together.

    Raises:
        FormatError: a file is none of these, or no question's text is known.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    content = _Content()
    for file in files:
        totals = _totals(file, collector)
        if totals is not None:
            content.totals.append(totals)
        else:
            _take(file, content, collector)
    if not content.questions and not content.told:
        known = f"{len(content.votes):,} votes" if content.votes else "only published counts"
        raise FormatError(
            f"these files hold {known} and no question's text; name questions.json as well"
        )
    votes = merge(content.votes, collector)
    return Reading(_batches(content, votes, options, collector), collector)


# --- reading files ---------------------------------------------------------------------------


def _totals(file: ImportFile, collector: Collector) -> Totals | None:
    """Read a file of published counts; None when it is none."""
    head = file.head().decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not head.startswith("{") or '"unique_idx"' in head:
        return None
    counts: dict[str, int] = {}
    try:
        for pair in JsonScanner(io.StringIO(head)).pairs():
            number = to_number(pair.value)
            if number is None or not 0 <= number <= _MAX_TOTALS:
                return None
            counts[pair.key] = int(number)
    except BrokenJsonError as error:
        if not counts:
            return None
        collector.note(f"{file.name}: the counts break off ({error.reason}); no check is made")
        return Totals(file=file.name, counts={})
    return Totals(file=file.name, counts=counts)


def _take(file: ImportFile, content: _Content, collector: Collector) -> None:
    layout = find_layout(file)
    for note in layout.notes:
        collector.note(note)
    usable = 0
    for row in read_rows(file, layout, UnreadRows(collector)):
        collector.rows += 1
        if "unique_idx" in row.values:
            usable += 1
            _take_vote(file.name, row.place, row.values, content, collector)
        elif "question" in row.values:
            usable += 1
            _take_question(file.name, row.place, row.values, content, collector)
        else:
            collector.skip(row.place, "it is neither a question nor a vote")
    if not usable:
        raise FormatError(
            f"{file.name!r} holds neither questions (`id`, `question`, `meta`) nor votes "
            "(`unique_idx`, `model_1`, `model_2`, `answer`) of MLLM-Bench"
        )


def _take_question(
    file: str, place: str, row: Mapping[str, object], content: _Content, collector: Collector
) -> None:
    identity, value = to_name(row.get("id")), row.get("question")
    text = None if isinstance(value, list | dict) else to_text(value)
    if identity is None or text is None:
        collector.skip(place, "it has no id" if identity is None else "it has no question")
        return
    if identity in content.questions:
        collector.skip(place, f"question {identity!r:.60} stood before")
        return
    meta = row.get("meta")
    cells = meta if isinstance(meta, dict) else row
    labels = []
    for facet in FACETS:
        label = to_name(cells.get(facet))
        if label is None or isinstance(cells.get(facet), list | dict):
            continue
        if re.match(r"https?://", label, re.IGNORECASE):
            collector.tally(
                f"a question's {facet} is an address; it gets no such label", f"{file} {identity!r}"
            )
            continue
        labels.append((facet, label))
    content.questions[identity] = _Question(
        file=file, text=text, image=to_name(row.get("image_path")), labels=tuple(labels)
    )


def _take_vote(
    file: str, place: str, row: Mapping[str, object], content: _Content, collector: Collector
) -> None:
    index = to_name(row.get("unique_idx"))
    match = _INDEX.match(index or "")
    one, two = to_name(row.get("model_1")), to_name(row.get("model_2"))
    if match is None:
        collector.skip(place, "its `unique_idx` is no question and order, such as 0_1")
        return
    if one is None or two is None or one == two:
        collector.skip(place, "it doesn't name two models")
        return
    question, order = match.groups()
    prompt = to_text(row.get("prompt"))
    raw = "raw_answer1" in row or "raw_answer2" in row
    for model, key in ((one, "raw_answer1"), (two, "raw_answer2")):
        text = to_text(row.get(key))
        if text is None:
            continue
        known = content.texts.setdefault((question, model), text)
        if known != text:
            collector.tally(
                f"another answer of {model} to the same question; the first one is kept", place
            )
    if prompt is not None and question not in content.told:
        start = _QUESTION.search(prompt)
        end = None if start is None else _QUESTION_END.search(prompt, start.end())
        text = "" if start is None or end is None else prompt[start.end() : end.start()].strip()
        if text:
            content.told[question] = _Question(
                file=file, text=text, image=to_name(row.get("image"))
            )
    given = to_name(row.get("criteria_given"))
    criteria = None if given is None else given.lower() in ("yes", "true", "1")
    if criteria is None and prompt is not None:
        criteria = _CRITERIA.search(prompt) is not None
    said = read_vote(row)
    a, b = (one, two) if order == "1" else (two, one)
    winner = {"1": one, "2": two}.get(said.winner)
    content.votes.append(
        Vote(
            file=file,
            place=place,
            question=question,
            a=a,
            b=b,
            first="a" if order == "1" else "b",
            judge=_judge(row),
            raw=raw,
            state=said.state,
            verdict=None if winner is None else "a" if winner == a else "b",
            detail=said.detail,
            words=said.words,
            criteria=criteria,
        )
    )


def _judge(row: Mapping[str, object]) -> str:
    reply = row.get("response")
    told = reply.get("model") if isinstance(reply, dict) else None
    return to_name(row.get("judge")) or to_name(row.get("gen_model_id")) or to_name(told) or ""


# --- the same vote in two files --------------------------------------------------------------


# --- records ---------------------------------------------------------------------------------


def _batches(
    content: _Content,
    votes: Mapping[str, Sequence[Vote]],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    questions = {**content.told, **content.questions}
    order = list(dict.fromkeys((*content.questions, *content.told)))
    if options.limit is not None and len(order) > options.limit:
        collector.note(f"stopped after {options.limit:,} questions, as asked")
        order = order[: options.limit]
    else:
        for identity in votes:
            if identity not in questions:
                for vote in votes[identity]:
                    collector.skip(
                        vote.place, f"its question, {identity!r:.60}, is in no file", "votes"
                    )
    used: list[Vote] = []
    for identity in order:
        sample = _sample(identity, questions[identity], options, collector)
        collector.add(sample)
        for facet, value in questions[identity].labels:
            collector.add(
                Tag(
                    subject="sample",
                    subject_id=sample.id,
                    source=questions[identity].file,
                    facet=facet,
                    value=value,
                )
            )
        mine = votes.get(identity, ())
        _answers(identity, sample.id, mine, content, collector)
        for vote in mine:
            collector.add(_preference(vote, sample.id, collector))
        used += mine
        if collector.is_full:
            yield collector.flush()
    say(used, collector)
    for totals in content.totals:
        check(totals, used, collector, whole=options.limit is None)
    yield collector.flush()


def _sample(
    identity: str, question: _Question, options: ReadOptions, collector: Collector
) -> Sample:
    slots: tuple[PictureSlot, ...] = ()
    if question.image is not None:
        look = options.pictures.look(question.image)
        if look.picture is None:
            collector.missing_picture(question.image, look.reason)
            slots = (PictureSlot(name=question.image),)
        else:
            collector.picture(look.picture)
            slots = (PictureSlot(name=question.image, picture_id=look.picture.id),)
    return Sample(
        id=collector.sample_id(identity),
        dataset=collector.dataset,
        source_id=identity,
        question=question.text,
        pictures=slots,
    )


def _answers(
    identity: str,
    sample_id: str,
    votes: Sequence[Vote],
    content: _Content,
    collector: Collector,
) -> None:
    for model in dict.fromkeys(name for vote in votes for name in vote.pair):
        candidate = collector.candidate(model)
        text = content.texts.get((identity, model))
        collector.add(
            Response(
                id=Response.make_id(sample_id, candidate, "imported", Sampling()),
                sample_id=sample_id,
                candidate_id=candidate,
                prompt="imported",
                state="scored",
                text=text or "",
                detail="" if text else NO_TEXT,
            )
        )
        if text is None:
            collector.tally(f"only votes are known of an answer of {model}", f"question {identity}")


def _preference(vote: Vote, sample_id: str, collector: Collector) -> Preference:
    a, b = (
        Response.make_id(sample_id, collector.candidate(name), "imported", Sampling())
        for name in vote.pair
    )
    if vote.state != "scored":
        what = vote.detail.split(": '")[0]
        collector.tally(f"a vote that names no winner ({what})", vote.place)
    return Preference(
        id=Preference.make_id(a, b, vote.judge, "imported", vote.first),
        sample_id=sample_id,
        response_a=a,
        response_b=b,
        judge=vote.judge,
        prompt="imported",
        first=vote.first,
        state=vote.state,
        verdict=vote.verdict,
        reason=vote.words,
        detail=vote.detail,
    )


# --- what the reader should know -------------------------------------------------------------
