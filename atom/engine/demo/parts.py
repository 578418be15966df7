"""What a synthetic study goes through after it was judged: each part can be left out.

Every part works through the same engine as a real study does, with the probe judges. None changes
an answer, a mark or a leaf that was there: a part only adds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.engine.bench.calibration import calibration_name
from atom.engine.bench.fidelity import FidelitySpec
from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import keep_set, make_probe_set, read_set
from atom.engine.correction.ground import CorrectionSpec
from atom.engine.demo.people import plant_people
from atom.engine.demo.site import JUDGE, Part, Site, clock, must_be_done, timeless_client
from atom.engine.induction.ground import InductionSpec
from atom.engine.induction.grow import induce
from atom.engine.study.spec import RunSpec
from atom.engine.work import Spec, run
from atom.errors import StoreError
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.best_of_n.benchmark import NAME as BEST_OF_N
from atom.judgebench.registry import BENCHES
from atom.probes.bench import best_of_n
from atom.probes.worlds.make import drawn_already
from atom.records import BenchSet
from atom.records.correction import Arm

LEAST_SAMPLES, LEAST_CANDIDATES = 48, 3
"""Of a smaller study some part would have nothing to work on."""
JUDGES = (JUDGE, "probe-judge-lenient", "probe-judge-coin")
"""Who is examined: a good judge, one that is lenient on one root, a coin."""
REPEATED, REPEATS = 6, 3
"""Samples whose answers are scored again, and how often in all."""
FIRST_TREE = 40
"""Samples that the first tree is grown from; the second is grown from the usual number."""
ARMS: tuple[Arm, ...] = (
    "rejudge", "fresh", "told", "sham", "guided", "peer", "guided_peer", "oracle",
)  # fmt: skip
TRIED, RIGHT_TRIED = 32, 8
"""Failed answers of the experiment, and right ones that are asked about, too."""
BENCH_ITEMS, CALIBRATED = 30, 48
"""Items of each judge benchmark, and answers that judges are calibrated on."""
PICKED_ON, PICKED_FROM = 14, 4
"""Questions on which judges pick, and answers to each: as many as there is room for."""
METHODS_ON = 10
"""Samples that the rival methods rank: those that people ranked."""
SET_NAME = "Pictures of the bundled study"


def repeats(site: Site) -> None:
    """Score some samples' answers again, so that the judge can be compared with itself."""
    spec = RunSpec(
        study_id=site.study_id,
        stages=("scoring",),
        judge=JUDGE,
        limit=REPEATED,
        repeats=REPEATS,
    )
    _do(site, spec, "repeats")


def _do(site: Site, spec: Spec, name: str) -> None:
    told = site.on_progress(name)
    work = run(
        site.store, spec, site.endpoints, make=timeless_client, clock=clock, on_progress=told
    )
    must_be_done(asyncio.run(work))


def tree(site: Site) -> None:
    """Grow the study's tree from few samples, then from many: two versions, every edit logged."""
    told = site.on_progress("growing")
    for samples in (FIRST_TREE, InductionSpec(study_id=site.study_id).samples):
        spec = InductionSpec(study_id=site.study_id, judge=JUDGE, samples=samples)
        work = induce(
            site.store, spec, site.endpoints, make=timeless_client, clock=clock, on_progress=told
        )
        grown = asyncio.run(work)
        if grown.version is None:
            raise StoreError(f"the study's tree couldn't be grown: {grown.run.message}")


def correction(site: Site) -> None:
    """Carry out one experiment with every arm, on the model whose slips are lapses of attention."""
    spec = CorrectionSpec(
        study_id=site.study_id,
        candidate=site.drifting.id,
        judge=JUDGE,
        arms=ARMS,
        limit=TRIED,
        right_answers=RIGHT_TRIED,
    )
    _do(site, spec, "correct")


def benchmarks(site: Site) -> None:
    """Have three judges work through a set of each judge benchmark, on the study's own pictures."""
    for name in BENCHES:
        if name == BEST_OF_N:
            examine(site, _answers_to_pick_from(site))
        elif name != CALIBRATION:
            examine(site, _probe_set(site, name, BENCH_ITEMS, SET_NAME))


def _answers_to_pick_from(site: Site) -> BenchSet:
    draw = drawn_already(site.probes)
    made = best_of_n.make(PICKED_ON, site.seed, draw, answers=PICKED_FROM)
    files = [ImportFile.from_bytes(name, data) for name, data in made.rows.items()]
    new = read_set(
        site.store,
        BEST_OF_N,
        SET_NAME,
        files,
        pictures=MemoryPictures(made.pictures),
        synthetic=True,
        clock=clock,
    )
    return keep_set(site.store, new)


def calibration(site: Site) -> None:
    """Hold three judges' scores against the truth."""
    name = calibration_name(CALIBRATED, site.seed)
    examine(site, _probe_set(site, CALIBRATION, CALIBRATED, name))


def _probe_set(site: Site, benchmark: str, items: int, name: str) -> BenchSet:
    return make_probe_set(
        site.store,
        benchmark,
        items,
        site.seed,
        name=name,
        draw=drawn_already(site.probes),
        clock=clock,
    )


def examine(site: Site, made: BenchSet) -> None:
    """Have the three judges work through a set."""
    for judge in JUDGES:
        _do(site, BenchSpec(set_id=made.id, judge=judge), made.benchmark[:8])


def fidelity(site: Site) -> None:
    """Have the judge rank the answers that people ranked by every method."""
    spec = FidelitySpec(study_id=site.study_id, judge=JUDGE, limit=METHODS_ON)
    _do(site, spec, "fidelity")


PARTS: Mapping[str, Part] = {
    "repeats": repeats,
    "tree": tree,
    "correction": correction,
    "people": plant_people,
    "fidelity": fidelity,
    "calibration": calibration,
    "benchmarks": benchmarks,
}
"""Each part by its name, in the order in which they are gone through."""
