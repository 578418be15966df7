"""All screens, by section; only those listed here are in the menu.

To add a screen: write `pages/<section>/<name>.py`, and add a `Screen` here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Section = Literal["Explore", "Run", "Trust", "Share"]
SECTIONS: tuple[Section, ...] = ("Explore", "Run", "Trust", "Share")


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A screen.

    Attributes:
        section: where it stands in the menu.
        title: its name.
        question: the one question that it answers.
        url_path: its address; flat, unique, empty for the first screen.
        file: relative to the project's root.
    """

    section: Section
    title: str
    question: str
    url_path: str
    file: str


OVERVIEW = Screen(
    section="Explore",
    title="Overview",
    question="Who is ahead, and what breaks each of them?",
    url_path="",
    file="pages/explore/overview.py",
)
TREE = Screen(
    section="Explore",
    title="Capability tree",
    question="What is being tested, and who fails where?",
    url_path="tree",
    file="pages/explore/tree.py",
)
FINGERPRINTS = Screen(
    section="Explore",
    title="Fingerprints",
    question="What shape is each model?",
    url_path="fingerprints",
    file="pages/explore/fingerprints.py",
)
FAILURES = Screen(
    section="Explore",
    title="Failures",
    question="Show me: which answers failed, where in the picture, and why?",
    url_path="failures",
    file="pages/explore/failures.py",
)
COMPARE = Screen(
    section="Explore",
    title="Compare",
    question="Which of two is better, where, and how sure is that?",
    url_path="compare",
    file="pages/explore/compare.py",
)
REPLAY = Screen(
    section="Run",
    title="Live replay",
    question="Watch a judge think: how does it solve, cut and score one question?",
    url_path="replay",
    file="pages/run/replay.py",
)
CORRECTION = Screen(
    section="Run",
    title="Self-correction",
    question="Does telling it where to look help, and is that more than luck?",
    url_path="correction",
    file="pages/run/correction.py",
)
RUNS = Screen(
    section="Run",
    title="Runs",
    question="What is running, what did it cost, and what is left?",
    url_path="runs",
    file="pages/run/runs.py",
)
JUDGE_LAB = Screen(
    section="Trust",
    title="Judge lab",
    question="Does the judge deserve trust, and what does its error do to the diagnosis?",
    url_path="judge-lab",
    file="pages/trust/judge_lab.py",
)
HUMAN_CHECK = Screen(
    section="Trust",
    title="Human check",
    question="Do people agree with the judge?",
    url_path="human-check",
    file="pages/trust/human_check.py",
)
REPORTS = Screen(
    section="Share",
    title="Reports",
    question="What should others read about this study?",
    url_path="reports",
    file="pages/share/reports.py",
)
DATA = Screen(
    section="Share",
    title="Data",
    question="What is in here, and how do I bring in mine?",
    url_path="data",
    file="pages/share/data.py",
)
SETTINGS = Screen(
    section="Share",
    title="Settings",
    question="Who can be asked, where does data go, and where is it kept?",
    url_path="settings",
    file="pages/share/settings.py",
)
SCREENS: tuple[Screen, ...] = (
    OVERVIEW,
    TREE,
    FINGERPRINTS,
    FAILURES,
    COMPARE,
    REPLAY,
    CORRECTION,
    RUNS,
    JUDGE_LAB,
    HUMAN_CHECK,
    REPORTS,
    DATA,
    SETTINGS,
)


def find_screen(url_path: str) -> Screen | None:
    """Return the screen with this address, or None."""
    for screen in SCREENS:
        if screen.url_path == url_path:
            return screen
    return None
