"""What the Self-correction page shows: the effects with their controls, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from atom.analysis.correction.effects import Effect
from atom.analysis.correction.quality import Repair, RepairLabel
from atom.analysis.intervals import MIN_CLUSTERS
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.ui import kit, links
from atom.ui.html import Child, Html, el, join
from atom.ui.pages import CORRECTION, SETTINGS
from atom.views.correction.arm_table import BAR as NO_BAR
from atom.views.correction.arm_table import (
    DONE,
    FIXED,
    SHARE,
    TRIED,
    UNKNOWN,
    WRONG,
    arm_table,
    share_fixed,
)
from atom.views.correction.cases import CaseQuery, repair_control, write_query
from atom.views.correction.effect_table import (
    ARM_ONLY,
    BAR,
    CONCLUSION,
    CONTROL_ONLY,
    EFFECT,
    PAIRS,
    POINTS,
    effect_table,
    points,
)
from atom.views.correction.form import ARM_WORDS, EFFECT_WORDS, RULE_WORDS, CorrectionForm
from atom.views.correction.page import ArmLine, RepairLine, Results, UnlockedLine
from atom.views.correction.steps import Came, Table4
from atom.views.filters import Filters
from taxonomy import Path, format_path

_MOST = 10
"""Rows of a long table that are shown at once."""
_VERDICTS: dict[str, tuple[str, str, str]] = {
    "gain": ("▲", "strong-at", "More than its control, beyond chance, with all effects of this "
             "experiment allowed for."),
    "worse": ("▼", "weak", "Less than its control, beyond chance."),
    "no gain shown": ("·", "", "The difference may be chance: more answers would tell."),
    "luck, not a gain": ("≈", "", "It comes without any feedback, so no feedback may claim it."),
    "ceiling, not a gain": ("≈", "", "The truth was shown; feedback can't do more."),
    "beyond Re-eval, not a gain": ("≈", "", "More than hearing only that the answer is wrong, "
                                   "which asks about no step: it doesn't say that the diagnosis "
                                   "did it."),
    "too few pairs": ("○", "", "Under five independent answers can be compared."),
    "refused: no control ran": ("⊘", "weak", "An arm is never called a gain without its control."),
}  # fmt: skip
_REPAIRS: dict[RepairLabel, tuple[str, str]] = {
    "attention drift": ("▲", "recoverable: attention drift"),
    "lack of capability": ("▼", "stubborn: lack of capability"),
    "undecided": ("○", "undecided"),
}


@dataclass(frozen=True, kw_only=True)
class Doors:
    """Addresses on this page that keep the chosen experiment.

    Attributes:
        filters: the chain.
        experiment: the chosen experiment's id.
        tries: the chosen round, where it isn't the last.
    """

    filters: Filters
    experiment: str | None
    tries: str | None = None

    def tab(self, name: str | None, **local: str | None) -> str:
        """Return the address of a part of the page."""
        base = self.filters.but(sample=None, criterion=None)
        keys = {"experiment": self.experiment, "round": self.tries, "tab": name, **local}
        return links.address(CORRECTION.url_path, base, **keys)

    def cases(self, query: CaseQuery) -> str:
        """Return the address of the answers behind a number."""
        return self.tab("cases", **write_query(query))


def tabs(choices: Sequence[tuple[str | None, str]], chosen: str | None, doors: Doors) -> Html:
    """Draw the parts of the page."""
    return kit.tabs(
        [(label, doors.tab(name), name == chosen) for name, label in choices],
        label="Parts of this page",
    )


def _counted(number: int, href: str, what: str) -> Html:
    """Write a number that opens its answers."""
    return kit.counted(number, href, aria_label=what)


def verdict(effect: Effect) -> Html:
    """Write what may be said of an effect: a glyph and a word."""
    glyph, class_, tip = _VERDICTS[effect.verdict]
    return el(
        "span",
        el("span", glyph, class_="glyph", aria_hidden="true"),
        effect.verdict.replace("Re-eval", "being told"),
        class_=f"status {class_}",
        data_tip=tip,
    )


# --- the answer -----------------------------------------------------------------------------------


def what(found: Results) -> str:
    """Say what an experiment does, in words."""
    asked = found.experiment
    where = f" under {asked.node[-1]}" if asked.node else ""
    tries = f", up to {asked.rounds:,} rounds" if asked.rounds > 1 else ""
    right = f", {numbers.count(found.right, 'right one')}" if found.right else ""
    tried = found.tried  # in words, "12 of 40" while it runs
    rule = RULE_WORDS[asked.failed_rule]
    return f"{found.model}'s {rule}{where}: {tried} tried again{right}{tries}"


def answer(found: Results, *, alive: bool) -> Html:
    """Draw the answer to the page's question."""
    said = found.headline
    notes = []
    if alive:
        notes.append("So far: the experiment isn't over.")
    if said.luck:
        notes.append(said.luck)
    if not found.controlled and found.arms:
        notes.append(
            "No gain is claimed: judging the old answers again and another try without feedback "
            "didn't both run."
        )
    notes += _net_words(found)
    return el(
        "div",
        el("p", said.sentence, class_="strong", style="font-size:17px;line-height:1.35"),
        el("p", " ".join(notes), class_="text") if notes else None,
        class_="notice",
        style="font-size:var(--body);padding:10px 14px;display:flex;flex-direction:column;gap:5px",
    )


def _net_words(found: Results) -> list[str]:
    words = []
    if found.broken.n:
        share = numbers.percent(100 * found.broken.value, found.broken.n)
        words.append(f"It broke {share} of {found.broken.n:,} right answers.")
    if found.net is not None:
        net = found.net
        words.append(
            "Applied to every answer, right or wrong, this feedback would change accuracy by "
            f"{numbers.points_interval(net.value, net.lo, net.hi)} points, chance included."
        )
    return words


# --- effects --------------------------------------------------------------------------------------


def effects(found: Results, doors: Doors) -> Html:
    """Draw the effects as a forest, then the paper's gain by itself."""
    order = {"value": 0, "control": 1, "ceiling": 2, "printed": 3}
    ordered = sorted(found.effects, key=lambda effect: order[effect.role])
    span = _span((*found.effects, *found.printed))
    parts: list[Child] = []
    if ordered:
        parts += [
            el("h2", "What each adds to its control, on the same answers"),
            _forest(ordered, doors, span, "Effects with their controls"),
            _apart(found, doors),
        ]
    if found.printed:
        parts += [
            el(
                "h2",
                kit.term("gain as printed", "The gain as the paper prints it"),
                ": not controlled",
                style="margin-top:16px",
            ),
            el("p", "Held against being told alone, which asks nothing. Whatever a long message "
               "does by itself is in it.", class_="quiet small", style="margin-bottom:4px"),
            _forest(found.printed, doors, span, "The paper's gain"),
        ]  # fmt: skip
    return el("section", parts)


def _span(found: Sequence[Effect]) -> float:
    """Return half the width of the scale, a round number of points."""
    ends = [abs(100 * end) for e in found for end in (e.lo, e.hi, e.estimate) if math.isfinite(end)]
    most = max(ends, default=25.0)
    return next((float(size) for size in (10, 25, 50, 75) if most <= size), 100.0)


def _forest(found: Sequence[Effect], doors: Doors, span: float, label: str) -> Html:
    def only(came: str, number: int, effect: Effect, what: str) -> Html:
        return _counted(number, _pairs(doors, effect, came), what)

    cells: dict[str, Callable[[Effect, str], Child]] = {
        EFFECT: lambda one, _: _effect_name(one),
        BAR: lambda one, _: effect_bar(one.estimate, one.lo, one.hi, span),
        POINTS: lambda one, _: _estimate(points(one)),
        PAIRS: lambda one, _: only("pairs", one.n, one, f"{one.name}: pairs"),
        ARM_ONLY: lambda one, _: only("first", one.arm_only, one, "only the arm right"),
        CONTROL_ONLY: lambda one, _: only(
            "second", one.control_only, one, "only the control right"
        ),
        CONCLUSION: lambda one, _: verdict(one),
    }
    return kit.drawn(effect_table(found, label), cells=cells, heads={BAR: _axis(span)})


def _effect_name(effect: Effect) -> Html:
    words = EFFECT_WORDS[effect.name]
    arm, control = ARM_WORDS[effect.arm], ARM_WORDS[effect.control]
    role = {"control": " · a control", "ceiling": " · a ceiling"}.get(effect.role, "")
    return join(
        el("span", words.name, class_="term strong", tabindex="0", data_tip=words.meaning),
        kit.small(role),
        kit.under(
            el("span", arm.name, class_="term", data_tip=arm.meaning),
            " against ",
            el("span", control.name, class_="term", data_tip=control.meaning),
        ),
    )


def _pairs(doors: Doors, effect: Effect, came: str) -> str:
    query = write_query(CaseQuery(effect=effect.name))
    return doors.tab("cases", **{**query, "came": came})


def _estimate(one: Estimate) -> Html:
    if not one.ends:
        return el("span", one.text, class_=None if one.known else "quiet")
    return join(kit.strong(one.text), kit.under(one.ends))


def _axis(span: float) -> Html:
    return el(
        "span",
        el("span", f"−{span:.0f}"),
        el("span", "◂ worse"),
        el("span", "0"),
        el("span", "better ▸"),
        el("span", f"+{span:.0f}"),
        class_="axis",
    )


def effect_bar(value: float, lo: float, hi: float, span: float) -> Html:
    """Draw a difference of shares with its interval about zero.

    Args:
        value: the difference, -1..1.
        lo: lower end of its interval; NaN = none.
        span: half the width of the scale, in points.
    """

    def at(share: float) -> str:
        return f"{50 + 50 * max(-1.0, min(1.0, 100 * share / span)):.2f}%"

    lines = [
        el("line", class_="track", x1="0", x2="100%", y1="9", y2="9"),
        el("line", class_="zero", x1="50%", x2="50%", y1="0", y2="18"),
    ]
    if not math.isfinite(value):
        return el("svg", lines, class_="bar effect", role="img", aria_label="no value")
    side = "up" if value >= 0 else "down"
    if math.isfinite(lo) and math.isfinite(hi):
        lines.append(el("line", class_=f"span {side}", x1=at(lo), x2=at(hi), y1="9", y2="9"))
    lines.append(el("circle", class_=f"mid {side}", cx=at(value), cy="9", r="4.5"))
    words = f"{numbers.points(value)} points, interval {numbers.points_ends(lo, hi)}"
    return el("svg", lines, class_="bar effect", role="img", aria_label=words)


def _apart(found: Results, doors: Doors) -> Html | None:
    """Say who couldn't be paired."""
    effect = next((e for e in found.effects if e.apart), None)
    if effect is None:
        return None
    query = CaseQuery(effect=effect.name, came="apart")
    return kit.note(
        kit.door(f"{effect.apart} answers", doors.cases(query)),
        " are left out where passed steps are the control: they have no failed or no passed step.",
        style="margin-top:5px",
    )


# --- arms -----------------------------------------------------------------------------------------


def arms(found: Results, doors: Doors) -> Html | None:
    """Draw what came of each arm; nothing while nothing has come."""
    if not found.arms and found.on_right is None:
        return None
    notes = [
        el("li", f"{n} × “{ARM_WORDS[line.share.arm].name}”: {reason}", class_="text")
        for line in found.every_arm
        for reason, n in line.reasons[:4]
    ]

    def door(line: ArmLine, came: str) -> str:
        query = write_query(CaseQuery(arm=line.share.arm, cohort=line.cohort))
        return doors.tab("cases", **{**query, "came": came})

    def counted(line: ArmLine, number: int, came: str, words: str) -> Html:
        return _counted(number, door(line, came), f"{ARM_WORDS[line.share.arm].name}: {words}")

    def changed(came: str) -> Callable[[ArmLine, str], Html]:
        return lambda line, text: kit.cell(text, door(line, came))

    def unknown(line: ArmLine) -> Html:
        never = line.share.trials - line.tried
        return join(
            counted(line, line.share.unknown, "unknown", "no result"),
            kit.under(f"{never:,} never asked") if never else None,
        )

    return kit.section(
        "What was tried, and how often it came right",
        kit.drawn(
            arm_table(found.every_arm, "Arms"),
            cells={
                DONE: lambda line, _: _done(line),
                TRIED: lambda line, _: counted(line, line.tried, "tried", "tried"),
                FIXED: changed("right"),
                WRONG: changed("wrong"),
                SHARE: lambda line, _: _share(line),
                NO_BAR: lambda line, _: _share_bar(line),
                UNKNOWN: lambda line, _: unknown(line),
            },
        ),
        kit.note(
            "A share of fixed answers is no gain: another try alone fixes many.",
            style="margin-top:4px",
        ),
        kit.fold(
            f"Why some have no result ({numbers.count(len(notes), 'reason')})",
            el("ul", notes, class_="small", style="margin:0"),
        )
        if notes
        else None,
    )


def _done(line: ArmLine) -> Html:
    words = ARM_WORDS[line.share.arm]
    return join(
        el("span", words.name, class_="term", tabindex="0", data_tip=words.meaning),
        kit.under("on answers that were right (break rate)") if line.cohort == "right" else None,
    )


def _share(line: ArmLine) -> Html:
    one = share_fixed(line)
    if not one.n:
        return kit.quiet(numbers.NONE)
    return join(
        el("span", one.text, " broken" if line.cohort == "right" else None),
        kit.small(f" ({one.ends})" if one.ends else "", f" of {one.n:,}"),
    )


def _share_bar(line: ArmLine) -> Html:
    one = share_fixed(line)
    if not one.n:
        return Html("")
    value, lo, hi = one.value, one.lo, one.hi

    def at(part: float) -> str:
        return f"{100 * min(max(part, 0.0), 1.0):.1f}%"

    return el(
        "svg",
        el("line", class_="track", x1="0", x2="100%", y1="9", y2="9"),
        el("line", class_="span", x1=at(lo), x2=at(hi), y1="9", y2="9")
        if math.isfinite(lo) and math.isfinite(hi)
        else None,
        el("circle", class_="mid", cx=at(value), cy="9", r="4"),
        class_="bar effect",
        role="img",
        aria_label=f"{100 * value:.0f} percent",
    )


# --- where it helps -------------------------------------------------------------------------------


def by_root(found: Results, doors: Doors) -> Html | None:
    """Draw the main effect root by root."""
    if not found.by_root or found.main is None:
        return None
    main = found.main.name
    span = _span([line.effect for line in found.by_root])
    name = EFFECT_WORDS[main].name
    return kit.section(
        f"{name}, by where answers failed",
        kit.grid(
            found.by_root,
            kit.Column("Answers with a failed step under", lambda line: line.path[-1], width="27%"),
            kit.Column(
                _axis(span),
                lambda line: effect_bar(line.effect.estimate, line.effect.lo, line.effect.hi, span),
                width="32%",
            ),
            kit.number(
                "Points (95\N{NO-BREAK SPACE}%)", lambda line: _estimate(points(line.effect))
            ),
            kit.number(
                "Pairs",
                lambda line: _counted(
                    line.effect.n,
                    doors.cases(CaseQuery(effect=main, came="pairs", under=line.path)),
                    f"{line.path[-1]}: pairs",
                ),
            ),
            kit.Column("Conclusion", lambda line: verdict(line.effect)),
            label="By root",
        ),
    )


def by_leaf(found: Results, doors: Doors) -> Html | None:
    """Draw which capabilities are recoverable and which are stubborn."""
    if not found.by_leaf:
        return None
    enough = [line for line in found.by_leaf if line.repair.clusters >= MIN_CLUSTERS]
    few = [line for line in found.by_leaf if line.repair.clusters < MIN_CLUSTERS]
    control = repair_control(found)
    drawn = partial(_repairs, doors=doors, against=ARM_WORDS[control].name if control else "")
    recover = sum(line.repair.label == "attention drift" for line in found.by_leaf)
    stubborn = sum(line.repair.label == "lack of capability" for line in found.by_leaf)
    return kit.section(
        f"{numbers.count(recover, 'capability', 'capabilities')} recoverable, "
        f"{stubborn:,} stubborn, {len(found.by_leaf) - recover - stubborn:,} undecided",
        el("p", kit.term("attention drift", "Attention drift"), ": it can do it when told where to "
           "look. ", kit.term("lack of capability", "Lack of capability"), ": most steps stay "
           "failed even with the strongest help.", class_="quiet small",
           style="margin-bottom:4px"),
        drawn(enough, "Recoverable or stubborn") if enough else None,
        kit.fold(
            f"Under {MIN_CLUSTERS} independent answers, too few to tell ({len(few)})",
            drawn(few, "Too few to tell"),
        )
        if few
        else None,
    )  # fmt: skip


def _repairs(lines: Sequence[RepairLine], label: str, *, doors: Doors, against: str) -> Html:
    def counted(line: RepairLine, number: int, came: Came, what: str) -> Html:
        to = doors.cases(CaseQuery(arm=line.repair.arm, came=came, under=line.path))
        return _counted(number, to, f"{line.path[-1]}: {what}")

    return kit.grid(
        lines,
        kit.Column("Capability", lambda one: _leaf(one.path), width="24%"),
        kit.number("Failed steps", lambda one: counted(one, one.repair.n, "steps", "failed steps")),
        kit.number("Repaired", lambda one: counted(one, one.repaired, "repaired", "repaired")),
        kit.number(
            f"After “{against}”" if against else "Control",
            lambda one: numbers.percent(100 * one.repair.control_share, one.repair.n),
        ),
        kit.number("Beyond it (95 %)", lambda one: _beyond(one.repair)),
        kit.number("Strongest help", lambda one: _help(one.repair), broad=True),
        kit.Column("What it is", lambda one: _repaired(one.repair)),
        label=label,
    )


def _leaf(path: Path) -> Html:
    return el("span", path[-1], data_tip=format_path(path))


def _beyond(item: Repair) -> Html:
    if not (math.isfinite(item.estimate) and item.clusters >= MIN_CLUSTERS):
        return kit.quiet(numbers.NONE)
    ends = f" ({numbers.points_ends(item.lo, item.hi)})" if math.isfinite(item.lo) else ""
    return el("span", numbers.points(item.estimate), kit.small(ends))


def _help(item: Repair) -> Html:
    if item.help is None or item.help_arm is None:
        return kit.quiet(numbers.NONE)
    share = numbers.percent(100 * item.help.value, item.help.n)
    return el("span", share, data_tip=ARM_WORDS[item.help_arm].name)


def _repaired(item: Repair) -> Html:
    glyph, words = _REPAIRS[item.label]
    mark = el("span", glyph, class_="glyph", aria_hidden="true")
    return el("span", mark, words, class_="status", data_tip=item.reason)


def unlocking(found: Results, doors: Doors) -> Html | None:
    """Draw which steps came right together with the answer."""
    lines = [line for line in found.unlocking if line.unlocked.asked]
    if not lines:
        return None

    def counted(line: UnlockedLine, came: Came) -> Html:
        to = doors.cases(CaseQuery(arm="guided", came=came, under=line.path))
        return _counted(getattr(line.unlocked, came), to, f"{line.path[-1]}: {came}")

    def right(line: UnlockedLine, *, repaired: bool) -> str:
        one = line.unlocked
        if repaired:
            return numbers.percent(100 * one.fixed_when_flipped, one.flipped)
        return numbers.percent(100 * one.fixed_otherwise, one.asked - one.flipped)

    keys = [
        el(
            "li",
            kit.door(
                numbers.middle(" ".join(key.question.split()), 110),
                links.address(
                    CORRECTION.url_path,
                    doors.filters.but(
                        sample=found.samples.get(key.response_id), criterion=key.criterion_id
                    ),
                    experiment=doors.experiment,
                    tab="cases",
                    arm="guided",
                    by="guided",
                ),
                class_="text",
            ),
            kit.small(f" {key.path[-1]}" if key.path else ""),
        )
        for key in found.keys[:40]
    ]
    return kit.section(
        "Which steps came right together with the answer",
        el("p", "What went together, not what caused what.", class_="quiet small"),
        kit.grid(
            lines,
            kit.Column("Capability", lambda one: _leaf(one.path), width="26%"),
            kit.number("Asked about", lambda one: counted(one, "asked")),
            kit.number("Repaired", lambda one: counted(one, "flipped")),
            kit.number("… and answer right", lambda one: counted(one, "unlocked")),
            kit.number("Right when repaired", lambda one: right(one, repaired=True), broad=True),
            kit.number("Right otherwise", lambda one: right(one, repaired=False), broad=True),
            label="Unlocked",
            most=_MOST,
        ),
        kit.fold(f"The single steps ({len(found.keys)})", el("ul", keys, class_="small"))
        if keys
        else None,
    )


# --- several models -------------------------------------------------------------------------------


def table4(found: Table4, doors: Doors) -> Html:
    """Draw the paper's Table 4."""
    head, *lines = found.lines

    def cell(at: int, row: tuple[int, Sequence[str]]) -> Html:
        place, line = row
        if place % 2:
            return kit.small("mean step score" if at == 1 else line[at])
        if not at and line[0] in found.used:
            href = Doors(filters=doors.filters, experiment=found.used[line[0]]).tab(None)
            return kit.door(line[0], href)
        return el("span", line[at])

    notes = [
        "Upper lines: percent of initially wrong answers that are right after the strategy, by "
        "the root that carries most weight. Lower lines: mean score 1–5 of the steps. Gain is the "
        "average less Re-eval's, as the paper prints it: it has no control for a message's length.",
    ]
    if found.apart:
        notes.append(f"Left out, judged by another judge or threshold: {', '.join(found.apart)}.")
    return kit.section(
        "The paper's Table 4, from this study",
        kit.grid(
            enumerate(lines),
            *(kit.Column(title, partial(cell, at), number=at > 1) for at, title in enumerate(head)),
            label="Table 4",
        ),
        kit.note(" ".join(notes), style="margin-top:6px"),
    )


# --- before the start -----------------------------------------------------------------------------


def warnings(form: CorrectionForm) -> Html | None:
    """Say which claims a missing control costs."""
    if not form.warnings:
        return None
    return kit.notice(el("div", [el("p", kit.told(words)) for words in form.warnings]))


def no_criteria(filters: Filters) -> Html:
    """Say that nothing can be asked about."""
    del filters
    return kit.notice(
        "Nothing in this study is judged step by step, so no step can be asked about: only another "
        "try, being told, and showing the truth are possible. Judge the study on Runs first."
    )


def no_endpoint(message: str, filters: Filters) -> Html:
    """Say why a model can't be asked again, and where to mend it."""
    door = kit.button("Open Settings", links.address(SETTINGS.url_path, filters))
    return kit.fault(message, door, title="This can't be started")
