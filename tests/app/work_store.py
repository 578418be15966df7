"""A small study of drawn probes for tests of the working screens, and a wait for their jobs."""

from __future__ import annotations

from pathlib import Path

from atom.engine.demo import build_demo
from atom.store import Store, list_studies, study_places
from atom.ui import work

SAMPLES = 6
CANDIDATES = 2


def make_probes_store(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Make a synthetic study.

    Returns:
        The study's id and its samples' ids.
    """
    with Store.open(folder) as store:
        build_demo(store, samples=SAMPLES, candidates=CANDIDATES, seed=5)
        study = list_studies(store)[0]
        return study.id, tuple(place.sample_id for place in study_places(store, study.id))


def see_end(test) -> None:
    """Run the page once when the job that was begun has ended: it tells what came of it once."""
    running = work.jobs().running()
    for job in running:
        job.wait(60)
    if running:
        test.run()


def settle(test, *, most: int = 40) -> None:
    """Run the page until no job is under way and none was started by the last run."""
    for _ in range(most):
        running = work.jobs().running()
        for job in running:
            job.wait(60)
        test.run()
        if not running and not work.jobs().running():
            return
    raise AssertionError("the jobs don't come to an end")
