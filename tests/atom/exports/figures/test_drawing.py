"""Figures to publish: each is drawn with its caption and its data, in fonts of its own."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import altair as alt
import pytest
from PIL import Image

from atom.errors import UsageError
from atom.exports.figures import OFFERS, FigureSource, find_offers, offers_of, render
from atom.exports.figures.base import SYNTHETIC, Figure
from atom.exports.figures.others import effects, tree_map
from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.app.screen_store import make_store

AXES = {
    "ranking": ("Score of the checkpoints, 0–100",),
    "breaks": ("Step of the reference chain", "Answers unbroken, %"),
    "scores": ("Score, 0–100", "Answers, %"),
    "skills": ("Score of the checkpoints, 0–100",),
    "differences": ("points of 100",),
    "ranks": ("Samples, %",),
    "reasons": ("Answers, %",),
    "heatmap": ("Score of the checkpoints, 0–100",),
    "radar": ("0–100",),
    "radar-2": ("0–100",),
    "tree": ("of 100",),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Return what figures of the screens' test study are made of."""
    made = make_store(tmp_path_factory.mktemp("figures"))
    with Store.open(str(made.folder), read_only=True) as store:
        yield FigureSource(store=store, data=load_study(store, made.study.id), filters=Filters())


@pytest.fixture(scope="module")
def drawn(asked):
    """Return each figure that this study can fill, by its name."""
    found = {}
    for offer in OFFERS:
        try:
            found[offer.name] = offer.draw(asked)
        except UsageError as error:
            found[offer.name] = error.message
    return found


def test_every_figure_is_drawn_or_says_what_it_lacks(drawn):
    lacking = {name: one for name, one in drawn.items() if isinstance(one, str)}
    assert lacking == {"effects": "this study has no self-correction experiment yet"}


@pytest.mark.parametrize("name", sorted(AXES))
def test_a_figure_names_its_scales_and_says_whose_it_is(drawn, name):
    figure = drawn[name]
    root = ET.fromstring(render(figure, "svg"))
    words = " ".join(text for node in root.iter() for text in [node.text or ""] if text.strip())
    for axis in AXES[name]:
        assert axis in re.sub(r"\s+", " ", words)
    for part in ("Test study", "12 samples", "3 models", "SYNTHETIC", figure.title[:20]):
        assert part in re.sub(r"\s+", " ", words), part
    sizes = [float(found) for node in root.iter() if (found := node.get("font-size", "")
             .removesuffix("px")) and re.fullmatch(r"[\d.]+", found)]  # fmt: skip
    assert min(sizes) >= 9


def test_a_pdf_holds_its_fonts_and_a_png_is_for_print(drawn):
    for name in ("ranking", "heatmap", "radar"):
        pdf = render(drawn[name], "pdf")
        fonts = set(re.findall(rb"/BaseFont ?/[A-Z]{6}\+([A-Za-z-]+)", pdf))
        assert fonts, name
        assert all(font.startswith(b"LiberationSans") for font in fonts), (name, fonts)
        assert b"/FontFile" in pdf
    picture = Image.open(io.BytesIO(render(drawn["ranking"], "png")))
    shape = ET.fromstring(render(drawn["ranking"], "svg"))
    assert picture.width == 3 * int(shape.get("width"))


def test_the_table_holds_what_the_screen_says(asked, drawn):
    rows = list(csv.DictReader(io.StringIO(render(drawn["ranking"], "csv").decode())))
    seen = overview(asked.data, asked.filters).ranking
    assert [row["model"] for row in rows] == [one.name for one in seen]
    for row, one in zip(rows, seen, strict=True):
        assert float(row["value_0_100"]) == pytest.approx(one.score.value, abs=1e-3)
        assert float(row["hi"]) == pytest.approx(one.score.hi, abs=1e-3)
        assert int(row["samples"]) == one.score.samples
    tree = list(csv.DictReader(io.StringIO(render(drawn["tree"], "csv").decode())))
    leaves = [row for row in tree if row["layer"] == "4"]
    assert [row["capability"].rpartition(" ")[2] for row in leaves] == ["height", "reading",
                                                                        "values"]  # fmt: skip


def test_a_caption_says_what_narrows_it_and_names_only_synthetic_data_so(asked):
    offer = find_offers(["ranking"])[0]
    facet = next(iter(asked.data.table.facets))
    value = asked.data.table.facets[facet].values[0]
    figure = offer.draw(replace(asked, filters=Filters(tags=((facet, value),))))
    assert f"Only {facet}: {value}." in figure.caption
    real = replace(asked.data, study=asked.data.study.model_copy(update={"synthetic": False}))
    assert SYNTHETIC not in offer.draw(replace(asked, data=real)).caption


def test_hostile_names_stay_text(asked):
    name = '<script>alert(1)</script> & "x" \x07\x00\ud800'
    first, *rest = asked.data.candidates
    data = replace(asked.data, candidates=(first.model_copy(update={"name": name}), *rest))
    for offer in find_offers(["ranking", "heatmap", "skills", "reasons", "radar"]):
        figure = offer.draw(replace(asked, data=data))
        drawing = render(figure, "svg").decode()
        assert "<script" not in drawing
        ET.fromstring(drawing)


@pytest.mark.parametrize("name", ["a\nb", 'a\\" + nothing("x") + "', "\u2028", "x\\"])
def test_a_hostile_title_of_an_axis_is_no_expression(name):
    chart = alt.Chart(alt.InlineData(values=[{"value": 1, "kind": name}])).mark_bar()
    chart = chart.encode(x=alt.X("value:Q", title=name), color=alt.Color("kind:N", title=name))
    figure = Figure(name="x", title=name, caption=name, columns=("x",), rows=[(1,)], chart=chart)
    ET.fromstring(render(figure, "svg"))


def test_what_cannot_be_drawn_says_why(asked):
    with pytest.raises(UsageError, match="no tree"):
        tree_map(replace(asked, data=replace(asked.data, tree=None)))
    with pytest.raises(UsageError, match="no self-correction experiment"):
        effects(asked)
    with pytest.raises(UsageError, match=r"no figure 'pie'; these can be drawn: ranking"):
        find_offers(["pie"])


def test_pages_offer_what_they_show():
    names = ["radar", "radar-2", "heatmap", "skills", "breaks", "scores", "ranks"]
    assert [one.name for one in offers_of("fingerprints")] == names
    assert offers_of("settings") == ()
    assert len({one.name for one in OFFERS}) == len(OFFERS)
