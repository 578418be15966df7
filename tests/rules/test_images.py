"""The pictures in docs show the menu as it is; `python benchmarks/images.py` makes them anew."""

from __future__ import annotations

import json
import re

from atom.ui.pages import SCREENS


def test_the_pictures_were_made_with_todays_menu(project):
    made = json.loads((project / "docs" / "images" / "menu.json").read_text(encoding="utf-8"))
    shown = {title: section for section, *titles in made for title in titles}
    assert shown == {screen.title: screen.section for screen in SCREENS}, (
        "make the pictures anew: python benchmarks/images.py"
    )


def test_every_picture_that_a_text_shows_is_there(project):
    texts = [project / "README.md", *(project / "docs").glob("*.md")]
    for text in texts:
        for name in re.findall(r"\]\(([^)]*images/[^)]+\.png)\)", text.read_text(encoding="utf-8")):
            assert (text.parent / name).is_file(), f"{text.name}: {name}"
