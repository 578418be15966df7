"""Grow trees from probes whose leaves are hidden, and see whether the planted ones come back.

Run it with `python benchmarks/tree_recovery.py --json`. The probe judge sees the criteria's words
and names abilities itself: exactly, or with loose names (four for each ability, one criterion in
ten on another ability, one pair in a hundred wrongly called the same). The definitive mapping of
every criterion is then compared with the planted leaves, and with that of another seed. For the
growth of cost, drawn samples are repeated under other names until there are as many criteria as
wanted, and proposals are made from all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from atom.analysis.capability.partitions import (
    adjusted_mutual_information,
    adjusted_rand,
    path_credit,
)
from atom.engine.demo import add_probes
from atom.engine.induction.ground import InductionSpec, load_cuts
from atom.engine.induction.grow import induce
from atom.engine.induction.growing import GrowSettings
from atom.engine.induction.result import InductionResult
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.naming import planted_leaf
from atom.probes.serving.judges import LOOSE_NAMER
from atom.probes.worlds.make import make_probes
from atom.records import (
    CriteriaSet,
    Criterion,
    Endpoint,
    Prices,
    Record,
    Sample,
    Study,
    StudySample,
)
from atom.store import Store, leaf_mappings
from taxonomy import Path as LeafPath
from taxonomy.edits import replay
from taxonomy.grow import GrownTree, roots_of
from taxonomy.prune import MIN_CRITERIA, support

EXACT = "probe-judge"
GOALS = {EXACT: 0.90, LOOSE_NAMER: 0.75}
SHORT_NAMES = {EXACT: "exact", LOOSE_NAMER: "loose"}
SEEDS = (0, 1)
FIXED = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One induction and the partition that came of it, criterion by criterion."""

    induced: InductionResult
    planted: tuple[LeafPath, ...]
    found: tuple[object, ...]
    least: int
    replayed: bool
    seconds: float

    @property
    def ami(self) -> float:
        """Adjusted mutual information with the planted leaves; an unmapped criterion is alone."""
        return adjusted_mutual_information(self.planted, self.found)


def endpoints() -> dict[str, Endpoint]:
    free = Prices(input=0.0, output=0.0)
    loose = Endpoint(name=LOOSE_NAMER, base_url="probe:", model=LOOSE_NAMER, prices=free)
    return {endpoint.name: endpoint for endpoint in (*builtin_endpoints(), loose)}


def make_study(folder: Path, samples: int, seed: int) -> None:
    """Draw probes and let the judge cut criteria; nothing tells their leaves."""
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Hidden"), name="Hidden", synthetic=True)
        store.put([study])
        probes = make_probes(samples, seed)
        add_probes(store, study, probes, seed, total=samples, tell=lambda *_: None)
        spec = RunSpec(study_id=study.id, stages=("replay", "criteria"), judge=EXACT)
        ended = asyncio.run(run(store, spec, endpoints()))
        if ended.state != "done" or ended.failed:
            raise SystemExit(f"the study couldn't be made: {ended.message}")


def repeat_study(folder: Path, criteria: int) -> None:
    """Put the same samples under other names into a study of their own, up to so many criteria."""
    with Store.open(folder) as store:
        (hidden,) = [s for s in store.select(Study) if s.name == "Hidden"]
        cuts = load_cuts(store, hidden.id)
        sets = {s.sample_id: s for s in store.select(CriteriaSet)}
        study = Study(id=Study.make_id("Large"), name="Large", synthetic=True)
        store.put([study])

        def copies() -> Iterator[tuple[Sample, tuple[Criterion, ...], CriteriaSet]]:
            left, turn = criteria, 0
            while left > 0:
                cut = cuts[turn % len(cuts)]
                source = f"{cut.sample.source_id}/{turn // len(cuts)}"
                name = Sample.make_id("Repeated", source)
                sample = cut.sample.model_copy(
                    update={"id": name, "dataset": "Repeated", "source_id": source}
                )
                made = tuple(
                    c.model_copy(
                        update={
                            "id": Criterion.make_id(name, c.question, c.ground_truth, number),
                            "sample_id": name,
                        }
                    )
                    for number, c in enumerate(cut.criteria)
                )
                old = sets[cut.sample.id]
                uses = tuple(
                    use.model_copy(update={"criterion_id": c.id})
                    for use, c in zip(old.uses, made, strict=True)
                )
                new = old.model_copy(update={"id": f"set/{name}", "sample_id": name, "uses": uses})
                yield sample, made, new
                left -= len(made)
                turn += 1

        stream = enumerate(copies())
        while part := list(islice(stream, 500)):
            records: list[Record] = []
            for position, (sample, made, new) in part:
                place = StudySample(
                    study_id=study.id,
                    sample_id=sample.id,
                    position=position,
                    criteria_set_id=new.id,
                )
                records += [sample, *made, new, place]
            store.put(records)


def grow_tree(folder: Path, name: str, judge: str, seed: int, samples: int | None = 260) -> Outcome:
    """Grow a tree and look at what came of it."""
    with Store.open(folder) as store:
        (study,) = [s for s in store.select(Study) if s.name == name]
        spec = InductionSpec(
            study_id=study.id, judge=judge, samples=samples, grow=GrowSettings(seed=seed)
        )
        begun = time.perf_counter()
        induced = asyncio.run(induce(store, spec, endpoints(), clock=lambda: FIXED))
        seconds = time.perf_counter() - begun
        if induced.tree is None or induced.version is None:
            raise SystemExit(f"the induction ended early: {induced.run.message}")
        cuts = load_cuts(store, study.id)
        ids = [criterion.id for cut in cuts for criterion in cut.criteria]
        mapped = leaf_mappings(store, induced.version.version, ids)
    leaf_of = {name: m.leaf for name in ids if (m := mapped[name]).leaf is not None}
    planted = tuple(
        planted_leaf(cut.sample.question, criterion.question) or ()
        for cut in cuts
        for criterion in cut.criteria
    )
    known = support(
        GrownTree(tree=induced.tree, leaf_of=leaf_of),
        {criterion.id: cut.sample.id for cut in cuts for criterion in cut.criteria},
    )
    *_, last = replay(roots_of(induced.tree), induced.log)
    return Outcome(
        induced=induced,
        planted=planted,
        found=tuple(leaf_of.get(name, name) for name in ids),
        least=min(min(s.criteria, s.samples) for s in known.values()),
        replayed=last.tree == induced.tree,
        seconds=seconds,
    )


def recovery(folder: Path, work: Path, samples: int) -> Iterator[dict[str, object]]:
    """Measure how well the planted leaves come back, and how much the seed matters."""
    for judge, goal in GOALS.items():
        outcomes = []
        for seed in SEEDS:
            place = work / f"{judge}-{seed}"
            shutil.copytree(folder, place)
            outcomes.append(grow_tree(place, "Hidden", judge, seed, samples))
            shutil.rmtree(place)
        kind = SHORT_NAMES[judge]
        first, second = outcomes
        n = len(first.planted)
        for outcome, seed in zip(outcomes, SEEDS, strict=True):
            tree = outcome.induced.tree
            assert tree is not None
            note = (
                f"seed {seed}: {len(tree.leaves)} leaves, {len(set(outcome.planted))} planted; "
                f"{outcome.induced.unmapped} criteria unmapped; {len(outcome.induced.log)} edits, "
                f"replayed to the same tree: {outcome.replayed}; {outcome.seconds:.0f} s"
            )
            yield line(f"tree_recovery_{kind}_ami_{seed}", outcome.ami, "AMI", goal, n, note)
            yield line(
                f"tree_recovery_{kind}_least_support_{seed}",
                outcome.least,
                "criteria",
                MIN_CRITERIA,
                len(tree.leaves),
                "of the leaf with the fewest criteria or samples in the definitive mapping",
            )
        a, b = first.found, second.found
        pairs = [
            (x, y)
            for x, y in zip(a, b, strict=True)
            if isinstance(x, tuple) and isinstance(y, tuple)
        ]
        credit = float(np.mean([path_credit(x, y) for x, y in pairs]))
        alike = "two seeds: another subset order, other batches"
        yield line(
            f"tree_recovery_{kind}_stability_ari", adjusted_rand(a, b), "ARI", None, n, alike
        )
        ami = adjusted_mutual_information(a, b)
        yield line(f"tree_recovery_{kind}_stability_ami", ami, "AMI", 0.7, n, alike)
        yield line(f"tree_recovery_{kind}_stability_path", credit, "share", None, n, alike)


def cost(folder: Path, work: Path, sizes: Sequence[int]) -> Iterator[dict[str, object]]:
    """Measure calls by criterion as the study grows, proposals made from every sample."""
    base: float | None = None
    for size in sizes:
        place = work / f"size-{size}"
        shutil.copytree(folder, place)
        repeat_study(place, size)
        outcome = grow_tree(place, "Large", LOOSE_NAMER, 0, None)
        shutil.rmtree(place)
        n = len(outcome.planted)
        calls = outcome.induced.run.done / n
        base = calls if base is None else base
        note = (
            f"{outcome.induced.run.done} calls, {outcome.seconds:.0f} s in one process, "
            f"AMI {outcome.ami:.3f}"
        )
        if calls > 1.1 * base:
            note = f"short: it grows with the study; {note}"
        yield {
            "name": f"tree_recovery_calls_at_{size}",
            "value": round(calls, 4),
            "unit": "calls/criterion",
            "baseline": round(base, 4),
            "ratio": round(calls / base, 3),
            "n": n,
            "note": note,
        }


def line(
    name: str, value: float, unit: str, goal: float | None, n: int, note: str
) -> dict[str, object]:
    """Make a result; one that misses its goal says so."""
    short = goal is not None and value < goal
    return {
        "name": name,
        "value": round(value, 4),
        "unit": unit,
        "baseline": goal,
        "ratio": None if goal is None else round(value / goal, 3),
        "n": n,
        "note": f"short: {note}" if short else note,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--samples", type=int, default=300, help="probes to draw")
    parser.add_argument("--subset", type=int, default=260, help="samples for proposals")
    parser.add_argument("--seed", type=int, default=5, help="of the probes")
    parser.add_argument(
        "--sizes", default="1000,5000,20000", help="criteria for the growth of cost; none: skip"
    )
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",") if size]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_study(work / "study", options.samples, options.seed)
        for measure in (
            recovery(work / "study", work, options.subset),
            cost(work / "study", work, sizes),
        ):
            for result in measure:
                text = json.dumps(result) if options.json else _plain(result)
                sys.stdout.write(text + "\n")
                sys.stdout.flush()


def _plain(result: dict[str, object]) -> str:
    return f"{result['name']}: {result['value']} {result['unit']} ({result['note']})"


if __name__ == "__main__":
    main()
