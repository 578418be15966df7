"""The bundled study with a hostile text in every field that holds words: whatever a screen shows.

The study of `_texts` is small and has what an import and a judge bring. This one has what came to
it later, too: judge benchmarks, self-correction, people's labels, flags, notes and saved slices,
a log of tree edits, versions, imports, hard pairs, people's own criteria, people of a deployment.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from atom.cli.main import main
from atom.records import (
    Annotation,
    BenchItem,
    BenchSet,
    Call,
    Candidate,
    Checkpoint,
    Correction,
    CriteriaSet,
    Criterion,
    Hint,
    Import,
    Induction,
    Judge,
    Outcome,
    Replay,
    Response,
    Run,
    Sample,
    Study,
    StudyCandidate,
    Tag,
    TreeEdit,
    TreeVersion,
    Verdict,
)
from atom.records import Mapping as Mapped
from atom.records.base import Record
from atom.store import Store
from benchmarks.attacks._own import write_criteria
from benchmarks.attacks._team import hire
from benchmarks.attacks._texts import Texts
from benchmarks.attacks._tried import CannotTryError

SOAKED = "soaked"
"""The study's id stays; this is what its name begins with."""
FIELDS: Mapping[type[Record], tuple[str, ...]] = {
    Study: ("name", "note"),
    Candidate: ("name", "family"),
    Judge: ("name", "family"),
    Sample: ("dataset", "source_id", "question", "choices", "reference"),
    Call: ("endpoint", "model", "reply", "error", "finish"),
    Response: ("text", "detail", "thoughts"),
    Replay: ("steps", "final_answer", "detail"),
    Criterion: ("question", "ground_truth"),
    CriteriaSet: ("detail",),
    Mapped: ("detail",),
    Checkpoint: ("reason", "quote", "detail"),
    Outcome: ("answer", "detail"),
    Run: ("message",),
    TreeVersion: ("note",),
    TreeEdit: ("by", "why"),
    Induction: ("judge", "phase", "refused"),
    Correction: ("detail", "feedback", "hints"),
    Hint: ("text", "detail"),
    Annotation: ("annotator", "note"),
    BenchSet: ("name", "sources", "skipped", "notes"),
    BenchItem: ("data",),
    Verdict: ("text", "detail", "data"),
}
"""Whose words are hostile; ids, states and keys stay, so that what belongs together does."""
PROSE = frozenset({
    "question", "query", "answer", "answers", "responses", "response", "text", "critique",
    "evaluated", "rationale", "ground_truth", "paraphrase", "annotator", "model", "model_a",
    "model_b", "models", "source", "article", "tests", "execution", "pred_a", "pred_b", "reason",
    "reference_answer", "name", "criterion", "category", "task", "domain", "choices", "tags",
})  # fmt: skip
"""Keys of a judge benchmark's item, and of a verdict's data, whose texts are prose."""
_MOST_RECORDS = 1_500
"""Of a kind, the first; more of them are the same screens again."""
_NAME, _APART = 200, "\n\n"
_LONGEST: Mapping[type[Record], int] = {Study: 120}
"""Letters that a name may have, where that is fewer."""


def soak(demo: Path, folder: Path, texts: Texts) -> Study:
    """Copy the bundled study into a store of its own, hostile.

    Args:
        demo: the folder of the bundled study.
        folder: the store to be made.
        texts: what it is soaked with.

    Raises:
        CannotTryError: there is no bundled study here.
    """
    if not (demo / "atomscope.sqlite").exists():
        raise CannotTryError("the bundled study isn't there")
    shutil.copytree(demo, folder)
    for seal in ("SHA256SUMS", "manifest.json"):
        (folder / seal).unlink(missing_ok=True)
    _look_for_hard_pairs(folder)
    with Store.open(folder) as store:
        for kind, fields in FIELDS.items():
            rows = store.select(kind)[:_MOST_RECORDS]
            store.replace(_wet(row, fields, texts) for row in rows)
        study = store.select(Study)[0]
        store.replace(_later(store, study, texts))
        store.put(_facets(store, texts))
        write_criteria(
            store, study, texts.next("annotator")[:60],
            lambda one: f"{one.question}\n{texts.next('own criterion')}",
        )  # fmt: skip
        hire(store, texts)
    return study


def _look_for_hard_pairs(folder: Path) -> None:
    """Have judges vote on pairs, while they can still read the questions."""
    with Store.open(folder) as store:
        name = store.select(Study)[0].name
    words = ("pairs", "find", "--study", name, "--weak", "probe-judge-noisy", "--votes", "1")
    more = ("--fail", "1", "--gap", "1", "--limit", "12", "--yes", "--store", str(folder))
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main([*words, *more])
    if code:
        raise CannotTryError(f"no hard pairs: {said.getvalue()[-300:]}")


def _wet(row: Record, fields: tuple[str, ...], texts: Texts) -> Record:
    """Return a record whose words are hostile."""
    place = type(row).__name__
    changed = {name: _worded(getattr(row, name), texts, place) for name in fields}
    if isinstance(row, Study | Candidate | Judge | BenchSet):
        changed["name"] = texts.several(place)[: _LONGEST.get(type(row), _NAME)]
    return row.model_copy(update=changed)


def _worded(value: Any, texts: Texts, place: str, *, prose: bool = True) -> Any:
    """Put a hostile text before every text in a value; what is empty stays."""
    match value:
        case str() if value and prose:
            return f"{texts.several(place, _APART)} {value}"
        case tuple() | list():
            return type(value)(_worded(one, texts, place, prose=prose) for one in value)
        case dict():
            return {
                key: _worded(one, texts, place, prose=key in PROSE) for key, one in value.items()
            }
        case Record() if hasattr(value, "text"):
            return value.model_copy(update={"text": f"{texts.several(place, _APART)} {value.text}"})
    return value


def _later(store: Store, study: Study, texts: Texts) -> Iterator[Record]:
    """Give what people say without being asked, a version, and an import."""
    for at, one in enumerate(store.select(Checkpoint, limit=60)):
        kind = ("flag", "remark")[at % 2]
        yield _said(study, kind, one.key, texts.next("annotator"), texts.next(kind))
    for _ in range(4):
        name, model = texts.next("slice")[:60], texts.next("slice")
        yield _said(study, "slice", name, "saved", f"model={model}&q={texts.next('slice')}")
    first, second = (one.candidate_id for one in store.select(StudyCandidate)[:2])
    yield _said(study, "version", second, texts.next("annotator"), first)
    yield Import(id="hostile-import", study_id=study.id, format="table",
                 sources=(texts.next("file"),), created="2026-01-01T00:00:00Z", samples=1,
                 skipped=(texts.next("skipped"),), notes=(texts.next("note"),))  # fmt: skip


def _said(study: Study, kind: Any, subject: str, who: str, label: str) -> Annotation:
    return Annotation(id=Annotation.make_id(study.id, kind, subject, who), study_id=study.id,
                      kind=kind, subject_id=subject, annotator=who, label=label,
                      created="2026-01-01T00:00:00Z")  # fmt: skip


def _facets(store: Store, texts: Texts) -> Iterator[Tag]:
    """Give every tenth sample a label of a hostile facet."""
    facet = texts.next("facet")
    for number, sample in enumerate(store.select(Sample)[::10]):
        yield Tag(
            subject="sample",
            subject_id=sample.id,
            source=texts.next("source"),
            facet=facet if number % 2 else texts.next("facet"),
            value=texts.next("value"),
        )
