"""What is told: evidence first, one finding a branch, caveats always."""

from __future__ import annotations

from atom.reports.findings.selection import LIMITS, select
from atom.reports.records import Finding


def weak(name: str, *place: str, kind: str = "weakness", salience: float = 60.0) -> Finding:
    return Finding(id=name, kind=kind, part="weak", owner="m", place=place, salience=salience)


def told(findings, **changes) -> list[str]:
    return [choice.finding_id for choice in select(findings, **changes) if choice.told]


def reason(findings, name: str, **changes) -> str:
    return next(c.reason for c in select(findings, **changes) if c.finding_id == name)


def test_of_one_branch_the_deeper_of_equally_sure_ones_is_told():
    findings = [weak("up", "A", salience=80), weak("down", "A", "b", salience=70)]
    assert told(findings) == ["down"]
    assert reason(findings, "up") == "b below it says more exactly where"


def test_a_surer_one_above_beats_a_suspicion_below():
    findings = [weak("up", "A", salience=65), weak("down", "A", "b", kind="suspected", salience=45)]
    assert told(findings) == ["up"]
    assert "on the same branch" in reason(findings, "down")


def test_a_kind_has_its_limit_and_the_most_salient_stay():
    findings = [weak(f"w{n}", "A", str(n), salience=60 + n) for n in range(9)]
    assert told(findings) == ["w5", "w6", "w7", "w8"]
    assert LIMITS["weakness"] == 4
    assert "at most" in reason(findings, "w0")


def test_a_caveat_is_always_told():
    caveat = Finding(id="c", kind="caveat", part="care")
    assert told([caveat], left_out=["c"]) == ["c"]


def test_the_reader_adds_and_leaves_out():
    findings = [weak("up", "A", salience=80), weak("down", "A", "b", salience=70)]
    assert told(findings, left_out=["down"]) == ["up"]
    assert set(told(findings, added=["up"])) == {"up"} | {"down"} - {"down"}
    assert reason(findings, "up", added=["up"]) == "you added it"


def test_other_models_and_parts_do_not_interfere():
    mine = weak("mine", "A", "b")
    other = mine.model_copy(update={"id": "other", "owner": "n"})
    strong = mine.model_copy(update={"id": "strong", "kind": "strength", "part": "strong"})
    assert told([mine, other, strong]) == ["mine", "other", "strong"]


def test_the_order_of_findings_changes_nothing(demo):
    found = demo.findings
    assert set(told(found)) == set(told(found[::-1]))


def test_of_the_bundled_study_no_two_told_weaknesses_of_a_model_lie_on_one_branch(demo):
    names = set(told(demo.findings))
    weaknesses = [f for f in demo.findings if f.id in names and f.part == "weak" and f.place]
    for one in weaknesses:
        for other in weaknesses:
            if one is not other and one.owner == other.owner:
                assert not one.on_branch(other)
