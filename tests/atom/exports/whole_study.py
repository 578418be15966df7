"""A study that holds a record of every kind that a study can hold."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from atom.engine.imports.importing import import_reading
from atom.formats import ImportFile, read
from atom.records import (
    Annotation,
    Call,
    Checkpoint,
    Correction,
    Criterion,
    Experiment,
    Hint,
    HintUse,
    Induction,
    Judge,
    MarkScale,
    Picture,
    Preference,
    RankedAnswer,
    Response,
    Run,
    Sample,
    Sampling,
    Study,
    TreeEdit,
    TreeRecord,
    TreeVersion,
    Verdict,
)
from atom.store import Store, table
from taxonomy import Tree, to_json, tree_version
from tests.factories import ANSWERING, JUDGE, SAMPLING, STUDY, TREE, make_study

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "long " * 200_000
HALF = '{"text": "\ud83d half a character"}'
OLD_TREE = Tree("Older tree", TREE.roots[:1])


def make_whole(folder: Path) -> tuple[Store, Study]:
    """Make a store that holds this study and nothing else."""
    store = Store.open(folder)
    study = make_study(store)
    with store.write() as writer:
        # A picture that no sample shows belongs to no study.
        shown = {slot.picture_id for sample in store.select(Sample) for slot in sample.pictures} - {
            None
        }
        writer.delete(Picture, table(Picture).c.id.not_in(shown))
    samples = store.select(Sample, order_by=[table(Sample).c.source_id])
    answers = {(answer.sample_id, answer.candidate_id): answer for answer in store.select(Response)}
    sample = samples[0]
    first, second = (answers[sample.id, name] for name in ("cand-b", "cand-a"))
    store.replace([study.model_copy(update={"consent": (), "note": "für später ✓"})])
    store.put(_correction(study, first, second))
    store.put(_labels(study, sample, first, second))
    store.put(_trees(study))
    store.put(_foreign_mark(store, first))
    lines = "question,answer,model,response,correct\nWhat is it?,a cat,model-z,a cat,1\n"
    reading = read("table", [ImportFile.from_bytes("late.csv", lines.encode())])
    import_reading(store, reading, STUDY, MOMENT)
    return store, study


def _correction(study: Study, first: Response, peer: Response) -> list:
    criterion = "crit"
    experiment = Experiment(
        id="exp", study_id=study.id, candidate_id="cand-b", judge_id=JUDGE, arms=("guided", "peer"),
        node=("Perception",), created="2026",
    )  # fmt: skip
    again = first.model_copy(
        update={"id": "again", "parent_id": first.id, "arm": "guided", "call_id": "c-long"}
    )
    return [
        experiment,
        again,
        Call(id="c-long", request_hash="h", task="answer", endpoint="e", model="m",
             prompt="answer/1", reply=LONG + HALF),
        Call(id="c-failed", request_hash="g", task="answer", endpoint="e", model="m",
             prompt="answer/1", error="HTTP 500", cost=None),
        Correction(experiment_id="exp", response_id=first.id, arm="guided", state="scored",
                   parent_id=first.id, result_id="again", feedback="Look again.",
                   criterion_ids=(criterion,), value=1.0,
                   hints=(HintUse(criterion_id=criterion, hint_id="hint", peer_id="cand-a",
                                  text="left"),)),
        Run(id="run", study_id=study.id, stages=(), experiment_id="exp", state="stopped",
            sampling=Sampling(temperature=0.5)),
        Verdict(key="v1", group=study.id, subject_id=first.sample_id, part="batch", judge=JUDGE,
                prompt="rank/1", sampling=SAMPLING, state="scored", value=2.5, label="a",
                data={"order": ["x", "y"], "deep": {"n": 1}}, call_id="c-failed"),
        Preference(id="vote", sample_id=first.sample_id, response_a=first.id, response_b=peer.id,
                   judge="somebody", prompt="imported", verdict="tie", reason="both\nfail"),
    ]  # fmt: skip


def _labels(study: Study, sample: Sample, first: Response, second: Response) -> list:
    return [
        Annotation(
            id=Annotation.make_id(study.id, "ranking", sample.id, "ann"), study_id=study.id,
            kind="ranking", subject_id=sample.id, annotator="ann",
            ranks=(RankedAnswer(response_id=first.id, rank=1),
                   RankedAnswer(response_id=second.id, rank=1)),
            shown=(second.id, first.id), adjudicates=True, created="2026",
        ),
    ]  # fmt: skip


def _foreign_mark(store: Store, answer: Response) -> list:
    """A person's marks on a scale of their own: one with a value, one that doesn't apply."""
    scale = MarkScale.of_levels({"poor": 0, "fair": 0.5, "good": 1}, na=["-"], ordinal=True)
    mine = table(Criterion).c.sample_id == answer.sample_id
    asked = store.select(Criterion, mine, limit=2)
    points = [
        Checkpoint(
            key=Checkpoint.make_key(criterion.id, answer.id, "p", "imported", Sampling()),
            criterion_id=criterion.id, response_id=answer.id, judge_id="p", prompt="imported",
            state=mark.state, value=mark.value, detail=mark.detail, raw=raw, scale=scale.id,
        )
        for criterion, raw in zip(asked, ("fair", "-"), strict=True)
        for mark in [scale.read(raw)]
    ]  # fmt: skip
    return [scale, Judge(id="p", name="Somebody", kind="person"), *points]


def _trees(study: Study) -> list:
    old, new = tree_version(OLD_TREE), tree_version(TREE)
    return [
        TreeRecord(version=old, name=OLD_TREE.name, body=to_json(OLD_TREE)),
        TreeVersion(study_id=study.id, position=0, version=old, origin="seed"),
        TreeVersion(study_id=study.id, position=1, version=new, parent_version=old, origin="hand"),
        TreeEdit(study_id=study.id, position=1, ordinal=0, version=new, edit='{"op":"add"}',
                 by="ann"),
        Induction(id="ind", study_id=study.id, judge=JUDGE, settings="{}", state="done"),
    ]  # fmt: skip


def with_hint(store: Store, study: Study) -> None:
    """Add a peer's hint on a criterion of the study."""
    criterion = store.select(Criterion, limit=1)[0]
    peer = store.select(
        Response,
        table(Response).c.sample_id == criterion.sample_id,
        table(Response).c.candidate_id == "cand-a",
    )[0]
    store.put([
        Hint(id="hint", criterion_id=criterion.id, peer_id="cand-a", response_id=peer.id,
             prompt="hint/1", sampling=ANSWERING, state="scored", text="look left"),
    ])  # fmt: skip
