"""Help: every word of a screen is in the glossary, every part of the guide is there."""

from __future__ import annotations

import pytest

from atom.ui.pages import SCREENS
from atom.ui.shell.glossary import meaning
from atom.ui.shell.help_box import guide_part


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.title)
def test_the_words_and_the_guide_of_a_screen_are_there(screen):
    assert [word for word in screen.terms if meaning(word) is None] == []
    assert len(screen.terms) >= 5
    text = guide_part(*screen.guide)
    assert len(text) > 200, text


def test_a_section_ends_where_the_next_of_its_rank_begins():
    text = guide_part("guide.md", "Go down to the picture")
    assert text.startswith("## 3. Go down to the picture")
    assert "### Compare two" in text
    assert "Watch the judge" not in text
    assert guide_part("guide.md", "Compare two").startswith("### Compare two")


def test_what_is_gone_is_said():
    assert "no part 'Nowhere'" in guide_part("guide.md", "Nowhere")
    assert "isn't in this installation" in guide_part("none.md", "")


def test_links_to_files_that_are_not_served_are_words():
    text = guide_part("guide.md", "")
    assert "](providers.md)" not in text
    assert "providers.md" in text
    assert "](https://" in text
