"""Keeps an endpoint's key, and what else is secret, out of everything that is shown or stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.errors import SettingsError
from atom.records import Endpoint
from atom.records.endpoint import named_variables as named_variables
from atom.settings import read_key

HIDDEN = "[key]"
_SHORTEST = 4
"""A shorter "key" (a local server's `x`) is no secret, and would blank out common letters."""


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

    def scrub(self, text: str) -> str:
        """Return a text without any occurrence of the key or another secret."""
        for secret in (self._value, *self._secrets):
            if secret is not None and len(secret) >= _SHORTEST:
                text = text.replace(secret, HIDDEN)
        return text

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
