"""What an experiment would do and cost, before it starts."""

from __future__ import annotations

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.correction.forecast import (
    ArmForecast,
    CorrectionForecast,
    forecast_experiment,
)
from atom.engine.correction.ground import CorrectionSpec
from atom.records import Endpoint, content_id, total_cost
from atom.ui import kit, work
from atom.ui.correction.experiments import no_endpoint
from atom.ui.html import Html, el, join
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
    kit.show(forecast(state.result), key="correction_forecast_shown")
    return state.result


def forecast(found: CorrectionForecast) -> Html:
    """Draw what an experiment would do and cost, before it starts."""
    who = (
        f"{found.failed:,} of {found.model}'s {numbers.count(found.answers, 'answer')} failed; "
        f"{found.failed_subjects:,} take part"
        + (f", and {found.right_subjects:,} right ones" if found.right_subjects else "")
        + "."
    )
    if not found.failed_subjects and not found.right_subjects:
        return kit.notice(f"{who} Choose another rule, place or model.")
    asked = [part.endpoint for arm in found.arms for part in arm.calls]
    tokens = sum(part.tokens * part.calls for arm in found.arms for part in arm.calls)
    calls = _span(found.calls, found.most_calls)
    price = work.cost_words(tokens, found.cost, asked) if asked else "nothing to pay"
    most = ""
    if found.most_cost and found.cost is not None and found.most_cost > found.cost:
        most = f", at most {money(found.most_cost)}"
    left = [
        el("li", f"{n:,}: {reason}", class_="text")
        for reason, n in sorted(found.left_out.items(), key=lambda item: -item[1])
    ]
    return join(
        el("p", f"{who} {calls} calls: {price}{most}", class_="strong"),
        el(
            "div",
            kit.fold("Calls and price by what is tried", _table(found)),
            kit.fold(f"Answers left out ({sum(found.left_out.values()):,})",
                     el("ul", left, class_="small", style="margin:0"))
            if left
            else None,
            class_="folds",
        ),
    )  # fmt: skip


def _table(found: CorrectionForecast) -> Html:
    return kit.grid(
        found.arms,
        kit.Column(
            "What is tried",
            lambda arm: ARM_WORDS[arm.arm].name + _ON.get(arm.cohort, ""),
            width="34%",
        ),
        kit.number("Answers", lambda arm: f"{arm.trials:,}"),
        kit.number("Done already", lambda arm: f"{arm.over:,}"),
        kit.number(
            "Calls",
            lambda arm: _span(sum(p.calls for p in arm.calls), sum(p.most for p in arm.calls)),
        ),
        kit.number("Price, about", _price),
        kit.number(
            "Nothing to ask",
            lambda arm: el(
                "span",
                f"{sum(arm.skipped.values()):,}",
                data_tip="\n".join(arm.skipped) or None,
            ),
        ),
        label="What the experiment would do",
    )


_ON = {"right": ", on right answers"}


def _price(arm: ArmForecast) -> str:
    if not arm.calls:
        return numbers.NONE
    costs = [None if p.price is None else p.price * p.calls for p in arm.calls if p.calls]
    return money(total_cost(costs))


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def asked_endpoints(found: CorrectionForecast) -> list[Endpoint]:
    """Return every endpoint that an experiment would ask."""
    ends = {part.endpoint.name: part.endpoint for arm in found.arms for part in arm.calls}
    return list(ends.values())
