"""The scales of one import's marks: declared, or guessed where they are obvious, and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from atom.display import numbers
from atom.errors import FormatError
from atom.formats.intake.collector import Collector
from atom.formats.judgments.columns import UNSAID, CriterionMap, ScaleMap
from atom.formats.judgments.getters import Getters
from atom.formats.judgments.plan import FilePlan
from atom.formats.judgments.scales import MarkReading, Scale, fold, guess_scale, refuse_scale
from atom.records import MarkScale

_MOST_UNREAD = 0.01


class GivenScales:
    """Which scale each criterion's marks are on, file by file.

    Args:
        collector: where scales and what is told of them go.
    """

    def __init__(self, collector: Collector) -> None:
        self._out = collector
        self.records: dict[str, MarkScale] = {}
        """All scales of the import so far, by id."""
        self._reads: Counter[tuple[str, str]] = Counter()

    def begin(self, plan: FilePlan, get: Getters) -> None:
        """Turn to the next file."""
        self._plan = plan
        self._columns = plan.columns
        self._get = get
        self._guessed: ScaleMap | None = None
        self._here: dict[str, Scale] = {}
        self._made: dict[tuple[int, str, int | None], Scale] = {}

    def of(self, key: str) -> Scale:
        """Return the scale of a criterion's marks in the file at hand."""
        scale = self._here.get(key)
        if scale is None:
            own = self._columns.criteria.get(key, UNSAID)
            scale = self._here[key] = self._declared(key, own)
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
        # Criteria of one scale share it, and with it the marks that were read before. What the map
        # declares stays while its file is read, so that its identity names it.
        identity = (id(declared), name, own.parts)
        made = self._made.get(identity)
        if made is None:
            made = self._made[identity] = Scale(declared, name, own.parts)
        if made.record.id not in self.records:
            self.records[made.record.id] = made.record
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

    def count(self, read: MarkReading, scale: str, place: str) -> None:
        """Count a mark by its state, and say why one stays unscored."""
        self._reads[scale, read.state] += 1
        if read.state == "unscored":
            self._out.tally(f"a mark stays unscored: {read.detail}", place)
            if not read.detail.startswith("marked as unreadable"):
                self._reads[scale, "unread"] += 1

    def tell(self) -> None:
        """Say how marks were read on each scale, and ask where too many are none of it."""
        for name, record in self.records.items():
            self._tell_one(name, record)

    def _tell_one(self, name: str, record: MarkScale) -> None:
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
                f"{unread:,} of {total:,} marks ({numbers.share(unread / total, 1)}) are no marks "
                f"of the scale ({shown}) and would stay unscored: declare the scale as it is, name "
                "what is `na` or `unreadable`, or accept it"
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
