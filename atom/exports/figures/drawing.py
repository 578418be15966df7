"""Figures as files: drawn here, without a browser, with title and caption in the picture.

Most are Altair charts, drawn by vl-convert, which holds its own engine and fonts; what is drawn
already is taken as it is. A PDF has its font embedded.
"""

from __future__ import annotations

import html
import re
import textwrap
from typing import Any, Literal, get_args

from atom.display.csv_text import csv_text
from atom.display.loading import whole_pandas
from atom.exports.figures.base import FONT, INK, LINE, QUIET, Figure

Format = Literal["svg", "png", "pdf", "csv", "txt"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""Pictures, the data as a table, and title with caption as text."""
PNG_SCALE = 3.0
"""Pixels a point of the drawing: 300 dots an inch at the width of a page."""
_EDGE, _TITLE, _SMALL = 16.0, 14.0, 10.5
_LETTER = 0.5
"""A letter's mean width, in sizes of its font."""
_SIZE = re.compile(r'<svg[^<>]*?\sviewBox="0 0 ([\d.]+) ([\d.]+)"')
_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no place for: control characters, halves of pairs."""
_CONFIG: dict[str, Any] = {
    # A mark's description would be an expression with titles in it, which a foreign one may break.
    "aria": False,
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 11.5, "titleFontWeight": "normal",
             "labelColor": INK, "titleColor": INK, "gridColor": LINE, "domainColor": "#9AA3AE",
             "tickColor": "#9AA3AE", "titlePadding": 8},
    "header": {"labelFontSize": 11, "labelColor": INK, "title": None},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "labelColor": INK, "titleColor": INK,
               "titleFontWeight": "normal"},
}  # fmt: skip


def render(figure: Figure, form: Format) -> bytes:
    """Return a figure as a file.

    Args:
        form: which kind of file.

    Returns:
        Its bytes; text is UTF-8.
    """
    if form == "csv":
        return csv_text(figure.columns, figure.rows).encode()
    if form == "txt":
        return f"{figure.title}\n\n{figure.caption}\n".encode()
    drawing = to_svg(figure)
    if form == "svg":
        return drawing.encode()
    import vl_convert

    made: bytes = (
        vl_convert.svg_to_pdf(drawing)
        if form == "pdf"
        else vl_convert.svg_to_png(drawing, scale=PNG_SCALE)
    )
    return made


def to_svg(figure: Figure) -> str:
    """Draw a figure with its title above and its caption below."""
    inner = _UNWRITABLE.sub("\ufffd", figure.drawn) or _vega(figure)
    size = _SIZE.search(inner)
    wide, high = (float(size[1]), float(size[2])) if size else (600.0, 400.0)
    total = max(wide, 420.0) + 2 * _EDGE
    title = _wrapped(figure.title, _TITLE, total)
    words = _wrapped(figure.caption, _SMALL, total)
    top = _EDGE + len(title) * (_TITLE + 4) + 6
    below = top + high + 8
    tall = below + len(words) * (_SMALL + 4) + _EDGE
    placed = re.sub(
        r"<svg[^>]*>",
        f'<svg x="{_EDGE}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'viewBox="0 0 {wide:g} {high:g}">',
        inner,
        count=1,
    )
    lines = [
        *_lines(title, _EDGE + _TITLE, _TITLE, INK, "bold"),
        *_lines(words, below + _SMALL, _SMALL, QUIET, "normal"),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{total:.0f}" height="{tall:.0f}" viewBox="0 0 {total:.0f} {tall:.0f}" '
        f'font-family="{FONT}" role="img">'
        f"<title>{_text(figure.title)}</title><desc>{_text(figure.caption)}</desc>"
        f'<rect width="100%" height="100%" fill="white"/>{placed}{"".join(lines)}</svg>'
    )


def _vega(figure: Figure) -> str:
    import vl_convert

    whole_pandas()
    spec = figure.chart.to_dict() if figure.chart is not None else {}
    # Altair's own look is left out: all figures have ours.
    own = {key: value for key, value in spec.get("config", {}).items() if key != "view"}
    drawn: str = vl_convert.vegalite_to_svg(_clean({**spec, "config": {**_CONFIG, **own}}))
    return drawn


def _wrapped(text: str, size: float, wide: float) -> list[str]:
    letters = int((wide - 2 * _EDGE) / (size * _LETTER))
    return textwrap.wrap(text, letters, break_long_words=True)


def _lines(lines: list[str], top: float, size: float, ink: str, weight: str) -> list[str]:
    return [
        f'<text x="{_EDGE}" y="{top + number * (size + 4):.1f}" font-size="{size}" '
        f'font-weight="{weight}" fill="{ink}">{_text(line)}</text>'
        for number, line in enumerate(lines)
    ]


def _text(text: str) -> str:
    return html.escape(_UNWRITABLE.sub("\ufffd", text))


def _clean(part: Any) -> Any:
    """Replace what XML can't hold in every text: one such sign would end the whole process."""
    if isinstance(part, str):
        return _UNWRITABLE.sub("\ufffd", part)
    if isinstance(part, dict):
        return {_clean(key): _clean(value) for key, value in part.items()}
    return [_clean(one) for one in part] if isinstance(part, list | tuple) else part
