"""Commands that a screen prints, so that they work as they stand when they are copied.

A command is about the store that the app looks at and, where the study is sealed, about the
reader's own copy of it: a sealed study can't be written, so the copy is made first.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from atom.engine.studies.new import find_copy, free_name
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.stores import OpenStore, StudyEntry

PROGRAM = ("python", "-m", "atom")
USUAL_STORE = "workspace"
"""Where commands look when neither `--store` nor `ATOM_STORE` is given."""
STORE_VARIABLE = '"$ATOM_STORE"'


def line(words: Sequence[str], store: str) -> str:
    """Write a command for a shell.

    Args:
        words: what follows `python -m atom`.
        store: the app's store. A database's URL may hold a password, so it is left to the
            variable that the app took it from.
    """
    written = shlex.join([*PROGRAM, *words])
    if store == USUAL_STORE:
        return written
    return f"{written} --store {shlex.quote(store) if '://' not in store else STORE_VARIABLE}"


def lines(command: str, entry: StudyEntry, store: str, own: OpenStore | None) -> tuple[str, ...]:
    """Write what has to be typed so that a command about a study works.

    Args:
        command: as it would be for a study in the usual store.
        store: the app's store.
        own: the reader's store, where there is one.

    Returns:
        The command; before it the one that makes a copy, where the study is sealed, the command
        names it and there is no copy yet.
    """
    words = shlex.split(command)[len(PROGRAM) :]
    if not entry.bundled or "--study" not in words[:-1]:
        return (line(words, store),)
    copy = None if own is None else find_copy(own, entry.study.id)
    name = copy.name if copy is not None else free_name(own)
    words[words.index("--study") + 1] = name
    first = () if copy is not None else (line(["study", "copy", entry.study.name, name], store),)
    return (*first, line(words, store))


def shown(here: Here, command: str) -> Html:
    """Show a command about the study, a line each, each with a button that copies it."""
    told = lines(command, here.entry, stores.settings().store, stores.user_store())
    return el(
        "div",
        [
            el("div", el("code", one, class_="small"), kit.copy_button("Copy", one), class_="row")
            for one in told
        ],
    )
