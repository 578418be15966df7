"""What would tell more of a judge, each with its command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from atom.views.lab.reliability.tab import NextStep, Reliability
from atom.views.study_data import StudyData

WANTED_PAIRS = 100


def next_steps(made: Reliability, data: StudyData) -> Iterable[NextStep]:
    """Say what would tell more, the cheapest first."""
    name = data.study.name
    own = data.judge is None or data.judge.id == data.study.judge_id
    whose = "" if own else f" --judge {_endpoint(data)}"
    if made.judge is None:
        yield NextStep(
            text="Nothing is judged yet: let a judge score the answers first.",
            command=run_command(name),
            runs=True,
        )
        return
    pairs = made.retest[0].found.n if made.retest else 0
    if not pairs or made.cold:
        drawn = " At temperature 0 that would be the same request." if made.cold else ""
        yield NextStep(
            text="Find out how steady it is: have it score the first 100 samples twice"
            f"{', drawing freely' if made.cold else ''}.{drawn}",
            command=f"python -m atom run start --study {shlex.quote(name)}{whose} --stages scoring "
            f"--repeat 2 --limit 100{' --judge-temperature 0.7' if made.cold else ''}",
            runs=True,
        )
    elif made.retest[0].found.clusters < WANTED_PAIRS:
        yield NextStep(
            text=f"{made.retest[0].found.clusters:,} samples were scored twice; "
            f"{WANTED_PAIRS} tell how steady it is on every branch.",
            command=f"python -m atom run start --study {shlex.quote(name)}{whose} --stages scoring "
            f"--repeat 2 --limit {WANTED_PAIRS}",
            runs=True,
        )
    if made.calibrated is None:
        yield NextStep(
            text="Find out where it misreads: let it score answers about test pictures whose "
            "truth is known.",
            command=f"python -m atom judge calibrate --judge {_endpoint(data)}",
            calibrates=True,
        )
    if not made.others:
        yield NextStep(
            text="Find out how much depends on who judges: have a judge of another family score "
            "the same samples.",
            command=f"python -m atom run start --study {shlex.quote(name)} --stages scoring "
            "--judge ANOTHER_ENDPOINT --limit 100",
            runs=True,
        )


def run_command(study: str) -> str:
    """Return the command by which a judge scores a study."""
    return f"python -m atom run start --study {shlex.quote(study)} --judge ENDPOINT"


def _endpoint(data: StudyData) -> str:
    known = data.judge.endpoint if data.judge else None
    return shlex.quote(known) if known else "ENDPOINT"
