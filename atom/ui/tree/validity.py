"""Whether a tree’s capabilities hold: verdicts, rivals, people’s own placing."""

from __future__ import annotations

import asyncio
import math
import shlex
from typing import Any, NamedTuple

import streamlit as st

from atom.analysis.capability.validity import ValidityVerdict
from atom.display import numbers
from atom.engine.jobs import Job, JobState
from atom.ui import commands, kit, links, work
from atom.ui.html import Html, el, join
from atom.ui.pages import HUMAN_CHECK
from atom.ui.shell.frame import Here
from atom.ui.tree import query as tree_query
from atom.ui.tree import rivals as tree_rivals
from atom.ui.tree.history import JUDGING, KEPT
from atom.views.tree.by_hand import ByHand
from atom.views.tree.validity import RivalRow, Stability, Validity, tree_validity

LOOK_EVERY = 0.25
"""Seconds between two looks at a tree that is being judged, which is done in a second or two."""


@st.cache_resource(show_spinner=False)
def _verdicts() -> dict[tuple[object, ...], Validity | None]:
    """Keep the latest verdicts; one is computed outside, since it draws its progress."""
    return {}


def _judging(here: Here, key: tuple[object, ...]) -> str:
    """Begin to judge a tree in the background, and return the job; it is kept when it ends."""
    kept, store, data = _verdicts(), here.store, here.data

    async def judge(job: Job[object]) -> object:
        def tell(word: str, done: int, total: int) -> None:
            job.say(f"{word} ({done:,} of {total})\n")

        found = await asyncio.to_thread(tree_validity, store, data, tell)
        while len(kept) >= KEPT:
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
    kept, key = _verdicts(), tree_query.key_of(here)
    held: dict[tuple[object, ...], str] = st.session_state.setdefault(JUDGING, {})
    if key not in kept:
        state = work.ended(
            held.get(key) or held.setdefault(key, _judging(here, key)),
            _judging_words,
            every=LOOK_EVERY,
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
            tree_query.style(),
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
    good = _good(verdict)
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
            f"the tree against {view.permutations:,} shuffles of whole samples' leaves.",
            class_="quiet small",
        ),
        class_="verdict" if good else "verdict weak",
    )


def _rivals(view: Validity) -> Html:
    every = (view.own, *view.rivals)
    ranked = sorted(every, key=lambda row: -_sortable(row.verdict.delta_adjusted))
    most = max((abs(25 * _sortable(row.verdict.delta_adjusted, 0.0)) for row in every), default=1.0)
    return kit.section(
        f"Against its rivals: {_place(view)}",
        el(
            "div",
            kit.grid(
                ranked,
                kit.MarkupColumn("Taxonomy", _taxonomy, width="30%"),
                kit.number("Leaves", lambda row: row.leaves),
                kit.number(
                    kit.term("support", "Thin leaves"), lambda row: row.thin or kit.quiet("0")
                ),
                kit.MarkupColumn("Criteria placed", lambda row: f"{row.placed:,}", broad=True),
                kit.MarkupColumn(
                    "Δ leave one out", lambda row: _delta(row.verdict.loo.delta), broad=True
                ),
                kit.number("Δ leave one sample out", lambda row: _delta(row.verdict.loso.delta)),
                kit.number(
                    "Δ beyond shuffles",
                    lambda row: kit.strong(_delta(row.verdict.delta_adjusted)),
                ),
                kit.MarkupColumn(
                    "",
                    lambda row: _bar(25 * row.verdict.delta_adjusted, max(most, 0.1)),
                    width="150px",
                    broad=True,
                ),
                kit.number("p", _p),
                kit.MarkupColumn("Verdict", _valid),
                label="The tree and its rivals",
                on=lambda row: row.own,
                tight=False,
            ),
            class_="rivals",
        ),
        kit.note(
            "Δ in points of 100 (x25): how much smaller the error gets by knowing the leaf. Thin: "
            "under 5 criteria or 5 samples. The verdict is Δ beyond shuffles with p at most 0.05; "
            "leaving one criterion out is shown as the paper has it, and is flattered by the other "
            "criteria of the same sample.",
            style="margin-top:8px",
        ),
        *(kit.note(words) for words in view.left_out),
    )


def _sortable(value: float, missing: float = -1e9) -> float:
    return missing if math.isnan(value) else value


def _place(view: Validity) -> str:
    n = len(view.rivals) + 1
    place = f"first of {n:,}" if view.rank == 1 else f"place {view.rank:,} of {n:,}"
    return place + (f", level with {view.level[0].name}" if view.level else "")


def _taxonomy(row: RivalRow) -> Html:
    return el(
        "span",
        el("span", row.name, class_="strong" if row.own else None),
        " ",
        kit.badge("THIS TREE") if row.own else None,
        kit.under(row.about),
    )


def _delta(points: float) -> str:
    return numbers.signed(25 * points, 2)


def _good(verdict: ValidityVerdict) -> bool:
    return verdict.valid() and not math.isnan(verdict.delta_adjusted)


def _valid(row: RivalRow) -> Html:
    if _good(row.verdict):
        return kit.status("strength", "valid")
    return kit.status("nothing", "not shown")


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


class _Scale(NamedTuple):
    name: str
    factor: float
    digits: int

    def of(self, error: float) -> str:
        return numbers.plain(self.factor * error, self.digits)


def _printed(view: Validity) -> Html:
    """Print the paper's measure on the three scales that it may mean."""
    loo = view.own.verdict.loo
    scales = (
        _Scale("points of 1–5", 1.0, 3),
        _Scale("x25: 25 (s − 1), 0–100", 25.0, 2),
        _Scale("x20: 20 s, 20–100", 20.0, 2),
    )
    return kit.section(
        "As the paper prints it: leave one criterion out",
        kit.grid(
            scales,
            kit.MarkupColumn("Scale", lambda one: one.name),
            kit.number("MAE global", lambda one: one.of(loo.mae_global)),
            kit.number("MAE intra-node", lambda one: one.of(loo.mae_node)),
            kit.number("Δ", lambda one: numbers.signed(one.factor * loo.delta, one.digits)),
            label="Leave-one-out errors",
        ),
        kit.note(
            f"{numbers.count(loo.n, 'score')} in leaves with at least two scores of a model, "
            f"{numbers.count(view.own.leaves, 'leaf', 'leaves')}. ATOM prints 20.40, 18.83 and "
            "+1.57 for its 52 leaves and doesn't name the scale.",
            style="margin-top:8px",
        ),
    )


def _stability(here: Here, found: Stability | None, hand: ByHand | None) -> Html:
    study = here.data.study.name
    human = kit.note(_by_hand(here, hand), style="margin-top:8px")
    if found is None:
        text = "Grow the tree a second time, with another seed, to see how much of it stays: "
        return kit.section(
            "Would it grow the same again?",
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
    return kit.section(
        f"Grown twice (versions {found.first} and {found.second}): {words}",
        el("dl", [join(el("dt", name), el("dd", value)) for name, value in rows], class_="pairs"),
        kit.note(f"Over {numbers.count(found.n, 'criterion', 'criteria')} mapped in both trees."),
        human,
    )


def _by_hand(here: Here, hand: ByHand | None) -> list[Html | str]:
    """Say how often people and the judge put a criterion on the same leaf."""
    label = links.address(HUMAN_CHECK.url_path, here.filters, queue="criteria")
    if hand is None:
        return ["Nobody has mapped criteria by hand yet, so there is no hit rate. ",
                kit.door("Map some", label)]  # fmt: skip
    words: list[Html | str] = []
    if hand.n:
        words.append(
            f"People put {hand.hits:,} of "
            f"{numbers.count(hand.n, 'criterion', 'criteria')} where the "
            f"judge did (hit rate {numbers.share(hand.hits / hand.n)}), {hand.roots:,} under the "
            "same "
            "root. "
        )
    if hand.conflicts:
        words.append(f"They disagree about {hand.conflicts}. ")
    if hand.elsewhere:
        words.append(f"{hand.elsewhere:,} were mapped by hand to leaves that this tree hasn’t. ")
    return [*words, kit.door("Map more", label)]
