"""Formats whose files aren't to be had: small ones written as each tool's own code writes them.

Each file below has the names, nesting and oddities of its writer, and comes in by the command:
HealthBench (openai/simple-evals, `simple_evals.py` and `healthbench_eval.py`), IFEval
(google-research, `evaluation_lib.write_outputs`), InfoBench (qinyiwei/InfoBench, `evaluation.py`),
FLASK (kaistAI/FLASK, `gpt_review/gpt4_eval.py`), TIFA (Yushi-Hu/tifa, its sample of a benchmark
result), autorubric (delip/autorubric, `ItemResult.to_dict` into `items.jsonl`), `rubric`
(The LLM Data Company, `EvaluationReport`), Inspect (`.eval` and `inspect log dump`).
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from atom.analysis.agreement.rubric import with_points
from atom.cli.main import main
from atom.formats.intake.account import Account
from atom.records import Response, Sample
from atom.store import Store
from tests.atom.formats.judgments.frames import frame_of, marked

PROJECT = Path(__file__).parents[4]
DUMPED = "gpt-x.jsonl"


def _health(prompt_id: str, met: tuple[bool, bool, bool]) -> dict[str, Any]:
    items = [
        ("Advises emergency care", 8),
        ("Asks how long it lasts", 2),
        ("Names a wrong dose", -5),
    ]
    return {
        "score": 0.3,
        "usage": {"input_tokens": 9, "input_cached_tokens": None, "output_tokens": 4,
                  "output_reasoning_tokens": None, "total_tokens": 13},
        "rubric_items": [
            {"criterion": name, "points": points, "tags": ["level:example", "axis:accuracy"],
             "criteria_met": held, "explanation": f"It {'does' if held else 'does not'}."}
            for (name, points), held in zip(items, met, strict=True)
        ],
        "prompt": [{"role": "user", "content": f"My chest hurts ({prompt_id})."}],
        "completion": [{"content": f"Call for help now, {prompt_id}.", "role": "assistant"}],
        "prompt_id": prompt_id,
        "completion_id": "5d41402abc4b2a76b9719d911017c592",
    }  # fmt: skip


HEALTH_ROWS = [_health("p1", (True, False, True)), _health("p2", (True, True, False))]
HEALTH = {
    "score": 0.65,
    "metrics": {"overall_score": 0.65, "axis:accuracy": 0.65, "overall_score:n_samples": 2},
    "htmls": ["<p>long</p>" * 9_000, "<p>page</p>"],
    "convos": [[{"role": "user", "content": "My chest hurts."}]],
    "metadata": {"example_level_metadata": HEALTH_ROWS},
}
IFEVAL = [
    {"follow_all_instructions": False, "follow_instruction_list": [True, False],
     "instruction_id_list": ["change_case:english_capital", "punctuation:no_comma"],
     "prompt": "Write in capitals, without commas.", "response": "YES, SIR"},
    {"follow_all_instructions": True, "follow_instruction_list": [True, True],
     "instruction_id_list": ["keywords:existence", "keywords:existence"],
     "prompt": "Use rain and snow.", "response": "rain snow"},
]  # fmt: skip
INFOBENCH = [
    {"id": "user_oriented_task_1", "input": "In a list.", "category": "c", "instruction": "Name 3.",
     "decomposed_questions": ["Are there three?", "Is it a list?"], "subset": "Easy_set",
     "question_label": [["Number"], ["Format", "Content"]], "output": "Rhine",
     "eval": [False, True]},
    # The judge said neither yes nor no: None stands there, and what follows was never asked.
    {"id": "user_oriented_task_2", "input": "", "category": "c", "instruction": "Be brief.",
     "decomposed_questions": ["Is it brief?", "Is it kind?"], "subset": "Hard_set",
     "question_label": [["Style"], ["Style"]], "output": "Yes.", "eval": [True, None]},
]  # fmt: skip
FLASK = [
    {"question_id": 3, "text": "Why is the sky blue?", "answer": "Rayleigh scattering.",
     "task": "self_instruct", "metrics": ["logical robustness", "conciseness", "harmlessness"],
     "difficulty": "3", "target_txt": "Because of the sea.",
     "review": "Sound, and short. {'Logical Robustness': 4, ...}",
     "score": {"logical robustness": 4, "conciseness": 5, "harmlessness": "N/A"},
     "total_tokens_step4": 811},
]  # fmt: skip
TIFA = {
    "tifa_average": 0.5, "tifa_stdev": 0.0, "accuracy_by_type": {"object": 1, "color": 0},
    "question_details": {
        "coco_301091": {
            "is there a bus?": {
                "id": "coco_301091", "caption": "A red bus.", "question": "is there a bus?",
                "choices": ["yes", "no"], "answer": "yes", "element_type": "object",
                "element": "bus", "coco_val_id": "380711", "free_form_vqa": "yes",
                "multiple_choice_vqa": "yes", "scores": 1},
            "what color is the bus?": {
                "id": "coco_301091", "caption": "A red bus.", "question": "what color is the bus?",
                "choices": ["red", "blue"], "answer": "red", "element_type": "color",
                "element": "red", "coco_val_id": "380711", "free_form_vqa": "blue",
                "multiple_choice_vqa": "blue", "scores": 0}},
        "drawbench_52": {
            "are there cats?": {
                "id": "drawbench_52", "caption": "Three cats.", "question": "are there cats?",
                "choices": ["yes", "no"], "answer": "yes", "element_type": "animal/human",
                "element": "cats", "free_form_vqa": "yes", "multiple_choice_vqa": "yes",
                "scores": 1}},
    },
    "caption_scores": {"coco_301091": 0.5, "drawbench_52": 1},
}  # fmt: skip


def _report(requirement: str, weight: float, verdict: str, reason: str, error: str | None = None):
    return {
        "weight": weight, "requirement": requirement, "name": None, "options": None,
        "scale_type": "ordinal", "aggregation": None, "verdict": verdict,
        "multi_choice_verdict": None, "reason": reason, "shuffle_order": None, "error": error,
        "reasoning": None, "probabilities": None, "confidence": None,
    }  # fmt: skip


AUTORUBRIC = [
    {"item_idx": 0, "duration_seconds": 1.5, "error": None, "report": {
        "score": 0.5, "raw_score": 5.0, "error": None, "cannot_assess_count": 2,
        "report_type": "single", "criterion_reports": [
            _report("States the margin", 10.0, "MET", "It says 17 %."),
            _report("Uses all deliveries", -15.0, "UNMET", "It does not."),
            _report("Names a source", 5.0, "CANNOT_ASSESS", "No links were shown."),
            _report("Is polite", 5.0, "CANNOT_ASSESS",
                    "Judge call failed (infrastructure): timeout", "infrastructure: timeout"),
        ]}},
]  # fmt: skip


def _option(label: str | None, value: float, *, na: bool = False) -> dict[str, Any]:
    return {"selected_index": 0, "selected_label": label, "value": value, "na": na}


def _vote(judge: str, said: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "judge_id": judge, "reason": reason, "weight": 1.0, "error": None, "reasoning": None,
        "probabilities": None, "confidence": None, "superseded": False, **said,
    }  # fmt: skip


def _voted(requirement: str, weight: float, votes: list[Any], options: list[Any]) -> dict[str, Any]:
    return {
        "criterion": {"weight": weight, "requirement": requirement, "name": None, "options": None,
                      "scale_type": "ordinal", "aggregation": None},
        "final_verdict": "MET" if votes else None, "final_reason": "together", "votes": votes,
        "agreement": 0.5, "final_multi_choice_verdict": None, "multi_choice_votes": options,
        "error": None, "escalated": False,
    }  # fmt: skip


ENSEMBLE = [
    {"item_idx": 0, "duration_seconds": 1.5, "error": None, "report": {
        "score": 0.5, "raw_score": 5.0, "error": None, "cannot_assess_count": 0,
        "mean_agreement": 0.5, "report_type": "ensemble", "criterion_reports": [
            _voted("States the margin", 10.0,
                   [_vote("gpt-4", {"verdict": "MET"}, "17 %."),
                    _vote("claude", {"verdict": "UNMET"}, "No.")], []),
            _voted("Names a source", 5.0,
                   [_vote("gpt-4", {"verdict": "CANNOT_ASSESS"}, "No links."),
                    _vote("claude", {"verdict": "CANNOT_ASSESS"},
                          "Judge call failed (infrastructure): timeout")], []),
            _voted("Leaves the reader satisfied", 5.0, [],
                   [_vote("gpt-4", _option("Satisfied", 0.67), "Mostly."),
                    _vote("claude", _option("N/A - No claims made", 0.0, na=True), "None made."),
                    _vote("grok", _option(None, 0.0, na=True),
                          "Judge call failed (parse): no option")]),
        ], "judge_scores": {"gpt-4": 1.0, "claude": 0.0}}},
]  # fmt: skip
RUBRIC = [
    {"id": "a1", "model": "m", "score": 0.5, "raw_score": 5.0, "report": [
        {"weight": 10.0, "requirement": "States the margin", "verdict": "MET", "reason": "yes"},
        {"weight": -15.0, "requirement": "Uses all deliveries", "verdict": "UNMET", "reason": "no"},
    ]},
]  # fmt: skip
INSPECT_HEAD = {
    "version": 2, "status": "success",
    "eval": {"task": "essay", "task_id": "t", "model": "openai/gpt-4o", "dataset": {"name": "d"}},
    "results": {"scores": [{"name": "clarity", "scorer": "rubric",
                            "metrics": {"mean": {"value": 0.75}}}]},
}  # fmt: skip
INSPECT = [
    {"id": 1, "epoch": 1, "input": "Write about rain.", "target": "",
     "output": {"completion": "It rains."}, "messages": [], "events": [], "attachments": {},
     "scores": {"rubric": {"value": {"clarity": 0.5, "depth": 0.0}, "explanation": "Short."}}},
    {"id": 1, "epoch": 2, "input": "Write about rain.", "target": "",
     "output": {"completion": "It pours."}, "messages": [], "events": [], "attachments": {},
     "scores": {"rubric": {"value": {"clarity": 1.0, "depth": 0.5}, "explanation": "Better."}}},
    {"id": 2, "epoch": 1, "target": "", "input": [{"role": "user", "content": "attachment://a1"}],
     "output": {"completion": "It snows."}, "messages": [], "events": [],
     "attachments": {"a1": "Write about snow."},
     "scores": {"rubric": {"value": {"clarity": 1.0, "depth": 1.0}, "explanation": "Whole."}}},
]  # fmt: skip
JUDGES_PROMPT = "You are a judge.\nCriteria: 1. Recognises a bridge.\n2. Names its style."


@dataclass(frozen=True)
class Came:
    """What a command brought, and what it said."""

    frame: pd.DataFrame
    answers: dict[str, str]
    questions: dict[str, str]
    said: dict[str, Any]

    @property
    def notes(self) -> str:
        return " ".join(self.said["notes"])


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _packed(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(INSPECT_HEAD))
        for sample in INSPECT:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))


def _came(tmp_path: Path, capsys: Any, files: dict[str, str], name: str = "", *more: str) -> Came:
    """Write files, import them by the command, and read everything back."""
    folder, store = tmp_path / "files", tmp_path / "store"
    for place, content in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if content:
            path.write_text(content, encoding="utf-8")
        else:
            _packed(path)
    said = ("--columns", str(PROJECT / "docs/maps" / f"{name}.yaml")) if name else ()
    words = ("import", "auto", str(folder), "--study", "S", "--store", str(store), "--json")
    code = main([*words, *said, *more])
    out, err = capsys.readouterr()
    assert code == 0, err + out
    with Store.open(str(store)) as opened:
        return Came(
            frame=frame_of(opened),
            answers={one.id: one.text for one in opened.select(Response)},
            questions={one.source_id: one.question for one in opened.select(Sample)},
            said=json.loads(out),
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "title", "marks"),
    [
        ({"healthbench_gpt-x_20250801_120000_allresults.json": json.dumps(HEALTH, indent=2)},
         "HealthBench", {"p1 Asks how long it lasts": 0, "p1 Advises emergency care": 1,
                         "p1 Names a wrong dose": 1, "p2 Asks how long it lasts": 1,
                         "p2 Advises emergency care": 1, "p2 Names a wrong dose": 0}),
        ({DUMPED: _lines(HEALTH_ROWS[:1])}, "HealthBench",
         {"p1 Asks how long it lasts": 0, "p1 Advises emergency care": 1,
          "p1 Names a wrong dose": 1}),
        ({"gpt-x/eval_results_strict.jsonl": _lines(IFEVAL)}, "IFEval",
         {"Write in capitals, without commas. change_case:english_capital": 1,
          "Write in capitals, without commas. punctuation:no_comma": 0,
          "Use rain and snow. keywords:existence": 1}),
        ({"gpt-4-0314/gpt-x_DecomposeEval.json": _lines(INFOBENCH)}, "InfoBench",
         {"user_oriented_task_1 Are there three?": 0, "user_oriented_task_1 Is it a list?": 1,
          "user_oriented_task_2 Is it brief?": 1, "user_oriented_task_2 Is it kind?": "unscored"}),
        ({"outputs/gpt-x_review.jsonl": _lines(FLASK)}, "FLASK",
         {"3 logical robustness": 0.75, "3 conciseness": 1, "3 harmlessness": "not_applicable"}),
        ({"gpt-x.json": json.dumps(TIFA, indent=4)}, "TIFA",
         {"coco_301091 is there a bus?": 1, "coco_301091 what color is the bus?": 0,
          "drawbench_52 are there cats?": 1}),
        ({"experiments/gpt-x/items.jsonl": _lines(AUTORUBRIC)}, "autorubric",
         {"0 States the margin": 1, "0 Uses all deliveries": 0,
          "0 Names a source": "not_applicable", "0 Is polite": "unscored"}),
        ({"reports.jsonl": _lines(RUBRIC)}, "autorubric",
         {"a1 States the margin": 1, "a1 Uses all deliveries": 0}),
    ],
)  # fmt: skip
def test_known_formats_come_in_by_themselves(
    tmp_path: Path, capsys: Any, files: dict[str, str], title: str, marks: dict[str, float | str]
) -> None:
    """Found out by columns and paths, read by the map; what is no mark is no number."""
    found = _came(tmp_path, capsys, files, "", "--accept")
    assert f"read by the map of {title}" in found.notes
    frame = found.frame
    seen = {
        f"{row.sample} {row.criterion}": row.value if row.state == "scored" else row.state
        for row in frame.itertuples()
    }
    assert seen == marks
    assert set(frame.model) == {"m" if "reports.jsonl" in files else "gpt-x"}
    assert Account.model_validate(found.said["account"]).adds_up


def _by_judge(frame: pd.DataFrame) -> dict[str, float | str]:
    return {
        f"{row.judge} {row.criterion}": row.value if row.state == "scored" else row.state
        for row in frame.itertuples()
    }


def test_every_vote_of_an_ensemble_is_a_mark(tmp_path: Path, capsys: Any) -> None:
    """Judges stand side by side; a criterion of another kind is without a mark, and counted."""
    files = {"experiments/gpt-x/items.jsonl": _lines(ENSEMBLE)}
    found = _came(tmp_path, capsys, files, "", "--accept")
    assert "read by the map of autorubric's ensembles" in found.notes
    assert _by_judge(found.frame) == {
        "gpt-4 States the margin": 1, "claude States the margin": 0,
        "gpt-4 Names a source": "not_applicable", "claude Names a source": "unscored",
    }  # fmt: skip
    assert "a cell holds no mark" in found.notes
    assert Account.model_validate(found.said["account"]).adds_up


def test_options_of_a_rubric_are_a_scale_of_its_map(tmp_path: Path, capsys: Any) -> None:
    """The label is the mark, its value the rubric's own; an option that means N/A is none."""
    files = {"experiments/gpt-x/items.jsonl": _lines(ENSEMBLE)}
    found = _came(tmp_path, capsys, files, "autorubric-options", "--accept")
    assert _by_judge(found.frame) == {
        "gpt-4 Leaves the reader satisfied": 0.67,
        "claude Leaves the reader satisfied": "not_applicable",
        "grok Leaves the reader satisfied": "unscored",
    }  # fmt: skip


def test_healthbench_counts_points(tmp_path: Path, capsys: Any) -> None:
    """8 of 10 points earned, 5 taken: .3; 10 of 10, none taken: 1; as HealthBench's own score."""
    name = "healthbench_o3_high_20250801_120000_allresults.json"
    found = _came(tmp_path, capsys, {name: json.dumps(HEALTH)})
    rows, answers = marked(found.frame)
    of = found.frame.drop_duplicates("answer").set_index("answer")["sample"]
    value = dict(zip(of[answers], with_points(rows).value, strict=True))
    assert value == {"p1": pytest.approx((8 - 5) / 10), "p2": pytest.approx(1.0)}
    assert set(found.frame.model) == {"o3_high"}
    assert set(found.frame.reason) == {"It does.", "It does not."}
    assert set(found.answers.values()) == {"Call for help now, p1.", "Call for help now, p2."}
    assert found.questions["p1"] == "My chest hurts (p1)."


def test_ifeval_groups_are_the_tree(tmp_path: Path, capsys: Any) -> None:
    """An instruction's group and kind are its place; one asked for twice is two criteria."""
    found = _came(tmp_path, capsys, {"gpt-x/eval_results_strict.jsonl": _lines(IFEVAL)})
    assert set(found.frame.leaf) == {
        ("change_case", "english_capital"), ("punctuation", "no_comma"), ("keywords", "existence"),
    }  # fmt: skip
    assert set(found.frame.kind) == {"program"}
    twice = found.frame[found.frame["sample"] == "Use rain and snow."]
    assert twice.criterion_id.nunique() == len(twice) == 2


def test_flask_keeps_question_answer_and_review(tmp_path: Path, capsys: Any) -> None:
    """`text` is the question, `target_txt` the answer, and the review the reason."""
    found = _came(tmp_path, capsys, {"gpt-x_review.jsonl": _lines(FLASK)})
    assert found.questions == {"3": "Why is the sky blue?"}
    assert set(found.answers.values()) == {"Because of the sea."}
    assert found.frame.reason.str.startswith("Sound, and short.").all()


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_scores_of_several_parts_in_inspect_logs(tmp_path: Path, capsys: Any, name: str) -> None:
    """Each part of a scorer's value is a criterion, each epoch an answer; packed logs alike."""
    content = "" if name == "log.eval" else json.dumps({**INSPECT_HEAD, "samples": INSPECT})
    found = _came(tmp_path, capsys, {name: content}, "inspect-parts")
    frame = found.frame
    assert set(frame.model) == {"openai/gpt-4o"}
    wide = frame.assign(text=frame.answer.map(found.answers))
    assert wide.pivot(index="text", columns="criterion", values="value").to_dict("index") == {
        "It rains.": {"clarity": 0.5, "depth": 0.0}, "It pours.": {"clarity": 1.0, "depth": 0.5},
        "It snows.": {"clarity": 1.0, "depth": 1.0},
    }  # fmt: skip
    assert set(frame.reason) == {"Short.", "Better.", "Whole."}
    assert found.questions == {"1": "Write about rain.", "2": "Write about snow."}


def test_a_log_whose_scores_have_several_parts_says_where_they_go(
    tmp_path: Path, capsys: Any
) -> None:
    """As a plain log the answers come in without a score, and the way to their marks is told."""
    found = _came(tmp_path, capsys, {"log.eval": ""}, "", "--accept")
    assert found.frame.empty
    assert len(found.answers) == 3
    assert "'rubric' gives several values" in found.notes
    assert "docs/maps/inspect-parts.yaml" in found.notes


def test_criteria_without_marks(tmp_path: Path, capsys: Any) -> None:
    """MLLM-Bench's criteria are numbered lines in its judge's prompt; nobody marked them."""
    rows = [{"unique_idx": f"7_{n}", "prompt": JUDGES_PROMPT, "answer": "x"} for n in (1, 2)]
    questions = [{"id": 7, "image_path": "7.png", "question": "What is this?", "meta": {}}]
    files = {"questions.json": json.dumps(questions),
             "judged_with_criteria_x.jsonl": _lines(rows)}  # fmt: skip
    found = _came(tmp_path, capsys, files, "mllm-bench", "--accept")
    assert (found.said["criteria"], found.said["judgments"], found.said["samples"]) == (2, 0, 1)
    assert "judged by nobody: these are criteria alone" in found.notes
