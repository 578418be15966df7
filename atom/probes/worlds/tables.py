"""Tables and receipts: printed numbers, their rows and columns, and totals that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from numpy.random import Generator
from PIL import Image

from atom.probes.program import Box, Program
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Canvas,
    Drawn,
    Rect,
    around,
    grow,
    polar,
    text_width,
    thousandths,
    union,
)
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    generator,
    number,
    option,
    pick,
    sample,
    spread,
    whole,
)

TEMPLATES: Final = ("sum_check", "lookup", "gap", "convert")

_RECEIPT: Final = (440, 500)
_TABLE: Final = (640, 480)
_DESK: Final = "#dfe4ea"
_ZEBRA: Final = "#f4f6f9"


@dataclass(frozen=True, kw_only=True)
class _Shop:
    name: str
    street: str
    items: tuple[tuple[str, int], ...]


_SHOPS: Final = (
    _Shop(
        name="Corner Bakery",
        street="Mill Lane, Oakford",
        items=(
            ("Rye bread", 420),
            ("Croissant", 180),
            ("Bagel", 145),
            ("Muffin", 235),
            ("Tart", 310),
        ),
    ),
    _Shop(
        name="Paper & Ink",
        street="Station Road, Elmham",
        items=(("Notebook", 390), ("Pencil", 85), ("Ruler", 130), ("Marker", 225), ("Folder", 160)),
    ),
    _Shop(
        name="Green Grocer",
        street="Market Square, Ashby",
        items=(
            ("Apples", 265),
            ("Spinach", 195),
            ("Lentils", 240),
            ("Ginger", 115),
            ("Honey", 560),
        ),
    ),
    _Shop(
        name="Hill Hardware",
        street="Forge Street, Burford",
        items=(("Hinge", 275), ("Hook", 95), ("Sandpaper", 140), ("Glue", 335), ("Brush", 480)),
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    title: str
    subtitle: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]


_SHEETS: Final = (
    _Sheet(
        title="Sales by region",
        subtitle="Thousand euros, by season",
        corner="Region",
        rows=("North", "South", "East", "West", "Coast", "Valley", "Island", "Capital"),
        columns=("Spring", "Summer", "Autumn", "Winter"),
    ),
    _Sheet(
        title="Visitors to the museums",
        subtitle="Persons, by weekday",
        corner="Museum",
        rows=("Maritime", "Railway", "Folk", "Modern", "Castle", "Natural", "Textile", "Mining"),
        columns=("Monday", "Tuesday", "Friday", "Sunday"),
    ),
    _Sheet(
        title="Parcels by depot",
        subtitle="Pieces handled, by shift",
        corner="Depot",
        rows=("Alder", "Birch", "Cedar", "Hazel", "Larch", "Maple", "Rowan", "Willow"),
        columns=("Early", "Midday", "Late", "Night"),
    ),
    _Sheet(
        title="Students per course",
        subtitle="Enrolments, by campus",
        corner="Course",
        rows=("Algebra", "Biology", "Drama", "French", "Geology", "Music", "Physics", "Spanish"),
        columns=("Lakeside", "Hilltop", "Riverside", "Online"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Measure:
    title: str
    corner: str
    quantity: str
    unit: str
    near: str
    other: str
    factor: int
    rows: tuple[str, ...]
    low: int
    high: int


_MEASURES: Final = (
    _Measure(
        title="Hiking routes",
        corner="Route",
        quantity="Length",
        unit="km",
        near="m",
        other="m",
        factor=1000,
        rows=("Ridge", "Lake", "Forest", "Gorge", "Summit", "Meadow"),
        low=3,
        high=38,
    ),
    _Measure(
        title="Film programme",
        corner="Film",
        quantity="Duration",
        unit="h",
        near="min",
        other="min",
        factor=60,
        rows=("Harvest", "Lantern", "Orbit", "Pilgrim", "Quartz", "Saffron"),
        low=2,
        high=9,
    ),
    _Measure(
        title="Parcel weights",
        corner="Parcel",
        quantity="Weight",
        unit="kg",
        near="g",
        other="g",
        factor=1000,
        rows=("Amber", "Basalt", "Copper", "Flint", "Granite", "Marble"),
        low=2,
        high=29,
    ),
    _Measure(
        title="Garden plots",
        corner="Plot",
        quantity="Width",
        unit="m",
        near="cm",
        other="cm",
        factor=100,
        rows=("Aster", "Clover", "Dahlia", "Iris", "Lupin", "Poppy"),
        low=4,
        high=60,
    ),
    _Measure(
        title="Water tanks",
        corner="Tank",
        quantity="Volume",
        unit="L",
        near="mL",
        other="mL",
        factor=1000,
        rows=("Barn", "Cellar", "Deck", "Garage", "Roof", "Shed"),
        low=12,
        high=95,
    ),
)
_UNITS: Final = ("km", "m", "cm", "kg", "g", "h", "min", "L", "mL")
_UNIT_WORDS: Final = {
    "km": ("kilometres",),
    "m": ("metres",),
    "cm": ("centimetres",),
    "kg": ("kilograms",),
    "g": ("grams",),
    "h": ("hours",),
    "min": ("minutes",),
    "L": ("litres",),
    "mL": ("millilitres",),
}


def draw(seed: int, index: int, template: str | None = None) -> Drawn:
    """Draw one table sample; the template is drawn at random where none is named."""
    rng = generator(seed, index)
    chosen = pick(rng, TEMPLATES)
    chosen = template or chosen
    makers = {"sum_check": _sum_check, "lookup": _lookup, "gap": _gap, "convert": _convert}
    return makers[chosen](rng, seed, index)


def money(cents: int) -> str:
    """Return integer cents as a printed amount."""
    return f"{cents // 100}.{cents % 100:02d}"


def _turned(rect: Rect, degrees: float, size: tuple[int, int]) -> Rect:
    """Return the box of a rectangle turned counter-clockwise about the picture's centre."""
    cx, cy = size[0] / 2, size[1] / 2
    turn_x, turn_y = polar((0.0, 0.0), 1.0, degrees)
    corners = []
    for x in (rect[0], rect[2]):
        for y in (rect[1], rect[3]):
            dx, dy = x - cx, y - cy
            corners.append((cx + dx * turn_x - dy * turn_y, cy + dx * turn_y + dy * turn_x))
    return around(corners, 0)


def _sum_check(rng: Generator, seed: int, index: int) -> Drawn:
    shop = pick(rng, _SHOPS)
    count = whole(rng, 3, 5)
    items = [(name, base + 5 * whole(rng, -6, 6)) for name, base in sample(rng, shop.items, count)]
    quantities = [whole(rng, 1, 6) for _ in items]
    asked = whole(rng, 0, count - 1)
    quantities[asked] = whole(rng, 2, 6)
    true_total = sum(q * cents for q, (_, cents) in zip(quantities, items, strict=True))
    right = chance(rng, 0.5)
    slip = pick(rng, (100, -100, 90, -90, 200, 10, -10, 110))
    printed = true_total if right else true_total + slip
    size = pick(rng, (13, 14, 15, 16))
    angle = pick(rng, (0.0, 0.0, 1.5, -1.5, 3.0, -3.0, 4.0))
    image, rects = _paint_receipt(shop, items, quantities, printed, size=size, angle=angle)
    name, cents = items[asked]
    quantity = quantities[asked]
    box = {key: thousandths(rect, _RECEIPT) for key, rect in rects.items()}
    verdicts = ("correct", "wrong")
    truth = verdicts[0] if right else verdicts[1]
    product = quantity * cents
    steps = (
        number(
            "price",
            f"What is the price of each {name} item?",
            cents / 100,
            decimals=2,
            weight=2,
            leaf=leaves.DIGITS,
            regions=[box[f"price{asked}"]],
            tolerance=0.004,
            near=0.5,
            anchors_any=("price", "each costs"),
            phrases=(
                "Price: {value}.",
                f"{name} has the price {{value}}.",
                f"In the line for {name}, each costs {{value}}.",
                f"The price printed beside {name} is {{value}}.",
            ),
        ),
        number(
            "quantity",
            f"How many of {name} were bought?",
            quantity,
            weight=2,
            leaf=leaves.COLUMN,
            regions=[box[f"quantity{asked}"]],
            near=1,
            anchors_any=("quantity", "bought"),
            phrases=(
                "Quantity: {value}.",
                f"For {name} the quantity is {{value}}.",
                "The column headed Qty shows that the number bought is {value}.",
            ),
        ),
        number(
            "product",
            f"What does the {name} line come to?",
            product / 100,
            decimals=2,
            weight=3,
            leaf=leaves.PRODUCT,
            regions=[box[f"row{asked}"]],
            tolerance=0.004,
            near=max(0.5, 0.5 * quantity),
            anchors_any=("line comes", "line total", "together"),
            depends_on=("price", "quantity"),
            derive="product",
            phrases=(
                "The line comes to {value}.",
                f"Line total for {name}: {{value}}.",
                "Multiplying both, the line comes to {value}.",
                "Taken together these cost {value}.",
            ),
        ),
        option(
            "total",
            "Is the printed total correct or wrong?",
            truth,
            options=verdicts,
            near=(),
            synonyms={"correct": ("right", "accurate"), "wrong": ("incorrect", "mistaken")},
            weight=3,
            leaf=leaves.PRINTED_TOTAL,
            regions=[box["total"], box["amounts"]],
            anchors_any=("printed total", "printed sum"),
            phrases=(
                "The printed total is {value}.",
                "Printed total: {value}.",
                "After adding up every line, the printed sum at the bottom is {value}.",
            ),
        ),
    )
    program = Program(
        family="tables",
        template="sum_check",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, (count - 3) / 2),
            (1.5, abs(angle) / 4),
            (1.5, (16 - size) / 3),
            (2.0, 0.0 if right else 1.0 - abs(slip) / 200),
        ),
        knobs={
            "items": count,
            "rotation_deg": angle,
            "font_px": size,
            "total_off_by_cents": 0 if right else slip,
        },
        question=(
            f"Check this receipt: what is the price of {name}, how many were bought and what does "
            "that line come to? Is the printed total correct or wrong?"
        ),
        choices=choice_list(rng, truth, verdicts),
        answer=truth,
        answer_step="total",
        steps=steps,
        size=_RECEIPT,
    )
    return Drawn(program=program, images=(image,), quantise=True)


def _paint_receipt(
    shop: _Shop,
    items: Sequence[tuple[str, int]],
    quantities: Sequence[int],
    printed: int,
    *,
    size: int,
    angle: float,
) -> tuple[Image.Image, dict[str, Rect]]:
    paper = Canvas(*_RECEIPT, _DESK)
    pitch = 34.0
    height = 258 + pitch * len(items)
    left, right = 62.0, 378.0
    top = (_RECEIPT[1] - height) / 2
    bottom = top + height
    for shift, shade in ((7, "#d6dce3"), (5, "#ccd3db"), (3, "#c3cad4")):
        paper.rect((left + 1, top + shift, right + shift - 1, bottom + shift - 2), shade, radius=3)
    paper.rect((left, top, right, bottom), PAPER)
    teeth = 24
    width = (right - left) / teeth
    for i in range(teeth):
        x = left + i * width
        paper.polygon([(x, bottom), (x + width / 2, bottom + 6), (x + width, bottom)], PAPER)
    middle = (left + right) / 2
    paper.text((middle, top + 42), shop.name, 21, INK, align="m", bold=True)
    paper.text((middle, top + 62), shop.street, 12, MUTED, align="m")
    paper.text((left + 24, top + 100), "Item", 11, MUTED)
    paper.text((left + 206, top + 100), "Qty", 11, MUTED, align="r")
    paper.text((right - 24, top + 100), "Price each", 11, MUTED, align="r")
    paper.hline(left + 24, right - 24, top + 110, FAINT)
    rects: dict[str, Rect] = {}
    y = top + 138
    for i, ((name, cents), quantity) in enumerate(zip(items, quantities, strict=True)):
        words = paper.text((left + 24, y), name, size, INK)
        count = paper.digits(left + 204, y, str(quantity), size)
        price = paper.digits(right - 24, y, money(cents), size)
        paper.dotted(words[2] + 8, count[0] - 8, y - 3, FAINT)
        paper.dotted(left + 214, price[0] - 8, y - 3, FAINT)
        rects[f"price{i}"] = grow(price, 4)
        rects[f"quantity{i}"] = grow(count, 5)
        rects[f"row{i}"] = grow(union([words, count, price]), 4)
        y += pitch
    y += 4
    paper.hline(left + 24, right - 24, y - 22, FAINT)
    label = paper.text((left + 24, y + 10), "TOTAL", 18, INK, bold=True)
    amount = paper.digits(right - 24, y + 10, money(printed), 18)
    rects["total"] = grow(union([label, amount]), 5)
    rects["amounts"] = union([rects[f"row{i}"] for i in range(len(items))])
    paper.text((middle, y + 52), "Thank you, come again", 12, MUTED, align="m")
    image = paper.finish()
    if angle:
        image = paper.turned(angle, _DESK)
        rects = {key: _turned(rect, angle, _RECEIPT) for key, rect in rects.items()}
    return image, rects


@dataclass(frozen=True, kw_only=True)
class _Cells:
    rows: dict[str, Rect]
    columns: dict[str, Rect]
    cells: dict[tuple[str, str], Rect]
    subtitle: Rect


def _paint_table(
    title: str,
    subtitle: str,
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: dict[tuple[str, str], str],
    *,
    size: int,
) -> tuple[Image.Image, _Cells]:
    canvas = Canvas(*_TABLE)
    canvas.text((40, 48), title, 20, INK, bold=True)
    under = canvas.text((40, 70), subtitle, 13, MUTED)
    left, right = 40.0, 600.0
    first = 170.0
    top = 96.0
    pitch = min(52.0, 336.0 / (len(rows) + 1))
    step = (right - left - first) / len(columns)
    canvas.rect(
        (left, top, right, top + pitch), "#2c3a4b", radius=6, corners=(True, True, False, False)
    )
    middle = pitch / 2
    canvas.text((left + 16, top + middle), corner, size, "#c5cfdb", vertical="m")
    heads = {}
    for j, column in enumerate(columns):
        edge = left + first + step * (j + 1) - 18
        heads[column] = grow(
            canvas.text((edge, top + middle), column, size, PAPER, align="r", vertical="m"), 5
        )
    labels, cells = {}, {}
    for i, row in enumerate(rows):
        y = top + pitch * (i + 1)
        if i % 2 == 1:
            canvas.rect((left, y, right, y + pitch), _ZEBRA)
        base = y + middle + size * 0.36
        labels[row] = grow(canvas.text((left + 16, base), row, size, INK), 5)
        for j, column in enumerate(columns):
            edge = left + first + step * (j + 1) - 18
            words = values[row, column]
            if words:
                rect = canvas.digits(edge, base, words, size)
            else:
                blank = text_width("000", size)
                rect = (edge - blank, base - size * 0.75, edge, base)
            cells[row, column] = grow(rect, 5)
    bottom = top + pitch * (len(rows) + 1)
    canvas.hline(left, right, bottom, FAINT)
    frame = _Cells(rows=labels, columns=heads, cells=cells, subtitle=grow(under, 4))
    return canvas.finish(), frame


def _box(rect: Rect) -> Box:
    return thousandths(rect, _TABLE)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    sheet: _Sheet
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: dict[tuple[str, str], int]
    size: int


def _make_grid(rng: Generator, count: int) -> _Grid:
    sheet = pick(rng, _SHEETS)
    rows = tuple(sample(rng, sheet.rows, count))
    columns = sheet.columns[: whole(rng, 3, 4)]
    values = {}
    for column in columns:
        level = whole(rng, 180, 620)
        picked = sample(rng, range(level - 70, level + 240, 7), count)
        for row, value in zip(rows, picked, strict=True):
            values[row, column] = value + whole(rng, 0, 2)
    return _Grid(
        sheet=sheet, rows=rows, columns=columns, values=values, size=pick(rng, (13, 14, 15, 16))
    )


def _lookup(rng: Generator, seed: int, index: int) -> Drawn:
    grid = _make_grid(rng, whole(rng, 5, 8))
    row, column = pick(rng, grid.rows), pick(rng, grid.columns)
    ranked = sorted(grid.rows, key=lambda r: -grid.values[r, column])
    largest = ranked[0]
    image, frame = _paint_table(
        grid.sheet.title,
        grid.sheet.subtitle,
        grid.sheet.corner,
        grid.rows,
        grid.columns,
        {key: str(value) for key, value in grid.values.items()},
        size=grid.size,
    )
    value = grid.values[row, column]
    steps = (
        number(
            "row",
            f"In which row from the top (below the header) is {row}?",
            grid.rows.index(row) + 1,
            weight=2,
            leaf=leaves.ROW,
            regions=[_box(frame.rows[row])],
            near=1,
            anchors_any=("row",),
            phrases=(
                f"{row} is in row {{value}}.",
                "Row: {value}.",
                f"Counting down from below the header, {row} stands in row {{value}}.",
            ),
        ),
        number(
            "column",
            f"Which column of figures from the left is {column}?",
            grid.columns.index(column) + 1,
            weight=2,
            leaf=leaves.COLUMN,
            regions=[_box(frame.columns[column])],
            near=1,
            anchors_any=("column",),
            phrases=(
                f"{column} is column {{value}}.",
                "Column: {value}.",
                f"Counting the figures from the left, {column} heads column {{value}}.",
            ),
        ),
        number(
            "cell",
            f"Which value is printed for {row} under {column}?",
            value,
            weight=3,
            leaf=leaves.DIGITS,
            regions=[_box(frame.cells[row, column])],
            near=9,
            anchors_any=("cell", "entry for"),
            phrases=(
                "The cell reads {value}.",
                f"The entry for {row} under {column} is {{value}}.",
                "Where both lines cross, the cell shows {value}.",
            ),
        ),
        option(
            "largest",
            f"Which {grid.sheet.corner.lower()} has the largest value under {column}?",
            largest,
            options=grid.rows,
            near=(ranked[1], ranked[2]),
            weight=3,
            leaf=leaves.LARGEST,
            regions=[_box(frame.cells[largest, column]), _box(frame.rows[largest])],
            anchors_any=("largest", "highest"),
            phrases=(
                "The largest is {value}.",
                f"Under {column}, the highest figure belongs to {{value}}.",
                "Comparing all figures below that heading, the largest belongs to {value}.",
            ),
        ),
    )
    program = Program(
        family="tables",
        template="lookup",
        seed=seed,
        index=index,
        difficulty=_table_difficulty(grid),
        knobs={"rows": len(grid.rows), "columns": len(grid.columns), "font_px": grid.size},
        question=(
            f"In which row and column do you find {row} and {column}, and what is printed there? "
            f"Which {grid.sheet.corner.lower()} has the largest value under {column}?"
        ),
        choices=choice_list(rng, largest, [ranked[1], ranked[2], *ranked[3:]]),
        answer=largest,
        answer_step="largest",
        steps=steps,
        size=_TABLE,
    )
    return Drawn(program=program, images=(image,), quantise=True)


def _table_difficulty(grid: _Grid) -> float:
    return blend(
        (2.0, (len(grid.rows) - 5) / 3),
        (1.0, float(len(grid.columns) - 3)),
        (2.0, (16 - grid.size) / 3),
    )


def _gap(rng: Generator, seed: int, index: int) -> Drawn:
    grid = _make_grid(rng, whole(rng, 5, 8))
    column = pick(rng, grid.columns)
    blank, a, b = sample(rng, grid.rows, 3)
    values = {key: str(value) for key, value in grid.values.items()}
    values[blank, column] = ""
    image, frame = _paint_table(
        grid.sheet.title,
        grid.sheet.subtitle,
        grid.sheet.corner,
        grid.rows,
        grid.columns,
        values,
        size=grid.size,
    )
    value_a, value_b = grid.values[a, column], grid.values[b, column]
    gap = abs(value_a - value_b)
    at = grid.rows.index(blank)
    steps = (
        option(
            "missing",
            f"For which {grid.sheet.corner.lower()} is no value printed under {column}?",
            blank,
            options=grid.rows,
            near=[grid.rows[i] for i in (at - 1, at + 1) if 0 <= i < len(grid.rows)],
            weight=3,
            leaf=leaves.ABSENT,
            regions=[_box(frame.cells[blank, column]), _box(frame.rows[blank])],
            anchors_any=("missing", "blank"),
            phrases=(
                "Missing: {value}.",
                "The blank belongs to {value}.",
                f"Under {column}, the missing figure is that of {{value}}.",
            ),
        ),
        number(
            "first",
            f"Which value is printed for {a} under {column}?",
            value_a,
            weight=2,
            leaf=leaves.ROW,
            regions=[_box(frame.cells[a, column])],
            near=9,
            anchors_all=(a,),
            phrases=(
                f"{a}: {{value}}.",
                f"{a} has {{value}}.",
                f"Following its line across, {a} shows {{value}} under {column}.",
            ),
        ),
        number(
            "second",
            f"Which value is printed for {b} under {column}?",
            value_b,
            weight=2,
            leaf=leaves.DIGITS,
            regions=[_box(frame.cells[b, column])],
            near=9,
            anchors_all=(b,),
            phrases=(
                f"{b}: {{value}}.",
                f"{b} has {{value}}.",
                f"In the same way, {b} shows {{value}} under {column}.",
            ),
        ),
        number(
            "difference",
            f"By how much do {a} and {b} differ under {column}?",
            gap,
            weight=3,
            leaf=leaves.DIFFERENCE,
            regions=[_box(frame.cells[a, column]), _box(frame.cells[b, column])],
            near=9,
            anchors_any=("difference", "apart"),
            depends_on=("first", "second"),
            derive="difference",
            phrases=(
                "The difference is {value}.",
                "They are {value} apart.",
                "Taking the smaller from the larger, the difference comes to {value}.",
            ),
        ),
    )
    program = Program(
        family="tables",
        template="gap",
        seed=seed,
        index=index,
        difficulty=_table_difficulty(grid),
        knobs={
            "rows": len(grid.rows),
            "columns": len(grid.columns),
            "font_px": grid.size,
            "missing_cell": True,
        },
        question=(
            f"Under {column}, by how much do {a} and {b} differ? Give both values, and name the "
            f"{grid.sheet.corner.lower()} whose value is missing there."
        ),
        choices=choice_list(rng, str(gap), spread(gap, (10, -10, 20, 1, 30))),
        answer=str(gap),
        answer_step="difference",
        steps=steps,
        size=_TABLE,
    )
    return Drawn(program=program, images=(image,), quantise=True)


def _convert(rng: Generator, seed: int, index: int) -> Drawn:
    measure = pick(rng, _MEASURES)
    rows = tuple(sample(rng, measure.rows, whole(rng, 4, 6)))
    amounts = sample(rng, range(measure.low, measure.high + 1), len(rows))
    head = f"{measure.quantity} ({measure.unit})"
    ratings = [whole(rng, 11, 99) for _ in rows]
    values = {(row, head): str(amount) for row, amount in zip(rows, amounts, strict=True)}
    values |= {(row, "Rating"): str(rating) for row, rating in zip(rows, ratings, strict=True)}
    columns = (head, "Rating") if chance(rng, 0.5) else ("Rating", head)
    size = pick(rng, (13, 14, 15, 16))
    image, frame = _paint_table(
        measure.title,
        f"{measure.quantity} and guest rating",
        measure.corner,
        rows,
        columns,
        values,
        size=size,
    )
    at = whole(rng, 0, len(rows) - 1)
    row, amount = rows[at], amounts[at]
    made = amount * measure.factor
    steps = (
        option(
            "unit",
            f"In which unit is the {measure.quantity.lower()} given?",
            measure.unit,
            options=_UNITS,
            near=(measure.near,),
            synonyms=_UNIT_WORDS,
            weight=2,
            leaf=leaves.UNIT_LABEL,
            regions=[_box(frame.columns[head])],
            anchors_any=("unit",),
            phrases=(
                "Unit: {value}.",
                "The unit in the header is {value}.",
                f"The heading gives {{value}} as the unit of the {measure.quantity.lower()}.",
            ),
        ),
        number(
            "cell",
            f"Which {measure.quantity.lower()} is printed for {row}?",
            amount,
            weight=4,
            leaf=leaves.DIGITS,
            regions=[_box(frame.cells[row, head])],
            near=2,
            unit=measure.unit,
            anchors_all=(row,),
            phrases=(
                f"{row}: {{value}}.",
                f"For {row} the table gives {{value}}.",
                f"Following the line of {row} across, I find {{value}} printed there.",
            ),
        ),
        number(
            "converted",
            f"How much is that in {measure.other}?",
            made,
            weight=4,
            leaf=leaves.UNITS,
            regions=[_box(frame.cells[row, head]), _box(frame.columns[head])],
            near=2.0 * measure.factor,
            unit=measure.other,
            anchors_any=("converted", "conversion"),
            depends_on=("cell",),
            derive="product",
            phrases=(
                "Converted: {value}.",
                "Converted, that is {value}.",
                "In the smaller measure the conversion gives {value}.",
            ),
        ),
    )
    others = [amount * f for f in (10, 60, 100, 1000, 10000)]
    program = Program(
        family="tables",
        template="convert",
        seed=seed,
        index=index,
        difficulty=blend((2.0, (len(rows) - 4) / 2), (2.0, (16 - size) / 3), (1.0, 0.5)),
        knobs={"rows": len(rows), "font_px": size, "factor": measure.factor},
        question=(
            f"What is the {measure.quantity.lower()} of {row}, in which unit is it given, and how "
            f"much is that in {measure.other}?"
        ),
        choices=choice_list(
            rng, str(made), [str(v) for v in sorted(others, key=lambda v: abs(v - made))]
        ),
        answer=str(made),
        answer_step="converted",
        steps=steps,
        size=_TABLE,
    )
    return Drawn(program=program, images=(image,), quantise=True)
