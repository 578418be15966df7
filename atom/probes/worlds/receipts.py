"""Receipts: prices, quantities and a printed total that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from numpy.random import Generator
from PIL import Image

from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Canvas,
    DrawnSample,
    Rect,
    around,
    grow,
    polar,
    thousandths,
    union,
)
from atom.probes.worlds.steps import blend, chance, choice_list, number, option, pick, sample, whole

_RECEIPT: Final = (440, 500)
_DESK: Final = "#dfe4ea"


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


def draw_sum_check(rng: Generator) -> DrawnSample:
    """Ask whether the printed total is right."""
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
    return DrawnSample(
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
        images=(image,),
    )


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
