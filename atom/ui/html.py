"""Markup built from values, under the name that screens know it by (see `atom.views.markup`)."""

from __future__ import annotations

from atom.views.markup import Attribute as Attribute
from atom.views.markup import Child as Child
from atom.views.markup import Html as Html
from atom.views.markup import el as el
from atom.views.markup import escape as escape
from atom.views.markup import join as join
