"""Whether a judge deserves trust, branch by branch, from all that holds it against something.

Reference: METHODS A6, A13, B13b.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from atom.analysis.agreement.calibration import Branch, Calibration
from atom.analysis.agreement.fidelity import FidelityShare
from atom.display import numbers
from atom.judgebench.base import MetricRow
from atom.judgebench.calibration import FLAW_WORDS
from atom.views.lab.fidelity.people import MIN_MET
from atom.views.lab.page import against_chance

Stand = Literal["trust", "not", "unknown"]
PROBES: Final = "probes"
PEOPLE: Final = "people"
_MOST_NAMES: Final = 6


@dataclass(frozen=True, kw_only=True)
class VerdictReason:
    """What holds a judge against something, on one branch.

    Attributes:
        source: `probes` of known truth, or `people`.
        stand: what it says.
        words: why, a sentence's end.
    """

    source: str
    stand: Stand
    words: str


@dataclass(frozen=True, kw_only=True)
class RootVerdict:
    """A judge on one branch.

    Attributes:
        root: the branch.
        stand: what all reasons say together: one against outweighs any for.
        reasons: what is known.
    """

    root: str
    stand: Stand
    reasons: tuple[VerdictReason, ...]


@dataclass(frozen=True, kw_only=True)
class PeopleShare:
    """A judge's share of pairs in people's order: of all, and by branch."""

    whole: FidelityShare
    by_root: Mapping[str, FidelityShare]


@dataclass(frozen=True, kw_only=True)
class JudgeEvidence:
    """All that is known of one judge.

    Attributes:
        probes: against probes of known truth; None where it was never asked.
        people: against people's orders; None without any.
        benches: benchmark's name -> its first figure on the newest set that it judged.
    """

    judge: str
    name: str
    probes: Calibration | None = None
    people: PeopleShare | None = None
    benches: Mapping[str, MetricRow]

    @property
    def anything(self) -> bool:
        """Whether anything holds it against something."""
        return self.probes is not None or self.people is not None or bool(self.benches)


@dataclass(frozen=True, kw_only=True)
class JudgeVerdict:
    """What is to be said of one judge.

    Attributes:
        known: what it rests on.
        roots: branch by branch.
        sentence: in words, for whom to trust it.
        short: the same in a few words, for a table.
    """

    known: JudgeEvidence
    roots: tuple[RootVerdict, ...]
    sentence: str
    short: str


def judge_verdict(known: JudgeEvidence, roots: Sequence[str], guess: float) -> JudgeVerdict:
    """Say for which branches a judge deserves trust.

    A branch is trusted where the judge's scores of probes follow a known truth without a flaw, or
    put pairs in people's order surely more often than guessing; it is not where a flaw is found or
    it is surely no better than guessing. Whatever nothing, or too little, was held against is not
    known.

    Args:
        roots: the branches that are asked about.
        guess: share of pairs that guessing puts in people's order; NaN without any.
    """
    found = tuple(_root(known, root, guess) for root in roots)
    return JudgeVerdict(
        known=known, roots=found, sentence=_sentence(known, found), short=_short(known, found)
    )


def _root(known: JudgeEvidence, root: str, guess: float) -> RootVerdict:
    reasons = []
    if known.probes is not None:
        branch = next((one for one in known.probes.roots if one.path[:1] == (root,)), None)
        inner = [one for one in known.probes.leaves if one.path[:1] == (root,) and one.flaw]
        reasons.append(_by_probes(branch, inner))
    if known.people is not None and root in known.people.by_root:
        reasons.append(_by_people(known.people.by_root[root], guess))
    stands = {one.stand for one in reasons}
    stand: Stand = "not" if "not" in stands else "trust" if "trust" in stands else "unknown"
    return RootVerdict(root=root, stand=stand, reasons=tuple(reasons))


def _by_probes(branch: Branch | None, inner: Sequence[Branch]) -> VerdictReason:
    if branch is None or not branch.tested:
        return VerdictReason(source=PROBES, stand="unknown", words="too few of them test it")
    if branch.flaw is not None:
        return VerdictReason(
            source=PROBES,
            stand="not",
            words=f"{FLAW_WORDS[branch.flaw]} where the truth is known (n {branch.n:,})",
        )
    if not branch.follows_lo > 0:
        words = f"its scores don’t surely follow the known truth (n {branch.n:,})"
        return VerdictReason(source=PROBES, stand="unknown", words=words)
    but = ""
    if inner:
        names = _listed([" › ".join(one.path[1:]) or one.path[-1] for one in inner])
        but = f", but not in {names}"
    share = numbers.share(branch.accuracy)
    words = f"scores {share} of steps exactly as the known truth (n {branch.n:,}){but}"
    return VerdictReason(source=PROBES, stand="trust", words=words)


def _by_people(share: FidelityShare, guess: float) -> VerdictReason:
    if share.clusters < MIN_MET:
        words = f"too few samples are ranked by them ({share.clusters:,})"
        return VerdictReason(source=PEOPLE, stand="unknown", words=words)
    ends = numbers.share_interval(share.value, share.lo, share.hi, 0)
    words = f"{ends} of pairs in people’s order; guessing gives {numbers.share(guess)}"
    if math.isnan(share.lo) or math.isnan(guess):
        return VerdictReason(source=PEOPLE, stand="unknown", words=words)
    stand: Stand = "trust" if share.lo > guess else "not" if share.hi < guess else "unknown"
    return VerdictReason(source=PEOPLE, stand=stand, words=words)


def _of(found: Sequence[RootVerdict], stand: Stand) -> list[str]:
    return [one.root for one in found if one.stand == stand]


def _sentence(known: JudgeEvidence, found: Sequence[RootVerdict]) -> str:
    trusted, doubted, open_ = (_of(found, stand) for stand in ("trust", "not", "unknown"))
    name = known.name
    if trusted and doubted:
        head = f"Trust {name} for {_listed(trusted)}, not for {_listed(doubted)}."
    elif trusted:
        head = f"Trust {name} for {_listed(trusted)}."
    elif doubted:
        head = f"Don’t trust {name} for {_listed(doubted)}."
    elif known.probes is not None or known.people is not None:
        return f"What is known of {name} doesn’t tell yet whether it deserves trust."
    else:
        return (
            f"Whether {name} deserves trust isn’t known yet: it has scored no test pictures "
            "whose truth is known, and nobody has ranked this study’s answers."
        )
    rest = f" Too little is known about {_listed(open_)}." if open_ else ""
    return head + rest


def _short(known: JudgeEvidence, found: Sequence[RootVerdict]) -> str:
    trusted, doubted = _of(found, "trust"), _of(found, "not")
    if not trusted and not doubted:
        return benches_words(known) if known.benches else "not known"
    parts = [f"for {_listed(trusted)}"] if trusted else []
    parts += [f"not for {_listed(doubted)}"] if doubted else []
    return ", ".join(parts)


def benches_words(known: JudgeEvidence) -> str:
    """Say on how many benchmarks a judge is better than guessing."""
    stands = [against_chance(row) for row in known.benches.values()]
    if not stands:
        return ""
    above = sum(one == "above" for one in stands)
    return f"better than guessing on {above:,} of {len(stands):,} benchmarks"


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
