"""A person's desk: the queue in front of them, their labels, and what a key press does.

Nothing here draws, and nothing here needs the screen: a desk takes acts (label, skip, undo, go)
and says what comes next. Each label is written before the act is over.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from atom.engine.people.annotations import LabelChange, give, take_back
from atom.methods.own_criteria import line_key, lines_of
from atom.records import PICKED, Annotation, AnnotationKind, Checkpoint, RankedAnswer, Response
from atom.ui.people.acts import Act, LabelInput, preferred
from atom.views.failures.sample import SampleView
from atom.views.people.annotations import (
    LEAST_SURE,
    KindAgreement,
    LabelStanding,
    LabelSubject,
    agreement_of,
    load_annotations,
    standing,
)
from atom.views.people.own_criteria import NO, NONE, YES, own_items, written_key
from atom.views.people.page import (
    ERROR_TYPES,
    KINDS,
    WANTED,
    LabelItem,
    LabelProgress,
    QueueName,
    conflict_items,
    error_items,
    items_of,
    leaf_texts,
    numbered,
    pair_items,
    read_sample,
)
from atom.views.people.reports import (
    DECOYS,
    REPORTS,
    RawAnswers,
    profiles,
    raw_answers,
    report_items,
)
from atom.views.people.sample_order import Pick, sample_order, shuffled
from atom.views.stores import OpenStore
from atom.views.study_data import StudyData
from taxonomy import format_path

BEHIND, AHEAD = 2, 20
"""Items before and open ones after the present one that the browser holds, across samples: two
seconds of the quickest presses, so that none waits."""
_NEAR = 6
"""Items after the present one that it holds though they have their label, to look back at."""
_VIEWS = 24
_TOP: Mapping[AnnotationKind, int] = {"score": 5, "accuracy": 3, "necessity": 3}


class Desk:
    """One person at one queue of one study.

    Args:
        store: where the study is; it is written to.
        data: the study, with its own judge's checkpoints.
        queue: what is asked.
        pick: how samples are picked.
        only: scores of this candidate's answers alone; None = all.
    """

    def __init__(
        self,
        store: OpenStore,
        data: StudyData,
        queue: QueueName,
        annotator: str,
        pick: Pick,
        only: str | None = None,
    ) -> None:
        self.store, self.data = store, data
        self.queue, self.annotator, self.pick = queue, annotator, pick
        self.only = only if queue == "scores" and data.model_index(only) is not None else None
        self.items: list[LabelItem] = []
        self.at = 0
        self.acknowledged = 0
        self.own_conflicts = 0
        self.again = False
        self._ids: dict[str, int] = {}
        self._undo: list[tuple[str, LabelChange]] = []
        self._views: OrderedDict[str, SampleView | None] = OrderedDict()
        self._by_subject: dict[LabelSubject, dict[str, Annotation]] = {}
        self._agreements: dict[AnnotationKind, KindAgreement] = {}
        self.stands: dict[LabelSubject, LabelStanding] = {}
        self.leaves = leaf_texts(data)
        self.profiles = {one.candidate_id: one for one in profiles(data)}
        self.refresh()
        by_sample = queue in ("scores", "ranking", "criteria", "own")
        self._samples = sample_order(store, data, pick) if by_sample else ()
        self._next_sample = 0
        if queue == "errors":
            self._extend(error_items(store, data, self.stands))
        elif queue == "reports":
            self._extend(report_items(data, annotator))
        elif queue == "pairs":
            self._extend(pair_items(store, data, annotator))
        elif queue == "conflicts":
            clashes = {key: one for key, one in self.stands.items() if one.state == "conflict"}
            found, self.own_conflicts = conflict_items(store, data, clashes, annotator)
            self._extend(found)
        self.at = self.next_open(0)

    # --- labels -----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the study's labels anew: others may have labelled meanwhile."""
        labels = load_annotations(self.store, self.data.study.id)
        self._by_subject = defaultdict(dict)
        for label in labels:
            self._by_subject[label.kind, label.subject_id][label.annotator] = label
        self.stands = standing(labels)
        self._agreements = {}
        keys = {name for (kind, name) in self._by_subject if kind == "score"}
        points = self.store.get_many(Checkpoint, keys)
        answers = self.store.get_many(Response, {point.response_id for point in points})
        sample_of = {answer.id: answer.sample_id for answer in answers}
        model_of = {answer.id: answer.candidate_id for answer in answers}
        self._sample_of = {
            point.key: sample_of[point.response_id]
            for point in points
            if point.response_id in sample_of
            and (self.only is None or self.only == model_of[point.response_id])
        }
        table = self.data.table
        scored = (table.score > 0) & (table.repeat[table.response] == 0)
        if self.only is not None:
            scored &= table.model[table.response] == self.data.model_index(self.only)
        total = np.bincount(table.sample[table.response[scored]], minlength=len(table.sample_ids))
        self._expected = dict(zip(table.sample_ids, total.tolist(), strict=True))

    def mine(self, item: LabelItem) -> Annotation | None:
        """Return this person's label of an item."""
        return self._by_subject.get((item.kind, item.subject_id), {}).get(self.annotator)

    def others(self, item: LabelItem) -> tuple[Annotation, ...]:
        """Return what others said of an item (shown only where a conflict is settled)."""
        found = self._by_subject.get((item.kind, item.subject_id), {})
        return tuple(
            label
            for name, label in sorted(found.items())
            if name != self.annotator and label.state == "given" and not label.adjudicates
        )

    def _note(self, subject: LabelSubject, label: Annotation | None) -> None:
        labels = self._by_subject.setdefault(subject, {})
        if label is None:
            labels.pop(self.annotator, None)
        else:
            labels[self.annotator] = label
        now = standing(labels.values())
        if now:
            self.stands[subject] = now[subject]
        else:
            self.stands.pop(subject, None)
        self._agreements.pop(subject[0], None)

    def labels(self) -> Iterable[Annotation]:
        """Return all labels of the study."""
        return (label for labels in self._by_subject.values() for label in labels.values())

    def agreement(self, kind: AnnotationKind) -> KindAgreement:
        """Return how far people agree on a kind of label, now."""
        if kind not in self._agreements:
            self._agreements[kind] = agreement_of(self.labels(), kind, self.stands)
        return self._agreements[kind]

    def progress(self) -> LabelProgress:
        """Return how far labelling has come."""
        done: Counter[str] = Counter()
        for (kind, name), one in self.stands.items():
            drawn = one.label is not None and not one.label.note.startswith(PICKED)
            if kind == "score" and drawn and name in self._sample_of:
                done[self._sample_of[name]] += 1
        own = [
            labels[self.annotator]
            for (kind, _), labels in self._by_subject.items()
            if kind in KINDS[self.queue] and self.annotator in labels
        ]
        if self.queue == "conflicts":
            own = [label for label in own if label.adjudicates]
        whole = sum(n >= self._expected.get(name, n + 1) > 0 for name, n in done.items())
        return LabelProgress(
            whole=whole,
            wanted=WANTED,
            mine=sum(label.state == "given" for label in own),
            skipped=sum(label.state == "skipped" for label in own),
            keys=self._keys(WANTED - whole, done),
            there=sum(self._expected.get(name, 0) > 0 for name in self._samples),
        )

    def _keys(self, samples: int, done: Mapping[str, int]) -> int:
        """Count the labels that so many more whole samples take, the next ones in the queue."""
        open_ = [self._expected[one] - done.get(one, 0) for one in self._samples
                 if self._expected.get(one, 0) > done.get(one, 0)]  # fmt: skip
        known = open_[: max(samples, 0)]
        if not known:
            return 0
        mean: float = sum(known) / len(known)
        return round(mean * min(max(samples, 0), len(open_)))

    # --- the queue --------------------------------------------------------------------------------

    def _extend(self, items: Iterable[LabelItem]) -> None:
        for item in items:
            if item.id not in self._ids:
                self._ids[item.id] = len(self.items)
                self.items.append(item)

    def _reach(self, index: int) -> bool:
        """Have items up to this place, as far as there are any."""
        while index >= len(self.items) and self._next_sample < len(self._samples):
            view = self.view(self._samples[self._next_sample])
            self._next_sample += 1
            if view is not None:
                self._extend(self._of_sample(view))
        return index < len(self.items)

    def _of_sample(self, view: SampleView) -> tuple[LabelItem, ...]:
        if self.queue != "own":
            return items_of(view, self.queue, self.annotator, self.only)
        return numbered(own_items(view, self.annotator, self._written(view.sample.id)))

    def _written(self, sample_id: str) -> Annotation | None:
        subject: LabelSubject = ("written", written_key(sample_id, self.annotator))
        return self._by_subject.get(subject, {}).get(self.annotator)

    def own_lines(self, sample_id: str) -> dict[str, str]:
        """Return what this person wrote for a sample: a line's key -> the line."""
        label = self._written(sample_id)
        lines = lines_of(label.label) if label is not None else ()
        return {line_key(sample_id, line): line for line in lines}

    def _matched(self, item: LabelItem) -> bool:
        """Whether a line of this person's asks the same as an item's criterion."""
        keys = self.own_lines(item.sample_id)
        own = (self._by_subject.get(("match", key), {}).get(self.annotator) for key in keys)
        return any(label is not None and label.label == item.criterion_id for label in own)

    def _follow(self, index: int) -> None:
        """Put what follows from what was written behind it: lines to match, criteria to tick."""
        view = self.view(self.items[index].sample_id)
        fresh = [one for one in self._of_sample(view) if one.id not in self._ids] if view else []
        self.items[index + 1 : index + 1] = fresh
        self._ids = {one.id: at for at, one in enumerate(self.items)}

    def view(self, sample_id: str) -> SampleView | None:
        """Return a sample, read once while it is near."""
        if sample_id not in self._views:
            self._views[sample_id] = read_sample(self.store, self.data, sample_id)
            while len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        self._views.move_to_end(sample_id)
        return self._views[sample_id]

    def is_open(self, item: LabelItem) -> bool:
        """Whether an item is still to be answered."""
        label = self.mine(item)
        if item.kind == "match" and item.subject_id not in self.own_lines(item.sample_id):
            return False
        if item.kind == "wanted" and label is None and self._matched(item):
            return False
        if label is None or (self.queue == "conflicts" and not label.adjudicates):
            return True
        return self.again and label.state == "skipped"

    def next_open(self, start: int) -> int:
        """Return the place of the next open item: from `start`, else from the beginning.

        It is beyond the end where nothing is open.
        """
        index = start
        while self._reach(index):
            if self.is_open(self.items[index]):
                return index
            index += 1
        for earlier in range(min(start, len(self.items))):
            if self.is_open(self.items[earlier]):
                return earlier
        return len(self.items)

    @property
    def item(self) -> LabelItem | None:
        """The item in front of the person; None at the end."""
        return self.items[self.at] if self.at < len(self.items) else None

    def window(self) -> tuple[LabelItem, ...]:
        """Return the items that the browser holds: some before, and the next open ones."""
        found = list(range(max(self.at - BEHIND, 0), min(self.at + 1, len(self.items))))
        index, ahead = self.at + 1, 0
        here = self.item
        if here is not None and here.kind == "written" and self.is_open(here):
            # What comes next hangs on what is written.
            return tuple(self.items[at] for at in found)
        while ahead < AHEAD and self._reach(index):
            fresh = self.is_open(self.items[index])
            if fresh or index <= self.at + _NEAR:
                found.append(index)
            ahead += fresh
            if fresh and self.items[index].kind == "written":
                break
            index += 1
        return tuple(self.items[at] for at in found)

    # --- acts -------------------------------------------------------------------------------------

    def take(self, acts: Iterable[Act]) -> None:
        """Do what a person did, in order; what was done already is left out.

        Raises:
            AtomError: a label can't be written; what came before it is.
        """
        for act in acts:
            if act.number <= self.acknowledged:
                continue
            self._do(act)
            self.acknowledged = act.number

    def _do(self, act: Act) -> None:
        if act.do == "undo":
            self._take_back()
            return
        if act.do == "again":
            self.again = True
            self.at = self.next_open(0)
            return
        index = self._find(act.item)
        if index is None:
            return
        item = self.items[index]
        if act.do == "go":
            self.at = index
        elif act.do == "skip" and self.mine(item) is not None:
            self.at = self.next_open(index + 1)
        elif act.do == "skip":
            self._write(item, LabelInput(), skipped=True)
            self.at = self.next_open(index + 1)
        elif act.do == "give":
            said = self._said(item, act)
            if said is not None:
                self._write(item, said)
                self.at = self.next_open(index + 1)

    def _find(self, identity: str) -> int | None:
        while identity not in self._ids and self._reach(len(self.items)):
            pass
        return self._ids.get(identity)

    def _said(self, item: LabelItem, act: Act) -> LabelInput | None:
        """Turn a key press into what it says; None where it says nothing here."""
        number = int(act.key) if act.key.isascii() and act.key.isdigit() else 0
        top = _TOP.get(item.kind)
        if top is not None:
            if not 1 <= number <= top:
                return None
            return LabelInput(value=float(number))
        if item.kind == "written":
            lines = lines_of(act.text)
            return LabelInput(label="\n".join(lines)) if lines else None
        if item.kind == "ranking":
            ranks = self._ranks(item, act.groups)
            return LabelInput(ranks=ranks) if ranks else None
        word = self._word(item, act, number)
        return LabelInput(label=word) if word else None

    def _word(self, item: LabelItem, act: Act, number: int) -> str:
        if item.kind == "mapping":
            if act.leaf is not None:
                return self.leaves[act.leaf] if 0 <= act.leaf < len(self.leaves) else ""
            return self.judged_leaf(item) if number == 1 else ""
        if item.kind == "preference":
            return preferred(item, number)
        if item.kind == "wanted":
            return {1: YES, 2: NO}.get(number, "")
        if item.kind == "match":
            ids = self.match_order(item)
            return ids[number - 1] if 1 <= number <= len(ids) else ""
        names = ERROR_TYPES if item.kind == "error_type" else self.profile_order
        return names[number - 1] if 1 <= number <= len(names) else ""

    def match_order(self, item: LabelItem) -> tuple[str, ...]:
        """Return what the keys 1, 2, 3 ... mean for a line: no criterion, then each of them."""
        view = self.view(item.sample_id)
        criteria = view.criteria if view is not None else ()
        return (NONE, *(one.criterion.id for one in criteria[:8]))

    def judged_leaf(self, item: LabelItem) -> str:
        """Return the leaf that the judge chose for an item's criterion, as text."""
        view = self.view(item.sample_id)
        for one in view.criteria if view is not None else ():
            if one.criterion.id == item.criterion_id and one.leaf:
                return format_path(one.leaf)
        return ""

    @property
    def profile_order(self) -> tuple[str, ...]:
        """Candidates whose answers stand beside a blind report, in this person's order."""
        near = shuffled(self.profiles, self.annotator, "reports")[: REPORTS + DECOYS]
        return shuffled(near, self.annotator, "profiles")

    @cached_property
    def raw_answers(self) -> tuple[RawAnswers, ...]:
        """What those candidates answered to the same questions, drawn for this person."""
        return raw_answers(self.store, self.data, self.profile_order, self.annotator)

    @staticmethod
    def _ranks(item: LabelItem, groups: tuple[tuple[int, ...], ...]) -> tuple[RankedAnswer, ...]:
        """Give competition ranks 1, 2, 2, 4 to answers; those not named share the last place."""
        total = len(item.response_ids)
        seen: list[int] = []
        ranks: list[RankedAnswer] = []
        named = {at for group in groups for at in group}
        rest = tuple(at for at in range(total) if at not in named)
        for group in (*groups, rest):
            fresh = [at for at in dict.fromkeys(group) if 0 <= at < total and at not in seen]
            place = len(seen) + 1
            ranks += [RankedAnswer(response_id=item.response_ids[at], rank=place) for at in fresh]
            seen += fresh
        return tuple(ranks) if groups else ()

    def _write(self, item: LabelItem, said: LabelInput, *, skipped: bool = False) -> None:
        shown = item.response_ids
        if item.kind == "report":
            shown = self.profile_order
        elif item.kind == "score":
            view = self.view(item.sample_id)
            ids = [answer.response.id for answer in view.answers] if view is not None else []
            known = {one.response_ids[0] for one in self.items if one.sample_id == item.sample_id}
            order = shuffled(ids, self.annotator, item.sample_id)
            shown = tuple(name for name in order if name in known)
        by_need = self.pick == "unsure" and self.queue in ("scores", "ranking", "criteria")
        change = give(
            self.store,
            self.data.study.id,
            item.kind,
            item.subject_id,
            self.annotator,
            value=said.value,
            label=said.label,
            ranks=said.ranks,
            shown=shown,
            skipped=skipped,
            adjudicates=self.queue == "conflicts",
            note=LEAST_SURE if by_need else "",
        )
        if item.kind == "score":
            self._sample_of[item.subject_id] = item.sample_id
        self._undo.append((item.id, change))
        self._note((item.kind, item.subject_id), change.now)
        if item.kind == "written":
            self._follow(self._ids[item.id])

    def _take_back(self) -> None:
        """Undo the last label of this desk; after a reopened tab, this person's newest one here."""
        if self._undo:
            identity, change = self._undo.pop()
        else:
            own = [
                (label.created, item.id, LabelChange(now=label, before=None))
                for item in self.items
                if (label := self.mine(item)) is not None
                and label.adjudicates == (self.queue == "conflicts")
            ]
            if not own:
                return
            _, identity, change = max(own, key=lambda one: (one[0], self._ids[one[1]]))
        take_back(self.store, change)
        self._note((change.now.kind, change.now.subject_id), change.before)
        index = self._find(identity)
        if index is not None:
            self.at = index
