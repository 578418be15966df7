"""All methods by name, in the order in which tables show them.

Reference: ATOM Tables 1 and 2.
"""

from __future__ import annotations

from functools import partial

from atom.errors import UsageError
from atom.methods import worklists
from atom.methods.base import Method
from atom.methods.worklists import MethodWorklist

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="pointwise",
            title="Pointwise score",
            about="one number from 1 to 10 for each answer, seen alone",
            worklist=lambda plan: MethodWorklist(plan=plan, questions=worklists.pointwise_asks),
            scores=partial(worklists.value_scores, "pointwise"),
        ),
        Method(
            name="batch",
            title="Batch ranking",
            about="all answers in one call, ranked, ties allowed",
            worklist=lambda plan: MethodWorklist(plan=plan, questions=worklists.batch_asks),
            scores=worklists.batch_scores,
        ),
        Method(
            name="scan",
            title="SCAN adapted",
            about="weighted criteria from comparing the answers, then every answer scored on them",
            worklist=lambda plan: MethodWorklist(plan=plan, questions=worklists.scan_asks),
            scores=worklists.scan_scores,
        ),
        Method(
            name="atom",
            title="ATOM",
            about="the study's own checkpoints, weighted",
            source="checkpoints",
        ),
        Method(
            name="no_replay",
            title="ATOM without replay",
            about="criteria made from question and picture, nothing solved first",
            removes="the worked solution",
            worklist=lambda plan: MethodWorklist(plan=plan, questions=worklists.no_replay_asks),
            scores=partial(worklists.value_scores, "no_replay"),
        ),
        Method(
            name="no_decomposition",
            title="ATOM without decomposition",
            about="one score from 1 to 5 for each answer, held against the whole solution",
            removes="the criteria",
            worklist=lambda plan: MethodWorklist(
                plan=plan, questions=worklists.no_decomposition_asks
            ),
            scores=partial(worklists.value_scores, "no_decomposition"),
        ),
        Method(
            name="no_weights",
            title="ATOM without weights",
            about="the study's own checkpoints, every criterion counting the same",
            removes="the weights",
            source="checkpoints",
        ),
    )
}
ASKED: tuple[str, ...] = tuple(name for name, method in METHODS.items() if method.worklist)
"""Methods for which a judge is asked anything beyond the study's own run."""


def find_method(name: str) -> Method:
    """Return a method by name.

    Raises:
        UsageError: there is none of that name.
    """
    found = METHODS.get(name)
    if found is None:
        raise UsageError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    return found
