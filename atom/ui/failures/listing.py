"""The list of failing samples, and addresses on its page."""

from __future__ import annotations

from atom.display import numbers
from atom.ui import kit, links, score_marks
from atom.ui.html import Child, Html, el, join
from atom.ui.media import thumbnail
from atom.ui.pages import FAILURES
from atom.ui.shell.frame import Here
from atom.views.failures.find import Place, Sort
from atom.views.failures.marked import points_words
from atom.views.failures.page import Chip, FailureList, FailureRow
from atom.views.failures.search import TextHit
from atom.views.filters import Filters

_SHOWS = (
    ("failed", "Failed"),
    ("imperfect", "Not perfect"),
    ("unscored", "Unscored"),
    ("all", "All"),
)
_ORDERED: dict[Sort, str] = {
    "loss": "worst first",
    "failed": "most failed checkpoints first",
    "score": "lowest score first",
    "models": "failed by most models first",
    "spread": "where models differ most first",
    "order": "in the study’s order",
}
_PLACES: dict[Place, str] = {
    "question": "question", "criterion": "criterion", "answer": "answer", "reason": "reason",
}  # fmt: skip


def to(
    filters: Filters,
    *,
    by: str | None = None,
    at: str | None = None,
    vs: str | None = None,
    lay: str | None = None,
) -> str:
    """Return an address on this page.

    Args:
        by: the candidate whose answer is read, where it isn't the chain's.
        at: the list's page, from 1.
        vs: the answer that stands beside it, word by word.
        lay: how samples are laid out: as a list, or `grid`.
    """
    by = None if by == filters.model else by
    return links.address(FAILURES.url_path, filters, by=by, at=at, vs=vs, lay=lay)


def listing(here: Here, view: FailureList, chosen: str | None) -> Html:
    """Draw the list of samples, worst first."""
    base = here.filters.but(sample=None, criterion=None)
    head = el(
        "div",
        shows(here, base),
        kit.note(summary(here, view), style="margin:8px 0 4px 4px"),
        _differ_door(here, base),
    )
    items = [_item(here, row, row.sample_id == chosen) for row in view.rows]
    return el(
        "div",
        head,
        el("div", items, pager(base, view), class_="listing low", data_scroll=True),
        class_="beside",
    )


def shows(here: Here, base: Filters, lay: str | None = None) -> Html:
    """Draw the tabs that choose which checkpoints samples are listed for.

    Args:
        base: the filters without a sample.
        lay: how samples are laid out.
    """
    return kit.tabs(
        (
            (label, to(base.but(show=show), lay=lay), here.filters.show == show)
            for show, label in _SHOWS
        ),
        label="Which checkpoints",
    )


def _differ_door(here: Here, base: Filters) -> Html | None:
    """Lead to the checkpoints on which judges differ, and back; nothing where there is one judge.

    The door keeps which scores are listed, so that failures that judges dispute can be read alone.
    """
    if here.data.table.apart is None:
        return None
    on = base.find.states == ("apart",)
    href = to(base.but(find=base.find.but(states=() if on else ("apart",))))
    words = "where judges agree, too" if on else "≠ only where judges differ"
    return el("p", kit.door(words, href), class_="small", style="margin:0 0 4px 4px",
              data_testid="judges-differ")  # fmt: skip


def summary(here: Here, view: FailureList) -> str:
    """Say how many samples are listed, of how many, and in which order."""
    if not view.looked_at:
        return "Nothing to look at under these filters"
    looked = f"of {view.looked_at:,} looked at"
    if here.filters.rests:
        looked = f"of {view.looked_at:,} that the claim rests on"
    failed = {
        "process": "with a failed checkpoint",
        "outcome": "answered wrongly",
        "preference": "lost by vote",
    }[view.measure]
    what = {
        "failed": failed,
        "imperfect": "not won outright" if view.measure == "preference" else "not perfect",
        "unscored": "with an unscored checkpoint" if view.measure == "process" else "not decided",
        "all": "",
    }[here.filters.show]
    if here.filters.find.states == ("apart",):
        what += " on which judges differ"
    count = numbers.count(view.total, "sample")
    if here.filters.find.terms:
        looked = f"of {view.looked_at:,} that hold{'s' * (view.looked_at == 1)} the words"
    order = _ORDERED[here.filters.find.sort]
    return f"{count} {what} {looked}, {order}".replace("  ", " ")


def _hit(here: Here, hit: TextHit) -> Html:
    """Show where the words that were looked for stand."""
    name = "" if hit.model is None else f" of {here.data.candidates[hit.model].name}"
    said = f"{_PLACES[hit.place]}{name}: "
    return el("span", kit.quiet(said), _marked(hit), class_="small hit")


def _marked(hit: TextHit) -> list[Html]:
    return [el("mark", text) if marked else join(text) for text, marked in hit.parts]


def _item(here: Here, row: FailureRow, on: bool) -> Html:
    thumb = thumbnail(here.store, row.sample_id, row.picture_id, row.picture_name)
    chips = [_chip(here, chip) for chip in row.chips[:10]]
    if row.apart:
        words = f"Judges differ on {numbers.count(row.apart, 'checkpoint')} of it, of those listed"
        chips.append(el("span", f"≠ {row.apart}", class_="small quiet nowrap", data_tip=words,
                        aria_label=words, role="img"))  # fmt: skip
    flag = kit.status("quarantined") if row.quarantined else None
    asked: Child = row.question or "(no question)"
    if row.hit and row.hit.place == "question":
        asked = _marked(row.hit)
    return el(
        "a",
        thumb,
        el(
            "span",
            el("span", asked, class_="lines"),
            el("span", flag, class_="small") if flag else None,
        ),
        _hit(here, row.hit) if row.hit and row.hit.place != "question" else None,
        el("span", row.told, class_="across small quiet") if row.told else None,
        el("span", chips, class_="across"),
        href=to(
            here.filters.but(sample=row.sample_id, criterion=row.criterion_id),
            by=here.query.get("by"),
            at=here.query.get("at"),
            vs=here.query.get("vs"),
        ),
        data_go=True,
        class_="item on" if on else "item",
        aria_current="true" if on else None,
        data_reveal="1" if on else None,
    )


def _chip(here: Here, chip: Chip) -> Html:
    name = here.data.candidates[chip.colour].name
    if chip.won is not None:
        side = (chip.won > 0.5) - (chip.won < 0.5)
        word = ("tied", "won", "lost")[side]
        note = f"{name}: {word}, {numbers.share(chip.won)} of its votes"
        return score_marks.score_chip(3 + 2 * side, text=word, note=note, chosen=chip.chosen)
    answer = {True: "right answer", False: "wrong answer", None: "outcome unknown"}[chip.right]
    if chip.score is not None:
        ours = here.data.table.ours
        whole = points_words(chip.score, ours=ours)
        return score_marks.score_chip(
            round(chip.score),
            text=points_words(chip.score, ours=ours, digits=1),
            note=f"{name}: {whole} of {5 if ours else 100}, {answer}",
            chosen=chip.chosen,
        )
    glyph = {True: "right", False: "wrong", None: "∅"}[chip.right]
    return score_marks.score_chip(None, glyph=glyph, note=f"{name}: {answer}", chosen=chip.chosen)


def pager(base: Filters, view: FailureList, lay: str | None = None) -> Html | None:
    """Draw the way to the other pages; nothing where there is one.

    Args:
        base: the filters without a sample.
        lay: how samples are laid out.
    """
    if view.pages < 2:
        return None
    last = view.pages - 1

    def door(page: int) -> str:
        return to(base, at=str(page + 1), lay=lay)

    return el(
        "div",
        kit.button("‹", door(max(view.page - 1, 0)), disabled=view.page == 0),
        f"page {view.page + 1:,} of {view.pages:,}",
        kit.button("›", door(view.page + 1), disabled=view.page == last),
        class_="pager",
    )
