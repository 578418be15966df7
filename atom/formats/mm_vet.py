"""MM-Vet answers: `{"v1_0": answer, ...}`, and the benchmark's own questions when given.

`mm-vet.json` (`{"v1_0": {imagename, question, answer, capability}}`) gives questions, pictures and
capabilities; without it the answers come in under their ids. The answers aren't graded.

Reference: MM-Vet (Yu et al., 2024), repository yuweihao/MM-Vet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from atom.errors import FormatError
from atom.formats.base import Batch, Collector, Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_text
from atom.formats.guess import labels_of
from atom.formats.json_file import load_object
from atom.formats.maker import Limit, Maker, Question, cut

NAME = "mm-vet"
DATASET = "MM-Vet"
UNTOLD = "(the text of this question is in none of the files)"
_FIRST_ID = re.compile(r'\A\{\s*"v[12]_\d+"\s*:')


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is one of MM-Vet's files."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return 0.95 if _FIRST_ID.match(text) else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read answers, and the questions when they are given.

    Raises:
        FormatError: a file is no object of MM-Vet ids.
    """
    if not files:
        raise FormatError('no file was given; name answers (`{"v1_0": ...}`)')
    collector = Collector(NAME, options.dataset or DATASET, [file.name for file in files])
    questions: dict[str, Mapping[str, object]] = {}
    answers: dict[str, list[tuple[ImportFile, str | None]]] = {}
    for file in files:
        content = load_object(file, collector)
        if not any(re.fullmatch(r"v[12]_\d+", key) for key in content):
            raise FormatError(f"{file.name!r} has no ids of MM-Vet, such as `v1_0`")
        for key, value in content.items():
            collector.rows += 1
            if isinstance(value, dict):
                questions.setdefault(key, value)
                answers.setdefault(key, [])
            else:
                answers.setdefault(key, []).append((file, to_text(value)))
    return Reading(_batches(questions, answers, options, collector), collector)


def _batches(
    questions: Mapping[str, Mapping[str, object]],
    answers: Mapping[str, Sequence[tuple[ImportFile, str | None]]],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    maker = Maker(collector, options)
    limit = Limit(options, collector, "questions")
    for identity, given in answers.items():
        if limit.reached():
            break
        told = questions.get(identity, {})
        text, image = to_text(told.get("question")), to_name(told.get("imagename"))
        if text is None:
            collector.tally("a question's text is in none of the files", identity)
        sample_id = maker.sample(
            identity,
            _file_of(given, collector),
            identity,
            Question(
                text=text or f"Question {identity} {UNTOLD}",
                reference=to_text(told.get("answer")),
                pictures=(image,) if image else (),
                labels=tuple(("capability", one) for one in labels_of(told.get("capability"))),
                find_by_id=True,
            ),
        )
        for file, answer in given if sample_id is not None else ():
            name = options.candidates.get(file.name) or cut(file.stem)
            maker.answer(f"{file.name} {identity!r:.40}", sample_id or "", name, answer)
        if collector.is_full:
            yield collector.flush()
    yield collector.flush()


def _file_of(given: Sequence[tuple[ImportFile, str | None]], collector: Collector) -> str:
    """Name the file that labels are kept with."""
    return given[0][0].name if given else collector.dataset


FORMAT = Format(
    name=NAME,
    about="MM-Vet: answers by id, and the benchmark's questions and capabilities.",
    patterns=("*.json",),
    sniff=sniff,
    read=read,
)
