"""Reads and writes the list of endpoints.

The file is a YAML list, one entry for each endpoint, with the fields of `atom.records.Endpoint`.
Keys never stand in it: `key_env` names the environment variable that holds one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import yaml
from pydantic import ValidationError

from atom.errors import DataError, PlaceError, SettingsError
from atom.files import write_file
from atom.foreign import read_foreign_text
from atom.judge.keys import named_variables
from atom.judge.sampling import extra_problem
from atom.records import Endpoint, Prices

CANDIDATE_NAMES = tuple(f"model-{letter}" for letter in "abcdefgh")
JUDGE_NAMES = (
    "probe-judge", "probe-judge-noisy", "probe-judge-coin", "probe-judge-lenient",
    "probe-judge-sighted", "probe-judge-sightless",
)  # fmt: skip
EMBEDDER_NAME = "probe-embedding"
FAULTY_JUDGES = frozenset(JUDGE_NAMES[1:])
"""Judges with planted faults: they are there to be found out, not to be relied on."""
VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""What `key_env` may be: nothing that could be a key itself."""
_KEY_FIELDS = frozenset({"key", "api_key", "apikey", "token", "secret", "password"})
_NEVER_QUOTED = frozenset({"key_env", "base_url", "extra_headers", "query"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET_NAME = re.compile(
    r"^(?:.*[-_])?(?:authorization|cookie|key|apikey|token|secret|password|sig|signature)$", re.I
)
"""Names of headers and of parts of an address that hold a key."""
_CLIENT_HEADERS = frozenset(
    {"content-type", "content-length", "host", "connection", "transfer-encoding", "accept"}
)
_INTO_VARIABLE = (
    "put it into an environment variable, write ${NAME} here, and take it out of the file."
)
_HEADER = (
    "# Endpoints of Atomscope. Keys don't belong here: key_env names the environment variable\n"
    "# that holds one. endpoints.example.yaml explains every field.\n"
)


def builtin_endpoints() -> tuple[Endpoint, ...]:
    """Return the endpoints that need no key: probe judges, simulated candidates, probe vectors."""
    free = Prices(input=0.0, output=0.0, cached_input=0.0)
    judges = tuple(
        Endpoint(
            name=name,
            base_url="probe:",
            model=name,
            family="probe",
            roles=("judge",),
            prices=free,
            boxes="xyxy_1000",
        )
        for name in JUDGE_NAMES
    )
    candidates = tuple(
        Endpoint(
            name=name,
            base_url="probe:",
            model=name,
            family="probe",
            roles=("candidate",),
            prices=free,
        )
        for name in CANDIDATE_NAMES
    )
    vectors = Endpoint(name=EMBEDDER_NAME, base_url="probe:", model=EMBEDDER_NAME, family="probe",
                       roles=("embedding",), prices=free)  # fmt: skip
    return (*judges, *candidates, vectors)


def load_endpoints(path: Path) -> dict[str, Endpoint]:
    """Return the built-in endpoints and those of a file, by name; the file may be missing.

    Raises:
        SettingsError: the file can't be read as a list of endpoints.
    """
    own = read_endpoints(path) if path.exists() else ()
    return {endpoint.name: endpoint for endpoint in (*builtin_endpoints(), *own)}


def read_endpoints(path: Path) -> tuple[Endpoint, ...]:
    """Read a file of endpoints.

    Raises:
        SettingsError: naming the file, the line and the field that is wrong.
    """
    try:
        text = read_foreign_text(path)
    except DataError as error:
        raise SettingsError(
            f"The endpoints file {str(path)!r} can't be read: {error}. Check its place and rights."
        ) from None
    return parse_endpoints(text, str(path))


def parse_endpoints(text: str, where: str = "endpoints.yaml") -> tuple[Endpoint, ...]:
    """Read the text of an endpoints file; see `read_endpoints`."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it isn't YAML"
        raise SettingsError(f"{where}{line}: {problem}. Give a YAML list of endpoints.") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where}: {error}. Give a YAML list of endpoints.") from None
    if given is None:
        return ()
    if not isinstance(given, list) or not isinstance(root, yaml.SequenceNode):
        raise SettingsError(
            f"{where}, line 1: a {type(given).__name__} was given; a list of endpoints is wanted, "
            "each beginning with '- name: ...'."
        )
    made = tuple(
        _parse_one(value, node, where) for value, node in zip(given, root.value, strict=True)
    )
    _check_names(made, [node.start_mark.line + 1 for node in root.value], where)
    return made


def save_endpoints(path: Path, endpoints: Iterable[Endpoint]) -> None:
    """Write a file of endpoints in one step, so that a reader sees the old one or the new one.

    Args:
        path: the file; comments in it are lost, built-in endpoints are left out.
        endpoints: what it is to hold.

    Raises:
        SettingsError: an endpoint breaks a rule, or the file can't be written.
    """
    built_in = {endpoint.name for endpoint in builtin_endpoints()}
    entries = [
        {"name": endpoint.name, **endpoint.model_dump(mode="json", exclude_defaults=True)}
        for endpoint in endpoints
        if endpoint.name not in built_in
    ]
    text = _HEADER + yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    parse_endpoints(text, str(path))
    try:
        write_file(path, text)
    except PlaceError as error:
        raise SettingsError(f"The endpoints file: {error.message}.") from None


def _parse_one(value: object, node: yaml.Node, where: str) -> Endpoint:
    line = node.start_mark.line + 1
    if not isinstance(value, dict) or not isinstance(node, yaml.MappingNode):
        raise SettingsError(
            f"{where}, line {line}: an endpoint is a group of fields, beginning with 'name: ...'."
        )
    lines = _field_lines(node, where)
    name = value.get("name")
    whose = f"endpoint {name!r}" if isinstance(name, str) else "an endpoint without a name"
    for field in value:
        if str(field).lower() in _KEY_FIELDS:
            raise SettingsError(
                f"{where}, line {lines.get(str(field), line)}: {whose} has the field {field!r}. "
                "Keys never stand in this file: put the key into an environment variable and "
                "name that variable in key_env. Take the key out of the file."
            )
    try:
        endpoint = Endpoint.model_validate(_with_query(value))
        check_endpoint_fields(endpoint)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(step) for step in first["loc"])
        at = lines.get(path) or lines.get(str(first["loc"][0]), line)
        raise SettingsError(
            f"{where}, line {at}: field {path!r} of {whose}: {first['msg']}."
            f"{_given(value, first['loc'])} endpoints.example.yaml explains every field."
        ) from None
    except _FieldError as error:
        raise SettingsError(
            f"{where}, line {lines.get(error.field, line)}: field {error.field!r} of {whose}: "
            f"{error}"
        ) from None
    return endpoint


class _FieldError(Exception):
    """A field holds what its type allows but the client can't use."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def check_endpoint_fields(endpoint: Endpoint) -> None:
    """Check what the record's types can't; values that may be a key are never repeated."""
    if endpoint.key_env is not None and not VARIABLE.fullmatch(endpoint.key_env):
        raise _FieldError(
            "key_env",
            "name an environment variable in capitals, digits and underscores, such as "
            "OPENAI_API_KEY. If this is the key itself: put it into a variable and take it out "
            "of the file.",
        )
    _check_body(endpoint.extra_body)
    for name, value in endpoint.extra_headers.items():
        _check_header(name, value)
    for name, value in endpoint.query.items():
        if _SECRET_NAME.search(name) and not named_variables(value):
            raise _FieldError("query", f"{name!r} holds a key: {_INTO_VARIABLE}")
    if not endpoint.url:
        return
    try:
        url = urlsplit(endpoint.url)
        usable = url.scheme in {"http", "https"} and bool(url.hostname)
        _ = url.port
    except ValueError:
        usable = False
    if not usable:
        raise _FieldError(
            "base_url",
            "give an address such as https://api.openai.com/v1, 'probe:', or 'probe:' and the "
            "address of a served probe endpoint.",
        )
    if url.username or url.password or url.fragment:
        raise _FieldError(
            "base_url",
            "leave user names, passwords and everything after '#' out of the address; a key goes "
            "into the environment variable that key_env names.",
        )
    if url.query:
        raise _FieldError(
            "base_url",
            "what follows '?' in the address goes into the field 'query', such as "
            "query: {api-version: 2024-10-21}.",
        )
    if url.path.rstrip("/").endswith("/chat/completions"):
        raise _FieldError("base_url", "leave '/chat/completions' out: it's added by the client.")


def _check_body(fields: Mapping[str, object]) -> None:
    problem = extra_problem(fields)
    if problem is not None:
        raise _FieldError("extra_body", problem)
    for name, held in fields.items():
        if name.lower() in _KEY_FIELDS and isinstance(held, str):
            raise _FieldError(
                "extra_body",
                f"{name!r} holds a key: put it into an environment variable, name that in "
                "key_env or extra_headers, and take it out of the file.",
            )


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise _FieldError("extra_headers", "a header's name is letters, digits and hyphens.")
    if not value.isascii() or not value.isprintable():
        raise _FieldError("extra_headers", f"{name!r} has to be one line of plain characters.")
    if name.lower() in _CLIENT_HEADERS:
        raise _FieldError("extra_headers", f"{name!r} is written by the client; take it out.")
    if _SECRET_NAME.search(name) and not named_variables(value):
        raise _FieldError("extra_headers", f"{name!r} holds a key: {_INTO_VARIABLE}")


def split_address(address: str) -> tuple[str, dict[str, str]]:
    """Take an address apart into what stands before `?` and the fields behind it.

    Args:
        address: as it was copied from a provider's page, such as Azure's with its api-version.

    Returns:
        The address for `base_url` and the fields for `query`.
    """
    front, mark, behind = address.partition("?")
    if not mark:
        return address, {}
    query, hash_mark, fragment = behind.partition("#")
    return front + hash_mark + fragment, dict(parse_qsl(query, keep_blank_values=True))


def _with_query(value: Mapping[object, object]) -> Mapping[object, object]:
    """Move what follows `?` in an entry's address into its query; what stands there goes first."""
    address, query = value.get("base_url"), value.get("query", {})
    if not isinstance(address, str) or not isinstance(query, dict):
        return value
    front, found = split_address(address)
    if not found or any(name in query for name in found):
        return value
    for name, part in found.items():
        if _SECRET_NAME.search(name) and not named_variables(part):
            return value
    return {**value, "base_url": front, "query": {**found, **query}}


def _field_lines(node: yaml.MappingNode, where: str, prefix: str = "") -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, value in node.value:
        path = f"{prefix}{key.value}"
        line = key.start_mark.line + 1
        if path in lines:
            raise SettingsError(
                f"{where}, line {line}: the field {path!r} is given twice "
                f"(first on line {lines[path]}). Keep one."
            )
        lines[path] = line
        if isinstance(value, yaml.MappingNode):
            lines |= _field_lines(value, where, f"{path}.")
    return lines


def _given(value: Mapping[str, object], loc: tuple[int | str, ...]) -> str:
    """Quote the wrong value, unless it may be a key."""
    if loc[0] not in Endpoint.model_fields or loc[0] in _NEVER_QUOTED:
        return ""
    if str(loc[-1]).lower() in _KEY_FIELDS:
        return ""
    found: object = value
    for step in loc:
        keyed = isinstance(found, dict) and step in found
        indexed = isinstance(found, list) and isinstance(step, int) and step < len(found)
        if not (keyed or indexed):
            return ""
        found = found[step]  # type: ignore[index]
    return f" Given: {str(found)[:60]!r}."


def _check_names(endpoints: tuple[Endpoint, ...], lines: list[int], where: str) -> None:
    counts = Counter(endpoint.name for endpoint in endpoints)
    built_in = {*JUDGE_NAMES, *CANDIDATE_NAMES}
    for endpoint, line in zip(endpoints, lines, strict=True):
        if endpoint.name in built_in:
            raise SettingsError(
                f"{where}, line {line}: field 'name': {endpoint.name!r} is built in. "
                "Choose another name."
            )
        if counts[endpoint.name] > 1:
            raise SettingsError(
                f"{where}, line {line}: field 'name': {endpoint.name!r} is given "
                f"{counts[endpoint.name]} times. Names must differ."
            )
