"""Skills under the fingerprints: a bar each, what is claimed of it, and how that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.fingerprints.choices import SHOWN
from atom.ui.fingerprints.radars import judge_words, mark_words
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.views.filters import label_name
from atom.views.fingerprints.bars import Bars, SkillBar
from atom.views.fingerprints.claims import claim_words
from atom.views.fingerprints.shape import Shape
from atom.views.overview.evidence import NodeEvidence
from atom.views.overview.weakness_words import frame_words, more_words


def skills(here: Here, form: Shape, view: Bars) -> Html:
    """Draw the skill bars of the chosen model, the surest evidence first."""
    what = "Capability" if form.facet is None else label_name(form.facet)
    framed = view.frame is not None
    axis = el("span", el("span", "0"), el("span", f"│ {_held_words(view)}"),
              el("span", "100"), class_="axis")  # fmt: skip

    def table(bars: Sequence[SkillBar], label: str) -> Html:
        return kit.grid(
            bars,
            kit.MarkupColumn("Evidence", partial(_claimed, view), width="150px", when=framed),
            kit.MarkupColumn(what, partial(_skill, form)),
            kit.MarkupColumn(
                axis,
                lambda bar: kit.cell(
                    _skill_bar(bar, view), _behind(bar), tip=_tip(form, bar), tabindex="-1"
                ),
                width="30%",
            ),
            kit.number(
                "Score" if form.measure == "process" else "%",
                lambda bar: numbers.score(bar.mark.estimate.value),
            ),
            kit.number("Departure, points", _departure, broad=True, when=framed),
            kit.number("n", lambda bar: kit.quiet(f"{bar.mark.estimate.n:,}")),
            label=label,
        )

    label = f"Skills of {view.model.name}"
    more = view.rows[SHOWN:]
    return kit.section(_skills_title(view),
        table(view.rows[:SHOWN], label),
        kit.fold(f"{len(more):,} more, with less evidence" if framed else f"{len(more):,} more",
                 table(more, f"{label}: the rest"))
        if more
        else None,
        kit.note(*_how(view, form),
            join(" Scores: ", people_scale.word(here), ".") if form.measure == "process" else None,
            style="margin-top:8px",
        ),
    )  # fmt: skip


def _skills_title(view: Bars) -> Html:
    name = kit.model(view.model.name, view.model.index)
    if not view.frame:
        return join("Skills of", name)
    kinds = [bar.claim.label for bar in view.rows if bar.claim is not None]
    said = [
        numbers.count(kinds.count("confirmed"), "confirmed weakness", "confirmed weaknesses"),
        f"{kinds.count('suspected')} suspected",
        numbers.count(kinds.count("strength"), "strength"),
    ]
    nothing = set(kinds) <= {"nothing found", "insufficient"}
    words = "nothing that stands out surely" if nothing else ", ".join(said)
    return join("Skills of", name, f"– {words}")


def _held_words(view: Bars) -> str:
    """Name what the line in each bar is: what the number beside it is held against."""
    if view.frame is None:
        return "the others' mean"
    return "expected from peers" if view.frame == "peer" else "expected from its other scores"


def _unsure(claim: NodeEvidence, view: Bars) -> Html | None:
    """Say why a departure whose interval leaves zero out is no finding."""
    if claim.label != "nothing found" or not (claim.lo > 0 or claim.hi < 0):
        return None
    words = f"not surely beyond {view.margin:g} points in {view.looks:,} looks"
    return kit.under(words)


def _behind(bar: SkillBar) -> str:
    return links.address(FAILURES.url_path, bar.mark.filters)


def _tip(form: Shape, bar: SkillBar) -> str:
    tip, claim = f"{bar.full}\n{mark_words(form, bar.mark)}", bar.claim
    if claim is not None:
        more = more_words(claim)
        tip += f"\n{claim.glyph} {claim.words}: {claim_words(claim, form.facet)}"
        tip += f"\n{frame_words(claim)}" + (f"\n{more}" if more else "")
    return tip + judge_words(bar.judge)


def _claimed(view: Bars, bar: SkillBar) -> Html | None:
    claim = bar.claim
    if claim is None:
        return None
    kind = {"confirmed": "weak", "suspected": "weak", "strength": "strong-at"}
    glyph = el("span", claim.glyph, class_="glyph", aria_hidden="true")
    quiet = "" if claim.label in kind else " quiet"
    status = el("span", glyph, claim.words, class_=f"status {kind.get(claim.label, '')}{quiet}")
    return join(status, _unsure(claim, view))


def _skill(form: Shape, bar: SkillBar) -> Html:
    name = kit.door(numbers.middle(bar.name, 34), _behind(bar), tip=_tip(form, bar))
    if bar.judge is None:
        return name
    doubt = el("div", bar.judge.text, class_="status weak small", data_tip=bar.judge.tip)
    return join(name, doubt)


def _departure(bar: SkillBar) -> str:
    claim = bar.claim
    return numbers.signed_interval(claim.effect, claim.lo, claim.hi) if claim else numbers.NONE


def _skill_bar(bar: SkillBar, view: Bars) -> Html:
    estimate, ink = bar.mark.estimate, kit.colour(view.model.index)

    def at(value: float) -> str:
        return f"{min(max(value, 0), 100):.2f}%"

    parts = [el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")]
    words = "no value"
    if estimate.known:
        parts.append(el("line", class_="span", x1=at(estimate.lo), x2=at(estimate.hi), y1="8",
                        y2="8", stroke=ink))  # fmt: skip
        parts.append(el("circle", cx=at(estimate.value), cy="8", r="4.5", fill=ink))
        words = numbers.interval(estimate)
    if not math.isnan(bar.held):
        parts.append(el("line", class_="peer", x1=at(bar.held), x2=at(bar.held), y1="0", y2="16"))
        words += f"; {_held_words(view)} {bar.held:.1f}"
    return el("svg", parts, class_="bar skill", role="img", aria_label=words)


def _how(view: Bars, form: Shape) -> list[Html | str]:
    if view.selected:
        return [
            f"Only {view.selected} are looked at: nothing is claimed, and the order is the tree's."
        ]
    if view.frame is None:
        return ["Nothing is claimed."]
    same = "criteria" if form.facet is None else "questions"
    if view.frame == "peer":
        against: list[Html | str] = [
            f"what the other models' scores on the same {same} predict (",
            kit.term("peer frame"),
            ")",
        ]
    else:
        rest = "criteria" if form.facet is None else "answers"
        against = [f"the rest of the model's own {rest} (", kit.term("own frame"), ", ",
                   kit.term("confounded with difficulty"), ")"]  # fmt: skip
    return [
        "Sorted by evidence, not by size: ▼ ",
        kit.term("confirmed weakness", "confirmed weakness"),
        ", ▽ ",
        kit.term("suspected weakness", "suspected"),
        ", ▲ ",
        kit.term("strength"),
        ", · nothing found, ○ ",
        kit.term("insufficient"),
        ". Held against ",
        *against,
        f"; a departure counts beyond {view.margin:g} points, ",
        kit.term("false discovery rate"),
        f" {numbers.share(view.q)}. A name opens the answers behind it.",
    ]
