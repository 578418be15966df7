"""All screens, by section; only those listed here are in the menu.

To add a screen: write `pages/<section>/<name>.py`, and add a `Screen` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Step = Literal["model", "capability", "criterion", "sample", "filters", "search"]
"""What can be chosen in the chain, the filters taken together, and so is what is looked for."""
Section = Literal["Explore", "Run", "Trust", "Share"]
SECTIONS: tuple[Section, ...] = ("Explore", "Run", "Trust", "Share")


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A screen.

    Attributes:
        section: where it stands in the menu.
        question: the one question that it answers.
        url_path: its address; flat, unique, empty for the first screen.
        file: relative to the project's root.
        follows: what of the chain its numbers follow: all of them where no words stand, else those
            that the words name. The chain strikes through what isn't here.
        terms: words that a newcomer meets on it, as the glossary has them.
        guide: where it is told in `docs`, a file and the heading there.
    """

    section: Section
    title: str
    question: str
    url_path: str
    file: str
    follows: Mapping[Step, str]
    terms: tuple[str, ...]
    guide: tuple[str, str]


_ALL: Mapping[Step, str] = {
    "model": "", "capability": "", "criterion": "", "sample": "", "filters": "",
    "search": "",
}  # fmt: skip
_GUIDE = "guide.md"
OVERVIEW = Screen(
    section="Explore",
    title="Overview",
    question="Who is ahead, and what breaks each of them?",
    url_path="",
    file="pages/explore/overview.py",
    follows={
        "model": "its row is marked",
        "capability": "the table of capabilities opens at it",
        "filters": "",
    },
    terms=(
        "study",
        "judge",
        "criterion",
        "score 0-100",
        "interval",
        "rank set",
        "judge-scale",
        "lucky",
        "weakness",
        "confirmed",
        "suspected",
        "peer frame",
        "unscored",
        "synthetic",
        "probe",
    ),
    guide=(_GUIDE, "Read the ranking"),
)
TREE = Screen(
    section="Explore",
    title="Capability tree",
    question="What is being tested, and who fails where?",
    url_path="tree",
    file="pages/explore/tree.py",
    follows={"model": "", "capability": "", "filters": ""},
    terms=(
        "capability tree",
        "root",
        "capability",
        "node",
        "node score",
        "support",
        "mapping",
        "tree version",
        "peer frame",
        "weakness",
        "insufficient",
    ),
    guide=("tree.md", ""),
)
FINGERPRINTS = Screen(
    section="Explore",
    title="Fingerprints",
    question="What shape is each model?",
    url_path="fingerprints",
    file="pages/explore/fingerprints.py",
    follows={"model": "", "filters": ""},
    terms=(
        "fingerprint",
        "radar",
        "identification",
        "effect",
        "margin",
        "peer frame",
        "false discovery rate",
        "confirmed",
        "suspected",
        "strength",
        "nothing found",
        "insufficient",
        "blind control",
        "visual gain",
        "answerable from text",
    ),
    guide=(_GUIDE, "Read the ranking"),
)
FAILURES = Screen(
    section="Explore",
    title="Failures",
    question="Show me: which answers failed, where in the picture, and why?",
    url_path="failures",
    file="pages/explore/failures.py",
    follows=_ALL,
    terms=(
        "sample",
        "criterion",
        "ground truth",
        "weight",
        "checkpoint score",
        "region",
        "reason",
        "quote",
        "failed criterion",
        "carried",
        "cognitive replay",
        "raw reply",
        "set aside",
        "unscored",
    ),
    guide=(_GUIDE, "Go down to the picture"),
)
COMPARE = Screen(
    section="Explore",
    title="Compare",
    question="Which of two is better, where, and how sure is that?",
    url_path="compare",
    file="pages/explore/compare.py",
    follows={
        "model": "",
        "capability": "the pairs, not the first sentence",
        "sample": "",
        "filters": "",
    },
    terms=(
        "paired difference",
        "interval",
        "adjusted p",
        "mcnemar",
        "margin",
        "false discovery rate",
        "sample score",
    ),
    guide=(_GUIDE, "Compare two"),
)
REPLAY = Screen(
    section="Run",
    title="Live replay",
    question="Watch a judge think: how does it solve, cut and score one question?",
    url_path="replay",
    file="pages/run/replay.py",
    follows={"model": "", "sample": ""},
    terms=(
        "cognitive replay",
        "replay step",
        "criterion",
        "ground truth",
        "weight",
        "region",
        "mapping",
        "checkpoint score",
        "sampling settings",
        "spend",
    ),
    guide=(_GUIDE, "Watch the judge"),
)
CORRECTION = Screen(
    section="Run",
    title="Self-correction",
    question="Does telling it where to look help, and is that more than luck?",
    url_path="correction",
    file="pages/run/correction.py",
    follows={"model": "", "capability": "what a new experiment takes"},
    terms=(
        "self-correction",
        "arm",
        "control",
        "luck",
        "notification",
        "sham",
        "criterion-guided feedback",
    ),
    guide=(_GUIDE, "Let a model try again"),
)
RUNS = Screen(
    section="Run",
    title="Runs",
    question="What is running, what did it cost, and what is left?",
    url_path="runs",
    file="pages/run/runs.py",
    follows={},
    terms=(
        "run",
        "stage",
        "budget",
        "spend",
        "unscored",
        "failed",
        "repeat",
        "sampling settings",
        "consent",
    ),
    guide=(_GUIDE, "Use your own model"),
)
JUDGE_LAB = Screen(
    section="Trust",
    title="Judge lab",
    question="Does the judge deserve trust, and what does its error do to the diagnosis?",
    url_path="judge-lab",
    file="pages/trust/judge_lab.py",
    follows={
        "model": "the tabs about this study",
        "capability": "the tabs about this study",
        "filters": "the tabs about this study",
    },
    terms=(
        "judge",
        "judge-scale",
        "people's scale",
        "confusion",
        "pairwise accuracy",
        "kendall tau-b",
        "position bias",
        "order conflict",
        "by guessing",
        "unscored",
    ),
    guide=(_GUIDE, "Trust, but check"),
)
HUMAN_CHECK = Screen(
    section="Trust",
    title="Human check",
    question="Do people agree with the judge?",
    url_path="human-check",
    file="pages/trust/human_check.py",
    follows={"model": ""},
    terms=("checkpoint", "criterion", "judge-scale", "people's scale", "vote", "tie", "set aside"),
    guide=(_GUIDE, "Check the judge by hand"),
)
REPORTS = Screen(
    section="Share",
    title="Reports",
    question="What should others read about this study?",
    url_path="reports",
    file="pages/share/reports.py",
    follows={"filters": ""},
    terms=("finding", "told", "unverified", "case", "interval", "synthetic"),
    guide=(_GUIDE, "Hand over a report"),
)
DATA = Screen(
    section="Share",
    title="Data",
    question="What is in here, and how do I add my own?",
    url_path="data",
    file="pages/share/data.py",
    follows={},
    terms=(
        "import",
        "study",
        "sample",
        "candidate",
        "response",
        "outcome",
        "facet",
        "export",
        "store",
        "sealed",
    ),
    guide=(_GUIDE, "Import results"),
)
SETTINGS = Screen(
    section="Share",
    title="Settings",
    question="Who can be asked, where does data go, and where is it kept?",
    url_path="settings",
    file="pages/share/settings.py",
    follows={},
    terms=("endpoint", "judge", "candidate", "probe endpoint", "consent", "spend", "store"),
    guide=(_GUIDE, "Use your own model"),
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
