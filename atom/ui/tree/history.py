"""Versions and validity of the tree, and changing it by hand."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from atom.display import numbers
from atom.errors import AtomError, ConflictError
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, RUNS
from atom.ui.plain import plain
from atom.ui.shell import sealed, team
from atom.ui.shell.frame import Here
from atom.ui.tree import query as tree_query
from atom.ui.tree.diff import diff_table
from atom.views.filters import Filters
from atom.views.tree.edit import (
    REDO,
    UNDO,
    Steps,
    after,
    choices,
    edit_tree,
    step_tree,
    use_older,
)
from atom.views.tree.files import Form, take_file, write_file
from atom.views.tree.node_table import NodeTable
from atom.views.tree.versions import LogLine, VersionRow, Versions, versions
from taxonomy.edits import Drop, Edit, Merge, Move, Rename
from taxonomy.log import describe

_SAID = "tree_said"
"""What the last change came to: (whether it worked, words)."""
_LOST = "tree_lost"
"""The change that came second: (study, the edit, what is said when it is made)."""
JUDGING = "tree_judging"
"""Trees that are being judged: of what -> the job."""
KEPT = 8
_FORMS: tuple[tuple[Form, str], ...] = (
    ("yaml", "Download YAML"),
    ("graphml", "GraphML"),
    ("evaltree", "EvalTree form"),
)


# --- by hand -----------------------------------------------------------------------------------


def said() -> Html | None:
    """Say what the last change came to, once."""
    found = st.session_state.pop(_SAID, None)
    if found is None:
        return None
    worked, words = found
    return kit.notice(words) if worked else kit.fault(words, title="The tree is as it was")


def attempt(change: Callable[[], str]) -> None:
    """Make a change; what it came to is said in the run that follows."""
    try:
        st.session_state[_SAID] = (True, change())
    except AtomError as error:
        st.session_state[_SAID] = (False, error.message)


def again(here: Here) -> None:
    """Offer a change again that came second to somebody else's, on the tree as it is now."""
    lost: tuple[str, Edit, str] | None = st.session_state.get(_LOST)
    if lost is None or lost[0] != here.data.study.id:
        return
    _, edit, words = lost

    def leave() -> None:
        st.session_state.pop(_LOST, None)

    def redo() -> None:
        leave()
        _edit(here, edit, words)

    with st.container(key="tree_lost", horizontal=True, vertical_alignment="center"):
        kit.show(el("span", "Your change: ", el("strong", describe(edit))), key="tree_lost_edit")
        team.button("edit", "Make it on the tree as it is now", key="tree_again", on_click=redo)
        st.button("Leave it", key="tree_leave", on_click=leave)


def log_of(lines: tuple[LogLine, ...]) -> Html | None:
    """List the edits that touched a node."""
    if not lines:
        return None
    return el(
        "section",
        el("h3", el("span", "Edits"), el("span", "version")),
        el(
            "ul",
            [
                el(
                    "li",
                    line.words,
                    kit.quiet(f" · {line.by}, {line.position}"),
                    el("div", numbers.regrouped(line.why), class_="quiet") if line.why else None,
                )
                for line in lines
            ],
            class_="log",
        ),
    )


def by_hand(here: Here, nodes: NodeTable, index: int, found: Steps) -> None:
    """Draw what can be changed by hand, with undo and redo; only the study's own tree can be."""
    if here.filters.tree not in (None, here.entry.study.tree_version):
        kit.show(
            el(
                "p",
                "You look at the study in another of its trees; its own is what can be changed. ",
                kit.door("Back to its own", tree_query.to(
                    here, here.filters.but(tree=None, node=(), root=None))),
                class_="quiet small",
            ),
            key="tree_elsewhere",
        )  # fmt: skip
        return
    if here.entry.bundled or here.store.read_only:
        copy_first(here)
        return
    with st.container(key="tree_hand", horizontal=True):
        possible = choices(nodes, index)
        if possible.rename:
            with st.popover("Change by hand"):
                _rename(here, nodes, index)
                _pick(here, nodes, index, "merge", possible.mates)
                _pick(here, nodes, index, "move", possible.parents)
                _drop(here, nodes, index)
        if found.undo is not None or found.redo is not None:
            step(here, UNDO, found.undo)
            step(here, REDO, found.redo)


def copy_first(here: Here) -> None:
    """Offer the reader a copy of a sealed study, and go there once it is made."""
    at = f"tree_copy_{here.entry.key}"

    def offer() -> None:
        sealed.button_of(
            here,
            "Copy this study to change its tree",
            at=at,
            key="tree_copy",
            help="This study is sealed. Your copy lies in your own store.",
        )

    state = sealed.made(here, at, offer)
    if state is None:
        return
    if state.result is None:
        st.session_state[_SAID] = (False, state.error)
    else:
        words = f"{state.result.name!r} is your own copy; change its tree as you like."
        st.session_state[_SAID] = (True, words)
        st.query_params.from_dict(here.filters.but(study=state.result.id).to_query())
    st.rerun()


def _edit(here: Here, edit: Edit, words: str) -> None:
    study = here.data.study

    def change() -> str:
        try:
            edit_tree(here.store, study.id, edit, seen=study.tree_version)
        except ConflictError:
            st.session_state[_LOST] = (study.id, edit, words)
            raise
        node = after(edit)
        tree_query.move(here, here.filters.but(node=node, sample=None, criterion=None))
        return words

    attempt(change)


def _rename(here: Here, nodes: NodeTable, index: int) -> None:
    path = nodes.paths[index]
    which = f"{here.data.study.tree_version}_{index}"
    field = f"tree_rename_{which}"

    def rename() -> None:
        name = " ".join(str(st.session_state[field]).split())
        _edit(here, Rename(path, name), f"Renamed {path[-1]!r} to {name!r}.")

    # In a form, as the name and its button must come in one run: a run between them would take
    # the tree that somebody else made meanwhile for the one that the name was typed to. A second
    # press, while the answer to the first is on its way, isn't one of the next name's button.
    with st.form("tree_rename_form", border=False):
        st.text_input("New name", value=path[-1], key=field, max_chars=80)
        key = f"tree_do_rename_{which}"
        team.button("edit", "Rename", st.form_submit_button, key=key, on_click=rename)


def _pick(here: Here, nodes: NodeTable, index: int, what: str, targets: tuple[int, ...]) -> None:
    """Merge into, or move under, one of several nodes."""
    if not targets:
        return
    path = nodes.paths[index]
    key = f"tree_{what}_{here.data.study.tree_version}_{index}"
    label = "Merge into" if what == "merge" else "Move under"
    chosen = st.selectbox(
        label,
        list(targets),
        index=None,
        format_func=lambda i: _own_name_first(nodes.paths[i]),
        key=key,
        placeholder="choose a node",
    )

    def change() -> None:
        if chosen is None:
            return
        target = nodes.paths[chosen]
        edit: Edit = Merge(path, target) if what == "merge" else Move(path, target)
        done = "Merged" if what == "merge" else "Moved"
        _edit(here, edit, f"{done} {path[-1]!r} {label.split()[1]} {target[-1]!r}.")

    team.button(
        "edit", label.split()[0], key=f"tree_do_{what}", on_click=change, disabled=chosen is None
    )


def _own_name_first(path: tuple[str, ...]) -> str:
    """Write a path from its end, which alone tells it from its neighbours, however it is cut."""
    return " ‹ ".join(reversed(path))


def _drop(here: Here, nodes: NodeTable, index: int) -> None:
    path, criteria = nodes.paths[index], int(nodes.criteria[index])

    def drop() -> None:
        _edit(here, Drop(path), f"Dropped {path[-1]!r}; {criteria} criteria to map again.")

    team.button("edit", f"Drop ({numbers.count(criteria, 'criterion', 'criteria')} to map again)",
              key="tree_do_drop", on_click=drop)  # fmt: skip


def step(here: Here, which: str, words: str | None) -> None:
    """Draw the button that undoes or redoes the last change of the tree."""

    def go() -> None:
        def change() -> str:
            step_tree(here.store, here.data.study.id, which)
            return f"{'Undone' if which == UNDO else 'Done again'}: {words}."

        attempt(change)

    team.button(
        "edit",
        plain(which.capitalize()),
        key=f"tree_{which}",
        on_click=go,
        disabled=words is None,
        help=plain(words or f"nothing to {which}"),
    )


# --- versions ----------------------------------------------------------------------------------


def draw_versions(here: Here, nodes: NodeTable | None) -> None:
    """Draw the history, the diff of two versions, and the files."""
    view = versions(here.store, here.data, here.query.get("old"), here.query.get("new"))
    kit.show(
        el(
            "div",
            tree_query.style(),
            _history(here, view),
            diff_table(here, view.diff) if view.diff else None,
            class_="stack",
        ),
        key="tree_versions",
    )
    _files(here, view, nodes)


def _history(here: Here, view: Versions) -> Html:
    n = len({row.version for row in view.rows})
    return kit.section(
        f"{numbers.count(n, 'tree')} in this study's history",
        kit.grid(
            view.rows,
            kit.number("Version", lambda row: row.position, width="60px"),
            kit.MarkupColumn("Tree", _named),
            kit.MarkupColumn("Where it came from", _origin),
            kit.number("Leaves", lambda row: row.leaves or numbers.NONE),
            kit.number("Layers", lambda row: row.depth or numbers.NONE),
            kit.number("Criteria", lambda row: f"{row.criteria:,}"),
            kit.number("Edits", lambda row: row.edits or kit.quiet("–")),
            kit.MarkupColumn("Compare", lambda row: _ends(here, view, row)),
            label="Versions of the tree",
            on=lambda row: row.current,
        ),
    )


def _named(row: VersionRow) -> Html:
    when = numbers.moment(row.created)
    now = kit.badge("IN USE") if row.current else None
    about = kit.under(f"{row.version}{' · ' + when if when else ''}")
    return el("span", kit.strong(row.name), " ", now, about)


def _origin(row: VersionRow) -> Html:
    note = el("div", numbers.regrouped(row.note), class_="quiet small path") if row.note else None
    return el("span", row.origin, note)


def _ends(here: Here, view: Versions, row: VersionRow) -> Html:
    """Offer a version as either end of the comparison."""
    chosen, ends = view.diff, []
    for which, words in (("old", "from"), ("new", "to")):
        on = chosen is not None and getattr(chosen, which) == row.position
        other = {"old": chosen.old, "new": chosen.new} if chosen else {}
        query = {key: str(value) for key, value in {**other, which: row.position}.items()}
        to = tree_query.to(here, here.filters, **query)
        ends.append(kit.door(words, to, aria_current="true" if on else None))
    return el("nav", ends, class_="tabs", aria_label=f"Compare version {row.position}")


def _files(here: Here, view: Versions, nodes: NodeTable | None) -> None:
    older = {row.version: row for row in reversed(view.rows) if not row.current and row.leaves}
    older.pop(here.data.study.tree_version or "", None)
    left, right = st.columns(2, gap="large")
    with left:
        kit.show(el("h2", "Take it with you"), key="tree_out")
        if nodes is not None:
            with st.container(horizontal=True):
                for form, words in _FORMS:
                    _save(here, nodes, form, words)
        if older and not here.store.read_only:
            _go_back(here, older)
    with right:
        kit.show(el("h2", "Bring a tree"), key="tree_in")
        if here.entry.bundled or here.store.read_only:
            copy_first(here)
        else:
            _upload(here)


def _save(here: Here, nodes: NodeTable, form: Form, words: str) -> None:
    """Offer the tree as a file; it is written when it is asked for."""

    def data() -> bytes:
        return write_file(form, here.store, here.data, nodes).data

    st.download_button(
        plain(words), data=data, file_name=write_name(form, nodes), key=f"tree_save_{form}"
    )


def write_name(form: Form, nodes: NodeTable) -> str:
    """Return the name of a file to download, without writing it."""
    end = {"yaml": "yaml", "graphml": "graphml", "evaltree": "capability_tree.json"}[form]
    kept = "".join(c if c.isalnum() else "-" for c in nodes.tree.name.casefold())
    return f"{'-'.join(part for part in kept.split('-') if part)[:60] or 'tree'}.{end}"


def _go_back(here: Here, older: dict[str, VersionRow]) -> None:
    chosen = st.selectbox(
        "Use another version of the history",
        list(older),
        index=None,
        format_func=lambda v: (
            f"{older[v].position} · {older[v].name} · "
            f"{numbers.count(older[v].leaves, 'leaf', 'leaves')}"
        ),
        key=f"tree_back_{here.data.study.tree_version}",
        placeholder="choose a version",
    )

    def back() -> None:
        def change() -> str:
            assert chosen is not None
            use_older(here.store, here.data.study.id, chosen)
            return f"Version {older[chosen].position:,} is the study's tree again."

        attempt(change)

    team.button("edit", "Use it", key="tree_do_back", on_click=back, disabled=chosen is None)


def _upload(here: Here) -> None:
    given = st.file_uploader(
        "YAML in our form, or EvalTree's capability_tree.json",
        type=["yaml", "yml", "json"],
        key=f"tree_upload_{here.data.study.tree_version}",
    )

    def take() -> None:
        assert given is not None

        def change() -> str:
            return take_file(here.store, here.data, given.getvalue(), given.name).words

        attempt(change)

    team.button(
        "edit", "Use this tree", key="tree_do_upload", on_click=take, disabled=given is None
    )


# --- nothing yet -------------------------------------------------------------------------------


def no_tree(here: Here) -> None:
    """Say what to do about a study without a tree."""
    has = here.data.has_process
    words = (
        "Its criteria are there; grow a tree from them"
        if has
        else "A tree groups criteria, which come from a judge. Judge the study first, then grow one"
    )
    kit.show(
        el(
            "div",
            tree_query.style(),
            kit.empty(
                "This study has no capability tree yet",
                f"{words}. Or bring one of your own below, and map the criteria to it.",
                *([kit.button("Grow a tree", tree_query.to(here, here.filters, tab="grow"),
                              primary=True)] if has else []),
                kit.button("Look at the answers", links.address(
                    FAILURES.url_path, Filters(study=here.entry.key, show="all")))
                if has
                else kit.button("Judge it on Runs", links.address(
                    RUNS.url_path, Filters(study=here.entry.key))),
            ),
        ),
        key="tree_none",
    )  # fmt: skip
    if here.entry.bundled or here.store.read_only:
        copy_first(here)
    else:
        _upload(here)
