"""OpenAI Batch files: requests and replies, joined on `custom_id` in whatever order they stand.

The file of requests (`custom_id`, `body.messages`, or `body.input` for `/v1/responses`) brings
questions with their pictures; the files of replies and of errors (`custom_id`, `response` or
`error`) bring answers. A request without a reply is counted; a reply without a request is left out.

Reference: OpenAI, "Batch API" guide, request and output file formats; "Responses" reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atom.errors import FormatError
from atom.formats.base import Format, ImportFile, Reading, ReadOptions
from atom.formats.cells import to_list, to_name, to_number, to_text
from atom.formats.intake.batch import Batch
from atom.formats.intake.by_row import Limit, refuse, rows_of
from atom.formats.intake.collector import Collector
from atom.formats.intake.maker import Maker, SourceQuestion
from atom.formats.intake.names import cut
from atom.formats.json_file import inner
from atom.records import AnswerCause
from atom.records.thoughts import tell_apart

NAME = "openai-batch"
_ASKS = re.compile(rb'"(?:messages|input)"\s*:')
_EXPECTED = "requests (`custom_id`, `body`) or replies (`custom_id`, `response`)"


def sniff(head: bytes, name: str) -> float:
    """Say how likely it is that this is a Batch file."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n").split("\n", 1)[0]
    if '"custom_id"' not in first:
        return 0.0
    return 0.95 if '"body"' in first or '"response"' in first or '"error"' in first else 0.0


_STOPPED: Mapping[str, tuple[AnswerCause, str]] = {
    "length": ("cut", "cut off at the length limit"),
    "max_output_tokens": ("cut", "cut off at the length limit"),
    "content_filter": ("filtered", "stopped by a content filter"),
}


@dataclass(frozen=True, kw_only=True)
class _Reply:
    place: str
    text: str | None
    model: str | None
    error: str
    cause: AnswerCause = ""
    thoughts: str = ""


def read(files: Sequence[ImportFile], options: ReadOptions) -> Reading:
    """Read requests and replies together.

    Raises:
        FormatError: a file is neither, or there are no requests.
    """
    collector = Collector(NAME, options.dataset or files[0].stem, [file.name for file in files])
    replies: dict[str, _Reply] = {}
    requests: list[ImportFile] = []
    for file in files:
        if b'"method"' in file.head() and _ASKS.search(file.head()):
            requests.append(file)
            continue
        usable = 0
        for row in rows_of(file, collector):
            name = to_name(row.values.get("custom_id"))
            if name is None or not ("response" in row.values or "error" in row.values):
                collector.skip(row.place, "it has no custom_id, or no response")
                continue
            usable += 1
            if name in replies:
                collector.skip(row.place, f"a reply to {cut(name, 60)!r} stood before")
                continue
            replies[name] = _reply(row.place, row.values)
        if not usable:
            raise refuse(file, _EXPECTED)
    if not requests:
        raise FormatError(
            f"{files[0].name!r} holds replies without what was asked; name the file of requests, "
            "which was uploaded, as well"
        )
    return Reading(_batches(requests, replies, options, collector), collector)


def _reply(place: str, values: Mapping[str, object]) -> _Reply:
    response = inner(values, "response")
    body = inner(response, "body")
    error = values.get("error") or body.get("error")
    told = error.get("message") if isinstance(error, dict) else error
    status = to_number(response.get("status_code"))
    text, thoughts, cause, why = _said(body)
    reason = cut(to_text(told) or "") or why
    if not reason and text is None and status not in (None, 200):
        reason = f"the request failed with status {status:g}"
    return _Reply(
        place=place,
        text=text,
        model=to_name(body.get("model")),
        error=reason,
        cause=cause,
        thoughts=thoughts,
    )


def _said(body: Mapping[str, object]) -> tuple[str | None, str, AnswerCause, str]:
    """Return a reply's text, its thoughts, why it is no ordinary one, and that in words."""
    choices, output = body.get("choices"), body.get("output")
    refusal: str | None = None
    stopped: str | None = None
    thoughts: list[str] = []
    parts: list[object] = []
    if isinstance(output, list):
        for item in output:
            if isinstance(item, dict) and item.get("type") == "reasoning":
                thoughts.append(_content(item.get("summary"))[0])
            elif isinstance(item, dict) and item.get("type") in (None, "message"):
                parts += to_list(item.get("content")) or [item.get("content")]
        stopped = to_name(inner(body, "incomplete_details").get("reason"))
    elif isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = inner(choices[0], "message")
        parts = to_list(message.get("content")) or [message.get("content")]
        refusal = to_text(message.get("refusal"))
        stopped = to_name(choices[0].get("finish_reason"))
        thoughts.append(to_text(message.get("reasoning_content")) or "")
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "refusal":
            refusal = refusal or to_text(part.get("refusal"))
    spoken = tell_apart(_content(parts)[0])
    thought = "\n".join(part for part in (*thoughts, spoken.thoughts) if part)
    if refusal is not None:
        return None, thought, "refused", cut(f"the model refused: {refusal}")
    cause, why = _STOPPED.get(stopped or "", ("", ""))
    if spoken.unfinished and not cause:
        cause, why = "cut", "it ends within its thoughts"
    if cause != "cut" and not spoken.answer and (parts or thought):
        return None, thought, cause or "empty", why or "the reply holds no text"
    return spoken.answer or None, thought, cause, why


def _content(value: object) -> tuple[str, list[object]]:
    """Return the text and the pictures of a message's content."""
    texts: list[str] = []
    pictures: list[object] = []
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            url = part.get("image_url")
            address = url.get("url") if isinstance(url, dict) else url
            if isinstance(address, str):
                pictures.append(address)
            elif isinstance(part.get("text"), str):
                texts.append(str(part["text"]))
    return "\n".join(text for text in texts if text.strip()), pictures


def _batches(
    requests: Sequence[ImportFile],
    replies: Mapping[str, _Reply],
    options: ReadOptions,
    collector: Collector,
) -> Iterator[Batch]:
    maker = Maker(collector, options)
    limit = Limit(options, collector, "requests")
    met: set[str] = set()
    missing = 0
    stopped = False
    for file in requests:
        for row in rows_of(file, collector):
            stopped = limit.reached()
            if stopped:
                break
            name = to_name(row.values.get("custom_id"))
            if name is None or name in met:
                collector.skip(
                    row.place,
                    "it has no custom_id" if name is None else "its custom_id stood before",
                )
                continue
            met.add(name)
            missing += name not in replies
            _take(row.place, row.values, name, file, replies.get(name), options, maker)
            if collector.is_full:
                yield collector.flush()
    if missing and replies:
        collector.note(f"{missing} requests have no reply in these files; import those later")
    for name, reply in replies.items():
        if name not in met and not stopped:
            collector.skip(reply.place, f"no request has the custom_id {cut(name, 60)!r}")
    yield collector.flush()


def _take(
    place: str,
    values: Mapping[str, object],
    name: str,
    file: ImportFile,
    reply: _Reply | None,
    options: ReadOptions,
    maker: Maker,
) -> None:
    body = inner(values, "body")
    asked = body.get("messages", body.get("input"))
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    texts: list[str] = []
    pictures: list[object] = []
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "user":
            text, found = _content(message.get("content"))
            texts += [text] if text else []
            pictures += found
    if not texts:
        maker.out.skip(place, "it asks nothing: there is no user message with a text")
        return
    sample_id = maker.sample(
        place, file.name, name, SourceQuestion(text="\n\n".join(texts), pictures=tuple(pictures))
    )
    if sample_id is None or reply is None:
        return
    model = reply.model or to_name(body.get("model")) or "model"
    failed = reply.text is None and bool(reply.error) and not reply.cause
    maker.answer(
        reply.place,
        sample_id,
        options.candidates.get(file.name) or cut(model),
        reply.text,
        detail=reply.error if failed or reply.cause else "",
        state="failed" if failed else None,
        cause=reply.cause,
        thoughts=reply.thoughts,
    )


FORMAT = Format(
    name=NAME,
    about="OpenAI Batch files: requests and replies, joined on custom_id in any order.",
    patterns=("*.jsonl",),
    wanted="a file of requests and one of replies",
    sniff=sniff,
    read=read,
)
