"""VIEScore: five multimodal judges and three people on pictures by five models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from atom.analysis.agreement.raters import rank_correlation
from atom.analysis.exact import snapped
from tests.atom.formats.judgments.figures.common import Figures, alpha, counts, known

PARTS = ("SC", "PQ", "O")
SUMMED = {"SC": "SC", "PQ": "PQ", "O": "O_mean_of_sqrt_per_rater"}


def figures(here: pd.DataFrame, published: pd.DataFrame, truth: dict[str, Any]) -> Figures:
    """Return every figure of the source.

    Args:
        here: marks as they come in, guesses unscored.
        published: marks by a map that takes guesses for marks.
        truth: which tasks, judges and models there are.
    """
    return {
        task: {
            **_people(_of_task(here, task), told["people"]),
            "judges": {
                name: _judge(_of_task(here, task), _of_task(published, task), name, models)
                for name, models in told["judges"].items()
            },
        }
        for task, told in truth.items()
    }


def _of_task(frame: pd.DataFrame, task: str) -> pd.DataFrame:
    return frame[frame["sample"].str.startswith(f"{task}/")]


def overall(frame: pd.DataFrame) -> pd.DataFrame:
    """Return SC, PQ and O = sqrt(SC x PQ) of each picture and judge; equal products are equal."""
    wide = frame.pivot_table(
        index=["judge", "model", "sample"], columns="criterion", values="value"
    ).reindex(columns=["SC", "PQ"])
    wide["O"] = np.sqrt(snapped((wide.SC * wide.PQ).to_numpy()))
    return wide.reset_index()


def mean(values: pd.Series) -> float:
    """Return a mean that doesn't depend on the order: equal raters' marks make equal means."""
    return math.fsum(values) / len(values)


def _people(frame: pd.DataFrame, models: dict[str, Any]) -> Figures:
    people = overall(frame[frame.kind == "person"])
    return {
        "raters": people.judge.nunique(),
        "pictures": people["sample"].nunique(),
        "people": {
            model: {
                **{name: people[people.model == model][part].mean()
                   for part, name in SUMMED.items()},
                **{f"alpha_ordinal_{part}": alpha(people[people.model == model], "sample", part)
                   for part in ("SC", "PQ")},
            }
            for model in models
        },
    }  # fmt: skip


def _judge(here: pd.DataFrame, published: pd.DataFrame, title: str, models: Any) -> Figures:
    name = title.removeprefix("results_").removesuffix("_0shot")
    people = overall(here[here.kind == "person"]).groupby(["model", "sample"])[list(PARTS)]
    rated = people.agg(mean)
    made: Figures = {}
    for model, told in models.items():
        if model == "average_spearman":
            continue
        whole = overall(published[(published.judge == name) & (published.model == model)])
        kept = overall(here[(here.judge == name) & (here.model == model)])
        marks = here[(here.judge == name) & (here.model == model)]
        counted = {
            part: _counted(marks[marks.criterion == part]) for part in told if part in "SCPQ"
        }
        if "O" not in told:  # a judge of whom only the files were looked at
            made[model] = counted
            continue
        means = _compared(whole, rated.loc[model])
        made[model] = {part: {**counted.get(part, {}), **means[part]} for part in PARTS}
        made[model]["rows_both"] = int(whole.dropna(subset=["O"]).shape[0])
        if "without_guesses" in told:
            left = _compared(kept, rated.loc[model])
            made[model]["without_guesses"] = {
                "rows": int(kept.dropna(subset=["O"]).shape[0]),
                **{part: {key: left[part][key] for key in ("mean_of_min", "spearman_people")}
                   for part in PARTS},
            }  # fmt: skip
    if "average_spearman" in models:
        made["average_spearman"] = {
            part: float(np.tanh(np.mean([one[part]["spearman_people"] for one in made.values()])))
            for part in PARTS
        }
    return made


def _counted(marks: pd.DataFrame) -> Figures:
    guessed = marks[marks.detail.str.contains("guess_if_cannot_parse")]
    # A guess is kept with its number and is none.
    assert guessed.value.isna().all()
    assert (guessed.raw != "").all()
    return {
        "rows": len(marks),
        "parts_per_row": counts(marks.raw.str.count(",") + 1),
        "rows_score_not_a_list": int((~marks.raw.str.startswith("[")).sum()),
        "values_as_text": int(marks.raw.str.contains("['\"]").sum()),
        "values_above_10": int((marks.value > 1).sum()),
        "rows_guessed_because_unreadable": len(guessed),
    }


def _compared(mine: pd.DataFrame, rated: pd.DataFrame) -> Figures:
    both = mine.set_index("sample").dropna(subset=["O"])
    made = {}
    for part in PARTS:
        values = both[part]
        told = rated.loc[values.index, part]
        made[part] = {
            "mean_of_min": known(values.mean()),
            "std": known(values.std(ddof=0)),
            "spearman_people": known(rank_correlation(values.to_numpy(), told.to_numpy()))
            if len(values) else None,
        }  # fmt: skip
    return made
