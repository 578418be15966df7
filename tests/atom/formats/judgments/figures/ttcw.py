"""TTCW: fourteen yes/no tests of stories, by experts and models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from atom.analysis.agreement.two_judges import fleiss_kappa
from atom.records import Response
from tests.atom.formats.judgments.figures.common import Figures, counts, mean_by, two
from tests.atom.formats.judgments.frames import Brought

KEY = ["criterion_id", "answer"]


def figures(brought: Brought, folder: Path) -> Figures:
    """Return every figure of the source."""
    frame = brought.frame
    people = frame[frame.kind == "person"]
    seats = people.groupby(KEY).value.apply(list)
    majority = (people.groupby(KEY).value.mean() > 0.5).astype(float)
    file = frame[frame.kind == "program"]
    told = file.set_index(KEY).value
    passed = file.groupby(["model", "answer"]).value.sum()
    addresses = [one for one in brought.store.select(Response) if "an address" in one.detail]
    model_of = frame.drop_duplicates("answer").set_index("answer").model
    return {
        "verdicts_by_people": len(people),
        "stories": people.answer.nunique(),
        "experts": people.judge.nunique(),
        "yes": int(people.value.sum()),
        "majority_file_equals_majority": int((told == majority[told.index]).sum()),
        "fleiss_kappa": _fleiss(seats),
        "fleiss_kappa_by_test": _by_test(people, seats, folder),
        "mean_tests_passed_of_14_by_source_majority": passed.groupby("model").mean().to_dict(),
        "share_yes_by_source_all_verdicts": mean_by(people, "model"),
        "share_yes_by_dimension": mean_by(people.assign(top=people.leaf.str[0]), "top"),
        "judges": {
            name: _judge(frame[frame.judge == name], told)
            for name in ("gpt4", "claude3-opus", "gemini-pro")
        },
        "sources_of_stories_whose_content_is_an_address": counts(
            model_of[one.id] for one in addresses
        ),
    }


def _fleiss(seats: pd.Series) -> float:
    return float(fleiss_kappa(np.array(seats.tolist()).T))


def _by_test(people: pd.DataFrame, seats: pd.Series, folder: Path) -> Figures:
    # A criterion's number is its file's; the study knows it by its question.
    path = next(folder.rglob("*_all_tests.json"))
    tests = json.loads(path.read_text(encoding="utf-8"))
    text_of = people.drop_duplicates("criterion_id").set_index("criterion_id").criterion
    text = text_of[seats.index.get_level_values(0)].to_numpy()
    return {str(one["ttcw_idx"]): _fleiss(seats[text == one["question"]]) for one in tests}


def _judge(marks: pd.DataFrame, told: pd.Series) -> Figures:
    mine = marks.set_index(KEY)
    said = mine.value.reindex(told.index)
    as_no = said.fillna(0.0)
    # "Found only" is what is in the file: blocked replies are there, and count as no.
    there = said.where(~said.index.isin(mine.index) | said.notna(), 0.0)
    yes, holds = as_no == 1, told == 1
    recall, precision = (yes & holds).sum() / holds.sum(), (yes & holds).sum() / yes.sum()
    return {
        "rows": len(mine),
        "distinct_ids": mine.index.nunique(),
        "N_found": int(mine.index.isin(told.index).sum()),
        "responses_starting_with_neither_yes_nor_no": int((mine.state == "unscored").sum()),
        "content_blocked": int((mine.raw == "Content Blocked").sum()),
        "yes": int((mine.value == 1).sum()),
        "balanced_accuracy": (recall + (~yes & ~holds).sum() / (~holds).sum()) / 2,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "corr": two(as_no, told).pearson.value,
        "kappa_with_majority": two(as_no, told).kappa.value,
        "kappa_with_majority_found_only": two(there, told).kappa.value,
    }
