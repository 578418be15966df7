"""Where a planted leaf belongs in trees that were written without the probes: the rivals.

The exact judge reads those trees as somebody would who knows what each step asks. What no leaf of
them covers has no place there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from atom.probes.worlds import leaves as at
from atom.probes.worlds.leaves import Leaf

RIVAL_NAMES: Final[Mapping[Leaf, tuple[str, ...]]] = {
    at.MARK_HEIGHT: ("Chart values", "Reading numbers"),
    at.AXIS_VALUE: ("Chart values", "Reading numbers"),
    at.NEEDLE: ("Dials and gauges", "Reading numbers"),
    at.ZONE: ("Dials and gauges", "Reading numbers"),
    at.HOUR_HAND: ("Clocks", "Reading numbers"),
    at.MINUTE_HAND: ("Clocks", "Reading numbers"),
    at.DIGITS: ("Printed numbers", "Reading numbers"),
    at.COLOUR: ("Colour naming", "Object recognition"),
    at.SHAPE: ("Shape naming", "Object recognition"),
    at.FIND: ("Localisation", "Object recognition"),
    at.COUNT_ALL: ("Object counting", "Filtering and counting"),
    at.OCCLUSION: ("Occlusion order", "Space"),
    at.LEGEND: ("Chart legend", "Word meaning"),
    at.CHART_TYPE: ("Picture style", "Object recognition"),
    at.ROW: ("Tables", "Finding information"),
    at.COLUMN: ("Tables", "Finding information"),
    at.UNIT_LABEL: ("Printed words", "Units and measures"),
    at.SCALE: ("Dials and gauges", "Reading numbers"),
    at.COMBINE_HANDS: ("Clocks", "Time and calendar"),
    at.FIGURE_MARKS: ("Arrows and flow", "Mathematics"),
    at.RELATION: ("Relative place", "Space"),
    at.CHANGED_OBJECT: ("Change detection", "Comparing pictures"),
    at.CHANGE_TYPE: ("Change detection", "Comparing pictures"),
    at.STATE_BEFORE: ("Change detection", "Comparing pictures"),
    at.STATE_AFTER: ("Change detection", "Comparing pictures"),
    at.LARGEST: ("Comparing numbers",),
    at.TREND: ("Chart trend", "Summary"),
    at.DIFFERENCE: ("Addition and subtraction",),
    at.PRODUCT: ("Multiplication and division",),
    at.TIME_SUM: ("Clocks", "Time and calendar"),
    at.FILTER_COUNT: ("Object counting", "Filtering and counting"),
    at.LIMITS: ("Deduction",),
    at.UNITS: ("Units and measures",),
    at.GEOMETRY: ("Angles", "Mathematics"),
    at.NUMERALS: ("Word meaning",),
    at.ABSENT: ("Presence", "Refusing to invent"),
    at.PRINTED_TOTAL: ("Printed numbers", "Consistency"),
    at.UNCHANGED: ("Same or different", "Comparing pictures"),
    at.DESCRIPTION: ("Description", "Completeness"),
    at.TIME_FORMAT: ("Answer form", "Following instructions"),
}
"""Last names of the rivals' leaves that cover a planted leaf, at most one a rival."""
