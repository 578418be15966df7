"""Select: the findings worth telling, each with the reason why it is told or left out.

Evidence comes first, size second. Of findings on one branch of the tree one is told: the surer
one, and of equally sure ones the deeper, since it says where. Caveats are always told.

Reference: ATOM 3.4 (selection of salient assets).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from atom.reports.records import Choice, Finding, Kind, Part

ALWAYS: frozenset[Kind] = frozenset({"coverage", "ranking", "lead", "tie", "caveat", "criteria"})
LIMITS: dict[Kind, int] = {
    "weakness": 4, "suspected": 3, "strength": 3, "none_found": 1, "lucky": 1, "first_break": 1,
    "cluster": 2, "hard": 4, "comparison": 2, "separates": 3, "top_tie": 1, "fingerprint": 1,
    "criterion": 2, "weights": 1, "preference": 1, "correction": 2, "correction_luck": 1,
    "correction_printed": 2, "correction_breaks": 1, "correction_repairs": 1,
}  # fmt: skip
"""At most so many of a kind in one section."""
PART_LIMITS: dict[Part, int] = {"weak": 5}
"""At most so many in one part of a section."""
_WHY: dict[Kind, str] = {
    "weakness": "confirmed: beyond the margin after control for many tests",
    "strength": "confirmed: beyond the margin after control for many tests",
    "suspected": "probable, not yet confirmed",
    "none_found": "says that nothing is confirmed",
    "separates": "a difference that holds after control for many tests",
    "hard": "low even for the best model there",
    "comparison": "the nearest models to the first",
    "lucky": "right answers that rest on failing steps",
    "first_break": "where its answers most surely break first",
    "cluster": "many of its failures lie there",
    "criterion": "tells models apart the wrong way round",
    "top_tie": "the most frequent pattern",
    "correction": "what feedback adds, held against its control",
    "correction_luck": "without it no feedback can be judged",
    "correction_printed": "the paper's number, with its control beside it",
    "correction_breaks": "what feedback costs on right answers",
    "correction_repairs": "which failures feedback repairs",
}


def select(
    findings: Iterable[Finding],
    *,
    added: Collection[str] = (),
    left_out: Collection[str] = (),
) -> tuple[Choice, ...]:
    """Choose what is told.

    Args:
        added: ids that the reader wants whatever the rules say.
        left_out: ids that the reader doesn't want; a caveat can't be left out.

    Returns:
        One choice a finding, in the findings' order.
    """
    findings = tuple(findings)
    told: list[Finding] = []
    reasons: dict[str, tuple[bool, str]] = {}
    for finding in sorted(findings, key=_order):
        chosen, reason = _judge(finding, findings, told, added, left_out)
        reasons[finding.id] = (chosen, reason)
        if chosen:
            told.append(finding)
    return tuple(
        Choice(finding_id=f.id, told=reasons[f.id][0], reason=reasons[f.id][1]) for f in findings
    )


def _order(finding: Finding) -> tuple[float, int, str]:
    return (-finding.salience, -len(finding.place), finding.id)


def _judge(
    finding: Finding,
    findings: tuple[Finding, ...],
    told: list[Finding],
    added: Collection[str],
    left_out: Collection[str],
) -> tuple[bool, str]:
    if finding.kind == "caveat":
        return True, "a caveat is always told"
    if finding.id in left_out:
        return False, "you left it out"
    if finding.id in added:
        return True, "you added it"
    if finding.kind in ALWAYS:
        return True, "the frame of every report"
    near = [other for other in told if _same_part(other, finding)]
    doubled = _doubled(finding, findings, near, left_out)
    if doubled:
        return False, doubled
    if sum(other.kind == finding.kind for other in near) >= LIMITS[finding.kind]:
        return False, f"more salient ones of its kind are told ({LIMITS[finding.kind]} at most)"
    most = PART_LIMITS.get(finding.part)
    if most is not None and len(near) >= most:
        return False, f"its part is full ({most} at most)"
    return True, _WHY.get(finding.kind, "salient")


def _same_part(one: Finding, other: Finding) -> bool:
    return one.owner == other.owner and one.part == other.part


def _doubled(
    finding: Finding,
    findings: tuple[Finding, ...],
    near: list[Finding],
    left_out: Collection[str],
) -> str:
    """Say which finding on the same branch tells this better; empty where none does."""
    if not finding.place:
        return ""
    for other in near:
        if other.kind in _RIVALS.get(finding.kind, {finding.kind}) and other.on_branch(finding):
            return f"{other.place_name}, on the same branch, is told already"
    depth = len(finding.place)
    for other in findings:
        deeper = len(other.place) > depth and other.place[:depth] == finding.place
        same = other.kind == finding.kind and _same_part(other, finding)
        if deeper and same and not finding.label and other.id not in left_out:
            return f"{other.place_name} below it says more exactly where"
    return ""


_RIVALS: dict[Kind, frozenset[Kind]] = {
    "suspected": frozenset({"weakness", "suspected"}),
    "cluster": frozenset({"cluster", "first_break"}),
}
"""Kinds that make a finding of a kind superfluous on the same branch."""
