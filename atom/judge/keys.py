"""Keeps an endpoint's key, and what else is secret, out of everything that is shown or stored."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.errors import SettingsError
from atom.records import Endpoint
from atom.records.endpoint import named_variables as named_variables
from atom.settings import may_hold_key, read_key

HIDDEN = "[key]"
_SHORTEST = 4
"""A shorter "key" (a local server's `x`) is no secret, and would blank out common letters."""
_DEEPEST = 8
"""Backslashes before a character of a key, as JSON within JSON writes it."""
_ESCAPE = re.compile(r"\\u00|\\/|%[2-7][0-9A-Fa-f]")
"""What a key in disguise holds at least one of; most texts hold none."""


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, headers and parts of the address that can be used but not printed or pickled."""

    _value: str | None = field(repr=False)
    _headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    _query: Mapping[str, str] = field(default_factory=dict, repr=False)
    _secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def value(self) -> str | None:
        """The key itself, for the request header alone."""
        return self._value

    @property
    def headers(self) -> Mapping[str, str]:
        """The endpoint's own headers, environment variables filled in."""
        return self._headers

    @property
    def query(self) -> Mapping[str, str]:
        """What follows `?` in the address, environment variables filled in."""
        return self._query

    @property
    def _all(self) -> tuple[str, ...]:
        """All secrets that are long enough, the longest first: one may be part of another."""
        known = {one for one in (self._value, *self._secrets) if one and len(one) >= _SHORTEST}
        return tuple(sorted(known, key=lambda one: (-len(one), one)))

    def scrub(self, text: str) -> str:
        """Return a text without any occurrence of the key or another secret.

        An occurrence counts as well where JSON escapes stand for its characters, whatever the
        depth, or where it is percent-encoded.
        """
        for secret in self._all:
            if secret in text:
                text = text.replace(secret, HIDDEN)
            if _ESCAPE.search(text):
                text = _disguised(secret).sub(HIDDEN, text)
        return text

    def stream(self) -> StreamScrub:
        """Return what takes secrets out of a text that comes in pieces."""
        return StreamScrub(self._all)

    def scrub_all(self, value: object) -> object:
        """Return decoded JSON without any occurrence of the key or another secret."""
        if isinstance(value, str):
            return self.scrub(value)
        if isinstance(value, Mapping):
            return {self.scrub_all(name): self.scrub_all(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.scrub_all(one) for one in value]
        return value

    def __reduce__(self) -> tuple[type[Key], tuple[None]]:
        return (Key, (None,))


NO_KEY = Key(None)
"""For endpoints that need none."""


class StreamScrub:
    """Takes secrets out of a text in pieces, also where one is spread over several of them.

    Args:
        secrets: the longest first.
    """

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets
        self._held = ""

    def take(self, piece: str) -> str:
        """Return what can be shown by now: the end is held back while it may begin a secret."""
        text = self._held + piece
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        at = min((_beginning(secret, text) for secret in self._secrets), default=len(text))
        self._held = text[at:]
        return text[:at]

    def rest(self) -> str:
        """Return what was held back, at the text's end."""
        held, self._held = self._held, ""
        return held


def _beginning(secret: str, text: str) -> int:
    """Return where a text's end begins that is the beginning of a secret; else its length."""
    for at in range(max(0, len(text) - len(secret) + 1), len(text)):
        if secret.startswith(text[at:]):
            return at
    return len(text)


@functools.lru_cache(maxsize=64)
def _disguised(secret: str) -> re.Pattern[str]:
    """Match a secret whose characters may be escaped as in JSON or as in an address."""
    return re.compile("".join(_sign(sign) for sign in secret), re.IGNORECASE)


def _sign(sign: str) -> str:
    plain, code = re.escape(sign), ord(sign)
    if code > 0x7F:
        return plain
    escaped = rf"\\{{1,{_DEEPEST}}}(?:u{code:04x}{'|/' if sign == '/' else ''})"
    return rf"(?:{plain}|{escaped}|%{code:02x})"


def endpoint_key(endpoint: Endpoint, environ: Mapping[str, str] | None = None) -> Key:
    """Read an endpoint's key, and what its headers and query name, from the environment.

    Raises:
        SettingsError: the endpoint names a variable that isn't set.
    """
    if not endpoint.url:
        return NO_KEY
    value: str | None = None
    if endpoint.key_env is not None and not endpoint.is_probe:
        value = read_key(endpoint.key_env, environ)
        if value is None:
            _check_may_hold(endpoint.key_env, endpoint, environ)
            raise SettingsError(
                f"The endpoint {endpoint.name!r} takes its key from the environment variable "
                f"{endpoint.key_env!r}, which isn't set. Set it and start again, or take key_env "
                "out if the server needs no key."
            )
    secrets: list[str] = []

    def fill(text: str, where: str) -> str:
        for name in named_variables(text):
            found = read_key(name, environ)
            if found is None:
                _check_may_hold(name, endpoint, environ)
                raise SettingsError(
                    f"The endpoint {endpoint.name!r} names the environment variable {name!r} in "
                    f"{where}, which isn't set. Set it and start again, or take it out."
                )
            secrets.append(found.strip())
            text = text.replace(f"${{{name}}}", found.strip())
        return text

    headers = {
        name: fill(text, f"extra_headers ({name})") for name, text in endpoint.extra_headers.items()
    }
    query = {name: fill(text, f"query ({name})") for name, text in endpoint.query.items()}
    # The longest first: a secret that is part of another one mustn't break it up.
    ordered = tuple(sorted(set(secrets), key=len, reverse=True))
    return Key(None if value is None else value.strip(), headers, query, ordered)


def _check_may_hold(variable: str, endpoint: Endpoint, environ: Mapping[str, str] | None) -> None:
    if not may_hold_key(variable, environ):
        raise SettingsError(
            f"The endpoint {endpoint.name!r} names the environment variable {variable!r}, whose "
            "value is sent to no server: its name doesn't end in _KEY. If it holds a key, list it "
            f"(ATOM_KEYS={variable}) and start again."
        )
