"""Before and after: one scene and an edited copy, as two pictures of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Final

from numpy.random import Generator

from atom.probes.program import Box, ProgramStep
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import DrawnSample, grow, thousandths
from atom.probes.worlds.places import PLACES, clear_place, near_places, place_of, radius_at, scatter
from atom.probes.worlds.scenes import (
    COLOUR_NEAR,
    COLOUR_WORDS,
    SHAPE_NEAR,
    SHAPE_WORDS,
    has_bands,
    name_words,
    sharing,
)
from atom.probes.worlds.solids import COLOURS, SHAPES, SIZE, Scene, Solid, render
from atom.probes.worlds.steps import blend, choice_list, number, option, pick, sample, spread, whole

KINDS: Final = ("recoloured", "moved", "reshaped", "removed", "added")
_KIND_NEAR: Final = {"recoloured": ("reshaped",), "reshaped": ("recoloured",), "moved": ("added",)}
_KIND_WORDS: Final = {
    "recoloured": ("recolored", "repainted"),
    "moved": ("shifted", "relocated"),
    "removed": ("deleted", "taken away"),
    "reshaped": ("given another shape",),
}
_LISTED: Final = ("recoloured", "moved", "removed", "added")


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two rendered states; solids keep their index, `None` where one isn't there."""

    before: tuple[Solid | None, ...]
    after: tuple[Solid | None, ...]
    first: Scene
    second: Scene
    light: float

    def region(self, index: int, picture: int) -> Box | None:
        """Return where a solid is seen in one picture, or `None` where it isn't there."""
        solids, scene = (self.before, self.first) if picture == 1 else (self.after, self.second)
        if solids[index] is None:
            return None
        at = sum(s is not None for s in solids[:index])
        return thousandths(grow(scene.boxes[at], 2), SIZE, picture=picture)

    def regions(self, index: int) -> list[Box]:
        """Return where a solid is seen, in both pictures."""
        both = (self.region(index, picture) for picture in (1, 2))
        return [box for box in both if box is not None]


def _scattered(rng: Generator, count: int) -> tuple[Solid, ...]:
    """Place solids that all differ in name and don't hide each other."""
    kinds = [(colour, shape) for colour in COLOURS for shape in SHAPES]
    while True:
        solids = scatter(rng, sample(rng, kinds, count), hidden=0.0)
        if solids is not None:
            return solids


def _rendered(
    before: Sequence[Solid | None], after: Sequence[Solid | None], light: float
) -> _Pair | None:
    first = render([s for s in before if s is not None])
    second = render([s for s in after if s is not None], light=light)
    if min(first.visible) < 0.9 or min(second.visible) < 0.9:
        return None
    return _Pair(before=tuple(before), after=tuple(after), first=first, second=second, light=light)


def _collides(solid: Solid, others: Sequence[Solid | None]) -> bool:
    """Tell whether a solid's box touches another's."""
    a = solid.rect
    for other in others:
        if other is None:
            continue
        b = grow(other.rect, 4)
        if min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1]):
            return True
    return False


def _recoloured(rng: Generator, solid: Solid, taken: set[str]) -> Solid | None:
    free = [c for c in COLOURS if c != solid.colour and f"{c} {solid.shape}" not in taken]
    return replace(solid, colour=pick(rng, free)) if free else None


def _reshaped(rng: Generator, solid: Solid, taken: set[str]) -> Solid | None:
    free = [s for s in SHAPES if s != solid.shape and f"{solid.colour} {s}" not in taken]
    return replace(solid, shape=pick(rng, free)) if free else None


def _moved(rng: Generator, solid: Solid, others: Sequence[Solid | None]) -> Solid | None:
    """Move a solid to another part of the picture, where it touches nothing."""
    scale = solid.radius / radius_at(solid.y, 1.0)
    for _ in range(40):
        y = rng.uniform(180.0, 438.0)
        radius = radius_at(y, scale)
        x = rng.uniform(radius * 1.3 + 6, SIZE[0] - radius * 1.45 - 6)
        there = replace(solid, x=x, y=y, radius=radius)
        if (
            clear_place(there)
            and place_of(there) != place_of(solid)
            and not _collides(there, others)
        ):
            return there
    return None


def draw_what_changed(rng: Generator) -> DrawnSample:
    """Ask what one change there is between two pictures."""
    count = whole(rng, 4, 8)
    kind = pick(rng, ("recoloured", "moved", "reshaped"))
    light = pick(rng, (1.0, 1.0, 0.97, 0.94))
    while True:
        solids = _scattered(rng, count)
        at = whole(rng, 0, count - 1)
        here = solids[at]
        taken = {s.name for s in solids}
        rest = [s for i, s in enumerate(solids) if i != at]
        if not has_bands(solids, at):
            continue
        if kind == "moved":
            there = _moved(rng, here, rest) if clear_place(here) else None
        elif kind == "recoloured":
            there = _recoloured(rng, here, taken)
        else:
            there = _reshaped(rng, here, taken)
        if there is None or _collides(there, rest):
            continue
        after = [there if i == at else s for i, s in enumerate(solids)]
        pair = _rendered(solids, after, light)
        if pair is not None:
            break
    states = _states(kind, here, there)
    regions = pair.regions(at)
    steps = (
        option(
            "object",
            "Which object, as seen in the first picture, was changed?",
            here.name,
            options=tuple(s.name for s in solids),
            near=sharing(solids, at),
            synonyms=name_words(solids),
            weight=3,
            leaf=leaves.CHANGED_OBJECT,
            regions=regions,
            anchors_any=("changed", "differs"),
            phrases=(
                "Changed: the {value}.",
                "The object that changed is the {value}.",
                "Going from object to object, the only thing that differs is the {value}.",
            ),
        ),
        option(
            "kind",
            "What kind of change is it?",
            kind,
            options=KINDS,
            near=_KIND_NEAR[kind],
            synonyms=_KIND_WORDS,
            weight=3,
            leaf=leaves.CHANGE_TYPE,
            regions=regions,
            anchors_any=("edit", "kind of change"),
            phrases=(
                "Edit: {value}.",
                "The edit is that it was {value}.",
                "As for the kind of change, the object was {value}.",
            ),
        ),
        _state_step("before", states, states.before, regions[0]),
        _state_step("after", states, states.after, regions[-1]),
    )
    distance = 1.0 if kind == "moved" else 0.0
    return DrawnSample(
        difficulty=blend(
            (2.0, (count - 4) / 4), (1.0, (1.0 - light) / 0.06), (1.0, 0.2 + 0.4 * distance)
        ),
        knobs={"objects": count, "kind": kind, "light": light, "changes": 1},
        question=(
            "One object differs between the first and the second picture. Which one (as seen in "
            f"the first picture) and what kind of change is it ({', '.join(KINDS)})? "
            f"What {states.noun} did it have before, and what {states.noun} does it have after?"
        ),
        choices=choice_list(rng, here.name, [*sharing(solids, at), *(s.name for s in solids)]),
        answer=here.name,
        answer_step="object",
        steps=steps,
        size=SIZE,
        images=(pair.first.image, pair.second.image),
        quantise=False,
    )


@dataclass(frozen=True, kw_only=True)
class _States:
    noun: str
    before: str
    after: str
    options: tuple[str, ...]
    near: dict[str, tuple[str, ...]]
    words: dict[str, tuple[str, ...]]


def _states(kind: str, here: Solid, there: Solid) -> _States:
    """Describe what an object was and became, in the terms of the kind of change."""
    if kind == "recoloured":
        return _States(
            noun="colour",
            before=here.colour,
            after=there.colour,
            options=tuple(COLOURS),
            near=dict(COLOUR_NEAR),
            words=dict(COLOUR_WORDS),
        )
    if kind == "reshaped":
        return _States(
            noun="shape",
            before=here.shape,
            after=there.shape,
            options=SHAPES,
            near=dict(SHAPE_NEAR),
            words=dict(SHAPE_WORDS),
        )
    return _States(
        noun="place",
        before=place_of(here),
        after=place_of(there),
        options=PLACES,
        near={place: tuple(near_places(place)) for place in PLACES},
        words={p: (p.replace("middle", "centre"),) for p in PLACES if "middle" in p},
    )


def _state_step(when: str, states: _States, truth: str, region: Box) -> ProgramStep:
    first = when == "before"
    cue = "originally" if first else "afterwards"
    return option(
        when,
        f"What {states.noun} does the object have {'in the first' if first else 'in the second'} "
        "picture?",
        truth,
        options=states.options,
        near=states.near[truth],
        synonyms=states.words,
        weight=2,
        leaf=leaves.STATE_BEFORE if first else leaves.STATE_AFTER,
        regions=[region],
        anchors_all=(states.noun,),
        anchors_any=(when, cue),
        phrases=(
            f"{states.noun.capitalize()} {when}: {{value}}.",
            f"The {states.noun} {when} is {{value}}.",
            f"{cue.capitalize()}, as far as its {states.noun} goes, I read {{value}}.",
        ),
    )


def draw_how_many(rng: Generator) -> DrawnSample:
    """Ask how many changes there are between two pictures."""
    count = whole(rng, 5, 8)
    changes = pick(rng, (2, 2, 3, 3, 3, 4))
    light = pick(rng, (1.0, 1.0, 0.97, 0.94))
    while True:
        kinds = sample(rng, _LISTED, changes)
        made = _edited(rng, count, kinds)
        if made is None:
            continue
        before, after, touched = made
        pair = _rendered(before, after, light)
        if pair is None:
            continue
        seen = [i for i in touched if before[i] is not None]
        still = [i for i in range(count) if i not in touched]
        if len(seen) >= 1 and still:
            break
    kept = pick(rng, still)
    listed = sample(rng, [kept, *seen], len(seen) + 1)
    named = tuple(_solid(before, i) for i in listed)
    names = tuple(s.name for s in named)
    unchanged = _solid(before, kept).name
    close = sharing(named, listed.index(kept))
    close = close if len(close) < len(seen) else []
    truth, options, near, words = _kind_lists(kinds)
    regions = [box for i in touched for box in pair.regions(i)]
    steps = (
        number(
            "count",
            "How many changes are there?",
            changes,
            weight=4,
            leaf=leaves.FILTER_COUNT,
            regions=regions,
            near=1,
            anchors_any=("number of changes", "changes found"),
            phrases=(
                "Number of changes: {value}.",
                "The number of changes is {value}.",
                "Comparing both pictures object by object, the changes found add up to {value}.",
            ),
        ),
        option(
            "list",
            "Which kinds of change does a complete list hold?",
            truth,
            kind="text",
            options=options,
            near=near,
            synonyms=words,
            weight=3,
            leaf=leaves.DESCRIPTION,
            regions=regions,
            anchors_any=("list", "in summary"),
            phrases=(
                "List: {value}.",
                "The complete list is {value}.",
                "In summary, the objects that differ were {value}.",
            ),
        ),
        option(
            "unchanged",
            f"Which of these was not changed: {', '.join(names)}?",
            unchanged,
            options=names,
            near=close,
            synonyms=name_words(named),
            weight=3,
            leaf=leaves.UNCHANGED,
            regions=pair.regions(kept),
            anchors_any=("unchanged", "stayed the same"),
            phrases=(
                "Unchanged: the {value}.",
                "The unchanged object is the {value}.",
                "Of the objects named in the question, what stayed the same is the {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=blend(
            (2.0, (count - 5) / 3), (2.0, (changes - 2) / 2), (1.0, (1.0 - light) / 0.06)
        ),
        knobs={"objects": count, "light": light, "changes": changes},
        question=(
            "How many changes are there from the first picture to the second? List the kinds of "
            f"change ({', '.join(_LISTED)}), and say which of these stayed the same: "
            f"{', '.join(names)}."
        ),
        choices=choice_list(rng, str(changes), spread(changes, (1, -1, 2))),
        answer=str(changes),
        answer_step="count",
        steps=steps,
        size=SIZE,
        images=(pair.first.image, pair.second.image),
        quantise=False,
    )


def _solid(solids: Sequence[Solid | None], index: int) -> Solid:
    solid = solids[index]
    if solid is None:
        raise LookupError(f"no object {index!r} in this picture")
    return solid


def _edited(
    rng: Generator, count: int, kinds: Sequence[str]
) -> tuple[list[Solid | None], list[Solid | None], list[int]] | None:
    """Scatter objects and make one change of each kind, each to another object.

    Returns:
        The solids before and after (`None` where one isn't there) and the indices of the changed
        ones, or `None` where the changes found no room.
    """
    solids = _scattered(rng, count + 1)
    extra = count
    before: list[Solid | None] = [*solids[:count], None]
    after: list[Solid | None] = [*solids[:count], None]
    free = sample(rng, range(count), count)
    touched = []
    for kind in kinds:
        if kind == "added":
            after[extra] = solids[extra]
            touched.append(extra)
            continue
        at = free.pop()
        touched.append(at)
        here = solids[at]
        taken = {s.name for s in solids} | {s.name for s in after if s is not None}
        rest = [s for i, s in enumerate(solids) if i != at]
        rest += [s for i, s in enumerate(after) if s is not None and i != at]
        changed: Solid | None = None
        if kind == "recoloured":
            changed = _recoloured(rng, here, taken)
        elif kind == "moved":
            changed = _moved(rng, here, rest)
        if changed is None and kind != "removed":
            return None
        after[at] = changed
    if "added" not in kinds:
        return before[:count], after[:count], touched
    return before, after, touched


def _kind_lists(
    kinds: Sequence[str],
) -> tuple[str, tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the true list of kinds, all lists, the close ones, and other orders of each."""
    sets = [c for size in (2, 3, 4) for c in combinations(_LISTED, size)]
    texts = {frozenset(c): " and ".join(c) for c in sets}
    true = frozenset(kinds)
    near = [text for others, text in texts.items() if len(others ^ true) in (1, 2)]
    near = [text for text in near if text != texts[true]]
    far = [text for text in texts.values() if text not in near and text != texts[true]]
    if not far:
        near = [text for others, text in texts.items() if len(others ^ true) == 1]
    words = {
        text: tuple(
            " and ".join(order) for order in permutations(others) if " and ".join(order) != text
        )
        for others, text in ((c, texts[frozenset(c)]) for c in sets)
    }
    return texts[true], tuple(texts.values()), tuple(near), words
