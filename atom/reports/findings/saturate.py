"""Saturate: everything that the data show, computed as data before a word is written.

Nothing is estimated here: every statistic comes from the functions behind the screens, and every
door leads to the list that its count was taken from.

Reference: ATOM 3.4 and appendix H (assets first, then a selection, then prose).
"""

from __future__ import annotations

from atom.reports.findings.caveats import caveats
from atom.reports.findings.correction import correction_findings
from atom.reports.findings.looking import StudyLook
from atom.reports.findings.model import model_findings
from atom.reports.findings.study import study_findings
from atom.reports.records import Finding
from atom.views.overview.ranking import RankRow


def find_shared(look: StudyLook) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Compute the findings that aren't one model's level: what stands before, and what after."""
    return (*study_findings(look), *caveats(look)), tuple(correction_findings(look))


def find_of(look: StudyLook, row: RankRow) -> tuple[Finding, ...]:
    """Compute the findings of one model of the ranking."""
    return tuple(model_findings(look, row))
