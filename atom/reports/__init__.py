"""Reports: findings as data, a selection with reasons, and text that says no more than they do."""

from atom.reports.asking import consent_question, price, write
from atom.reports.draft import MOST_SECTIONS, ReportDraft, ReportSpec
from atom.reports.output import MEDIA_TYPES, Format, file_name, render
from atom.reports.records import Choice, Finding, Report
from atom.reports.writing import Brief, briefs

__all__ = [
    "Brief",
    "Choice",
    "Finding",
    "Format",
    "MEDIA_TYPES",
    "MOST_SECTIONS",
    "Report",
    "ReportDraft",
    "ReportSpec",
    "briefs",
    "consent_question",
    "file_name",
    "price",
    "render",
    "write",
]
