"""Capability tree: what is being tested, and who fails where?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atom.ui import kit, work
from atom.ui.html import join
from atom.ui.lab import flaws as judge_flaws
from atom.ui.pages import TREE
from atom.ui.shell import frame, stores
from atom.ui.tree import card as tree_card
from atom.ui.tree import criteria as tree_criteria
from atom.ui.tree import drawing, validity
from atom.ui.tree import grow as tree_grow
from atom.ui.tree import history as tree_history
from atom.ui.tree import query as tree_query
from atom.ui.tree import tasks as tree_tasks
from atom.views.fingerprints.blind import blind_view, needs_by_node
from atom.views.overview.differing import judges_differ
from atom.views.tree.edit import steps
from atom.views.tree.node_table import NodeTable
from atom.views.tree.page import node_card
from atom.views.tree.versions import history, node_log


def draw(here: frame.Here, ask: tree_query.TreeQuery, nodes: NodeTable) -> None:
    """Draw the map with the chosen node's card beside it, or the network."""
    says = tree_query.says(here, nodes)
    if says is not None:
        kit.show(says, key="tree_says")
    tree_query.controls(here, ask, nodes)
    found = tree_query.hits(here, ask, nodes)
    if found is not None:
        kit.show(found, key="tree_hits")
    else:
        weak = tree_query.weak_doors(here)
        if weak is not None:
            kit.show(weak, key="tree_weak")
    held = tree_query.evidence_of(here, ask)
    view = drawing.view_of(here, ask, nodes, held)
    legend = join(drawing.legend(here, ask, view, held))
    if ask.tab == "network":
        kit.show(legend, key="tree_legend")
        drawing.draw_network(here, ask, nodes, view)
        return
    left, right = st.columns([2, 1], gap="medium")
    with left:
        kit.show(legend, key="tree_legend")
        drawing.draw_map(here, ask, nodes, view)
    with right:
        node = node_card(here.store, here.data, nodes, here.filters)
        log = tree_history.log_of(node_log(here.store, here.data, node.path))
        flaw = judge_flaws.mark_at(here, node.path)
        control = blind_view(here.store, here.data, here.filters, ranks=False)
        need = needs_by_node(control).get(node.path)
        differ = judges_differ(here.data, here.filters.but(node=node.path))
        card = tree_card.card(here, nodes, node, log, view.said(node.index), flaw, need, differ)
        kit.show(card, key="tree_card")
        past = steps(history(here.store, here.data))
        tree_history.by_hand(here, nodes, node.index, past)


def body(here: frame.Here) -> None:
    """Draw the chosen tab."""
    ask = tree_query.query_of(here)
    kit.show(tree_query.head(here, ask.tab), key="tree_head")
    # Its room is always there: when the words go, an open menu below keeps its place and stays.
    with st.container(key="tree_said"):
        said = tree_history.said()
        if said is not None:
            kit.show(said, key="tree_said_now")
        tree_history.again(here)
    if ask.tab in ("grow", "versions"):
        # What is grown, taken back or brought is the study's own tree.
        own = here.filters.but(tree=None)
        here = replace(here, filters=own, data=stores.study_data(here.entry, own.judge))
    if ask.tab == "grow":
        tree_grow.draw(here)
        return
    if ask.tab in ("criteria", "tasks"):
        (tree_criteria if ask.tab == "criteria" else tree_tasks).draw(here)
        return
    tree = here.data.tree
    if tree is None:
        tree_history.no_tree(here)
        return
    nodes = tree_query.table_of(here, tree)
    missing = tree_card.unplaced(nodes)
    if missing is not None:
        kit.show(missing, key="tree_unplaced")
    if ask.tab == "versions":
        tree_history.draw_versions(here, nodes)
    elif ask.tab == "validity":
        validity.draw_validity(here)
    else:
        draw(here, ask, nodes)


here = frame.here(TREE)
if here is not None:
    body(here)
work.draw_question()
