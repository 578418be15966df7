"""Markup built from values, under the name that screens know it by (see `atom.display.markup`)."""

from __future__ import annotations

from atom.display.markup import Attribute as Attribute
from atom.display.markup import Child as Child
from atom.display.markup import Html as Html
from atom.display.markup import el as el
from atom.display.markup import escape as escape
from atom.display.markup import join as join
