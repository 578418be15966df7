"""Makes records of rows of one mark each: questions, answers, criteria, judges and their marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from types import NoneType

from atom.formats.base import ReadOptions
from atom.formats.cells import to_name, to_number, to_reference, to_text, to_verdict
from atom.formats.intake.collector import STOOD_TWICE, Collector
from atom.formats.intake.maker import MAX_WORDS, Maker, SourceQuestion
from atom.formats.intake.names import cut, short
from atom.formats.judgments.cells import gate_of, keys_in, path_of, pictures_in, spoken
from atom.formats.judgments.columns import UNSAID, JudgeKind
from atom.formats.judgments.getters import getters_of
from atom.formats.judgments.given_scales import GivenScales
from atom.formats.judgments.plan import FilePlan
from atom.formats.judgments.polarity import Directions
from atom.formats.judgments.scales import EMPTY
from atom.formats.judgments.sets import (
    SampleCriterion,
    StatedCriterion,
    criteria_set,
    source_id,
    tree_of,
    use_of,
)
from atom.formats.labels import labels_of
from atom.records import Checkpoint, CriteriaSet, Criterion, Judge, TreeRecord, content_id
from atom.records import Mapping as LeafMapping
from atom.records.rows import checkpoint_row, criterion_row, mapping_row
from taxonomy import Path, to_json, tree_version

NO_MARK = "a cell holds no mark"
AGAIN = "a judge marked a criterion of an answer again; both count, the later as a repeat"
_MOST_CELLS = 10_000
"""Different cells whose reading is remembered."""


def person_id(name: str, kind: JudgeKind) -> str:
    """Name a judge of a file: the same name is the same judge in every file."""
    return content_id("judge", "imported", kind, name)


class Taker:
    """Turns rows of one mark each into records.

    Args:
        collector: where they go.
        options: how to read.
    """

    def __init__(self, collector: Collector, options: ReadOptions) -> None:
        self._out = collector
        self._options = options
        self._maker = Maker(collector, options)
        self._samples: dict[tuple[str | None, str | None], str] = {}
        self._by_id: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._answers: dict[tuple[str, str, int], str] = {}
        self._spoken: dict[str, int] = {}
        """Answer -> hash of its text."""
        self._mixed: dict[str, str] = {}
        """Answers that were marked again with another text -> where."""
        self._lone: dict[str, str | None] = {}
        """Question -> its only answer, for files that name none; None where it has several."""
        self._uses: dict[str, dict[str, SampleCriterion]] = {}
        self._everywhere: dict[str, StatedCriterion] = {}
        self._ordinals: Counter[tuple[str, str]] = Counter()
        self._leaves: list[tuple[str, Path]] = []
        self._judges: dict[str, Judge] = {}
        self._judge_ids: dict[tuple[str, JudgeKind], str] = {}
        self._seen: set[int] = set()
        self._scales = GivenScales(collector)
        self._directions = Directions()
        self._texts: dict[str, int] = {}
        self._source = source_id(collector.dataset)

    # --- files ---------------------------------------------------------------------------------

    def begin(self, plan: FilePlan) -> None:
        """Turn to the next file."""
        self._plan = plan
        self._columns = plan.columns
        self._get = getters_of(plan)
        self._kind = plan.columns.judge_kind or self._guessed_kind(plan)
        self._scales.begin(plan, self._get)
        self._last_cells: tuple[object, object] | None = None
        self._last_sample = ""
        self._judge_cells: dict[str, str] = {}

    @staticmethod
    def _guessed_kind(plan: FilePlan) -> JudgeKind:
        column = plan.columns.judge or plan.columns.annotator or ""
        people = re.search(r"annotator|rater|worker|expert|person|human|people", column, re.I)
        named = re.search(r"\b(people|humans?|annotators?)\b", plan.columns.judge_name or "", re.I)
        return "person" if people or named else "model"

    def take(self, row: Mapping[str, object], place: str) -> None:
        """Turn one row into records, or note why not."""
        sample_id = self._sample(row, place)
        if self._plan.role == "criteria":
            self._declare(row, sample_id, place)
            return
        if sample_id is None:
            self._out.skip(place, "it names no question", "judgments")
            return
        if self._plan.role == "questions":
            if self._columns.response is not None:
                self._answer(row, sample_id, place)
            return
        key = to_name(self._get.criterion(row))
        if key is None:
            self._out.skip(place, "it names no criterion", "judgments")
            return
        response_id = self._answer(row, sample_id, place)
        if response_id is None:
            self._out.skip(place, "it names no answer", "judgments")
            return
        used = self._uses.get(sample_id, {}).get(key)
        if used is None:
            used = self._criterion(row, sample_id, key, place)
        self._mark(row, used, response_id, place)

    # --- questions and answers -----------------------------------------------------------------

    def _sample(self, row: Mapping[str, object], place: str) -> str | None:
        cells = self._get.id(row), self._get.question(row)
        if cells == self._last_cells and cells[0].__class__ is str:
            return self._last_sample  # the rows of one question mostly stand together
        name = to_name(cells[0])
        text, _ = spoken(cells[1])
        known = self._samples.get((name, text))
        if known is None and name is not None and text is None:
            known = self._by_id.get(name)
        if known is not None:
            if name is not None and cells[1].__class__ in (str, NoneType):
                self._last_cells, self._last_sample = cells, known
            return known
        if name is None and text is None:
            if self._plan.role != "marks" or self._columns.id is not None:
                return None
            name = place  # each row is a question of its own
        get = self._get
        made = self._maker.sample(
            place,
            self._plan.file.name,
            name,
            SourceQuestion(
                text=self._maker.told(text, name or "", place),
                reference=to_reference(get.answer(row)).text,
                pictures=tuple(one for read in get.pictures for one in pictures_in(read(row))),
                labels=tuple(
                    (column, label)
                    for column in self._columns.tags or ()
                    for label in labels_of(row.get(column), self._columns.tag_separator)
                ),
            ),
        )
        if made is not None:
            self._samples[name, text] = made
            self._names[made] = name or place
            if name is not None:
                self._by_id.setdefault(name, made)
        return made

    def _answer(self, row: Mapping[str, object], sample_id: str, place: str) -> str | None:
        columns = self._columns
        name = to_name(self._get.model(row))
        if name is None:
            if columns.model is not None:
                return None
            given = self._options.candidates.get(self._plan.file.name) or columns.candidate
            lone = None if given else self._lone.get(sample_id)
            if lone is not None:
                return lone
            name = given or self._plan.file.stem
        repeat = 0
        if columns.repeat is not None:
            number = to_number(self._get.repeat(row))
            repeat = max(0, int(number)) if number is not None else 0
        key = (sample_id, name, repeat)
        known = self._answers.get(key)
        if known is not None:
            return known
        text, detail = spoken(self._get.response(row))
        made = self._maker.answer(
            place, sample_id, name, text, repeat=repeat, detail=detail, known=False
        )
        if made is not None:
            if self._get.version_of is not None:
                before = to_name(self._get.version_of(row))
                self._out.version(cut(name), cut(before) if before else None)
            self._answers[key] = made
            self._spoken[made] = hash(text)
            self._lone[sample_id] = None if sample_id in self._lone else made
            if self._get.correct is not None:
                verdict = to_verdict(self._get.correct(row), columns.correct_max)
                self._maker.graded(made, verdict)
        return made

    # --- criteria ------------------------------------------------------------------------------

    def _declare(self, row: Mapping[str, object], sample_id: str | None, place: str) -> None:
        """Take what a file of criteria says: of one question's, or of all that are called so."""
        key = to_name(self._get.criterion(row))
        if key is None:
            self._out.skip(place, "it names no criterion", "criteria")
        elif sample_id is None:
            self._everywhere[key] = self._said(row)
        elif (known := self._uses.get(sample_id, {}).get(key)) is not None:
            if known.text == (to_text(self._get.text(row)) or key):
                self._out.left_out("criteria", STOOD_TWICE)
            else:
                self._out.skip(place, f"another criterion {key!r} stood before", "criteria")
        else:
            self._criterion(row, sample_id, key, place)

    def _said(self, row: Mapping[str, object]) -> StatedCriterion:
        get = self._get
        return StatedCriterion(
            text=to_text(get.text(row)),
            truth=to_text(get.truth(row)) or "",
            weight=to_number(get.weight(row)),
            capability=self._path(row),
            parents=keys_in(get.parents(row)),
            gate=gate_of(get.gate(row)),
        )

    def _path(self, row: Mapping[str, object]) -> Path | None:
        names: list[str] = []
        for read in self._get.capability:
            names += path_of(read(row))
        return tuple(names) or None

    def _criterion(
        self, row: Mapping[str, object], sample_id: str, key: str, place: str
    ) -> SampleCriterion:
        here, there = self._said(row), self._everywhere.get(key) or StatedCriterion()
        own = self._columns.criteria.get(key, UNSAID)
        text = own.text or here.text or there.text or key
        truth = own.truth or here.truth or there.truth
        weight = own.weight or here.weight or there.weight
        ordinal = self._ordinals[sample_id, text]
        self._ordinals[sample_id, text] += 1
        identity = Criterion.make_id(sample_id, text, truth, ordinal)
        penalty = own.penalty
        if penalty is None and self._plan.role == "marks":
            penalty = self._scales.of(key).declared.penalty
        if weight is not None and weight < 0:
            penalty, weight = True, -weight
        uses = self._uses.setdefault(sample_id, {})
        capability = own.capability
        said_path = () if capability is None else tuple(path_of(capability))
        path = said_path or here.capability or there.capability
        gate = own.gate or here.gate or there.gate
        used = uses[key] = SampleCriterion(
            id=identity,
            key=key,
            text=text,
            position=len(uses),
            weight=1.0 if weight is None else weight,
            penalty=bool(penalty),
            parents=own.parents or here.parents or there.parents,
            gate="zero" if gate == "cap" and own.cap is None else gate,
            cap=own.cap if gate == "cap" else None,
            at=self._texts.setdefault(text, len(self._texts)),
        )
        self._out.add_row(
            Criterion,
            criterion_row(
                identity,
                sample_id,
                text,
                truth,
                "question" if text.rstrip().endswith("?") else "requirement",
            ),
        )
        if not used.weight:
            self._out.tally("a criterion has no weight: it counts for nothing", place)
        if path:
            self._leaves.append((identity, path))
        return used

    # --- marks ---------------------------------------------------------------------------------

    def _mark(
        self, row: Mapping[str, object], used: SampleCriterion, response_id: str, place: str
    ) -> None:
        get = self._get
        reason = "" if get.reason is None else (to_text(get.reason(row)) or "")
        raw = get.mark(row)
        scale = self._scales.of(used.key)
        if get.probabilities:
            read = scale.expected({w: g(row) for w, g in get.probabilities.items()})
        else:
            read = scale.read(raw, reason)
        if read is EMPTY and (self._columns.wide or self._is_nobodys(row)):
            self._out.tally(NO_MARK, place, "judgments")
            return
        if not reason and read.raw and len(text := to_text(raw) or "") > len(read.raw) + 2:
            reason = text
        judge_id = self._judge(row)
        repeat, key = 0, Checkpoint.imported_key(used.id, response_id, judge_id)
        while (number := short(key)) in self._seen:
            repeat += 1
            key = Checkpoint.imported_key(used.id, response_id, judge_id, repeat)
        self._seen.add(number)
        if repeat:
            self._out.tally(AGAIN, place)
            said, _ = spoken(get.response(row))
            if said is not None and hash(said) != self._spoken.get(response_id):
                self._mixed.setdefault(response_id, place)
        self._scales.count(read, scale.record.id, place)
        if read.value is not None and not repeat:
            self._directions.add(used.at, response_id, read.value)
        self._out.add_row(
            Checkpoint,
            checkpoint_row(
                key,
                used.id,
                response_id,
                judge_id,
                repeat,
                read.state,
                reason if len(reason) <= MAX_WORDS else cut(reason, MAX_WORDS),
                read.detail,
                read.value,
                read.raw,
                scale.record.id,
            ),
        )

    def _is_nobodys(self, row: Mapping[str, object]) -> bool:
        """Whether a row names no judge where a column should."""
        columns = self._plan.columns
        return bool(columns.judge or columns.annotator) and to_name(self._get.judge(row)) is None

    def _judge(self, row: Mapping[str, object]) -> str:
        cell = self._get.judge(row)
        known = self._judge_cells.get(cell) if cell.__class__ is str else None
        if known is not None:
            return known
        name = to_name(cell) or self._columns.judge_name or self._plan.file.stem
        known = self._judge_named(name)
        if cell.__class__ is str and len(self._judge_cells) < _MOST_CELLS:
            self._judge_cells[cell] = known
        return known

    def _judge_named(self, name: str) -> str:
        known = self._judge_ids.get((name, self._kind))
        if known is not None:
            return known
        shown = f"{self._kind} {name}" if name.replace(".", "").isdigit() else name
        made = person_id(cut(shown), self._kind)
        self._judge_ids[name, self._kind] = made
        if made not in self._judges:
            self._judges[made] = judge = Judge(id=made, name=cut(shown), kind=self._kind)
            self._out.add(judge)
        return made

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Iterator[None]:
        """Add what is known only now: criteria sets, the tree, and what should be said."""
        yield from self._sets()
        yield from self._tree()
        self._tell()

    def _sets(self) -> Iterator[None]:
        keys = {key for uses in self._uses.values() for key in uses}
        named: Counter[int] = Counter()
        for sample_id, uses in self._uses.items():
            graph = self._graph(sample_id, uses, keys, named)
            made = tuple(use_of(used, graph) for used in uses.values() if used.weight)
            if made:
                self._out.add_row(CriteriaSet, criteria_set(sample_id, self._source, made))
            if self._out.is_full:
                yield
        if named:
            self._out.note(
                f"dependencies: {sum(named.values()):,} criteria name others that must hold first, "
                f"{sum(n for size, n in named.items() if size > 1):,} of them two or more"
            )

    def _graph(
        self,
        sample_id: str,
        uses: Mapping[str, SampleCriterion],
        keys: set[str],
        named: Counter[int],
    ) -> Mapping[str, SampleCriterion]:
        """Return the criteria that can be named as parents: none where a name can't be read.

        A graph of which a part is unreadable isn't used at all, as DSG's own loader does it.
        """
        whole = True
        for used in uses.values():
            if any(name not in keys for name in used.parents):
                self._out.tally(
                    f"a dependency can't be read ({', '.join(used.parents)!r}): no criterion of "
                    "that question has parents",
                    self._names[sample_id],
                )
                whole = False
                continue
            if used.parents:
                named[len(used.parents)] += 1
            if any(name not in uses for name in used.parents):
                self._out.tally(
                    "a dependency names a criterion that its question hasn't: it is left out",
                    self._names[sample_id],
                )
        return uses if whole else {}

    def _tree(self) -> Iterator[None]:
        if not self._leaves:
            return
        paths = tuple(dict.fromkeys(path for _, path in self._leaves))
        tree, place = tree_of(paths, self._out.dataset)
        version = tree_version(tree)
        self._out.tree = version
        self._out.add(TreeRecord(version=version, name=tree.name, body=to_json(tree)))
        for criterion_id, path in self._leaves:
            self._out.add_row(
                LeafMapping, mapping_row(criterion_id, version, self._source, place[path])
            )
            if self._out.is_full:
                yield

    def _tell(self) -> None:
        """Say how marks were read, and what is doubtful about it."""
        models = [judge for judge in self._judges.values() if judge.kind == "model"]
        first = next(iter(models or self._judges.values()), None)
        self._out.judge = None if first is None else first.id
        kinds = Counter(judge.kind for judge in self._judges.values())
        words = {"model": "models", "person": "people", "program": "programs"}
        by = ", ".join(f"{n} {words[kind] if n > 1 else kind}" for kind, n in kinds.items())
        self._out.note(f"judged by {by or 'nobody: these are criteria alone'}")
        self._scales.tell()
        if self._mixed:
            self._out.doubt(
                f"{len(self._mixed):,} answers were marked again with another text (first: "
                f"{next(iter(self._mixed.values()))}): a model answered a question more than once. "
                "Say which column counts its answers (`repeat`), or accept that the first text "
                "stands for all and their marks are averaged"
            )
        for line in self._directions.doubtful(list(self._texts)):
            self._out.note(line)
