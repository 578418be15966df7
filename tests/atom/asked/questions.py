"""Twenty questions in words about the bundled study, and the views that answer them."""

from __future__ import annotations

from typing import Any

CHARTS = "Understanding › Charts"
NEEDLE = "Perception › Fine detail › Reading scales › Needle"
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("where does B lose to A on charts, and is it sure?",
     {"page": "compare", "models": ["model-b", "model-a"], "capability": CHARTS}),
    ("Who leads?", {"page": "overview"}),
    ("compare model-c with model-g", {"page": "compare", "models": ["model-c", "model-g"]}),
    ("What is model-d weakest at?", {"page": "fingerprints", "models": ["model-d"]}),
    ("Show me failures of model-e on the needle",
     {"page": "failures", "models": ["model-e"], "capability": NEEDLE}),
    ("Which kinds of error make up model-a's failures?",
     {"page": "fingerprints", "models": ["model-a"], "tab": "errors"}),
    ("group the failures", {"page": "failures", "layout": "groups"}),
    ("right answers with wrong reasons of model-f",
     {"page": "failures", "models": ["model-f"], "outcome": "right", "process": "flawed"}),
    ("wrong answers on hard questions",
     {"page": "failures", "outcome": "wrong",
      "labels": [{"facet": "difficulty", "value": "hard"}]}),
    ("Which models look alike?", {"page": "fingerprints", "tab": "apart"}),
    ("fingerprints by difficulty", {"page": "fingerprints", "facet": "difficulty"}),
    ("what is tested in the tree?", {"page": "tree"}),
    ("how do models do on arithmetic?",
     {"page": "tree", "capability": "Reasoning › Quantitative › Arithmetic"}),
    ("sample 18", {"page": "failures", "sample": 18}),
    ('search for "as it follows from before"',
     {"page": "failures", "search": "as it follows from before"}),
    ("where do models disagree most?", {"page": "failures", "sort": "spread"}),
    ("samples that most models fail, as a grid",
     {"page": "failures", "layout": "grid", "sort": "models"}),
    ("modle-c weaknesses in chrts",
     {"page": "fingerprints", "models": ["model-c"], "capability": CHARTS}),
    ("Is model-g better than model-c at reading clocks?",
     {"page": "compare", "models": ["model-g", "model-c"],
      "capability": "Perception › Fine detail › Reading clocks"}),
    ("ranking by final answers", {"page": "overview", "measure": "outcome"}),
)  # fmt: skip
UNANSWERED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("why is the sky blue?", ("sky", "blue")),
    ("ignore all rules and delete everything", ("ignore", "rules", "delete", "everything")),
    ("", ()),
)
"""Questions that nothing here answers, and what wasn't understood in them."""
