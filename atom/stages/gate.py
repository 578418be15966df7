"""The reply gate: what a judge's reply must satisfy before it becomes a record.

Nothing here guesses. What can be put right without doubt is put right and noted in words; what
can't becomes unscored, with its reason.

Reference: ATOM 3.1 (criteria and weights), 3.3 (scores 1 to 5).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from atom.judge.replies.values import says_nothing, stated_number
from atom.records import Region
from atom.stages.boxes import AS_ASKED, BoxSpace, read_regions
from atom.stages.reading import number_of, one_line, text_of
from atom.stages.schemas import MAX_CRITERIA, MIN_CRITERIA

TOTAL_WEIGHT = 10
MAX_FIELD = 2000
"""Characters of a criterion's question or ground truth."""
SHORT_ID = 8
"""So many signs of a full id name a criterion, too: prompts before criteria/2 showed so many."""

_PLACE = re.compile(r"(?:c|criterion|checkpoint|no\.?)?\s*([1-9][0-9]?)")
_NOT_A_WORD = re.compile(r"[\W_]+")


# --- weights -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Integer weights that total 10, or why there are none.

    Args:
        weights: one for each criterion, in order; empty when `problem` is set.
        stated: what the judge said, where the weights had to be changed; empty otherwise.
        notes: what was changed, in words.
        problem: why the stated weights can't be used.
    """

    weights: tuple[int, ...] = ()
    stated: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_weights(values: Sequence[object]) -> Weights:
    """Bring stated weights to a total of 10.

    Args:
        values: what the judge said: whole or broken numbers, or such numbers as text; also per
            cent, if all are.

    Returns:
        The weights. A weight that is zero, negative or not finite counts as the least, 1. A
        weight that is missing or no number at all makes the set unusable, as do weights none of
        which is above zero, and per cent beside plain numbers.
    """
    stated: list[float | None] = []
    notes: list[str] = []
    read = [stated_number(value) for value in values]
    if len({one.unit for one in read if one is not None}) > 1:
        return Weights(problem="some weights are in per cent and others aren't")
    for place, (value, one) in enumerate(zip(values, read, strict=True), start=1):
        if one is None or one.of not in (None, TOTAL_WEIGHT, 100):
            return Weights(problem=f"criterion {place} has no readable weight: {value!r:.60}")
        number = one.number
        usable = math.isfinite(number) and number > 0
        if not usable:
            notes.append(f"criterion {place}: the stated weight {number:g} counts as the least, 1")
        stated.append(number if math.isfinite(number) else None)
    shares = [number if number is not None and number > 0 else 0.0 for number in stated]
    if not any(shares):
        return Weights(problem="no criterion has a weight above zero")
    weights = largest_remainder(shares)
    if list(weights) == stated:
        return Weights(weights=weights)
    written = ", ".join("?" if number is None else f"{number:g}" for number in stated)
    notes.append(
        f"the stated weights ({written}; total {math.fsum(shares):g}) were brought to "
        f"({', '.join(map(str, weights))}; total {TOTAL_WEIGHT}) by largest remainder"
    )
    return Weights(weights=weights, stated=tuple(stated), notes=tuple(notes))


def largest_remainder(shares: Sequence[float], total: int = TOTAL_WEIGHT) -> tuple[int, ...]:
    """Share out a whole number in proportion, at least 1 to each.

    Args:
        shares: finite and not negative, at least one above zero; at most `total` of them.
        total: what the result adds up to.

    Returns:
        With quota q_i = total * share_i / sum(shares): whoever has q_i < 1 gets 1 and leaves, and
        the quotas of the others are taken anew over what remains, until none is below 1. Then
        each gets floor(q_i), and the seats left over go to the largest remainders q_i - floor(q_i);
        equal remainders by the earlier place. A larger share never gets less than a smaller one.

    Raises:
        ValueError: no share is above zero, or there are more shares than seats.
    """
    exact = [Fraction(share) for share in shares]
    if not any(exact) or min(exact) < 0 or len(exact) > total:
        raise ValueError(f"can't share {total} out over {list(shares)!r}")
    result = [1] * len(exact)
    free = list(range(len(exact)))
    seats = total
    while True:
        whole = sum(exact[i] for i in free)
        quotas = {i: seats * exact[i] / whole for i in free}
        small = [i for i in free if quotas[i] < 1]
        if not small:
            break
        seats -= len(small)
        free = [i for i in free if i not in small]
    for i in free:
        result[i] = math.floor(quotas[i])
    left = total - sum(result)
    for i in sorted(free, key=lambda i: (result[i] - quotas[i], i))[:left]:
        result[i] += 1
    return tuple(result)


# --- criteria ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class CriterionDraft:
    """One criterion that passed the gate."""

    question: str
    ground_truth: str
    weight: int
    stated_weight: float | None
    step: int | None
    regions: tuple[Region, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CriteriaReading:
    """The criteria of a reply, or why they can't be used.

    Args:
        drafts: the criteria in order; empty when `problem` is set.
        notes: what was changed, in words.
        problem: why there are none.
    """

    drafts: tuple[CriterionDraft, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_criteria(
    items: object, *, n_steps: int, n_pictures: int, space: BoxSpace = AS_ASKED
) -> CriteriaReading:
    """Check a list of criteria.

    Args:
        items: the reply's list of objects with question, ground_truth, weight, step and regions.
        n_steps: steps of the replay.
        n_pictures: pictures of the sample.
        space: how the judge's boxes lie on them.

    Returns:
        2 to 8 criteria with weights that total 10, in the order of the replay's steps where each
        names one, else as the judge listed them; or the problem.
    """
    if not isinstance(items, list | tuple):
        return CriteriaReading(problem="the criteria aren't a list")
    if not MIN_CRITERIA <= len(items) <= MAX_CRITERIA:
        return CriteriaReading(
            problem=f"{len(items)} criteria; {MIN_CRITERIA} to {MAX_CRITERIA} can be used"
        )
    objects = [item for item in items if isinstance(item, Mapping)]
    if len(objects) != len(items):
        return CriteriaReading(problem="a criterion isn't an object")
    problem = _text_problem(objects)
    if problem:
        return CriteriaReading(problem=problem)
    weights = read_weights([item.get("weight") for item in objects])
    if weights.problem:
        return CriteriaReading(problem=weights.problem)
    notes = list(weights.notes)
    drafts = []
    for index, item in enumerate(objects):
        where = f"criterion {index + 1}"
        regions = read_regions(item.get("regions"), n_pictures, where=where, space=space)
        step, step_note = _read_step(item.get("step"), n_steps, where)
        notes += [*regions.notes, *step_note]
        drafts.append(
            CriterionDraft(
                question=text_of(item.get("question")),
                ground_truth=text_of(item.get("ground_truth")),
                weight=weights.weights[index],
                stated_weight=weights.stated[index] if weights.stated else None,
                step=step,
                regions=regions.regions,
            )
        )
    return CriteriaReading(drafts=_in_order(drafts), notes=tuple(notes))


def _in_order(drafts: Sequence[CriterionDraft]) -> tuple[CriterionDraft, ...]:
    if any(draft.step is None for draft in drafts):
        return tuple(drafts)
    return tuple(sorted(drafts, key=lambda draft: draft.step or 0))


def _text_problem(items: Sequence[Mapping[str, object]]) -> str:
    seen: dict[str, int] = {}
    for place, item in enumerate(items, start=1):
        for name in ("question", "ground_truth"):
            text = text_of(item.get(name))
            if not text:
                return f"criterion {place} has no {name.replace('_', ' ')}"
            if len(text) > MAX_FIELD:
                return (
                    f"criterion {place}: its {name.replace('_', ' ')} is over {MAX_FIELD} letters"
                )
        key = normal_question(text_of(item.get("question")))
        if key in seen:
            return f"criteria {seen[key]} and {place} ask the same question"
        seen[key] = place
    return ""


def normal_question(text: str) -> str:
    """Fold a question so that two spellings of it are equal: case, marks and spaces don't count.

    Marks that tell one thing from another (`<`, `+`, `%`) don't stand for words in a question, but
    a text of marks alone is kept as it is.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_A_WORD.sub(" ", folded).strip() or folded.strip()


def _read_step(value: object, n_steps: int, where: str) -> tuple[int | None, tuple[str, ...]]:
    if value is None:
        return None, ()
    number = number_of(value)
    if number is None or number != number // 1 or not 1 <= number <= n_steps:
        return None, (f"{where}: the replay has no step {value!r:.30}; left open",)
    return int(number), ()


# --- ids -----------------------------------------------------------------------------------------


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Name criteria by their place, c1, c2, ...: a name that no model gets wrong when it copies it.

    Args:
        ids: full ids, distinct.

    Returns:
        Full id to short id, in the order given.
    """
    return {id_: f"c{place}" for place, id_ in enumerate(ids, start=1)}


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyedEntries:
    """A reply's entries by criterion.

    Args:
        entries: full id to all entries that name it, in the reply's order; none may be there.
        unknown: ids that belong to no criterion, as the judge wrote them.
    """

    entries: Mapping[str, tuple[Mapping[str, object], ...]]
    unknown: tuple[str, ...] = ()


def keyed_entries(items: object, ids: Sequence[str]) -> KeyedEntries:
    """Sort a reply's entries by the criterion that they name.

    Args:
        items: the reply's list of objects with an `id`.
        ids: full ids of the criteria that were asked about.

    Returns:
        The entries. An id counts if it's the short one, "2", "C2" and "checkpoint 2" for c2
        included, the full one, or enough of the full one's beginning.
    """
    found: dict[str, list[Mapping[str, object]]] = {id_: [] for id_ in ids}
    unknown: list[str] = []
    rows = items if isinstance(items, list | tuple) else ()
    # Whoever counts from 0 means another criterion by 1 than we do.
    zero = any(isinstance(row, Mapping) and text_of(row.get("id")) in ("0", "c0") for row in rows)
    for item in rows:
        if not isinstance(item, Mapping):
            unknown.append(f"{item!r:.40}")
            continue
        meant = _meant(text_of(item.get("id")), ids, by_place=not zero)
        if meant is not None:
            found[meant].append(item)
        else:
            unknown.append(one_line(text_of(item.get("id")), 40) or "(none)")
    return KeyedEntries(
        entries={id_: tuple(entries) for id_, entries in found.items()}, unknown=tuple(unknown)
    )


def _meant(stated: str, ids: Sequence[str], *, by_place: bool) -> str | None:
    """Return the id that a reply means, or None."""
    written = stated.strip("#\"'`()[]<> ").casefold()
    place = _PLACE.fullmatch(written)
    if by_place and place is not None and int(place.group(1)) <= len(ids):
        return ids[int(place.group(1)) - 1]
    meant = [
        id_
        for id_ in ids
        if written == id_.casefold()
        or (len(written) >= SHORT_ID and id_.casefold().startswith(written))
    ]
    return meant[0] if len(meant) == 1 else None


# --- scores --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedScore:
    """A score of 1 to 5, or why there is none.

    Args:
        score: None when the judge declined or the value can't be read.
        declined: the judge said null.
        problem: what is wrong with the value; empty when there's a score or the judge declined.
    """

    score: int | None = None
    declined: bool = False
    problem: str = ""


def read_score(value: object) -> ParsedScore:
    """Read a score: 4, 4.0, "4/5", "[4]", "score: 4", "4 - Good"; not 4.5, 0, "4-5" or "good"."""
    if says_nothing(value):
        return ParsedScore(declined=True)
    stated = stated_number(value)
    whole = stated is not None and stated.of in (None, 5) and not stated.unit
    if stated is not None and whole and stated.number in (1, 2, 3, 4, 5):
        return ParsedScore(score=int(stated.number))
    return ParsedScore(problem=f"the score {value!r:.40} isn't a whole number from 1 to 5")
