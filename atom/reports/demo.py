"""Reports of a synthetic study: the probe judge writes two, and its replies stay in the store."""

from __future__ import annotations

import asyncio

from atom.engine.demo.site import FIXED, JUDGE, Site, timeless_client
from atom.reports.asking import write
from atom.reports.draft import ReportDraft, ReportSpec
from atom.reports.writing import briefs
from atom.views.filters import Filters
from atom.views.study_data import load_study


def reports(site: Site) -> None:
    """Have the judge write on the whole study and on one model; whoever asks again pays nothing."""
    data = load_study(site.store, site.study_id)
    draft = ReportDraft.of(site.store, data, Filters(study=site.study_id))
    for models in (None, (site.drifting.id,)):
        spec = ReportSpec(models=models, made=FIXED.strftime("%Y-%m-%d %H:%M UTC"))
        report = draft.report(spec)
        work = write(
            site.store,
            site.study,
            report,
            briefs(report, draft.look),
            site.endpoints[JUDGE],
            make=timeless_client,
            on_section=lambda done, total: site.tell("reports", done, total),
        )
        asyncio.run(work)
