"""Which tree the shapes are drawn in, another one beside it, and the layer that radars show."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from atom.display import numbers
from atom.ui.fingerprints import place, radars
from atom.ui.html import Html, el
from atom.ui.plain import plain
from atom.ui.shell import stores
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.fingerprints.beside import TreeShapes, beside_words, shapes_in
from atom.views.fingerprints.radar import layers
from atom.views.fingerprints.shape import Shape
from atom.views.tree.study_trees import StudyTree

_LAYERS = {1: "roots", 2: "categories", 3: "parents", 4: "capabilities"}
_AUTO, _NONE = "the usual one", "nothing"


def layer_of(here: Here, form: Shape) -> int | None:
    """Return the layer that radars are made of, as the address has it; None = the usual one."""
    asked = here.query.get("layer", "")
    return next((one for one in layers(form) if str(one) == asked), None)


def second(here: Here, form: Shape) -> StudyTree | None:
    """Return the tree that is to stand beside the first; None where none is asked for."""
    if form.facet is not None:
        return None
    asked = here.query.get("beside")
    return next(
        (one for one in _trees(here)
         if one.version == asked and asked != here.data.study.tree_version),
        None,
    )  # fmt: skip


def _trees(here: Here) -> tuple[StudyTree, ...]:
    return stores.trees_of(here.entry, here.data)


def menus(here: Here, form: Shape) -> None:
    """Draw the menus of trees and layers; each choice lives in the address."""
    if form.facet is not None or here.data.tree is None:
        return
    trees = {one.version: one for one in _trees(here)}
    with st.container(key="fingerprint_trees"):
        columns = st.columns(3)
        if len(trees) > 1:
            now = here.data.study.tree_version or ""
            other = second(here, form)

            def named(version: str) -> str:
                one = trees.get(version)
                return _NONE if one is None else _name(one)

            with columns[0]:
                _menu(
                    "tree",
                    "Tree",
                    list(trees),
                    now,
                    named,
                    lambda v: _use(here, trees[v]),
                    _whole(trees[now]) if now in trees else "",
                )
            with columns[1]:
                _menu(
                    "beside",
                    "Beside it",
                    ["", *(version for version in trees if version != now)],
                    "" if other is None else other.version,
                    named,
                    lambda v: place.move(here, beside=v or None),
                    "" if other is None else _whole(other),
                )
        there = [str(one) for one in layers(form)]
        with columns[2 if len(trees) > 1 else 0]:
            _menu(
                "layer",
                "Radars show the layer",
                ["", *there],
                str(layer_of(here, form) or ""),
                lambda n: f"{n}: {_LAYERS.get(int(n), 'deeper ones')}" if n else _AUTO,
                lambda n: place.move(here, layer=n or None),
            )


def _name(one: StudyTree) -> str:
    """Name a tree in a menu, which is narrow: by its place in the history first."""
    name = numbers.middle(one.name, 28)
    if one.position is None:
        return f"{name} ({one.origin})"
    return f"{one.position}{', in use' if one.own else ''}: {name}"


def _whole(one: StudyTree) -> str:
    """Name a tree in full, with where it comes from."""
    return f"{one.name} ({one.origin})"


def _use(here: Here, tree: StudyTree) -> None:
    """Look at the study under another tree, on every page; the two change places if need be."""
    filters = _under(here.filters, tree)
    beside = here.query.get("beside")
    if beside == tree.version:
        beside = here.data.study.tree_version
    st.query_params.from_dict({**filters.to_query(), **place.local(here, beside=beside)})


def _under(filters: Filters, tree: StudyTree) -> Filters:
    return filters.but(tree=None if tree.own else tree.version, node=(), root=None)


def _menu(
    name: str,
    label: str,
    options: list[str],
    chosen: str,
    words: Callable[[str], str],
    change: Callable[[str], None],
    tip: str = "",
) -> None:
    key = f"fingerprint_{name}"
    st.session_state[key] = chosen if chosen in options else options[0]
    st.selectbox(
        plain(label),
        options,
        format_func=words,
        key=key,
        help=plain(tip) or None,
        on_change=lambda: change(st.session_state[key]),
    )


def draw(here: Here, form: Shape, other: StudyTree) -> None:
    """Draw the models' shapes in two trees beside each other."""
    layer = layer_of(here, form)
    ids = [form.names[one].model_id for one in form.drawn()]
    who = here.filters.but(model=ids[0], peers=tuple(ids[1:]))
    own = next(one for one in _trees(here) if one.version == here.data.study.tree_version)
    data = stores.study_data(here.entry, here.filters.judge, other.version)
    pair = (
        shapes_in(here.data, who, own, layer),
        shapes_in(data, _under(who, other), other, layer),
    )
    place.show(
        el(
            "section",
            el("h2", "The same models in two trees"),
            el("p", beside_words(*pair), data_testid="beside"),
        ),
        key="fingerprint_two_trees",
    )
    for column, each in zip(st.columns(2, gap="large"), pair, strict=True):
        with column:
            place.show(_head(each), radars.radars(here, each.form, each.radars),
                       key=f"fingerprint_beside_{each.tree.version}")  # fmt: skip


def _head(view: TreeShapes) -> Html:
    hung = f"{view.placed:,} of {view.scored:,} checkpoints belong to it"
    return el(
        "div",
        el("h2", view.tree.name),
        el("p", f"{view.tree.origin} · {numbers.count(view.tree.leaves, 'leaf', 'leaves')} · "
           f"{hung}", class_="quiet small"),
    )  # fmt: skip
