"""promptfoo's JSON output: prompts, providers, answers, and what its assertions say.

`promptfoo eval -o results.json` writes `results.results` (or, older, `results` itself): one entry
for each provider, prompt and test. A test is a question; where several prompts were tried each
prompt's is another question, since it was asked otherwise.

Reference: promptfoo, output file version 2 and 3.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import ImportedVerdict, to_list, to_name, to_number, to_text, to_verdict
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import inner
from atom.formats.json_scan import BrokenJsonError, JsonScanner
from atom.formats.layout import find_encoding
from atom.formats.pictures import PICTURE_SUFFIXES
from atom.records import content_id

NAME = "promptfoo"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is promptfoo's output."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("{") or '"results"' not in text:
        return 0.0
    keys = ('"evalId"', '"promptIdx"', '"testIdx"', '"gradingResult"', '"provider"', '"vars"')
    return 0.95 if sum(key in text for key in keys) >= 2 else 0.0


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read output files.

    Raises:
        FormatError: a file has no results.
    """
    collector = Collector(NAME, options.dataset or files[0].stem, [file.name for file in files])
    return Reading(_batches(files, options, collector), collector)


def _entries(file: ImportFile, collector: Collector) -> Iterator[object]:
    """Give the entries one by one, wherever the version keeps them."""
    number = 0
    with io.TextIOWrapper(file.open(), encoding=find_encoding(file).name, errors="replace") as text:
        scanner = JsonScanner(text)
        try:
            for value in _results(scanner):
                number += 1
                yield value
        except BrokenJsonError as error:
            if not number:
                raise FormatError(
                    f"{file.name!r} can't be read as JSON: {error.reason}; get it again"
                ) from error
            collector.broken(
                f"{file.name}: the file breaks off after entry {number} ({error.reason}); the "
                "entries before are kept"
            )


def _results(scanner: JsonScanner, *, inside: bool = False) -> Iterator[object]:
    """Give the items of `results`, or of `results` inside it."""
    for key in scanner.each_key():
        kind = scanner.peek() if key == "results" else ""
        if kind == "[":
            yield from scanner.items()
        elif kind == "{" and not inside:
            yield from _results(scanner, inside=True)
        else:
            scanner.value()


def _batches(
    files: Sequence[ImportFile], options: ReadOptions, collector: Collector
) -> Iterator[Batch]:
    maker = Maker(collector, options)
    limit = Limit(options, collector, "entries")
    for file in files:
        entries = _entries(file, collector)
        first = next(entries, None)
        if first is None:
            raise FormatError(f"{file.name!r} has no entries under `results`; run the evaluation")
        repeats: dict[tuple[str, str], int] = {}
        for number, entry in enumerate(chain([first], entries), start=1):
            if limit.reached():
                break
            collector.rows += 1
            place = f"{file.name} entry {number}"
            if isinstance(entry, dict):
                _take(place, entry, file, options, maker, repeats)
            else:
                collector.skip(place, "it is no object")
            if collector.is_full:
                yield collector.flush()
    yield collector.flush()


def _prompt(entry: Mapping[str, object]) -> str | None:
    """Return what was asked: of chat messages the user's texts."""
    prompt = entry.get("prompt")
    raw = to_text(prompt.get("raw") if isinstance(prompt, dict) else prompt)
    if raw is None or not raw.lstrip().startswith("["):
        return raw
    try:
        messages = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    texts: list[str] = []
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict) or message.get("role") not in (None, "user"):
            continue
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            text = (
                part
                if isinstance(part, str)
                else part.get("text")
                if isinstance(part, dict)
                else None
            )
            if isinstance(text, str) and text.strip():
                texts.append(text)
    return "\n".join(texts) or raw


def _reference(case: Mapping[str, object]) -> str | None:
    """Return the answer that an assertion of equality asks for."""
    for rule in to_list(case.get("assert")) or ():
        if isinstance(rule, dict) and rule.get("type") in ("equals", "iequals"):
            return to_text(rule.get("value"))
    return None


def _take(
    place: str,
    entry: Mapping[str, object],
    file: ImportFile,
    options: ReadOptions,
    maker: Maker,
    repeats: dict[tuple[str, str], int],
) -> None:
    case, given = inner(entry, "testCase"), inner(entry, "vars")
    text = _prompt(entry)
    if text is None:
        maker.out.skip(place, "it has no prompt")
        return
    pictures = tuple(
        value
        for value in given.values()
        if isinstance(value, str)
        and (value.startswith("data:image/") or value.lower().endswith(PICTURE_SUFFIXES))
    )
    labels = [
        (cut(str(key), 80), label)
        for key, value in inner(case, "metadata").items()
        if (label := to_name(value)) is not None and len(label) <= 80
    ]
    about = to_name(case.get("description"))
    if about is not None and len(about) <= 80:
        labels.append(("description", about))
    identity = content_id("test", text, {str(k): to_text(v) for k, v in given.items()})
    sample_id = maker.sample(
        place,
        file.name,
        identity,
        SourceQuestion(
            text=text, reference=_reference(case), pictures=pictures, labels=tuple(labels)
        ),
    )
    if sample_id is None:
        return
    provider = entry.get("provider")
    name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    candidate = options.candidates.get(file.name) or cut(to_name(name) or "model")
    repeat = repeats.get((sample_id, candidate), 0)
    repeats[sample_id, candidate] = repeat + 1
    response = entry.get("response")
    output = response.get("output") if isinstance(response, dict) else response
    answer = to_text(output)
    error = to_text(entry.get("error")) or to_text(inner(entry, "response").get("error"))
    failed = answer is None and error is not None
    response_id = maker.answer(
        place,
        sample_id,
        candidate,
        answer,
        repeat=repeat,
        detail=cut(error or "") if failed else "",
        state="failed" if failed else None,
    )
    if response_id is None or failed:
        return
    maker.graded(response_id, _verdict(entry))


def _verdict(entry: Mapping[str, object]) -> ImportedVerdict | None:
    """Read the score, or whether the assertions passed; without assertions there is no verdict."""
    grading = inner(entry, "gradingResult")
    if not grading and entry.get("score") is None:
        return None
    number = to_number(entry.get("score", grading.get("score")))
    if number is not None and 0 <= number <= 1:
        return ImportedVerdict(value=number)
    return to_verdict(entry.get("success", grading.get("pass")))


FORMAT = Format(
    name=NAME,
    about="promptfoo's JSON output: tests, the providers' answers, and scores.",
    patterns=("*.json",),
    wanted="promptfoo's JSON output",
    sniff=sniff,
    read=read,
)
