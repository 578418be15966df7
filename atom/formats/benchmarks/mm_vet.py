"""MM-Vet answers: `{"v1_0": answer, ...}`, and the benchmark's own questions when given.

`mm-vet.json` (`{"v1_0": {imagename, question, answer, capability}}`) gives questions, pictures and
capabilities; without it the answers come in under their ids. The answers aren't graded.

Reference: MM-Vet (Yu et al., 2024), repository yuweihao/MM-Vet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_name, to_text
from atom.formats.intake.by_row import Limit, in_batches
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import load_object
from atom.formats.labels import labels_of

NAME = "mm-vet"
DATASET = "MM-Vet"
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
    maker = Maker(collector, options)
    return Reading(
        in_batches(
            answers.items(),
            lambda one: _item(*one, questions.get(one[0], {}), options, maker),
            Limit(options, collector, "questions"),
        ),
        collector,
    )


def _item(
    identity: str,
    given: Sequence[tuple[ImportFile, str | None]],
    told: Mapping[str, object],
    options: ReadOptions,
    maker: Maker,
) -> None:
    image = to_name(told.get("imagename"))
    sample_id = maker.sample(
        identity,
        given[0][0].name if given else maker.out.dataset,
        identity,
        SourceQuestion(
            text=maker.told(to_text(told.get("question")), identity, identity),
            reference=to_text(told.get("answer")),
            pictures=(image,) if image else (),
            labels=tuple(("capability", one) for one in labels_of(told.get("capability"))),
            find_by_id=True,
        ),
    )
    if sample_id is None:
        return
    for file, answer in given:
        name = options.candidates.get(file.name) or cut(file.stem)
        maker.answer(f"{file.name} {identity!r:.40}", sample_id, name, answer)


FORMAT = Format(
    name=NAME,
    about="MM-Vet: answers by id, and the benchmark's questions and capabilities.",
    patterns=("*.json",),
    wanted='answers (`{"v1_0": ...}`)',
    sniff=sniff,
    read=read,
)
