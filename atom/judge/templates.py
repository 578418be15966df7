"""Prompt templates: one file each, with a strict header; rendering refuses what doesn't fit.

A file begins with a header between two lines `---`, one `key: value` a line, and continues with
sections that begin with a line `=== name ===`:

- `id`, `version`: name the prompt, `scoring/1`. Editing the text raises the version.
- `variables`: names of the values that it's rendered with, no more and no fewer.
- `reply`: `text`, or the name of the reply's JSON Schema.
- `paper`: the section of the paper that it serves.

The sections are `system`, `user`, where a prompt has another form `user_<form>`, and `turn_<name>`
for what may be said later in the same conversation. A placeholder is a name in double braces; a
turn has placeholders of its own. A user section holds either `{{data}}` once, which becomes all
variables as one JSON document between the lines `BEGIN DATA` and `END DATA`, or every variable by
its name.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from atom.errors import DataError

PROMPTS_FOLDER = Path(__file__).parent / "prompts"
BEGIN_DATA = "BEGIN DATA"
END_DATA = "END DATA"
TASK_MARK = "Atomscope task: "
"""The first line of every system text: this, then the prompt's id and version."""

_TURN = "turn_"
_MORE = ("user_", _TURN)
_KEYS = ("id", "version", "variables", "reply", "paper")
_SECTION = re.compile(r"^=== ([a-z_]+) ===$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_NAME = re.compile(r"[a-z][a-z_]*")
_REPLY = re.compile(r"text|atomscope_[a-z_]+")
_LINE_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")

JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


class TemplateError(DataError):
    """A prompt template can't be used as it is, or was given the wrong values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A prompt as its file says.

    Args:
        id: the prompt's name.
        version: raised with every change of the text.
        variables: names of the values that it's rendered with.
        reply: `text`, or the name of the reply's JSON Schema.
        paper: the section of the paper that it serves.
        sections: text by section name.
    """

    id: str
    version: int
    variables: tuple[str, ...]
    reply: str
    paper: str
    sections: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """Id and version, as records keep them: `scoring/1`."""
        return f"{self.id}/{self.version}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderedPrompt:
    """A prompt ready to be sent: the system text and the text of the user's message."""

    system: str
    user: str


def parse_template(text: str, *, name: str) -> Template:
    """Read a template.

    Args:
        text: the file's content.
        name: what to call it in errors; must be its `id`.

    Raises:
        TemplateError: header, sections or placeholders break a rule; the message says which.
    """
    lines = text.split("\n")
    if lines[0] != "---" or "---" not in lines[1:]:
        raise TemplateError(f"template {name!r}: begin with a header between two lines `---`")
    end = lines.index("---", 1)
    header = _header(lines[1:end], name)
    template = Template(
        id=header["id"],
        version=int(header["version"]),
        variables=tuple(part.strip() for part in header["variables"].split(",")),
        reply=header["reply"],
        paper=header["paper"],
        sections=MappingProxyType(_sections("\n".join(lines[end + 1 :]), name)),
    )
    _check(template, name)
    return template


def _header(lines: Sequence[str], name: str) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        if not colon or key not in _KEYS or key in header or not value.strip():
            raise TemplateError(
                f"template {name!r}: header line {line!r}; allowed are {', '.join(_KEYS)}, "
                "each once, with a value"
            )
        header[key] = value.strip()
    missing = [key for key in _KEYS if key not in header]
    if missing:
        raise TemplateError(f"template {name!r}: the header lacks {', '.join(missing)}")
    if header["id"] != name:
        raise TemplateError(f"template {name!r}: its id is {header['id']!r}; name the file so")
    if not re.fullmatch(r"[1-9][0-9]{0,3}", header["version"]):
        raise TemplateError(f"template {name!r}: version {header['version']!r} isn't 1, 2, 3, ...")
    if not _REPLY.fullmatch(header["reply"]):
        raise TemplateError(
            f"template {name!r}: reply {header['reply']!r} is neither `text` nor `atomscope_...`"
        )
    return header


def _sections(body: str, name: str) -> dict[str, str]:
    pieces = _SECTION.split(body)
    if pieces[0].strip():
        raise TemplateError(f"template {name!r}: text before the first section")
    names = pieces[1::2]
    if len(set(names)) != len(names):
        raise TemplateError(f"template {name!r}: a section is given twice")
    odd = [n for n in names if n not in ("system", "user") and not n.startswith(_MORE)]
    if odd or "system" not in names or "user" not in names:
        raise TemplateError(
            f"template {name!r}: the sections are `system`, `user`, `user_<form>` and "
            f"`turn_<name>`; got {names!r}"
        )
    return {n: piece.strip() for n, piece in zip(names, pieces[2::2], strict=True)}


def _check(template: Template, name: str) -> None:
    variables = template.variables
    if len(set(variables)) != len(variables) or not all(map(_NAME.fullmatch, variables)):
        raise TemplateError(f"template {name!r}: variables {variables!r} aren't distinct names")
    if "data" in variables:
        raise TemplateError(f"template {name!r}: `data` is reserved for all variables together")
    for section, text in template.sections.items():
        used = _PLACEHOLDER.findall(text)
        if not text:
            raise TemplateError(f"template {name!r}: section {section!r} is empty")
        if _has_marker_line(text):
            raise TemplateError(f"template {name!r}: {section!r} holds a data marker as a line")
        if section == "system":
            allowed = not used
        elif section.startswith(_TURN):
            allowed = "data" not in used
        elif "data" in used:
            allowed = used == ["data"]
        else:
            allowed = set(used) <= set(variables)
        if not allowed:
            raise TemplateError(f"template {name!r}: {section!r} holds the placeholders {used!r}")
    used_anywhere = {
        used
        for section, text in template.sections.items()
        if not section.startswith(_TURN)
        for used in _PLACEHOLDER.findall(text)
    }
    unused = set(variables) - used_anywhere
    if unused and "data" not in used_anywhere:
        raise TemplateError(f"template {name!r}: the variables {sorted(unused)!r} aren't used")


def _has_marker_line(text: str) -> bool:
    return any(line.strip() in (BEGIN_DATA, END_DATA) for line in text.splitlines())


@functools.cache
def load_template(prompt: str) -> Template:
    """Read the template of a prompt from its file, once.

    Args:
        prompt: id and version, `scoring/1`: code and file must mean the same text.

    Raises:
        TemplateError: there is no such file, it breaks a rule, or holds another version.
    """
    name = prompt.partition("/")[0]
    path = PROMPTS_FOLDER / f"{name}.md"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise TemplateError(f"no prompt template {name!r}; there are {', '.join(template_names())}")
    template = parse_template(path.read_text(encoding="utf-8"), name=name)
    if template.prompt != prompt:
        raise TemplateError(f"prompt {prompt!r} is asked for, its file holds {template.prompt!r}")
    return template


def template_names() -> tuple[str, ...]:
    """Return the ids of all templates, sorted."""
    return tuple(sorted(path.stem for path in PROMPTS_FOLDER.glob("*.md")))


def render(
    template: Template, values: Mapping[str, JsonValue], *, form: str | None = None
) -> RenderedPrompt:
    """Fill a template in.

    Args:
        values: exactly its variables. Values that stand in the text by name must be text.
        form: the user section `user_<form>`; None takes `user`.

    Returns:
        The system text, whose first line names prompt and version, and the user's text. Values are
        put in once and never looked at again, so a value can't act as a placeholder.

    Raises:
        TemplateError: a variable is missing or left over, or there is no such form.
    """
    missing = sorted(set(template.variables) - set(values))
    extra = sorted(set(values) - set(template.variables))
    if missing or extra:
        raise TemplateError(
            f"prompt {template.prompt!r}: missing variables {missing!r}, unknown ones {extra!r}"
        )
    section = "user" if form is None else f"user_{form}"
    if section not in template.sections:
        raise TemplateError(f"prompt {template.prompt!r} has no section {section!r}")

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name == "data":
            return data_block({key: values[key] for key in template.variables})
        value = values[name]
        if not isinstance(value, str):
            raise TemplateError(f"prompt {template.prompt!r}: {name!r} must be text")
        return sendable(value)

    return RenderedPrompt(
        system=f"{TASK_MARK}{template.prompt}\n{template.sections['system']}",
        user=_PLACEHOLDER.sub(fill, template.sections[section]),
    )


def render_turn(template: Template, name: str, values: Mapping[str, str]) -> str:
    """Fill in what is said later in a conversation.

    Args:
        name: the section `turn_<name>`.
        values: exactly its placeholders.

    Raises:
        TemplateError: there is no such section, or a value is missing or left over.
    """
    text = template.sections.get(f"{_TURN}{name}")
    if text is None or set(_PLACEHOLDER.findall(text)) != set(values):
        raise TemplateError(
            f"prompt {template.prompt!r} has no turn {name!r} with the values {sorted(values)!r}"
        )
    return _PLACEHOLDER.sub(lambda match: sendable(values[match.group(1)]), text)


def data_block(values: Mapping[str, JsonValue]) -> str:
    """Write values as one line of JSON between the two marker lines.

    Every kind of line break inside a string is escaped, so no value can make a line of its own and
    imitate a marker.
    """
    text = sendable(json.dumps(values, ensure_ascii=False))
    for character, escape in _LINE_BREAKS.items():
        text = text.replace(character, escape)
    return f"{BEGIN_DATA}\n{text}\n{END_DATA}"


def sendable(text: str) -> str:
    """Replace what can't be sent as UTF-8 text, lone surrogates and NUL, by U+FFFD."""
    return _UNSENDABLE.sub("�", text)
