"""The same judged samples by inspect-ai: one generation and one scorer a sample.

Run by `calls_in_flight.py`: `python _inspect_peer.py URL N IN_FLIGHT FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate

TEXT = "How well does the answer read the tallest bar of the chart? " * 34


@scorer(metrics=[mean()])
def read_score() -> Scorer:
    """Read the judge's JSON."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=json.loads(state.output.completion)["score"])

    return score


def main() -> None:
    url, n, in_flight, folder = sys.argv[1:5]
    os.environ["OPENAI_API_KEY"] = "none"
    model = get_model("openai/stub", base_url=url, responses_api=False)
    samples = [Sample(input=f"{TEXT} Sample {number}.") for number in range(int(n))]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=read_score())
    logs = eval(
        task,
        model=model,
        max_connections=int(in_flight),
        max_samples=int(in_flight),
        display="none",
        log_dir=folder,
        log_realtime=False,
        score_display=False,
    )
    if logs[0].status != "success":
        raise SystemExit(str(logs[0].error))


if __name__ == "__main__":
    main()
