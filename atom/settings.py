"""The only reader of the environment and of file locations."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from atom.access import Person, actor, operator
from atom.access import may_hold_key as deployment_lists
from atom.errors import SettingsError

_PACKAGE = Path(__file__).resolve().parent
_BUNDLED = _PACKAGE / "bundled"
"""Only an installed package has it (`pyproject.toml` says what lies in it)."""
KEY_ENDING = "_KEY"
DEPLOYMENT = "ATOM_DEPLOYMENT"
_PERSON, _PERSON_NAME = "ATOM_PERSON", "ATOM_PERSON_NAME"
PROJECT_ROOT = _BUNDLED if _BUNDLED.is_dir() else _PACKAGE.parent
"""What holds `app.py`, `pages`, `data` and the glossary: the checkout, or the bundled folder."""
DEMO_FOLDER = PROJECT_ROOT / "data" / "demo"
PUBLISHED_FOLDER = PROJECT_ROOT / "data" / "published"

_WORD = re.compile(r"\S++")
_USER = re.compile(r"://[^/:@]*+:")
_PASSWORD_WORD = re.compile(r"(password\s*=\s*)(?:'[^']*'|[^\s&']+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where things are; made once at a border and passed in."""

    store: str
    """The user's store: a folder, or a `postgresql://` URL."""
    demo: Path
    """The sealed bundled study's folder."""
    endpoints: Path
    """The file that lists endpoints."""
    cluster: str = ""
    """Address of a Ray cluster's dashboard; empty = none."""
    large: int = 10_000_000
    """Checkpoints from which on a study is made ready in the background (`ATOM_LARGE`)."""

    @property
    def shown_store(self) -> str:
        """The store as it may be shown: without a password."""
        return without_password(self.store)

    @property
    def store_folder(self) -> Path:
        """The folder that holds pictures and snapshots beside the store."""
        return server_folder() if "://" in self.store else Path(self.store)


def without_password(words: str) -> str:
    """Return words in which no address of a server shows its password."""
    shown = _WORD.sub(lambda word: _without_password(word[0]), words)
    return _PASSWORD_WORD.sub(r"\1***", shown)


def _without_password(word: str) -> str:
    """Take the password out of an address: all between its user's name and its last `@`."""
    before, at, after = word.rpartition("@")
    user = _USER.search(before) if at else None
    return f"{before[: user.end()]}***@{after}" if user is not None else word


def server_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for the pictures of a store on a server: `ATOM_FILES`, or workspace."""
    return Path((os.environ if environ is None else environ).get("ATOM_FILES") or "workspace")


def picture_address(environ: Mapping[str, str] | None = None) -> str:
    """Return the object store for the pictures of a store on a server: `ATOM_PICTURES`, or none."""
    return (os.environ if environ is None else environ).get("ATOM_PICTURES", "")


def child_environment(settings: Settings) -> dict[str, str] | None:
    """Return the environment of a process that works on a store; None = as it is.

    Everybody on a computer sees a command's words, and a server's address may hold a password.
    In a deployment the process works for the person who acts.
    """
    if "://" not in settings.store:
        return {**os.environ, **_named(actor())} if actor() is not None else None
    files = str(server_folder().resolve())
    return {**os.environ, "ATOM_STORE": settings.store, "ATOM_FILES": files, **_named(actor())}


def _named(person: Person | None) -> dict[str, str]:
    return {} if person is None else {_PERSON: person.id, _PERSON_NAME: person.name}


def person_of_process(environ: Mapping[str, str] | None = None) -> Person:
    """Return for whom a process works: whom the app started it for, else who is on the server."""
    env = os.environ if environ is None else environ
    if env.get(_PERSON):
        return Person(id=env[_PERSON], name=env.get(_PERSON_NAME) or env[_PERSON], role=None)
    return operator(env.get("USER") or "server")


def deployment_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the file that makes this installation a deployment (`ATOM_DEPLOYMENT`), or None."""
    found = (os.environ if environ is None else environ).get(DEPLOYMENT)
    return Path(found) if found else None


def name_deployment(path: Path) -> None:
    """Let this process, and those that it starts, be of the deployment of a file."""
    os.environ[DEPLOYMENT] = str(path.resolve())


def read_variable(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return what a variable holds that a deployment's file names, or None."""
    return (os.environ if environ is None else environ).get(name) or None


def load_settings(
    environ: Mapping[str, str] | None = None, *, store: str | None = None
) -> Settings:
    """Read the settings.

    Args:
        environ: the environment; the process's own when None.
        store: overrides `ATOM_STORE`.

    Returns:
        The settings; `ATOM_STORE` defaults to `workspace/`, `ATOM_ENDPOINTS` to `endpoints.yaml`
        in the store's folder, `ATOM_DEMO` to the bundled study, `ATOM_LARGE` to ten million
        checkpoints.

    Raises:
        SettingsError: `ATOM_LARGE` isn't a number of checkpoints.
    """
    env = os.environ if environ is None else environ
    chosen = store or env.get("ATOM_STORE") or "workspace"
    folder = server_folder(env) if "://" in chosen else Path(chosen)
    return Settings(
        store=chosen,
        demo=Path(env.get("ATOM_DEMO") or DEMO_FOLDER),
        endpoints=Path(env.get("ATOM_ENDPOINTS") or folder / "endpoints.yaml"),
        cluster=env.get("ATOM_CLUSTER", ""),
        large=_large(env.get("ATOM_LARGE") or "10000000"),
    )


def _large(given: str) -> int:
    digits = given.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise SettingsError(f"ATOM_LARGE is {given!r}: give a number of checkpoints, as 10000000")
    return int(digits)


def app_version() -> str:
    """Return the version: as a checkout's project file states it, else as it was installed."""
    try:
        text = (PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
    except FileNotFoundError:
        # Costs each command more than all else that this module imports.
        from importlib.metadata import version

        return version("atomscope")


def cluster_token(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the token that a Ray cluster asks for, or None; never stored or logged."""
    return (os.environ if environ is None else environ).get("RAY_AUTH_TOKEN") or None


def listed_keys(environ: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the variables that the user lists in `ATOM_KEYS` as holders of keys."""
    env = os.environ if environ is None else environ
    return frozenset(env.get("ATOM_KEYS", "").replace(",", " ").split())


def may_hold_key(variable: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a variable's value may go to a server: its name ends in `_KEY`, or it is listed.

    In a deployment its file alone lists them.

    Whoever names a variable as an endpoint's key has its value sent there, and the environment
    holds more than keys.
    """
    listed = deployment_lists(variable)
    if listed is not None:
        return listed
    return variable.endswith(KEY_ENDING) or variable in listed_keys(environ)


def read_key(variable: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the API key held by the environment variable, or None; never stored or logged.

    None, too, for a variable that may hold none (`may_hold_key`).
    """
    if not variable or not may_hold_key(variable, environ):
        return None
    return (os.environ if environ is None else environ).get(variable) or None
