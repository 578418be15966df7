"""Sentences about self-correction: each feedback beside its control, luck named as luck."""

from __future__ import annotations

from atom.display.numbers import count
from atom.reports.records import Finding

_SO = {
    "gain": "a gain beyond its control",
    "worse": "it does harm",
    "no gain shown": "no gain is shown, it may be chance",
    "too few pairs": "too few pairs to tell",
}


def _opening(finding: Finding) -> str:
    """Begin a sentence: which experiment, where the model has several."""
    begun = finding.facts.get("begun")
    return f"In the experiment of {begun}, " if begun else ""


def _begin(opening: str, text: str) -> str:
    return f"{opening}{text}" if opening else f"{text[:1].upper()}{text[1:]}"


def _held(finding: Finding) -> str:
    """Write an effect's shares, interval, n and p."""
    effect = finding.number("effect")
    assert effect is not None
    shares = f"{finding.printed('arm')} against {finding.printed('control')} come right"
    pairs = "pair" if effect.n == 1 else "pairs"
    parts = [f"{effect.shown} percentage points", f"n = {effect.n:,} {pairs}"]
    if effect.lo is None:
        parts.append("too few for an interval")
    parts += [finding.facts[name] for name in ("mid_p", "q") if finding.facts.get(name)]
    return f"{shares} ({', '.join(parts)})"


def _tries(finding: Finding) -> str:
    tries = finding.facts.get("tries")
    return f", with up to {tries} tries each" if tries else ""


def value(finding: Finding, turn: int) -> str:
    """Say what a feedback adds to its control."""
    del turn
    name, arm = finding.models[0], finding.facts["arm"]
    opening = _opening(finding)
    if finding.facts["verdict"].startswith("refused"):
        share = finding.number("share")
        assert share is not None
        text = (
            f"after {arm}, {finding.printed('fixed')} of {count(share.n or 0, 'failed answer')} of "
            f"{name} are right, {share.shown}{_tries(finding)}. That is no gain: without controls "
            "nobody knows how many would have come right anyway."
        )
        return _begin(opening, text)
    so = _SO.get(finding.facts["verdict"], finding.facts["verdict"])
    text = (
        f"after {arm}, held against {finding.facts['control']} on the same failed answers of "
        f"{name}, {_held(finding)}{_tries(finding)}: {so}."
    )
    return _begin(opening, text)


def luck(finding: Finding, turn: int) -> str:
    """Say what another try fixes without any feedback."""
    del turn
    share = finding.number("share")
    assert share is not None
    text = (
        f"luck alone: another try without feedback makes {finding.printed('fixed')} of "
        f"{count(share.n or 0, 'failed answer')} right, {share.shown}{_tries(finding)}"
    )
    effect = finding.number("effect")
    if effect is not None:
        p = f", {finding.facts['mid_p']}" if finding.facts.get("mid_p") else ""
        pairs = "pair" if effect.n == 1 else "pairs"
        text += (
            f"; beyond the judge changing its mind that is {effect.shown} percentage points "
            f"(n = {effect.n:,} {pairs}{p})"
        )
    return _begin(_opening(finding), f"{text}.")


def printed(finding: Finding, turn: int) -> str:
    """Say the paper's gain, with its control and what that control leaves in."""
    opening = _opening(finding)
    if turn:
        return _begin(
            opening,
            f"printed the same way for {finding.facts['arm']}: {_held(finding)}"
            f"{_tries(finding)}, under the same reservation.",
        )
    text = (
        f"the gain as the paper prints it holds {finding.facts['arm']} against "
        f"{finding.facts['control']}: {_held(finding)}{_tries(finding)}. That control asks "
        "nothing, so a longer message and another look at the picture are in this number: it "
        "isn't the value of the diagnosis."
    )
    return _begin(opening, text)


def breaks(finding: Finding, turn: int) -> str:
    """Say how many right answers feedback breaks, and what is left net of them."""
    del turn
    broken = finding.number("broken")
    assert broken is not None
    text = (
        f"given to answers that were right, the same feedback ({finding.facts['arm']}) breaks "
        f"{broken.shown} of {count(broken.n or 0, 'right answer')}"
    )
    net = finding.number("net")
    if net is not None:
        text += (
            f"; given to every answer, wins less losses would move the share of right answers by "
            f"{net.shown} percentage points, luck included (n = {count(net.n or 0, 'answer')})"
        )
    return _begin(_opening(finding), f"{text}.")


def repairs(finding: Finding, turn: int) -> str:
    """Say which capabilities' failed steps feedback repairs, and which stay failed."""
    del turn
    steps, every = finding.number("steps"), finding.number("capabilities")
    assert steps is not None
    assert every is not None
    over = f"{steps.shown} failed step{'' if steps.value == 1 else 's'} of "
    over += count(int(every.value or 0), "capability", "capabilities")
    found = []
    for name, words in (
        ("recoverable", "recoverable by saying where to look"),
        ("stubborn", "stubborn even with the strongest help"),
    ):
        number = finding.number(name)
        if number is not None and number.value:
            told = finding.facts[name]
            left = int(number.value) - len(told.split("; "))
            more = f"; and {left:,} more" if left > 0 else ""
            found.append(f"{words}: {told}{more}")
    if not found:
        return _begin(
            _opening(finding),
            f"on {over}, none can be called recoverable or stubborn yet: too few steps, or no "
            "clear difference from the control.",
        )
    text = f"of {over}, " + ". ".join(
        part if at == 0 else part[:1].upper() + part[1:] for at, part in enumerate(found)
    )
    undecided = finding.number("undecided")
    if undecided is not None and undecided.value:
        text += f". Undecided: {count(int(undecided.value), 'capability', 'capabilities')}"
    return _begin(_opening(finding), f"{text}.")
