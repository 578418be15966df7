"""Figures to publish: every chart of the screens as SVG, PNG and PDF, with caption and data."""

from atom.exports.figures.base import Asked, Figure
from atom.exports.figures.catalogue import OFFERS, Offer, find_offers, offers_of
from atom.exports.figures.drawing import FORMATS, Format, render

__all__ = [
    "FORMATS",
    "OFFERS",
    "Asked",
    "Figure",
    "Format",
    "Offer",
    "find_offers",
    "offers_of",
    "render",
]
