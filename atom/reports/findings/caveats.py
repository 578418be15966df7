"""What a reader must know before believing a number: always told, never chosen away."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.display import numbers
from atom.reports.findings.looking import OVERVIEW, StudyLook, make
from atom.reports.printed import FINE, estimate_number, listed, plain, share_number, with_interval
from atom.reports.records import Finding, Number
from atom.views.filters import Filters, label_words
from atom.views.lab.preference_summary import PreferenceSummary, VotingJudge, preference_summary
from atom.views.overview.sums import marks_aside, selection_words
from atom.views.people.scale import people_shift, scale_status
from atom.views.people.score_labels import load_labels

FEW_SAMPLES = 100
"""Below this a study's intervals are too wide for fine distinctions."""


def caveats(look: StudyLook) -> Iterator[Finding]:
    """List what limits this study's numbers, the weightiest first."""
    yield from _origin(look)
    yield from _judge(look)
    yield from _votes(look)
    yield from _left_out(look)
    yield from _missing(look)
    yield from _method(look)


def _caveat(look: StudyLook, name: str, *numbers: Number, **fields: object) -> Finding:
    facts, key = fields.pop("facts", {}), fields.pop("key", "")
    assert isinstance(facts, dict)
    return make(
        id=f"caveat:{name}:{key}" if key else f"caveat:{name}",
        kind="caveat",
        part="care",
        frame="counts",
        numbers=numbers,
        facts={"caveat": name, **facts},
        salience=50.0,
        **fields,
    )


def _origin(look: StudyLook) -> Iterator[Finding]:
    if look.data.study.synthetic:
        yield _caveat(look, "synthetic")
    if chosen := chosen_words(look.base):
        compares = "" if look.view.selected else "yes"
        yield _caveat(look, "selection", facts={"selection": chosen, "compares": compares})


def chosen_words(filters: Filters) -> str:
    """Say which part of a study is counted; empty for the whole."""
    chosen = label_words(filters)
    chosen += [f"under {filters.root}"] if filters.root else []
    chosen += [words] if (words := selection_words(filters)) else []
    chosen += ["samples that every model answered"] if filters.shared else []
    return ", ".join(chosen)


def _judge(look: StudyLook) -> Iterator[Finding]:
    judge = look.data.judge
    if look.measure != "process":
        return
    name = judge.name if judge is not None else "the judge"
    yield _scale(look, name)
    family = judge.family if judge is not None and not judge.synthetic else ""
    kin = [c for c in look.data.candidates if family and c.family == family]
    if kin:
        yield _caveat(
            look,
            "kin",
            facts={"judge": name, "family": family},
            models=[c.name for c in kin],
            model_ids=[c.id for c in kin],
        )


def _scale(look: StudyLook, judge: str) -> Finding:
    """Say whose scale the scores are on, and what people's labels say of it."""
    labels = load_labels(look.store, look.data)
    seen = scale_status(look.data, labels, look.base)
    samples = plain("labelled", seen.samples, "samples")
    if not seen.models:
        wanted = plain("needed", MIN_LABELLED, "samples")
        return _caveat(look, "judge-scale", *((samples, wanted) if seen.samples else ()),
                       facts={"judge": judge})  # fmt: skip
    whole = people_shift(look.data, labels, look.base)
    shift, *ends = (25 * value for value in (whole.shift, whole.lo, whole.hi))
    sure = ends[0] > 0 or ends[1] < 0
    lo, hi = sorted(map(abs, ends))
    number = Number(name="shift", text=with_interval(abs(shift), lo, hi, 1), value=abs(shift),
                    unit="points of 100", lo=lo, hi=hi, n=whole.n, n_unit="scores")  # fmt: skip
    return _caveat(
        look,
        "people-scale",
        samples,
        *((number,) if sure else ()),
        facts={
            "judge": judge,
            "way": ("kinder" if shift > 0 else "stricter") if sure else "",
            "some": "" if seen.lifted else "yes",
        },
    )


def _votes(look: StudyLook) -> Iterator[Finding]:
    """Say how far votes hang on the order, and what they compare."""
    if look.measure != "preference":
        return
    seen = preference_summary(look.store, look.data, look.base)
    if seen is None:
        return
    if not seen.both_orders and seen.comparisons:
        yield _caveat(look, "single_order", plain("comparisons", seen.comparisons, "comparisons"))
    rate = seen.conflict_rate
    if rate.n and rate.value:
        text = with_interval(rate.value, rate.lo, rate.hi, 1 if rate.n >= FINE else 0)
        yield _caveat(
            look,
            "order",
            Number(name="conflicts", text=f"{text} %", value=rate.value, unit="%", lo=rate.lo,
                   hi=rate.hi, n=rate.n, n_unit="comparisons"),
            plain("comparisons", seen.comparisons, "comparisons"),
        )  # fmt: skip
    for judge in seen.judges:
        if judge.pull:
            name = judge.name or "The judge"
            yield _pull(look, judge, name)
    if len({model.judges for model in seen.models if not model.anchor}) > 1:
        yield _caveat(look, "judges", facts={"judges": _who_judged(seen)})
    if seen.anchor is not None:
        yield _caveat(look, "anchor", facts={"anchor": seen.anchor})


def _pull(look: StudyLook, judge: VotingJudge, name: str) -> Finding:
    """Say how often the place alone decided, of the pairs whose two orders disagree."""
    bias = judge.bias
    pulled = bias.first_twice if judge.pull == "first" else bias.second_twice
    changed = bias.first_twice + bias.second_twice
    ends = [1 / (1 + math.exp(-2 * end)) for end in (bias.lo, bias.hi)]  # from half log odds
    lo, hi = ends if judge.pull == "first" else (1 - ends[1], 1 - ends[0])
    return _caveat(
        look,
        "pull",
        share_number("share", pulled, changed, lo, hi, n_unit="pairs"),
        plain("pulled", pulled, "pairs"),
        plain("changed", changed, "pairs"),
        plain("pairs", bias.pairs, "pairs"),
        facts={"judge": name, "pull": judge.pull},
        key=name,
    )


def _who_judged(seen: PreferenceSummary) -> str:
    """Name each set of judges with its models; the largest group is `all others`."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for model in seen.models:
        if not model.anchor:
            groups.setdefault(model.judges, []).append(model.name)
    order = sorted(groups.items(), key=lambda group: len(group[1]))
    words = [f"{listed(judges)} on {listed(models)}" for judges, models in order[:-1]]
    return "; ".join([*words, f"{listed(order[-1][0])} on all others"])


def _left_out(look: StudyLook) -> Iterator[Finding]:
    """Count verdicts that couldn't be read, and samples that are set aside."""
    table = look.data.table
    if look.measure == "process":
        seen, bad = int(look.rows.sum()), int((look.rows & (table.score <= 0)).sum())
        if bad:
            yield _caveat(
                look,
                "unscored",
                plain("unscored", bad, "scores"),
                plain("checkpoints", seen, "scores"),
                share_number("share", bad, seen, math.nan, math.nan, n_unit="scores"),
                **look.listed(look.base.but(show="unscored"), "samples with an unscored criterion"),
            )
        aside = int(marks_aside(look.data, look.base).sum())
        if aside:
            yield _caveat(look, "not_applicable", plain("not_applicable", aside, "marks"))
    number = int(table.quarantined.sum())
    if number:
        yield _caveat(
            look,
            "quarantined",
            plain("quarantined", number, "samples"),
            plain("all_samples", len(table.sample_ids), "samples"),
        )


def _withheld(look: StudyLook) -> Iterator[Finding]:
    """Tell of each model that didn't answer all it was asked how often it is right, both ways."""
    for row in look.view.ranking:
        found = row.accuracy
        if not found.withheld:
            continue
        yield _caveat(
            look,
            "withheld",
            plain("withheld", found.n_asked - found.n_given, "answers"),
            plain("asked", found.n_asked, "answers"),
            estimate_number("right", row.right, percent=True, n_unit="answers"),
            estimate_number("given", row.given, percent=True, n_unit="answers"),
            facts={"causes": found.words},
            key=row.model_id,
            models=(row.name,),
        )


def _missing(look: StudyLook) -> Iterator[Finding]:
    table = look.data.table
    if look.view.pending:
        yield _caveat(look, "pending", plain("pending", look.view.pending, "scores"))
    gone = int((~table.counts).sum())
    if gone:
        yield _caveat(
            look,
            "unanswered",
            plain("unanswered", gone, "answers"),
            plain("all_answers", len(table.answered), "answers"),
        )
    yield from _withheld(look)
    if look.measure == "outcome" and look.view.answers:
        yield _caveat(look, "no_criteria", door=look.door(look.base, OVERVIEW))
    per_model = np.isfinite(look.pivot).sum(axis=0)
    if len(per_model) > 1 and per_model.min() != per_model.max():
        yield _caveat(
            look,
            "uneven",
            plain("fewest", int(per_model.min()), "samples"),
            plain("most", int(per_model.max()), "samples"),
        )
    if 0 < look.view.samples < FEW_SAMPLES:
        yield _caveat(look, "few", plain("samples", look.view.samples, "samples"))


def _method(look: StudyLook) -> Iterator[Finding]:
    looked = look.view.weaknesses
    if looked is None:
        return
    if looked.confounded:
        yield _caveat(look, "own_frame", plain("models", len(look.names), "models"))
    yield _caveat(
        look,
        "labels",
        Number(name="rate", text=numbers.share(looked.q), value=100 * looked.q, unit="%"),
        Number(
            name="margin",
            text=f"{looked.margin:.1f}",
            value=looked.margin,
            unit="points of 100",
        ),
        facts={"frame": looked.frame},
    )
