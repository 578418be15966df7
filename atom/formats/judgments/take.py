"""Makes records of rows of one mark each: questions, answers, criteria, judges and their marks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.base import STOOD_TWICE, Collector, ReadOptions
from atom.formats.cells import to_list, to_name, to_number, to_reference, to_text, to_verdict
from atom.formats.guess import labels_of
from atom.formats.judgments.columns import CriterionMap, JudgeKind, ScaleMap
from atom.formats.judgments.plan import FilePlan, getter
from atom.formats.judgments.polarity import Directions
from atom.formats.judgments.scales import EMPTY, Read, Scale, fold, guess_scale, refuse_scale
from atom.formats.maker import MAX_WORDS, Maker, Question, cut, short
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Gate,
    Judge,
    MarkScale,
    Sampling,
    TreeRecord,
    content_id,
    unchecked,
)
from atom.records import (
    Mapping as LeafMapping,
)
from taxonomy import Node, Path, Tree, parse_path, to_json, tree_version

PROMPT = "imported"
UNTAGGED = "(directly)"
"""The leaf of criteria that hang on a node which has others below it."""
NO_MARK = "a cell holds no mark"
AGAIN = "a judge marked a criterion of an answer again; both count, the later as a repeat"
_SAMPLING = Sampling()
_CUTS = re.compile(r"[,;|\s]+")
_ADDRESS = re.compile(r"https?://\S+\Z")
_NOTHING = frozenset({"0", "", "none", "-", "null", "[]"})
_TRUE = frozenset({"1", "true", "yes", "must", "gate", "zero", "musthave", "must have", "required"})
_MOST_UNREAD = 0.01
_MOST_LAYERS = 12
"""Layers of a capability's path; what hangs deeper is one name."""
_checkpoint = unchecked(Checkpoint)
_criterion = unchecked(Criterion)
_use = unchecked(CriterionUse)
_mapping = unchecked(LeafMapping)


def person_id(name: str, kind: JudgeKind) -> str:
    """Name a judge of a file: the same name is the same judge in every file."""
    return content_id("judge", "imported", kind, name)


def source_id(dataset: str) -> str:
    """Name whoever cut a data set's criteria: the data set itself."""
    return content_id("judge", "source", dataset)


@dataclass(kw_only=True, slots=True)
class _Used:
    """A criterion as it stands in a sample."""

    id: str
    key: str
    text: str
    position: int
    weight: float
    penalty: bool
    parents: tuple[str, ...]
    """Keys of criteria that must hold first."""
    gate: Gate | None
    cap: float | None
    at: int
    """Its number among all wordings, to compare how their marks run."""


@dataclass(kw_only=True)
class _Said:
    """What files say of a criterion."""

    text: str | None = None
    truth: str = ""
    weight: float | None = None
    capability: Path | None = None
    parents: tuple[str, ...] = ()
    gate: Gate | None = None


@dataclass(kw_only=True)
class _Getters:
    """What reads each part from a row of one file."""

    id: Callable[[Mapping[str, object]], object]
    question: Callable[[Mapping[str, object]], object]
    answer: Callable[[Mapping[str, object]], object]
    model: Callable[[Mapping[str, object]], object]
    response: Callable[[Mapping[str, object]], object]
    repeat: Callable[[Mapping[str, object]], object]
    judge: Callable[[Mapping[str, object]], object]
    criterion: Callable[[Mapping[str, object]], object]
    text: Callable[[Mapping[str, object]], object]
    truth: Callable[[Mapping[str, object]], object]
    mark: Callable[[Mapping[str, object]], object]
    reason: Callable[[Mapping[str, object]], object] | None
    weight: Callable[[Mapping[str, object]], object]
    parents: Callable[[Mapping[str, object]], object]
    gate: Callable[[Mapping[str, object]], object]
    correct: Callable[[Mapping[str, object]], object] | None
    capability: tuple[Callable[[Mapping[str, object]], object], ...]
    pictures: tuple[Callable[[Mapping[str, object]], object], ...]
    probabilities: Mapping[str, Callable[[Mapping[str, object]], object]]


def _getters(plan: FilePlan) -> _Getters:
    columns = plan.columns
    capability = columns.capability
    layers = (capability,) if isinstance(capability, str) else capability or ()
    return _Getters(
        id=getter(columns.id if columns.id != "row" else None),
        question=getter(columns.question),
        answer=getter(columns.answer),
        model=getter(columns.model),
        response=getter(columns.response),
        repeat=getter(columns.repeat),
        judge=getter(columns.judge or columns.annotator),
        criterion=getter(columns.criterion),
        text=getter(columns.criterion_text),
        truth=getter(columns.truth),
        mark=getter(columns.mark),
        reason=None if columns.reason is None else getter(columns.reason),
        weight=getter(columns.weight),
        parents=getter(columns.parents),
        gate=getter(columns.gate),
        correct=None if columns.correct is None else getter(columns.correct),
        capability=tuple(map(getter, layers)),
        pictures=tuple(map(getter, columns.pictures)),
        probabilities={str(word): getter(column) for word, column in columns.probabilities.items()},
    )


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
        self._lone: dict[str, str | None] = {}
        """Question -> its only answer, for files that name none; None where it has several."""
        self._uses: dict[str, dict[str, _Used]] = {}
        self._everywhere: dict[str, _Said] = {}
        self._ordinals: Counter[tuple[str, str]] = Counter()
        self._leaves: list[tuple[str, Path]] = []
        self._judges: dict[str, Judge] = {}
        self._judge_ids: dict[tuple[str, JudgeKind], str] = {}
        self._marks: dict[str, Counter[str]] = defaultdict(Counter)
        self._seen: set[int] = set()
        self._given_scales: dict[str, MarkScale] = {}
        self._reads: Counter[tuple[str, str]] = Counter()
        self._directions = Directions()
        self._texts: dict[str, int] = {}
        self._source = source_id(collector.dataset)

    # --- files ---------------------------------------------------------------------------------

    def begin(self, plan: FilePlan) -> None:
        """Turn to the next file."""
        self._plan = plan
        self._columns = plan.columns
        self._get = _getters(plan)
        self._kind = plan.columns.judge_kind or self._guessed_kind(plan)
        self._guessed: ScaleMap | None = None
        self._scales_here: dict[str, Scale] = {}

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
        name = to_name(self._get.id(row))
        text, _ = spoken(self._get.question(row))
        known = self._samples.get((name, text))
        if known is None and name is not None and text is None:
            known = self._by_id.get(name)
        if known is not None:
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
            Question(
                text=self._maker.told(text, name or "", place),
                reference=to_reference(get.answer(row)).text,
                pictures=tuple(one for read in get.pictures for one in _pictures(read(row))),
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
            self._answers[key] = made
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

    def _said(self, row: Mapping[str, object]) -> _Said:
        get = self._get
        return _Said(
            text=to_text(get.text(row)),
            truth=to_text(get.truth(row)) or "",
            weight=to_number(get.weight(row)),
            capability=self._path(row),
            parents=keys_in(get.parents(row)),
            gate=_gate(get.gate(row)),
        )

    def _path(self, row: Mapping[str, object]) -> Path | None:
        names: list[str] = []
        for read in self._get.capability:
            names += path_of(read(row))
        return tuple(names) or None

    def _criterion(self, row: Mapping[str, object], sample_id: str, key: str, place: str) -> _Used:
        here, there = self._said(row), self._everywhere.get(key, _Said())
        own = self._columns.criteria.get(key, CriterionMap())
        text = own.text or here.text or there.text or key
        truth = own.truth or here.truth or there.truth
        weight = own.weight or here.weight or there.weight
        ordinal = self._ordinals[sample_id, text]
        self._ordinals[sample_id, text] += 1
        identity = Criterion.make_id(sample_id, text, truth, ordinal)
        penalty = own.penalty
        if penalty is None and self._plan.role == "marks":
            penalty = self._scale(key).declared.penalty
        if weight is not None and weight < 0:
            penalty, weight = True, -weight
        uses = self._uses.setdefault(sample_id, {})
        capability = own.capability
        said_path = () if capability is None else tuple(path_of(capability))
        path = said_path or here.capability or there.capability
        gate = own.gate or here.gate or there.gate
        used = uses[key] = _Used(
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
        self._out.add(
            _criterion(
                id=identity,
                sample_id=sample_id,
                question=text,
                ground_truth=truth,
                kind="question" if text.rstrip().endswith("?") else "requirement",
            )
        )
        if not used.weight:
            self._out.tally("a criterion has no weight: it counts for nothing", place)
        if path:
            self._leaves.append((identity, path))
        return used

    # --- marks ---------------------------------------------------------------------------------

    def _scale(self, key: str) -> Scale:
        """Return the scale of a criterion's marks in the file at hand."""
        scale = self._scales_here.get(key)
        if scale is None:
            own = self._columns.criteria.get(key, CriterionMap())
            scale = self._scales_here[key] = self._declared(key, own)
        return scale

    def _declared(self, key: str, own: CriterionMap) -> Scale:
        named = own.scale
        declared = self._columns.scale
        name = ""
        if isinstance(named, str):
            declared, name = self._columns.scales.get(named), named
            if declared is None:
                raise FormatError(
                    f"the criterion {key!r} names the scale {named!r}, which isn't among `scales`: "
                    f"{', '.join(self._columns.scales) or 'none is declared'}"
                )
        elif named is not None:
            declared = named
        if declared is None or not declared.is_declared:
            declared = self._obvious(declared)
        made = Scale(declared, name, own.parts)
        if made.record.id not in self._given_scales:
            self._given_scales[made.record.id] = made.record
            self._out.add(made.record)
        return made

    def _obvious(self, declared: ScaleMap | None) -> ScaleMap:
        """Guess the file's scale from its marks, or refuse."""
        if self._guessed is not None:
            return self._guessed
        plan, get = self._plan, self._get
        seen = Counter(fold(get.mark(row)) for row in plan.head)
        guess = guess_scale(_without_na(seen, declared))
        if guess is None:
            raise refuse_scale(Counter({k: n for k, n in seen.items() if k}), plan.file.name)
        levels = guess.values or f"{guess.low:g} to {guess.high:g}"
        shown = (
            ", ".join(f"{w} = {v:g}" for w, v in levels.items())
            if isinstance(levels, dict)
            else str(levels)
        )
        self._out.note(f"{plan.file.name}: the scale is guessed from the marks: {shown}")
        if declared is not None:
            said = declared.model_dump(exclude_unset=True, by_alias=True)
            guess = ScaleMap.model_validate(
                {**guess.model_dump(exclude_unset=True, by_alias=True), **said}
            )
        self._guessed = guess
        return guess

    def _mark(self, row: Mapping[str, object], used: _Used, response_id: str, place: str) -> None:
        get = self._get
        reason = "" if get.reason is None else (to_text(get.reason(row)) or "")
        raw = get.mark(row)
        scale = self._scale(used.key)
        if get.probabilities:
            read = scale.expected({w: g(row) for w, g in get.probabilities.items()})
        else:
            read = scale.read(raw, reason)
        if read is EMPTY and self._columns.wide:
            self._out.tally(NO_MARK, place, "judgments")
            return
        if not reason and read.raw and len(text := to_text(raw) or "") > len(read.raw) + 2:
            reason = text
        judge_id = self._judge(row)
        repeat, key = 0, Checkpoint.make_key(used.id, response_id, judge_id, PROMPT, _SAMPLING)
        while (number := short(key)) in self._seen:
            repeat += 1
            key = Checkpoint.make_key(used.id, response_id, judge_id, PROMPT, _SAMPLING, repeat)
        self._seen.add(number)
        if repeat:
            self._out.tally(AGAIN, place)
        self._count(read, scale.record.id, place)
        if read.value is not None and not repeat:
            self._directions.add(used.at, response_id, read.value)
        self._out.add(
            _checkpoint(
                key=key,
                criterion_id=used.id,
                response_id=response_id,
                judge_id=judge_id,
                prompt=PROMPT,
                repeat=repeat,
                state=read.state,
                reason=reason if len(reason) <= MAX_WORDS else cut(reason, MAX_WORDS),
                detail=read.detail,
                value=read.value,
                raw=read.raw,
                scale=scale.record.id,
            )
        )

    def _count(self, read: Read, scale: str, place: str) -> None:
        self._reads[scale, read.state] += 1
        if read.state == "unscored":
            self._out.tally(f"a mark stays unscored: {read.detail}", place)
            if not read.detail.startswith("marked as unreadable"):
                self._reads[scale, "unread"] += 1

    def _judge(self, row: Mapping[str, object]) -> str:
        columns = self._columns
        name = to_name(self._get.judge(row)) or columns.judge_name or self._plan.file.stem
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
            made = tuple(_use_of(used, graph) for used in uses.values() if used.weight)
            if made:
                self._out.add(criteria_set(sample_id, self._source, made))
            if self._out.is_full:
                yield
        if named:
            self._out.note(
                f"dependencies: {sum(named.values()):,} criteria name others that must hold first, "
                f"{sum(n for size, n in named.items() if size > 1):,} of them two or more"
            )

    def _graph(
        self, sample_id: str, uses: Mapping[str, _Used], keys: set[str], named: Counter[int]
    ) -> Mapping[str, _Used]:
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
            self._out.add(
                _mapping(
                    criterion_id=criterion_id,
                    tree_version=version,
                    judge_id=self._source,
                    prompt=PROMPT,
                    state="scored",
                    leaf=place[path],
                )
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
        for name, record in self._given_scales.items():
            self._tell_scale(name, record)
        for line in self._directions.doubtful(list(self._texts)):
            self._out.note(line)

    def _tell_scale(self, name: str, record: MarkScale) -> None:
        n = {state: self._reads[name, state] for state in ("scored", "not_applicable", "unscored")}
        total = sum(n.values())
        if not total:
            return
        if record.levels:
            shown = ", ".join(f"{word} = {value:.3g}" for word, value in record.levels[:8])
        else:
            shown = f"{record.low:g} to {record.high:g}" + (
                ", less is better" if record.lower_is_better else ""
            )
        title = f" {record.name}" if record.name else ""
        self._out.note(
            f"scale{title} ({shown}{'; distances unknown' if record.ordinal else ''}): "
            f"{n['scored']:,} marks scored, {n['not_applicable']:,} not applicable, "
            f"{n['unscored']:,} unscored"
        )
        unread = self._reads[name, "unread"]
        if unread > _MOST_UNREAD * total:
            self._out.doubt(
                f"{unread:,} of {total:,} marks ({unread / total:.1%}) are no marks of the scale "
                f"({shown}) and would stay unscored: declare the scale as it is, name what is "
                "`na` or `unreadable`, or accept it"
            )


def criteria_set(sample_id: str, judge_id: str, uses: tuple[CriterionUse, ...]) -> CriteriaSet:
    """Make the set of criteria that a file holds for a question, named by its content."""
    content = [use.model_dump(mode="json", exclude_defaults=True) for use in uses]
    return CriteriaSet(
        id=CriteriaSet.make_id(sample_id, judge_id, PROMPT, _SAMPLING, 0, content),
        sample_id=sample_id,
        judge_id=judge_id,
        prompt=PROMPT,
        source="imported",
        state="scored",
        uses=uses,
    )


def _use_of(used: _Used, uses: Mapping[str, _Used]) -> CriterionUse:
    parents = tuple(uses[name].id for name in used.parents if name in uses)
    return _use(
        criterion_id=used.id,
        position=used.position,
        weight=used.weight,
        polarity="penalty" if used.penalty else "credit",
        parents=parents,
        gate=used.gate,
        gate_cap=used.cap,
    )


def _without_na(seen: Mapping[str, int], declared: ScaleMap | None) -> dict[str, int]:
    """Leave out what the map calls not applicable or unreadable, before a scale is guessed."""
    if declared is None:
        return dict(seen)
    na = {fold(word) for word in declared.na}
    patterns = [re.compile(pattern) for pattern in declared.unreadable]
    return {
        word: n
        for word, n in seen.items()
        if word not in na and not any(pattern.search(word) for pattern in patterns)
    }


def keys_in(value: object) -> tuple[str, ...]:
    """Return the criteria that a cell names: a list, or `1,4`; `0` and `none` name none."""
    items = to_list(value)
    if items is None:
        text = to_name(value)
        if text is None or text.casefold() in _NOTHING:
            return ()
        items = [part for part in _CUTS.split(text) if part]
    names = tuple(name for item in items if (name := to_name(item)) is not None)
    return () if all(name.casefold() in _NOTHING for name in names) else names


def path_of(value: object) -> list[str]:
    """Return a capability's path: a list, a list written as text, or names with `>` between."""
    items = to_list(value)
    if items is not None:
        return [name for item in items if (name := to_name(item)) is not None]
    if isinstance(value, tuple):
        return [str(name) for name in value]
    text = to_name(value)
    names = [] if text is None else [cut(name) for name in parse_path(text)]
    if len(names) > _MOST_LAYERS:  # a name with slashes in it rather than a place in a tree
        names[_MOST_LAYERS - 1 :] = [cut("/".join(names[_MOST_LAYERS - 1 :]))]
    return names


def _gate(value: object) -> Gate | None:
    word = (to_name(value) or "").casefold()
    if word == "cap":
        return "cap"
    return "zero" if word in _TRUE else None


def spoken(value: object) -> tuple[str | None, str]:
    """Return a text and what should be known of it; a bare address is no text.

    Messages are written one after the other, with who says each where there are several.
    """
    items = value if isinstance(value, list) else None
    if items and all(isinstance(item, dict) and "content" in item for item in items):
        said = [(str(item.get("role", "")), to_text(item["content"]) or "") for item in items]
        if len(said) == 1:
            return said[0][1] or None, ""
        return "\n\n".join(f"{role}: {text}" for role, text in said), ""
    text = to_text(value)
    if text is not None and _ADDRESS.match(text.strip()):
        return None, f"the file holds an address in place of a text: {text.strip()[:300]}"
    return text, ""


def _pictures(value: object) -> Iterable[object]:
    """Give a cell's pictures, web addresses aside: those aren't fetched."""
    items = to_list(value)
    for item in [value] if items is None else items:
        if item is not None and not (isinstance(item, str) and not item.strip()):
            yield item


def tree_of(paths: Sequence[Path], name: str) -> tuple[Tree, dict[Path, Path]]:
    """Make the tree that paths of any depth span.

    Args:
        paths: where criteria hang, in the order met.
        name: what the tree is called; the root's name where a path has one layer alone.

    Returns:
        The tree, and for each path its leaf: where others hang below it, a leaf of its own there.
    """
    folded: dict[Path, Path] = {}
    rooted: dict[Path, Path] = {}
    flat = any(len(path) == 1 for path in paths)
    for path in paths:
        full = (name, *path) if flat else path
        spelled: list[str] = []
        for step in full:
            here = (*spelled, step)
            key = tuple(" ".join(part.casefold().split()) for part in here)
            spelled = list(folded.setdefault(key, here))
        rooted[path] = tuple(spelled)
    inner = {path[:n] for path in rooted.values() for n in range(1, len(path))}
    places = {path: (*full, UNTAGGED) if full in inner else full for path, full in rooted.items()}
    below: dict[Path, dict[str, None]] = {}
    for full in places.values():
        for n in range(len(full)):
            below.setdefault(full[:n], {})[full[n]] = None

    def nodes(at: Path) -> tuple[Node, ...]:
        return tuple(Node(one, children=nodes((*at, one))) for one in below.get(at, ()))

    return Tree(name, nodes(())), places
