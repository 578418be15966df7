"""Keeps an endpoint's key out of everything that is shown or stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atom.errors import SettingsError
from atom.records import Endpoint
from atom.settings import read_key

HIDDEN = "[key]"
_SHORTEST = 4
"""A shorter "key" (a local server's `x`) is no secret, and would blank out common letters."""


@dataclass(frozen=True, slots=True)
class Key:
    """An API key that can be used but not printed or pickled."""

    _value: str | None = field(repr=False)

    @property
    def value(self) -> str | None:
        """The key itself, for the request header alone."""
        return self._value

    def scrub(self, text: str) -> str:
        """Return a text without any occurrence of the key."""
        if self._value is None or len(self._value) < _SHORTEST:
            return text
        return text.replace(self._value, HIDDEN)

    def __reduce__(self) -> tuple[type[Key], tuple[None]]:
        return (Key, (None,))


def endpoint_key(endpoint: Endpoint, environ: Mapping[str, str] | None = None) -> Key:
    """Read an endpoint's key from the environment.

    Raises:
        SettingsError: the endpoint names a variable that isn't set.
    """
    if endpoint.key_env is None or endpoint.is_probe:
        return Key(None)
    value = read_key(endpoint.key_env, environ)
    if value is None:
        raise SettingsError(
            f"The endpoint {endpoint.name!r} takes its key from the environment variable "
            f"{endpoint.key_env!r}, which isn't set. Set it and start again, or take key_env out "
            "if the server needs no key."
        )
    return Key(value.strip())
