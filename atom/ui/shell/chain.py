"""The evidence chain on top of every screen: what was chosen, and what this screen makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atom.display import numbers
from atom.records import Criterion
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, OVERVIEW, Screen, Step
from atom.ui.shell import ask_box, filter_box
from atom.views.failures.find import NOTHING, STATE_WORDS, TOLD_WORDS
from atom.views.filters import Filters, label_name
from atom.views.reading import READINGS
from atom.views.stores import OpenStore, StudyEntry
from atom.views.study_data import StudyData
from taxonomy import format_path

UNUSED = "not used here"


@dataclass(frozen=True, kw_only=True)
class _Link:
    """A part of the chain.

    Attributes:
        step: what kind of choice it is; None for the study, which everything is about.
        kind: the kind in words.
        label: what was chosen.
        to: where it leads; None where it leads nowhere.
        off: the address without it; None where it can't be cleared.
        tip: the whole of a label that was cut.
    """

    step: Step | None
    kind: str
    label: str | Html
    to: str | None
    off: str | None
    tip: str | None = None


def chain(
    screen: Screen, entry: StudyEntry, store: OpenStore, data: StudyData, filters: Filters
) -> Html:
    """Draw `Study ▸ Model ▸ Capability ▸ Criterion ▸ Sample`, as far as the reader has gone.

    What the screen's numbers don't follow is struck through, and what only some of them follow
    says which.

    Args:
        entry: the study, as the list has it.
        filters: what was chosen; only what the study has.
    """
    way = [_study(data, filters), *_chosen(screen, store, data, filters)]
    rest = _filters(screen, entry, data, filters)
    struck = any(_is_unused(screen, link) for link in (*way, *rest))
    return el(
        "nav",
        el(
            "span",
            [
                el("span", _arrow() if number else None, _draw(screen, link),
                   class_=f"step {link.kind.lower()}")
                for number, link in enumerate(way)
            ],
            [_draw(screen, link) for link in rest],
            el("span", "struck through: ", UNUSED, class_="quiet small nowrap") if struck else None,
            class_="ways",
        ),
        el("span", ask_box.field(screen) if ask_box.fits(screen) else None, kit.copy_button(),
           class_="tools"),
        class_="chain",
        aria_label="Evidence chain",
    )  # fmt: skip


def _arrow() -> Html:
    return el("span", "▸", class_="arrow", aria_hidden="true")


def _is_unused(screen: Screen, link: _Link) -> bool:
    return link.step is not None and link.step not in screen.follows


def _draw(screen: Screen, link: _Link) -> Html:
    unused = _is_unused(screen, link)
    part = screen.follows.get(link.step, "") if link.step is not None else ""
    tip = (
        f"{link.kind}: {UNUSED}. The numbers on this page don't follow it." if unused else link.tip
    )
    if part:
        tip = "\n".join(filter(None, (link.tip, f"In part: {part}.")))
    label = link.label if isinstance(link.label, Html) else el("span", link.label, class_="cut")
    content = [
        el("span", link.kind, class_="kind") if link.to is not None else None,
        el("s", label, class_="cut") if unused else label,
        kit.quiet("in part") if part else None,
    ]
    off = (
        kit.door("×", link.off, class_="off", aria_label=f"Clear {link.kind.lower()}")
        if link.off
        else None
    )
    body = (
        el("span", content, class_="to", data_tip=tip)
        if link.to is None
        else kit.door(content, link.to, class_="to", tip=tip)
    )
    said = f"{link.kind} {UNUSED}" if unused else None
    return el("span", body, off, class_="link unused" if unused else "link", aria_label=said)


def _study(data: StudyData, filters: Filters) -> _Link:
    return _Link(step=None, kind="Study", label=data.study.name, tip=data.study.name, off=None,
                 to=links.address(OVERVIEW.url_path, Filters(study=filters.study)))  # fmt: skip


def _chosen(screen: Screen, store: OpenStore, data: StudyData, filters: Filters) -> list[_Link]:
    """Return what was chosen of model, capability, criterion and sample."""
    page, found = screen.url_path, []
    beyond = filters.but(sample=None, criterion=None)
    number = data.model_index(filters.model)
    if number is not None:
        name = data.candidates[number].name
        found.append(
            _Link(
                step="model",
                kind="Model",
                label=kit.model(name, number),
                to=links.address(FAILURES.url_path, beyond.but(node=())),
                off=links.address(page, filters.but(model=None)),
            )
        )
    if filters.node:
        found.append(
            _Link(
                step="capability",
                kind="Capability",
                label=numbers.middle(filters.node[-1], 30),
                to=links.address(FAILURES.url_path, beyond),
                off=links.address(page, filters.but(node=())),
                tip=format_path(filters.node),
            )
        )
    position = data.sample_position.get(filters.sample or "")
    if position is None:
        return found
    criterion = store.get(Criterion, filters.criterion) if filters.criterion else None
    if criterion is not None:
        found.append(
            _Link(
                step="criterion",
                kind="Criterion",
                label=criterion.question[:120],
                to=links.address(FAILURES.url_path, filters),
                off=links.address(page, filters.but(criterion=None)),
                tip=criterion.question,
            )
        )
    found.append(
        _Link(
            step="sample",
            kind="Sample",
            label=f"no. {position + 1}",
            to=links.address(FAILURES.url_path, filters),
            off=links.address(page, filters.but(sample=None, criterion=None)),
        )
    )
    return found


def _filters(screen: Screen, entry: StudyEntry, data: StudyData, filters: Filters) -> list[_Link]:
    """Return each active filter with a way to clear it."""
    found = list(_labels(filters))
    if filters.root:
        found.append((f"under {filters.root}", filters.but(root=None)))
    if filters.judge:
        name = next((one.name for one in data.judges if one.id == filters.judge), filters.judge)
        found.append((f"judge: {name}", filters.but(judge=None)))
    if filters.tree and filters.tree != entry.study.tree_version and data.tree is not None:
        found.append((f"tree: {data.tree.name}", filters.but(tree=None, node=(), root=None)))
    if filters.outcome:
        found.append((f"answer {filters.outcome}", filters.but(outcome=None)))
    if filters.process:
        found.append((f"steps {filters.process}", filters.but(process=None)))
    if filters.terse:
        words = "terse answers" if filters.terse == "yes" else "no terse answers"
        found.append((words, filters.but(terse=None)))
    if filters.shared:
        found.append(("answered by all", filters.but(shared=False)))
    if filters.reading == "said":
        found.append((READINGS["said"], filters.but(reading="strict")))
    if filters.rests:
        found.append(("what the claim rests on", filters.but(rests=None)))
    if filters.show != "failed" and screen is FAILURES:
        found.append((filter_box.SHOWS[filters.show].lower(), filters.but(show="failed")))
    sought = [] if filters.find == NOTHING else list(_sought(data, filters))
    both: tuple[tuple[Step, list[tuple[str, Filters]]], ...]
    both = ("filters", found), ("search", sought)
    return [
        _Link(step=step, kind=f"Filter {label}", label=numbers.middle(label, 40), to=None,
              tip=label, off=links.address(screen.url_path, less))
        for step, some in both
        for label, less in some
    ]  # fmt: skip


def _labels(filters: Filters) -> Iterator[tuple[str, Filters]]:
    """Yield what narrows by labels, in words, with the filters without it."""
    for facet, value in filters.tags:
        rest = tuple(one for one in filters.tags if one != (facet, value))
        yield f"{label_name(facet).lower()}: {value}", filters.but(tags=rest)
    for facet in dict.fromkeys(name for name, _ in filters.among):
        values = " or ".join(value for name, value in filters.among if name == facet)
        rest = tuple(one for one in filters.among if one[0] != facet)
        yield f"{label_name(facet).lower()}: {values}", filters.but(among=rest)
    for facet, value in filters.without:
        rest = tuple(one for one in filters.without if one != (facet, value))
        yield f"not {label_name(facet).lower()}: {value}", filters.but(without=rest)


def _sought(data: StudyData, filters: Filters) -> Iterator[tuple[str, Filters]]:
    """Yield what is looked for in the list of failures, in words, with the filters without it."""
    find = filters.find
    names = {one.id: one.name for one in data.candidates}
    if find.terms:
        yield f"search: {find.words}", filters.but(find=find.but(words="", places=()))
    for word, field in (("fails", "fails"), ("passes", "passes")):
        for model in getattr(find, field):
            rest = tuple(one for one in getattr(find, field) if one != model)
            yield f"{names.get(model, model)} {word}", filters.but(find=find.but(**{field: rest}))
    for word, field in (("within", "within"), ("not within", "outside")):
        for path in getattr(find, field):
            rest = tuple(one for one in getattr(find, field) if one != path)
            yield f"{word} {path[-1]}", filters.but(find=find.but(**{field: rest}))
    for word, field in (("", "states"), ("not ", "stateless")):
        for state in getattr(find, field):
            rest = tuple(one for one in getattr(find, field) if one != state)
            yield f"{word}{STATE_WORDS[state]}", filters.but(find=find.but(**{field: rest}))
    if find.kind:
        yield f"group: {find.kind.replace('-', ' ')}", filters.but(find=find.but(kind=""))
    for told in find.told:
        others = tuple(one for one in find.told if one != told)
        yield TOLD_WORDS[told], filters.but(find=find.but(told=others))
