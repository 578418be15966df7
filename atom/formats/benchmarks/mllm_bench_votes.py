"""MLLM-Bench's votes: read, each kept once, and counted as published."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from atom.analysis.compare.votes import PairOutcome, combine
from atom.formats.cells import to_number, to_text
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.records import (
    PreferenceVerdict,
    Side,
    State,
)

_VOTE = re.compile(r"answer\s*([12])(?!\d)", re.IGNORECASE)
_UNABLE = re.compile(r"unable to decide(?:\W+situation\W+(one|two|1|2)\b)?", re.IGNORECASE)
_SITUATION = {"one": "one", "1": "one", "two": "two", "2": "two"}
_WORDS = 4_000
"""Characters of a judge's words that are kept beside its vote."""


@dataclass(frozen=True, kw_only=True)
class Vote:
    """One vote in one order, `a` being who is shown first in the pair's first order."""

    file: str
    place: str
    question: str
    a: str
    b: str
    first: Side
    judge: str
    raw: bool
    """Whether it comes with the answers' texts."""
    state: State
    verdict: PreferenceVerdict | None
    detail: str
    words: str
    criteria: bool | None
    """Whether the judge was given criteria; None when the file doesn't say."""

    @property
    def pair(self) -> tuple[str, str]:
        """The two models, in one order for both orders of showing."""
        return self.a, self.b

    @property
    def asked(self) -> tuple[str, str, str, Side]:
        """What the judge was asked."""
        return self.question, self.a, self.b, self.first


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Published counts of one pair of models."""

    file: str
    counts: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class VoteReading:
    """A vote as it was read: whose place won, or why nothing did."""

    winner: str = ""
    state: State = "scored"
    detail: str = ""
    words: str = ""


def read_vote(row: Mapping[str, object]) -> VoteReading:
    """Read a vote from the last line of the judge's answer."""
    text = to_text(row.get("answer"))
    if text is None:
        code = to_number(row.get("code"))
        if code is not None and code != 200:
            return VoteReading(state="failed", detail=f"the judge's call failed with code {code:g}")
        return VoteReading(state="unscored", detail="the file holds no vote")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last, before = lines[-1], "\n".join(lines[:-1])[:_WORDS]
    unable = _UNABLE.search(last)
    if unable is not None:
        situation = _SITUATION.get((unable[1] or "").lower())
        why = "" if situation is None else f": situation {situation}"
        return VoteReading(state="unscored", detail=f"unable to decide{why}", words=before)
    votes = {match[1] for match in _VOTE.finditer(last)}
    if len(votes) != 1:
        return VoteReading(
            state="unscored", detail=f"the vote can't be read: {last[:200]!r}", words=before
        )
    return VoteReading(winner=votes.pop(), words=before)


def merge(votes: Sequence[Vote], collector: Collector) -> dict[str, list[Vote]]:
    """Keep every vote once, by question; a raw file and a table may hold the same one."""
    names = _other_names(votes, collector)
    kept: dict[tuple[tuple[str, str, str, Side], str], Vote] = {}
    for vote in votes:
        if vote.raw:
            vote = replace(vote, judge=names.get((vote.pair, vote.judge), vote.judge))
        key = (vote.asked, vote.judge)
        before = kept.get(key)
        if before is None:
            kept[key] = vote
        elif before.file == vote.file:
            collector.skip(vote.place, "this vote stood before", "votes")
        elif (before.verdict, before.state) != (vote.verdict, vote.state):
            collector.tally(
                f"{vote.file} has another vote than {before.file}, which is followed",
                vote.place,
                "votes",
            )
        else:
            collector.left_out("votes", STOOD_TWICE)
            if vote.words and not before.words:
                kept[key] = replace(before, words=vote.words)
    found: dict[str, list[Vote]] = {}
    for vote in kept.values():
        found.setdefault(vote.question, []).append(vote)
    return found


def _other_names(
    votes: Sequence[Vote], collector: Collector
) -> dict[tuple[tuple[str, str], str], str]:
    """Find raw files that call a judge otherwise than the table does: all their votes agree."""
    tabled: dict[tuple[str, str], dict[str, dict[object, object]]] = {}
    raw: dict[tuple[str, str], dict[str, dict[object, object]]] = {}
    for vote in votes:
        place = raw if vote.raw else tabled
        judged = place.setdefault(vote.pair, {}).setdefault(vote.judge, {})
        judged.setdefault(vote.asked, (vote.verdict, vote.state))
    names: dict[tuple[tuple[str, str], str], str] = {}
    for pair, judges in raw.items():
        known = tabled.get(pair, {})
        for judge, said in judges.items():
            if judge in known or len(known) != 1 or len(judges) != 1:
                continue
            name, there = next(iter(known.items()))
            shared = [asked for asked in said if asked in there]
            if shared and all(said[asked] == there[asked] for asked in shared):
                names[pair, judge] = name
                collector.note(
                    f"judge {judge!r} is taken for {name!r}: all {len(shared):,} votes on "
                    f"{pair[0]} and {pair[1]} that both files hold agree"
                )
    return names


def say(votes: Sequence[Vote], collector: Collector) -> None:
    """Note what whoever reads the votes should know."""
    if not votes:
        collector.note("there are no votes in these files: only questions came in")
        return
    everywhere = set(votes[0].pair).intersection(*(vote.pair for vote in votes))
    for name in sorted(everywhere) if len({vote.pair for vote in votes}) > 1 else ():
        collector.note(f"{name} stands in every comparison: all others are measured against it")
    judges: dict[str, dict[str, None]] = {}
    for vote in votes:
        for name in vote.pair:
            if name not in everywhere:
                judges.setdefault(vote.judge or "an unnamed judge", {})[name] = None
    if len(judges) > 1:
        told = "; ".join(f"{judge} on {', '.join(names)}" for judge, names in judges.items())
        collector.note(f"{len(judges):,} judges voted ({told}): their shares are not one measure")
    without = {n for vote in votes if vote.criteria is False for n in vote.pair} - everywhere
    given = {n for vote in votes if vote.criteria for n in vote.pair} - everywhere
    if given and without:
        collector.note(
            f"the judge was told criteria for the votes on {', '.join(sorted(given))}, and none "
            f"for those on {', '.join(sorted(without))}"
        )
    if any(vote.criteria and vote.raw for vote in votes):
        collector.note("the criteria in the judge's prompts are left out: they name no truths")


def check(totals: Totals, votes: Sequence[Vote], collector: Collector, *, whole: bool) -> None:
    """Compare the votes with published counts, figure by figure."""
    pairs = list(
        dict.fromkeys(v.pair for v in votes if all(name in totals.counts for name in v.pair))
    )
    if not totals.counts or not whole:
        return
    if len(pairs) != 1:
        collector.note(f"{totals.file}: the votes that it counts are not among the files")
        return
    found = _count(pairs[0], [vote for vote in votes if vote.pair == pairs[0]])
    differing = [
        f"{name} {found.get(name, 0)}, published {number}"
        for name, number in totals.counts.items()
        if found.get(name, 0) != number
    ]
    collector.figures(totals.file, len(totals.counts) - len(differing), differing)


def _count(pair: tuple[str, str], votes: Sequence[Vote]) -> Counter[str]:
    """Count a pair's comparisons as MLLM-Bench names them."""
    by_question: dict[str, list[Vote]] = {}
    for vote in votes:
        by_question.setdefault(vote.question, []).append(vote)
    counts: Counter[str] = Counter(total=len(by_question))
    for both in by_question.values():
        verdicts = {vote.first: vote.verdict for vote in both}
        result: PairOutcome = combine(verdicts.get("a"), verdicts.get("b"))
        said = {vote.detail for vote in both}
        undecided = said.pop() if len(said) == 1 else "unable to decide"
        name = {"a": pair[0], "b": pair[1], "tie": "tie", "conflict": "tie"}.get(result, undecided)
        counts[name] += 1
    return counts
