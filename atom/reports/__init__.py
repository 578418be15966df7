"""Reports: findings as data, a selection with reasons, and text that says no more than they do."""

from atom.reports.asking import WritingPrice, consent_question, price, write
from atom.reports.checker import Given, check
from atom.reports.draft import MOST_SECTIONS, Draft, ReportSpec
from atom.reports.findings.saturate import find_all
from atom.reports.findings.selection import select
from atom.reports.output import MEDIA_TYPES, Format, file_name, render
from atom.reports.records import Choice, Exhibit, Finding, Report, Section
from atom.reports.writing import Brief, briefs

__all__ = [
    "MEDIA_TYPES",
    "MOST_SECTIONS",
    "Brief",
    "Choice",
    "Draft",
    "Exhibit",
    "Finding",
    "Format",
    "Given",
    "Report",
    "ReportSpec",
    "Section",
    "WritingPrice",
    "briefs",
    "check",
    "consent_question",
    "file_name",
    "find_all",
    "price",
    "render",
    "select",
    "write",
]
