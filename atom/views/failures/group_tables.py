"""Groups of failures as tables, for the screen, the command, its JSON and the CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from atom.display import numbers, writers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table, Value
from atom.views.failures.groups import FailureGroups, GroupRow

KIND: Final = "Kind of error"
EXAMPLE: Final = "For example"


def group_table(view: FailureGroups) -> Table[GroupRow]:
    """Table the groups: how many failures each holds, and what these cost."""
    columns = (
        Column[GroupRow](title="", of=lambda row: row.group.key, name="key", seen="data"),
        Column[GroupRow](title=KIND, of=lambda row: row.group.name, name="name", width="20%",
                         term="kind of error"),
        Column[GroupRow](title="", of=lambda row: row.group.says, name="says", seen="data"),
        Column[GroupRow](title="", of=lambda row: row.group.kind, name="kind", seen="data"),
        Column[GroupRow](title="Failures", of=lambda row: row.n, name="failures", number=True),
        Column[GroupRow](title="% of failures (95 %)", of=lambda row: row.share, write=_percents,
                         name="share", ends=("lo", "hi"), number=True),
        Column[GroupRow](title="", of=lambda row: row.lost, name="weight_lost", seen="data"),
        Column[GroupRow](title="% of weight lost", of=lambda row: row.lost_share,
                         write=lambda part: numbers.plain(100 * part, 1),
                         name="weight_lost_share", number=True),
        Column[GroupRow](title="Samples", of=lambda row: row.samples, name="samples", number=True,
                         broad=True),
        Column[GroupRow](title="Capabilities", of=lambda row: row.capabilities,
                         name="capabilities", number=True, broad=True),
        Column[GroupRow](title="Telling words", of=lambda row: row.group.terms, name="terms",
                         write=lambda terms: ", ".join(terms[:2]), seen="text"),
        Column[GroupRow](title=EXAMPLE, of=lambda row: "", seen="screen", width="42%"),
    )  # fmt: skip
    return Table(label="Failures in groups", columns=columns, rows=view.rows)


def _percents(share: Estimate) -> str:
    if not share.known:
        return numbers.NONE
    return f"{numbers.plain(100 * share.value, 1)} ({numbers.ends(100 * share.lo, 100 * share.hi)})"


class _Share(NamedTuple):
    row: GroupRow
    model: str
    failures: int
    share: float
    others: float
    gap: float
    lo: float
    hi: float
    p: float


def groups_csv(view: FailureGroups) -> str:
    """Write the groups and every model's share of them as CSV, a line a model and group."""
    found = view.signature
    lines = [
        _Share(
            row=row,
            model=name,
            failures=int(found.count[m, g]),
            share=100 * float(found.share[m, g]),
            others=100 * float(found.others[m, g]),
            gap=100 * float(found.gap[m, g]),
            lo=100 * float(found.lo[m, g]),
            hi=100 * float(found.hi[m, g]),
            p=float(found.adjusted[m, g]),
        )
        for g, row in enumerate(view.rows)
        for m, name in enumerate(view.models)
        if found is not None
    ]

    def column(name: str, of: Callable[[_Share], Value]) -> Column[_Share]:
        return Column(title="", of=of, name=name)

    columns = (
        column("group", lambda one: one.row.group.key),
        column("kind", lambda one: one.row.group.kind),
        column("telling words", lambda one: ", ".join(one.row.group.terms)),
        column("failures", lambda one: one.row.n),
        column("samples", lambda one: one.row.samples),
        column("weight lost", lambda one: one.row.lost),
        column("model", lambda one: one.model),
        column("model failures", lambda one: one.failures),
        column("of its failures %", lambda one: one.share),
        column("others %", lambda one: one.others),
        column("difference", lambda one: one.gap),
        column("lo", lambda one: one.lo),
        column("hi", lambda one: one.hi),
        column("adjusted p", lambda one: one.p),
    )
    return writers.csv(Table(label="Failure signatures", columns=columns, rows=lines))
