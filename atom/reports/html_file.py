"""A report as one HTML file: no script, no network, pictures inside, made to be printed.

Every text is escaped where it becomes markup (`display.markup.el`); a Content-Security-Policy in
the file forbids scripts and requests even so.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from atom.display.markup import Child, Html, el, join
from atom.errors import UsageError
from atom.reports.figures import axes_svg, colour, differ_words, ranking_svg, section_radar
from atom.reports.printed import count, lettered, p_words
from atom.reports.records import (
    Exhibit,
    Finding,
    Mark,
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
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@cache
def _style() -> str:
    return (Path(__file__).parent / "assets" / "report.css").read_text(encoding="utf-8")


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
    """Return a reader of thumbnails as data URLs, which stops when the file would grow too large.

    Args:
        store: where the pictures are.
    """
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
        report: the report.
        thumbnail: gives pictures; see `thumbnails`.
        base: the app's address, for links to the samples behind a number; without one their
            addresses are shown as text.

    Returns:
        The file's text; equal input gives equal text.

    Raises:
        UsageError: the base isn't an http address.
    """
    page = _Page(report, thumbnail, check_base(base))
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{report.title}: report{' on a selection' if report.selection else ''}"),
        el("style", Html(_style())),
    )
    return f"<!DOCTYPE html>\n{el('html', head, el('body', page.body()), lang='en')}\n"


class _Page:
    """Draws one report."""

    def __init__(self, report: Report, thumbnail: Thumbnail, base: str) -> None:
        self._report = report
        self._thumbnail = thumbnail
        self._base = base
        self._tags = report.tags
        self._by_id = {f.id: f for f in report.told}

    def body(self) -> Html:
        report = self._report
        return join(
            el(
                "header",
                el("h1", report.title, self._badge()),
                el("p", el("strong", selection_line(report))) if report.selection else None,
                el("p", f"Report. {report.lead}", class_="quiet"),
                self._written(),
            ),
            self._short(),
            self._contents(),
            [self._section(number, section) for number, section in enumerate(report.sections)],
            self._findings(),
            self._made(),
        )

    def _badge(self) -> Html | None:
        return el("span", "SYNTHETIC", class_="badge") if self._report.synthetic else None

    def _written(self) -> Html | None:
        report = self._report
        if not report.written_by:
            return None
        number = report.unverified
        words = (
            f"{count(number, 'number or name', 'numbers and names')} in this text "
            f"{'is' if number == 1 else 'are'} marked as unverified: the writer was not given "
            f"{'it' if number == 1 else 'them'}."
            if number
            else "Every number and name in its text is one that it was given."
        )
        return el(
            "div",
            f"Written by {report.written_by} from the findings below, then checked. {words} "
            f"{BEYOND}",
            class_="note doubt" if number else "note",
        )

    def _short(self) -> Html | None:
        rows = [[el("h3", title), self._passage(passage)] for title, passage in self._report.short]
        return (
            el("section", el("h2", "On one page", self._badge()), rows, id="short")
            if rows
            else None
        )

    def _contents(self) -> Html:
        rows = [
            el("li", el("a", section.title, href=f"#s{number}"))
            for number, section in enumerate(self._report.sections)
        ]
        rows += [
            el("li", el("a", "Findings", href="#findings")),
            el("li", el("a", "How it was made", href="#made")),
        ]
        return el("nav", el("h2", "Contents"), el("ol", rows))

    def _section(self, number: int, section: Section) -> Html:
        dot = None
        if section.place is not None:
            dot = el("span", class_="dot", style=f"background:{colour(section.place)}")
        return el(
            "section",
            el("h2", dot, el("span", section.title), self._badge()),
            el("div", section.note, class_="note") if section.note else None,
            self._figures(section),
            [
                join(
                    el("h3", section.part_title(part.part)),
                    [self._passage(passage) for passage in part.passages],
                )
                for part in section.parts
            ],
            self._skills(section),
            self._cases(section),
            id=f"s{number}",
            class_="study" if section.place is None else "model",
        )

    def _figures(self, section: Section) -> Html | None:
        if section.bars:
            ranked = "Ranking: possible ranks, v" if any(b.note for b in section.bars) else "V"
            return el(
                "figure",
                el("figcaption", self._scale(f"{ranked}alue and 95 % interval")),
                ranking_svg(section.bars),
                _differ(section),
                [el("p", text, class_="note") for text in section.panel],
            )
        if section.axes:
            text = "Value and 95 % interval"
            text += "; tick: the mean of all models" if section.axes[0].mean is not None else ""
            return join(
                el(
                    "figure",
                    el("figcaption", self._scale(f"Profile. {text}")),
                    axes_svg(section.axes, section.place, f"Profile of {section.title}"),
                ),
                self._radar(section),
            )
        return self._radar(section)

    def _radar(self, section: Section) -> Html | None:
        drawn = section_radar(section)
        if drawn is None:
            return None
        grey = "; grey: mean of all models ± one standard deviation between them"
        words = f"Shape{grey if section.models > 1 else ''}"
        return el("figure", el("figcaption", self._scale(words)), drawn, class_="radar")

    def _skills(self, section: Section) -> Html | None:
        if not section.skills:
            return None
        return el(
            "figure",
            el("h3", "Lowest and highest"),
            el("figcaption", self._scale(LOW_NOTE)),
            axes_svg(section.skills, section.place, f"Lowest and highest of {section.title}"),
        )

    def _scale(self, text: str) -> str:
        unit = "0–100" if self._report.measure == "process" else "percent"
        return f"{text} ({unit})."

    # Text

    def _passage(self, passage: Passage) -> Html:
        return el("p", _marked(passage), self._refs(passage.findings))

    def _refs(self, findings: tuple[str, ...]) -> Html | None:
        pieces: list[Child] = []
        for name in findings:
            finding = self._by_id.get(name)
            if finding is None:
                continue
            tag = self._tags[name]
            pieces.append(el("a", f"[{tag}]", href=f"#{tag}"))
            pieces.append(self._behind(finding))
        return el("span", pieces, class_="refs") if pieces else None

    def _behind(self, finding: Finding) -> Html | None:
        if finding.behind is None:
            return None
        text = behind_words(finding)
        if not self._base:
            return el("span", text)
        return self._link(text, finding.door)

    def _link(self, text: str, door: str) -> Html:
        """Link into the app; from a preview it opens beside it."""
        return el("a", text, href=f"{self._base}/{door}", target="_blank", rel="noopener")

    # Cases

    def _cases(self, section: Section) -> Html | None:
        if not section.exhibits:
            return None
        return el(
            "div",
            el("h3", "Cases"),
            [self._case(exhibit) for exhibit in section.exhibits],
        )

    def _case(self, exhibit: Exhibit) -> Html:
        rows: list[tuple[str, Child]] = [("Question", exhibit.question)]
        if exhibit.choices:
            rows.append(("Choices", lettered(exhibit.choices)))
        if exhibit.reference is not None:
            rows.append(("Right answer", exhibit.reference))
        if exhibit.votes:
            rows.append(("Votes", exhibit.votes))
        if exhibit.answer:
            rows.append(("It answered", el("span", _quoted(exhibit), class_="words")))
        if exhibit.right is not None:
            rows.append(("Final answer", "right" if exhibit.right else "wrong"))
        if exhibit.criterion:
            rows.append(("Criterion", exhibit.criterion))
            if exhibit.truth:
                rows.append(("True is", exhibit.truth))
        if exhibit.score is not None:
            rows.append(("Score", exhibit.score_words))
        if exhibit.reason:
            rows.append(("Judge's reason", exhibit.reason))
        if exhibit.place:
            rows.append(("Capability", " › ".join(exhibit.place)))
        tag = self._tags.get(exhibit.finding_id)
        if tag:
            rows.append(("Shows", el("a", f"[{tag}]", href=f"#{tag}")))
        rows.append(("In the app", self._door(exhibit.door)))
        return el(
            "div",
            el("div", self._picture(exhibit)),
            el("dl", [(el("dt", name), el("dd", value)) for name, value in rows]),
            class_="case",
        )

    def _picture(self, exhibit: Exhibit) -> Html:
        if exhibit.picture_id is None:
            words = f"picture missing: {exhibit.picture_name}" if exhibit.picture_name else (
                "no picture"
            )  # fmt: skip
            return el("div", words, class_="gone")
        url = self._thumbnail(exhibit.picture_id)
        if url is None:
            return el("div", f"picture left out: {exhibit.picture_name}", class_="gone")
        return el("img", src=url, alt=exhibit.picture_name or "the sample's picture")

    def _door(self, door: str) -> Html:
        if self._base:
            return self._link("open", door)
        return el("code", door)

    # Appendix

    def _findings(self) -> Html:
        rows = [el("tr", self._finding_cells(f), id=self._tags[f.id]) for f in tabled(self._report)]
        head = [
            el("th", title)
            for title in ("", "What", "About", "Numbers", "Held against", "In the app")
        ]
        left_out = len(self._report.findings) - len(self._report.told)
        return el(
            "section",
            el("h2", "Findings", self._badge()),
            el(
                "p",
                f"All that is told above, as it was computed. {count(left_out, 'more finding')} "
                f"{'was' if left_out == 1 else 'were'} computed and left out; the JSON form of "
                "this report holds them all, with the reasons.",
                class_="quiet",
            ),
            el("table", el("thead", el("tr", head)), el("tbody", rows)),
            id="findings",
        )

    def _finding_cells(self, finding: Finding) -> Iterator[Html]:
        yield el("td", self._tags[finding.id], class_="tag")
        yield el("td", kind_words(finding))
        about = [", ".join(finding.models[:4]) + ("…" if len(finding.models) > 4 else "")]
        about += [" › ".join(finding.place)] if finding.place else []
        yield el("td", [el("div", text) for text in about if text])
        yield el("td", [el("div", number_words(finding, n)) for n in range(len(finding.numbers))])
        yield el("td", finding.frame)
        if not finding.door:
            yield el("td")
        elif self._base:
            text = behind_words(finding) or "open"
            yield el("td", self._link(text, finding.door))
        else:
            yield el("td", el("div", behind_words(finding)), el("code", finding.door))

    def _made(self) -> Html:
        rows = [(el("dt", s.name), el("dd", s.value)) for s in self._report.settings]
        writer = self._report.written_by or "rules: every sentence is composed from a finding"
        return el(
            "section",
            el("h2", "How it was made", self._badge()),
            el("dl", rows, el("dt", "Text by"), el("dd", writer), class_="made"),
            [el("p", text, class_="quiet small") for text in LABELS],
            id="made",
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
    """Draw how far a panel's judges differ on each model; nothing with one judge."""
    if all(bar.differ is None for bar in section.bars):
        return None
    head = el("tr", [el("th", text, scope="col")
                     for text in ("Model", "Judges differ", "Disagreement, points")])  # fmt: skip
    rows = [
        el("tr", el("td", bar.name), [el("td", text, class_="num") for text in differ_words(bar)])
        for bar in section.bars
    ]
    return el("table", el("thead", head), el("tbody", rows))


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
    text = f"{one.name.replace('_', ' ')} {one.text}"
    if one.unit not in ("%", one.name, f"{one.name}s", "rank"):
        text += f" {one.unit}"
    if one.n is not None:
        text += f", n {one.n:,} {one.n_unit}"
    if one.q is not None:
        text += f", adjusted {p_words(one.q).replace(' = ', ' ')}"
    elif one.p is not None:
        text += f", {p_words(one.p).replace(' = ', ' ')}"
    return text


def _marked(passage: Passage) -> Html:
    pieces: list[Child] = []
    at = 0
    for mark in passage.marks:
        pieces += [passage.text[at : mark.start], _mark(passage.text, mark)]
        at = mark.end
    return join(pieces, passage.text[at:])


def _mark(text: str, mark: Mark) -> Html:
    return el("mark", text[mark.start : mark.end], class_="unverified", title=UNVERIFIED[mark.kind])


def _quoted(exhibit: Exhibit) -> Html:
    if exhibit.quote is None:
        return join(exhibit.answer)
    start, end = exhibit.quote
    return join(exhibit.answer[:start], el("mark", exhibit.answer[start:end]), exhibit.answer[end:])
