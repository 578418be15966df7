"""The items of each benchmark as cards, and what a judge said of each, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from atom.analysis.agreement.calibration import NAME as CALIBRATION
from atom.analysis.agreement.calibration import STEPS
from atom.judgebench.best_of_n import benchmark as best_of_n_bench
from atom.judgebench.critic_bench import ask as critic_bench_ask
from atom.judgebench.critic_bench import benchmark as critic_bench_bench
from atom.judgebench.critic_bench.code import (
    CODE_RUN,
    OBJECTIVE_DOMAINS,
    PROGRAM_DOMAINS,
    value_code,
)
from atom.judgebench.mm_critic import data as mm_critic_data
from atom.judgebench.mm_critic.measures import BANDS
from atom.judgebench.multi_crit import benchmark as multi_crit_bench
from atom.judgebench.multi_crit.criteria import names_of
from atom.judgebench.multi_crit.files import SPLITS
from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.judgebench.vl_rewardbench import data as vl_rewardbench_data
from atom.records import BenchItem, Verdict
from taxonomy import format_path

SCORER: Final = "scorer/"
_QUALITY: Final = {"med": "medium", "super-high": "correct"}


@dataclass(frozen=True, kw_only=True)
class Card:
    """An item as it can be shown.

    Attributes:
        question: what the judged answers answer.
        texts: (heading, text) of what the judge was shown, in order.
        truth: (label, words) of what is right, and who says so.
        facets: (label, words) by which items can be told apart.
        groups: the names under which figures are about this item.
        beside: (what a judge writes, heading, text) of references that its text stands beside.
    """

    question: str
    texts: tuple[tuple[str, str], ...]
    truth: tuple[tuple[str, str], ...]
    facets: tuple[tuple[str, str], ...]
    groups: frozenset[str]
    beside: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class JudgeRemark:
    """One thing that a judge said about an item.

    Attributes:
        verdict: as it is stored.
        about: what of the item, in words.
        words: what it said, in a word or number.
        code: 1 right, 0 wrong, -1 couldn't be read; None where nothing is right or wrong.
        apart: its number less people's; None without both.
        reason: why, in the judge's words.
    """

    verdict: Verdict
    about: str
    words: str
    code: int | None
    apart: float | None = None
    reason: str = ""


def _code(verdict: Verdict, right: bool | None) -> int | None:
    if verdict.state != "scored":
        return INVALID
    return None if right is None else RIGHT if right else WRONG


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _kept(pairs: Iterable[tuple[str, object]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _text(value)) for name, value in pairs if _text(value).strip())


def plain_card(data: Mapping[str, Any]) -> Card:
    """Lay an item open by the fields that it has."""
    texts = [(name, value) for name, value in data.items() if isinstance(value, str)]
    question = _text(data.get("question"))
    return Card(
        question=question,
        texts=_kept(pair for pair in texts if pair[1] != question),
        truth=(),
        facets=(),
        groups=frozenset({""}),
    )


def said_plainly(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    """Tell what a judge said without knowing what was asked."""
    del data
    number = "" if one.value is None else f"{one.value:g}"
    code = None if one.state == "scored" else INVALID
    words = one.label or number
    return [JudgeRemark(verdict=one, about=one.part, words=words, code=code, reason=one.text)]


def _vlrb(data: Mapping[str, Any]) -> Card:
    models = [*data.get("models", ()), "", ""]
    tags = [str(tag) for tag in data.get("tags", ())]
    errors = [*tags, *(["reasoning"] if data["category"] == "reasoning" else [])]
    first, second = data["responses"]
    return Card(
        question=_text(data["query"]),
        texts=_kept([(_answer("a", models[0]), first), (_answer("b", models[1]), second)]),
        truth=_kept(
            [
                ("Better answer", data["better"]),
                ("Why", data.get("rationale")),
                ("Known answer", data.get("ground_truth")),
            ]
        ),
        facets=_kept([("Category", data["category"]), *(("Kind of error", tag) for tag in tags)]),
        groups=frozenset({"", str(data["category"]), *(f"{ERROR}{one}" for one in errors)}),
    )


def _answer(side: str, model: object) -> str:
    return f"Answer {side}" + (f", {model}" if model else "")


def _vlrb_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    if one.part.startswith("point/"):
        number = "" if one.value is None else f"{one.value:g}"
        about = f"answer {one.part[-1]} by itself"
        return [JudgeRemark(verdict=one, about=about, words=number, code=_code(one, None),
                            reason=_text(one.data.get("reason")) or one.text)]  # fmt: skip
    return [JudgeRemark(verdict=one, about="the pair", words=one.label,
                        code=_code(one, one.label == data["better"]),
                        reason=_text(one.data.get("reason")) or one.text)]  # fmt: skip


def _multi_crit(data: Mapping[str, Any]) -> Card:
    entries = data["criteria"]
    names = names_of([entry["key"] for entry in entries])
    return Card(
        question=_text(data["question"]),
        texts=_kept([(_answer("a", data.get("model_a")), data["pred_a"]),
                     (_answer("b", data.get("model_b")), data["pred_b"])]),
        truth=tuple((names[entry["key"]], f"{entry['label']} is better") for entry in entries),
        facets=_kept([("Split", SPLITS.get(data["split"], data["split"]))]),
        groups=frozenset({"", SPLITS.get(data["split"], data["split"]), *names.values()}),
    )  # fmt: skip


def _multi_crit_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    people = {entry["key"]: entry["label"] for entry in data["criteria"]}
    names = names_of(people)
    key = one.part.partition("/")[2]
    labels = {key: one.label} if key else {k: one.data.get("labels", {}).get(k) for k in people}
    reasons = one.data.get("reasons", {})
    return [
        JudgeRemark(verdict=one, about=names[k], words=_text(label),
                    code=_code(one, label == people[k]) if label in ("a", "b") else INVALID,
                    reason=_text(reasons.get(k)) or one.text)
        for k, label in labels.items()
        if k in people
    ]  # fmt: skip


def _mm_critic(data: Mapping[str, Any]) -> Card:
    pair = data["dimension"] == "comparison"
    shown = (
        [(_answer("a", data.get("model_a")), data["response_a"]),
         (_answer("b", data.get("model_b")), data["response_b"])]
        if pair
        else [(f"Answer of {data.get('model') or 'a model'}", data["response"])]
    )  # fmt: skip
    claim = data.get("correct")
    quality = data.get("quality")
    truth = [
        ("Known answer", data.get("reference_answer")),
        ("The answer is", None if claim is None else "right" if claim else "wrong"),
        ("Better answer", data.get("preferred")),
        ("Quality of the answer, 0 to 10", quality),
    ]
    about = "correction" if data["dimension"] == "correction" else "critique"
    beside = tuple(
        (about, f"Reference of {one.get('annotator') or 'the benchmark'}, worth an 8", words)
        for one in data.get("references", ())
        if (words := _text(one.get("text"))).strip()
    )
    subset = mm_critic_data.SUBSETS.get(data["subset"], data["subset"])
    task = data["task_type"].replace("_", " ")
    bands = {mm_critic_data.quality_band(quality, scheme) for scheme in BANDS}
    return Card(
        question=_text(data["question"]),
        texts=_kept([("Choices", "\n".join(map(str, data.get("choices", ())))), *shown]),
        truth=_kept([*truth, ("Rubric that the scorer is shown", data.get("rubric"))]),
        facets=_kept([("Asked for", _DIMENSIONS.get(data["dimension"])), ("Sub-dataset", subset),
                      ("Task type", task), ("Task", data.get("task"))]),
        groups=frozenset({"", subset, task, _DIMENSIONS.get(data["dimension"], ""), *bands,
                          *_pairings(data)}),
        beside=beside,
    )  # fmt: skip


_DIMENSIONS: Final = {"basic": "critique", "correction": "correction", "comparison": "preference"}


def _pairings(data: Mapping[str, Any]) -> set[str]:
    if data["dimension"] != "comparison":
        return set()
    item = BenchItem.model_construct(set_id="", id="", position=0, data=dict(data))
    found = {
        scheme: mm_critic_data.PAIRING_WORDS.get(mm_critic_data.pairing(item, scheme), "")
        for scheme in BANDS
    }
    return {found["analysis"], f"{found['annotator']}, annotator bands"}


def _mm_critic_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    number = "" if one.value is None else f"{one.value:g}"
    if one.part.startswith(SCORER):
        return [_scored(one, number)]
    if one.part == "compare":
        code = _code(one, one.label == data.get("preferred"))
        return [
            JudgeRemark(verdict=one, about=_PREFERRED, words=one.label, code=code, reason=one.text)
        ]
    if one.part == "critique":
        truth = data.get("correct")
        right = None if truth is None else one.label == ("right" if truth else "wrong")
        return [JudgeRemark(verdict=one, about="critique", words=f"{one.label} {number}".strip(),
                            code=_code(one, right), reason=one.text)]  # fmt: skip
    return [
        JudgeRemark(
            verdict=one, about=one.part, words=number, code=_code(one, None), reason=one.text
        )
    ]


def _scored(one: Verdict, number: str) -> JudgeRemark:
    about = f"a scorer on its {one.part.rpartition('/')[2]}"
    if one.part.startswith(f"{SCORER}any/"):
        about = "a scorer on the " + {"reference": "reference"}.get(
            one.part.rpartition("/")[2], "reference in other words"
        )
    return JudgeRemark(verdict=one, about=about, words=number, code=None, reason=one.text)


_FEEDBACK: Final = "its critique"
_META: Final = "its critique of a critique"
_CORRECTION: Final = "correction"
_PREFERRED: Final = "which is better"
_CORRECTIONS: Final[Mapping[str, str]] = {
    critic_bench_ask.CORRECTION: _CORRECTION,
    critic_bench_ask.CORRECTION_OWN: f"{_CORRECTION}, by its own critique",
    critic_bench_ask.CORRECTION_EMPTY: f"{_CORRECTION}, without a critique",
}


def _critic_bench(data: Mapping[str, Any]) -> Card:
    kind, domain = data["kind"], data["domain"]
    quality = _QUALITY.get(data["quality"], data["quality"])
    parts = {"answer": ("feedback", "correction"), "pair": ("comp_feedback",),
             "critique": ("meta_feedback",)}[kind]  # fmt: skip
    shown = (
        [("First answer (a)", data["first"]), ("Second answer (b)", data["second"])]
        if kind == "pair"
        else [("Answer", data["answer"]), ("Critique to be judged", data.get("evaluated"))]
    )
    preference = data.get("preference")
    truth = [
        (
            "People's score" if kind == "answer" else "People's score of the critique",
            None if data.get("score") is None else f"{data['score']:g}",
        ),
        ("Better answer", preference),
        ("Known answer", data.get("truth")),
        ("Tests", data.get("tests")),
    ]
    wrote = {"answer": _FEEDBACK, "pair": _PREFERRED, "critique": _META}[kind]
    references = (
        (wrote, "Reference critique", data.get("critique")),
        (_CORRECTION, "Reference correction", data.get("correction")),
    )
    return Card(
        question=_text(data["question"]),
        texts=_kept([("Article", data.get("article")), *shown]),
        truth=_kept(truth),
        facets=_kept([("Asked about", {"answer": "an answer", "pair": "two answers",
                                       "critique": "a critique"}[kind]),
                      ("Domain", domain), ("Quality", quality)]),
        groups=frozenset({"", *parts, *(f"{part}, {word}" for part in parts
                                        for word in (domain, quality))}),
        beside=tuple((about, heading, text) for about, heading, words in references
                     if (text := _text(words)).strip()),
    )  # fmt: skip


def _critic_bench_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    number = "" if one.value is None else f"{one.value:g}"
    if one.part.startswith(SCORER):
        return [_scored(one, number)]
    if one.part == critic_bench_ask.COMPARE:
        truth = data.get("preference")
        code = _code(one, None if not truth else one.label == truth)
        return [
            JudgeRemark(verdict=one, about=_PREFERRED, words=one.label, code=code, reason=one.text)
        ]
    if one.part in _CORRECTIONS:
        final = _text(one.data.get("final_answer"))
        return [JudgeRemark(verdict=one, about=_CORRECTIONS[one.part], words=final,
                            code=_corrected(data, one), reason=one.text)]  # fmt: skip
    if one.part.startswith(CODE_RUN):
        of = _CORRECTIONS[one.part.partition("/")[2] or critic_bench_ask.CORRECTION]
        about = f"its correction{of.removeprefix(_CORRECTION)}, run"
        return [JudgeRemark(verdict=one, about=about, words=one.label,
                            code=_code(one, one.label == "passed"), reason=one.detail)]  # fmt: skip
    truth, value = data.get("score"), one.value
    apart = None if truth is None or value is None else float(value) - float(truth)
    about = _FEEDBACK if one.part == critic_bench_ask.FEEDBACK else _META
    return [JudgeRemark(verdict=one, about=about, words=number, code=_code(one, None), apart=apart,
                        reason=one.text)]  # fmt: skip


def _corrected(data: Mapping[str, Any], one: Verdict) -> int | None:
    """Hold a correction against the known value; programs are run elsewhere, on demand."""
    if one.state != "scored":
        return INVALID
    domain = data["domain"]
    if domain not in OBJECTIVE_DOMAINS or domain in PROGRAM_DOMAINS:
        return None
    return value_code(data["truth"], one) if data.get("truth") else None


def _calibration(data: Mapping[str, Any]) -> Card:
    steps = data[STEPS]
    paths = [tuple(step["leaf"]) for step in steps]
    under = {format_path(path[:depth]) for path in paths for depth in range(1, len(path) + 1)}
    roots = dict.fromkeys(path[0] for path in paths)
    return Card(
        question=_text(data["question"]),
        texts=_kept([("Choices", "\n".join(map(str, data.get("choices", ())))),
                     (f"Answer of {data.get('model') or 'a model'}", data["answer"])]),
        truth=tuple(
            (step["question"], f"{step['ground_truth']} (scores {step['score']})") for step in steps
        ),
        facets=_kept([("Model", data.get("model")), *(("Branch", root) for root in roots)]),
        groups=frozenset({"", *under}),
    )  # fmt: skip


def _calibration_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    scores = [*one.data.get("scores", ())]
    scores += [None] * (len(data[STEPS]) - len(scores))
    return [
        JudgeRemark(
            verdict=one,
            about=step["question"],
            words="" if score is None else str(score),
            code=INVALID if score is None else _code(one, score == step["score"]),
            apart=None if score is None else float(score - step["score"]),
            reason=one.detail if score is None else "",
        )
        for step, score in zip(data[STEPS], scores, strict=False)
    ]


def _best_of_n(data: Mapping[str, Any]) -> Card:
    answers = data["answers"]
    right = [str(at) for at, one in enumerate(answers, start=1) if one["right"]]
    return Card(
        question=_text(data["question"]),
        texts=_kept(
            (f"Answer {at}, {'right' if one['right'] else 'wrong'}", one["text"])
            for at, one in enumerate(answers, start=1)
        ),
        truth=(("Right answers", ", ".join(right) or "none of them"),),
        facets=(("Right answers", f"{len(right)} of {len(answers)}"),),
        groups=frozenset({"", *best_of_n_bench.GROUPS}),
    )


def _best_of_n_said(data: Mapping[str, Any], one: Verdict) -> list[JudgeRemark]:
    places = [int(at) for at in one.part.split("/")[1:]]
    names = [f"answer {at + 1}" for at in places]
    reason = _text(one.data.get("reason")) or one.text
    if len(places) == 1:
        number = "" if one.value is None else f"{one.value:g}"
        return [JudgeRemark(verdict=one, about=f"{names[0]} by itself", words=number,
                            code=_code(one, None), reason=reason)]  # fmt: skip
    right = [bool(data["answers"][at]["right"]) for at in places]
    chosen = "ab".find(one.label) if one.label else -1
    better = right[chosen] if chosen >= 0 and right[0] != right[1] else None
    return [JudgeRemark(verdict=one, about=" against ".join(names),
                        words=names[chosen] if chosen >= 0 else one.label, code=_code(one, better),
                        reason=reason)]  # fmt: skip


CARDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Card]]] = {
    vl_rewardbench_data.NAME: _vlrb,
    multi_crit_bench.BENCH.name: _multi_crit,
    mm_critic_data.NAME: _mm_critic,
    critic_bench_bench.BENCH.name: _critic_bench,
    best_of_n_bench.NAME: _best_of_n,
    CALIBRATION: _calibration,
}
SAYS: Final[Mapping[str, Callable[[Mapping[str, Any], Verdict], list[JudgeRemark]]]] = {
    vl_rewardbench_data.NAME: _vlrb_said,
    multi_crit_bench.BENCH.name: _multi_crit_said,
    mm_critic_data.NAME: _mm_critic_said,
    critic_bench_bench.BENCH.name: _critic_bench_said,
    best_of_n_bench.NAME: _best_of_n_said,
    CALIBRATION: _calibration_said,
}
ERROR: Final = "kind of error: "
