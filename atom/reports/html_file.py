"""A report as one HTML file: no script, no network, pictures inside, made to be printed.

Every text is escaped where it becomes markup (`assets/report.html`, by `display.templates`); a
Content-Security-Policy in the file forbids scripts and requests even so.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from atom.display import writers
from atom.display.markup import Html
from atom.display.numbers import count
from atom.display.table import Column, Table
from atom.errors import UsageError
from atom.reports.figures import axes_svg, colour, differ_words, ranking_svg, section_radar
from atom.reports.printed import lettered, n_words, p_words
from atom.reports.records import (
    Bar,
    Finding,
    Passage,
    Report,
    Section,
)
from atom.store import Store
from atom.views.pictures import read_thumbnail

Thumbnail = Callable[[str], str | None]
"""Picture id -> data URL, or None where the picture is gone or the file would grow too large."""
MAX_PICTURE = 60_000
"""Bytes of one thumbnail."""
MAX_PICTURES = 3_000_000
"""Bytes of all thumbnails of a file together."""
UNVERIFIED = {
    "number": "unverified: this number is not among those that the writer was given",
    "name": "unverified: this name is not among those that the writer was given",
}
LOW_NOTE = (
    "A low value is not yet a weakness: it may be hard for all (tick: the mean of all models)"
)
BEYOND = (
    "The check compares numbers and names. Whether a sentence uses them rightly, for instance "
    "“higher”, “best” or “because”, is beyond it: read such words against the findings."
)
_ASSETS = Path(__file__).parent / "assets"
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@cache
def _style() -> Html:
    return Html((_ASSETS / "report.css").read_text(encoding="utf-8"))


def check_base(base: str) -> str:
    """Return an app's address without its final slash.

    Raises:
        UsageError: it isn't an http address.
    """
    parts = urlsplit(base.strip())
    if base and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
        raise UsageError(f"the base {base!r} isn't an app's address; write http://127.0.0.1:8501")
    return base.strip().rstrip("/")


def thumbnails(store: Store) -> Thumbnail:
    """Return a reader of thumbnails as data URLs, which stops before the file grows too large."""
    held: dict[str, str | None] = {}
    used = 0

    def read(picture_id: str) -> str | None:
        nonlocal used
        if picture_id not in held:
            held[picture_id] = None
            found = read_thumbnail(store, picture_id)
            fits = found is not None and len(found.data) <= MAX_PICTURE
            if found is not None and fits and used + len(found.data) <= MAX_PICTURES:
                used += len(found.data)
                text = base64.b64encode(found.data).decode("ascii")
                held[picture_id] = f"data:{found.media_type};base64,{text}"
        return held[picture_id]

    return read


def to_html(report: Report, thumbnail: Thumbnail, *, base: str = "") -> str:
    """Write a report as one HTML file.

    Args:
        thumbnail: gives pictures; see `thumbnails`.
        base: the app's address, for links to the samples behind a number; without one their
            addresses are shown as text.

    Returns:
        The file's text; equal input gives equal text.

    Raises:
        UsageError: the base isn't an http address.
    """
    # Jinja2 takes a while to load, which nothing else here needs.
    from atom.display.templates import template

    return template(_ASSETS, "report.html").render(
        report=report,
        base=check_base(base),
        tags=report.tags,
        by_id={finding.id: finding for finding in report.told},
        thumbnail=thumbnail,
        policy=_POLICY,
        style=_style(),
        low_note=LOW_NOTE,
        labels=LABELS,
        pieces=_pieces,
        differ=_differ,
        written_words=_written_words,
        counted_words=_counted_words,
        selection_line=selection_line,
        behind_words=behind_words,
        kind_words=kind_words,
        number_words=number_words,
        tabled=tabled,
        lettered=lettered,
        colour=colour,
        axes_svg=axes_svg,
        ranking_svg=ranking_svg,
        section_radar=section_radar,
    )


def _written_words(report: Report) -> str:
    """Say who wrote the text, and what the check of it found."""
    number = report.unverified
    words = (
        f"{count(number, 'number or name', 'numbers and names')} in this text "
        f"{'is' if number == 1 else 'are'} marked as unverified: the writer was not given "
        f"{'it' if number == 1 else 'them'}."
        if number
        else "Every number and name in its text is one that it was given."
    )
    return f"Written by {report.written_by} from the findings below, then checked. {words} {BEYOND}"


def _counted_words(report: Report) -> str:
    """Say how many findings are told, and where the others are."""
    left_out = len(report.findings) - len(report.told)
    return (
        f"All that is told above, as it was computed. {count(left_out, 'more finding')} "
        f"{'was' if left_out == 1 else 'were'} computed and left out; the JSON form of "
        "this report holds them all, with the reasons."
    )


LABELS = (
    "Confirmed weakness: the model departs from what its frame expects by more than the margin, "
    "after control for many tests. Suspected: probably so, more samples would settle it. Strength: "
    "the mirrored test. Nothing is claimed on fewer than 5 samples.",
    "Peer frame: held against what the other models' results on the same questions predict. Own "
    "frame: held against the rest of the model's own results, where a hard capability looks like a "
    "weakness.",
    "Intervals cover 95 % and count pictures, not criteria, as independent. n is what a number was "
    "counted over.",
)
"""What the words of a report mean."""


def behind_words(finding: Finding) -> str:
    """Write how many samples stand behind a finding; empty where there is no list."""
    if finding.behind is None:
        return ""
    words = finding.behind_words
    if finding.behind == 1:
        words = words.replace("samples", "sample", 1).replace("answers", "answer", 1)
    return f"{finding.behind:,} {words}"


def selection_line(report: Report) -> str:
    """Say at the top which part of the study is counted."""
    return f"A selection, not the whole study: {report.selection}."


def _differ(section: Section) -> Html | None:
    """Table how far a panel's judges differ on each model; nothing with one judge."""
    if all(bar.differ is None for bar in section.bars):
        return None
    columns = (
        Column[Bar](title="Model", of=lambda bar: bar.name),
        Column[Bar](title="Judges differ", of=lambda bar: differ_words(bar)[0], number=True),
        Column[Bar](title="Disagreement, points", of=lambda bar: differ_words(bar)[1], number=True),
    )
    return writers.html(Table(label="How far judges differ", columns=columns, rows=section.bars))


def tabled(report: Report) -> tuple[Finding, ...]:
    """Return the findings that are tabled: a model's rank once, though two sections tell it."""
    own = {f.model_ids for f in report.told if f.kind == "ranking" and f.owner is not None}
    return tuple(
        f
        for f in report.told
        if f.kind != "ranking" or f.owner is not None or f.model_ids not in own
    )


def kind_words(finding: Finding) -> str:
    """Name what a finding is, with its glyph where it is a claim about a model."""
    if finding.kind == "ranking" and finding.number("rank") is None:
        return "value"
    return _KINDS.get(finding.kind, finding.kind.replace("_", " "))


_KINDS = {
    "weakness": "▼ confirmed weakness",
    "suspected": "▽ suspected weakness",
    "strength": "▲ strength",
    "none_found": "· nothing confirmed",
    "lucky": "right answer, wrong reason",
    "cluster": "where failures lie",
    "hard": "hard for all",
    "separates": "sets two apart",
    "comparison": "two models compared",
    "criteria": "the criteria's health",
    "criterion": "a doubtful criterion",
    "fingerprint": "profiles told apart",
    "top_tie": "pattern at the top",
    "coverage": "what was counted",
    "lead": "who leads",
    "tie": "who may lead",
    "weights": "under other weights",
    "correction": "feedback and its control",
    "correction_luck": "luck",
    "correction_printed": "the gain as the paper prints it",
    "correction_breaks": "right answers broken",
    "correction_repairs": "recoverable or stubborn",
}


def number_words(finding: Finding, number: int) -> str:
    """Write one number of a finding with its name, n and p."""
    one = finding.numbers[number]
    text = f"{one.name.replace('_', ' ')} {one.shown}"
    if one.unit not in ("%", one.name, f"{one.name}s", "rank"):
        text += f" {one.unit}"
    if one.n is not None:
        text += f", n {n_words(one)}"
    if one.q is not None:
        text += f", adjusted {p_words(one.q).replace(' = ', ' ')}"
    elif one.p is not None:
        text += f", {p_words(one.p).replace(' = ', ' ')}"
    return text


def _pieces(passage: Passage) -> Iterator[tuple[str, str]]:
    """Cut a passage into (text, what is doubtful of it; empty where nothing is)."""
    at = 0
    for mark in passage.marks:
        yield passage.text[at : mark.start], ""
        yield passage.text[mark.start : mark.end], UNVERIFIED[mark.kind]
        at = mark.end
    yield passage.text[at:], ""
