"""Object scenes: solids of six colours on a floor, asked about by place, number and occlusion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from numpy.random import Generator

from atom.probes.program import Box
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import DrawnSample, grow, thousandths
from atom.probes.worlds.places import (
    PLACES,
    clear_place,
    near_places,
    overlap,
    place_of,
    radius_at,
    scatter,
)
from atom.probes.worlds.solids import COLOURS, FLOOR_BOTTOM, SHAPES, SIZE, Scene, Solid, render
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    number,
    option,
    pick,
    sample,
    spread,
    whole,
)

COLOUR_NEAR: Final = {
    "red": ("orange",),
    "orange": ("red", "yellow"),
    "yellow": ("orange",),
    "green": ("blue",),
    "blue": ("purple", "green"),
    "purple": ("blue",),
}
COLOUR_WORDS: Final = {
    "red": ("crimson", "scarlet"),
    "blue": ("navy",),
    "green": ("emerald",),
    "yellow": ("gold", "golden"),
    "purple": ("violet",),
    "orange": ("amber",),
}
SHAPE_NEAR: Final = {
    "sphere": ("cylinder",),
    "cube": ("cylinder",),
    "cylinder": ("cone", "cube"),
    "cone": ("cylinder",),
}
SHAPE_WORDS: Final = {
    "sphere": ("ball",),
    "cube": ("box", "block"),
    "cylinder": ("tube",),
    "cone": ("pyramid",),
}
MIN_VISIBLE: Final = 0.55


@dataclass(frozen=True, kw_only=True)
class View:
    """A rendered scene with its solids; boxes and names run in parallel."""

    solids: tuple[Solid, ...]
    scene: Scene

    def box(self, index: int, *, picture: int = 1) -> Box:
        """Return the region of one solid."""
        return thousandths(grow(self.scene.boxes[index], 2), SIZE, picture=picture)

    def boxes(self, indices: Sequence[int], *, picture: int = 1) -> list[Box]:
        """Return the regions of several solids."""
        return [self.box(i, picture=picture) for i in indices]


def _names(rng: Generator, count: int, *, colours: Sequence[str]) -> list[tuple[str, str]]:
    return [(pick(rng, colours), pick(rng, SHAPES)) for _ in range(count)]


def _different(rng: Generator, count: int, *, colours: Sequence[str]) -> list[tuple[str, str]]:
    kinds = [(colour, shape) for colour in colours for shape in SHAPES]
    return sample(rng, kinds, count)


def unique(solids: Sequence[Solid]) -> list[int]:
    """Return the solids whose colour and shape no other one has."""
    names = [s.name for s in solids]
    return [i for i, name in enumerate(names) if names.count(name) == 1]


def _ready(solids: tuple[Solid, ...], contrast: float, least: float = MIN_VISIBLE) -> View | None:
    scene = render(solids, contrast=contrast)
    return View(solids=solids, scene=scene) if min(scene.visible) >= least else None


def draw_left_of(rng: Generator) -> DrawnSample:
    """Ask what stands left of a solid."""
    contrast = pick(rng, (1.0, 1.0, 0.9, 0.8))
    hidden = pick(rng, (0.0, 0.15, 0.3))
    count = whole(rng, 5, 12)
    while True:
        solids = scatter(rng, _names(rng, count, colours=tuple(COLOURS)), hidden=hidden)
        if solids is None:
            continue
        options = []
        for i in unique(solids):
            here = solids[i]
            gaps = [abs(here.middle[0] - s.middle[0]) for j, s in enumerate(solids) if j != i]
            left = [j for j, s in enumerate(solids) if s.middle[0] < here.middle[0]]
            if not clear_place(here) or min(gaps) < 14 or len(left) < 2:
                continue
            for shape in SHAPES:
                wanted = [j for j in left if solids[j].shape == shape]
                if 1 <= len(wanted) < len(left):
                    options.append((i, left, shape, wanted))
        if not options:
            continue
        view = _ready(solids, contrast)
        if view is not None:
            break
    target, left, shape, wanted = pick(rng, options)
    name = solids[target].name
    place = place_of(solids[target])
    steps = (
        option(
            "place",
            f"In which part of the picture is the {name}?",
            place,
            options=PLACES,
            near=near_places(place),
            synonyms={p: (p.replace("middle", "centre"),) for p in PLACES if "middle" in p},
            weight=2,
            leaf=leaves.FIND,
            regions=[view.box(target)],
            anchors_any=("part", "found"),
            phrases=(
                f"The {name} is in the {{value}} part.",
                f"I found the {name} in the {{value}} part of the picture.",
                f"Looking for the {name}, the part where it stands is the {{value}}.",
            ),
        ),
        number(
            "all",
            "How many objects are there in total?",
            count,
            weight=2,
            leaf=leaves.COUNT_ALL,
            regions=view.boxes(range(count)),
            near=1,
            anchors_any=("in total", "altogether"),
            phrases=(
                "Objects in total: {value}.",
                "In total the scene holds {value} objects.",
                "Counting everything on the floor, there are {value} objects altogether.",
            ),
        ),
        number(
            "left",
            f"How many objects are left of the {name}?",
            len(left),
            weight=3,
            leaf=leaves.RELATION,
            regions=view.boxes(left),
            near=1,
            anchors_any=("left of", "further left than"),
            phrases=(
                f"Left of the {name}: {{value}}.",
                f"The number of objects left of the {name} is {{value}}.",
                f"Comparing positions from side to side, {{value}} objects are left of the {name}.",
            ),
        ),
        number(
            "shapes",
            f"How many of those are {shape}s?",
            len(wanted),
            weight=3,
            leaf=leaves.FILTER_COUNT,
            regions=view.boxes(wanted),
            near=1,
            anchors_any=(f"{shape} count", "among these"),
            phrases=(
                f"Among these, the {shape} count is {{value}}.",
                f"Among these, {{value}} are {shape}s.",
                f"Keeping only matching objects, the {shape} count comes to {{value}}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=blend(
            (3.0, (count - 5) / 7),
            (1.5, (1.0 - min(view.scene.visible)) / 0.4),
            (1.0, (1 - contrast) / 0.2),
        ),
        knobs=_knobs(view, contrast),
        question=(
            f"Where is the {name}, how many objects are there in total, and how many of them are "
            f"left of the {name}? How many of those are {shape}s?"
        ),
        choices=choice_list(rng, str(len(wanted)), spread(len(wanted), (1, -1, 2, 3))),
        answer=str(len(wanted)),
        answer_step="shapes",
        steps=steps,
        size=SIZE,
        images=(view.scene.image,),
        quantise=False,
    )


def _knobs(view: View, contrast: float) -> dict[str, float | int | str | bool]:
    return {
        "objects": len(view.solids),
        "least_visible": round(min(view.scene.visible), 3),
        "contrast": contrast,
        "equal_colours": len(view.solids) - len({s.colour for s in view.solids}),
    }


def draw_nearest(rng: Generator) -> DrawnSample:
    """Ask what stands nearest to a solid."""
    contrast = pick(rng, (1.0, 1.0, 0.9, 0.8))
    hidden = pick(rng, (0.0, 0.15, 0.3))
    count = whole(rng, 6, 10)
    absent = pick(rng, tuple(COLOURS))
    present = [colour for colour in COLOURS if colour != absent]
    while True:
        names = [(colour, pick(rng, SHAPES)) for colour in present]
        names += _names(rng, count - len(names), colours=present)
        solids = scatter(rng, names, hidden=hidden)
        if solids is None:
            continue
        options = []
        for i in unique(solids):
            ranked = sorted(
                (math.dist(solids[i].middle, s.middle), j) for j, s in enumerate(solids) if j != i
            )
            if clear_place(solids[i]) and ranked[1][0] >= 1.3 * ranked[0][0]:
                options.append((i, ranked[0][1], ranked[1][1]))
        if not options:
            continue
        view = _ready(solids, contrast)
        if view is not None:
            break
    target, neighbour, second = pick(rng, options)
    name, other = solids[target].name, solids[neighbour]
    place = place_of(solids[target])
    everything = view.boxes(range(count))
    steps = (
        option(
            "place",
            f"In which part of the picture is the {name}?",
            place,
            options=PLACES,
            near=near_places(place),
            synonyms={p: (p.replace("middle", "centre"),) for p in PLACES if "middle" in p},
            weight=2,
            leaf=leaves.FIND,
            regions=[view.box(target)],
            anchors_any=("part", "found"),
            phrases=(
                f"The {name} is in the {{value}} part.",
                f"I found the {name} in the {{value}} part of the picture.",
                f"Looking for the {name}, the part where it stands is the {{value}}.",
            ),
        ),
        option(
            "colour",
            f"Which colour has the object nearest to the {name}?",
            other.colour,
            options=tuple(COLOURS),
            near=COLOUR_NEAR[other.colour],
            synonyms=COLOUR_WORDS,
            weight=3,
            leaf=leaves.COLOUR,
            regions=[view.box(neighbour)],
            anchors_all=("colour",),
            anchors_any=("nearest", "neighbour"),
            phrases=(
                "Colour of the nearest object: {value}.",
                "The neighbour has the colour {value}.",
                "The object that stands nearest to it has a colour that I read as {value}.",
            ),
        ),
        option(
            "shape",
            f"Which shape has the object nearest to the {name}?",
            other.shape,
            options=SHAPES,
            near=SHAPE_NEAR[other.shape],
            synonyms=SHAPE_WORDS,
            weight=2,
            leaf=leaves.SHAPE,
            regions=[view.box(neighbour)],
            anchors_any=("shape", "form"),
            phrases=(
                "Its shape: {value}.",
                "The shape is a {value}.",
                "Going by its outline, the shape of that object is a {value}.",
            ),
        ),
        option(
            "absent",
            f"Which of {', '.join(COLOURS)} has no object at all?",
            absent,
            options=tuple(COLOURS),
            near=COLOUR_NEAR[absent],
            synonyms=COLOUR_WORDS,
            weight=3,
            leaf=leaves.ABSENT,
            regions=everything,
            anchors_any=("absent", "missing"),
            phrases=(
                "Absent: {value}.",
                "What is missing from the scene is {value}.",
                "Going through the whole list, the entry that is absent is {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=blend(
            (2.0, (count - 6) / 4),
            (1.5, (1.0 - min(view.scene.visible)) / 0.4),
            (1.5, (1 - contrast) / 0.2),
        ),
        knobs=_knobs(view, contrast),
        question=(
            f"Find the {name}. Which object has its centre nearest to it: name its colour and its "
            f"shape. Which of the colours {', '.join(COLOURS)} is absent from the picture?"
        ),
        choices=choice_list(
            rng,
            other.colour,
            [solids[second].colour, *COLOUR_NEAR[other.colour], *COLOURS],
        ),
        answer=other.colour,
        answer_step="colour",
        steps=steps,
        size=SIZE,
        images=(view.scene.image,),
        quantise=False,
    )


def draw_behind(rng: Generator) -> DrawnSample:
    """Ask what is partly hidden behind a solid."""
    contrast = pick(rng, (1.0, 1.0, 0.9, 0.8))
    count = whole(rng, 5, 8)
    while True:
        names = _different(rng, count, colours=tuple(COLOURS))
        others = scatter(rng, names[:-1], hidden=0.0)
        if others is None:
            continue
        behind = whole(rng, 0, count - 2)
        front = _in_front(rng, others[behind], names[-1])
        rest = [s for i, s in enumerate(others) if i != behind]
        if front is None or any(
            overlap(front.rect, s.rect) > 0 or overlap(s.rect, front.rect) > 0 for s in rest
        ):
            continue
        solids = (*others, front)
        if not has_bands(solids, behind) or not has_bands(solids, count - 1):
            continue
        view = _ready(solids, contrast)
        if view is None:
            continue
        shares = view.scene.visible
        heights = [box[3] - box[1] for box in view.scene.boxes]
        order = sorted(range(count), key=lambda i: -heights[i])
        clear = all(shares[i] >= 0.999 for i in range(count) if i != behind)
        tall = order[0] != behind and heights[order[0]] >= 1.1 * heights[order[1]]
        if clear and shares[behind] <= 0.9 and tall:
            break
    texts = tuple(s.name for s in solids)
    words = name_words(solids)
    tallest = order[0]
    steps = (
        option(
            "occluder",
            "Which object stands in front of another one and hides part of it?",
            texts[-1],
            options=texts,
            near=sharing(solids, count - 1),
            synonyms=words,
            weight=3,
            leaf=leaves.RELATION,
            regions=[view.box(count - 1)],
            anchors_any=("in front", "foreground"),
            phrases=(
                "In front: the {value}.",
                "In front stands the {value}.",
                "Where outlines meet, the object in front is the {value}.",
            ),
        ),
        option(
            "occluded",
            "Which object is partly hidden?",
            texts[behind],
            options=texts,
            near=sharing(solids, behind),
            synonyms=words,
            weight=4,
            leaf=leaves.OCCLUSION,
            regions=[view.box(behind)],
            anchors_any=("hidden", "covered"),
            phrases=(
                "Hidden: the {value}.",
                "Partly covered is the {value}.",
                "The object whose outline breaks off because it is partly hidden is the {value}.",
            ),
        ),
        option(
            "tallest",
            "Which object is the tallest as drawn?",
            texts[tallest],
            options=texts,
            near=[texts[i] for i in order[1:3]],
            synonyms=words,
            weight=3,
            leaf=leaves.LARGEST,
            regions=[view.box(tallest)],
            anchors_any=("tallest",),
            phrases=(
                "Tallest: the {value}.",
                "The tallest is the {value}.",
                "Measured from top to bottom, the tallest of them is the {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=blend(
            (2.0, (count - 5) / 3),
            (2.0, (shares[behind] - 0.55) / 0.35),
            (1.5, (1 - contrast) / 0.2),
        ),
        knobs=_knobs(view, contrast),
        question=(
            "One object is partly hidden behind another. Which one is in front, which one is "
            "partly hidden, and which object in the picture is the tallest as drawn?"
        ),
        choices=choice_list(rng, texts[behind], [texts[-1], *sharing(solids, behind), *texts]),
        answer=texts[behind],
        answer_step="occluded",
        steps=steps,
        size=SIZE,
        images=(view.scene.image,),
        quantise=False,
    )


def _in_front(rng: Generator, behind: Solid, name: tuple[str, str]) -> Solid | None:
    y = behind.y + behind.radius * rng.uniform(0.7, 1.1)
    if y > FLOOR_BOTTOM:
        return None
    radius = radius_at(y, rng.uniform(0.86, 1.0))
    side = 1 if chance(rng, 0.5) else -1
    x = behind.x + side * behind.radius * rng.uniform(0.7, 1.2)
    if not radius * 1.3 + 6 <= x <= SIZE[0] - radius * 1.45 - 6:
        return None
    colour, shape = name
    return Solid(shape=shape, colour=colour, x=x, y=y, radius=radius, turn=whole(rng, 0, 3))


def sharing(solids: Sequence[Solid], index: int) -> list[str]:
    """Return the names of solids that share a colour or a shape with this one."""
    here = solids[index]
    return [
        s.name
        for i, s in enumerate(solids)
        if i != index and (s.colour == here.colour or s.shape == here.shape)
    ]


def has_bands(solids: Sequence[Solid], index: int) -> bool:
    """Tell whether naming another solid can be both a near and a far miss."""
    return 1 <= len(sharing(solids, index)) <= len(solids) - 2


def name_words(solids: Sequence[Solid]) -> dict[str, tuple[str, ...]]:
    """Return other names of each solid (`red ball` for `red sphere`)."""
    return {s.name: tuple(f"{s.colour} {word}" for word in SHAPE_WORDS[s.shape]) for s in solids}
