"""Figures to publish: every chart of the screens as SVG, PNG and PDF, with caption and data."""

from atom.exports.figures.base import Figure, FigureSource
from atom.exports.figures.catalogue import OFFERS, FigureOffer, find_offers, offers_of
from atom.exports.figures.drawing import FORMATS, Format, render

__all__ = [
    "FORMATS",
    "Figure",
    "FigureOffer",
    "FigureSource",
    "Format",
    "OFFERS",
    "find_offers",
    "offers_of",
    "render",
]
