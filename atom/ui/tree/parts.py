"""What the Capability tree page is made of: controls, map, network, node card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from atom.analysis.capability.diagnosis import Label
from atom.display import numbers
from atom.ui import kit, links
from atom.ui.fingerprints.blind import NEEDS, signed
from atom.ui.html import Html, el, join
from atom.ui.judges import differing as judges_differing
from atom.ui.media import media_address
from atom.ui.pages import FAILURES, TREE
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.views.failures.marked import points_words
from atom.views.filters import Filters
from atom.views.fingerprints.blind import NodeNeed
from atom.views.lab.judge_marks import JudgeMark
from atom.views.overview.differing import Differing
from atom.views.overview.weaknesses import (
    Evidence,
    NodeEvidence,
    evidence,
    evidence_words,
    frame_words,
    more_words,
)
from atom.views.pictures import read_thumbnail
from atom.views.tree.chart import (
    READABLE,
    STAGE_READABLE,
    chosen_by_click,
    clicked,
    icicle,
    next_level,
    number,
)
from atom.views.tree.colours import Scheme, evidence_colour, stops
from atom.views.tree.extremes import LEAST_SAMPLES, extremes
from atom.views.tree.network import HEIGHT, network_html
from atom.views.tree.node_table import NodeTable, node_table, placed
from atom.views.tree.page import (
    COLOURINGS,
    Colouring,
    Hit,
    ModelScore,
    NodeCard,
    Shown,
    WorstCriterion,
    resolve,
    search,
    shown,
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
_STATUS: dict[Label, kit.Status] = {
    "confirmed": "confirmed",
    "suspected": "suspected",
    "strength": "strength",
    "nothing found": "nothing",
    "insufficient": "insufficient",
}
MAP_HEIGHT, STAGE_HEIGHT = 640, 300
"""About how high the map is, in pixels: in a window, and on a stop of the tour on a stage."""
_CLICKS = "tree_clicks"
_SUPPORT = (0, 5, 10, 20, 50, 100)
_FRAME = """<style>
.st-key-tree_controls label p { font-size: 12.5px; }
.st-key-tree_controls [data-testid="stWidgetLabel"] { min-height: 0; margin-bottom: 1px; }
.st-key-tree_controls input, .st-key-tree_controls [data-baseweb="select"] { font-size: 13.5px; }
.st-key-tree_map .hoverlayer path { rx: 6px; }
.st-key-tree_map_box, .st-key-tree_map_box .st-key-tree_map, .st-key-tree_map > div,
.st-key-tree_map .stPlotlyChart {
  flex: none !important; height: max(400px, calc(var(--tall, 100vh) - 280px)) !important;
}
.st-key-tree_network iframe {
  border: 0; height: calc(var(--tall, 100vh) - 236px); min-height: 420px;
}
</style>"""


@dataclass(frozen=True, kw_only=True)
class Wanted:
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


def wanted(here: Here) -> Wanted:
    """Read the page's own keys; what can't be understood is dropped."""
    query = here.query
    depth, support = query.get("depth", ""), query.get("support", "")
    # With a model in the chain, the map opens on what is weak.
    colour = query.get("colour", "evidence" if here.filters.model else "score")
    return Wanted(
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


def evidence_of(here: Here, ask: Wanted) -> Evidence | None:
    """Return the chosen model's evidence where colours are to stand for it; else None."""
    model = here.data.model_index(here.filters.model)
    if ask.colouring != "evidence" or model is None:
        return None
    return _evidence((*key_of(here), here.filters.narrowing), here, model)


@st.cache_data(show_spinner=False, max_entries=8)
def _network(key: tuple[object, ...], _nodes: NodeTable, _view: Shown, whose_: str) -> str:
    return network_html(_nodes, _view, "dark" if key[-1] == "dark" else "light", whose=whose_)


# --- the top -----------------------------------------------------------------------------------


def head(here: Here, chosen: str) -> Html:
    """Draw title, question and tabs."""
    badges = [kit.synthetic_badge()] if here.entry.study.synthetic else []
    doors = [(words, to(here, here.filters, tab=tab), tab == chosen) for tab, words in TABS]
    return el(
        "div",
        style(),
        kit.page_header(TREE.title, TREE.question, *badges),
        kit.tabs(doors, label="Views of the tree"),
        class_="tree-top",
    )


def controls(here: Here, ask: Wanted, nodes: NodeTable) -> None:
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


def hits(here: Here, ask: Wanted, nodes: NodeTable) -> Html | None:
    """List the nodes that the words find."""
    if not ask.find.strip():
        return None
    found = search(nodes, ask.find)
    if not found:
        return el("p", f"No capability has the words {ask.find[:60]!r}.", class_="quiet small")
    chosen = resolve(nodes.tree, here.filters.node)
    return el("div", style(), [_hit(here, hit, chosen == hit.path) for hit in found], class_="hits")


def _hit(here: Here, hit: Hit, on: bool) -> Html:
    return el(
        "a",
        numbers.middle(hit.path[-1], 44),
        kit.quiet(f"  {hit.criteria}"),
        href=to(here, here.filters.but(node=hit.path, sample=None, criterion=None)),
        data_go=True,
        class_="on" if on else None,
        data_tip=format_path(hit.path),
    )


def legend(here: Here, ask: Wanted, view: Shown, held: Evidence | None) -> Html:
    """Explain the colours."""
    if held is not None:
        parts = _evidence_legend(here, view, held)
    else:
        parts = _scale(here, view)
        if ask.colouring == "evidence":
            parts.insert(0, el("span", "Evidence is about one model: choose one under “Scores of”. "
                               "Until then, colours are scores.", class_="small"))  # fmt: skip
    if view.hidden:
        parts.append(
            kit.small(
                f"{numbers.count(view.hidden, 'capability', 'capabilities')} hidden by the filter"
            )
        )
    return el("div", style(), parts, class_="row")


def _evidence_legend(here: Here, view: Shown, held: Evidence) -> list[Html]:
    """Name every label with glyph and word, how many nodes have it, and what they rest on."""
    said = [view.said(int(index)) for index in view.nodes]
    count = Counter(one.label for one in said if one is not None)
    keys = [
        el(
            "span",
            el("i", style=f"background:{evidence_colour(label, scheme())}", aria_hidden="true"),
            kit.status(status),
            el("span", count[label], class_="quiet num"),
            class_="key",
        )
        for label, status in _STATUS.items()
    ]
    note = (
        f"{whose(here)}: {frame_words(held)}; effects in points of 100, held against "
        f"{held.margin:g}; false discovery rate {numbers.share(held.q)}; nodes of all layers "
        "counted"
    )
    if here.filters.active:
        note += "; it holds for what the filters keep"
    return [el("span", keys, class_="keys small"), el("span", note, class_="quiet small aside")]


def _scale(here: Here, view: Shown) -> list[Html]:
    ramp = ", ".join(stops(scheme(), difference=view.colouring == "difference"))
    lo, hi = (number(end, view.colouring) for end in view.span)
    words = {
        "score": f"{whose(here)}, mean score of 0–100",
        "difference": f"{whose(here)} minus the mean of the others, points of 100",
        "support": "criteria",
        "evidence": "",
    }[view.colouring]
    return [
        el("span", lo, el("i", style=f"background:linear-gradient(90deg, {ramp})"), hi,
           class_="scale"),
        kit.small(words),
    ]  # fmt: skip


# --- map and network ---------------------------------------------------------------------------


def view_of(here: Here, ask: Wanted, nodes: NodeTable, held: Evidence | None) -> Shown:
    """Choose what is drawn."""
    return shown(
        nodes,
        model=here.data.model_index(here.filters.model),
        colouring=ask.colouring,
        min_criteria=ask.support,
        max_depth=ask.depth,
        evidence=held,
    )


def draw_map(here: Here, nodes: NodeTable, view: Shown) -> None:
    """Draw the icicle; a click opens the node's card."""
    key = "tree_map"
    before = here.query.get("under", "")
    was = int(before) if before.isdecimal() and int(before[:8]) < len(nodes.paths) else 0
    chosen = nodes.paths.index(resolve(nodes.tree, here.filters.node))
    level = next_level(nodes, was, chosen)
    staged = "tour" in here.query

    clicks = int(st.session_state.get(_CLICKS, 0))

    def clicked_on() -> None:
        st.session_state[_CLICKS] = clicks + 1
        points = st.session_state[key]["selection"]["points"]
        click = clicked(str(points[0].get("id", "")), nodes) if points else None
        if click is not None:
            path = nodes.paths[chosen_by_click(nodes, level, click)]
            # What is drawn first stays in the address, so that Back and links find it again.
            under = str(level) if level else None
            move(here, here.filters.but(node=path, sample=None, criterion=None), under=under)

    with st.container(key="tree_map_box"):
        st.plotly_chart(
            icicle(
                nodes,
                view,
                scheme(),
                whose=whose(here),
                height=STAGE_HEIGHT if staged else MAP_HEIGHT,
                readable=STAGE_READABLE if staged else READABLE,
                level=level,
                chosen=chosen,
                clicks=clicks,
            ),
            key=key,
            height="stretch",
            on_select=clicked_on,
            selection_mode="points",
            theme=None,
            config={"displayModeBar": False},
        )


def draw_network(here: Here, ask: Wanted, nodes: NodeTable, view: Shown) -> None:
    """Draw the network in a frame of its own, which asks nothing of any server."""
    narrow = here.filters.narrowing
    key = (*key_of(here), narrow, here.filters.model, ask.colouring, ask.depth, ask.support,
           scheme())  # fmt: skip
    with st.container(key="tree_network"):
        st.iframe(_alone(_network(key, nodes, view, whose(here))), height=HEIGHT)


def _alone(page: str) -> str:
    """Put a page into a frame that may run its own script and reach nothing else.

    Streamlit's frame shares the app's origin: its script could read and press everything. The
    frame inside has no origin, no windows, no forms.
    """
    style = "<style>html, body { margin: 0; height: 100%; overflow: hidden }</style>"
    inside = el(
        "iframe",
        title="The tree as a network",
        sandbox="allow-scripts",
        srcdoc=page,
        style="border:0;width:100%;height:100%;display:block",
    )
    return f"<!doctype html>{style}{inside}"


# --- the card ----------------------------------------------------------------------------------


def card(
    here: Here,
    nodes: NodeTable,
    node: NodeCard,
    log: Html | None = None,
    said: NodeEvidence | None = None,
    judge: JudgeMark | None = None,
    need: NodeNeed | None = None,
    differ: Differing | None = None,
) -> Html:
    """Draw a node: what it means, who is good at it, what goes wrong there, a judge's flaw."""
    support = [
        numbers.count(node.criteria, "criterion", "criteria"),
        numbers.count(node.samples, "sample"),
    ]
    if node.kind != "capability":
        support.append(numbers.count(node.leaves, "capability", "capabilities"))
    return el(
        "div",
        style(),
        el(
            "div",
            _crumbs(here, node),
            el("div", node.name, class_="name"),
            kit.under(" · ".join(support)),
            kit.status("insufficient", "insufficient: under 5 samples") if node.thin else None,
            el("div", judge.text, class_="status weak", data_tip=judge.tip) if judge else None,
            el("p", node.meaning, class_="meaning", style="margin-top:6px")
            if node.meaning
            else None,
            _said(here, said) if said is not None else None,
            _needs(need) if need is not None else None,
            judges_differing.line(differ),
        ),
        _strip(here, node),
        _worst(here, node),
        _below(here, nodes, node),
        log,
        class_="card",
    )


def _needs(need: NodeNeed) -> Html:
    """Say how much the picture helps here, where a blind control asked."""
    return el(
        "div",
        f"The picture: {NEEDS[need.need]}. Gain {signed(need.gain)} points over answers "
        f"without it, n {numbers.count(need.gain.samples, 'question')}",
        class_="quiet small",
        data_testid="node-need",
    )


def _said(here: Here, said: NodeEvidence) -> Html:
    """Say what the diagnosis says of the chosen model here."""
    n = f"n {numbers.count(said.samples, 'sample')}, {numbers.count(said.n, 'checkpoint')}"
    lines = (evidence_words(said), f"{frame_words(said)}; {n}", more_words(said))
    return el(
        "div",
        el("div", whose(here), ": ", kit.status(_STATUS[said.label])),
        [kit.under(line) for line in lines if line],
        class_="found",
    )


def _crumbs(here: Here, node: NodeCard) -> Html:
    if not node.path:
        return el("div", "The whole tree; choose a node in the map", class_="crumbs")
    above = node.path[:-1]
    doors: list[Html | str] = [kit.door("Tree", to(here, here.filters.but(node=())))]
    for depth in range(1, len(above) + 1):
        doors += [" › ", kit.door(above[depth - 1], to(here, here.filters.but(node=above[:depth])))]
    return el("div", doors, f" · {node.kind}", class_="crumbs")


def _strip(here: Here, node: NodeCard) -> Html | None:
    if not any(score.estimate.known for score in node.scores):
        return el("p", "No score here yet.", class_="quiet small")
    return el(
        "section",
        el(
            "h3",
            el("span", kit.term("Node score", "Mean score"), ", 95 % interval"),
            el("span", "0–100, ", people_scale.word(here)),
        ),
        el(
            "div",
            [_model_row(here, score) for score in node.scores],
            el("span", [el("span", end) for end in ("0", "50", "100")], class_="axis quiet small"),
            class_="strip",
        ),
    )


def _model_row(here: Here, score: ModelScore) -> Html:
    estimate = score.estimate
    tip = (
        f"{numbers.interval(estimate)}\n{estimate.n:,} checkpoints from "
        f"{estimate.samples:,} samples"
        if estimate.known
        else "no score here"
    )
    return el(
        "a",
        kit.model(numbers.middle(score.name, 16), score.colour, full=score.name),
        kit.interval_bar(estimate, score.colour),
        el("span", numbers.score(estimate.value), class_="num"),
        href=links.address(FAILURES.url_path, score.filters),
        data_go=True,
        class_="on" if score.model_id == here.filters.model else None,
        data_tip=tip,
    )


def _worst(here: Here, node: NodeCard) -> Html | None:
    if not node.worst:
        return None
    model = here.data.model_index(here.filters.model)
    who = "all models" if model is None else here.data.candidates[model].name
    return el(
        "section",
        el("h3", el("span", f"Criteria that lose most, {who}"),
           el("span", "mean of 1–5" if here.data.table.ours else "mean of 0–100")),
        el("div", [_criterion(here, item, at) for at, item in enumerate(node.worst)],
           class_="worst"),
    )  # fmt: skip


def _criterion(here: Here, item: WorstCriterion, at: int) -> Html:
    address = None
    if item.picture_id is not None:
        address = media_address(read_thumbnail(here.store, item.picture_id), f"tree.worst.{at}")
    if address is not None:
        thumb = el("img", src=address, alt="", loading="lazy")
    else:
        words = "no picture" if item.picture_id or item.picture_name else "text only"
        thumb = el("span", words, class_="nothumb")
    near = min(max(round(item.score), 1), 5)
    return el(
        "a",
        thumb,
        el("span", item.question, class_="q"),
        kit.score_chip(near, text=points_words(item.score, ours=here.data.table.ours)),
        href=links.address(FAILURES.url_path, item.filters),
        data_go=True,
        data_tip=f"{item.question[:300]}\nTruth: {item.truth[:200]}\n"
        f"{format_path(item.leaf)}\nmean of {numbers.count(item.n, 'answer')}",
    )


def _below(here: Here, nodes: NodeTable, node: NodeCard) -> Html | None:
    if not node.children or not node.path:
        return None
    return el(
        "section",
        el("h3", el("span", f"Below {numbers.middle(node.name, 26)}"), el("span", "criteria")),
        el(
            "div",
            [
                el(
                    "a",
                    el("span", nodes.paths[child][-1], class_="cut"),
                    kit.quiet(int(nodes.criteria[child])),
                    href=to(here, here.filters.but(node=nodes.paths[child])),
                    data_go=True,
                )
                for child in node.children[:12]
            ],
            class_="below",
        ),
    )


def unplaced(nodes: NodeTable) -> Html | None:
    """Say how many criteria hang nowhere."""
    if not nodes.unplaced:
        return None
    words = numbers.count(nodes.unplaced, "criterion belongs", "criteria belong")
    return kit.notice(join(f"{words} to no capability of this tree yet: map with ",
                           el("code", "atom run start --stages mapping"), "."))  # fmt: skip
