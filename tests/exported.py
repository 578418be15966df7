"""Judges' verdicts as the files of benchmarks hold them, which importers read back."""

from __future__ import annotations

from collections.abc import Sequence

from atom.judgebench.critic_bench.ask import COMPARE
from atom.judgebench.multi_crit.files import pair_of
from atom.judgebench.multi_crit.replies import shown_label
from atom.records import BenchItem, Verdict


def critic_lines(verdicts: Sequence[Verdict]) -> list[dict[str, object]]:
    """Write verdicts as our own lines, so that `read_replies` reads the same again.

    Only what a judge said of its own is written: no grades, no programs' results, no failed calls.
    """
    return [
        {
            "item": verdict.subject_id,
            "part": verdict.part,
            "order": verdict.order,
            "repeat": verdict.repeat,
            "reply": _said(verdict),
        }
        for verdict in verdicts
        if verdict.state != "failed"
    ]


def _said(verdict: Verdict) -> str:
    """Write a reply whose last line holds the verdict; what couldn't be read holds none."""
    if verdict.state != "scored":
        return ""
    if verdict.part == COMPARE:
        letters = {verdict.order[:1]: "A", verdict.order[1:]: "B", "tie": "C"}
        return f"{verdict.text}\n\nDecision: {letters[verdict.label]}".strip()
    if verdict.value is not None:
        return f"{verdict.text}\n\nDecision: {verdict.value:g}".strip()
    final = str(verdict.data.get("final_answer", ""))
    return (
        f"{verdict.text}\n\nAnswer: {final}"
        if final and final not in verdict.text
        else verdict.text
    )


def multi_crit_rows(
    items: Sequence[BenchItem], verdicts: Sequence[Verdict]
) -> list[dict[str, object]]:
    """Lay verdicts out as published rows with a `critic`, which `read_replies` reads back.

    Args:
        verdicts: of one judge.
    """
    known = {item.id: pair_of(item) for item in items}
    rows: list[dict[str, object]] = []
    for verdict in verdicts:
        pair = known.get(verdict.subject_id)
        if pair is None or verdict.state == "failed":
            continue
        part, _, only = verdict.part.partition("/")
        for entry in pair.criteria:
            if only and entry.key != only:
                continue
            labels, reasons = verdict.data.get("labels", {}), verdict.data.get("reasons", {})
            label = verdict.label if only else labels.get(entry.key, "")
            text = verdict.text if only else reasons.get(entry.key, "")
            if label:
                place = 1 if label == shown_label(1, verdict.order) else 2
                text = f"{text}\n\nResponse {place} is better."
            rows.append(
                {
                    "question_id": entry.row,
                    "question": pair.question,
                    "pred_a": pair.answers[0],
                    "pred_b": pair.answers[1],
                    "model_a": pair.models[0],
                    "model_b": pair.models[1],
                    "split": pair.split,
                    "criterion": entry.key,
                    "preference": f"model_{entry.label}",
                    "critic": text,
                    "repeat": verdict.repeat,
                    "order": verdict.order,
                    "part": part,
                }
            )
    return rows
