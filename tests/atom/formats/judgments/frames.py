"""All marks of a store as one frame, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from atom.analysis.agreement.rubric import RubricMarks
from atom.engine.imports.importing import ImportResult, import_reading
from atom.formats import ColumnMap, ImportFile, read
from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Judge,
    Mapping,
    MarkScale,
    Response,
    Sample,
)
from atom.store import Store

MOMENT = datetime(2026, 11, 28, tzinfo=UTC)


@dataclass(frozen=True)
class Brought:
    """A store, what an import brought, and all its marks."""

    store: Store
    imported: ImportResult
    frame: pd.DataFrame


def inside(folder: Path) -> list[ImportFile]:
    """Return a folder's files, as the command takes them."""
    return [ImportFile.from_path(path) for path in sorted(folder.rglob("*")) if path.is_file()]


@contextmanager
def brought(
    place: Path,
    files: Sequence[ImportFile],
    columns: ColumnMap | None = None,
    *,
    format: str | None = None,
    accept: bool = False,
) -> Iterator[Brought]:
    """Import files into a store of their own."""
    with Store.open(str(place)) as store:
        reading = read(format, files, columns=columns)
        imported = import_reading(store, reading, "study", MOMENT, accept=accept)
        yield Brought(store, imported, frame_of(store))


def frame_of(store: Store) -> pd.DataFrame:
    """Return every mark of a store, by every judge."""
    criteria = {one.id: one for one in store.select(Criterion)}
    judges = {one.id: one for one in store.select(Judge)}
    answers = {one.id: one for one in store.select(Response)}
    models = {one.id: one.name for one in store.select(Candidate)}
    samples = {one.id: one.source_id for one in store.select(Sample)}
    leaves = {one.criterion_id: one.leaf for one in store.select(Mapping)}
    scales = {one.id: one for one in store.select(MarkScale)}
    uses = {use.criterion_id: use for one in store.select(CriteriaSet) for use in one.uses}
    return pd.DataFrame(
        {
            "sample": samples[answers[mark.response_id].sample_id],
            "model": models[answers[mark.response_id].candidate_id],
            "answer": mark.response_id,
            "judge": judges[mark.judge_id].name,
            "kind": judges[mark.judge_id].kind,
            "criterion": criteria[mark.criterion_id].question,
            "criterion_id": mark.criterion_id,
            "leaf": leaves.get(mark.criterion_id),
            "state": mark.state,
            "value": np.nan if mark.value is None else mark.value,
            "raw": mark.raw,
            "reason": mark.reason,
            "detail": mark.detail,
            "repeat": mark.repeat,
            "scale": scales[mark.scale],
            "weight": uses[mark.criterion_id].weight,
            "parents": uses[mark.criterion_id].parents,
            "penalty": uses[mark.criterion_id].polarity == "penalty",
            "gate": uses[mark.criterion_id].gate,
        }
        for mark in store.select(Checkpoint)
    )


def marked(frame: pd.DataFrame) -> tuple[RubricMarks, pd.Index[str]]:
    """Lay marks out as the rules of rubrics take them; returns the answers' ids beside them."""
    answers, response = np.unique(frame.answer, return_inverse=True)
    ids, criterion = np.unique(frame.criterion_id, return_inverse=True)
    code = {name: at for at, name in enumerate(ids)}
    rests = {
        (code[name], code[parent])
        for name, parents in zip(frame.criterion_id, frame.parents, strict=True)
        for parent in parents
        if parent in code
    }
    return (
        RubricMarks(
            response=response,
            criterion=criterion,
            value=frame.value.to_numpy(dtype=np.float64),
            weight=frame.weight.to_numpy(dtype=np.float64),
            met=np.array(
                [
                    value >= scale.passes_at
                    for value, scale in zip(frame.value, frame.scale, strict=True)
                ]
            ),
            applies=(frame.state != "not_applicable").to_numpy(),
            penalty=frame.penalty.to_numpy(dtype=np.bool_),
            gate=(frame.gate.notna()).to_numpy(),
            cap=np.zeros(len(frame)),
            parents=np.array(sorted(rests), dtype=np.int64).reshape(-1, 2).T,
            answers=len(answers),
        ),
        pd.Index(answers),
    )


Check = Callable[[float, float], None]
