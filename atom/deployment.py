"""A deployment's file: what makes an installation one that a team shares.

Secrets never stand in it: it names the environment variables that hold them. A key that isn't
known, or a value that can't be used, is refused with its place and what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from atom.access import Policy, Role
from atom.errors import DataError, SettingsError
from atom.foreign import read_foreign_text
from atom.settings import read_variable

_SHORTEST_SECRET = 32
"""Letters of a secret that signs cookies."""
_LOCAL = ("localhost", "127.0.0.1", "::1")


def _many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_many)]
Variable = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]{0,63}$")]


BudgetScope = Literal["deployment", "viewer", "analyst", "admin"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SignIn(_Part):
    """How people sign in: by any provider of OpenID Connect."""

    metadata_url: str
    """The provider's own description: `https://.../.well-known/openid-configuration`."""
    client_id: str
    """What the provider calls this app."""
    client_secret: Variable = "ATOM_CLIENT_SECRET"
    """The variable that holds the app's secret at the provider."""
    cookie_secret: Variable = "ATOM_COOKIE_SECRET"
    """The variable that holds the secret which signs cookies: the same for all replicas."""
    claim: str = "groups"
    """The claim of the identity token that lists a person's groups."""
    roles: dict[Role, Names]
    """The groups that give each role; `*` is everybody who can sign in."""
    scope: str = "openid email profile"
    """What is asked of the provider; some give groups for a scope of their own."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        place = urlsplit(self.metadata_url)
        if place.scheme != "https" and place.hostname not in _LOCAL:
            raise ValueError("metadata_url must begin with https://")
        if "openid" not in self.scope.split():
            raise ValueError("scope must contain openid")
        if not self.roles.get("admin"):
            raise ValueError("roles.admin must name a group, or nobody could give roles")
        if "*" in self.roles["admin"]:
            raise ValueError("roles.admin can't be '*': everybody would be an admin")
        return self


class Limits(_Part):
    """What people may spend, and what may be asked and read."""

    budgets: dict[BudgetScope, Annotated[float, Field(ge=0)]] = {}
    """USD a month: of everybody together, or of each person with a role."""
    key_variables: Names = ("ATOM_KEY_*",)
    """Patterns of the only environment variables that an endpoint may name."""
    hosts: Names = ()
    """Patterns of the only hosts that may be asked."""
    folders: Names = ()
    """Folders of the server whose files may be imported; none = files are uploaded."""


class Deployment(_Part):
    """The whole file."""

    url: str
    """The address that people open, `https://atom.example.org`."""
    address: str = "127.0.0.1"
    """The IP address that the app listens on, behind a proxy."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8501
    """The port that it listens on."""
    hosts: Names = ()
    """Further names by which browsers may call it."""
    store: Variable = "ATOM_STORE"
    """The variable that holds the store's address: `postgresql://user:password@host/name`."""
    sign_in: SignIn
    """How people sign in."""
    limits: Limits = Limits()
    """What people may."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        place = urlsplit(self.url)
        if (
            place.scheme not in ("http", "https")
            or not place.hostname
            or place.path not in ("", "/")
        ):
            raise ValueError("url must be an address without a path, like https://atom.example.org")
        if place.scheme == "http" and place.hostname not in _LOCAL:
            raise ValueError("url must begin with https://: cookies and results would go in clear")
        try:
            ip_address(self.address)
        except ValueError:
            raise ValueError("address must be an IP address, like 0.0.0.0") from None
        return self

    @property
    def called(self) -> frozenset[str]:
        """The app's own names as `Host` gives them, in small letters."""
        return frozenset({urlsplit(self.url).netloc.lower(), *(one.lower() for one in self.hosts)})

    @property
    def origin(self) -> str:
        """The address without a slash at its end."""
        return self.url.rstrip("/")

    def secret(self, variable: str, environ: Mapping[str, str] | None = None) -> str:
        """Return what a variable holds that the file names.

        Raises:
            SettingsError: nothing.
        """
        found = read_variable(variable, environ)
        if found is None:
            raise SettingsError(
                f"the deployment's file names the variable {variable}, which isn't set: set it "
                "before the start"
            )
        return found

    def cookie_secret(self, environ: Mapping[str, str] | None = None) -> str:
        """Return the secret that signs cookies.

        Raises:
            SettingsError: there is none, or it is too short to be one.
        """
        name = self.sign_in.cookie_secret
        found = self.secret(name, environ)
        if len(found) < _SHORTEST_SECRET:
            raise SettingsError(
                f"{name} has {len(found):,} letters; {_SHORTEST_SECRET} at least are needed: make "
                "one with `openssl rand -base64 48`"
            )
        return found

    def policy(self, environ: Mapping[str, str] | None = None) -> Policy:
        """Return what holds in the deployment's processes.

        Raises:
            SettingsError: the store's address isn't set.
        """
        limits = self.limits
        return Policy(
            place=self.secret(self.store, environ),
            key_variables=limits.key_variables,
            endpoint_hosts=limits.hosts,
            folders=tuple(Path(one) for one in limits.folders),
            budgets={str(whose): usd for whose, usd in limits.budgets.items()},
        )


def load_deployment(path: Path) -> Deployment:
    """Read a deployment's file.

    Raises:
        SettingsError: it can't be read, or a key of it is wrong; the message names key and fix.
    """
    try:
        text = read_foreign_text(path)
    except DataError as error:
        raise SettingsError(f"the deployment's file {str(path)!r} can't be read: {error}") from None
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        line = "" if place is None else f" (line {place.line + 1})"
        raise SettingsError(
            f"the deployment's file {str(path)!r} is no YAML{line}: mend that line"
        ) from None
    if not isinstance(data, dict):
        raise SettingsError(
            f"the deployment's file {str(path)!r} must hold keys and values, like `url: https://...`"
        )
    try:
        return Deployment.model_validate(data)
    except ValidationError as error:
        lines = "".join(f"\n- {_fault(one)}" for one in error.errors()[:8])
        raise SettingsError(
            f"the deployment's file {str(path)!r} can't be used:{lines}\n"
            "docs/deploy.md explains every key"
        ) from None


def _fault(one: Any) -> str:
    """Say what is wrong with a key; what was given isn't repeated, for it may be a secret."""
    key = ".".join(str(part) for part in one["loc"] if part != "[key]")
    kind, words = one["type"], str(one["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        return f"`{key}` is missing: add it"
    if kind == "extra_forbidden":
        return f"`{key}` isn't a key that is known: take it out, or mend its spelling"
    if kind == "string_pattern_mismatch":
        return f"`{key}` must be the NAME of an environment variable, in capitals, not its value"
    return f"`{key}`: {words}" if key else words
