"""What an experiment would do and cost, before it starts."""

from __future__ import annotations

from atom.engine.correction.forecast import (
    CorrectionForecast,
    forecast_experiment,
)
from atom.engine.correction.ground import CorrectionSpec
from atom.records import Endpoint, content_id
from atom.ui import kit, work
from atom.ui.correction.experiments import no_endpoint
from atom.ui.shell.frame import Here
from atom.views.correction.form import (
    ARM_WORDS,
)


def draw(
    here: Here, spec: CorrectionSpec, endpoints: dict[str, Endpoint]
) -> CorrectionForecast | None:
    """Draw the forecast; it is worked out in the background, once for each form and revision."""
    key = content_id("correction", repr(spec), here.store.revision(), here.store.url)
    state = work.worked_out(
        "correction forecast",
        key,
        lambda: forecast_experiment(here.store, spec, endpoints),
        "Counting what would be asked, and what it would cost…",
    )
    if state is None:
        return None
    if state.result is None:
        words = state.error or "the count was stopped"
        kit.show(no_endpoint(words, here.filters), key="correction_forecast_shown")
        return None
    facts = state.result.facts(lambda arm: ARM_WORDS[arm].name)
    kit.show(kit.facts(facts), key="correction_forecast_shown")
    return state.result
