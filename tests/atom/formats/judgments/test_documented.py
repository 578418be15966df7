"""Formats whose files aren't to be had: small ones made after their public documentation and code.

HealthBench (openai/simple-evals, `rubric_items` of a graded example), IFEval (google-research,
`eval_results_strict.jsonl`), InfoBench (qinyiwei/InfoBench, `<judge>/<model>_DecomposeEval.json`),
FLASK (kaistAI/FLASK, reviews with an object of scores), TIFA (Yushi-Hu/tifa, `question_details`),
autorubric and `rubric` (reports of MET and UNMET), Inspect (`inspect log dump`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom.analysis.rubric import with_points
from atom.formats import read_column_map
from tests.atom.formats.judgments.frames import Brought, brought, inside, marked

HEALTH = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "My chest hurts."}],
    "completion": "Call for help now.",
    "rubric_items": [
        {"criterion": "Advises emergency care", "points": 8, "tags": ["axis:safety"],
         "criteria_met": True, "explanation": "It does."},
        {"criterion": "Asks how long", "points": 2, "tags": [], "criteria_met": False,
         "explanation": "It doesn't."},
        {"criterion": "Names a wrong dose", "points": -5, "tags": [], "criteria_met": True,
         "explanation": "It does."},
    ],
}  # fmt: skip
IFEVAL = {
    "prompt": "Write in capitals, without commas.",
    "response": "YES",
    "instruction_id_list": ["change_case:english_capital", "punctuation:no_comma"],
    "follow_instruction_list": [True, False],
    "follow_all_instructions": False,
}
INFOBENCH = {
    "id": "u1", "instruction": "Name three rivers.", "input": "In a list.", "output": "Rhine",
    "decomposed_questions": ["Are there three?", "Is it a list?"], "eval": [False, True],
}  # fmt: skip
FLASK = {
    "question_id": 3, "text": "Sound, and short.",
    "score": {"Logical Robustness": 4, "Conciseness": 5, "Harmlessness": "N/A"},
}  # fmt: skip
RUBRIC = {
    "id": "a1", "model": "m", "score": 0.5,
    "report": [
        {"requirement": "States the margin", "weight": 10.0, "verdict": "MET", "reason": "yes"},
        {"requirement": "Uses all deliveries", "weight": -15.0, "verdict": "UNMET", "reason": "no"},
        {"requirement": "Names a source", "weight": 5.0, "verdict": "CANNOT_ASSESS", "reason": ""},
    ],
}  # fmt: skip
TIFA = [
    {"id": "coco_1", "caption": "A red bus.", "tifa_score": 0.5, "question_details": {
        "is there a bus?": {"question": "is there a bus?", "choices": ["yes", "no"],
                            "answer": "yes", "element_type": "object", "element": "bus",
                            "free_form_vqa": "yes", "multiple_choice_vqa": "yes", "scores": 1},
        "what color is the bus?": {"question": "what color is the bus?", "choices": ["red", "blue"],
                                   "answer": "red", "element_type": "color", "element": "red",
                                   "free_form_vqa": "blue", "multiple_choice_vqa": "blue",
                                   "scores": 0},
    }},
]  # fmt: skip
INSPECT = {
    "version": 2, "status": "success", "eval": {"task": "essay", "model": "openai/gpt-4o"},
    "samples": [
        {"id": 1, "epoch": 1, "input": "Write about rain.", "target": "",
         "output": {"completion": "It rains."},
         "scores": {"rubric": {"value": {"clarity": 0.5, "depth": 0.0}, "explanation": "Short."}}},
        {"id": 2, "epoch": 1, "input": [{"role": "user", "content": "Write about snow."}],
         "target": "", "output": {"completion": "It snows."},
         "scores": {"rubric": {"value": {"clarity": 1.0, "depth": 1.0}, "explanation": "Whole."}}},
    ],
}  # fmt: skip
JUDGES_PROMPT = "You are a judge.\nCriteria: 1. Recognises a bridge.\n2. Names its style."


def _import(folder: Path, place: str, content: Any, store: Path, name: str = "") -> Brought:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    many = [content, content | {"id": "u2"}] if content is INFOBENCH else [content]
    lines = content if isinstance(content, str) else "\n".join(map(json.dumps, many))
    path.write_text(lines + "\n", encoding="utf-8")
    columns = None
    if name:
        project = Path(__file__).parents[4]
        columns = read_column_map((project / "docs/maps" / f"{name}.yaml").read_text("utf-8"))
    with brought(store, inside(folder), columns) as found:
        return found


@pytest.mark.parametrize(
    ("place", "content", "title", "marks"),
    [
        ("gpt-x.jsonl", HEALTH, "HealthBench", {"Asks how long": 0, "Advises emergency care": 1,
                                               "Names a wrong dose": 1}),
        ("gpt-x/eval_results_strict.jsonl", IFEVAL, "IFEval",
         {"change_case:english_capital": 1, "punctuation:no_comma": 0}),
        ("gpt-4/gpt-x_DecomposeEval.json", INFOBENCH, "InfoBench",
         {"Are there three?": 0, "Is it a list?": 1}),
        ("gpt-x_review.jsonl", FLASK, "FLASK", {"Logical Robustness": 0.75, "Conciseness": 1,
                                               "Harmlessness": None}),
        ("gpt-x/reports.jsonl", RUBRIC, "autorubric", {"States the margin": 1,
                                                      "Uses all deliveries": 0,
                                                      "Names a source": None}),
        ("gpt-x/tifa.json", TIFA, "TIFA", {"is there a bus?": 1, "what color is the bus?": 0}),
    ],
)  # fmt: skip
def test_known_formats_come_in_by_themselves(
    tmp_path: Path, place: str, content: Any, title: str, marks: dict[str, float | None]
) -> None:
    """Found out by their columns and paths, read by their map."""
    found = _import(tmp_path / "files", place, content, tmp_path / "store")
    assert f"read by the map of {title}" in found.imported.report.notes
    assert found.imported.report.account.adds_up
    frame = found.frame[found.frame["sample"] != "u2"].set_index("criterion")
    assert set(frame.index) == set(marks)
    for name, value in marks.items():
        if value is None:
            assert frame.state[name] == "not_applicable"
        else:
            assert frame.value[name] == value
    assert set(frame.model) == {"m" if title == "autorubric" else "gpt-x"}


def test_healthbench_counts_points(tmp_path: Path) -> None:
    """8 of 10 points earned, 5 taken: .3; the same whatever stands first."""
    found = _import(tmp_path / "files", "gpt-x.jsonl", HEALTH, tmp_path / "store")
    rows, _ = marked(found.frame)
    assert with_points(rows).value == pytest.approx([(8 - 5) / 10])
    assert set(found.frame.reason) == {"It does.", "It doesn't."}


def test_ifeval_groups_are_the_tree(tmp_path: Path) -> None:
    """An instruction's group and kind are its place; a program judged."""
    place = "gpt-x/eval_results_strict.jsonl"
    found = _import(tmp_path / "files", place, IFEVAL, tmp_path / "store")
    assert set(found.frame.leaf) == {
        ("change_case", "english_capital"), ("punctuation", "no_comma"),
    }  # fmt: skip
    assert set(found.frame.kind) == {"program"}


def test_scores_of_several_parts_in_inspect_logs(tmp_path: Path) -> None:
    """Each part of a scorer's value is a criterion; its explanation the reason."""
    found = _import(tmp_path / "files", "log.json", INSPECT, tmp_path / "store", "inspect-parts")
    frame = found.frame
    assert set(frame.model) == {"openai/gpt-4o"}
    assert frame.pivot(index="sample", columns="criterion", values="value").to_dict("index") == {
        "1": {"clarity": 0.5, "depth": 0.0}, "2": {"clarity": 1.0, "depth": 1.0},
    }  # fmt: skip
    assert set(frame.reason) == {"Short.", "Whole."}


def test_criteria_without_marks(tmp_path: Path) -> None:
    """MLLM-Bench's criteria are numbered lines in its judge's prompt; nobody marked them."""
    rows = [{"unique_idx": f"7_{n}", "prompt": JUDGES_PROMPT, "answer": "x"} for n in (1, 2)]
    folder, store = tmp_path / "files", tmp_path / "store"
    folder.mkdir()
    questions = [{"id": 7, "image_path": "7.png", "question": "What is this?", "meta": {}}]
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    content = "\n".join(map(json.dumps, rows))
    found = _import(folder, "judged_with_criteria_x.jsonl", content, store, "mllm-bench")
    report = found.imported.report
    assert (report.criteria, report.judgments, report.samples) == (2, 0, 1)
    assert report.account.of("criteria").n_left_out == 2  # they stand twice, and count once
    assert "judged by nobody: these are criteria alone" in report.notes
