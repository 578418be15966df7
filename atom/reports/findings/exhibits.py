"""Exhibits: the samples that show a failure, down to the judge's reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from atom.records import Checkpoint
from atom.reports.findings.looking import StudyLook, address
from atom.reports.printed import listed
from atom.reports.records import Exhibit, Finding
from atom.store.reading.marks import quoting
from atom.views.failures.marked import shortened_mark
from atom.views.failures.page import FailureRow, failures
from atom.views.failures.sample import AnswerView, sample_view
from atom.views.failures.votes import PairVotes
from atom.views.filters import Filters

MOST = 3
"""Exhibits of a model."""
AROUND = 170
"""Characters shown on both sides of the words that the judge points at."""
TRIED = 4
"""Samples of a list that are looked at."""
CUT = 420
"""Characters of a text that is shown from its beginning."""


def exhibits(
    look: StudyLook, model_id: str, told: Iterable[Finding], most: int = MOST
) -> tuple[Exhibit, ...]:
    """Pick samples that show how a model fails.

    The findings that are told come first, the surest first, one sample each; the model's worst
    failures fill up what is left. Of a list's worst samples with a picture, one where the judge
    points at words of the answer is taken, if there is any.

    Args:
        told: the findings of its section that are told.
        most: how many samples.

    Returns:
        At most so many, of different samples.
    """
    found: list[Exhibit] = []
    used: set[str] = set()
    for filters, finding_id in _places(look, model_id, told):
        if len(found) == most:
            break
        listed = failures(look.store, look.data, filters).rows
        fresh = [row for row in listed if row.sample_id not in used]
        fresh.sort(key=lambda row: row.picture_id is None)
        best = _best(look, fresh[:TRIED], model_id, finding_id)
        if best is not None:
            found.append(best)
            used.add(best.sample_id)
    return tuple(found)


def _best(
    look: StudyLook, rows: Sequence[FailureRow], model_id: str, finding_id: str
) -> Exhibit | None:
    """Take the first in which the judge points at words, else the first that can be shown."""
    judged = [row.sample_id for row in rows if row.criterion_id is not None]
    pointed = quoting(look.store, model_id, judged)
    for row in rows:
        if row.criterion_id in pointed:
            exhibit = _exhibit(look, row, model_id, finding_id)
            if exhibit is not None and exhibit.quote is not None:
                return exhibit
    every = (_exhibit(look, row, model_id, finding_id) for row in rows)
    return next((exhibit for exhibit in every if exhibit is not None), None)


def _places(
    look: StudyLook, model_id: str, told: Iterable[Finding]
) -> Iterator[tuple[Filters, str]]:
    mine = look.base.but(model=model_id)
    kinds = ("weakness", "suspected", "first_break", "cluster")
    wanted = [f for f in told if f.owner == model_id and f.kind in kinds and f.place]
    for finding in sorted(wanted, key=lambda f: (kinds.index(f.kind), -f.salience)):
        if finding.label:
            facet, value = finding.place
            yield mine.but(tags=tuple(dict.fromkeys((*mine.tags, (facet, value))))), finding.id
        else:
            yield mine.but(node=finding.place), finding.id
    for _ in range(MOST):
        yield mine, ""


def _exhibit(look: StudyLook, row: FailureRow, model_id: str, finding_id: str) -> Exhibit | None:
    filters = row.filters.but(model=model_id)
    parts = look.parts_of(row.sample_id)
    seen = sample_view(look.store, look.data, filters, alone=True, parts=parts)
    if seen is None or seen.answer is None:
        return None
    answer = seen.answer
    criterion = seen.criterion if row.criterion_id is not None else None
    mark = seen.mark.checkpoint if seen.mark is not None and criterion is not None else None
    span = mark.span if mark is not None else None
    text, quote = excerpt(answer.response.text, span)
    slot = seen.sample.pictures[0] if seen.sample.pictures else None
    return Exhibit(
        sample_id=seen.sample.id,
        dataset=seen.sample.dataset,
        model_id=model_id,
        question=shortened(seen.sample.question),
        choices=tuple(shortened(choice, 80) for choice in seen.sample.choices[:8]),
        reference=None if seen.sample.reference is None else shortened(seen.sample.reference, 160),
        picture_id=slot.picture_id if slot else None,
        picture_name=slot.name if slot else "",
        answer=text,
        quote=quote,
        votes=_votes(look, seen.votes, model_id),
        right=_right(answer),
        criterion=shortened(criterion.criterion.question) if criterion else "",
        truth=shortened(criterion.criterion.ground_truth, 200) if criterion else "",
        score=_score(mark),
        reason=shortened(mark.reason) if mark is not None else "",
        place=criterion.leaf or () if criterion else (),
        finding_id=finding_id,
        door=address(filters),
    )


def _score(mark: Checkpoint | None) -> int | str | None:
    """Return a mark: 1 to 5, or in its own words with what it is worth; None without one."""
    if mark is None or mark.score is not None or mark.value is None:
        return None if mark is None else mark.score
    return f"{shortened_mark(mark.raw)} ({100 * mark.value:.3g} of 100)"


def _votes(look: StudyLook, votes: Iterable[PairVotes], model_id: str) -> str:
    """Say against whom a model's answer won or lost; empty without votes."""
    place = look.data.model_index(model_id)
    words: dict[tuple[str, str], list[str]] = {}
    for pair in votes:
        if place not in (pair.a_colour, pair.b_colour):
            continue
        mine = "a" if pair.a_colour == place else "b"
        other = pair.b if mine == "a" else pair.a
        if pair.together in ("a", "b"):
            came = "won against" if pair.together == mine else "lost against"
        else:
            came = _EVEN[pair.together]
        words.setdefault((came, pair.judge), []).append(other)
    return "; ".join(
        f"{came} {listed(names)}{f' (judged by {judge})' if judge else ''}"
        for (came, judge), names in words.items()
    )


_EVEN = {
    "tie": "tied with",
    "conflict": "changed winner with the order of showing against",
    "undecided": "no decision against",
}


def _right(answer: AnswerView) -> bool | None:
    value = answer.outcomes[0].value if answer.outcomes else None
    return None if value is None else value >= 0.5


def excerpt(text: str, span: tuple[int, int] | None) -> tuple[str, tuple[int, int] | None]:
    """Cut an answer to what the judge points at, or to its beginning.

    Args:
        span: where the quoted words stand; None without any.

    Returns:
        The excerpt, and where in it the quoted words stand.
    """
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return shortened(text, CUT, flat=False), None
    start, end = span
    low = max(0, start - AROUND)
    high = min(len(text), min(end, start + CUT) + AROUND)
    head, tail = ("…" if low else ""), ("…" if high < len(text) else "")
    shift = len(head) - low
    return f"{head}{text[low:high]}{tail}", (start + shift, min(end, high) + shift)


def shortened(text: str, most: int = CUT, *, flat: bool = True) -> str:
    """Cut a text; on one line unless it's to keep its lines."""
    text = " ".join(text.split()) if flat else text.strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
