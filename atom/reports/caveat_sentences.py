"""What a report warns of, in sentences: a caveat each."""

from __future__ import annotations

from collections.abc import Callable

from atom.reports.printed import listed
from atom.reports.records import (
    Finding,
)


def caveat(finding: Finding, turn: int) -> str:
    """Say a caveat in words."""
    del turn
    n = {number.name: number.shown for number in finding.numbers}
    fact = finding.facts.get
    return _CAVEATS[finding.facts["caveat"]](n, fact, finding)


def _few(n: dict[str, str]) -> str:
    samples = "1 sample is" if n["samples"] == "1" else f"{n['samples']} samples are"
    return f"Only {samples} counted: intervals are wide, and small differences stay unseen."


_CAVEATS: dict[str, Callable[[dict[str, str], Callable[..., str | None], Finding], str]] = {
    "synthetic": lambda n, fact, f: (
        "SYNTHETIC: a program drew the pictures and wrote the answers. Nothing here is a "
        "measurement of a real model."
    ),
    "selection": lambda n, fact, f: (
        f"Only a part of the study is counted: {fact('selection')}. "
        + (
            "Labels hold for that part."
            if fact("compares")
            else "These are other samples for every model: the numbers rank nobody."
        )
    ),
    "judge-scale": lambda n, fact, f: (
        f"All scores are on the scale of one judge ({fact('judge')}), which "
        + (
            f"people have checked on {n['labelled']} samples only, where {n['needed']} are needed"
            if "labelled" in n
            else "nobody has checked against people in this study"
        )
        + ": differences between models are safer than heights."
    ),
    "people-scale": lambda n, fact, f: (
        f"All scores are the judge's own ({fact('judge')}). People labelled {n['labelled']} "
        "samples of them; "
        + (
            f"the judge is {n['shift']} points of 100 {fact('way')} than people"
            if fact("way")
            else "the judge is not surely kinder or stricter than people"
        )
        + ". The Judge lab shows the scores on people's scale"
        + (" as far as a model's labels suffice." if fact("some") else ".")
    ),
    "kin": lambda n, fact, f: (
        f"The judge {fact('judge')} is of the same family ({fact('family')}) as "
        f"{listed(f.models)}, and may favour its own kind."
    ),
    "unscored": lambda n, fact, f: (
        f"{n['unscored']} of {n['checkpoints']} scores could not be read from the judge's replies "
        f"({n['share']}). They are left out and never become a number."
    ),
    "not_applicable": lambda n, fact, f: (
        f"{n['not_applicable']} marks say that their criterion doesn't apply to the answer: they "
        "are in no mean."
    ),
    "quarantined": lambda n, fact, f: (
        f"{n['quarantined']} of {n['all_samples']} samples are set aside, because the judge's own "
        "solution there disagrees with the known answer."
    ),
    "pending": lambda n, fact, f: f"{n['pending']} scores are still to be given.",
    "unanswered": lambda n, fact, f: (
        f"{n['unanswered']} of {n['all_answers']} answers are missing or failed."
    ),
    "withheld": lambda n, fact, f: (
        f"{listed(f.models)} gave no answer to {n['withheld']} of {n['asked']} questions "
        f"({fact('causes')}): it is right on {n['right']} of all that it was asked, and on "
        f"{n['given']} of the answers that it gave."
    ),
    "no_criteria": lambda n, fact, f: (
        "This study has outcomes but no criteria: it can say whether an answer is right, not which "
        "step failed."
    ),
    "uneven": lambda n, fact, f: (
        f"Models were not seen on the same samples ({n['fewest']} to {n['most']} each): means of "
        "different samples are compared with care."
    ),
    "few": lambda n, fact, f: _few(n),
    "order": lambda n, fact, f: (
        f"In {n['conflicts']} of comparisons (n = {n['comparisons']}) the winner changed with the "
        "order in which the two answers were shown; such a comparison counts half for each."
    ),
    "single_order": lambda n, fact, f: (
        f"Each of the {n['comparisons']} comparisons was judged in one order only: a judge's "
        "liking for the answer shown first, or second, can't be told from one for the better."
    ),
    "pull": lambda n, fact, f: (
        f"{fact('judge')} leans to the answer shown {fact('pull')}, beyond chance: where its two "
        f"orders disagree, that one won both times in {n['pulled']} of {n['changed']} pairs, "
        f"{n['share']} (of {n['pairs']} pairs decided in both orders)."
    ),
    "judges": lambda n, fact, f: (
        f"Not all models were judged by the same judges ({fact('judges')}): a difference between "
        "two of them may be a difference between judges."
    ),
    "anchor": lambda n, fact, f: (
        f"Every comparison is against {fact('anchor')}: shares of votes won say how often a model "
        "beats that one, and compare the others only through it."
    ),
    "own_frame": lambda n, fact, f: (
        "With fewer than 4 models each is held against its own other results. A hard capability "
        "then looks like a weakness: confounded with difficulty."
    ),
    "labels": lambda n, fact, f: (
        f"A label claims a departure of more than {n['margin']} points of 100, at a false "
        f"discovery rate of {n['rate']} within one model; intervals are 95 %."
    ),
}
