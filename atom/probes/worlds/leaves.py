"""The capability leaves that drawn probes test, by short name.

Each constant is a path of `taxonomy/anchors.yaml`; a test checks that the two hold the same leaves.
"""

from __future__ import annotations

from typing import Final

Leaf = tuple[str, str, str, str]

MARK_HEIGHT: Final[Leaf] = ("Perception", "Fine detail", "Reading marks", "Mark height")
AXIS_VALUE: Final[Leaf] = ("Perception", "Fine detail", "Reading marks", "Axis interpolation")
NEEDLE: Final[Leaf] = ("Perception", "Fine detail", "Reading scales", "Needle")
ZONE: Final[Leaf] = ("Perception", "Fine detail", "Reading scales", "Zone boundary")
HOUR_HAND: Final[Leaf] = ("Perception", "Fine detail", "Reading clocks", "Hour hand")
MINUTE_HAND: Final[Leaf] = ("Perception", "Fine detail", "Reading clocks", "Minute hand")
DIGITS: Final[Leaf] = ("Perception", "Text", "Printed text", "Digits")
COLOUR: Final[Leaf] = ("Perception", "Object", "Attributes", "Colour")
SHAPE: Final[Leaf] = ("Perception", "Object", "Attributes", "Shape")
FIND: Final[Leaf] = ("Perception", "Object", "Scene search", "Find by attributes")
COUNT_ALL: Final[Leaf] = ("Perception", "Object", "Scene search", "Count all")
OCCLUSION: Final[Leaf] = ("Perception", "Object", "Scene search", "Occlusion")

LEGEND: Final[Leaf] = ("Understanding", "Charts", "Parts of a chart", "Legend mapping")
CHART_TYPE: Final[Leaf] = ("Understanding", "Charts", "Parts of a chart", "Chart type")
ROW: Final[Leaf] = ("Understanding", "Documents", "Table layout", "Row lookup")
COLUMN: Final[Leaf] = ("Understanding", "Documents", "Table layout", "Column lookup")
UNIT_LABEL: Final[Leaf] = ("Understanding", "Documents", "Labels", "Unit label")
SCALE: Final[Leaf] = ("Understanding", "Instruments", "Dial layout", "Scale divisions")
COMBINE_HANDS: Final[Leaf] = ("Understanding", "Instruments", "Dial layout", "Combine hands")
FIGURE_MARKS: Final[Leaf] = ("Understanding", "Diagrams", "Notation", "Figure marks")
RELATION: Final[Leaf] = ("Understanding", "Scenes", "Space", "Relative position")
CHANGED_OBJECT: Final[Leaf] = ("Understanding", "Scenes", "Change", "Changed object")
CHANGE_TYPE: Final[Leaf] = ("Understanding", "Scenes", "Change", "Change type")
STATE_BEFORE: Final[Leaf] = ("Understanding", "Scenes", "Change", "State before")
STATE_AFTER: Final[Leaf] = ("Understanding", "Scenes", "Change", "State after")

LARGEST: Final[Leaf] = ("Reasoning", "Quantitative", "Comparison", "Larger or largest")
TREND: Final[Leaf] = ("Reasoning", "Quantitative", "Comparison", "Rise or fall")
DIFFERENCE: Final[Leaf] = ("Reasoning", "Quantitative", "Arithmetic", "Sum or difference")
PRODUCT: Final[Leaf] = ("Reasoning", "Quantitative", "Arithmetic", "Product")
TIME_SUM: Final[Leaf] = ("Reasoning", "Quantitative", "Arithmetic", "Time addition")
FILTER_COUNT: Final[Leaf] = ("Reasoning", "Logic", "Sets", "Filter then count")
LIMITS: Final[Leaf] = ("Reasoning", "Logic", "Decision", "Within limits")

UNITS: Final[Leaf] = ("Knowledge", "Measures", "Units", "Units and conversion")
GEOMETRY: Final[Leaf] = ("Knowledge", "Mathematics", "Geometry", "Geometry facts")
NUMERALS: Final[Leaf] = ("Knowledge", "Symbols", "Numerals", "Roman numerals")

ABSENT: Final[Leaf] = ("Trustworthiness", "Honesty", "Absence", "Absent or missing")
PRINTED_TOTAL: Final[Leaf] = ("Trustworthiness", "Honesty", "Consistency", "Printed total")
UNCHANGED: Final[Leaf] = ("Trustworthiness", "Honesty", "Consistency", "Unchanged object")

DESCRIPTION: Final[Leaf] = ("Generation", "Description", "Completeness", "Complete description")
TIME_FORMAT: Final[Leaf] = ("Generation", "Format", "Notation", "24-hour form")
