"""Makes a synthetic study: probes are drawn, simulated candidates answer, the probe judge judges.

Everything goes through the same engine as a real study, offline. Equal seeds give the same
pictures, programs, answers and scores; the clock is fixed, so the records are the same as well.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy
import PIL

from atom.engine.clock import stamp
from atom.engine.demo.parts import LEAST_CANDIDATES, LEAST_SAMPLES
from atom.engine.demo.site import (
    FIXED,
    JUDGE,
    Part,
    Site,
    Tell,
    clock,
    must_be_done,
    timeless_client,
)
from atom.engine.members import PROMPTS
from atom.engine.study.spec import STAGES, RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.files import clear_parts, new_folder, part_path, write_file
from atom.judge.servers.endpoints import CANDIDATE_NAMES
from atom.probes.draws import Draws
from atom.probes.peers import state_truths
from atom.probes.worlds.make import ProbeSample, make_probes
from atom.records import PictureSlot, Record, Run, Sample, Study, StudySample, Tag
from atom.store import Store, copy_sets, copy_study, count_study, list_studies
from atom.store.check import settle, sqlite_version
from atom.store.store import DATABASE, SEAL

DATASET = "Probe world"
PLANTED, STATED_VALUE = "planted", "its question states the answer"
DEMO_NAME = "Probe world (synthetic demo)"
DEMO_SEED = 20261127
BANDS = ((0.34, "easy"), (0.67, "medium"), (1.01, "hard"))
MIX = {"charts": 12, "tables": 12, "gauges": 12, "geometry": 12, "scenes": 8, "changes": 6}
"""Shares of the families: scenes and pairs have the largest pictures."""
_BATCH = 50
_NONE: Mapping[str, Part] = {}


@dataclass(frozen=True, kw_only=True)
class DemoBuilt:
    """A synthetic study that was made.

    Args:
        n_bytes: size of a sealed folder; None for a study in the user's store.
    """

    study: Study
    run: Run
    samples: int
    candidates: int
    responses: int
    n_bytes: int | None = None


def probe_sample(
    probe: ProbeSample, seed: int, picture_ids: tuple[str, ...], *, stated: bool = False
) -> tuple[Sample, list[Tag]]:
    """Make the records of a probe.

    Args:
        seed: the seed that it was drawn with.
        picture_ids: its pictures, as they are stored.
        stated: whether its question states what the picture shows.

    Returns:
        The sample and its tags: family, template, difficulty; what was planted.
    """
    program = probe.program
    source_id = f"{program.family}/{seed}/{program.index:05d}{'/stated' if stated else ''}"
    answer_step = program.step(program.answer_step)
    kinds = {"num": "number", "time": "time", "cat": "text", "text": "text"}
    sample = Sample(
        id=Sample.make_id(DATASET, source_id),
        dataset=DATASET,
        source_id=source_id,
        question=state_truths(program) if stated else program.question,
        choices=program.choices,
        reference=program.answer,
        answer_type="choice" if program.choices else kinds[answer_step.kind],
        tolerance=answer_step.tolerance if answer_step.kind == "num" else None,
        pictures=tuple(
            PictureSlot(name=f"{program.family}-{program.index:05d}-{number}.png", picture_id=name)
            for number, name in enumerate(picture_ids, start=1)
        ),
        synthetic=True,
    )
    band = next(name for limit, name in BANDS if program.difficulty < limit)
    facets = {
        "family": program.family,
        "template": f"{program.family}: {program.template}",
        "difficulty": band,
        **({PLANTED: STATED_VALUE} if stated else {}),
    }
    tags = [
        Tag(subject="sample", subject_id=sample.id, source=DATASET, facet=facet, value=value)
        for facet, value in facets.items()
    ]
    return sample, tags


def add_probes(
    store: Store,
    study: Study,
    probes: Iterator[ProbeSample],
    seed: int,
    *,
    total: int,
    tell: Tell,
    stated: float = 0.0,
) -> int:
    """Put probes into a study, which is made now if it isn't there: all of them, or none.

    Args:
        seed: what they were drawn with.
        total: how many they are.
        stated: share of them whose question states what the picture shows, drawn at random.

    Returns:
        How many.
    """
    store.must_be_open()
    records: list[Record] = [study]
    done = 0
    for done, probe in enumerate(probes, start=1):
        pictures = [store.pictures.add(data) for data in probe.pictures]
        ids = tuple(picture.id for picture in pictures)
        says = Draws("stated", seed, probe.program.index).uniform("stated") < stated
        sample, tags = probe_sample(probe, seed, ids, stated=says)
        place = StudySample(study_id=study.id, sample_id=sample.id, position=done - 1)
        records += [*pictures, sample, *tags, place]
        if done % _BATCH == 0 or done == total:
            tell("drawing", done, total)
    store.put(records)
    return done


def build_demo(
    store: Store,
    *,
    samples: int = 300,
    candidates: int = 8,
    seed: int = DEMO_SEED,
    name: str = DEMO_NAME,
    parts: Mapping[str, Part] = _NONE,
    tell: Tell | None = None,
) -> DemoBuilt:
    """Make a synthetic study in a store: all of it, or nothing.

    It is made in a store of its own, beside the folder's other files, and copied when it is done.

    Args:
        samples: how many probes are drawn.
        candidates: how many simulated candidates answer, at most 8.
        seed: another seed draws other probes.
        name: the study's name; must be free.
        parts: what it goes through after it was judged, by name (see `PARTS`).

    Raises:
        UsageError: a number is out of range, or the name is taken.
    """
    plan = _Plan(samples=samples, candidates=candidates, seed=seed, name=name, parts=parts)
    if any(study.name == name for study in list_studies(store)):
        raise UsageError(f"there is a study {name!r} already: give another name with --name")
    store.must_be_open()
    with new_store(store.folder / "demo") as apart:
        made = _make_demo(apart, plan, tell or _silent)
        copied = copy_study(apart, store, made.study.id, name)
        copy_sets(apart, store)
    study = copied.model_copy(update={"copied_from": None})
    run_row = made.run.model_copy(update={"study_id": study.id})
    with store.write() as writer:
        writer.replace([study, run_row])
    return DemoBuilt(**{**vars(made), "study": study, "run": run_row})


@contextmanager
def new_store(place: Path) -> Iterator[Store]:
    """Give a store to work in that is gone afterwards, whoever is killed meanwhile.

    Args:
        place: what it is named after; it lies beside it.
    """
    clear_parts(place.parent)
    folder = part_path(place)
    try:
        with Store.open(folder) as store:
            yield store
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What a synthetic study is to be; the numbers are checked."""

    samples: int
    candidates: int
    seed: int
    parts: Mapping[str, Part]
    name: str = DEMO_NAME
    optimize: bool = False

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UsageError(f"{self.samples:,} samples: at least 1 is needed")
        if not 1 <= self.candidates <= len(CANDIDATE_NAMES):
            raise UsageError(
                f"{self.candidates:,} candidates: 1 to {len(CANDIDATE_NAMES):,} are simulated"
            )
        if self.seed < 0:
            raise UsageError(f"the seed is {self.seed}: 0 or more is needed")
        small = self.samples < LEAST_SAMPLES or self.candidates < LEAST_CANDIDATES
        if self.parts and small:
            raise UsageError(
                f"{', '.join(self.parts)} need {LEAST_SAMPLES} samples and {LEAST_CANDIDATES} "
                f"candidates at least; a smaller study is made with --parts none"
            )


def _make_demo(store: Store, plan: _Plan, tell: Tell) -> DemoBuilt:
    study = Study(
        id=Study.make_id(plan.name),
        name=plan.name,
        created=stamp(FIXED),
        synthetic=True,
        note=(
            f"Made by a program (seed {plan.seed}): pictures, questions, simulated candidates with "
            "planted weaknesses, and a rule-based judge. Nothing here says anything about a real "
            "model."
        ),
    )
    probes: list[ProbeSample] = []

    def drawn() -> Iterator[ProbeSample]:
        for probe in make_probes(plan.samples, plan.seed, mix=MIX, optimize=plan.optimize):
            probes.append(probe)
            yield probe

    add_probes(store, study, drawn(), plan.seed, total=plan.samples, tell=tell)
    site = Site(store=store, study_id=study.id, probes=probes, seed=plan.seed, tell=tell)
    spec = RunSpec(
        study_id=study.id,
        stages=STAGES,
        judge=JUDGE,
        candidates=CANDIDATE_NAMES[: plan.candidates],
    )
    told = site.on_progress("judging")
    work = run(store, spec, site.endpoints, make=timeless_client, clock=clock, on_progress=told)
    ended = must_be_done(asyncio.run(work))
    for part in plan.parts.values():
        part(site)
    counts = count_study(store, study.id)
    return DemoBuilt(
        study=site.study,
        run=ended,
        samples=counts.samples,
        candidates=counts.candidates,
        responses=counts.responses,
    )


def seal_demo(
    folder: Path,
    *,
    samples: int = 300,
    candidates: int = 8,
    seed: int = DEMO_SEED,
    parts: Mapping[str, Part] = _NONE,
    tell: Tell | None = None,
) -> DemoBuilt:
    """Make the bundled study: a folder that is only read from then on.

    Args:
        folder: where it goes; must be new or empty.
        samples: how many probes are drawn.
        candidates: how many simulated candidates answer.
        seed: another seed draws other probes.
        parts: what it goes through after it was judged, by name (see `PARTS`).

    Returns:
        What was made, with the folder's size.

    Raises:
        UsageError: the folder holds something already.
    """
    plan = _Plan(samples=samples, candidates=candidates, seed=seed, parts=parts, optimize=True)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{str(folder)!r} isn't empty: name a new folder for the sealed study")
    with new_folder(folder, empty=True) as part:
        return _seal(part, plan, tell or _silent)


def _seal(folder: Path, plan: _Plan, tell: Tell) -> DemoBuilt:
    with Store.open(folder) as store:
        built = _make_demo(store, plan, tell)
    tell("sealing", 0, 1)
    shutil.rmtree(folder / "inductions", ignore_errors=True)
    settle(folder / DATABASE)
    manifest = {
        "name": built.study.name,
        "study_id": built.study.id,
        "synthetic": True,
        "seed": plan.seed,
        "parts": list(plan.parts),
        "samples": built.samples,
        "candidates": built.candidates,
        "responses": built.responses,
        "items": built.run.done,
        "unscored_items": built.run.unscored,
        "prompts": PROMPTS,
        "made_with": {
            "python": platform.python_version(),
            "pillow": PIL.__version__,
            "numpy": numpy.__version__,
            "sqlite": sqlite_version(),
        },
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False)
    write_file(folder / "manifest.json", text + "\n")
    size = write_sums(folder)
    tell("sealing", 1, 1)
    return DemoBuilt(**{**vars(built), "n_bytes": size})


def write_sums(folder: Path) -> int:
    """Write `SHA256SUMS` over every file of a folder.

    Returns:
        The folder's size in bytes, the list itself left out.
    """
    lines, size = [], 0
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != SEAL):
        data = path.read_bytes()
        size += len(data)
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {path.relative_to(folder).as_posix()}")
    write_file(folder / SEAL, "\n".join(lines) + "\n")
    return size


def _silent(_what: str, _done: int, _total: int) -> None:
    return None
