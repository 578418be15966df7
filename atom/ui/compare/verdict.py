"""The Compare page's answer: which side is better, how sure that is, and what it rests on."""

from __future__ import annotations

import math

from atom.display import numbers
from atom.ui import kit
from atom.ui.compare.marks import VERDICTS, difference, dumbbell, forest, limit_of, marks_key
from atom.ui.compare.sides import names, pinned, short, to
from atom.ui.html import Html, el, join
from atom.ui.shell.frame import Here
from atom.views.compare.gap import ALPHA, Rights
from atom.views.compare.page import Comparison, UnpairedSamples


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
    limit = limit_of([abs(end) for end in (gap.lo, gap.hi, gap.value) if not math.isnan(end)])
    verdict = ("first" if gap.value > 0 else "second") if view.decided else "none"
    return el(
        "div",
        marks_key(view),
        el("div", dumbbell(view, gap.first, gap.second), _scale("0", "50", "100")),
        kit.small(f"{gap.first:.1f} and {gap.second:.1f} of 100"),
        kit.small("Difference, points"),
        el("div", forest(gap.value, gap.lo, gap.hi, limit, VERDICTS[verdict][2]),
           _scale(f"−{limit:g}", "0", f"+{limit:g}")),
        difference(gap.value, gap.lo, gap.hi, verdict),
        class_="vs",
    )  # fmt: skip


def _scale(*ends: str) -> Html:
    """Write the scale under a mark."""
    return el("span", [el("span", end) for end in ends], class_="axis quiet small")


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
    left: UnpairedSamples = view.left_out
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
