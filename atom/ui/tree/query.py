"""What of the tree is looked at: the controls, addresses that keep them, what was searched."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from atom.analysis.capability.diagnosis import Label
from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import TREE
from atom.ui.shell import frame
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.overview.evidence import Evidence, evidence
from atom.views.tree.colours import Scheme
from atom.views.tree.extremes import LEAST_SAMPLES, extremes
from atom.views.tree.node_table import NodeTable, node_table, placed
from atom.views.tree.page import (
    COLOURINGS,
    Colouring,
    NodeHit,
    resolve,
    search,
)
from atom.views.tree.weak import gravest
from taxonomy import Tree, format_path

TABS = (
    ("map", "Map"),
    ("network", "Network"),
    ("criteria", "Criteria"),
    ("tasks", "Tasks"),
    ("grow", "Grow"),
    ("versions", "Versions"),
    ("validity", "Validity"),
)
COLOUR_WORDS: dict[Colouring, str] = {
    "score": "Score",
    "difference": "Difference to the others",
    "support": "Number of criteria",
    "evidence": "Evidence",
}
STATUS: dict[Label, kit.Status] = {
    "confirmed": "confirmed",
    "suspected": "suspected",
    "strength": "strength",
    "nothing found": "nothing",
    "insufficient": "insufficient",
}
STAGE_HEIGHT, LEAST_HEIGHT = 300, 400
"""How high the map is, in pixels, on a stop of the tour on a stage, and at least in a window."""
ABOVE, USUAL = 280, 920
"""Pixels over and under the map, and of a window that hasn't said how high it is."""
HIGH = "atomscope_high"
"""The cookie by which a window says it, when the app is opened (`first_paint.js`)."""
_SUPPORT = (0, 5, 10, 20, 50, 100)


_FRAME = """<style>
.st-key-tree_controls label p { font-size: 12.5px; }
.st-key-tree_controls [data-testid="stWidgetLabel"] { min-height: 0; margin-bottom: 1px; }
.st-key-tree_controls input, .st-key-tree_controls [data-baseweb="select"] { font-size: 13.5px; }
.st-key-tree_map .hoverlayer path { rx: 6px; }
.st-key-tree_map_box, .st-key-tree_map_box .st-key-tree_map, .st-key-tree_map > div,
.st-key-tree_map .stPlotlyChart {
  flex: none !important; height: max(LEASTpx, calc(var(--tall, 100vh) - ABOVEpx)) !important;
}
/* Plotly rounds parts of a pixel another way than Streamlit, and would draw all of it again. */
.st-key-tree_map_box { width: round(down, 100%, 1px) !important; }
.st-key-tree_network iframe {
  border: 0; height: calc(var(--tall, 100vh) - 236px); min-height: 420px;
}
</style>""".replace("LEAST", str(LEAST_HEIGHT)).replace("ABOVE", str(ABOVE))


@dataclass(frozen=True, kw_only=True)
class TreeQuery:
    """What the address asks this page for.

    Attributes:
        colouring: what colours stand for.
        depth: deepest layer drawn; None = all.
        support: fewest criteria of a node that is drawn.
        find: words to search for.
    """

    tab: str
    colouring: Colouring
    depth: int | None
    support: int
    find: str


def query_of(here: Here) -> TreeQuery:
    """Read the page's own keys; what can't be understood is dropped."""
    query = here.query
    depth, support = query.get("depth", ""), query.get("support", "")
    # With a model in the chain, the map opens on what is weak.
    colour = query.get("colour", "evidence" if here.filters.model else "score")
    return TreeQuery(
        tab=query.get("tab", "map") if query.get("tab") in dict(TABS) else "map",
        colouring=next((c for c in COLOURINGS if c == colour), "score"),
        depth=int(depth) if depth.isdecimal() and 0 < int(depth[:3]) < 100 else None,
        support=int(support[:6]) if support.isdecimal() else 0,
        find=query.get("find", ""),
    )


def scheme() -> Scheme:
    """Return the browser's colour scheme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def local(here: Here, **changes: str | None) -> dict[str, str]:
    """Return the page's own keys with some changed; None takes a key out."""
    keys = ("tab", "colour", "depth", "support", "find", "old", "new", "rows", "cols", "under")
    held = {key: value for key, value in here.query.items() if key in keys}
    return {key: value for key, value in {**held, **changes}.items() if value}


def to(here: Here, filters: Filters, **changes: str | None) -> str:
    """Write an address on this page."""
    return links.address(TREE.url_path, filters, **local(here, **changes))


def move(here: Here, filters: Filters, **changes: str | None) -> None:
    """Change the address; call it from a callback."""
    st.query_params.from_dict({**filters.to_query(), **local(here, **changes)})


@functools.cache
def style() -> Html:
    """Return this page's own CSS, for inside a piece of markup."""
    return el("style", Html(kit.ASSETS.joinpath("tree.css").read_text(encoding="utf-8")))


def whose(here: Here) -> str:
    """Say whose scores are shown."""
    model = here.data.model_index(here.filters.model)
    return "Mean of all models" if model is None else here.data.candidates[model].name


def says(here: Here, nodes: NodeTable) -> Html | None:
    """Say on which leaves most and least is lost; None where too little is scored to say it."""
    model = here.data.model_index(here.filters.model)
    found = extremes(nodes, model)
    if found is None:
        return None
    who = "The models" if model is None else here.data.candidates[model].name
    worst, best = (
        join(
            kit.door(nodes.paths[at][-1], to(here, here.filters.but(node=nodes.paths[at]))),
            f" ({numbers.score(value)})",
        )
        for at, value in (found.lowest, found.highest)
    )
    lose = "lose" if model is None else "loses"
    return el("p", f"{who} {lose} most on ", worst, " and least on ", best,
              kit.quiet(f": mean scores, 0–100, on leaves of {LEAST_SAMPLES} samples or more"),
              class_="strong")  # fmt: skip


# --- numbers, kept between runs ----------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=12)
def _table(key: tuple[object, ...], _here: Here, _tree: Tree) -> NodeTable:
    del key
    return node_table(_here.data, _tree, placed(_here.store, _here.data), _here.filters)


def key_of(here: Here) -> tuple[object, ...]:
    """Name the study as it is now."""
    return (here.store.url, here.data.study.id, here.data.revision, here.data.study.tree_version)


def table_of(here: Here, tree: Tree) -> NodeTable:
    """Return the tree in numbers; computed once a revision and filter."""
    return _table((*key_of(here), here.filters.narrowing), here, tree)


@st.cache_resource(show_spinner=False, max_entries=12)
def _evidence(key: tuple[object, ...], _here: Here, model: int) -> Evidence:
    del key
    return evidence(_here.data, _here.filters, model)


def evidence_of(here: Here, ask: TreeQuery) -> Evidence | None:
    """Return the chosen model's evidence where colours are to stand for it; else None."""
    model = here.data.model_index(here.filters.model)
    if ask.colouring != "evidence" or model is None:
        return None
    return _evidence((*key_of(here), here.filters.narrowing), here, model)


# --- the top -----------------------------------------------------------------------------------


def head(here: Here, chosen: str) -> Html:
    """Draw title, question and tabs."""
    doors = [(words, to(here, here.filters, tab=tab), tab == chosen) for tab, words in TABS]
    return el(
        "div",
        style(),
        frame.head(here.screen, here.entry),
        kit.tabs(doors, label="Views of the tree"),
        class_="tree-top",
    )


def controls(here: Here, ask: TreeQuery, nodes: NodeTable) -> None:
    """Draw the search box and what narrows and colours the tree."""
    deepest = max(len(path) for path in nodes.paths)
    st.html(_FRAME)
    with st.container(key="tree_controls"):
        find, model, colour, depth, support = st.columns([2.2, 1.6, 1.7, 1.1, 1.2])
    with find:
        _widget(here, "find", ask.find, lambda key, changed: st.text_input(
            "Find a capability", key=key, on_change=changed, placeholder="words of its name",
        ))  # fmt: skip
    with model:
        _model(here)
    with colour:
        words = dict(COLOUR_WORDS)
        if here.data.model_index(here.filters.model) is None:
            words.pop("difference")
        chosen = ask.colouring if ask.colouring in words else "score"
        _widget(here, "colour", chosen, lambda key, changed: st.selectbox(
            "Colour by", list(words), format_func=lambda c: words[c], key=key, on_change=changed,
        ))  # fmt: skip
    with depth:
        layers = ["", *(str(layer) for layer in range(1, deepest))]
        value = str(ask.depth) if str(ask.depth) in layers else ""
        _widget(here, "depth", value, lambda key, changed: st.selectbox(
            "Layers", layers, format_func=lambda layer: layer or "all", key=key,
            on_change=changed,
        ))  # fmt: skip
    with support:
        steps = sorted({*_SUPPORT, ask.support})
        _widget(here, "support", str(ask.support), lambda key, changed: st.selectbox(
            "Criteria, at least", [str(step) for step in steps], key=key, on_change=changed,
        ))  # fmt: skip


def _widget(
    here: Here, name: str, value: str, draw: Callable[[str, Callable[[], None]], object]
) -> None:
    """Draw a widget whose value lives in the address."""
    key = f"tree_{name}"
    st.session_state[key] = value

    def changed() -> None:
        text = str(st.session_state[key] or "")
        move(here, here.filters, **{name: "" if text == "0" else text})

    draw(key, changed)


def _model(here: Here) -> None:
    names = {"": "Mean of all", **{c.id: c.name for c in here.data.candidates}}
    st.session_state["tree_model"] = here.filters.model if here.filters.model in names else ""

    def changed() -> None:
        move(here, here.filters.but(model=st.session_state["tree_model"] or None))

    st.selectbox("Scores of", list(names), format_func=lambda key: names.get(key, key),
                 key="tree_model", on_change=changed)  # fmt: skip


def weak_doors(here: Here) -> Html | None:
    """Name the gravest confirmed weaknesses, each a door; nothing where a model is chosen."""
    if here.filters.model is not None:
        return None
    found = gravest(here.data, here.filters)
    if not found:
        return None
    doors = [
        el(
            "a",
            el("span", "▼ ", aria_hidden="true"),
            kit.model(one.model, one.index),
            f": {numbers.middle(one.path[-1], 34)}",
            href=to(here, one.filters, colour="evidence"),
            data_go=True,
            data_tip=f"{format_path(one.path)}\n{one.words}",
        )
        for one in found
    ]
    return el("div", style(), kit.small("Confirmed weaknesses:"), doors,
              class_="hits", data_testid="weak-doors")  # fmt: skip


def hits(here: Here, ask: TreeQuery, nodes: NodeTable) -> Html | None:
    """List the nodes that the words find."""
    if not ask.find.strip():
        return None
    found = search(nodes, ask.find)
    if not found:
        return el("p", f"No capability has the words {ask.find[:60]!r}.", class_="quiet small")
    chosen = resolve(nodes.tree, here.filters.node)
    return el("div", style(), [_hit(here, hit, chosen == hit.path) for hit in found], class_="hits")


def _hit(here: Here, hit: NodeHit, on: bool) -> Html:
    return el(
        "a",
        numbers.middle(hit.path[-1], 44),
        kit.quiet(f"  {hit.criteria}"),
        href=to(here, here.filters.but(node=hit.path, sample=None, criterion=None)),
        data_go=True,
        class_="on" if on else None,
        data_tip=format_path(hit.path),
    )
