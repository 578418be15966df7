"""MMMU files: keys, predictions, raw outputs, and MMMU-Pro answers.

`answer_dict_val.json` (`{id: {question_type, ground_truth}}`), `*_output.json` (`{id: answer}`),
raw outputs by subject (`all_choices`, `index2ans`, `response`) and MMMU-Pro rows (`options` as a
Python list in a string, `if_right`) may be given together. Keys and predictions hold no question
texts: such questions come in under their ids, and load the data set's own table beforehand to have
them. Letters of multiple-choice predictions are compared with the key, and stand for the raw reply
where both are given; a raw reply alone is read by our own rules. Short answers stay ungraded here,
since the benchmark's own parser falls back on a random choice.

Reference: MMMU (Yue et al., 2024), repository MMMU-Benchmark/MMMU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import (
    AnswerOptions,
    ImportedVerdict,
    label_choices,
    to_choices,
    to_list,
    to_name,
    to_reference,
    to_text,
    to_verdict,
)
from atom.formats.intake.by_row import Limit, in_batches, rows_of
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import load_object
from atom.formats.labels import labels_in

NAME = "mmmu"
DATASET = "MMMU"
_ID = re.compile(r"(?:dev|validation|test)_(?P<subject>.+?)_\d+\Z")
_FIRST_ID = re.compile(r'\A\{\s*"(?:dev|validation|test)_[^"]+_\d+"\s*:')
_FACETS = ("subject", "topic_difficulty", "img_type", "question_type")


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of MMMU's files."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if _FIRST_ID.match(text):
        return 0.95
    for keys in (("all_choices", "index2ans", "response"), ("options", "pred_indexs", "if_right")):
        if all(f'"{key}"' in text for key in keys):
            return 0.95
    return 0.0


@dataclass(frozen=True, kw_only=True)
class _Answer:
    place: str
    candidate: str
    text: str | None
    letter: str
    verdict: ImportedVerdict | None


@dataclass(kw_only=True)
class _Item:
    """What the files say of one question."""

    place: str
    file: str
    kind: str = ""
    key: object = None
    text: str | None = None
    choices: AnswerOptions | None = None
    labels: tuple[tuple[str, str], ...] = ()
    answers: list[_Answer] = field(default_factory=list)


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read keys, predictions and rows together, in any order.

    Raises:
        FormatError: a file is none of these.
    """
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    items: dict[str, _Item] = {}
    for file in files:
        head = file.head().decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
        if _FIRST_ID.match(head):
            _take_object(file, load_object(file, collector), items, options, collector)
        else:
            _take_rows(file, items, options, collector)
    maker = Maker(collector, options)
    right: dict[str, list[float]] = {}

    def end(_: bool) -> None:
        for name, values in right.items():
            collector.note(f"{name}: {sum(values):g} of {len(values):,} graded answers are right")

    return Reading(
        in_batches(
            items.items(),
            lambda one: _item(*one, right, maker),
            Limit(options, collector, "questions"),
            end=end,
        ),
        collector,
    )


def _candidate(file: ImportFile, options: ReadOptions) -> str:
    given = options.candidates.get(file.name)
    if given:
        return given
    if file.folder is not None and file.folder.name.endswith("_raw"):
        return cut(file.folder.name.removesuffix("_raw"))
    stem = re.sub(r"_(?:total_)?(?:val|dev|test)_output\Z", "", file.stem)
    parts = re.match(r"mmmu-pro_(?P<model>.+?)_(?:standard|vision)", stem)
    return cut(parts["model"] if parts else stem)


def _take_object(
    file: ImportFile,
    content: Mapping[str, object],
    items: dict[str, _Item],
    options: ReadOptions,
    collector: Collector,
) -> None:
    for identity, value in content.items():
        collector.rows += 1
        place = f"{file.name} {identity!r:.80}"
        item = items.setdefault(identity, _Item(place=place, file=file.name))
        if isinstance(value, dict):
            item.kind = item.kind or to_name(value.get("question_type")) or ""
            item.key = item.key or value.get("ground_truth")
        else:
            text = to_text(value)
            item.answers.append(
                _Answer(
                    place=place,
                    candidate=_candidate(file, options),
                    text=text,
                    letter=_letter(text),
                    verdict=None,
                )
            )


def _take_rows(
    file: ImportFile, items: dict[str, _Item], options: ReadOptions, collector: Collector
) -> None:
    usable = 0
    for row in rows_of(file, collector):
        values, identity = row.values, to_name(row.values.get("id"))
        if identity is None or "response" not in values:
            collector.skip(row.place, "it has no id, or no response")
            continue
        usable += 1
        item = items.setdefault(identity, _Item(place=row.place, file=file.name))
        item.text = item.text or to_text(values.get("question"))
        item.kind = item.kind or to_name(values.get("question_type")) or ""
        item.key = item.key or values.get("answer")
        item.choices = item.choices or _choices(values)
        item.labels = item.labels or labels_in(values, _FACETS)
        text = to_text(values["response"])
        pro = to_name(values.get("pred_indexs"))
        item.answers.append(
            _Answer(
                place=row.place,
                candidate=_candidate(file, options),
                text=text,
                letter=pro if pro is not None else _letter(text),
                verdict=to_verdict(values.get("if_right")),
            )
        )
    if not usable:
        raise FormatError(
            f"{file.name!r} has no rows with `id` and `response`, and isn't an object of MMMU ids"
        )


def _choices(values: Mapping[str, object]) -> AnswerOptions | None:
    named = values.get("index2ans")
    if isinstance(named, dict) and named:
        return label_choices([str(key) for key in named], list(named.values()))
    options = to_list(values.get("options")) or []
    if len(options) == 1 and isinstance(options[0], list):  # one row wraps its list in a list
        options = options[0]
    return to_choices(options)


def _letter(text: str | None) -> str:
    found = re.fullmatch(r"\(?([A-Z])[).:]?", (text or "").strip())
    return found[1] if found else ""


def _item(identity: str, item: _Item, right: dict[str, list[float]], maker: Maker) -> None:
    subject = _ID.match(identity)
    labels = dict(item.labels)
    if subject is not None:
        labels.setdefault("subject", subject["subject"].replace("_", " "))
    if item.kind:
        labels.setdefault("question_type", item.kind)
    reference = to_reference(item.key, item.choices)
    if reference.note:
        maker.out.tally(reference.note, item.place)
    sample_id = maker.sample(
        item.place,
        item.file,
        identity,
        SourceQuestion(
            text=maker.told(item.text, identity, item.place),
            choices=item.choices.texts if item.choices else (),
            reference=reference.text,
            answer_type="choice" if item.kind == "multiple-choice" else "",
            labels=tuple(labels.items()) + _more(item.labels, labels),
            find_by_id=True,
        ),
    )
    if sample_id is None:
        return
    for answer in _one_each(item.answers):
        response_id = maker.answer(answer.place, sample_id, answer.candidate, answer.text)
        if response_id is None:
            continue
        verdict = answer.verdict
        if verdict is None and item.key is not None:
            verdict = _compare(item, answer, maker)
        maker.graded(response_id, verdict, answer=answer.letter or cut(answer.text or "", 200))
        if verdict is not None and verdict.value is not None:
            right.setdefault(answer.candidate, []).append(verdict.value)


def _more(
    every: Sequence[tuple[str, str]], first: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return the labels that share their facet with another one."""
    return tuple(label for label in every if first.get(label[0]) != label[1])


def _compare(item: _Item, answer: _Answer, maker: Maker) -> ImportedVerdict | None:
    """Compare the letter of a multiple-choice answer with the key's."""
    key = to_name(item.key)
    if item.kind != "multiple-choice":
        maker.out.tally("a short answer isn't graded in the files and stays ungraded", answer.place)
        return None
    if answer.letter:
        return ImportedVerdict(value=float(answer.letter == key))
    if item.choices is None:
        maker.out.tally(
            "a multiple-choice answer names no letter, and its options are in none of the files; "
            "it stays unscored",
            answer.place,
        )
    return None  # the options are known: our own rules read the answer


def _one_each(answers: Sequence[_Answer]) -> list[_Answer]:
    """Put a model's reply and what MMMU's own parser read in it together."""
    found: dict[str, _Answer] = {}
    for answer in answers:
        before = found.get(answer.candidate)
        if before is None or before.text == answer.text:
            found.setdefault(answer.candidate, answer)
        elif bool(before.letter) != bool(answer.letter):
            reply, read = (answer, before) if before.letter else (before, answer)
            found[answer.candidate] = replace(reply, letter=read.letter)
        else:
            found[f"{answer.candidate} {answer.place}"] = answer
    return list(found.values())


FORMAT = Format(
    name=NAME,
    about="MMMU and MMMU-Pro: keys, predictions, raw outputs and graded answers.",
    patterns=("answer_dict*.json", "*_output.json", "*.json", "mmmu-pro*.jsonl"),
    wanted="keys and predictions, or rows with answers",
    sniff=sniff,
    read=read,
)
