"""What the panel about people's scale is made of: judge and people side by side, labels needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit
from atom.ui.html import Html, el, join
from atom.ui.lab.reliability.truth import confusion_svg
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.people.scale_rows import UNEVEN, LeafRow, PeopleScale, RootShift, ScaleRow
from taxonomy import format_path

TITLE = "On people’s scale"
_DIAMOND = "M0 -5.5 L5.5 0 L0 5.5 L-5.5 0 Z"


def nobody(view: PeopleScale, label: str | None) -> Html:
    """Say that nothing is labelled yet, what labels would bring, and where to give them."""
    return el(
        "section",
        el("h2", TITLE, style="margin-top:14px"),
        [el("p", text) for text in view.statements],
        el(
            "p",
            f"With {MIN_LABELLED} labelled samples, the judge’s error is taken out of its scores: "
            "a few labels say by how much, and the judge’s scores on all other samples keep the "
            "intervals narrow.",
            class_="quiet",
        ),
        _left_out(view),
        kit.button("Label some answers", label, primary=True) if label else None,
    )


def answer(view: PeopleScale, label: str | None) -> Html:
    """Say in plain words what the labels tell."""
    short = not view.status.lifted
    return el(
        "section",
        el("h2", TITLE, style="margin-top:14px"),
        el("ul", [el("li", text) for text in view.statements], class_="facts"),
        _left_out(view),
        kit.button("Label more answers", label, primary=short) if label and short else None,
    )


def _heading(text: str) -> Html:
    return el("h3", text, style="font-size:var(--body);margin:0 0 6px")


def _left_out(view: PeopleScale) -> Html | None:
    """Count the labels that don't enter, each with its reason."""
    labels = view.status.labels
    outside = len(labels.row) - view.status.checkpoints
    parts = [
        (outside, "outside the filters or on samples set aside"),
        (labels.conflicts, "on which people disagree and nobody has settled it"),
        (labels.picked, "picked where the judge is unsure, so they don’t stand for the rest"),
        (labels.unscored, "without a score by this judge"),
        (labels.astray, "of criteria or answers that the study no longer has"),
    ]
    said = [f"{numbers.count(n, 'checkpoint')} {why}" for n, why in parts if n]
    if not said:
        return None
    words = f"Labelled, but left out here: {'; '.join(said)}."
    return kit.note(words, style="margin:6px 0")


# --- models ---------------------------------------------------------------------------------------


def models(view: PeopleScale) -> Html:
    """Draw every model's score by the judge and on people's scale."""
    return el(
        "section",
        _heading("Model by model"),
        _table(view.rows, view, "Scores by the judge and on people's scale"),
        kit.note(
            "Means of sample scores, 0–100. ◇ dashed: the judge alone. ● solid: ",
            kit.term("people's scale"),
            ", by ",
            kit.term("prediction-powered inference"),
            " from labels of that model’s own answers; ○ while they are too few. Relied on: how "
            "far the judge’s other scores were used to narrow the interval, 0 not at all, 1 fully. "
            "Labels needed is a forecast from the spread seen so far.",
            style="margin-top:8px;max-width:900px",
        ),
    )


def branches(view: PeopleScale) -> Html | None:
    """Draw every model's score by root."""
    rows = [row for row in view.roots if row.labelled]
    if not rows:
        return None
    return kit.fold(
        "By branch, model by model",
        _table(rows, view, "Scores by branch, by the judge and on people's scale"),
        kit.note(
            "Means of checkpoint scores under the branch, unweighted, as the tree shows them."
        ),
    )


def _table(rows: Sequence[ScaleRow], view: PeopleScale, label: str) -> Html:
    ends = _ends(one for row in rows for one in (row.judge, row.people))
    whole = not any(row.root for row in rows)
    return kit.grid(
        rows,
        kit.MarkupColumn(
            "Model",
            lambda row: kit.model(numbers.middle(row.name, 26), row.model, full=row.name),
        ),
        kit.MarkupColumn("Branch", lambda row: row.root, when=not whole),
        kit.MarkupColumn(
            _axis(ends),
            lambda row: pair(row.judge, row.people, row.model, ends, enough=row.enough),
            width="24%",
        ),
        kit.number("by the judge", lambda row: numbers.interval(row.judge)),
        kit.number("people’s scale", _by_people),
        kit.number("labels alone", lambda row: numbers.interval(row.alone), broad=True),
        kit.number("relied on", lambda row: numbers.plain(row.trust), broad=True),
        kit.number(
            "labelled",
            lambda row: kit.quiet(f"{row.labelled:,} of {row.labelled + row.unlabelled:,}"),
        ),
        kit.number(f"needed for ±{view.half:g}", _needed, when=whole),
        label=label,
    )


def _by_people(row: ScaleRow) -> Html:
    if row.enough:
        return kit.strong(numbers.interval(row.people))
    if not row.people.known:
        return kit.quiet("too few labels")
    labelled = numbers.count(row.labelled, "sample")
    tip = f"Labels on {labelled}; {MIN_LABELLED} are needed before this counts."
    return el("span", numbers.interval(row.people), el("div", "○ not yet", class_="small"),
              class_="quiet", data_tip=tip, tabindex="0")  # fmt: skip


def _needed(row: ScaleRow) -> Html | str:
    if row.needed is None:
        if row.labelled < 2:
            return numbers.NONE
        tip = "Not even with labels on every sample would the interval be so narrow."
        return el("span", "more than all", class_="term", data_tip=tip, tabindex="0")
    if row.needed <= row.labelled:
        return "reached"
    more = row.needed - row.labelled
    return el(
        "span", f"{more:,} more", data_tip=f"{row.needed:,} labelled samples in all", tabindex="0"
    )


def pair(
    judge: Estimate, people: Estimate, place: int, ends: tuple[float, float], *, enough: bool
) -> Html:
    """Draw two means one under the other, told apart by shape, line and word.

    Args:
        judge: by the judge: a hollow diamond on a dashed line.
        people: on people's scale: a filled dot on a solid line, hollow while labels are too few.
        place: the model's place in the study, for its colour.
        ends: of the scale.
        enough: whether enough samples are labelled.
    """
    ink = kit.colour(place)
    return el(
        "div",
        kit.small("judge"),
        _mark(judge, ends, ink, shape="diamond", words="by the judge"),
        kit.small("people"),
        _mark(people, ends, ink, shape="dot" if enough else "ring", words="on people’s scale"),
        style="display:grid;grid-template-columns:auto 1fr;column-gap:8px;align-items:center",
    )


def _mark(one: Estimate, ends: tuple[float, float], ink: str, *, shape: str, words: str) -> Html:
    lo, hi = ends

    at = kit.along(lo, hi)

    track = el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")
    if not one.known:
        return el("svg", track, class_="bar", role="img", aria_label=f"{words}: no value")
    dash = "4 3" if shape == "diamond" else None
    line = el("line", x1=at(one.lo), x2=at(one.hi), y1="8", y2="8", stroke=ink, stroke_width="2",
              stroke_dasharray=dash)  # fmt: skip
    fill = ink if shape == "dot" else "var(--ground)"
    if shape == "diamond":
        sign = el("svg", el("path", d=_DIAMOND, fill=fill, stroke=ink, stroke_width="1.6"),
                  x=at(one.value), y="8", style="overflow:visible")  # fmt: skip
    else:
        sign = el(
            "circle", cx=at(one.value), cy="8", r="4.8", fill=fill, stroke=ink, stroke_width="1.6"
        )
    return el("svg", track, line, sign, class_="bar", role="img",
              aria_label=f"{words}: {numbers.interval(one)}")  # fmt: skip


def _ends(estimates: Iterable[Estimate]) -> tuple[float, float]:
    """Choose tens that hold all intervals."""
    known = [one for one in estimates if one.known]
    if not known:
        return 0, 100
    lo = 10 * math.floor(min(one.lo for one in known) / 10)
    hi = 10 * math.ceil(max(one.hi for one in known) / 10)
    return max(0, lo), min(100, max(hi, lo + 20))


def _axis(ends: tuple[float, float]) -> Html:
    lo, hi = (el("span", f"{end:g}") for end in ends)
    return el("span", lo, kit.term("interval", "95 % interval"), hi, class_="axis")


# --- capabilities ---------------------------------------------------------------------------------


def capabilities(view: PeopleScale, chosen: str | None) -> Html:
    """Draw one model's capabilities, the others folded; or why there is nothing by capability."""
    title = _heading("Capability by capability")
    if not view.leaves:
        return el(
            "section",
            title,
            el("p", f"Not by capability yet: {view.refused}. Until then the numbers by branch are "
               "the finest that labels carry.", class_="quiet"),
        )  # fmt: skip
    by_model: dict[int, list[LeafRow]] = {}
    for leaf in view.leaves:
        by_model.setdefault(leaf.model, []).append(leaf)
    first = next((rows for rows in by_model.values() if rows[0].model_id == chosen), None)
    warn = (
        kit.notice("The judge’s error differs between branches (below), which these numbers don’t "
                   "allow for: trust the numbers by branch more.")
        if view.uneven
        else None
    )  # fmt: skip
    return el(
        "section",
        title,
        warn,
        kit.note(
            "Each of the judge’s scores is read as what it stands for, by the ",
            kit.term("confusion"),
            " that labels of all models together show. Labels of one model’s answers alone would "
            "tell too little of a single capability.",
            f" ○: under {MIN_SAMPLES} samples.",
            _borrowed(view),
            style="margin:6px 0 8px;max-width:900px",
        ),
        [
            kit.fold(
                kit.model(rows[0].name, rows[0].model),
                _leaf_table(rows),
                opened=rows is first,
            )
            for rows in by_model.values()
        ],
    )


def _borrowed(view: PeopleScale) -> str:
    """Say where the confusion is taken over to models that nobody labelled."""
    labelled, of = len(view.labelled_models), len(view.rows)
    if labelled >= of:
        return ""
    return (
        f" Only {numbers.count(labelled, 'model')} of {of:,} {'has' if labelled == 1 else 'have'} "
        "labels: the numbers of the others hold if the judge treats all alike."
    )


def _thin(row: LeafRow) -> bool:
    return row.judge.samples < MIN_SAMPLES


def _leaf_table(rows: Sequence[LeafRow]) -> Html:
    ends = _ends(one for row in rows for one in (row.judge, row.people))
    return kit.grid(
        rows,
        kit.MarkupColumn(
            "Capability",
            lambda row: el(
                "span", numbers.middle(row.path[-1], 30), data_tip=format_path(row.path)
            ),
        ),
        kit.MarkupColumn(
            _axis(ends),
            lambda row: pair(row.judge, row.people, row.model, ends, enough=not _thin(row)),
            width="28%",
        ),
        kit.number("by the judge", lambda row: numbers.interval(row.judge)),
        kit.number("people’s scale", lambda row: kit.strong(numbers.interval(row.people))),
        kit.number(
            "samples",
            lambda row: (
                kit.status("insufficient", f"{row.judge.samples:,}")
                if _thin(row)
                else kit.quiet(f"{row.judge.samples:,}")
            ),
        ),
        label=f"Capabilities of {rows[0].name}",
    )


# --- judge against people -------------------------------------------------------------------------


def differences(view: PeopleScale) -> Html:
    """Draw where judge and people differ: score against score, and root by root."""
    found = view.agreement
    alpha = numbers.plain(found.alpha)
    if math.isfinite(found.alpha_lo):
        alpha += f" ({numbers.ends(found.alpha_lo, found.alpha_hi, 2)})"
    kappa = numbers.plain(found.kappa)
    return el(
        "section",
        _heading("Where judge and people differ"),
        el(
            "p",
            f"Of {numbers.count(found.n, 'checkpoint')} that both scored, the judge gives "
            f"people’s score in {numbers.percent(100 * found.exact, found.n)}, at most one off in "
            f"{numbers.percent(100 * found.adjacent, found.n)}. ",
            kit.term("Krippendorff's alpha", "Alpha"),
            f" {alpha}, ",
            kit.term("weighted kappa"),
            f" {kappa}.",
        ),
        el(
            "div",
            el("div", el("p", "People’s score against the judge’s, % of each of people’s",
                         class_="strong small"),
               confusion_svg(view.counts, "All labels", rows="people")),
            el("div", _shift_table(view.shifts), _even(view), style="flex:1;min-width:340px"),
            style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start",
        ),
    )  # fmt: skip


def _shift_table(shifts: Sequence[RootShift]) -> Html:
    return kit.grid(
        shifts,
        kit.MarkupColumn("Branch", lambda one: one.root or "Everything"),
        kit.number(
            "judge less people, points of 1–5 (95 %)",
            lambda one: numbers.signed_interval(one.shift, one.lo, one.hi, 2),
        ),
        kit.MarkupColumn("in words", lambda one: _way(one)),
        kit.number("checkpoints", lambda one: kit.quiet(f"{one.n:,}")),
        kit.number("samples", lambda one: kit.quiet(f"{one.samples:,}")),
        label="Judge less people by branch",
    )


def _way(one: RootShift) -> Html:
    if math.isnan(one.shift):
        return kit.status("insufficient", "too few labels")
    if one.lo <= 0 <= one.hi:
        return kit.status("nothing", "no sure difference")
    way = "kinder than people" if one.shift > 0 else "stricter than people"
    return el("span", f"◑ {way}", class_="status weak")


def _even(view: PeopleScale) -> Html | None:
    if math.isnan(view.homogeneous_p):
        return kit.note("Too few labels to say whether the judge errs alike in every branch.")
    p = f"p {numbers.p_value(view.homogeneous_p)}"
    words = (
        "The judge does not err alike in every branch"
        if view.uneven
        else "Nothing says that the judge errs otherwise in one branch than in another"
    )
    return kit.note(join(words, f" ({p}; called different under {UNEVEN:g})."))
