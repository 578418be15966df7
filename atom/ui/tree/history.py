"""Versions and validity of the tree, and changing it by hand."""

from __future__ import annotations

import asyncio
import math
import shlex
from collections.abc import Callable
from typing import Any

import streamlit as st

from atom.display import numbers
from atom.engine.jobs import Job, JobState
from atom.errors import AtomError, ConflictError
from atom.ui import commands, kit, links, work
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES, HUMAN_CHECK, RUNS
from atom.ui.plain import plain
from atom.ui.shell import sealed, team
from atom.ui.shell.frame import Here
from atom.ui.tree import parts as tree_parts
from atom.ui.tree import rivals as tree_rivals
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
from atom.views.tree.page import NodeTable
from atom.views.tree.validity import ByHand, RivalRow, Stability, Validity, tree_validity
from atom.views.tree.versions import Diff, DiffRow, LogLine, VersionRow, Versions, versions
from taxonomy import format_path
from taxonomy.edits import Drop, Edit, Merge, Move, Rename
from taxonomy.log import describe

_SAID = "tree_said"
"""What the last change came to: (whether it worked, words)."""
_LOST = "tree_lost"
"""The change that came second: (study, the edit, what is said when it is made)."""
_JUDGING = "tree_judging"
"""Trees that are being judged: of what -> the job."""
_KEPT = 8
_FORMS: tuple[tuple[Form, str], ...] = (
    ("yaml", "Download YAML"),
    ("graphml", "GraphML"),
    ("evaltree", "EvalTree form"),
)
_KINDS = {
    "added": "added",
    "merged": "merged into",
    "moved": "moved to",
    "renamed": "renamed to",
    "dropped": "dropped",
}


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
                    el("span", f" · {line.by}, {line.position}", class_="quiet"),
                    el("div", line.why, class_="quiet") if line.why else None,
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
                kit.door("Back to its own", tree_parts.to(
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

    def copy() -> None:
        st.session_state[at] = work.start("copy", sealed.copying(here))

    if at not in st.session_state:
        team.button("edit", "Copy this study to change its tree", key="tree_copy", on_click=copy,
                  help="This study is sealed. Your copy lies in your own store.")  # fmt: skip
        return
    state = work.ended(st.session_state[at], f"Copying {here.data.study.name} …")
    if state is None:
        return
    del st.session_state[at]
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
        tree_parts.move(here, here.filters.but(node=node, sample=None, criterion=None))
        return words

    attempt(change)


def _rename(here: Here, nodes: NodeTable, index: int) -> None:
    path = nodes.paths[index]
    key = f"tree_rename_{here.data.study.tree_version}_{index}"

    def rename() -> None:
        name = " ".join(str(st.session_state[key]).split())
        _edit(here, Rename(path, name), f"Renamed {path[-1]!r} to {name!r}.")

    # In a form, as the name and its button must come in one run: a run between them would take
    # the tree that somebody else made meanwhile for the one that the name was typed to.
    with st.form("tree_rename_form", border=False):
        st.text_input("New name", value=path[-1], key=key, max_chars=80)
        team.button("edit", "Rename", st.form_submit_button, key="tree_do_rename", on_click=rename)


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
        format_func=lambda i: numbers.middle(format_path(nodes.paths[i]), 70),
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
            tree_parts.style(),
            _history(here, view),
            diff_table(here, view.diff) if view.diff else None,
            class_="stack",
        ),
        key="tree_versions",
    )
    _files(here, view, nodes)


def _history(here: Here, view: Versions) -> Html:
    n = len({row.version for row in view.rows})
    columns = [
        kit.Column(title="Version", number=True, width="60px"),
        kit.Column(title="Tree"),
        kit.Column(title="Where it came from"),
        kit.Column(title="Leaves", number=True),
        kit.Column(title="Layers", number=True),
        kit.Column(title="Criteria", number=True),
        kit.Column(title="Edits", number=True),
        kit.Column(title="Compare"),
    ]
    return el(
        "section",
        el("h2", f"{numbers.count(n, 'tree')} in this study's history"),
        kit.table(columns, [_version(here, view, row) for row in view.rows],
                  label="Versions of the tree", tight=True),
    )  # fmt: skip


def _version(here: Here, view: Versions, row: VersionRow) -> kit.Row:
    now = kit.badge("IN USE") if row.current else None
    when = row.created[:16].replace("T", " ")
    chosen = view.diff
    cells: list[Html | str | int] = [
        row.position,
        el(
            "span",
            el("span", row.name, class_="strong"),
            " ",
            now,
            el("div", f"{row.version}{' · ' + when if when else ''}", class_="quiet small"),
        ),
        el(
            "span", row.origin, el("div", row.note, class_="quiet small path") if row.note else None
        ),
        row.leaves or numbers.NONE,
        row.depth or numbers.NONE,
        f"{row.criteria:,}",
        row.edits or el("span", "–", class_="quiet"),
    ]
    ends = []
    for which, words in (("old", "from"), ("new", "to")):
        on = chosen is not None and getattr(chosen, which) == row.position
        other = {"old": chosen.old, "new": chosen.new} if chosen else {}
        other[which] = row.position
        query = {key: str(value) for key, value in other.items()}
        ends.append(
            el(
                "a",
                words,
                href=tree_parts.to(here, here.filters, **query),
                data_go=True,
                aria_current="true" if on else None,
            )
        )
    cells.append(el("nav", ends, class_="tabs", aria_label=f"Compare version {row.position}"))
    return kit.Row(cells=cells, on=row.current)


def diff_table(here: Here, diff: Diff) -> Html:
    """List what differs between two versions of the tree."""
    title = f"From version {diff.old} to version {diff.new}: " + _diff_words(diff)
    if not diff.rows:
        return el("section", el("h2", title))
    columns = [
        kit.Column(title="Leaf"),
        kit.Column(title="became", width="96px"),
        kit.Column(title=""),
        kit.Column(title="Criteria", number=True),
    ]
    return el(
        "section",
        el("h2", title),
        kit.table(columns, [_diff_row(row) for row in diff.rows], label="What differs", tight=True),
        _moved(here, diff),
    )


def _diff_words(diff: Diff) -> str:
    count = {kind: sum(row.kind == kind for row in diff.rows) for kind in _KINDS}
    parts = [f"{n} {kind}" for kind, n in count.items() if n] or ["no leaf changed"]
    words = ", ".join(parts) + f", {diff.kept} kept"
    if diff.lost:
        words += f"; {numbers.count(diff.lost, 'criterion', 'criteria')} without a leaf now"
    return words


def _diff_row(row: DiffRow) -> kit.Row:
    return kit.Row(
        cells=[
            el("span", format_path(row.old) or "–", class_="path"),
            el("span", _KINDS[row.kind], class_="diff-kind"),
            el("span", format_path(row.new) if row.new != row.old else "", class_="path"),
            row.criteria,
        ]
    )


def _moved(here: Here, diff: Diff) -> Html | None:
    if not diff.n_moved:
        return None
    rows = [
        el(
            "li",
            kit.door(
                f"sample {item.sample + 1}",
                links.address(
                    FAILURES.url_path,
                    here.filters.but(
                        sample=here.data.table.sample_ids[item.sample],
                        criterion=item.criterion_id,
                        show="all",
                    ),
                ),
            ),
            f" · {item.old[-1]} → {item.new[-1]}",
        )
        for item in diff.moved
    ]
    title = f"The {numbers.count(diff.n_moved, 'criterion', 'criteria')} that moved"
    return kit.fold(title, el("ul", rows, class_="log"))


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
        format_func=lambda v: f"{older[v].position} · {older[v].name} · {older[v].leaves} leaves",
        key=f"tree_back_{here.data.study.tree_version}",
        placeholder="choose a version",
    )

    def back() -> None:
        def change() -> str:
            assert chosen is not None
            use_older(here.store, here.data.study.id, chosen)
            return f"Version {older[chosen].position} is the study's tree again."

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
            taken = take_file(here.store, here.data, given.getvalue(), given.name)
            return (
                f"{taken.name!r} is the study's tree now: {taken.leaves} leaves, "
                f"{taken.depth} layers; {taken.criteria} criteria belong to it, the rest is to be "
                "mapped."
            )

        attempt(change)

    team.button(
        "edit", "Use this tree", key="tree_do_upload", on_click=take, disabled=given is None
    )


# --- validity ----------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _verdicts() -> dict[tuple[object, ...], Validity | None]:
    """Keep the latest verdicts; one is computed outside, since it draws its progress."""
    return {}


def _judging(here: Here, key: tuple[object, ...]) -> str:
    """Begin to judge a tree in the background, and return the job; it is kept when it ends."""
    kept, store, data = _verdicts(), here.store, here.data

    async def judge(job: Job[object]) -> object:
        def tell(word: str, done: int, total: int) -> None:
            job.say(f"{word} ({done} of {total})\n")

        found = await asyncio.to_thread(tree_validity, store, data, tell)
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        kept[key] = found
        return found

    return work.begin("validity", judge)


def _judging_words(state: JobState[Any]) -> str:
    last = state.text.rstrip("\n").rsplit("\n", 1)[-1]
    return (
        f"Comparing the tree with others: {last} ·" if last else "Comparing the tree with others:"
    )


def draw_validity(here: Here) -> None:
    """Draw the verdict in words, the paper's numbers, and the rivals; progress meanwhile."""
    if tree_rivals.under_way(here):
        return
    kept, key = _verdicts(), tree_parts.key_of(here)
    held: dict[tuple[object, ...], str] = st.session_state.setdefault(_JUDGING, {})
    if key not in kept:
        state = work.ended(
            held.get(key) or held.setdefault(key, _judging(here, key)), _judging_words
        )
        if state is None:
            return
        held.pop(key, None)
        if key not in kept:
            kit.show(kit.fault(state.error), key="tree_validity_fault")
            return
    view = kept[key]
    if view is None:
        kit.show(
            kit.empty(
                "Too little is scored to judge the tree",
                "At least five samples need scored checkpoints whose criteria belong to the tree.",
            ),
            key="tree_validity",
        )
        return
    kit.show(
        el(
            "div",
            tree_parts.style(),
            _verdict(view),
            _rivals(view),
            el(
                "div",
                _printed(view),
                _stability(here, view.stability, view.by_hand),
                class_="columns",
            ),
            class_="stack",
        ),
        key="tree_validity",
    )
    if view.guessed:
        tree_rivals.offer(here, [row.name for row in view.guessed])


def _p(row: RivalRow) -> str:
    least = 1 / (row.verdict.permutations + 1)
    bound = row.verdict.p <= least + 1e-12
    return f"≤ {numbers.p_value(least)}" if bound else numbers.p_value(row.verdict.p)


def _verdict(view: Validity) -> Html:
    verdict = view.own.verdict
    good = verdict.valid() and not math.isnan(verdict.delta_adjusted)
    if good:
        answer = "The tree is valid: its leaves predict scores better than shuffled leaves do."
    else:
        answer = "The tree is not shown to be valid: shuffled leaves predict scores as well."
    if not view.ahead:
        stand = "No rival predicts more."
    else:
        others = len(view.ahead) - 1
        stand = f"{view.ahead[0].name} predicts more"
        stand += f", and so do {numbers.count(others, 'other')}." if others else "."
    if math.isnan(verdict.delta_adjusted):
        stand, detail = (
            "",
            "No leaf has scores of two samples, so there is nothing to predict from.",
        )
    else:
        error = verdict.loso.mae_global
        share = f" ({numbers.share(verdict.delta_adjusted / error, 1)} of it)" if error > 0 else ""
        detail = (
            f"Knowing a criterion's leaf takes {25 * verdict.delta_adjusted:.2f} points of 100 off "
            f"the error of predicting its score from other samples{share}, beyond what shuffled "
            f"leaves take off; p {_p(view.own)}."
        )
    return el(
        "section",
        el("div", answer, class_="answer"),
        el("p", f"{stand} {detail}"),
        el(
            "p",
            f"{numbers.count(view.scores, 'score')} of {numbers.count(view.samples, 'sample')}; "
            f"the tree against {view.permutations} shuffles of whole samples' leaves.",
            class_="quiet small",
        ),
        class_="verdict" if good else "verdict weak",
    )


def _rivals(view: Validity) -> Html:
    columns = [
        kit.Column(title="Taxonomy", width="30%"),
        kit.Column(title="Leaves", number=True),
        kit.Column(title=kit.term("support", "Thin leaves"), number=True),
        kit.Column(title="Criteria placed", broad=True),
        kit.Column(title="Δ leave one out", broad=True),
        kit.Column(title="Δ leave one sample out", number=True),
        kit.Column(title="Δ beyond shuffles", number=True),
        kit.Column(title="", width="150px", broad=True),
        kit.Column(title="p", number=True),
        kit.Column(title="Verdict"),
    ]
    every = (view.own, *view.rivals)
    ranked = sorted(every, key=lambda row: -_sortable(row.verdict.delta_adjusted))
    most = max((abs(25 * _sortable(row.verdict.delta_adjusted, 0.0)) for row in every), default=1.0)
    return el(
        "section",
        el("h2", f"Against its rivals: {_place(view)}"),
        el("div", kit.table(columns, [_rival(row, max(most, 0.1)) for row in ranked],
                            label="The tree and its rivals"), class_="rivals"),
        el(
            "p",
            "Δ in points of 100 (x25): how much smaller the error gets by knowing the leaf. Thin: "
            "under 5 criteria or 5 samples. The verdict is Δ beyond shuffles with p at most 0.05; "
            "leaving one criterion out is shown as the paper has it, and is flattered by the other "
            "criteria of the same sample.",
            class_="note",
            style="margin-top:8px",
        ),
        *(el("p", words, class_="note") for words in view.left_out),
    )  # fmt: skip


def _sortable(value: float, missing: float = -1e9) -> float:
    return missing if math.isnan(value) else value


def _place(view: Validity) -> str:
    n = len(view.rivals) + 1
    place = f"first of {n}" if view.rank == 1 else f"place {view.rank} of {n}"
    return place + (f", level with {view.level[0].name}" if view.level else "")


def _rival(row: RivalRow, most: float) -> kit.Row:
    verdict = row.verdict
    good = verdict.valid() and not math.isnan(verdict.delta_adjusted)
    return kit.Row(
        cells=[
            el(
                "span",
                el("span", row.name, class_="strong" if row.own else None),
                " ",
                kit.badge("THIS TREE") if row.own else None,
                el("div", row.about, class_="quiet small"),
            ),
            row.leaves,
            row.thin or el("span", "0", class_="quiet"),
            f"{row.placed:,}",
            numbers.signed(25 * verdict.loo.delta, 2),
            numbers.signed(25 * verdict.loso.delta, 2),
            el("span", numbers.signed(25 * verdict.delta_adjusted, 2), class_="strong"),
            _bar(25 * verdict.delta_adjusted, most),
            _p(row),
            kit.status("strength", "valid") if good else kit.status("nothing", "not shown"),
        ],
        on=row.own,
    )


def _bar(value: float, most: float) -> Html:
    """Draw a difference left or right of zero."""
    if math.isnan(value):
        return el("span")
    half = 50 * min(abs(value) / most, 1.0)
    start = 50.0 if value >= 0 else 50 - half
    ink = "var(--accent)" if value >= 0 else "var(--worse)"
    return el(
        "svg",
        el("line", class_="track", x1="50%", x2="50%", y1="0", y2="16"),
        el("rect", x=f"{start:.2f}%", y="3", width=f"{half:.2f}%", height="10", fill=ink),
        class_="bar",
        role="img",
        aria_label=numbers.signed(value, 2),
    )


def _printed(view: Validity) -> Html:
    """Print the paper's measure on the three scales that it may mean."""
    loo = view.own.verdict.loo
    columns = [
        kit.Column(title="Scale"),
        kit.Column(title="MAE global", number=True),
        kit.Column(title="MAE intra-node", number=True),
        kit.Column(title="Δ", number=True),
    ]
    scales = (
        (1.0, "points of 1–5", 3),
        (25.0, "x25: 25 (s − 1), 0–100", 2),
        (20.0, "x20: 20 s, 20–100", 2),
    )
    rows = [
        kit.Row(
            cells=[
                words,
                f"{factor * loo.mae_global:.3f}"
                if factor == 1
                else f"{factor * loo.mae_global:.2f}",
                f"{factor * loo.mae_node:.3f}" if factor == 1 else f"{factor * loo.mae_node:.2f}",
                numbers.signed(factor * loo.delta, 3 if factor == 1 else 2),
            ]
        )
        for factor, words, digits in scales
    ]
    return el(
        "section",
        el("h2", "As the paper prints it: leave one criterion out"),
        kit.table(columns, rows, label="Leave-one-out errors", tight=True),
        el(
            "p",
            f"{numbers.count(loo.n, 'score')} in leaves with at least two scores of a model, "
            f"{numbers.count(view.own.leaves, 'leaf', 'leaves')}. ATOM prints 20.40, 18.83 and "
            "+1.57 for its 52 leaves and doesn't name the scale.",
            class_="note",
            style="margin-top:8px",
        ),
    )


def _stability(here: Here, found: Stability | None, hand: ByHand | None) -> Html:
    study = here.data.study.name
    human = el("p", _by_hand(here, hand), class_="note", style="margin-top:8px")
    if found is None:
        text = "Grow the tree a second time, with another seed, to see how much of it stays: "
        return el(
            "section",
            el("h2", "Would it grow the same again?"),
            el("p", text, class_="quiet"),
            commands.shown(
                here, f"python -m atom tree induce --study {shlex.quote(study)} --seed 2"
            ),
            human,
        )
    words = "stable" if found.ami >= 0.7 else "not stable: AMI under 0.7"
    rows = [
        ("Adjusted Rand index", f"{found.ari:.2f}"),
        ("Adjusted mutual information", f"{found.ami:.2f}"),
        ("Layers in common (path credit)", f"{found.credit:.2f}"),
    ]
    return el(
        "section",
        el("h2", f"Grown twice (versions {found.first} and {found.second}): {words}"),
        el("dl", [join(el("dt", name), el("dd", value)) for name, value in rows], class_="pairs"),
        el("p", f"Over {numbers.count(found.n, 'criterion', 'criteria')} mapped in both trees.",
           class_="note"),
        human,
    )  # fmt: skip


def _by_hand(here: Here, hand: ByHand | None) -> list[Html | str]:
    """Say how often people and the judge put a criterion on the same leaf."""
    label = links.address(HUMAN_CHECK.url_path, here.filters, queue="criteria")
    if hand is None:
        return ["Nobody has mapped criteria by hand yet, so there is no hit rate. ",
                kit.door("Map some", label)]  # fmt: skip
    words: list[Html | str] = []
    if hand.n:
        words.append(
            f"People put {hand.hits} of {numbers.count(hand.n, 'criterion', 'criteria')} where the "
            f"judge did (hit rate {numbers.share(hand.hits / hand.n)}), {hand.roots} under the "
            "same "
            "root. "
        )
    if hand.conflicts:
        words.append(f"They disagree about {hand.conflicts}. ")
    if hand.elsewhere:
        words.append(f"{hand.elsewhere} were mapped by hand to leaves that this tree hasn’t. ")
    return [*words, kit.door("Map more", label)]


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
            tree_parts.style(),
            kit.empty(
                "This study has no capability tree yet",
                f"{words}. Or bring one of your own below, and map the criteria to it.",
                *([kit.button("Grow a tree", tree_parts.to(here, here.filters, tab="grow"),
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
