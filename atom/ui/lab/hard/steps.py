"""Draws the four steps of hard pairs: pairs, votes, confirmation, the set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from atom.display import numbers
from atom.engine.pairs.asking import BY_WORDS
from atom.judgebench.vl_rewardbench.hard import Decision, VotePoint
from atom.records import Sample
from atom.ui import kit, links
from atom.ui import said as ui_said
from atom.ui.html import Child, Html, el
from atom.ui.lab.drawing import svg_text
from atom.ui.pages import FAILURES, HUMAN_CHECK, JUDGE_LAB
from atom.ui.shell.frame import Here
from atom.views.lab.hard_pairs import EXAMPLES, HardPairs, PairCase, WeakJudge, texts_of
from taxonomy import format_path

DECISIONS: Mapping[Decision, tuple[str, str]] = {
    "keep": ("Confirmed", "the answer that is known to be better is better"),
    "invert": ("Turned round", "people prefer the other answer: it stays, the other way"),
    "drop": ("Dropped", "the strong judge prefers the other answer, so the order is in doubt"),
    "vague": ("Vague", "nobody can tell which is better"),
    "open": ("Not confirmed", "neither the strong judge nor people have looked"),
}
_SHOWN = 150
_WIDE, _HIGH = 320.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 70.0, 12.0, 26.0
_NAME = 17.0
"""Height of a line's name."""


def nothing() -> Html:
    """Say what hard pairs are, where nobody has looked for them."""
    return kit.empty(
        "Nobody has looked for hard pairs yet",
        "Weak judges vote on pairs of answers of which one is known to be better; what they fail "
        "at, and a strong judge or people confirm, is a benchmark for other judges, in "
        "VL-RewardBench’s and Multi-Crit’s layouts.",
    )


def told(here: Here, view: HardPairs, tab: str) -> Html:
    """Draw all steps."""
    samples, texts = texts_of(here.store, _examples(view))
    listed = _PairList(here, samples, texts)
    return el(
        "div",
        el("div", el("h2", "Which pairs do weak judges get wrong?", style="margin:0"),
           kit.synthetic_badge() if view.synthetic else None, class_="row"),
        el("p", _answer(view), class_="strong"),
        _runs(here, view, tab),
        _pairs(view, listed),
        _votes(view, listed),
        _curves(view),
        _confirmed(here, view, listed),
        _set(view, listed),
        class_="stack",
        data_testid="hard-pairs",
    )  # fmt: skip


def _answer(view: HardPairs) -> str:
    share = view.accepted
    if not view.asked:
        return "No pair has the votes of every weak judge yet."
    found = numbers.percent(100 * share.value, share.n) + numbers.share_ends(share.lo, share.hi)
    n = len(view.chosen())
    kept = f"{n:,} of them {'is' if n == 1 else 'are'} confirmed and make the set"
    if _came_to_nothing(view):
        kept = "there is no set to make"
    elif not view.strong and not any(case.people for case in view.hard):
        kept = "nobody has confirmed them yet"
    return f"{len(view.hard):,} of {numbers.count(view.asked, 'pair')} are hard: {found}; {kept}."


def _runs(here: Here, view: HardPairs, tab: str) -> Html | None:
    if len(view.others) < 2:
        return None
    return el(
        "div",
        kit.small("Looked for: "),
        kit.tabs(
            (
                (f"{numbers.moment(run.created)}, {numbers.count(len(run.task.pairs), 'pair')}"
                 if run.task.kind == "pairs" else run.id,
                 links.address(JUDGE_LAB.url_path, here.filters, tab=tab, run=run.id),
                 run.id == view.run.id)
                for run in view.others[:6]
            ),
            label="Runs",
        ),
    )  # fmt: skip


def _step(number: int, title: str, *content: Child) -> Html:
    return kit.section(f"{number}. {title}", *content, data_testid=f"hard-{number}")


def _narrow(table: Html) -> Html:
    return el("div", table, style="max-width:620px")


# --- the steps ------------------------------------------------------------------------------------


def _pairs(view: HardPairs, listed: _PairList) -> Html:
    counts = kit.grid(
        view.by.items(),
        kit.MarkupColumn("What says which answer is better", lambda by: BY_WORDS[by[0]]),
        kit.number("Pairs", lambda by: f"{by[1]:,}"),
        label="Pairs by what says which is better",
    )
    return _step(
        1,
        "Pairs whose order is known",
        el(
            "p",
            f"{numbers.count(len(view.cases), 'pair')} of answers to "
            f"{numbers.count(view.samples, 'question')}, drawn at random.",
        ),
        _narrow(counts),
        listed.fold("Some of them", view.cases[:EXAMPLES]),
    )


def _votes(view: HardPairs, listed: _PairList) -> Html:
    task = view.task
    fail = "all" if task.fail == len(view.judges) else f"{task.fail:,} or more"
    return _step(
        2,
        "Weak judges vote",
        el(
            "p",
            f"Each judge voted {task.votes} times in each order. It fails at a pair where "
            f"not most of its votes are right. A pair is hard where {fail} of "
            f"{numbers.count(len(view.judges), 'judge')} fail.",
        ),
        kit.grid(
            view.judges,
            kit.MarkupColumn("Weak judge", lambda one: numbers.middle(one.name, 40)),
            kit.number("Right (95 %)", _percents),
            kit.number("Wrong", lambda one: f"{one.stands.get('wrong', 0):,}"),
            kit.number("Unsettled", lambda one: f"{one.stands.get('unsettled', 0):,}"),
            kit.number("Not asked", lambda one: f"{one.stands.get('open', 0):,}", broad=True),
            label="Weak judges on all pairs",
        ),
        listed.fold("Pairs that they fail at", view.hard[:EXAMPLES]),
    )


def _percents(one: WeakJudge) -> str:
    share = one.right
    if not share.n:
        return numbers.NONE
    return numbers.percent(100 * share.value, share.n) + numbers.share_ends(share.lo, share.hi)


def _confirmed(here: Here, view: HardPairs, listed: _PairList) -> Html:
    by = f"{view.strong}, with as many votes" if view.strong else "people alone"
    door = kit.button(
        "Confirm by people: Human check",
        links.address(HUMAN_CHECK.url_path, here.filters, queue="pairs"),
    )
    doubt = view.decisions.get("drop", 0) + view.decisions.get("invert", 0)
    enriched = (
        f"{doubt:,} of {len(view.hard):,} turned out the other way: what weak judges fail at is "
        "rich in pairs whose order is wrong, so a set that nobody confirms punishes good judges."
        if doubt
        else ""
    )
    out = [case for case in view.hard if case.decision in ("drop", "vague", "invert")]
    if _came_to_nothing(view):
        return _step(3, "Somebody who can tell confirms", el("p", "There is nothing to confirm."))
    return _step(
        3,
        "Somebody who can tell confirms",
        el("p", f"Confirmed by {by}; what people say under Human check counts before it."),
        kit.grid(
            view.decisions.items(),
            kit.MarkupColumn("What became of it", lambda one: DECISIONS[one[0]][0]),
            kit.number("Pairs", lambda one: f"{one[1]:,}"),
            kit.MarkupColumn("", lambda one: kit.quiet(DECISIONS[one[0]][1])),
            label="Hard pairs by what became of them",
        )
        if view.decisions
        else None,
        el("p", enriched) if enriched else None,
        listed.fold("Pairs that didn’t hold", out[:EXAMPLES]),
        el("p", door) if view.hard else None,
    )


def _came_to_nothing(view: HardPairs) -> bool:
    """Whether every pair was asked about, and none is hard."""
    return view.asked == len(view.task.pairs) and not view.hard


def _set(view: HardPairs, listed: _PairList) -> Html:
    if _came_to_nothing(view):
        most = view.task.fail
        easier = f"; or call a pair hard where fewer than {most} fail" if most > 1 else ""
        return _step(4, "The set", kit.notice(
            "No pair was hard. Look for more below: ask about more pairs, or ask judges that are "
            f"weaker{easier}."
        ))  # fmt: skip
    chosen = view.chosen()
    kinds = kit.grid(
        view.errors[:12],
        kit.MarkupColumn(
            "What the worse answer loses most on", lambda error: format_path(error[0])
        ),
        kit.number("Pairs", lambda error: f"{error[1]:,}"),
        label="Kinds of error in the set",
    )
    return _step(
        4,
        "The set",
        el("p", f"{numbers.count(len(chosen), 'confirmed pair')}.", class_="strong"),
        kit.notice(_warning(view)),
        _narrow(kinds) if view.errors else None,
        listed.fold("Pairs of the set", chosen[:EXAMPLES]),
    )


def _warning(view: HardPairs) -> str:
    names = ", ".join(one.name for one in view.judges)
    return (
        f"These pairs were chosen because {names} fail at them. So the set can’t rank these "
        "judges: whatever they score on it was decided when it was chosen, and more votes make "
        "them worse on it. Use it to compare other judges; the set says on every row who chose it."
    )


# --- more votes -----------------------------------------------------------------------------------


def _curves(view: HardPairs) -> Html | None:
    drawn = [one for one in view.judges if len(one.every) > 1 and one.hard]
    if not drawn:
        return None
    return kit.section(
        _curves_title(drawn),
        el(
            "div",
            [
                el(
                    "figure",
                    el("figcaption", _curve_words(one), class_="small"),
                    _chart(one),
                    style="margin:0;flex:1 1 300px;max-width:420px",
                )
                for one in drawn
            ],
            style="display:flex;flex-wrap:wrap;gap:18px 28px",
        ),
        kit.note(
            "On all pairs a majority of more votes does as well as one, or better. A hard pair "
            "is one where most votes are wrong, so on those a majority repeats the error more "
            "surely than a single vote. A part of it is luck: the circle is what single votes get "
            "right on pairs that other votes of the same judges chose.",
            _who_chose(view),
        ),
        data_testid="hard-curves",
    )


def _who_chose(view: HardPairs) -> str:
    """Say why a line may not fall, where not all judges must fail."""
    need, judges = view.task.fail, len(view.judges)
    if need >= judges:
        return ""
    return (
        f" Here {need:,} of {judges:,} judges must fail: a judge gets worse only as far as it "
        "failed itself."
    )


def _curves_title(drawn: Sequence[WeakJudge]) -> str:
    """Name whom more votes make worse: where one judge's failing is enough, it may be that one."""
    worse = [one for one in drawn if one.hard[-1].value < one.hard[0].value]
    if len(worse) == len(drawn):
        return "More votes make these judges worse on what they chose"
    if not worse:
        return "More votes, on all pairs and on the hard ones"
    names = ", ".join(numbers.middle(one.name, 36) for one in worse)
    return f"More votes make {names} worse on what {'it' if len(worse) == 1 else 'they'} chose"


def _curve_words(one: WeakJudge) -> str:
    first, last = one.hard[0], one.hard[-1]
    fresh = f"; {numbers.share(one.fresh)} by votes that didn’t choose" if one.fresh_votes else ""
    return (
        f"{numbers.middle(one.name, 36)}: {numbers.share(first.value)} with 1 vote, "
        f"{numbers.share(last.value)} with {last.votes} on hard pairs{fresh}"
    )


def _chart(one: WeakJudge) -> Html:
    """Draw accuracy by number of votes, on all pairs and on the hard ones."""
    right, most = _WIDE - _RIGHT, max(len(one.every), len(one.hard)) - 1

    def x(at: int) -> float:
        return _LEFT + 16 + (right - _LEFT - 32) * at / max(most, 1)

    def y(share: float) -> float:
        return _TOP + (_HIGH - _TOP - _BOTTOM) * (1 - share)

    marks: list[Html] = []
    for tick in (0, 50, 100):
        marks += [
            el("line", x1=_LEFT, x2=f"{right:.1f}", y1=f"{y(tick / 100):.1f}",
               y2=f"{y(tick / 100):.1f}", class_="track"),
            svg_text(f"{tick} %", _LEFT - 5, y(tick / 100) + 4, "end", "tick"),
        ]  # fmt: skip
    for at, point in enumerate(one.every):
        word = "1 vote" if point.votes == 1 else f"{point.votes}"
        marks.append(svg_text(word, x(at), _HIGH - 8, "middle", "tick"))
    ends = _apart(y(one.every[-1].value), y(one.hard[-1].value))
    for points, colour, name in (
        (one.every, "var(--quiet)", "all pairs"),
        (one.hard, "var(--accent)", "hard pairs"),
    ):
        marks += _line(points, colour, x, y)
        marks.append(svg_text(name, right + 4, ends[name] + 4, "start", "name"))
    if one.fresh_votes:
        marks.append(el("circle", cx=f"{x(0):.1f}", cy=f"{y(one.fresh):.1f}", r="5", fill="none",
                        stroke="var(--accent)", stroke_width="2",
                        data_tip=f"votes that didn’t choose: {numbers.share(one.fresh, 1)} of "
                        f"{one.fresh_votes:,}"))  # fmt: skip
    said = "; ".join(
        f"{name}: " + ", ".join(f"{p.votes}: {numbers.share(p.value)}" for p in points)
        for name, points in (("all pairs", one.every), ("hard pairs", one.hard))
    )
    return el("svg", marks, class_="plot", viewBox=f"0 0 {_WIDE:.0f} {_HIGH:.0f}", role="img",
              aria_label=f"{one.name}: accuracy by number of votes. {said}")  # fmt: skip


def _apart(every: float, hard: float) -> dict[str, float]:
    """Return where the two lines' names stand: beside their ends, and never on each other."""
    push = max(0.0, _NAME - abs(every - hard)) / 2
    up, down = (every, hard) if every <= hard else (hard, every)
    names = ("all pairs", "hard pairs") if every <= hard else ("hard pairs", "all pairs")
    return dict(zip(names, (up - push, down + push), strict=True))


def _line(points: Sequence[VotePoint], colour: str, x: object, y: object) -> list[Html]:
    assert callable(x)
    assert callable(y)
    places = [(x(at), y(point.value), point) for at, point in enumerate(points)]
    found = [
        el("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b, _ in places), fill="none",
           stroke=colour, stroke_width="2")
    ]  # fmt: skip
    for a, b, point in places:
        if math.isfinite(point.lo):
            found.append(el("line", x1=f"{a:.1f}", x2=f"{a:.1f}", y1=f"{y(point.lo):.1f}",
                            y2=f"{y(point.hi):.1f}", stroke=colour))  # fmt: skip
        accuracy = numbers.share_interval(point.value, point.lo, point.hi)
        tip = f"{numbers.count(point.votes, 'vote')}: {accuracy}"
        found.append(el("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r="3.5", fill=colour, data_tip=tip))
    return found


# --- examples -------------------------------------------------------------------------------------


def _examples(view: HardPairs) -> list[PairCase]:
    out = [case for case in view.hard if case.decision in ("drop", "vague", "invert")]
    groups = (view.cases, view.hard, out, view.chosen())
    return [case for group in groups for case in group[:EXAMPLES]]


class _PairList:
    """Lists pairs with both answers, the better one first.

    Args:
        samples: by id.
        texts: answers by id.
    """

    def __init__(self, here: Here, samples: Mapping[str, Sample], texts: Mapping[str, str]) -> None:
        self._here, self._samples, self._texts = here, samples, texts

    def fold(self, title: str, cases: Sequence[PairCase]) -> Html | None:
        """Draw a fold of pairs; None without any."""
        return kit.fold(title, [self._case(case) for case in cases]) if cases else None

    def _case(self, case: PairCase) -> Html:
        pair = case.pair
        sample = self._samples.get(pair.sample_id)
        question = sample.question if sample is not None else ""
        first = 0 if case.better == "a" else 1
        ids, names = (pair.a, pair.b), case.models
        words = [f"known by {BY_WORDS[pair.by]}"]
        if case.failed is not None:
            words.append(f"{case.right:,} of {case.votes:,} weak votes are right")
        if case.stand is not None:
            words.append(f"strong judge: {case.stand}")
        if case.people is not None:
            words.append("people have said")
        if case.lost:
            words.append(f"the worse one loses on {case.lost[0][-1]}")
        cards = [
            el("div",
               el("div", kit.strong(word), " ", kit.small(names[at] or ""), class_="row"),
               ui_said.said(self._texts.get(ids[at], "")[:2000], lights=False))
            for word, at in (("Better", first), ("Worse", 1 - first))
        ]  # fmt: skip
        door = links.address(FAILURES.url_path, self._here.filters.but(sample=pair.sample_id))
        return el(
            "div",
            el("p", kit.door(f"Sample no. {case.number}", door), ": ",
               el("span", numbers.middle(" ".join(question.split()), _SHOWN), class_="text"),
               style="margin:10px 0 4px"),
            el("p", "; ".join(words), class_="quiet small", style="margin:0 0 4px"),
            el("div", cards, class_="columns"),
        )  # fmt: skip
