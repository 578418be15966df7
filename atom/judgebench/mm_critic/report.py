"""MM-CRITIC's figures, from one judge's verdicts and the scores that its texts were given.

"Readable only" is the paper's way: averages are over what could be parsed. "Strict" counts a claim
or preference that can't be read as wrong, and a critique or correction that can't be read as 0; a
score that the *scorer* failed to give is left out of both, as it is no fault of the judge.

Reference: MM-CRITIC 4-5, Tables 2-4 and 11-19, Figures 3 and 4; METHODS A17, B12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from atom.analysis.intervals import Z95, Floats
from atom.judgebench.base import BenchResult, MetricRow, MetricTable, rate_rows
from atom.judgebench.mm_critic.ask import PARAPHRASE_PART, REFERENCE_PART
from atom.judgebench.mm_critic.data import (
    SUBSETS,
    TASK_TYPES,
    quality_band,
)
from atom.judgebench.mm_critic.measures import (
    ANCHOR,
    BANDS,
    AnchorAudit,
    BandScheme,
    CritiqueScore,
    anchor_audit,
    annotator_judge_swap,
    critique_score,
    length_within_items,
)
from atom.judgebench.mm_critic.rows import (
    Text,
    claim_rows,
    codes_of,
    few,
    item_codes,
    preference_rows,
    score_row,
    score_rows,
    scores_of,
    texts_of,
)
from atom.judgebench.rates import INVALID, RIGHT, WRONG, rate
from atom.records import BenchItem, Verdict, content_id

_BLIND_PARTS: Mapping[str, str] = {
    REFERENCE_PART: "the reference itself",
    PARAPHRASE_PART: "the reference in other words",
}
_SCORE_NOTE = "A scorer gave each text 0 to 10 beside a reference that is fixed at 8."


def measure(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> BenchResult:
    """Return how a judge did.

    Args:
        items: the set's items, in order.
        verdicts: the judge's, with the scores of what it wrote.
    """
    known = {item.id: item for item in items}
    came = [one for one in verdicts if one.state != "failed" and one.subject_id in known]
    mine = [one for one in came if not one.part.startswith("scorer/")]
    given = [one for one in came if one.part.startswith("scorer/")]
    by_part = _parted(mine)
    critiques = texts_of(known, by_part.get("critique", []), given, "/critique")
    corrections = texts_of(known, by_part.get("correction", []), given, "/correction")
    claims = [
        one
        for one in by_part.get("critique", [])
        if known[one.subject_id].data.get("correct") is not None
    ]
    picks = by_part.get("compare", [])
    names = _scorer_names(given, [*items])
    headline = [
        *claim_rows(known, claims),
        *score_rows(critiques, "critique_score", "Critique score (reference = 8)", names),
        *_anchored_rows(given, critiques, names),
        *score_rows(
            corrections, "correction_critique_score", "Correction score (reference = 8)", names
        ),
        *preference_rows(known, picks, "analysis"),
    ]
    tables = [
        _anchor_table(given, critiques, names),
        _share_table(critiques, names),
        _subset_table(known, claims, critiques, names),
        *_type_tables(known, claims, critiques, corrections, names),
        *(_band_table(known, scheme, by_part.get("critique", []), critiques, names, picks)
          for scheme in BANDS),
        _length_table(critiques, names),
        _swap_table(given, names),
        _order_table(picks),
    ]  # fmt: skip
    done = {one.subject_id for one in mine}
    return BenchResult(
        headline=tuple(headline),
        tables=tuple(table for table in tables if table is not None and table.rows),
        items=len(items),
        verdicts=len(came),
        missing=len(known.keys() - done),
    )


def _parted(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for one in verdicts:
        found.setdefault(one.part, []).append(one)
    return found


def _scorer_names(given: Sequence[Verdict], items: Sequence[BenchItem]) -> dict[str, str]:
    """Name the scorers: by the model that answered, else as an annotator is named, else by id."""
    names = {one.judge: str(one.data.get("model") or "") for one in given if one.data.get("model")}
    writers = {
        reference["annotator"] for item in items for reference in item.data.get("references", [])
    }
    for writer in writers:
        names.setdefault(content_id("judge", writer), writer)
    return {one.judge: names.get(one.judge, one.judge) for one in given}


# --- tables ---------------------------------------------------------------------------------------


def _anchor_table(
    given: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
) -> MetricTable | None:
    """Lay the anchor audit out, and what the critique score is without the offset."""
    rows: list[MetricRow] = []
    audited = {one.judge for one in given if one.part in _BLIND_PARTS}
    for scorer in sorted(audited & critiques.keys() if critiques else audited):
        group = f"scorer {names[scorer]}"
        audit = _audit(given, scorer)
        for part, words in _BLIND_PARTS.items():
            seen = audit.reference if part == REFERENCE_PART else audit.paraphrase
            if not seen.n and not seen.invalid:
                continue
            name = part.rsplit("/", 1)[-1]
            blind = score_row(f"anchor_{name}", f"Blind score of {words}", seen, group,
                               seen.invalid, "readable only" if seen.invalid else "")  # fmt: skip
            rows += [
                blind,
                replace(blind, metric=f"anchor_offset_{name}", label=f"Offset: {words} less 8",
                        value=seen.mean - ANCHOR, lo=blind.lo - ANCHOR, hi=blind.hi - ANCHOR,
                        unit="difference"),
                *_less_offset(critiques.get(scorer, []), seen, f"critique_score_less_{name}",
                              f"Critique score less the offset of {words}", group),
            ]  # fmt: skip
    return MetricTable(
        title="Anchor audit: does the scorer give the reference the 8 that it is fixed at?",
        rows=tuple(rows),
        note="The scorer isn't told what it scores. A text equal to the reference is easily "
        "recognised, so the paraphrase is the harder test; a paraphrase that the scorer wrote "
        "itself may please it.",
    )


def _less_offset(
    texts: Sequence[Text], blind: CritiqueScore, metric: str, label: str, group: str
) -> list[MetricRow]:
    """Take a scorer's offset off its critique score; both errors are in the interval."""
    readable = [one for one in texts if one.readable]
    raw = critique_score(scores_of(readable), codes_of(readable))
    if not raw.n or not blind.n:
        return []
    # The offset of `AnchorAudit`: blind mean less 8.
    value = raw.mean - (blind.mean - ANCHOR)
    half = math.hypot(raw.hi - raw.mean, blind.hi - blind.mean)
    row = score_row(metric, label, raw, group, raw.invalid, "readable only" if raw.invalid else "")
    return [replace(row, value=value, lo=value - half, hi=value + half)]


def _anchored_rows(
    given: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
) -> list[MetricRow]:
    """Lay out the critique score less the offset: the paraphrase's, else the reference's."""
    rows: list[MetricRow] = []
    for scorer, texts in critiques.items():
        seen = [
            critique_score(_blind(given, scorer, part))
            for part in (PARAPHRASE_PART, REFERENCE_PART)
        ]
        blind = next((one for one in seen if one.n), seen[-1])
        group = f"scorer {names[scorer]}" if len(critiques) > 1 else ""
        rows += _less_offset(texts, blind, "critique_score_anchored",
                             "Critique score less the scorer's offset", group)  # fmt: skip
    return rows


def _audit(given: Sequence[Verdict], scorer: str) -> AnchorAudit:
    return anchor_audit(
        _blind(given, scorer, REFERENCE_PART), _blind(given, scorer, PARAPHRASE_PART)
    )


def _blind(given: Sequence[Verdict], scorer: str, part: str) -> Floats:
    some = [one for one in given if one.judge == scorer and one.part == part]
    return np.array(
        [math.nan if one.state != "scored" or one.value is None else one.value for one in some],
        dtype=np.float64,
    )


def _share_table(
    critiques: Mapping[str, Sequence[Text]], names: Mapping[str, str]
) -> MetricTable | None:
    rows: list[MetricRow] = []
    for scorer, texts in critiques.items():
        # Shares are of items, so that several critiques of one don't pass for several items: the
        # first readable one of each stands for it.
        first = {one.code: one for one in reversed(texts) if not math.isnan(one.score)}
        score = np.array([one.score for one in first.values()], dtype=np.float64)
        invalid = sum(1 for one in texts if math.isnan(one.score))
        group = f"scorer {names[scorer]}" if len(critiques) > 1 else ""
        for metric, label, codes in (
            ("share_above_reference", "Above 8: better than the reference", score > ANCHOR),
            ("share_at_reference", "At 8: as good as the reference", score == ANCHOR),
            ("share_below_reference", "Below 8: worse than the reference", score < ANCHOR),
        ):
            found = rate(codes.astype(np.int64))
            row = rate_rows(metric, label, found, group=group)[0]
            rule = "readable only" if invalid else ""
            rows.append(replace(row, invalid=invalid, rule=rule))
    return MetricTable(title="Critiques beside the reference", rows=tuple(rows), note=_SCORE_NOTE)


def _subset_table(
    known: Mapping[str, BenchItem],
    claims: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
) -> MetricTable | None:
    named = _in_order({str(item.data["subset"]) for item in known.values()} - {""}, [*SUBSETS])
    if not named:
        return None
    rows: list[MetricRow] = []
    for subset in named:
        rows += _pair_of_rows(
            known, claims, critiques, names, SUBSETS.get(subset, subset), _within(subset=subset)
        )
    return MetricTable(
        title="By sub-dataset",
        rows=tuple(rows),
        note="Averages over all of them (above) weigh each readable item the same.",
    )


def _in_order(found: Iterable[str], order: Sequence[str]) -> list[str]:
    place = {name: at for at, name in enumerate(order)}
    return sorted(found, key=lambda name: (place.get(name, len(place)), name))


def _pair_of_rows(
    known: Mapping[str, BenchItem],
    claims: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
    group: str,
    keep: Callable[[BenchItem], bool],
) -> list[MetricRow]:
    some = [one for one in claims if keep(known[one.subject_id])]
    rows = list(claim_rows(known, some, group))
    rows += score_rows(critiques, "critique_score", "Critique score", names, group=group, keep=keep)
    return [replace(row, note=row.note or few(row.n)) for row in rows]


def _type_tables(
    known: Mapping[str, BenchItem],
    claims: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    corrections: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
) -> list[MetricTable]:
    """Lay task types out: all data, each sub-dataset where there are several, corrections."""
    subsets = _in_order({str(item.data["subset"]) for item in known.values()} - {""}, [*SUBSETS])
    types = _in_order({str(item.data["task_type"]) for item in known.values()}, TASK_TYPES)
    tables = []
    for subset in ["", *(subsets if len(subsets) > 1 else [])]:
        rows: list[MetricRow] = []
        for kind in types:
            rows += _pair_of_rows(
                known,
                claims,
                critiques,
                names,
                _words(kind),
                _within(task_type=kind, subset=subset),
            )
        place = f"{SUBSETS.get(subset, subset)}: by" if subset else "By"
        tables.append(MetricTable(title=f"{place} task type", rows=tuple(rows)))
    rows = []
    for kind in types:
        rows += score_rows(corrections, "correction_critique_score", "Correction score", names,
                            group=_words(kind), keep=_within(task_type=kind))  # fmt: skip
    rows = [replace(row, note=few(row.n)) for row in rows]
    tables.append(MetricTable(title="Corrections by task type", rows=tuple(rows)))
    return tables


def _within(**wanted: str) -> Callable[[BenchItem], bool]:
    """Tell items by their fields; an empty word leaves a field open."""
    return lambda item: all(not word or item.data[name] == word for name, word in wanted.items())


def _in_band(name: str, scheme: BandScheme) -> Callable[[BenchItem], bool]:
    return lambda item: quality_band(item.data["quality"], scheme) == name


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _band_table(
    known: Mapping[str, BenchItem],
    scheme: BandScheme,
    written: Sequence[Verdict],
    critiques: Mapping[str, Sequence[Text]],
    names: Mapping[str, str],
    picks: Sequence[Verdict],
) -> MetricTable:
    """Lay out what depends on how response quality is cut into bands."""
    rows: list[MetricRow] = []
    spans = ", ".join(
        f"{name} {lo} to {hi}" if lo < hi else f"{name} {lo}" for name, lo, hi in BANDS[scheme]
    )
    for name, _, _ in BANDS[scheme]:
        rows += score_rows(
            critiques, "critique_score", "Critique score of responses", names, group=name,
            keep=_in_band(name, scheme),
        )  # fmt: skip
    rows += _rating_rows(known, written, scheme)
    if scheme != "analysis":
        rows += preference_rows(known, picks, scheme)
    return MetricTable(
        title=f"By quality of the response, {scheme} bands ({spans})",
        rows=tuple(replace(row, note=row.note or few(row.n)) for row in rows),
        note="The paper's analysis and its annotators' prompt cut quality differently: 4 and 10 "
        "change sides.",
    )


def _rating_rows(
    known: Mapping[str, BenchItem], written: Sequence[Verdict], scheme: BandScheme
) -> list[MetricRow]:
    """Compare the judge's own rating of a response with its annotated quality."""
    some = [one for one in written if isinstance(known[one.subject_id].data.get("quality"), int)]
    votes: dict[str, list[int]] = {}
    pairs = []
    widths = {name: (hi - lo + 1) / 11 for name, lo, hi in BANDS[scheme]}
    chance: dict[str, float] = {}
    for one in some:
        quality = known[one.subject_id].data["quality"]
        truth = quality_band(quality, scheme)
        chance[one.subject_id] = widths[truth]
        code = INVALID
        if one.state == "scored" and one.value is not None:
            code = RIGHT if quality_band(int(one.value), scheme) == truth else WRONG
            pairs.append((float(quality), one.value))
        votes.setdefault(one.subject_id, []).append(code)
    if not votes:
        return []
    level = sum(chance.values()) / len(chance)
    rows = list(
        rate_rows("rating_band_accuracy", "The judge's own rating falls in the annotated band",
                  rate(item_codes(votes), level), note="chance: a number drawn from 0 to 10")
    )  # fmt: skip
    if scheme == "analysis":
        rows.append(_correlation_row(pairs, len(some)))
    return rows


def _correlation_row(pairs: Sequence[tuple[float, float]], asked: int) -> MetricRow:
    """Correlate ratings with quality; the interval is Fisher's, with Bonett and Wright's error."""
    x, y = (np.array([pair[at] for pair in pairs], dtype=np.float64) for at in (0, 1))
    n, value, lo, hi = len(pairs), math.nan, math.nan, math.nan
    if n > 2 and len(set(x)) > 1 and len(set(y)) > 1:
        value = float(spearmanr(x, y).statistic)
        if n > 3 and abs(value) < 1:
            half = Z95 * math.sqrt((1 + value**2 / 2) / (n - 3))
            lo, hi = (math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    return MetricRow(
        metric="rating_spearman",
        label="Rank correlation of the judge's own rating with the annotated quality",
        value=value,
        lo=lo,
        hi=hi,
        chance=0.0,
        n=n,
        invalid=asked - n,
        rule="readable only" if asked > n else "",
        unit="correlation",
    )


def _length_table(
    critiques: Mapping[str, Sequence[Text]], names: Mapping[str, str]
) -> MetricTable | None:
    rows: list[MetricRow] = []
    for scorer, texts in critiques.items():
        some = [one for one in texts if one.readable]
        group = f"scorer {names[scorer]}" if len(critiques) > 1 else ""
        length = np.array([one.length for one in some], dtype=np.int64)
        found = length_within_items(codes_of(some), length, scores_of(some))
        rows.append(
            MetricRow(metric="length_slope",
                      label="Points for 1,000 more characters, same item", value=found.slope,
                      lo=found.lo, hi=found.hi, chance=0.0, n=found.items, unit="difference",
                      group=group, note="" if found.items else "needs several critiques an item")
        )  # fmt: skip
        if len(some):
            rows.append(
                MetricRow(metric="critique_length", label="Characters of a critique, on average",
                          value=float(length.mean()), n=len(some), unit="count", group=group)
            )  # fmt: skip
    return MetricTable(
        title="Length of critiques",
        rows=tuple(rows),
        note="Compared within items only: longer critiques come from other models and harder "
        "items, so a slope across them says nothing. Put each question twice or more (votes).",
    )


def _swap_table(given: Sequence[Verdict], names: Mapping[str, str]) -> MetricTable | None:
    """Cross who wrote the reference with who scored, where either varies."""
    some = [
        one
        for one in given
        if "of" in one.data and "/critique" in one.part and one.data.get("annotator")
    ]
    annotators = [str(one.data["annotator"]) for one in some]
    scorers = [names[one.judge] for one in some]
    if len(set(annotators)) < 2 and len(set(scorers)) < 2:
        return None
    score = np.array(
        [math.nan if one.value is None else one.value for one in some], dtype=np.float64
    )
    found = annotator_judge_swap(annotators, scorers, score)
    rows = []
    for a, annotator in enumerate(found.annotators):
        for j, scorer in enumerate(found.judges):
            cell = np.array([a == who and j == by for who, by in
                             zip((found.annotators.index(x) for x in annotators),
                                 (found.judges.index(x) for x in scorers), strict=True)],
                            dtype=bool)  # fmt: skip
            if cell.any():
                codes = np.unique([one.subject_id for one in some], return_inverse=True)[1]
                seen = critique_score(score[cell], codes[cell].astype(np.int64))
                rule = "readable only" if seen.invalid else ""
                group = f"reference by {annotator}, scored by {scorer}"
                rows.append(
                    score_row("critique_score", "Critique score", seen, group, seen.invalid, rule)
                )
    if not math.isnan(found.own):
        rows.append(
            MetricRow(metric="swap_own", label="Reference and score by one model, less the others",
                      value=found.own, n=int(found.n.sum()), unit="difference")
        )  # fmt: skip
    return MetricTable(
        title="Who wrote the reference, and who scored",
        rows=tuple(rows),
        note="Cells may hold different items; compare them where each holds all.",
    )


def _order_table(picks: Sequence[Verdict]) -> MetricTable | None:
    """Say how often the response that was shown first is preferred."""
    shown = [
        INVALID if one.state != "scored" else int(one.label == one.order[0])
        for one in picks
        if one.order in ("ab", "ba")
    ]
    if not shown:
        return None
    found = rate(np.array(shown, dtype=np.int64), 0.5)
    readable = [row for row in rate_rows("prefers_first", "Prefers the response shown first", found)
                if row.rule != "strict"]  # fmt: skip
    return MetricTable(
        title="Position",
        rows=tuple(replace(row, note=few(row.n)) for row in readable),
        note="The better response is shown first in half of the items of each pairing.",
    )
