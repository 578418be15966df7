"""What the Compare page is made of: who is compared, the answer, and where they differ."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

import streamlit as st

from atom.display import numbers
from atom.ui import commands, kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import COMPARE, FAILURES, OVERVIEW
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.views.compare.nodes import NodeGap, Q
from atom.views.compare.page import ALPHA, Comparison, LeftOut, Rights
from atom.views.compare.sides import Choice, Picked
from atom.views.filters import Filters, label_name
from atom.views.overview.page import MIN_SAMPLES
from taxonomy import format_path

KEYS = ("facet", "tab", "at", "left", "right", "other", "depth")
_SHOWN = 8
"""Rows of a list before the rest is folded away."""
_OWN = ""
_VERDICTS = {
    "first": ("▲", "ahead", "ahead"),
    "second": ("▼", "behind", "behind"),
    "none": ("·", "not told apart", "even"),
    "thin": ("○", "insufficient", "even"),
}
"""Glyph, word and class of a verdict, seen from the first side."""


def pinned(here: Here, picked: Picked) -> Filters:
    """Return the filters with both sides written down."""
    first, second = picked.first.model_id, picked.second.model_id
    rest = tuple(one for one in here.filters.peers[1:] if one not in (first, second))
    return here.filters.but(model=first, peers=(second, *rest))


def local(here: Here, picked: Picked, **changes: str | None) -> dict[str, str | None]:
    """Return the page's own keys with both sides written down and some changed."""
    held: dict[str, str | None] = {k: v for k, v in here.query.items() if k in KEYS and k != "at"}
    return {**held, **_sides(picked), **changes}


def _sides(picked: Picked) -> dict[str, str | None]:
    return {
        "left": str(picked.first.answer) if picked.first.answer else None,
        "right": str(picked.second.answer) if picked.second.answer else None,
        "other": picked.judge_id,
    }


def to(here: Here, picked: Picked, filters: Filters, **changes: str | None) -> str:
    """Write an address on this page."""
    return links.address(COMPARE.url_path, filters, **local(here, picked, **changes))


def style() -> Html:
    """Return this page's own CSS, for inside a piece of markup."""
    return el("style", Html(kit.ASSETS.joinpath("compare.css").read_text(encoding="utf-8")))


# --- who is compared -----------------------------------------------------------------------------


def controls(here: Here, picked: Picked, there: Sequence[Choice]) -> None:
    """Draw the two lists of choices, the second side's judge, and the button that swaps."""
    judges = len(here.data.judges) > 1
    first, second, third, swap = st.columns(
        [3, 3, 2.6 if judges else 0.01, 1.2], vertical_alignment="bottom"
    )
    with first:
        _choose(here, picked, there, "Compare", "compare_first")
    with second:
        _choose(here, picked, there, "with", "compare_second")
    if judges:
        with third:
            _judge(here, picked)
    with swap:
        kit.show(kit.button("⇄ Swap", swapped(here, picked)), key="compare_swap")


def _choose(here: Here, picked: Picked, there: Sequence[Choice], label: str, key: str) -> None:
    left = key == "compare_first"
    names = [one.label for one in there]
    st.session_state[key] = (picked.first if left else picked.second).label

    def changed() -> None:
        chosen = there[names.index(st.session_state[key])]
        other = picked.second if left else picked.first
        now = Picked(
            first=chosen if left else other,
            second=other if left else chosen,
            judge_id=picked.judge_id,
        )
        _move(here, now)

    st.selectbox(plain(label), names, key=key, on_change=changed)


def _judge(here: Here, picked: Picked) -> None:
    own = here.data.judge
    names = {one.id: one.name for one in here.data.judges if own is None or one.id != own.id}
    options = {_OWN: f"the same judge ({own.name})" if own else "the same judge", **names}
    key = "compare_judge"
    st.session_state[key] = picked.judge_id or _OWN

    def changed() -> None:
        judge = st.session_state[key] or None
        _move(here, Picked(first=picked.first, second=picked.second, judge_id=judge))

    st.selectbox("seen by", list(options), format_func=lambda one: options.get(one, one), key=key,
                 on_change=changed)  # fmt: skip


def _move(here: Here, picked: Picked) -> None:
    query = {**pinned(here, picked).to_query()}
    query.update({key: value for key, value in local(here, picked).items() if value})
    st.query_params.from_dict(query)


def swapped(here: Here, picked: Picked) -> str:
    """Return the address of the same comparison seen from the other side."""
    own = here.data.judge.id if here.data.judge else None
    back = own if picked.judge_id else None
    turned = Picked(first=picked.second, second=picked.first, judge_id=back)
    filters = pinned(here, turned)
    if picked.judge_id:
        filters = filters.but(judge=picked.judge_id)
    tab = here.query.get("tab", "")
    ends = {"first": "second", "second": "first", "first_right": "second_right",
            "second_right": "first_right",
            "first_fails": "second_fails", "second_fails": "first_fails"}  # fmt: skip
    return to(here, turned, filters, tab=ends.get(tab, tab) or None)


def names(view: Comparison) -> tuple[str, str]:
    """Name both sides; two judges of one answer are told apart by the judge."""
    first, second = view.picked.first.label, view.picked.second.label
    if view.picked.judge_id is not None:
        first = f"{first} by {view.first_judge or 'no judge'}"
        second = f"{second} by {view.second_judge or 'no judge'}"
    return first, second


def short(view: Comparison) -> tuple[str, str]:
    """Name both sides by what tells them apart: model, answer or judge."""
    first, second = view.picked.first, view.picked.second
    if view.picked.judge_id is not None and first == second:
        return view.first_judge or "no judge", view.second_judge or "no judge"
    if view.picked.judge_id is None and first.model_id == second.model_id:
        told = [
            "all answers" if side.answer is None else f"answer {side.answer}"
            for side in (first, second)
        ]
        return told[0], told[1]
    return names(view)


# --- the answer ----------------------------------------------------------------------------------


def answer(here: Here, view: Comparison) -> Html:
    """Say which is better and how sure that is; then what the answer rests on."""
    return el(
        "section",
        el(
            "div",
            el("p", _sentence(view), class_="strong say"),
            _versus(view) if view.gap.samples and not view.identical else None,
            el("p", _rights(here, view, view.rights), class_="small")
            if view.rights and not _settled(here, view, view.rights)
            else None,
            [
                el("p", words, class_="small")
                for words in (_both_ways(view), _needed(view))
                if words
            ],
            kit.note(_rests_on(here, view)),
            [kit.note(words) for words in (_filtered(here), _alone(here, view)) if words],
            class_="verdict lines",
        ),
    )


def _sentence(view: Comparison) -> str:
    first, second = names(view)
    gap, samples = view.gap, numbers.count(view.gap.samples, "shared sample")
    if not gap.samples:
        return f"Nothing to compare: {first} and {second} share no sample that counts."
    if view.identical:
        every = "the one shared sample" if gap.samples == 1 else f"all {samples}"
        return f"{first} and {second} are identical on {every}."
    ahead = gap.value >= 0
    size, lo, hi = (gap.value, gap.lo, gap.hi) if ahead else (-gap.value, -gap.hi, -gap.lo)
    ends = "" if math.isnan(lo) else f" ({numbers.signed_ends(lo, hi).replace('+', '')})"
    what = {
        "process": f"scores {size:.1f} points{ends} {'higher' if ahead else 'lower'} than {second}",
        "outcome": f"is right {size:.1f} points{ends} {'more' if ahead else 'less'} often than "
        f"{second}",
        "preference": (
            f"wins {numbers.in_percent(gap.first)} of its votes against {second}, "
            f"{size:.1f} points{ends} "
            f"{'more' if ahead else 'less'} than it loses"
            if view.direct
            else f"wins {size:.1f} points{ends} {'more' if ahead else 'fewer'} of its votes than "
            f"{second}"
        ),
    }[view.measure]
    if math.isnan(gap.p):
        sure = "too few to say whether that is chance"
    else:
        sure = (
            f"{'beyond' if view.decided else 'not beyond'} chance (p\u00a0{numbers.p_value(gap.p)})"
        )
    if numbers.score(size) == "0.0" and not view.decided:
        alike = {"process": "score", "outcome": "are right", "preference": "win"}[view.measure]
        return f"{first} and {second} {alike} alike: 0.0 points apart{ends} on {samples}."
    return f"{first} {what} on {samples}: {sure}."


def _versus(view: Comparison) -> Html:
    """Draw both means, and the difference with its interval."""
    gap = view.gap
    limit = _limit([abs(end) for end in (gap.lo, gap.hi, gap.value) if not math.isnan(end)])
    verdict = ("first" if gap.value > 0 else "second") if view.decided else "none"
    return el(
        "div",
        _key(view),
        el("div", dumbbell(view, gap.first, gap.second), _scale("0", "50", "100")),
        kit.small(f"{gap.first:.1f} and {gap.second:.1f} of 100"),
        kit.small("Difference, points"),
        el("div", forest(gap.value, gap.lo, gap.hi, limit, _VERDICTS[verdict][2]),
           _scale(f"−{limit:g}", "0", f"+{limit:g}")),
        difference(gap.value, gap.lo, gap.hi, verdict),
        class_="vs",
    )  # fmt: skip


def _scale(*ends: str) -> Html:
    """Write the scale under a mark."""
    return el("span", [el("span", end) for end in ends], class_="axis quiet small")


def _key(view: Comparison) -> Html:
    """Explain the two marks: a disc and a ring."""
    marks = (
        el("circle", cx="6", cy="6", r="5", fill=kit.colour(view.picked.first.colour)),
        el("circle", cx="6", cy="6", r="4.2", class_="ring",
           stroke=kit.colour(view.picked.second.colour)),
    )  # fmt: skip
    return el(
        "span",
        [
            el("span", el("svg", mark, aria_hidden="true"), numbers.middle(name, 30),
               class_="key", title=name)
            for mark, name in zip(marks, short(view), strict=True)
        ],
        class_="row small",
        style="gap:2px 12px",
    )  # fmt: skip


def _settled(here: Here, view: Comparison, rights: Rights) -> bool:
    """Say whether right answers can't differ: by a filter, or because the answers are the same."""
    same = view.picked.first == view.picked.second
    return here.filters.outcome is not None or (
        same and rights.first_only + rights.second_only == 0
    )


def _rights(here: Here, view: Comparison, rights: Rights) -> Html:
    first, second = short(view)
    beyond = "beyond" if rights.mid_p < ALPHA else "not beyond"
    words = (
        (rights.both, "both", "both_right"),
        (rights.first_only, f"only {first}", "first_right"),
        (rights.second_only, f"only {second}", "second_right"),
        (rights.neither, "neither", "neither_right"),
    )
    filters = pinned(here, view.picked).but(sample=None, criterion=None)
    parts = [
        kit.door(f"{count} {label}", to(here, view.picked, filters, tab=tab))
        for count, label, tab in words
    ]
    return join(
        "Right answers: ",
        [(", " if number else "", part) for number, part in enumerate(parts)],
        "; ",
        kit.term("McNemar", "McNemar"),
        f" mid-p {numbers.p_value(rights.mid_p)}, {beyond} chance",
        "" if rights.n == view.gap.samples else f" ({rights.n:,} with both outcomes known)",
        ".",
    )


def _both_ways(view: Comparison) -> str | None:
    """Say how often both are right where they answered, when either didn't always."""
    if not any(one.withheld for one in view.accuracy):
        return None
    told = [
        f"{name} {numbers.in_percent(one.asked)} of {one.n_asked:,} asked, "
        + (
            f"{numbers.in_percent(one.given)} of {one.n_given:,} answers given"
            if one.n_given
            else "none given"
        )
        + (f" ({one.words})" if one.withheld else "")
        for name, one in zip(short(view), view.accuracy, strict=True)
        if one.n_asked
    ]
    return f"Right: {'; '.join(told)}."


def _needed(view: Comparison) -> str | None:
    """Say how many more pairs would settle it."""
    if view.decided or view.identical or math.isnan(view.more):
        return None
    if math.isinf(view.more):
        return "The means are equal: no number of further samples would tell them apart."
    more = numbers.count(int(view.more), "more shared sample")
    return f"About {more} would settle a difference of this size (four times in five)."


def _rests_on(here: Here, view: Comparison) -> Html:
    """Say what is compared, and what is left out and why."""
    what = {
        "process": join("Mean ", kit.term("paired difference"),
                        " of sample scores over the criteria that both have a score for, on the ",
                        kit.term("judge-scale", kit.OWN_SCALE)),
        "outcome": join("Mean ", kit.term("paired difference"), " of right final answers"),
        "preference": join("Votes on the two against each other")
        if view.direct
        else join("Mean ", kit.term("paired difference"), " of the shares of votes won"),
    }[view.measure]  # fmt: skip
    first, second = names(view)
    left: LeftOut = view.left_out
    reasons = [
        (left.first_only, f"answered by {first} only"),
        (left.second_only, f"answered by {second} only"),
        (left.neither, "answered by neither"),
        (left.quarantined, "set aside (judge and reference disagree)"),
        (left.filtered, "dropped by the filters"),
        (left.unknown, {"process": "with no criterion that both have a score for",
                        "outcome": "with an outcome that isn't known",
                        "preference": "undecided or without a vote"}[view.measure]),
    ]  # fmt: skip
    out = " · ".join(f"{count:,} {words}" for count, words in reasons if count)
    total = left.n + view.gap.samples
    groups = (
        f", {view.gap.clusters:,} picture sets" if view.gap.clusters != view.gap.samples else ""
    )
    kept = f"{view.gap.samples:,} of {numbers.count(total, 'sample')}{groups}"
    return join(what, f" · {kept}", f" · left out: {out}" if out else " · none left out", ".")


def _alone(here: Here, view: Comparison) -> str | None:
    """Say why two that differ here may share a rank on the Overview."""
    n = len(here.data.candidates)
    if not view.decided or view.picked.judge_id is not None or n < 3:
        return None
    return (
        f"Chance is asked about these two alone. Ranks on the Overview hold all pairs of {n:,} "
        "models at once, so two that differ here may share one there."
    )


def _filtered(here: Here) -> str | None:
    """Say what filters on answers do to pairs."""
    filters = here.filters
    if filters.outcome is None and filters.process is None:
        return None
    words = [f"{filters.outcome} answers"] if filters.outcome else []
    words += [f"answers with {filters.process} steps"] if filters.process else []
    return (
        f"The filters keep {' and '.join(words)} only, and a pair needs both answers kept: this "
        "compares the two where both are so, not how often they are."
    )


# --- where they differ ---------------------------------------------------------------------------


def where(here: Here, view: Comparison) -> Html | None:
    """List where one side is ahead and where it falls behind, the surest first."""
    if not view.gap.samples:
        return None
    head = el(
        "div",
        el("h2", "Where they differ", style="margin:0"),
        _groups(here, view),
        class_="row",
        style="justify-content:space-between;margin-bottom:8px",
    )
    if not view.nodes:
        words = "No criteria belong to a tree yet, and there is no label to group by."
        return el("section", head, el("p", words, class_="quiet"))
    ahead, behind = view.found("first"), view.found("second")
    first, _ = names(view)
    every = here.query.get("depth") == "all"
    limit = _limit([abs(end) for node in view.nodes if node.verdict != "thin"
                    for end in (node.lo, node.hi) if not math.isnan(end)])  # fmt: skip
    return el(
        "section",
        head,
        _list(here, view, f"{first} is behind", behind, limit, "second"),
        _list(here, view, f"{first} is ahead", ahead, limit, "first"),
        _all(here, view, limit) if every else None,
        _counted(here, view, every),
    )


def _groups(here: Here, view: Comparison) -> Html | None:
    filters = pinned(here, view.picked)
    found: list[tuple[str, str, bool]] = []
    if view.measure == "process" and here.data.table.leaves:
        found.append(
            ("Capabilities", to(here, view.picked, filters, facet=None), view.facet is None)
        )
    found += [
        (label_name(name), to(here, view.picked, filters, facet=name), view.facet == name)
        for name in view.facets
    ]
    return kit.tabs(found[:8], label="What differences are grouped by") if len(found) > 1 else None


def _list(
    here: Here, view: Comparison, title: str, nodes: Sequence[NodeGap], limit: float, kind: str
) -> Html:
    glyph, _, class_ = _VERDICTS[kind]
    head = el(
        "h2",
        el("span", el("span", glyph, class_="glyph", aria_hidden="true"), class_=f"diff {class_}"),
        f"{title} ({len(nodes)})",
        el("span", " none beyond chance", class_="quiet small", style="font-weight:400")
        if not nodes
        else None,
        style="margin-top:12px",
    )
    if not nodes:
        return head
    rest = nodes[_SHOWN:]
    return join(
        head,
        _table(here, view, nodes[:_SHOWN], limit, title),
        kit.fold(f"{len(rest):,} more", _table(here, view, rest, limit, title)) if rest else None,
    )


def _all(here: Here, view: Comparison, limit: float) -> Html:
    unit = "capabilities" if view.facet is None else f"values of {view.facet}"
    nodes = [node for node in view.nodes if node.samples]
    return join(
        el("h2", f"All {len(nodes)} {unit}", style="margin-top:16px"),
        _table(here, view, nodes, limit, f"All {unit}", indent=view.facet is None),
    )


def _counted(here: Here, view: Comparison, every: bool) -> Html:
    """Count what is not listed, and say what the lists rest on."""
    unit = ("node", "nodes") if view.facet is None else ("group", "groups")
    filters = pinned(here, view.picked)
    even = sum(node.verdict == "none" for node in view.nodes)
    door = to(here, view.picked, filters, depth=None if every else "all")
    return kit.note(
        kit.door("Hide the full list" if every else "Show all of them", door),
        f" · {numbers.count(view.tested, *unit)} tested, {even:,} not told apart",
        f" · ○ {view.thin:,} with too little evidence (under {MIN_SAMPLES} samples), not tested"
        if view.thin
        else "",
        " · beyond chance: ",
        kit.term("false discovery rate"),
        f" {numbers.share(Q)} (Benjamini-Hochberg",
        ", each level of the tree for itself)" if view.facet is None else ")",
        f" · labels of {view.facet} may overlap" if view.facet else "",
        ". A name shows its pairs below; the last column opens what "
        f"{view.picked.first.name} failed there.",
        style="margin-top:10px",
    )


def _table(
    here: Here,
    view: Comparison,
    nodes: Sequence[NodeGap],
    limit: float,
    label: str,
    *,
    indent: bool = False,
) -> Html:
    first, second = names(view)
    axis = el(
        "span",
        el("span", f"−{limit:g}"),
        el("span", "0"),
        el("span", f"+{limit:g}"),
        class_="axis",
        data_tip=f"left of 0: {second} is ahead; right of it: {first}",
    )

    def pairs(node: NodeGap) -> str:
        return to(here, view.picked, _keep(here, view, node), at=None)

    return kit.grid(
        nodes,
        kit.Column(
            "Capability" if view.facet is None else label_name(view.facet),
            lambda node: _name(node, pairs(node), indent=indent),
            width="26%",
        ),
        kit.Column(
            el("span", el("span", "0"), _key(view), el("span", "100"), class_="axis"),
            lambda node: dumbbell(view, node.first, node.second),
            width="20%",
        ),
        kit.Column(
            axis,
            lambda node: forest(node.gap, node.lo, node.hi, limit, _VERDICTS[node.verdict][2]),
            width="19%",
        ),
        kit.number(
            join("Difference (95 % ", kit.term("interval", "interval"), ")"),
            lambda node: difference(node.gap, node.lo, node.hi, node.verdict),
        ),
        kit.number(kit.term("adjusted p", "adj.\u00a0p"), _adjusted),
        kit.number("Shared samples", lambda node: _shared(view, node, pairs(node))),
        kit.number("Failed", lambda node: _failed(view, node)),
        label=label,
        on=lambda node: bool(node.path) and node.path == here.filters.node,
    )


def _name(node: NodeGap, pairs: str, *, indent: bool) -> Html:
    above = " › ".join(node.path[:-1])
    return el(
        "a",
        el("span", numbers.middle(node.name, 40)),
        el("span", numbers.middle(above, 44), class_="where") if above and not indent else None,
        href=pairs,
        data_go=True,
        class_="cell",
        style=f"padding-left:{10 + 16 * (node.depth - 1)}px" if indent else None,
        data_tip=format_path(node.path) if node.path else node.name,
    )


def _adjusted(node: NodeGap) -> Html:
    tip = f"p {numbers.p_value(node.p)} before allowing for the other nodes of its level"
    return kit.quiet(numbers.p_value(node.adjusted), data_tip=tip)


def _shared(view: Comparison, node: NodeGap, pairs: str) -> Html:
    unit = "criterion" if view.facet is None else "sample"
    shared = numbers.count(node.n, unit, "criteria" if unit == "criterion" else "samples")
    return kit.cell(node.samples, pairs, tip=f"{shared} that both have a value for")


def _failed(view: Comparison, node: NodeGap) -> Html:
    """Count what the first side failed here, with the door to it."""
    words = f"{node.failed:,} of {node.answered:,}"
    if not node.failed:
        return kit.quiet(words)
    tip = f"what {view.picked.first.name} failed, of all samples that it answered here"
    return kit.cell(words, links.address(FAILURES.url_path, node.filters), tip=tip)


def _keep(here: Here, view: Comparison, node: NodeGap) -> Filters:
    base = pinned(here, view.picked)
    return node.inside.but(model=base.model, peers=base.peers)


# --- marks ---------------------------------------------------------------------------------------


def _at(value: float, lo: float, hi: float) -> str:
    return f"{100 * min(max((value - lo) / (hi - lo), 0), 1):.2f}%"


def dumbbell(view: Comparison, first: float, second: float) -> Html:
    """Draw both means on 0-100: a disc and a ring, joined."""
    a, b = names(view)
    track = el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")
    if math.isnan(first) or math.isnan(second):
        return el("svg", track, class_="bar", role="img", aria_label="no value")
    at = _at(first, 0, 100), _at(second, 0, 100)
    words = f"{a} {first:.1f}, {b} {second:.1f}"
    return el(
        "svg",
        track,
        el("line", class_="join", x1=at[0], x2=at[1], y1="8", y2="8"),
        el("circle", cx=at[1], cy="8", r="5.2", class_="ring",
           stroke=kit.colour(view.picked.second.colour)),
        el("circle", cx=at[0], cy="8", r="4.4", fill=kit.colour(view.picked.first.colour)),
        class_="bar",
        role="img",
        aria_label=words,
        data_tip=words,
    )  # fmt: skip


def forest(gap: float, lo: float, hi: float, limit: float, class_: str) -> Html:
    """Draw a difference and its interval about zero."""
    if math.isnan(gap):
        return el("span")
    at = _at(gap, -limit, limit)
    return el(
        "svg",
        el("line", class_="track", x1="0", x2="100%", y1="8", y2="8"),
        el("line", class_="zero", x1="50%", x2="50%", y1="0", y2="16"),
        el("line", class_=f"span {class_}", x1=_at(lo, -limit, limit), x2=_at(hi, -limit, limit),
           y1="8", y2="8") if not math.isnan(lo) else None,
        el("line", class_=f"mid {class_}", x1=at, x2=at, y1="1", y2="15"),
        class_="bar",
        role="img",
        aria_label=f"difference {numbers.signed(gap)}",
    )  # fmt: skip


def difference(gap: float, lo: float, hi: float, verdict: str) -> Html:
    """Write `▲ +3.2 (0.9 to 5.5)`."""
    return mark(numbers.signed_interval(gap, lo, hi), verdict)


def mark(words: str, verdict: str) -> Html:
    """Write a difference with the glyph that says who is ahead."""
    glyph, word, class_ = _VERDICTS[verdict]
    return el(
        "span",
        el("span", glyph, class_="glyph", role="img", aria_label=word),
        words,
        class_=f"diff {class_}",
        data_tip=word,
    )


def _limit(ends: Sequence[float]) -> float:
    """Round the far end of a scale about zero up to a full step."""
    most = max(ends, default=10.0)
    step = 5.0 if most <= 20 else 10.0
    return min(max(step * math.ceil(most / step), 5.0), 100.0)


# --- nothing to compare --------------------------------------------------------------------------


def nobody(here: Here) -> Html:
    """Say that no model has answered yet."""
    return kit.empty(
        "This study has no answers yet",
        "Let candidates answer its samples, or import answers that you have.",
        commands.shown(
            here, f"python -m atom run start --study {shlex.quote(here.entry.study.name)}"
        ),
    )


def alone(here: Here, picked: Picked, there: Sequence[Choice]) -> Html:
    """Say that there is only one thing, or that the same thing was chosen twice."""
    others = [one for one in there if one != picked.first]
    if others:
        other = Picked(first=picked.first, second=others[0])
        return kit.empty(
            "Both sides are the same",
            f"{picked.first.label} is chosen twice. Choose something else on either side.",
            kit.button(
                f"Compare it with {others[0].label}",
                to(here, other, pinned(here, other)),
                primary=True,
            ),
        )
    return kit.empty(
        f"{picked.first.label} is the only one here",
        "Two models, two answers of one model, or two judges can be compared. Let a second model "
        "answer.",
        commands.shown(
            here,
            f"python -m atom run start --study {shlex.quote(here.entry.study.name)} "
            "--candidates ...",
        ),
        kit.button("Overview", links.address(OVERVIEW.url_path, here.filters)),
    )


def unshared(here: Here, view: Comparison) -> Html:
    """Offer a way out when no sample is shared."""
    if not here.filters.active:
        return Html("")
    less = pinned(here, view.picked).cleared
    return kit.button("Clear filters", to(here, view.picked, less), primary=True)
