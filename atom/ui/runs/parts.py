"""What the Runs page shows: a run's progress, the forecast, the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atom.display import numbers
from atom.display.numbers import money
from atom.engine.endpoints.price import cost_words
from atom.engine.forecast import Forecast
from atom.records import Endpoint, Run
from atom.ui import kit, links, said
from atom.ui.html import Html, el, join
from atom.ui.pages import CORRECTION, FINGERPRINTS, HUMAN_CHECK, JUDGE_LAB, OVERVIEW, RUNS, TREE
from atom.views.filters import Filters
from atom.views.runs.page import RunView, spent_words, unpriced
from atom.views.runs.run_table import run_table

STAGE_WORDS = {
    "answer": "models answer the questions",
    "replay": "the judge solves each question itself",
    "criteria": "it cuts its solution into weighted criteria",
    "mapping": "each criterion finds its capability in the tree",
    "scoring": "the judge scores every answer at every criterion",
    "outcome": "final answers are checked, by a rule where one can tell",
}


def stages() -> Html:
    """Say what the stages do."""
    rows = [(el("dt", stage), el("dd", words)) for stage, words in STAGE_WORDS.items()]
    return kit.fold("What the stages do", el("dl", rows, class_="pairs small"))


def pace(view: RunView, what: str = "") -> Html:
    """Draw how far a run is, how fast, how much longer, what it cost, and why it stopped.

    Args:
        what: what is counted, where the words shall say it, `steps`.
    """
    run = view.run
    counts = el(
        "div",
        el("span", view.words, class_="strong" if view.alive else "quiet"),
        el("span", " · ".join(view.facts(what))),
        [kit.status(kind, words) for kind, words in view.lost],
        class_="row small",
    )
    return el(
        "div",
        kit.progress(run.done, run.total, f"{what or 'items'} done"),
        counts,
        el("p", f"{'; '.join(view.sharing)}.", class_="quiet small") if view.sharing else None,
        el("p", kit.told(run.message), class_="text small") if run.message else None,
        style="display:flex;flex-direction:column;gap:7px",
    )


def progress(view: RunView, filters: Filters, log: str) -> Html:
    """Draw one run: what it does, how far it is, what its process wrote."""
    run = view.run
    head = el(
        "div",
        el("h2", f"Run {run.id[:8]}", style="margin:0"),
        kit.small(f"{view.what} · begun {numbers.moment(run.created)} UTC"),
        class_="row",
    )
    results = {
        "study": links.address(OVERVIEW.url_path, filters),
        "experiment": links.address(
            CORRECTION.url_path, filters, experiment=run.experiment_id or ""
        ),
        "methods": links.address(JUDGE_LAB.url_path, filters, tab="people"),
        "bench": links.address(JUDGE_LAB.url_path, filters),
        "tree": links.address(TREE.url_path, filters, tab="grow"),
        "blind": links.address(FINGERPRINTS.url_path, filters),
        "criteria": links.address(HUMAN_CHECK.url_path, filters, queue="own"),
        "pairs": links.address(JUDGE_LAB.url_path, filters, tab="pairs", run=run.id),
        "sight": links.address(JUDGE_LAB.url_path, filters, tab="sight", run=run.id),
    }[run.kind]
    door = kit.door("See the results", results)
    return el(
        "div",
        head,
        pace(view),
        el("p", door, class_="small") if run.done else None,
        kit.fold("What its process wrote", said.said(log, lights=False))
        if log and not view.alive and run.state != "done"
        else None,
        style="display:flex;flex-direction:column;gap:7px",
    )


def made_by(runs: Sequence[Run], endpoints: Mapping[str, Endpoint]) -> Html:
    """Say in a sentence what a study's runs did.

    Args:
        endpoints: endpoints by name, for what they are known to cost.
    """
    done, cost = sum(run.done for run in runs), sum(run.cost for run in runs)
    missing = dict.fromkeys(name for run in runs if run.done for name in unpriced(run, endpoints))
    lost = sum(run.unscored + run.failed for run in runs)
    words = (
        f"{numbers.count(len(runs), 'run')} made this study: {done:,} calls, of which "
        f"{'none' if not lost else f'{lost:,}'} ended unscored or failed; "
        f"{spent_words(cost, tuple(missing))}."
    )
    return el("p", words, class_="strong")


def history(views: Sequence[RunView], filters: Filters, chosen: str | None) -> Html:
    """Draw the list of runs, the newest first."""
    return join(
        el("h2", f"All runs of this study ({len(views)})"),
        kit.drawn(
            run_table(views),
            cells={
                "Begun (UTC)": lambda view, text: kit.cell(
                    text, links.address(RUNS.url_path, filters, run=view.run.id)
                ),
                "What": _what,
                "State": lambda view, text: join(el("span", text), _below(view.run.message[:160])),
            },
            on=lambda view: view.run.id == chosen,
        ),
    )


def _what(view: RunView, text: str) -> Html:
    judge = f"judge: {view.run.judge}" if view.run.judge else None
    return join(el("span", text, class_="text"), _below(judge), _below("; ".join(view.sharing)))


def _below(words: str | None) -> Html | None:
    return el("div", kit.told(words), class_="quiet small text") if words else None


def elsewhere(benches: int, filters: Filters) -> Html | None:
    """Say where the runs of judge benchmarks are, which belong to no study."""
    if not benches:
        return None
    words = numbers.count(benches, "run of a judge benchmark", "runs of judge benchmarks")
    door = kit.door("Judge lab", links.address(JUDGE_LAB.url_path, filters))
    return el("p", f"{words} in this store: they belong to no study and stand on ", door, ".",
              class_="quiet small")  # fmt: skip


def forecast(found: Forecast) -> Html:
    """Draw what a run would do and cost, before it starts."""
    told = [kit.notice(notice) for notice in found.notices]
    if not found.stages:
        nothing = kit.notice(
            f"Nothing is left to do: all {numbers.count(found.samples, 'sample')} have what these "
            "stages bring. What is stored is never asked for twice."
        )
        return join(nothing, *told)
    asked = [item.endpoint for item in found.stages if item.endpoint is not None]
    price = cost_words(found.tokens, found.cost, asked) if asked else "free"
    words = (
        f"{numbers.count(found.calls, 'call')} on {numbers.count(found.samples, 'sample')}: {price}"
    )
    return join(
        el("p", words, class_="strong", style="margin-bottom:4px"),
        kit.fold(
            "By stage and model",
            kit.grid(
                found.stages,
                kit.MarkupColumn("Stage", lambda item: item.stage),
                kit.MarkupColumn(
                    "Who is asked",
                    lambda item: (
                        el("span", item.endpoint.name, class_="text")
                        if item.endpoint
                        else kit.quiet("a rule decides, nobody is asked")
                    ),
                ),
                kit.number("Calls", lambda item: f"{item.calls:,}" if item.endpoint else "–"),
                kit.number(
                    "Tokens, about", lambda item: f"{item.tokens:,}" if item.endpoint else "–"
                ),
                kit.number("Price, about", lambda item: money(item.cost)),
                label="What the run would do",
            ),
        ),
        *told,
    )
