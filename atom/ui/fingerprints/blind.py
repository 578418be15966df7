"""The part of Fingerprints on what needs the picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit, links, score_marks
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, FINGERPRINTS, OVERVIEW, RUNS
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.fingerprints.blind import EASY, BlindView, NodeNeed, alone, left_out, without_easy
from atom.views.overview.ranking import RankRow

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
            f"With the picture marks are {signed(gain)} points higher (of 0–100; 95 % "
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
    roots = [node for node in view.nodes if len(node.path) == 1]
    below = sorted(
        (node for node in view.nodes if len(node.path) > 1 and _is_leaf(view, node)),
        key=lambda node: (node.need == "few", -node.gain.value),
    )
    rest = f"All {len(below):,} capabilities below, the largest gain first"
    return el("div", _needs(roots), kit.fold(rest, _needs(below)) if below else None)


def _needs(nodes: Sequence[NodeNeed]) -> Html:
    kind = {"needs": "strength", "hardly": "weak"}
    return kit.grid(
        nodes,
        kit.MarkupColumn("Capability", _capability),
        kit.number("With it", lambda node: numbers.score(node.seen)),
        kit.number("Without", lambda node: numbers.score(node.blind)),
        kit.number(kit.term("visual gain", "Gain (95 %)"), lambda node: signed(node.gain)),
        kit.MarkupColumn("", lambda node: score_marks.interval_bar(node.gain, lo=-50, hi=100),
                         width="120px", broad=True),
        kit.number("Questions", lambda node: f"{node.gain.samples:,}"),
        kit.MarkupColumn("So it", lambda node: el("span", NEEDS[node.need],
                                                  class_=f"need {kind.get(node.need, 'none')}")),
        label="Capability, the tree's roots first",
    )  # fmt: skip


def _capability(node: NodeNeed) -> Html:
    to = links.address(FAILURES.url_path, node.filters)
    return kit.door(node.path[-1], to, tip=" ▸ ".join(node.path))


def _is_leaf(view: BlindView, node: NodeNeed) -> bool:
    size = len(node.path)
    return not any(one.path[:size] == node.path and len(one.path) > size for one in view.nodes)


def _easy(here: Here, view: BlindView) -> Html | None:
    if not view.easy:
        return None
    only, out = alone(here.filters), left_out(here.filters)
    chosen = without_easy(here.filters) != here.filters
    to = partial(links.address, FAILURES.url_path)
    return el(
        "div",
        el("h3", f"{numbers.count(view.n_easy, 'question')} that the text answers"),
        el(
            "div",
            kit.button(
                "Leave them out of everything", links.address(FINGERPRINTS.url_path, out)
            ),
            kit.door("Look at them alone", to(only.but(show="all"))),
            class_="row",
            style="margin:6px 0",
        )
        if not chosen
        else el("p", "They are left out of all numbers while the filter above is set."
                if EASY in here.filters.without else "Only they are in the numbers now.",
                class_="quiet"),
        kit.grid(
            view.easy,
            kit.MarkupColumn("Question", lambda one: kit.door(numbers.middle(one.text, 110),
                                                              to(one.filters))),
            kit.number("Criteria", lambda one: one.criteria),
            kit.number("Models asked", lambda one: one.models),
            label="Questions that the text answers",
            most=_SHOWN,
        ),
    )  # fmt: skip


def _ranks(here: Here, view: BlindView) -> Html | None:
    if not view.moved:
        return None
    out = links.address(OVERVIEW.url_path, left_out(here.filters))
    without = "Score without them"
    return el(
        "div",
        el("h3", "How ranks move without them"),
        kit.grid(
            view.moved,
            kit.MarkupColumn("Model", lambda one: kit.model(one.now.name, one.now.colour)),
            kit.number("Rank, all", lambda one: _rank(one.now)),
            kit.number("Score, all", lambda one: numbers.interval(one.now.score)),
            kit.number("Rank without them", lambda one: _rank(one.less)),
            kit.number(without, lambda one: numbers.interval(one.less.score) if one.less
                       else numbers.NONE),
            kit.number("Moves by", lambda one: numbers.signed(
                one.less.score.value - one.now.score.value) if one.less else numbers.NONE),
            label="Ranks with and without",
        ),
        kit.note(kit.door("The whole ranking without them", out)),
    )  # fmt: skip


def _rank(row: RankRow | None) -> str:
    if row is None or not row.rank_best:
        return numbers.NONE
    return numbers.rank(row.rank_best, row.rank_worst)
