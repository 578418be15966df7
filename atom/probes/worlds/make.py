"""Make probes: a drawn sample with its program, encoded as PNG files that carry the program."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from PIL import Image

from atom.errors import UsageError
from atom.probes.chunk import write_program
from atom.probes.program import Program
from atom.probes.worlds import (
    angles,
    areas,
    changes,
    charts,
    clocks,
    conversions,
    gauges,
    receipts,
    scenes,
    tables,
)
from atom.probes.worlds.kit import Maker
from atom.probes.worlds.steps import generator, pick

COLOURS: Final = 128


_MAKERS: Final[Mapping[str, Mapping[str, Maker]]] = {
    "charts": {
        "difference": charts.draw_difference,
        "peak": charts.draw_peak,
        "trend": charts.draw_trend,
    },
    "tables": {
        "sum_check": receipts.draw_sum_check,
        "lookup": tables.draw_lookup,
        "gap": tables.draw_gap,
        "convert": conversions.draw_convert,
    },
    "gauges": {
        "margin": gauges.draw_margin,
        "safe": gauges.draw_safe,
        "later": clocks.draw_later,
        "numerals": clocks.draw_numerals,
    },
    "geometry": {"angle": angles.draw_angle, "area": areas.draw_area},
    "scenes": {
        "left_of": scenes.draw_left_of,
        "nearest": scenes.draw_nearest,
        "behind": scenes.draw_behind,
    },
    "changes": {"what_changed": changes.draw_what_changed, "how_many": changes.draw_how_many},
}
"""The families, and who draws a sample by each of their templates."""
TEMPLATES: Final = {family: tuple(makers) for family, makers in _MAKERS.items()}
"""The question templates of each family."""
FAMILIES: Final[tuple[str, ...]] = tuple(_MAKERS)
"""Every family, in the order of the default mix."""


@dataclass(frozen=True)
class ProbeSample:
    """One synthetic sample whose truth is exact."""

    program: Program
    """The truth, as carried by the first picture."""
    pictures: tuple[bytes, ...]
    """PNG files in order, each with the program in its text chunk."""


def make_probe(
    family: str, seed: int, index: int, *, template: str | None = None, optimize: bool = False
) -> ProbeSample:
    """Draw one probe.

    Args:
        family: one of `FAMILIES`.
        seed: the study's seed, 0 or more.
        index: the sample's number under that seed, 0 or more.
        template: a question template of the family; drawn from the seed where `None`.
        optimize: spend several times longer on files that are about 14 % smaller.

    Returns:
        The probe. Equal arguments give equal pixels and programs on every machine; the PNG bytes
        also depend on the zlib in use.

    Raises:
        ValueError: an unknown family or template, or a negative seed or index.
    """
    if family not in _MAKERS:
        raise ValueError(f"unknown probe family {family!r}; choose one of {', '.join(FAMILIES)}")
    if template is not None and template not in TEMPLATES[family]:
        raise ValueError(
            f"family {family!r} has no template {template!r}; "
            f"choose one of {', '.join(TEMPLATES[family])}"
        )
    rng = generator(seed, index)
    # Drawn where one is named, too: what follows is the same then.
    chosen = pick(rng, TEMPLATES[family])
    chosen = template or chosen
    drawn = _MAKERS[family][chosen](rng)
    program = Program(
        family=family,
        template=chosen,
        seed=seed,
        index=index,
        difficulty=drawn.difficulty,
        knobs=drawn.knobs,
        question=drawn.question,
        choices=drawn.choices,
        answer=drawn.answer,
        answer_step=drawn.answer_step,
        steps=drawn.steps,
        size=drawn.size,
        pictures=len(drawn.images),
    )
    pictures = tuple(
        write_program(
            _encode(image, quantise=drawn.quantise, optimize=optimize),
            program.model_copy(update={"picture": number}),
        )
        for number, image in enumerate(drawn.images, start=1)
    )
    return ProbeSample(program=program, pictures=pictures)


def make_probes(
    n: int, seed: int, *, mix: Mapping[str, int] | None = None, optimize: bool = False
) -> Iterator[ProbeSample]:
    """Draw `n` probes with indices 0 to n - 1, families interleaved and templates in turn.

    Args:
        n: how many samples.
        seed: the study's seed, 0 or more.
        mix: relative share of each family as a whole number; equal shares where `None`.
        optimize: as in `make_probe`.

    Yields:
        One probe at a time, in order of index.

    Raises:
        ValueError: a mix with an unknown family, a negative share, or no positive share.
    """
    turns = dict.fromkeys(FAMILIES, 0)
    for index, family in enumerate(plan_families(n, mix=mix)):
        templates = TEMPLATES[family]
        template = templates[turns[family] % len(templates)]
        turns[family] += 1
        yield make_probe(family, seed, index, template=template, optimize=optimize)


class ProbeSource(Protocol):
    """Gives probes: `make_probes` draws them, `drawn_already` has them at hand."""

    def __call__(
        self, n: int, seed: int, *, mix: Mapping[str, int] | None = None
    ) -> Iterator[ProbeSample]:
        """Give `n` probes of the families of the mix."""


def drawn_already(probes: Iterable[ProbeSample]) -> ProbeSource:
    """Return a source that gives probes that are there, each of them once, in their order.

    The seed and the sizes of the shares don't matter to it: families with a share of 0 are left
    out, that is all.
    """
    left = iter(probes)

    def give(n: int, seed: int, *, mix: Mapping[str, int] | None = None) -> Iterator[ProbeSample]:
        del seed
        fitting = (p for p in left if mix is None or mix.get(p.program.family, 0) > 0)
        for given in range(n):
            probe = next(fitting, None)
            if probe is None:
                raise UsageError(f"there are {given} more probes of these families; {n} are wanted")
            yield probe

    return give


def plan_families(n: int, *, mix: Mapping[str, int] | None = None) -> list[str]:
    """Return which family each of `n` samples has, every prefix as near to the mix as can be.

    Raises:
        ValueError: a mix with an unknown family, a negative share, or no positive share.
    """
    shares = dict(mix) if mix is not None else dict.fromkeys(FAMILIES, 1)
    unknown = set(shares) - set(FAMILIES)
    if unknown or any(share < 0 for share in shares.values()) or not any(shares.values()):
        raise ValueError(
            f"a mix gives whole shares of 0 or more to some of {', '.join(FAMILIES)}; got {mix!r}"
        )
    order = [family for family in FAMILIES if shares.get(family, 0) > 0]
    given = dict.fromkeys(order, 0)
    planned = []
    for _ in range(n):
        family = min(order, key=lambda f: ((given[f] + 0.5) / shares[f], order.index(f)))
        given[family] += 1
        planned.append(family)
    return planned


def _encode(image: Image.Image, *, quantise: bool, optimize: bool) -> bytes:
    if quantise:
        image = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=optimize)
    return buffer.getvalue()
