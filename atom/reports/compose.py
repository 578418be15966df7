"""Compose: plain sentences from findings, by rule.

Each sentence states its numbers with their interval and n, and what they are held against; wording
varies by the finding's turn in its section, never at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from atom.display.numbers import count
from atom.reports import correction_sentences, printed
from atom.reports.caveat_sentences import caveat
from atom.reports.printed import listed
from atom.reports.records import (
    MODEL_PARTS,
    STUDY_PARTS,
    Finding,
    Kind,
    PartText,
    Passage,
)

Sentence = Callable[[Finding, int], str]


def compose(findings: Iterable[Finding], owner: str | None, measure: str) -> tuple[PartText, ...]:
    """Write a section.

    Args:
        findings: those that are told.
        owner: the model's id; None for the study's own section.
        measure: `process`, `outcome` or `preference`.

    Returns:
        Its parts that have anything to say, in their order.
    """
    mine = [finding for finding in findings if finding.owner == owner]
    parts = []
    for part in STUDY_PARTS if owner is None else MODEL_PARTS:
        passages = _passages([f for f in mine if f.part == part], measure)
        if passages:
            parts.append(PartText(part=part, passages=passages))
    return tuple(parts)


def _passages(findings: Sequence[Finding], measure: str) -> tuple[Passage, ...]:
    turns: dict[Kind, int] = {}
    found = []
    for finding in sorted(findings, key=lambda f: -f.salience):
        if finding.kind == "ranking" and finding.owner is None:
            continue  # the table of the ranking says it
        turn = turns.get(finding.kind, 0)
        turns[finding.kind] = turn + 1
        text = sentence(finding, turn, measure)
        found.append(Passage(text=text, findings=(finding.id,)))
    return tuple(found)


def sentence(finding: Finding, turn: int = 0, measure: str = "process") -> str:
    """Say a finding in words.

    Args:
        turn: which one of its kind it is in its section, from 0: wording varies by it.
        measure: what the numbers are.
    """
    if finding.kind in ("ranking", "lead", "tie", "comparison", "hard", "top_tie"):
        return _MEASURED[finding.kind](finding, turn, measure)
    return _SENTENCES[finding.kind](finding, turn)


def place_words(finding: Finding) -> str:
    """Name a capability by its own name and what it hangs under, or a label by its facet."""
    if finding.label:
        facet, value = finding.place
        return f"{value} ({facet})"
    if len(finding.place) < 2:
        return finding.place_name
    return f"{finding.place_name} (under {finding.place[0]})"


def n_words(finding: Finding, name: str) -> str:
    """Write what a number rests on: `n 132 criteria of 60 samples`."""
    number = finding.number(name)
    if number is None or number.n is None:
        return ""
    text = f"n = {printed.n_words(number)}"
    samples = finding.number("samples")
    if samples is not None and number.n_unit == "criteria":
        text += f" from {count(int(samples.value or 0), 'sample')}"
    return text


def _score_words(text: str, measure: str) -> str:
    if measure == "process":
        return f"a mean score of {text} on 0–100"
    return f"{text} right answers" if measure == "outcome" else f"{text} of votes won"


# --- the study -----------------------------------------------------------------------------------


def _coverage(finding: Finding, turn: int) -> str:
    del turn
    n = {number.name: number.shown for number in finding.numbers}
    models = "1 model" if n["models"] == "1" else f"{n['models']} models"
    samples = "1 sample" if n["samples"] == "1" else f"{n['samples']} samples"
    answers = "1 answer" if n["answers"] == "1" else f"{n['answers']} answers"
    if n["answers"] == "0":
        return "Nothing is scored or graded under this selection: there is nothing to compare."
    text = f"{models} gave {answers} to {samples}"
    if "criteria" in n:
        text += f"; a judge gave {n['checkpoints']} scores at {n['criteria']} criteria"
    sets = finding.facts.get("datasets", "")
    return f"{text}.{f' Data: {sets}.' if sets else ''}"


def _lead(finding: Finding, turn: int, measure: str) -> str:
    del turn
    score = _score_words(finding.printed("score"), measure)
    others = int(finding.numbers[-1].value or 0) - 1
    whom = "the other model" if others == 1 else f"all {others} others"
    return (
        f"{finding.models[0]} leads with {score} ({n_words(finding, 'score')}), ahead of {whom} "
        "beyond chance (all pairs compared on shared samples, 5 % risk of any wrong order)."
    )


def _tie(finding: Finding, turn: int, measure: str) -> str:
    del turn
    first, *others = finding.models
    score = _score_words(finding.printed("score"), measure)
    return (
        f"{first} has the highest value, {score} ({n_words(finding, 'score')}), but the data don't "
        f"settle who is first: {listed(others)} can't be told apart from it."
    )


def _ranking(finding: Finding, turn: int, measure: str) -> str:
    del turn
    name = finding.models[0]
    if finding.number("score") is None:
        return f"Nothing of {name} is scored under this selection."
    score = _score_words(finding.printed("score"), measure)
    text = f"{name} has {score} ({n_words(finding, 'score')})"
    rank = finding.number("rank")
    if rank is not None:
        ranks = "rank" if rank.lo == rank.hi else "ranks"
        text += f", which the data place at {ranks} {rank.shown}"
        if finding.number("models") is not None:
            text += f" of {finding.printed('models')}"
    elif finding.facts.get("anchor"):
        text += "; all others were voted against it, so it has no rank"
    text += "."
    right = finding.number("right")
    if right is not None:
        text += (
            f" Its final answer is right in {right.shown} of cases ({n_words(finding, 'right')})."
        )
    unscored = finding.number("unscored")
    if unscored is not None:
        text += f" {unscored.shown} of its checkpoints could not be scored and count nowhere."
    return text


def _comparison(finding: Finding, turn: int, measure: str) -> str:
    first, other = finding.models
    gap = finding.number("gap")
    assert gap is not None
    p = f", {finding.facts['p']}" if finding.facts.get("p") else ""
    where = f"on the {n_words(finding, 'gap').removeprefix('n = ')} that both answered"
    unit = "points of 100" if measure == "process" else "percentage points"
    beyond = gap.lo is not None and gap.hi is not None and not gap.lo <= 0 <= gap.hi
    if beyond and finding.facts.get("tied"):
        return (
            f"Taken alone, {first} is ahead of {other} by {gap.shown} {unit} {where}{p}; with all "
            "pairs of models compared, chance can't be ruled out."
        )
    if gap.lo is not None and gap.hi is not None and gap.lo <= 0 <= gap.hi:
        return (
            f"Between {first} and {other} the difference is {gap.shown} {unit} {where}{p}: "
            "it may be nothing."
        )
    if turn % 2:
        return f"Against {other}, {first} is ahead by {gap.shown} {unit} {where}{p}."
    return f"{first} scores {gap.shown} {unit} more than {other} {where}{p}."


def _separates(finding: Finding, turn: int) -> str:
    better, worse = finding.models
    q = f", {finding.facts['q']}" if finding.facts.get("q") else ""
    if turn == 0 and finding.facts.get("rate"):
        q += f"; false discovery rate {finding.facts['rate']} over all that were tested"
    process = finding.facts.get("measure", "process") == "process"
    unit = "points of 100" if process else "percentage points"
    size = f"{finding.printed('gap')} {unit} ({n_words(finding, 'gap')}{q})"
    forms = (
        f"On {place_words(finding)}, {better} is ahead of {worse} by {size}.",
        f"{better} and {worse} also part ways on {place_words(finding)}: {better} leads there by "
        f"{size}.",
        f"{place_words(finding)} sets them apart as well: {better} is ahead of {worse} by {size}.",
    )
    return forms[turn % len(forms)]


def _fingerprint(finding: Finding, turn: int) -> str:
    del turn
    return (
        f"Taken from one random half of the samples, a model's profile names the same model in the "
        f"other half in {finding.printed('recognised')} of tries (chance "
        f"{finding.printed('chance')}; {n_words(finding, 'recognised')})."
    )


def _top_tie(finding: Finding, turn: int, measure: str) -> str:
    del turn, measure
    n, of = finding.printed("samples"), finding.number("share")
    assert of is not None
    who = listed(finding.models)
    total = finding.printed("models")
    if finding.facts.get("measure") == "process":
        if str(len(finding.models)) == total:
            who = "both models" if total == "2" else f"all {total} models"
        return (
            f"The most frequent pattern at the top: {who} share first place on {n} of {of.n:,} "
            f"samples, {of.shown}."
        )
    if not finding.models:
        return f"No model is right on {n} of {of.n:,} samples, {of.shown}."
    if str(len(finding.models)) == total and total != "1":
        who = "Both models" if total == "2" else f"All {total} models"
        return f"{who} are right together on {n} of {of.n:,} samples, {of.shown}."
    verb = "is alone in being right" if len(finding.models) == 1 else "are right together"
    return f"{who} {verb} on {n} of {of.n:,} samples, {of.shown}."


def _hard(finding: Finding, turn: int, measure: str) -> str:
    best, worst = finding.printed("best"), finding.printed("worst")
    unit = " of 100" if measure == "process" else ""
    where = place_words(finding)
    n = n_words(finding, "best")
    if len(finding.models) < 2:
        return f"Low stands {where}: {best}{unit} ({n})."
    first, last = finding.models
    forms = (
        f"On {where} even the best model there, {first}, reaches only {best}{unit} ({n}); {last} "
        f"is lowest with {worst}{unit}.",
        f"On {where} all stay low: the highest is {first} with {best}{unit} ({n}), the lowest "
        f"{last} with {worst}{unit}.",
        f"Low as well is {where}: the highest is {best}{unit} ({first}; {n}), the lowest "
        f"{worst}{unit} ({last}).",
    )
    return forms[turn % len(forms)]


def _criteria(finding: Finding, turn: int) -> str:
    del turn
    n = {number.name: int(number.value or 0) for number in finding.numbers}
    flat = [
        f"{n['ceiling']:,} at which nearly every answer is perfect",
        f"{n['floor']:,} at which nearly every answer fails",
    ]
    if "reversed" in n:
        flat.append(f"{n['reversed']:,} on which better answers score lower")
    text = f"Of {n['criteria']:,} criteria there are {listed(flat)}"
    if "twins" in n:
        text += f"; {count(n['twins'], 'pair')} in one sample ask nearly the same"
    if "reversed" not in n:
        return f"{text}. That holds for the selected answers alone."
    return f"{text}. The first three kinds tell models apart badly or the wrong way round."


def _criterion(finding: Finding, turn: int) -> str:
    question = finding.facts.get("question", "")
    size = f"{finding.printed('discrimination')} over {n_words(finding, 'discrimination')}"
    if turn % 2:
        return f"So is “{question}”: {size}."
    return (
        f"The criterion “{question}” is worth a look: its score runs against the rest of its "
        f"sample's, correlation {size}, which are too few for an interval."
    )


def _weights(finding: Finding, turn: int) -> str:
    del turn
    draws = finding.printed("draws")
    return (
        f"With the judge's weights shaken at random, {finding.models[0]} stays first in "
        f"{finding.printed('same_first')} of {draws} draws and the whole order holds in "
        f"{finding.printed('same_order')}; with equal weights the rank agreement is "
        f"{finding.printed('kendall')}."
    )


# --- caveats -------------------------------------------------------------------------------------


# --- a model -------------------------------------------------------------------------------------


def _weakness(finding: Finding, turn: int) -> str:
    size = f"{finding.facts['effect']} ({finding.frame}; {n_words(finding, 'effect')}"
    size += f", {finding.facts['q']})" if finding.facts.get("q") else ")"
    where, name = place_words(finding), finding.models[0]
    forms = (
        f"The surest weakness of {name} is {where}: {size}.",
        f"Also confirmed is {where}, where it is {size}.",
        f"It falls behind on {where}, too: {size}.",
        f"{where} is confirmed as well: {size}.",
    )
    return forms[turn % len(forms)]


def _suspected(finding: Finding, turn: int) -> str:
    size = f"{finding.facts['effect']} ({finding.frame}; {n_words(finding, 'effect')})"
    more = f", and {finding.facts['more']}" if finding.facts.get("more") else ""
    where = place_words(finding)
    forms = (
        f"Suspected, not confirmed: {where}, {size}{more}.",
        f"{where} may be weak as well, {size}{more}.",
        f"The same is suspected of {where}: {size}{more}.",
    )
    return forms[turn % len(forms)]


def _none_found(finding: Finding, turn: int) -> str:
    del turn
    name, tested = finding.models[0], finding.number("tested")
    assert tested is not None
    if not tested.value and finding.facts.get("anchor"):
        return (
            f"{name} is what all others were voted against: every label would only mirror them, so "
            "it is held against nothing."
        )
    if not tested.value:
        return (
            f"Nothing can be said of {name}'s weaknesses: no {tested.unit} can be compared on "
            f"{finding.printed('least')} samples or more."
        )
    text = f"No weakness of {name} is confirmed among {tested.shown} {tested.unit} tested"
    number = finding.number("suspected")
    if number is not None and number.value:
        text += f"; {number.shown} {'is' if number.value == 1 else 'are'} suspected"
    return f"{text} ({finding.frame}). That is no proof that there is none."


def _strength(finding: Finding, turn: int) -> str:
    size = f"{finding.facts['effect']} ({finding.frame}; {n_words(finding, 'effect')}"
    size += f", {finding.facts['q']})" if finding.facts.get("q") else ")"
    where, name = place_words(finding), finding.models[0]
    forms = (
        f"{name} does better than expected on {where}: {size}.",
        f"Another strength is {where}, {size}.",
        f"The same holds for {where}: {size}.",
    )
    return forms[turn % len(forms)]


def _lucky(finding: Finding, turn: int) -> str:
    del turn
    n = {number.name: number.shown for number in finding.numbers}
    name = finding.models[0]
    if n["lucky"] == "0":
        text = f"None of {name}'s {n['right']} right answers rests on a failing step"
    else:
        text = (
            f"Of {name}'s {n['right']} right answers {n['lucky']} are reached although their steps "
            f"don't hold: right answer, wrong reason, {n['share']}"
        )
    text += "."
    if n["slip"] != "0":
        text += f" The other way round, {n['slip']} of {n['passing']} sound solutions end wrong."
    return text


def _first_break(finding: Finding, turn: int) -> str:
    del turn
    breaks, exposed = finding.printed("breaks"), finding.printed("exposed")
    return (
        f"Its answers most surely break first at {place_words(finding)}: there {breaks} of the "
        f"{exposed} criteria that it reaches unbroken fail, {finding.printed('share')}."
    )


def _cluster(finding: Finding, turn: int) -> str:
    hits, total = finding.printed("failed"), finding.printed("all_failed")
    rate = f"it fails {finding.printed('rate')} of the criteria there ({n_words(finding, 'rate')})"
    where = place_words(finding)
    if turn % 2:
        return f"Another {hits} lie under {where}; {rate}."
    return f"Of its {total} failed criteria {hits} lie under {where}: {rate}."


_MEASURED: dict[Kind, Callable[[Finding, int, str], str]] = {
    "ranking": _ranking,
    "lead": _lead,
    "tie": _tie,
    "comparison": _comparison,
    "hard": _hard,
    "top_tie": _top_tie,
}
_SENTENCES: dict[Kind, Sentence] = {
    "coverage": _coverage,
    "separates": _separates,
    "fingerprint": _fingerprint,
    "criteria": _criteria,
    "criterion": _criterion,
    "weights": _weights,
    "caveat": caveat,
    "weakness": _weakness,
    "suspected": _suspected,
    "none_found": _none_found,
    "strength": _strength,
    "lucky": _lucky,
    "first_break": _first_break,
    "cluster": _cluster,
    "correction": correction_sentences.value,
    "correction_luck": correction_sentences.luck,
    "correction_printed": correction_sentences.printed,
    "correction_breaks": correction_sentences.breaks,
    "correction_repairs": correction_sentences.repairs,
}
