"""What the Overview shows of votes: strengths, order conflicts, and the judge's leaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit, links, said, score_marks
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.views.failures.votes import OrderVote, PairVotes
from atom.views.lab.preference_summary import (
    LevelRow,
    PreferenceSummary,
    VotedModel,
    VotingJudge,
    WilsonShare,
)


def votes(view: PreferenceSummary | None) -> Html | None:
    """Draw what all votes say together; None without votes."""
    if view is None:
        return None
    lo, hi = _ends(view)
    return kit.section(
        _title(view),
        kit.grid(
            view.models,
            kit.MarkupColumn("Model", _voted),
            kit.number(kit.term("Davidson strength", "Strength"), _strength),
            kit.MarkupColumn(_axis((lo, hi)), lambda one: _bar(one, lo, hi), width="24%"),
            kit.number("Won", lambda one: f"{one.won:,}"),
            kit.number("Tied", lambda one: kit.counted(one.tied)),
            kit.number("Lost", _lost),
            kit.number(
                kit.term("order conflict", "Order conflicts"), _conflicts, when=view.both_orders
            ),
            kit.number("Undecided", lambda one: kit.counted(one.undecided)),
            kit.MarkupColumn(
                "Judged by",
                lambda one: el("span", ", ".join(one.judges), class_="small quiet"),
                broad=True,
                when=len(view.judges) > 1,
            ),
            label="Votes by model",
            tight=False,
        ),
        kit.note(_note(view), style="margin-top:8px"),
        [kit.note(_judge(judge)) for judge in view.judges],
        _warning(view),
        _levels(view),
    )


def _title(view: PreferenceSummary) -> str:
    if not view.both_orders:
        return "Votes: each pair was judged in one order only"
    rate = view.conflict_rate
    share = numbers.percent(rate.value, rate.n)
    return f"Votes: in {share} of the comparisons the order of showing decided"


def _ends(view: PreferenceSummary) -> tuple[float, float]:
    found = [end for one in view.models for end in (one.lo, one.hi) if math.isfinite(end)]
    if not found:
        return -1, 1
    reach = max(1, math.ceil(max(abs(end) for end in found)))
    return -reach, reach


def _axis(ends: tuple[float, float]) -> Html:
    middle = kit.term("interval", "95 % interval")
    return el(
        "span", el("span", f"−{ends[1]:g}"), middle, el("span", f"+{ends[1]:g}"), class_="axis"
    )


def _voted(one: VotedModel) -> Html:
    name = kit.cell(kit.model(one.name, one.colour), links.address(FAILURES.url_path, one.filters))
    return join(name, kit.small(" ", kit.term("anchor"))) if one.anchor else name


def _strength(one: VotedModel) -> Html:
    if not math.isfinite(one.strength):
        return kit.strong(numbers.NONE)
    strength = numbers.signed(one.strength, 2)
    tip = f"{strength} ({numbers.signed_ends(one.lo, one.hi, 2)}); 0 is the mean of all models"
    return el("span", strength, class_="strong", data_tip=tip)


def _bar(one: VotedModel, lo: float, hi: float) -> Html | str:
    if not math.isfinite(one.strength):
        return numbers.NONE
    place = Estimate(value=one.strength, lo=one.lo, hi=one.hi, n=one.comparisons)
    return score_marks.interval_bar(place, one.colour, lo=lo, hi=hi)


def _conflicts(one: VotedModel) -> Html:
    rate = one.conflict_rate
    share = kit.small(f"  {_rate(rate)}")
    return el("span", f"{one.conflicts:,}", share, data_tip=_interval(rate))


def _lost(one: VotedModel) -> Html:
    """Write the lost comparisons; a door where the list behind it holds as many samples."""
    if not one.lost or one.lost == one.lost_samples:
        to = links.address(FAILURES.url_path, one.filters)
        return kit.counted(one.lost, to, tip=f"samples on which {one.name} lost")
    listed = numbers.count(one.lost_samples, "sample")
    tip = f"{listed} on which it lost more votes than it won"
    return el("span", f"{one.lost:,}", data_tip=tip)


def _rate(share: WilsonShare) -> str:
    return numbers.percent(share.value, share.n)


def _interval(share: WilsonShare) -> str:
    return (
        f"{numbers.in_percent(share.value)} ({numbers.ends(share.lo, share.hi)}) of "
        f"{numbers.count(share.n, 'comparison')}"
    )


def _note(view: PreferenceSummary) -> Html:
    parts: list[Html | str] = [
        numbers.count(view.comparisons, "comparison"),
        ", both orders taken together" if view.both_orders else "",
    ]
    if view.anchor is not None:
        parts += [f", all against {view.anchor}"]
    if view.undecided:
        parts += [f" · {view.undecided:,} undecided, not counted"]
    parts += [" · ", kit.term("Davidson strength", "Strength"), " is on a log scale, 0 the mean"]
    parts += [f"; two equally strong models would tie in {numbers.in_percent(view.tie, 0)}"]
    if view.held:
        parts += [" · some model always or never won, so its strength is only bounded"]
    return join(*parts)


def _judge(judge: VotingJudge) -> Html:
    """Say how far a judge leans to the answer that it is shown first."""
    bias = judge.bias
    name = judge.name or "The judge"
    parts: list[Html | str] = [f"{name}: {numbers.count(judge.votes, 'vote')}"]
    if judge.silent:
        parts.append(f", {judge.silent:,} of them name no winner (unable or unread)")
    if not bias.pairs:
        return join(*parts, "; no pair was judged in both orders, so its leaning is unknown")
    size = f"{numbers.signed(bias.beta, 2)}, 95 % {numbers.signed_ends(bias.lo, bias.hi, 2)}"
    leaning = {
        "first": "it leans to the answer shown first",
        "second": "it leans to the answer shown second",
        "": "no leaning to either place beyond chance",
    }[judge.pull]
    parts += [
        f"; {leaning} (",
        kit.term("position bias"),
        f" {size}: the first one won both times in {bias.first_twice:,} pairs, the second one "
        f"in {bias.second_twice:,}; the same answer in {bias.consistent:,} of {bias.pairs:,})",
    ]
    return join(*parts)


def _warning(view: PreferenceSummary) -> Html | None:
    """Say where models were judged by different judges."""
    sets = {one.judges for one in view.models if not one.anchor}
    if len(sets) < 2:
        return None
    return kit.notice(
        "Not all models were judged by the same judges: a difference between two of them may be a "
        "difference between judges."
    )


# --- votes by strength ---------------------------------------------------------------------------


def _levels(view: PreferenceSummary) -> Html | None:
    """Draw votes in five levels; None where no judge told better from much better."""
    if not view.levels:
        return None
    against = f" against {view.anchor}" if view.anchor is not None else ""
    ways = (
        " A vote that couldn’t be read can count as a tie, as published tables count it, or be "
        "left out: models with such votes stand twice."
        if any(row.counts.unread for row in view.levels)
        else ""
    )
    return el(
        "div",
        el("h2", f"How strongly: votes in five levels{against}", style="margin-top:24px"),
        kit.grid(
            view.levels,
            kit.MarkupColumn("Model", _levelled),
            kit.number(kit.term("Win rate"), _win),
            kit.number(kit.term("Reward"), _reward),
            kit.number("Much better", lambda row: kit.counted(row.counts.much_better)),
            kit.number("Better", lambda row: kit.counted(row.counts.better)),
            kit.number("Tie", lambda row: kit.counted(row.counts.tie)),
            kit.number("Worse", lambda row: kit.counted(row.counts.worse)),
            kit.number("Much worse", lambda row: kit.counted(row.counts.much_worse)),
            kit.number("Votes", lambda row: kit.quiet(f"{row.counts.n:,}")),
            label="Votes by strength",
        ),
        kit.note("Win rate: better and much better among all votes, a tie being no win. Reward: "
           f"+100, +50, 0, −50, −100 from much better to much worse, averaged.{ways} Intervals "
           "(95 %) count whole samples.", style="margin-top:8px"),
    )  # fmt: skip


def _levelled(row: LevelRow) -> Html:
    name = kit.cell(kit.model(row.name, row.colour), links.address(FAILURES.url_path, row.filters))
    if not row.counts.unread:
        return name
    how = "left out" if row.counts.counted == "left out" else "counted as ties"
    return join(name, kit.small(f" {row.counts.unread:,} unread {how}"))


def _win(row: LevelRow) -> Html:
    if not row.win.n:
        return el("div", kit.strong(numbers.NONE), kit.under(""))
    ends = numbers.ends(100 * row.win.lo, 100 * row.win.hi)
    return el("div", kit.strong(numbers.share(row.win.value, 1)), kit.under(f"({ends})"))


def _reward(row: LevelRow) -> Html:
    gap = row.reward
    if not gap.n:
        return el("span", numbers.NONE)
    ends = "" if math.isnan(gap.lo) else f"({numbers.signed(gap.lo)} to {numbers.signed(gap.hi)})"
    return el("div", kit.strong(numbers.signed(gap.gap)), kit.under(ends))


# --- one sample ----------------------------------------------------------------------------------


def sample_votes(pairs: Sequence[PairVotes]) -> Html | None:
    """Draw the votes between a sample's answers; None without any."""
    if not pairs:
        return None
    several = len({pair.judge for pair in pairs}) > 1
    words = [(pair, vote) for pair in pairs for vote in pair.orders if vote.reason]
    judge = pairs[0].judge
    return el(
        "div",
        el("h2", "Votes", kit.small(f" by {judge}" if judge and not several else "")),
        kit.grid(
            pairs,
            kit.MarkupColumn("Pair", _pair),
            kit.MarkupColumn("First one shown first", lambda pair: _vote(pair, "a")),
            kit.MarkupColumn("Second one shown first", lambda pair: _vote(pair, "b")),
            kit.MarkupColumn("Together", _together),
            kit.MarkupColumn(
                "Judge",
                lambda pair: el("span", pair.judge or "unnamed", class_="small quiet"),
                broad=True,
                when=several,
            ),
            label="Votes between answers",
        ),
        kit.fold(
            f"The judge's words ({len(words)})",
            [_words(pair, vote) for pair, vote in words],
        )
        if words
        else None,
    )


def _pair(pair: PairVotes) -> Html:
    first, second = kit.model(pair.a, pair.a_colour), kit.model(pair.b, pair.b_colour)
    return el("span", first, kit.quiet(" and "), second)


def _together(pair: PairVotes) -> Html:
    together = {
        "tie": "a tie",
        "conflict": join("the order decided: ", kit.term("order conflict"), ", counts half"),
        "undecided": "undecided",
    }
    return el(
        "span",
        together.get(pair.together) or f"{pair.name(pair.together)} wins",
        class_="strong" if pair.together in ("a", "b") else None,
    )


def _vote(pair: PairVotes, first: Literal["a", "b"]) -> Html:
    vote = {one.first: one for one in pair.orders}.get(first)
    if vote is None:
        return kit.quiet("not asked")
    if vote.verdict is None:
        return el("span", "∅ ", vote.detail or "no vote", class_="quiet text")
    return el("span", "tie" if vote.verdict == "tie" else pair.name(vote.verdict))


def _words(pair: PairVotes, vote: OrderVote) -> Html:
    first = pair.name(vote.first)
    return el(
        "div",
        el("p", f"{pair.a} and {pair.b}, {first} shown first", class_="quiet small"),
        said.said(vote.reason),
    )
