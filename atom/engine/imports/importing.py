"""Moves what a format read into a study: all of it in one transaction, or nothing.

Everything is read, counted and compared with what the study holds before anything of it counts
(`atom.store.staging`). An import that leaves much out, whose figures disagree with published ones,
or that passes over columns which look like results, asks first; one that has other contents under
the same ids asks, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

from atom.engine.clock import stamp
from atom.engine.imports.apart import MOST_HELD, is_worthwhile, read_apart
from atom.engine.process import rare_collections
from atom.errors import ConflictError, DoubtError, FormatError, PictureError, UsageError
from atom.formats import STOOD_TWICE, Batch, ImportReport, Owner, Reading
from atom.formats.intake.account import Item, LeftOut, Tally, plain_reason
from atom.records import (
    Annotation,
    Checkpoint,
    Criterion,
    Import,
    Outcome,
    Picture,
    Preference,
    Record,
    Response,
    Sample,
    Study,
    Tag,
    Verdict,
    content_id,
)
from atom.stages.outcome import check
from atom.stages.texts.final_answer import can_refute
from atom.store import (
    ConflictFoundError,
    MoveResult,
    RecordConflict,
    Staging,
    Store,
    find_study,
    list_studies,
    names_of_sets,
)
from atom.store.versions import line_of, versions_of, write_versions

_PAGE = 1000
UNCHANGED = "everything in these files was here already: nothing was added"
_KINDS: dict[Item, type[Record]] = {
    "questions": Sample,
    "answers": Response,
    "verdicts": Outcome,
    "groups": Tag,
    "votes": Preference,
    "labels": Annotation,
    "marks": Verdict,
    "criteria": Criterion,
    "judgments": Checkpoint,
}


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """What an import brought.

    Args:
        study: the study that it went into.
        record: the import as the study keeps it.
        report: what was met in the files.
        broken_pictures: pictures that couldn't be kept, with the reason.
        taken_back: earlier imports that it replaced.
    """

    study: Study
    record: Import
    report: ImportReport
    broken_pictures: tuple[str, ...]
    taken_back: tuple[Import, ...] = ()


def study_for(store: Store, name: str, created: str, *, synthetic: bool = False) -> Study:
    """Return the study of this name, or, if there is none, one that isn't in the store yet.

    Raises:
        UsageError: the name is empty or too long.
    """
    name = name.strip()
    if not 1 <= len(name) <= 120:
        raise UsageError(f"a study's name has 1 to 120 characters, {name!r:.60} has {len(name)}")
    for study in list_studies(store):
        if name in (study.id, study.name):
            return study
    return Study(id=Study.make_id(name), name=name, created=created, synthetic=synthetic)


def import_reading(
    store: Store,
    reading: Reading,
    study_name: str,
    moment: datetime,
    *,
    accept: bool = False,
    replace: bool = False,
    on_batch: Callable[[ImportReport], None] | None = None,
) -> ImportResult:
    """Put everything that a format reads into a study, or nothing.

    A data set is the study's own, unless the user named it: equal file names and ids in two
    studies never meet. What the study holds unchanged is not doubled.

    Args:
        reading: the format's single pass.
        study_name: the study; made when there is none.
        moment: UTC time.
        accept: bring it in although the report has doubts.
        replace: where ids that the study holds have other contents now, take the imports back that
            brought them, and bring this one in their place.
        on_batch: told the report after each batch.

    Returns:
        What it brought. The study keeps an `Import`, so that it can be undone.

    Raises:
        FormatError: the files can't be read.
        DoubtError: something must be accepted first.
        ConflictError: the study holds other contents under the same ids.
        StoreError: the store can't be written. Whatever is raised, nothing of the files stays.
    """
    created = stamp(moment)
    study = study_for(store, study_name, created)
    reading.belongs_to(_owner(store, study))
    begun = reading.report.to_import(_free_id(store, study.id, created), study.id, created)
    broken: list[str] = []
    refused: set[str] = set()
    with ExitStack() as until_done:
        staging = until_done.enter_context(Staging(store))
        until_done.enter_context(rare_collections())
        is_apart = is_worthwhile(reading)
        if is_apart:
            reading = until_done.enter_context(
                read_apart(reading, summed=staging.is_summed, told=on_batch is not None)
            )
        for batch in reading:
            kept, problems = _keep_pictures(store, batch, refused)
            broken += problems
            # A reading gives a picture once; later batches may name one that was refused before.
            for picture_id in refused:
                batch = batch.without_picture(picture_id)
            staging.add(kept)
            staging.add(batch.loose(), batch.rows(), batch.ready)
            staging.add(label.in_study(study.id, created) for label in batch.annotations)
            staging.add(verdict.in_study(study.id) for verdict in batch.verdicts)
            if is_apart and reading.n_bytes <= MOST_HELD:
                staging.move_on(study, begun)
            if on_batch is not None:
                on_batch(reading.report)
        decided = RuleOutcomes()
        for outcomes in decided.by_rules(staging):
            staging.add(outcomes)
        report = _with_rules(reading.report, decided)
        if report.doubts and not accept:
            raise DoubtError(report.doubts)
        report = _accepted(report)
        _check_versions({**versions_of(store, study.id), **report.versions})
        closed: list[ImportReport] = []

        def close(moved: MoveResult) -> Import:
            closed.append(_with_account(report, moved))
            record = closed[0].to_import(begun.id, study.id, created)
            return record.model_copy(update={"skipped": (*record.skipped, *broken)[:200]})

        try:
            record, moved = staging.move(
                study,
                begun,
                replace=replace,
                judge=reading.judge,
                tree=reading.tree,
                close=close,
            )
        except ConflictFoundError as error:
            raise ConflictError(_conflict_words(error.moved, study)) from None
    if report.versions:
        with store.write("import") as writer:
            write_versions(writer, study.id, report.versions, created)
    if reading.synthetic and not study.synthetic:
        # What programs made stays labelled, wherever it goes.
        study = find_study(store, study.id).model_copy(update={"synthetic": True})
        store.replace([study], "import")
    return ImportResult(
        study=study,
        record=record,
        report=closed[0],
        broken_pictures=tuple(broken),
        taken_back=moved.taken_back,
    )


def _check_versions(declared: Mapping[str, str]) -> None:
    """Refuse candidates that would be versions of themselves, by way of others.

    Raises:
        FormatError: there is such a ring.
    """
    if any(line_of(declared, one) is None for one in declared):
        raise FormatError(
            "by the column that says which model is a version of which, a model would come before "
            "itself: name the earlier one in each row, and nothing at the first version"
        )


def _owner(store: Store, study: Study) -> Owner:
    """Find out how the study's data sets name their questions.

    Studies of earlier versions named them without the study; a copy keeps its original's names.
    """
    owner = Owner(study_id=study.id)
    lineage = [study.id]
    known = {one.id: one for one in list_studies(store)}
    while (parent := known.get(lineage[-1], study).copied_from) and parent not in lineage:
        lineage.append(parent)
    sets: dict[str, str] = {}
    by_content: set[str] = set()
    for row in names_of_sets(store, study.id):
        dataset, source_id = row["dataset"], row["source_id"]
        if source_id is None:
            by_content.add(dataset)
            sets.setdefault(dataset, dataset)
            continue
        scopes = [dataset, *(Owner(study_id=name).scope(dataset) for name in lineage)]
        scope = next((s for s in scopes if Sample.make_id(s, source_id) == row["id"]), None)
        if scope is not None:
            sets[dataset] = scope
    return Owner(study_id=owner.study_id, sets=sets, by_content=frozenset(by_content))


def _free_id(store: Store, study_id: str, created: str) -> str:
    """Name an import; another one of the same second gets another name."""
    number = 0
    while (
        store.get(Import, found := content_id("import", study_id, created, number)[:16]) is not None
    ):
        number += 1
    return found


def _keep_pictures(
    store: Store, batch: Batch, refused: set[str]
) -> tuple[list[Picture], list[str]]:
    kept, problems = [], []
    for picture in batch.pictures:
        try:
            kept.append(store.pictures.add(picture.data, picture.name))
        except PictureError as error:
            refused.add(picture.id)
            problems.append(f"picture {picture.name}: {error.message}")
    return kept, problems


# --- answers without a verdict ----------------------------------------------------------------


class RuleOutcomes:
    """Decides by our own rules where the files hold no verdict, and counts what they can't read.

    Only where the rules could also find an answer wrong; what they can't read stays unscored.
    """

    def __init__(self) -> None:
        self.right = self.wrong = self.unread = 0

    def by_rules(self, staging: Staging) -> Iterator[list[Outcome]]:
        """Give the outcomes, in batches."""
        found: list[Outcome] = []
        for sample, response in staging.undecided():
            if not can_refute(sample):
                continue
            outcome = check(sample, response)
            if outcome is None:
                self.unread += 1
                continue
            self.right += outcome.value == 1.0
            self.wrong += outcome.value == 0.0
            found.append(outcome)
            if len(found) >= _PAGE:
                yield found
                found = []
        yield found


def _with_rules(report: ImportReport, decided: RuleOutcomes) -> ImportReport:
    """Add the outcomes that our rules made, and say so."""
    n = decided.right + decided.wrong
    notes = list(report.notes)
    bare = report.responses - report.outcomes - n - decided.unread
    if report.outcomes and bare > 0:
        notes.append(
            f"{bare:,} of {report.responses:,} answers came without a verdict: they stay unscored, "
            "and no share of right answers counts them"
        )
    if not n + decided.unread:
        return report.model_copy(update={"notes": tuple(notes)})
    note = (
        f"the files hold no verdict on {n + decided.unread:,} answers: read by our own rules, "
        f"{decided.right:,} are right and {decided.wrong:,} wrong"
    )
    if decided.unread:
        note += f"; {decided.unread:,} name no answer that can be read and stay unscored"
    return report.model_copy(update={"notes": (*notes, note)})


# --- the account ------------------------------------------------------------------------------


def _accepted(report: ImportReport) -> ImportReport:
    account = report.account.model_copy(update={"accepted": report.doubts})
    return report.model_copy(update={"account": account})


def _with_account(report: ImportReport, moved: MoveResult) -> ImportReport:
    """Close the account with what the store says: what was new, and what was there before."""
    tallies = []
    for tally in report.account.tallies:
        kind = _KINDS.get(tally.item)
        if kind is not None:
            tally = _settled(tally, moved.new.get(kind, 0), moved.known.get(kind, 0), kind)
        tallies.append(tally)
    account = report.account.model_copy(update={"tallies": tuple(tallies)})
    notes = report.notes
    if account.is_known and not moved.taken_back:
        notes += (UNCHANGED,)
    if moved.reworded:
        notes += (
            f"questions that are worded otherwise in these files: {moved.reworded:,}; the study's "
            "own wording stays",
        )
    if moved.stood.joined:
        notes += (f"criteria were added to {moved.stood.joined:,} questions that had some already",)
    if moved.stood.aside:
        notes += (
            f"{moved.stood.aside:,} questions keep the criteria that a judge or person made here: "
            "the imported ones don't stand for them",
        )
    if moved.stood.other_tree:
        notes += (
            "the study keeps the tree that it has: the capabilities of these files are another one",
        )
    if moved.taken_back:
        notes += tuple(
            f"took the place of the import of {', '.join(one.sources)} ({one.created})"
            for one in moved.taken_back
        )
    return report.model_copy(update={"account": account, "notes": notes})


def _settled(tally: Tally, new: int, known: int, kind: type[Record]) -> Tally:
    """Take over what the store counted; a record that was given twice came in once."""
    stored = new + known
    if kind is Outcome:  # ours, by rules, are stored beside those of the files
        stored = min(stored, tally.came_in)
    twice = tally.came_in - stored
    left = tally.left_out
    if twice > 0:
        left = (*left, LeftOut(reason=plain_reason(STOOD_TWICE), n=twice))
    return tally.model_copy(
        update={"came_in": stored, "known": min(known, stored), "left_out": left}
    )


def _conflict_words(moved: MoveResult, study: Study) -> str:
    found: tuple[RecordConflict, ...] = moved.found
    words = (
        f"the study {study.name!r} holds other contents under the same ids: "
        f"{'; '.join(map(str, found))}. Nothing was changed."
    )
    if moved.elsewhere:
        names = ", ".join(map(repr, moved.elsewhere))
        return (
            f"{words} They belong to {names} as well: give this data set another name "
            "(--dataset NAME), or import it into a study of its own"
        )
    return (
        f"{words} If these files take the place of the old ones, say --replace (a tick on the Data "
        "page): the old import is taken back and this one brought in; else import them into a "
        "study of their own"
    )
