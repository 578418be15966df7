"""What people's labels of pairs and people's ratings look like, with judges beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from atom.analysis.agreement.fidelity import Share
from atom.analysis.agreement.raters import ClassScores, Unread
from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Child, Html, el, join
from atom.views.lab.verdict_repeats import RepeatRow
from atom.views.people.pair_labels import CHANCE, FIRST, TIE, Figure, JudgeRow, PairLabels
from atom.views.people.ratings import PeopleRatings, RatingRow

MOST_JUDGES = 5
"""Judges that stand side by side in the table of ratings; further ones are counted in words."""
_WAYS: dict[Unread, str] = {
    "tie": "as ties",
    "wrong": "as wrong",
    "left out": "left out",
}


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
    columns = [
        kit.Head(title="Judge"),
        kit.Head(title="Unread count"),
        kit.Head(title="Accuracy (95 %)", number=True),
        kit.Head(title=kit.term("macro average", "Precision"), number=True),
        kit.Head(title="Recall", number=True),
        kit.Head(title="F1", number=True),
        kit.Head(title="Unread", number=True),
        kit.Head(title="Pairs", number=True),
    ]
    rows = [kit.Row(cells=_judge(row, view.judges, door)) for row in view.judges]
    words = "the first answer" if view.commonest_label == FIRST else "the second answer"
    always = "a tie" if view.commonest_label == TIE else words
    rows.append(_base(f"Always {always}, the commonest label", view.commonest))
    third = kit.quiet(numbers.share(CHANCE, 1))
    rows.append(
        kit.Row(
            cells=[kit.quiet("A label at random"), "", third, third, third, numbers.NONE, "", ""]
        )
    )
    return el(
        "div",
        kit.table(columns, rows, label="Judges against most people", tight=True),
        kit.note(_judge_words(view), style="margin-top:8px"),
    )


def _judge(row: JudgeRow, rows: Sequence[JudgeRow], door: Door) -> list[Child]:
    scores = row.scores
    first = next(one for one in rows if one.judge == row.judge) is row
    way = _WAYS[scores.counted] if scores.unread else "none unread"
    tip = f"{row.accuracy.n:,} pairs, {numbers.count(row.accuracy.clusters, 'sample cluster')}"
    return [
        numbers.middle(row.judge, 40) if first else "",
        el("span", way, class_=None if scores.unread else "quiet"),
        kit.door(
            kit.strong(_share(row.accuracy)),
            door(row.judge, ""),
            class_="plain",
            tip=tip,
        ),
        *_three(scores),
        f"{scores.unread:,}" if scores.unread else kit.quiet("0"),
        kit.quiet(f"{scores.n:,}"),
    ]


def _three(scores: ClassScores) -> list[str]:
    return [numbers.share(value, 1) for value in (scores.precision, scores.recall, scores.f1)]


def _base(words: str, scores: ClassScores) -> kit.Row:
    cells = [numbers.share(scores.accuracy, 1), *_three(scores)]
    return kit.Row(cells=[kit.quiet(words), "", *(kit.quiet(cell) for cell in cells), "", ""])


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


def _people(view: PairLabels) -> Html | None:
    if not view.kappas:
        return None
    rows = [
        kit.Row(
            cells=[
                f"{one.first} and {one.second}",
                kit.quiet(kit.term("Cohen's kappa", "kappa")),
                kit.strong(_figure(one.kappa)),
                kit.quiet(f"{one.kappa.n:,}"),
            ]
        )
        for one in view.kappas
    ]
    if view.alpha is not None:
        rows.append(
            kit.Row(
                cells=[
                    "all annotators",
                    kit.quiet(kit.term("Krippendorff's alpha", "alpha")),
                    kit.strong(_figure(view.alpha)),
                    kit.quiet(f"{view.alpha.n:,}"),
                ]
            )
        )
    left = (
        f" The {len(view.kappas):,} of {view.all_kappas:,} twos with the most in common are listed."
        if view.all_kappas > len(view.kappas)
        else ""
    )
    columns = [
        kit.Head(title="Who"),
        kit.Head(title="measure"),
        kit.Head(title="agreement (95 %)", number=True),
        kit.Head(title="pairs", number=True),
    ]
    return el(
        "div",
        el("p", "How far people agree with one another", class_="strong",
           style="margin:16px 0 4px"),
        kit.table(columns, rows, label="Agreement of annotators", tight=True),
        kit.note(f"1 is complete agreement, 0 what chance alone would give.{left}",
           style="margin-top:8px"),
    )  # fmt: skip


# --- ratings -------------------------------------------------------------------------------------


def ratings(view: PeopleRatings, door: Door) -> Html:
    """Draw how far raters agree on each criterion, and how each judge's scores follow theirs."""
    judges = view.judges[:MOST_JUDGES]
    columns = [
        kit.Head(title="Criterion"),
        kit.Head(title=join(kit.term("Krippendorff's alpha", "Alpha"), " of raters (95 %)"),
                   number=True),
        *(kit.Head(title=el("span", numbers.middle(one.name, 24), data_tip=one.name),
                     number=True) for one in judges),
        kit.Head(title="Rated", number=True),
    ]  # fmt: skip
    names = [one.name for one in judges]
    rows = [kit.Row(cells=_rating(row, names, door)) for row in (view.whole, *view.rows)]
    return kit.section(
        "Do judges’ ratings follow people’s?",
        el("p", _rating_answer(view), style="margin:0 0 8px"),
        kit.table(columns, rows, label="Ratings of people and judges", tight=True),
        kit.note(_rating_words(view, len(judges)), style="margin-top:8px"),
    )


def _rating(row: RatingRow, judges: Sequence[str], door: Door) -> list[Child]:
    return [
        row.criterion.replace("_", " ") if row.criterion else kit.strong("all"),
        _figure(row.alpha),
        *(
            kit.door(
                el("span", _figure(one), class_=None if row.criterion else "strong"),
                door(name, row.criterion),
                class_="plain",
                tip=f"{one.n:,} in common",
            )
            if one.n
            else el("span", _figure(one))
            for name, one in zip(judges, row.correlations, strict=False)
        ),
        kit.quiet(f"{row.things:,}"),
    ]


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
    columns = [
        kit.Head(title="Judge"),
        kit.Head(title="times", number=True),
        kit.Head(title="same every time", number=True),
        kit.Head(title="at most one off", number=True),
        kit.Head(title="furthest apart", number=True),
        kit.Head(title=join(kit.term("Krippendorff's alpha", "alpha"), " (95 %)"), number=True),
        kit.Head(title="first with second", number=True, broad=True),
        kit.Head(title="mean", number=True, broad=True),
        kit.Head(title="unread", number=True, broad=True),
        kit.Head(title="scored", number=True),
    ]
    return kit.section("Scores that came with an import: asked again, does a judge say the same?",
        kit.table(columns, [kit.Row(cells=_repeat(row)) for row in rows],
                  label="Repeated scores of imported judges", tight=True),
        kit.note("Of everything that a judge scored more than once. Alpha: 1 is complete agreement "
           "of the repeats, 0 what chance alone would give. First with second: their correlation "
           "(Pearson).", style="margin-top:8px"),
    )  # fmt: skip


def _repeat(row: RepeatRow) -> list[Child]:
    return [
        el("span", numbers.middle(row.judge, 30), kit.small(f" {row.kind}")),
        f"{row.times:,}",
        kit.strong(_share(row.equal)),
        _share(row.adjacent),
        f"{row.spread:g}",
        _figure(row.alpha),
        numbers.plain(row.pearson),
        numbers.plain(row.mean),
        f"{row.unread:,}" if row.unread else kit.quiet("0"),
        kit.quiet(f"{row.things:,}"),
    ]


# --- numbers -------------------------------------------------------------------------------------


def _share(share: Share) -> str:
    return numbers.share_interval(share.value, share.lo, share.hi)


def _figure(figure: Figure) -> str:
    if math.isnan(figure.lo):
        return numbers.plain(figure.value)
    value, lo, hi = map(numbers.plain, (figure.value, figure.lo, figure.hi))
    return f"{value} ({lo} to {hi})"
