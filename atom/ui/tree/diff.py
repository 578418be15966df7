"""What changed from one version of a tree to the next."""

from __future__ import annotations

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.ui.shell.frame import Here
from atom.views.tree.versions import Diff
from taxonomy import format_path

_KINDS = {
    "added": "added",
    "merged": "merged into",
    "moved": "moved to",
    "renamed": "renamed to",
    "dropped": "dropped",
}


def diff_table(here: Here, diff: Diff) -> Html:
    """List what differs between two versions of the tree."""
    title = f"From version {diff.old} to version {diff.new}: " + _diff_words(diff)
    if not diff.rows:
        return kit.section(title)
    return kit.section(
        title,
        kit.grid(
            diff.rows,
            kit.MarkupColumn(
                "Leaf", lambda row: el("span", format_path(row.old) or "–", class_="path")
            ),
            kit.MarkupColumn(
                "became", lambda row: el("span", _KINDS[row.kind], class_="diff-kind"), width="96px"
            ),
            kit.MarkupColumn(
                "",
                lambda row: el(
                    "span", format_path(row.new) if row.new != row.old else "", class_="path"
                ),
            ),
            kit.number("Criteria", lambda row: row.criteria),
            label="What differs",
        ),
        _moved(here, diff),
    )


def _diff_words(diff: Diff) -> str:
    count = {kind: sum(row.kind == kind for row in diff.rows) for kind in _KINDS}
    parts = [f"{n} {kind}" for kind, n in count.items() if n] or ["no leaf changed"]
    words = ", ".join(parts) + f", {diff.kept:,} kept"
    if diff.lost:
        words += f"; {numbers.count(diff.lost, 'criterion', 'criteria')} without a leaf now"
    return words


def _moved(here: Here, diff: Diff) -> Html | None:
    if not diff.n_moved:
        return None
    rows = [
        el(
            "li",
            kit.door(
                f"sample {item.sample + 1}",
                links.address(
                    FAILURES.url_path,
                    here.filters.but(
                        sample=here.data.table.sample_ids[item.sample],
                        criterion=item.criterion_id,
                        show="all",
                    ),
                ),
            ),
            f" · {item.old[-1]} → {item.new[-1]}",
        )
        for item in diff.moved
    ]
    title = f"The {numbers.count(diff.n_moved, 'criterion', 'criteria')} that moved"
    return kit.fold(title, el("ul", rows, class_="log"))
