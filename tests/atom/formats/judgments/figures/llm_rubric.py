"""LLM-Rubric: people's marks from 1 to 4 and a model's distributions, on two sets of dialogues."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from atom.analysis.agreement.raters import krippendorff_alpha
from tests.atom.formats.judgments.figures.common import Figures, counts, known, two

QUESTIONS = tuple(f"Q{n}" for n in range(9))
KEY = ["sample", "criterion"]


def figures(frame: pd.DataFrame, part: str) -> Figures:
    """Return every figure of one set of dialogues, `real` or `synth`."""
    synthetic = frame.model == "synthetic"
    both = frame[synthetic if part == "synth" else ~synthetic]
    people, machine = (both[both.kind == kind] for kind in ("person", "model"))
    told, marked = set(people["sample"]), set(machine["sample"])
    by_question = people.groupby("criterion")
    twice = people[people.repeat > 0].groupby("criterion").size()
    made: Figures = {
        "texts": people["sample"].nunique(),
        "human_rows": int(by_question.size().max()),
        "people": people.judge.nunique(),
        "machine_rows": len(machine),
        "machine_duplicate_keys": int(machine.duplicated([*KEY, "judge"]).sum()),
        "machine_texts_without_people": len(marked - told),
        "human_texts_without_machine": len(told - marked),
        "same_person_and_text_twice": int(twice.max()) if len(twice) else 0,
        "zero_or_empty_means_not_applicable": {
            name: int((of.state == "not_applicable").sum()) for name, of in by_question
        },
        # The published means are over dialogues that the model marked as well.
        "people_mean": _means(people[people["sample"].isin(marked)]),
        "machine_expected_mean": {},
        "machine_argmax": {},
    }
    for question in QUESTIONS:
        expected, compared = _compared(people, machine, question)
        made["machine_expected_mean"][question] = expected
        made["machine_argmax"][question] = compared
    if part == "real":
        systems = people.groupby("model")
        made["people_mean_by_system"] = {name: _means(of) for name, of in systems}
        made["rows_by_system"] = {name: of["sample"].nunique() for name, of in systems}
    else:
        made["people_per_text"] = counts(people[people.criterion == "Q0"].groupby("sample").size())
        made["alpha_ordinal"] = {name: _alpha(of) for name, of in by_question}
    return made


def _means(people: pd.DataFrame) -> Figures:
    means = people.groupby("criterion").value.mean()
    return {name: known(3 * means[name] + 1) for name in QUESTIONS}


def _alpha(marks: pd.DataFrame) -> float:
    """Return alpha over seats: who gave a mark of a dialogue doesn't matter."""
    seats = marks.groupby("sample").value.apply(lambda one: one.dropna().tolist())
    most = max(map(len, seats))
    table = np.array([[*one, *([np.nan] * (most - len(one)))] for one in seats]).T
    return krippendorff_alpha(table)


def _compared(people: pd.DataFrame, machine: pd.DataFrame, question: str) -> tuple[float, Figures]:
    mine = machine[machine.criterion == question].set_index("sample")
    human = people[people.criterion == question].set_index("sample").value.dropna() * 3 + 1
    human = human[human.index.isin(mine.index)]
    expected = 3 * mine.value.reindex(human.index) + 1
    # The whole distribution is kept as the raw mark, so its likeliest value is there, too.
    likeliest = mine.raw.map(
        lambda raw: float(max(json.loads(raw).items(), key=lambda one: one[1])[0])
    ).reindex(human.index)
    mean, mode = two(expected, human), two(likeliest, human)
    return float(expected.mean()), {
        "n": len(human),
        "rmse_argmax": mode.rmse.value,
        "pearson_argmax": known(mode.pearson.value),
        "rmse_expected": mean.rmse.value,
        "pearson_expected": mean.pearson.value,
        "spearman_expected": mean.spearman.value,
        "kendall_expected": mean.kendall.value,
        "exact_agreement_argmax": mode.exact.value,
        "kappa_argmax": mode.kappa.value,
    }
