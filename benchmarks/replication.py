"""Do confirmed weaknesses hold again, and are they silent where there is nothing to find?

Run: `python benchmarks/replication.py [--json] [--halves 200] [--permutations 1000]`.

Real studies (`../shared/real`, never part of the project) are imported as they are and looked at as
the Overview looks at them: the same measure, labels and settings.

1. Random halves, by cluster: of the weaknesses confirmed in one half, how many have the same sign
   in the other, and how many reach one-sided .05 there?
2. Labels permuted among questions (whole clusters of equal size, so that pictures stay together):
   how often is any weakness of any model confirmed?

Reference: METHODS T6.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import stdtr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.capability.diagnosis import CONFIRMED, DiagnosisSettings
from atom.analysis.capability.weaknesses import default_frame, diagnose
from atom.analysis.intervals import PRIOR_DF
from atom.analysis.layout import Layout, facet_layout
from atom.analysis.score_table import Facet
from atom.engine.imports.importing import import_reading
from atom.errors import AtomError
from atom.formats import ImportFile, read
from atom.store import Store, find_study
from atom.views.filters import Filters, answer_values, answers_kept
from atom.views.overview.page import overview
from atom.views.study_data import StudyData, load_study

REAL = Path(__file__).resolve().parents[2] / "shared" / "real"
SOURCES: Mapping[str, tuple[str, ...]] = {
    "MathVista": ("mathvista/output_*.json", "mathvista/scores_*.json"),
    "ScienceQA (lmms-eval)": ("lmms_eval/*/*.json*",),
    "MLLM-Bench": ("mllm_bench/questions.json", "mllm_bench/votes.csv"),
    "Vicuna-80": ("vicuna80/question.jsonl", "vicuna80/answer_*.jsonl", "vicuna80/review_*.jsonl"),
    "WildVision": ("wildvision/judgements_*.jsonl", "wildvision/scores.csv"),
    "HallusionBench": ("vlmevalkit/vila_8b_HallusionBench_auxmatch.xlsx",),
    "MME": ("vlmevalkit/vila_8b_MME_auxmatch.xlsx",),
    "MMStar": ("vlmevalkit/vila_8b_MMStar_openai_result.xlsx",),
    "POPE": ("vlmevalkit/vila_8b_POPE_auxmatch.xlsx",),
    "MMMU": ("mmmu/answer_dict_val.json", "mmmu/llava1.5_13b_total_val_output.json"),
    "MM-Vet": ("mm_vet/*.json",),
}
MIN_SAMPLES = 50
CLAIMS_A_HALF = 0.5
"""Claims a half that a study needs to be pooled: 100 in 200 halves."""
SAME_SIGN, REPLICATED, ANY_CLAIM = 0.90, 0.50, 0.10
LEVEL = 0.05
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A study as the Overview looks at it."""

    name: str
    data: StudyData
    facet: str
    value: NDArray[np.float64]
    keep: Mask

    @property
    def settings(self) -> DiagnosisSettings:
        """How weaknesses are looked for: `peer` where enough models have answers that count."""
        counted = self.keep & np.isfinite(self.value)
        models = int((np.bincount(self.data.table.model[counted]) > 0).sum())
        return DiagnosisSettings(frame=default_frame(models))

    def layout(self, facet: Facet | None = None) -> Layout:
        """Lay the answers out by the study's labels, or by other ones."""
        table = self.data.table
        if facet is not None:
            table = replace(table, facets={**table.facets, self.facet: facet})
        return facet_layout(table, self.facet, self.value)


def studies(folder: Path, sources: Mapping[str, tuple[str, ...]]) -> Iterator[Looked]:
    """Import every source that is there and give it as the Overview sees it."""
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place)) as store:
        for name, patterns in sources.items():
            paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
            try:
                files = [ImportFile.from_path(path) for path in paths]
                import_reading(store, read(None, files), name, datetime(2026, 1, 1, tzinfo=UTC))
                looked = look(name, load_study(store, find_study(store, name).id))
            except AtomError as error:
                sys.stderr.write(f"{name}: left out, {error.message}\n")
                continue
            if looked is not None:
                yield looked


def look(name: str, data: StudyData) -> Looked | None:
    """Take a study's measure and labels from its Overview; None where there is too little."""
    seen = overview(data, Filters())
    if seen.facet is None or len(data.table.sample_ids) < MIN_SAMPLES:
        sys.stderr.write(f"{name}: left out, it has no labels or too few samples\n")
        return None
    keep = answers_kept(data, Filters())
    if seen.anchor is not None:
        keep = keep & (data.table.model != seen.anchor)
    value = (
        data.table.outcome.astype(np.float64)
        if seen.measure == "outcome"
        else answer_values(data, Filters(), seen.measure)
    )
    return Looked(name=name, data=data, facet=seen.facet, value=value, keep=keep)


@dataclass(frozen=True, kw_only=True)
class Halves:
    """What became of claims in the other half."""

    claims: int = 0
    same: int = 0
    replicated: int = 0

    def __add__(self, other: Halves) -> Halves:
        """Pool two studies."""
        return Halves(
            claims=self.claims + other.claims,
            same=self.same + other.same,
            replicated=self.replicated + other.replicated,
        )


def halves(looked: Looked, times: int, rng: Generator) -> Halves:
    """Split by cluster at random; look for the first half's claims in the second."""
    table, layout = looked.data.table, looked.layout()
    clusters = int(table.cluster.max(initial=-1)) + 1
    found = Halves()
    for _ in range(times):
        side = rng.permutation(clusters) % 2 == 0
        first = looked.keep & side[table.cluster[table.sample]]
        one, other = (
            diagnose(layout, rows, looked.settings) for rows in (first, looked.keep & ~first)
        )
        at = np.nonzero((one.label == CONFIRMED) & np.isfinite(other.effect))
        effect, se = other.effect[at], other.se[at]
        df = np.maximum(other.samples[at], 1) - 1 + PRIOR_DF
        with np.errstate(divide="ignore", invalid="ignore"):
            p = stdtr(df, effect / se)
        found += Halves(
            claims=len(effect), same=int((effect < 0).sum()), replicated=int((p < LEVEL).sum())
        )
    return found


def permuted(looked: Looked, times: int, rng: Generator) -> int:
    """Count how often labels that mean nothing confirm any weakness of any model."""
    table = looked.data.table
    group = table.facets[looked.facet]
    sets = np.zeros((len(table.sample_ids), len(group.values)), dtype=bool)
    sets[table.sample[group.response], group.value] = True
    answers = np.flatnonzero(sets.any(axis=1)[table.sample])
    blocks = _blocks(table.cluster, sets.any(axis=1))
    hits = 0
    for _ in range(times):
        origin = np.arange(len(sets))
        for block in blocks:
            origin[block] = block[rng.permutation(len(block))]
        row, value = np.nonzero(sets[origin[table.sample[answers]]])
        facet = Facet(
            values=group.values,
            response=answers[row].astype(np.int32),
            value=value.astype(np.int32),
        )
        seen = diagnose(looked.layout(facet), looked.keep, looked.settings)
        hits += bool((seen.label == CONFIRMED).any())
    return hits


def _blocks(cluster: NDArray[np.integer], labelled: Mask) -> list[NDArray[np.int64]]:
    """Return clusters of equal size, shape (clusters, size) each, samples in their order."""
    of: dict[int, list[int]] = {}
    for sample, name in enumerate(cluster):
        if labelled[sample]:
            of.setdefault(int(name), []).append(sample)
    by_size: dict[int, list[list[int]]] = {}
    for members in of.values():
        by_size.setdefault(len(members), []).append(members)
    return [np.array(members, dtype=np.int64) for members in by_size.values()]


def lines(
    n_halves: int,
    n_permutations: int,
    seed: int,
    folder: Path = REAL,
    sources: Mapping[str, tuple[str, ...]] = SOURCES,
) -> Iterator[dict[str, object]]:
    """Measure every study; rows of the benchmark's JSON."""
    rng = np.random.default_rng(seed)
    pooled = Halves()
    for looked in studies(folder, sources):
        n = len(looked.data.table.sample_ids)
        found = halves(looked, n_halves, rng)
        enough = found.claims >= CLAIMS_A_HALF * n_halves
        pooled += found if enough else Halves()
        note = f"{found.claims} confirmed claims in {n_halves} halves; by {looked.facet}, "
        note += f"{looked.settings.frame} frame; " + ("pooled" if enough else "too few to pool")
        yield _line("same_sign", looked.name, _share(found.same, found.claims), n, note)
        yield _line("replicated", looked.name, _share(found.replicated, found.claims), n, note)
        hits = permuted(looked, n_permutations, rng)
        limit = ANY_CLAIM + 3 * math.sqrt(ANY_CLAIM * (1 - ANY_CLAIM) / max(n_permutations, 1))
        share = _share(hits, n_permutations)
        yield _line(
            "any_claim_permuted", looked.name, share, n,
            f"required at most {limit:.3f} ({ANY_CLAIM} and Monte Carlo slack)",
            short=share > limit,
        )  # fmt: skip
    for what, part, least in (
        ("same_sign", pooled.same, SAME_SIGN),
        ("replicated", pooled.replicated, REPLICATED),
    ):
        share = _share(part, pooled.claims)
        note = f"required at least {least}; of studies with a claim in every other half"
        yield _line(what, "pooled", share, pooled.claims, note, short=not share >= least)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _line(
    what: str, study: str, value: float, n: int, note: str, *, short: bool = False
) -> dict[str, object]:
    return {
        "name": f"{what} {study}",
        "value": None if math.isnan(value) else round(value, 4),
        "unit": "share",
        "baseline": None,
        "ratio": None,
        "n": n,
        "note": ("short: " if short else "") + note,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--halves", type=int, default=200, help="random halves a study")
    parser.add_argument("--permutations", type=int, default=1000, help="shuffles of labels a study")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not REAL.is_dir():
        sys.exit("the real studies aren't in this checkout (../shared/real)")
    for line in lines(options.halves, options.permutations, options.seed):
        plain = "{name:40} {value}  (n = {n})  {note}".format_map(line)
        sys.stdout.write((json.dumps(line) if options.json else plain) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
