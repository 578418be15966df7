"""Which models are told apart: the identification heatmap and the similarity of profiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.fingerprints import place
from atom.ui.html import Html, el
from atom.ui.pages import COMPARE
from atom.ui.shell.frame import Here
from atom.views.fingerprints.shape import ShapeModel
from atom.views.fingerprints.told_apart import ToldApart

_MOST = 24
"""Models in a matrix."""
_SURE = 0.9


def told(here: Here, view: ToldApart) -> Html:
    """Draw who is told apart, and who is alike; or say why that can't be said."""
    if not view.models:
        return kit.section(
            "Which models are told apart?",
            el("p", view.why, class_="quiet"),
        )
    return kit.section(
        _title(view),
        kit.note(*_how(view), style="margin-bottom:10px;max-width:860px"),
        el("div", _named(here, view), _alike(here, view), class_="columns"),
        kit.note(f"Only the first {_MOST} models are drawn.") if len(view.models) > _MOST else None,
    )


def _title(view: ToldApart) -> str:
    own = np.diag(view.named)
    sure = int((own >= _SURE * view.tries).sum())
    return (
        f"Which models are told apart? {sure:,} of {len(view.models):,} are recognised in at least "
        f"{numbers.share(_SURE)} of tries"
    )


def _how(view: ToldApart) -> list[Html | str]:
    k = len(view.models)
    return [
        f"The {numbers.count(view.samples, 'sample')} were cut into two random halves "
        f"{view.splits:,} times. In each, every model's ",
        kit.term("fingerprint"),
        " in one half was looked for among all models' in the other: ",
        kit.term("identification"),
        f" names the right one in {numbers.share(view.first)} of tries, where guessing would reach "
        f"{numbers.share(view.chance)} (1 in {k}). Of two models, ",
        kit.term("2-AFC", "the pair test"),
        f" tells which is which in {numbers.share(view.two_way)} (guessing: 50 %). The general "
        "level "
        "is taken out first, so that a model is known by its shape, not by being better.",
    ]


def _named(here: Here, view: ToldApart) -> Html:
    return el(
        "div",
        el("h2", "Row: the model. Column: who it was taken for, % of tries"),
        _matrix(view, partial(_try, here, view), "Identification"),
    )


def _matrix(view: ToldApart, cell: Callable[[int, int], Html], label: str) -> Html:
    """Draw a cell for every two models: `cell` is given a row's place and a column's."""
    shown = view.models[:_MOST]
    short = numbers.short_names([model.name for model in shown])
    places = range(len(shown))
    return kit.grid(
        places,
        kit.MarkupColumn("Model", lambda row: kit.model(shown[row].name, shown[row].index)),
        *kit.each(
            places,
            lambda at: kit.model(short[at], shown[at].index, full=shown[at].name),
            cell,
        ),
        label=label,
    )


def _try(here: Here, view: ToldApart, row: int, column: int) -> Html:
    model, other = view.models[row], view.models[column]
    hits = int(view.named[row, column])
    share = 100 * hits / view.tries
    tip = (
        f"{model.name} was {'recognised' if row == column else f'taken for {other.name}'} in "
        f"{hits:,} of {view.tries:,} tries"
    )
    return kit.door(
        f"{share:.0f}",
        _door(here, model, other),
        class_="cell heat" if hits else "cell zero",
        style=f"--share:{share:.0f}%",
        tip=tip,
    )


def _alike(here: Here, view: ToldApart) -> Html:
    return el(
        "div",
        el("h2", "How alike shapes are: correlation of one half with the other, −1 to 1"),
        _matrix(view, partial(_similar, here, view), "Similarity of fingerprints"),
        kit.note("On the diagonal: how well a model's own shape repeats."),
    )


def _similar(here: Here, view: ToldApart, row: int, column: int) -> Html:
    model, other = view.models[row], view.models[column]
    value = float(view.similarity[row, column])
    if math.isnan(value):
        return kit.quiet(numbers.NONE)
    tip = (
        f"{model.name}'s shape in one half against its own in the other"
        if row == column
        else f"{model.name} against {other.name}"
    )
    pair = float(view.pairwise[row, column])
    if not math.isnan(pair):
        tip += f"\nthe pair is told apart in {numbers.share(pair)} of splits"
    text = numbers.plain(value)
    return kit.door(
        text,
        _door(here, model, other),
        class_="cell heat" if value >= 0 else "cell heat apart",
        style=f"--share:{100 * min(abs(value), 1):.0f}%",
        tip=tip,
    )


def _door(here: Here, model: ShapeModel, other: ShapeModel) -> str:
    """Return where a cell leads: two models to Compare, one to its own shape."""
    clear = here.filters.but(sample=None, criterion=None)
    if model.index == other.index:
        peers = tuple(one for one in clear.peers if one != model.model_id)
        return place.to(here, clear.but(model=model.model_id, peers=peers))
    pair = clear.but(model=model.model_id, peers=(other.model_id,))
    return links.address(COMPARE.url_path, pair)
