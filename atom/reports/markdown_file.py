"""A report as Markdown: text alone, every text of others escaped, no picture and no link in it."""

from __future__ import annotations

from collections.abc import Iterator

from atom.display.markdown import START, escaped
from atom.display.numbers import count
from atom.reports.figures import differ_words
from atom.reports.html_file import (
    BEYOND,
    LABELS,
    behind_words,
    check_base,
    kind_words,
    number_words,
    selection_line,
    tabled,
)
from atom.reports.printed import lettered, with_interval
from atom.reports.records import Exhibit, Finding, Passage, Report, Section


def to_markdown(report: Report, *, base: str = "") -> str:
    """Write a report as Markdown.

    Args:
        base: the app's address, for links to the samples behind a number; without one their
            addresses are shown as code.

    Returns:
        The file's text; equal input gives equal text.

    Raises:
        UsageError: the base isn't an http address.
    """
    return "\n".join(_lines(report, check_base(base))) + "\n"


def _lines(report: Report, base: str) -> Iterator[str]:
    tags = report.tags
    by_id = {f.id: f for f in report.told}
    badge = " (SYNTHETIC)" if report.synthetic else ""
    yield f"# {escaped(report.title)}{badge}"
    if report.selection:
        yield ""
        yield f"**{escaped(selection_line(report))}**"
    yield ""
    yield escaped(report.lead)
    if report.written_by:
        yield ""
        doubts = count(report.unverified, "number or name", "numbers or names")
        yield (
            f"Written by {escaped(report.written_by)} from the findings below, then checked: "
            f"{doubts} unverified (marked *\\[unverified\\]*). {BEYOND}"
        )
    if report.short:
        yield from ("", "## On one page", "")
    for title, passage in report.short:
        yield f"**{escaped(title)}.** {_marked(passage)}{_refs(passage, tags, by_id, base)}"
        yield ""
    for section in report.sections:
        yield from _section(section, tags, by_id, base)
    yield from _findings(report, tags, base, badge)
    yield from ("", f"## How it was made{badge}", "")
    for setting in report.settings:
        yield f"- {escaped(setting.name)}: {escaped(setting.value)}"
    yield f"- Text by: {escaped(report.written_by or 'rules')}"
    yield ""
    yield from (f"{text}\n" for text in LABELS)


def _section(
    section: Section, tags: dict[str, str], by_id: dict[str, Finding], base: str
) -> Iterator[str]:
    yield from ("", f"## {escaped(section.title)}")
    if section.note:
        yield from ("", f"> {escaped(section.note)}")
    if section.bars:
        rank = "rank" if any(bar.note for bar in section.bars) else ""
        several = any(bar.differ is not None for bar in section.bars)
        more, line = (" judges differ | disagreement |", "---:|---:|") if several else ("", "")
        yield from ("", f"| {rank} | model | value (95 % interval) | n |{more}",
                    f"|---|---|---|---:|{line}")  # fmt: skip
        for bar in section.bars:
            value = with_interval(bar.value, bar.lo, bar.hi)
            apart = differ_words(bar)
            told = f" {apart[0]} | {apart[1]} |" if several else ""
            yield f"| {bar.note or '–'} | {escaped(bar.name)} | {value} | {bar.n:,} |{told}"
    yield from (line for text in section.panel for line in ("", escaped(text)))
    for part in section.parts:
        yield from ("", f"### {section.part_title(part.part)}", "")
        for passage in part.passages:
            yield f"{_marked(passage)}{_refs(passage, tags, by_id, base)}"
            yield ""
    if section.exhibits:
        yield from ("", "### Cases")
    for number, exhibit in enumerate(section.exhibits, start=1):
        yield from _case(number, exhibit, tags, base)


def _marked(passage: Passage) -> str:
    pieces = []
    at = 0
    for mark in passage.marks:
        pieces.append(_inner(passage.text[at : mark.start]))
        pieces.append(f"{_inner(passage.text[mark.start : mark.end])} *\\[unverified\\]*")
        at = mark.end
    text = "".join([*pieces, _inner(passage.text[at:])]).strip()
    return START.sub(lambda match: f"{match[1]}\\{match[2]}", text)


def _inner(text: str) -> str:
    """Escape a piece of a line, keeping the spaces at its ends."""
    head = " " if text[:1].isspace() else ""
    tail = " " if text.strip() and text[-1:].isspace() else ""
    return f"{head}{escaped(text)}{tail}"


def _refs(passage: Passage, tags: dict[str, str], by_id: dict[str, Finding], base: str) -> str:
    pieces = []
    for name in passage.findings:
        finding = by_id.get(name)
        if finding is None:
            continue
        words = escaped(behind_words(finding))
        if base and words:
            words = f"[{words}]({base}/{finding.door})"
        pieces.append(f"{tags[name]}{': ' if words else ''}{words}")
    return f" ({'; '.join(pieces)})" if pieces else ""


def _case(number: int, exhibit: Exhibit, tags: dict[str, str], base: str) -> Iterator[str]:
    tag = tags.get(exhibit.finding_id)
    yield from ("", f"{number}. **{escaped(exhibit.question)}**{f' ({tag})' if tag else ''}")
    rows = [
        ("picture", exhibit.picture_name),
        ("choices", lettered(exhibit.choices)),
        ("right answer", exhibit.reference or ""),
        ("votes", exhibit.votes),
        ("it answered", exhibit.answer),
        ("final answer", {True: "right", False: "wrong", None: ""}[exhibit.right]),
        ("criterion", exhibit.criterion),
        ("true is", exhibit.truth),
        ("score", exhibit.score_words),
        ("judge's reason", exhibit.reason),
        ("capability", " › ".join(exhibit.place)),
    ]
    for name, value in rows:
        if value:
            yield f"   - {name}: {escaped(value)}"
    door = f"[open]({base}/{exhibit.door})" if base else f"`{exhibit.door}`"
    yield f"   - in the app: {door}"


def _findings(report: Report, tags: dict[str, str], base: str, badge: str) -> Iterator[str]:
    yield from ("", f"## Findings{badge}", "")
    yield from (
        "| | what | about | numbers | held against | in the app |",
        "|---|---|---|---|---|---|",
    )
    for finding in tabled(report):
        about = "; ".join(
            part for part in (", ".join(finding.models), " › ".join(finding.place)) if part
        )
        numbers = "; ".join(number_words(finding, n) for n in range(len(finding.numbers)))
        words = escaped(behind_words(finding))
        if not finding.door:
            where = ""
        elif base:
            where = f"[{words or 'open'}]({base}/{finding.door})"
        else:
            where = f"{words} `{finding.door}`".strip()
        cells = (tags[finding.id], kind_words(finding), about, numbers, finding.frame)
        yield f"| {' | '.join(escaped(cell) for cell in cells)} | {where} |"
