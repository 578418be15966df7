"""What is found about a judge, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from atom.analysis.agreement.judge_noise import Advice
from atom.display import numbers
from atom.views.lab.judge_marks import points
from atom.views.lab.reliability.next_steps import next_steps
from atom.views.lab.reliability.noise import LEAST_JUDGES, NoiseRow
from atom.views.lab.reliability.ratings import LEAST
from atom.views.lab.reliability.tab import Reliability
from atom.views.study_data import StudyData
from taxonomy import format_path

_HELPS: Mapping[Advice, str] = {
    "judge": "a better judge (or more judges) would help more than twice the samples",
    "samples": "twice the samples would help more than a better judge",
    "either": "twice the samples and a better judge would help alike",
}


def with_words(made: Reliability, data: StudyData) -> Reliability:
    """Return the tab with what is found in sentences, and what to do next."""
    said = [
        *_about_itself(made),
        *_about_truth(made),
        *_about_others(made),
        *_about_noise(made),
        *_about_pulls(made),
    ]
    return replace(made, statements=tuple(said), steps=tuple(next_steps(made, data)))


def _about_itself(made: Reliability) -> Iterable[str]:
    if not made.retest:
        return
    found = made.retest[0].found
    if found.n < LEAST:
        yield f"Only {found.n:,} checkpoints were scored twice: too few to say how steady it is."
        return
    words = (
        f"Asked twice, the judge gives the same score {numbers.share(found.exact)} of the time "
        f"({numbers.ends(100 * found.exact_lo, 100 * found.exact_hi, 0)} %)"
        f" and one at most a point away {numbers.share(found.adjacent)} ({found.n:,} checkpoints)"
    )
    if found.noise > 0:
        words += (
            f"; a single score has to change by {found.detectable_change:.1f} points of 1–5 "
            "before it is more than noise"
        )
    if made.cold:
        words += (
            ". It was asked at temperature 0, where a second request is the first one again, so "
            "this shows only the server's own wobble"
        )
    yield f"{words}."


def _about_truth(made: Reliability) -> Iterable[str]:
    if made.calibrated is None:
        return
    view = made.calibrated.view
    whole = view.whole
    if not whole.n:
        yield "It scored test pictures whose truth is known, but none of its scores could be read."
        return
    yield (
        f"Where the truth is known it is exactly right {numbers.share(whole.accuracy)} of the "
        "time, "
        f"{_off(whole.bias)} on average ({numbers.count(whole.n, 'step')} of "
        f"{numbers.count(made.calibrated.probes, 'test picture')})."
    )
    shown = [one for one in view.roots if one.flaw] or [one for one in view.leaves if one.flaw]
    for one in shown:
        name = format_path(one.path)
        if one.flaw == "blind":
            yield (
                f"On {name} its scores don't follow the truth: right only "
                f"{numbers.share(one.accuracy)} of the time, and hardly higher for better steps. "
                "That "
                "branch is marked in every fingerprint."
            )
        else:
            way = "high" if one.flaw == "lenient" else "low"
            yield (
                f"It reads {name} {points(one.bias)} too {way} on 1–5; that branch is marked in "
                "every fingerprint."
            )
    if not shown:
        yield (
            f"No branch of the {sum(one.tested for one in view.roots)} that could be looked at "
            "stands out as one that it misreads."
        )


def _off(bias: float) -> str:
    if abs(bias) < 0.05:
        return "neither kind nor strict"
    return f"{points(bias)} too {'high' if bias > 0 else 'low'} on 1–5"


def _about_others(made: Reliability) -> Iterable[str]:
    own = [pair for pair in made.pairs if pair.first == made.judge]
    for pair in own[:3]:
        found = pair.rows[0].found
        if found.n < LEAST:
            continue
        words = (
            f"{pair.first} and {pair.second} give the same score "
            f"{numbers.share(found.exact)} of the time (agreement alpha {found.alpha:.2f}, "
            f"{found.n:,} checkpoints)"
        )
        if abs(found.shift) >= 0.05:
            kinder = pair.second if found.shift > 0 else pair.first
            words += f"; {kinder} is kinder by {points(found.shift)} on 1–5"
        yield f"{words}."


def _about_pulls(made: Reliability) -> Iterable[str]:
    for row in made.position:
        bias = row.found
        if bias.lo > 0 or bias.hi < 0:
            seat = "first" if bias.beta > 0 else "second"
            yield (
                f"Of two answers, {row.judge} leans to the one shown {seat}: the winner stays the "
                f"same in {numbers.share(bias.consistent / bias.pairs)} of {bias.pairs:,} pairs "
                "when "
                f"they are swapped ({row.where})."
            )
    pull = made.length
    if math.isfinite(pull.slope) and (pull.lo > 0 or pull.hi < 0):
        held = ", the final answer's outcome held equal" if pull.controlled else ""
        way = "more" if pull.slope > 0 else "less"
        yield (
            "An answer twice as long as another to the same question scores "
            f"{abs(pull.slope):.2f} points of 1–5 {way}{held}; longer answers may also say more, "
            "so this is a warning, not a proof."
        )
    if made.family:
        names = ", ".join(made.family[:4])
        yield (
            f"The judge is of the same family as {names}: it may be kinder to its own kind. Have "
            "another family's judge score the same samples."
        )


def _about_noise(made: Reliability) -> Iterable[str]:
    whole = [row for row in made.noise if not row.branch]
    if not whole:
        return
    if made.aside:
        yield (
            f"{', '.join(made.aside)} {'is' if len(made.aside) == 1 else 'are'} left out of the "
            "judges' noise: where the truth is known, such scores don't follow it."
        )
    if made.judges == LEAST_JUDGES - 1:
        yield (
            "Two judges show one difference between them, from which no share of the uncertainty "
            f"can be told: it takes {LEAST_JUDGES} judges of the same checkpoints. How kind this "
            "one is beside others isn't in the intervals."
        )
        if not made.separable:
            return
    if not made.separable:
        if made.cold and made.retest:
            yield (
                "One judge, asked at temperature 0: asking it again shows nothing of its noise, so "
                "the noise can't be told from the samples'. How kind it is beside other judges "
                "isn't in the intervals at all."
            )
            return
        yield (
            "One judge, asked once: its noise is inside the intervals, but can't be told from the "
            "samples', and how kind it is beside other judges isn't in them at all."
        )
        return
    shares = [1 - row.samples for row in whole if math.isfinite(row.samples)]
    if not shares:
        return
    words = (
        f"Of the uncertainty of a model's number {numbers.share(float(np.mean(shares)))} is the "
    )
    yield f"{words}judge's; {_helps(whole)}."


def _helps(rows: Sequence[NoiseRow]) -> str:
    """Say what would help more, as the rows say it one by one."""
    kinds = [row.advice for row in rows if row.advice != "unknown"]
    found = {kind: kinds.count(kind) for kind in _HELPS if kind in kinds}
    if not found:
        return "what would help more can't be told"
    if len(found) == 1:
        return _HELPS[next(iter(found))]
    told = [
        f"for {count:,} of {len(kinds):,} models {_HELPS[kind]}" for kind, count in found.items()
    ]
    return "; ".join(told)
