"""What people's labels of pairs and people's ratings look like, with judges beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from atom.analysis.agreement.fidelity import FidelityShare
from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Child, Html, el, join
from atom.views.lab.verdict_repeats import RepeatRow
from atom.views.people.pair_labels import LabelFigure, PairLabels
from atom.views.people.pair_table import (
    ACCURACY,
    COUNTED,
    JUDGE,
    PAIRS,
    THREE,
    UNREAD,
    PairAccuracyRow,
    pair_table,
)
from atom.views.people.ratings import PeopleRatings, RatingRow

MOST_JUDGES = 5
"""Judges that stand side by side in the table of ratings; further ones are counted in words."""


# --- pairs ---------------------------------------------------------------------------------------


Door = Callable[[str, str], str]
"""(judge's name, group of items) -> the address of the items behind a figure."""


def pairs(view: PairLabels, door: Door) -> Html:
    """Draw annotators' agreement, what most of them say, and judges against that."""
    badge = kit.synthetic_badge() if view.synthetic else None
    title = el("h2", "Do judges prefer the answer that most people prefer?", style="margin:0")
    return el(
        "section",
        el("div", title, badge, class_="row"),
        el("p", _answer(view), style="margin:8px 0"),
        _judges(view, door) if view.judges else None,
        _people(view),
    )


def _answer(view: PairLabels) -> Html:
    """Say first how the best judge does, then what people say."""
    strict = [row for row in view.judges if row.scores.counted == "wrong"]
    best = max(strict, key=lambda row: row.accuracy.value, default=None)
    people = numbers.count(len(view.annotators), "annotator")
    open_ = f"; {view.open:,} have no majority and don’t count" if view.open else ""
    base = (
        f"{people} labelled {numbers.count(view.pairs, 'pair')} of answers: most say the first is "
        f"better {view.first:,} times, the second {view.second:,} times, a tie {view.ties:,} times"
        f"{open_}. "
    )
    if best is None:
        return el("span", base, "No judge voted on these pairs.")
    often = "on" if len(strict) == 1 else "most often:"
    lead = f"{best.judge} follows the majority of people {often} {_share(best.accuracy)} of pairs"
    lead += _told_apart(view)
    how = ", unread verdicts counted as wrong" if best.scores.unread else ""
    return el("span", kit.strong(f"{lead}{how}. "), base)


def _told_apart(view: PairLabels) -> str:
    """Say whether the judge that is ahead is surely so."""
    lead = view.lead
    if lead is None or math.isnan(lead.gap.lo):
        return ""
    if lead.gap.lo > 0:
        return f", surely more than {lead.behind}"
    ends = numbers.signed_ends(100 * lead.gap.lo, 100 * lead.gap.hi)
    return f", but not surely more than {lead.behind} ({ends} points)"


def _judges(view: PairLabels, door: Door) -> Html:
    firsts = {row.judge: row for row in reversed(view.judges)}

    def judge(row: PairAccuracyRow, text: str) -> Child:
        if row.judge is None:
            return kit.quiet(text)
        return numbers.middle(text, 40) if firsts[text] is row.judge else ""

    def accuracy(row: PairAccuracyRow, text: str) -> Child:
        if row.judge is None:
            return kit.quiet(text)
        found = row.judge.accuracy
        tip = f"{numbers.count(found.n, 'pair')}, {numbers.count(found.clusters, 'sample cluster')}"
        return kit.door(kit.strong(text), door(row.who, ""), class_="plain", tip=tip)

    cells = {JUDGE: judge, COUNTED: _counted, ACCURACY: accuracy, UNREAD: _unread, PAIRS: _few}
    cells |= dict.fromkeys(THREE, _average)
    return el(
        "div",
        kit.drawn(pair_table(view), cells=cells),
        kit.note(_judge_words(view), style="margin-top:8px"),
    )


def _counted(row: PairAccuracyRow, text: str) -> Child:
    if row.judge is None:
        return text
    return el("span", text, class_=None if row.judge.scores.unread else "quiet")


def _average(row: PairAccuracyRow, text: str) -> Child:
    return text if row.judge or text == numbers.NONE else kit.quiet(text)


def _unread(row: PairAccuracyRow, text: str) -> Child:
    return kit.quiet(text) if row.judge and not row.judge.scores.unread else text


def _few(row: PairAccuracyRow, text: str) -> Child:
    return kit.quiet(text) if row.judge else text


def _judge_words(view: PairLabels) -> Html:
    conflicts = (
        f" {numbers.count(view.conflicts, 'vote')} changed with the order of showing and count as "
        "ties."
        if view.conflicts
        else ""
    )
    unread = (
        " A verdict that couldn’t be read can count as a tie, as wrong, or not at all: papers "
        "differ, so all are shown."
        if any(row.scores.unread for row in view.judges)
        else ""
    )
    return join(
        "Right is what most annotators say: first, second or tie. Precision, recall and F1 are ",
        kit.term("macro average", "means over the three labels"),
        f".{unread}{conflicts} In intervals all pairs on one question count as one draw.",
    )


class _AgreementRow(NamedTuple):
    who: str
    measure: Html
    figure: LabelFigure


def _people(view: PairLabels) -> Html | None:
    if not view.kappas:
        return None
    agreed = [
        _AgreementRow(
            f"{one.first} and {one.second}", kit.term("Cohen's kappa", "kappa"), one.kappa
        )
        for one in view.kappas
    ]
    if view.alpha is not None:
        alpha = kit.term("Krippendorff's alpha", "alpha")
        agreed.append(_AgreementRow("all annotators", alpha, view.alpha))
    left = (
        f" The {len(view.kappas):,} of {view.all_kappas:,} twos with the most in common are listed."
        if view.all_kappas > len(view.kappas)
        else ""
    )
    return el(
        "div",
        el(
            "p", "How far people agree with one another", class_="strong", style="margin:16px 0 4px"
        ),
        kit.grid(
            agreed,
            kit.MarkupColumn("Who", lambda one: one.who),
            kit.MarkupColumn("measure", lambda one: kit.quiet(one.measure)),
            kit.number("agreement (95 %)", lambda one: kit.strong(_figure(one.figure))),
            kit.number("pairs", lambda one: kit.quiet(f"{one.figure.n:,}")),
            label="Agreement of annotators",
        ),
        kit.note(
            f"1 is complete agreement, 0 what chance alone would give.{left}",
            style="margin-top:8px",
        ),
    )


# --- ratings -------------------------------------------------------------------------------------


def ratings(view: PeopleRatings, door: Door) -> Html:
    """Draw how far raters agree on each criterion, and how each judge's scores follow theirs."""
    judges = view.judges[:MOST_JUDGES]

    def rated(row: RatingRow, at: int) -> Html:
        return _rated(row, row.correlations[at], door(judges[at].name, row.criterion))

    return kit.section(
        "Do judges’ ratings follow people’s?",
        el("p", _rating_answer(view), style="margin:0 0 8px"),
        kit.grid(
            (view.whole, *view.rows),
            kit.MarkupColumn("Criterion", _criterion),
            kit.number(
                join(kit.term("Krippendorff's alpha", "Alpha"), " of raters (95 %)"),
                lambda row: _figure(row.alpha),
            ),
            *kit.each(range(len(judges)), lambda at: _cut(judges[at].name), rated),
            kit.number("Rated", lambda row: kit.quiet(f"{row.things:,}")),
            label="Ratings of people and judges",
        ),
        kit.note(_rating_words(view, len(judges)), style="margin-top:8px"),
    )


def _cut(name: str) -> Html:
    return el("span", numbers.middle(name, 24), data_tip=name)


def _criterion(row: RatingRow) -> Child:
    return row.criterion.replace("_", " ") if row.criterion else kit.strong("all")


def _rated(row: RatingRow, found: LabelFigure, href: str) -> Html:
    if not found.n:
        return el("span", _figure(found))
    shown = el("span", _figure(found), class_=None if row.criterion else "strong")
    return kit.door(shown, href, class_="plain", tip=f"{found.n:,} in common")


def _rating_answer(view: PeopleRatings) -> Html:
    found = [(one.name, row) for one, row in zip(view.judges, view.whole.correlations, strict=True)]
    best = max(found, key=lambda each: _last(each[1].value), default=None)
    scale = f"{view.lowest:g} to {view.highest:g}"
    raters = numbers.count(view.raters, "person", "people")
    each = f"{view.fewest:,} to {view.most}" if view.fewest < view.most else f"{view.most}"
    samples = numbers.count(view.samples, "sample")
    base = (
        f"{raters} gave {view.ratings:,} ratings ({scale}) on {samples}, {each} for each thing "
        "rated. "
    )
    if best is None:
        return el("span", base, "No judge rated the same.")
    name, figure = best
    sure = figure.lo > 0 or figure.hi < 0
    told = "" if sure or math.isnan(figure.lo) else ", which chance alone could give"
    lead = (
        f"{name} ranks things most like people do: " if len(found) > 1 else f"{name} and people: "
    )
    return el(
        "span",
        kit.strong(lead, kit.term("Spearman's correlation"), f" {_figure(figure)}{told}. "),
        base,
    )


def _last(value: float) -> float:
    """Sort an undefined value last."""
    return -math.inf if math.isnan(value) else value


def _rating_words(view: PeopleRatings, shown: int) -> Html:
    parts: list[Child] = []
    if view.judges:
        parts += [
            "Under each judge: ",
            kit.term("Spearman's correlation"),
            " of its score with the mean of people’s ratings; 0 is what chance gives, 1 the same "
            "order. ",
        ]
    if math.isfinite(view.one_rater):
        parts.append(
            f"One person’s ratings correlate with the mean of the others’ at {view.one_rater:.2f} "
            "on average: a judge near that does about as well as one person. "
        )
    parts.append("Alpha: 1 is complete agreement of raters, 0 what chance gives. ")
    unread = [one for one in view.judges if one.unread]
    parts += [f"{one.unread:,} scores of {one.name} couldn’t be read. " for one in unread]
    if view.unjudged:
        names = ", ".join(name.replace("_", " ") for name in view.unjudged[:6])
        parts.append(f"No judge rated {names}: not in “all”. ")
    if len(view.judges) > shown:
        parts.append(f"{len(view.judges) - shown:,} further judges aren’t shown. ")
    parts.append("Intervals draw whole samples again.")
    return join(*parts)


# --- repeats -------------------------------------------------------------------------------------


def repeats(rows: Sequence[RepeatRow]) -> Html | None:
    """Draw how steady scores are that were given several times; None without any."""
    if not rows:
        return None
    return kit.section(
        "Scores that came with an import: asked again, does a judge say the same?",
        kit.grid(
            rows,
            kit.MarkupColumn(
                "Judge",
                lambda row: el("span", numbers.middle(row.judge, 30), kit.small(f" {row.kind}")),
            ),
            kit.number("times", lambda row: f"{row.times:,}"),
            kit.number("same every time", lambda row: kit.strong(_share(row.equal))),
            kit.number("at most one off", lambda row: _share(row.adjacent)),
            kit.number("furthest apart", lambda row: f"{row.spread:g}"),
            kit.number(
                join(kit.term("Krippendorff's alpha", "alpha"), " (95 %)"),
                lambda row: _figure(row.alpha),
            ),
            kit.number("first with second", lambda row: numbers.plain(row.pearson), broad=True),
            kit.number("mean", lambda row: numbers.plain(row.mean), broad=True),
            kit.number(
                "unread",
                lambda row: f"{row.unread:,}" if row.unread else kit.quiet("0"),
                broad=True,
            ),
            kit.number("scored", lambda row: kit.quiet(f"{row.things:,}")),
            label="Repeated scores of imported judges",
        ),
        kit.note(
            "Of everything that a judge scored more than once. Alpha: 1 is complete agreement "
            "of the repeats, 0 what chance alone would give. First with second: their correlation "
            "(Pearson).",
            style="margin-top:8px",
        ),
    )


# --- numbers -------------------------------------------------------------------------------------


def _share(share: FidelityShare) -> str:
    return numbers.share_interval(share.value, share.lo, share.hi)


def _figure(figure: LabelFigure) -> str:
    if math.isnan(figure.lo):
        return numbers.plain(figure.value)
    value, lo, hi = map(numbers.plain, (figure.value, figure.lo, figure.hi))
    return f"{value} ({lo} to {hi})"
