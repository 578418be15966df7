from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from atom.display.markup import el
from atom.display.templates import template

EVIL = "<b>&\"'{{ 1 }}\u202e"


@pytest.fixture
def write(tmp_path):
    def written(source: str, **values: object) -> str:
        (tmp_path / "page.html").write_text(source, encoding="utf-8")
        return template(tmp_path, "page.html").render(**values)

    return written


def test_a_text_is_escaped_as_an_element_escapes_it(write):
    said = write('<p title="{{ text }}">{{ text }}</p>', text=EVIL)
    assert said == el("p", EVIL, title=EVIL)


def test_markup_passes_and_nothing_is_nothing(write):
    assert write("{{ made }}{{ nothing }}{{ n }}", made=el("i", "<"), nothing=None, n=3) == (
        "<i>&lt;</i>3"
    )


def test_a_macro_gives_markup(write):
    assert write("{% macro cell(x) %}<td>{{ x }}</td>{% endmacro %}{{ cell(text) }}", text="<") == (
        "<td>&lt;</td>"
    )


def test_breaks_and_indents_are_for_the_reader(write):
    assert write(
        "<ul>\n  {% for x in (1, 2) %}\n    <li>{{ x }}</li>\n  {% endfor %}\n</ul>\n"
    ) == ("<ul><li>1</li><li>2</li></ul>")


def test_what_a_template_does_not_know_is_an_error(write):
    with pytest.raises(UndefinedError):
        write("{{ nobody }}")
