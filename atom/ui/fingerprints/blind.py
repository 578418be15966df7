"""The part of Fingerprints on what needs the picture."""

from __future__ import annotations

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, FINGERPRINTS, OVERVIEW, RUNS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.fingerprints.blind import (
    EASY,
    BlindView,
    Moved,
    NodeNeed,
    alone,
    left_out,
    without_easy,
)

TITLE = "What needs the picture?"
NEEDS = {
    "needs": "needs the picture",
    "hardly": "hardly needs it",
    "unclear": "not settled",
    "few": "too few questions",
}
_SHOWN = 8


def told(here: Here, view: BlindView | None) -> Html | None:
    """Draw what a blind control found; where there is none, where to begin one."""
    if view is None:
        return None if here.entry.bundled or not here.data.has_process else _begin(here)
    body: list[Html | None]
    if view.other_judge:
        who = here.data.judge.name if here.data.judge else "this judge"
        body = [kit.notice(f"The answers without pictures aren't marked by {who}.")]
    else:
        body = [_lead(view), _nodes(here, view), _easy(here, view), _ranks(here, view)]
    return kit.section(TITLE, body, id="needs-picture", data_testid="blind")


def _begin(here: Here) -> Html:
    runs = links.address(RUNS.url_path, Filters(study=here.entry.key))
    return kit.section(TITLE,
        el("p", "Nobody has asked these questions without their pictures yet. A ",
           kit.term("blind control"), " does, on a random part of them: ",
           kit.door("Runs", runs), " has it under “Without the picture”.", class_="quiet"),
    )  # fmt: skip


def signed(gain: Estimate) -> str:
    """Write a difference with its interval: `12.7 (−7.8 to 33.3)`."""
    if not gain.known:
        return numbers.NONE
    return f"{gain.value:.1f} ({gain.lo:.1f} to {gain.hi:.1f})".replace("-", "−")


def _lead(view: BlindView) -> Html:
    gain = view.overall
    words = [
        f"{numbers.count(view.models, 'model')} answered "
        f"{numbers.count(view.questions, 'question')} without the picture; the same judge marked "
        "them at the same criteria, the picture before it. "
    ]
    if gain is not None:
        words.append(
            f"With the picture marks are {signed(gain)} points higher (of 0-100; 95 % "
            f"interval over {numbers.count(gain.samples, 'question')}). "
        )
    if view.unanswered:
        words.append(
            f"{numbers.count(view.unanswered, 'answer')} without the picture "
            f"{'was' if view.unanswered == 1 else 'were'} none, and in no mean. "
        )
    if view.few_models:
        words.append("Fewer than three models were asked: what the text answers can't be said.")
    else:
        words.append(
            f"Of {numbers.count(view.criteria, 'criterion', 'criteria')}, {view.easy_criteria:,} "
            "were reached without it by at least three models; "
            f"{view.n_easy:,} of {numbers.count(view.measured, 'question')} hold only such."
        )
    return kit.note(*words, style="margin-bottom:10px;max-width:860px")


def _nodes(here: Here, view: BlindView) -> Html | None:
    if not view.nodes:
        return None
    columns = [
        kit.Column(title="Capability"),
        kit.Column(title="With it", number=True),
        kit.Column(title="Without", number=True),
        kit.Column(title=kit.term("visual gain", "Gain (95 %)"), number=True),
        kit.Column(title="", width="120px", broad=True),
        kit.Column(title="Questions", number=True),
        kit.Column(title="So it"),
    ]
    roots = [node for node in view.nodes if len(node.path) == 1]
    below = sorted(
        (node for node in view.nodes if len(node.path) > 1 and _is_leaf(view, node)),
        key=lambda node: (node.need == "few", -node.gain.value),
    )
    small = "Capability, the tree's roots first"
    return el(
        "div",
        kit.table(columns, [_row(here, node) for node in roots], label=small, tight=True),
        kit.fold(
            f"All {len(below):,} capabilities below, the largest gain first",
            kit.table(columns, [_row(here, node) for node in below], label=small, tight=True),
        )
        if below
        else None,
    )


def _is_leaf(view: BlindView, node: NodeNeed) -> bool:
    size = len(node.path)
    return not any(one.path[:size] == node.path and len(one.path) > size for one in view.nodes)


def _row(here: Here, node: NodeNeed) -> kit.Row:
    door = kit.door(
        node.path[-1],
        links.address(FAILURES.url_path, node.filters),
        tip=" ▸ ".join(node.path),
    )
    kind = {"needs": "strength", "hardly": "weak"}.get(node.need, "none")
    return kit.Row(
        cells=[
            door,
            numbers.score(node.seen),
            numbers.score(node.blind),
            signed(node.gain),
            kit.interval_bar(node.gain, lo=-50, hi=100),
            f"{node.gain.samples:,}",
            el("span", NEEDS[node.need], class_=f"need {kind}"),
        ]
    )


def _easy(here: Here, view: BlindView) -> Html | None:
    if not view.easy:
        return None
    rows = [
        kit.Row(
            cells=[
                kit.door(
                    numbers.middle(one.text, 110), links.address(FAILURES.url_path, one.filters)
                ),
                f"{one.criteria}",
                f"{one.models}",
            ]
        )
        for one in view.easy
    ]
    columns = [
        kit.Column(title="Question"),
        kit.Column(title="Criteria", number=True),
        kit.Column(title="Models asked", number=True),
    ]
    only, out = alone(here.filters), left_out(here.filters)
    chosen = without_easy(here.filters) != here.filters
    return el(
        "div",
        el("h3", f"{numbers.count(view.n_easy, 'question')} that the text answers"),
        el(
            "div",
            kit.button(
                "Leave them out of everything", links.address(FINGERPRINTS.url_path, out)
            ),
            kit.door("Look at them alone", links.address(FAILURES.url_path, only.but(show="all"))),
            class_="row",
            style="margin:6px 0",
        )
        if not chosen
        else el("p", "They are left out of all numbers while the filter above is set."
                if EASY in here.filters.without else "Only they are in the numbers now.",
                class_="quiet"),
        kit.table(columns, rows[:_SHOWN], label="Questions that the text answers", tight=True),
        kit.fold(
            f"{len(rows) - _SHOWN:,} more",
            kit.table(columns, rows[_SHOWN:], label="More such questions", tight=True),
        )
        if len(rows) > _SHOWN
        else None,
    )  # fmt: skip


def _ranks(here: Here, view: BlindView) -> Html | None:
    if not view.moved:
        return None
    columns = [
        kit.Column(title="Model"),
        kit.Column(title="Rank, all", number=True),
        kit.Column(title="Score, all", number=True),
        kit.Column(title="Rank without them", number=True),
        kit.Column(title="Score without them", number=True),
        kit.Column(title="Moves by", number=True),
    ]
    out = links.address(OVERVIEW.url_path, left_out(here.filters))
    return el(
        "div",
        el("h3", "How ranks move without them"),
        kit.table(
            columns, [_moved(one) for one in view.moved], label="Ranks with and without", tight=True
        ),
        kit.note(kit.door("The whole ranking without them", out)),
    )


def _moved(one: Moved) -> kit.Row:
    now, less = one.now, one.less
    cells = [
        kit.model(now.name, now.colour),
        numbers.rank(now.rank_best, now.rank_worst) if now.rank_best else numbers.NONE,
        numbers.interval(now.score),
    ]
    if less is None:
        return kit.Row(cells=[*cells, numbers.NONE, numbers.NONE, numbers.NONE])
    by = less.score.value - now.score.value
    return kit.Row(
        cells=[
            *cells,
            numbers.rank(less.rank_best, less.rank_worst) if less.rank_best else numbers.NONE,
            numbers.interval(less.score),
            numbers.signed(by),
        ]
    )
