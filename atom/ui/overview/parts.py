"""What the Overview is made of: facts, ranking, skill table, quadrant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.display import numbers
from atom.ui import kit, links, score_marks
from atom.ui.html import Html, el, join
from atom.ui.judges import differing as judges_differing
from atom.ui.pages import FAILURES, OVERVIEW, RUNS
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.overview import ranking_table as tables
from atom.views.overview.evidence import GLYPHS
from atom.views.overview.page import Overview
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.overview.ranking import RankRow
from atom.views.overview.statements import Statement
from atom.views.overview.weakness_words import effect_words, frame_words, more_words
from atom.views.overview.weaknesses import Weakness, leading
from atom.views.people.scale_rows import PeopleScale, ScaleRow
from taxonomy import format_path

_PAGES = {"failures": FAILURES.url_path, "overview": OVERVIEW.url_path}
DEEPER, BROAD = 2, 1
"""Layers of the tree that the skill table shows of a chosen branch, and of the whole tree."""
MOST_LABELS = 10
"""Labels before the fold."""
FULL = 25.0
"""Difference, in points of 100, at which a cell's tint is full."""


def facts(statements: Sequence[Statement]) -> Html:
    """List what stands out, each sentence a door."""
    return el(
        "section",
        el("h2", "What stands out", class_="aside"),
        el(
            "ul",
            [kit.fact(s.text, links.address(_PAGES[s.page], s.filters)) for s in statements],
            class_="facts",
        ),
    )


def ranking(here: Here, view: Overview) -> Html:
    """Draw the ranking; each row opens the model's failures."""
    people = people_scale.column(here) if view.measure == "process" else None
    by_people = {row.model_id: row for row in people.rows} if people is not None else {}
    lo, hi = _ends(view.ranking)
    score = tables.SCORE[view.measure]

    def bar(row: RankRow, _: str) -> Html:
        drawn = score_marks.interval_bar(row.score, row.colour, lo=lo, hi=hi)
        return kit.cell(drawn, _list(row), tabindex="-1")

    def of(what: str) -> Html:
        return join("Right", el("div", what, class_="small"))

    return kit.section(
        _ranking_title(view),
        kit.drawn(
            tables.ranking_table(view, people=people),
            cells={
                tables.MODEL: lambda row, name: kit.cell(kit.model(name, row.colour), _list(row)),
                score: _score,
                tables.BAR: bar,
                tables.PEOPLE: lambda row, text: _on_people_s_scale(by_people, row, text),
                tables.GIVEN: _given,
                tables.NOT_GIVEN: _not_given,
                tables.LUCKY: _lucky,
                tables.SAID: _said,
                tables.TERSE: lambda row, _: _terse(row),
                tables.DIFFER: lambda row, text: judges_differing.cell(row.judges, text),
                tables.UNSCORED: _unscored,
                tables.WEAK: _weaknesses,
            },
            heads={
                score: _score_head(view, people),
                tables.BAR: _axis((lo, hi), view.measure == "process"),
                tables.RIGHT: of("of all asked"),
                tables.GIVEN: of("of answers given"),
            },
            on=lambda row: row.model_id == here.filters.model,
            tight=False,
        ),
        kit.note(_counted(here, view, people), style="margin-top:8px"),
        _how_weaknesses(here, view),
    )


def _ends(rows: Sequence[RankRow]) -> tuple[float, float]:
    """Choose the ends of the ranking's scale: tens that hold all intervals."""
    known = [row.score for row in rows if row.score.known]
    if not known:
        return 0, 100
    lo = 10 * math.floor(min(estimate.lo for estimate in known) / 10)
    hi = 10 * math.ceil(max(estimate.hi for estimate in known) / 10)
    return max(0, lo), min(100, max(hi, lo + 20))


def _axis(ends: tuple[float, float], process: bool) -> Html:
    unit = "" if process else " %"
    middle = kit.term("interval", "95 % interval")
    lo, hi = (el("span", f"{end:g}{unit}") for end in ends)
    return el("span", lo, middle, hi, class_="axis")


def _ranking_title(view: Overview) -> str:
    if view.selected:
        return f"Scores of {view.selected}, not ranked"
    known = [row for row in view.ranking if row.score.known]
    if len(known) == 1:
        return f"Score of {known[0].name}: one model, nobody to rank it against"
    first = [row for row in known if row.rank_best == 1]
    if len(first) > 1:
        return f"Ranking: {len(first):,} models could be first"
    return f"Ranking: {first[0].name} is first" if first else "Ranking"


def _list(row: RankRow) -> str:
    return links.address(FAILURES.url_path, row.filters)


def _score(row: RankRow, text: str) -> Html:
    every = f"every time {numbers.in_percent(row.hit_all, 0)}"
    return kit.cell(
        (
            kit.strong(text),
            kit.small(f"  n {row.score.samples:,}"),
            kit.under(every) if row.hit_clusters else None,
        ),
        _list(row),
        tip=f"{numbers.interval(row.score)}\n{numbers.count(row.score.n, 'answer')} to "
        f"{numbers.count(row.score.samples, 'sample')}" + _every_time(row),
    )


def _lucky(row: RankRow, text: str) -> Html:
    if not row.lucky.known:
        return kit.quiet(text)
    right = row.filters.but(outcome="right", process="flawed", show="all")
    tip = f"{numbers.interval(row.lucky)} of {row.lucky.n:,} right answers"
    return kit.cell(text, links.address(FAILURES.url_path, right), tip=tip)


def _said(row: RankRow, text: str) -> Html:
    tip = "Share of its scored checkpoints that its answers say anything about"
    if row.carried:
        tip += f"; {row.carried:,} carried, in no capability's mean"
    return el("span", text, data_tip=tip)


def _unscored(row: RankRow, text: str) -> Html:
    if not row.n_unscored:
        return kit.quiet(text, data_tip=_without(row) if row.n_aside else None)
    to = links.address(FAILURES.url_path, row.filters.but(show="unscored"))
    return kit.cell(text, to, tip=_without(row))


def _given(row: RankRow, text: str) -> Html | str:
    """Write how often a model is right where it answered."""
    if not row.given.known:
        return text
    found = row.accuracy
    told = f"{numbers.interval(row.given)}\n{found.n_given:,} of {found.n_asked:,} answers given"
    return el("span", text, data_tip=told)


def _not_given(row: RankRow, text: str) -> Html:
    return el("span", text, class_="small" if row.accuracy.words else "quiet")


def _terse(row: RankRow) -> Html:
    """Count a model's terse answers; the count opens them."""
    to = links.address(FAILURES.url_path, row.filters.but(terse="yes", show="all"))
    tip = "answers that speak of less than half of the weight of their steps: accused of nothing"
    return kit.counted(row.terse, to, tip=tip)


def _every_time(row: RankRow) -> str:
    """Say how often a question was answered right each time that it was asked."""
    if not row.hit_clusters:
        return ""
    return (
        f"\n{numbers.in_percent(row.hit_all)} of {row.hit_clusters:,} questions, each asked "
        "several times (of a "
        "picture at several rotations, say), are right every time"
    )


def _score_head(view: Overview, people: PeopleScale | None) -> Html | str:
    """Name the scores, and whose scale they are on; the chain says which reading they follow."""
    if view.measure != "process":
        return tables.SCORE[view.measure]
    words = kit.OWN_SCALE if people is None else "by the judge"
    head = join("Score, ", el("span", "0–100", class_="nowrap"))
    return join(head, el("div", kit.term("judge-scale", words), class_="small"))


def _on_people_s_scale(rows: Mapping[str, ScaleRow], of: RankRow, text: str) -> Html:
    """Write a model's score on people's scale; why there is none, where labels are too few."""
    row = rows.get(of.model_id)
    if row is None or not row.enough:
        labelled = 0 if row is None else row.labelled
        behind = numbers.count(labelled, "sample")
        tip = f"Labels on {behind} of this model’s answers; {MIN_LABELLED} are needed."
        return el("span", text, class_="quiet", data_tip=tip, tabindex="0")
    tip = f"{text} on people’s scale, by labels on {numbers.count(row.labelled, 'sample')}"
    ends = el("div", row.people.ends, class_="quiet small nowrap")
    return el("span", kit.strong(row.people.text), ends, data_tip=tip, tabindex="0")


def _without(row: RankRow) -> str:
    """Say what of a model has no score: what couldn't be read, and what doesn't apply."""
    text = f"{numbers.count(row.n_unscored, 'checkpoint')} without a score"
    if row.n_aside:
        says = f"{numbers.count(row.n_aside, 'mark')} {'says' if row.n_aside == 1 else 'say'}"
        text += f"\n{says} that the criterion doesn’t apply: in no mean"
    return text


def _weaknesses(row: RankRow, text: str) -> Html:
    """Name the surest weaknesses, each a door; where there is none say why."""
    if text == tables.ANCHOR:
        return kit.term("anchor", text)
    if not row.rank_best:
        return kit.quiet(text)
    items = leading(row.findings)
    if not items:
        return el("span", _no_weakness(row, text), class_="lowest")
    first, *others = items
    return el(
        "span",
        _weakness(first),
        # Where the screen is narrow, the first one stands alone.
        _further(others, class_="narrow quiet small"),
        el("span", _weakness(others[0]), _further(others[1:], class_="quiet small"),
           class_="broad nowrap") if others else None,
        class_="lowest",
    )  # fmt: skip


def _further(items: Sequence[Weakness], *, class_: str) -> Html | None:
    """Count the weaknesses that a row doesn't name."""
    if not items:
        return None
    names = "\n".join(f"{GLYPHS[item.status][0]} {item.name}" for item in items)
    return el("span", f" +{len(items)}", class_=class_, tabindex="0", data_tip=names)


def _weakness(item: Weakness) -> Html:
    glyph, words = GLYPHS[item.status]
    unit = "checkpoint" if item.label is None else "answer"
    tip = [
        f"{glyph} {words}",
        format_path(item.path) if item.path else item.name,
        effect_words(item),
        frame_words(item),
        f"n {numbers.count(item.samples, 'sample')}, {numbers.count(item.n, unit)}; "
        f"mean there {item.mean:.1f}",
        f"not counted: {item.left_out.words}" if item.left_out.words else "",
        more_words(item),
    ]
    return kit.door(
        el(
            "span",
            el("span", glyph, class_="glyph", aria_hidden="true"),
            numbers.middle(item.name, 24),
            class_="status weak",
        ),
        links.address(FAILURES.url_path, item.filters),
        class_="nowrap",
        aria_label=f"{words}: {item.name}",
        tip="\n".join(line for line in tip if line),
    )


def _no_weakness(row: RankRow, text: str) -> Html:
    tip = (
        f"{row.tested:,} tested: no weakness worth reporting beyond chance"
        if row.tested
        else f"nothing to compare on {MIN_SAMPLES} samples or more"
    )
    return kit.door(kit.small(text), _list(row), tip=tip)


def _how_weaknesses(here: Here, view: Overview) -> Html | None:
    """Say what the weaknesses are held against, under the table."""
    looked = view.weaknesses
    if looked is None:
        return None
    parts: list[Html | str] = [
        "▼ ",
        kit.term("confirmed weakness", "confirmed"),
        ", ▽ ",
        kit.term("suspected weakness", "suspected"),
        " weakness: ",
    ]
    if looked.frame == "peer":
        same = "criteria" if looked.facet is None else "questions"
        parts += [
            f"below what the other models' scores on the same {same} predict (",
            kit.term("peer frame", "compared with the other models"),
        ]
    else:
        rest = "capabilities" if looked.facet is None else "answers"
        parts += [
            f"below the rest of the model's own {rest} (",
            kit.term("own frame"),
            ", ",
            kit.term("confounded with difficulty"),
        ]
    parts += [
        f" by more than {looked.margin:g} points, ",
        kit.term("false discovery rate"),
        f" {numbers.share(looked.q)})",
    ]
    if here.filters.active:
        parts.append("; it holds for what the filters keep")
    return kit.note(*parts, ".")


def _counted(here: Here, view: Overview, people: PeopleScale | None) -> Html:
    parts: list[Html | str] = []
    if view.measure == "preference":
        parts.append(_voted(here, view))
    elif view.measure == "process":
        what = "all of its criteria"
        if here.filters.reading == "said":
            what = "those of its criteria that the answer speaks of"
        parts.append(join(f"Mean sample score over {what}, ", _whose(here, people)))
    else:
        parts.append("Share of right final answers, of all that were asked")
    parts.append(numbers.count(view.samples, "sample"))
    parts.append(numbers.count(view.answers, "answer"))
    if view.quarantined:
        every = Filters(study=here.filters.study, show="all")
        parts.append(
            join(
                kit.door(
                    f"{view.quarantined:,} set aside", links.address(FAILURES.url_path, every)
                ),
                " (judge and reference disagree)",
            )
        )
    parts += _shared(here, view)
    if view.measure == "process" and here.data.left_out:
        remark = links.address(RUNS.url_path, Filters(study=here.filters.study))
        parts.append(
            join(
                f"{numbers.count(here.data.left_out, 'mark')} on the older scale left out (",
                kit.door("mark again", remark),
                ", with its price first)",
            )
        )
    if view.measure == "process" and here.data.scale == "firmness":
        parts.append(kit.term("older scale", "marks on the older scale"))
    if view.pending:
        parts.append(f"{numbers.count(view.pending, 'checkpoint')} still to be scored")
    if view.unanswered:
        parts.append(f"{numbers.count(view.unanswered, 'answer')} missing or failed")
    return join(*[piece for part in parts for piece in (" · ", part)][1:])


def _shared(here: Here, view: Overview) -> list[Html | str]:
    """Offer to cut the ranking to samples that every model answered, or to take that back."""
    if here.filters.shared:
        every = links.address(OVERVIEW.url_path, here.filters.but(shared=False))
        return [
            join("only samples that every model answered (", kit.door("all samples", every), ")")
        ]
    ns = {row.score.samples for row in view.ranking if row.score.known}
    uneven = len(ns) > 1 or any(row.accuracy.withheld for row in view.ranking)
    if len(view.ranking) < 2 or not view.shared or not uneven:
        return []
    to = links.address(OVERVIEW.url_path, here.filters.but(shared=True))
    samples = numbers.count(view.shared, "sample")
    return [kit.door(f"only the {samples} that every model answered", to)]


def _whose(here: Here, people: PeopleScale | None) -> Html:
    """Say whose scale the scores are on, and how many labels say so."""
    if people is None:
        few = people_scale.status(here).samples
        words = f" ({few:,} of {MIN_LABELLED} samples labelled by people)" if few else ""
        return join("on the ", kit.term("judge-scale", kit.OWN_SCALE), words)
    samples = numbers.count(people.status.samples, "sample")
    return join(
        "by the judge; beside it ",
        kit.door("on people’s scale", people_scale.address(here)),
        f", by labels on {samples}",
        "" if people.status.lifted else f", {numbers.count(people.status.models, 'model')} so far",
    )


def _voted(here: Here, view: Overview) -> Html:
    """Say what a share of votes is, and against whom."""
    rule = join("a tie or an ", kit.term("order conflict"), " counts half")
    if view.anchor is None:
        return join("Share of votes won against the other models; ", rule)
    name = here.data.candidates[view.anchor].name
    return join(
        f"Share of votes won against {name}, the ", kit.term("anchor"), ", which isn't ranked; ",
        rule,
    )  # fmt: skip
