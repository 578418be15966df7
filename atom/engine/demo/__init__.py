"""Synthetic studies: probes are drawn, simulated candidates answer, the probe judge judges."""

from atom.engine.demo.build import (
    DEMO_NAME,
    DEMO_SEED,
    DemoBuilt,
    add_probes,
    build_demo,
    seal_demo,
)
from atom.engine.demo.parts import PARTS
from atom.engine.demo.site import Part, Site, Tell

__all__ = [
    "DEMO_NAME",
    "DEMO_SEED",
    "PARTS",
    "DemoBuilt",
    "Part",
    "Site",
    "Tell",
    "add_probes",
    "build_demo",
    "seal_demo",
]
