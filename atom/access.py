"""Who may do what in a deployment; without one, everybody on this computer may do everything.

A deployment (`atom/deployment.py`) installs its policy once, in each of its processes. From then on
its store asks at each change who makes it, looks that person's role up in its own table `people`,
and refuses what the role doesn't cover: in the store, so that no screen and no command can forget
to ask. Design: design/066-people-and-roles.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, get_args

from atom.errors import AccessError

Role = Literal["viewer", "analyst", "admin"]
"""Each may what the one before it may, and more."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
Action = Literal[
    "look", "label", "export", "edit", "import", "run", "consent", "delete", "endpoints", "people"
]
"""What a person does; `people` is all that is about people: roles, budgets, the log."""
_LEAST: Final[Mapping[Action, Role]] = {
    "look": "viewer",
    "label": "viewer",
    "export": "viewer",
    "edit": "analyst",
    "import": "analyst",
    "run": "analyst",
    "consent": "analyst",
    "delete": "admin",
    "endpoints": "admin",
    "people": "admin",
}
_WORDS: Final[Mapping[Action, str]] = {
    "look": "looking at studies",
    "label": "labelling",
    "export": "exporting",
    "edit": "changing studies",
    "import": "importing",
    "run": "asking models",
    "consent": "agreeing to what may be sent where",
    "delete": "deleting",
    "endpoints": "changing endpoints",
    "people": "people, budgets and the log",
}
OPERATOR: Final = "operator:"
"""Begins the id of whoever works on the server itself, which no sign-in gives."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody who does something.

    Args:
        id: who, for the store: of the identity provider, or `operator:` and a user's name.
        name: what others call them.
        role: what they may; None = nothing.
    """

    id: str
    name: str
    role: Role | None

    @property
    def is_operator(self) -> bool:
        """Whether they work on the server itself, where roles hold nobody back."""
        return self.id.startswith(OPERATOR)


def operator(user: str) -> Person:
    """Return who works on the server itself."""
    return Person(id=f"{OPERATOR}{user}", name=f"{user} (operator)", role="admin")


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What holds in a deployment's processes.

    Args:
        place: its store, as it is opened.
        key_variables: patterns of the environment variables that an endpoint may name.
        endpoint_hosts: patterns of the hosts that may be asked.
        folders: folders of the server whose files may be imported.
        budgets: USD a month: `deployment`, or a role's name.
    """

    place: str
    key_variables: tuple[str, ...] = ()
    endpoint_hosts: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    budgets: Mapping[str, float] | None = None

    def __repr__(self) -> str:
        return "Policy()"  # the store's address may hold a password


_policy: list[Policy] = []
_asker: list[Callable[[], Person | None]] = []
_acting: ContextVar[Person | None] = ContextVar("acting", default=None)


def install(policy: Policy | None, asker: Callable[[], Person | None] | None = None) -> None:
    """Let a policy hold in this process, in place of another; None = none.

    Args:
        asker: says who acts where `acting_as` doesn't, as the app's session knows it.
    """
    _policy[:] = [policy] if policy is not None else []
    _asker[:] = [asker] if asker is not None else []


def policy() -> Policy | None:
    """Return what holds in this process; None where there is no deployment."""
    return _policy[0] if _policy else None


def guards(place: str) -> bool:
    """Whether a store is the deployment's."""
    held = policy()
    if held is None:
        return False
    if "://" in place or "://" in held.place:
        return place == held.place
    return Path(place).resolve() == Path(held.place).resolve()


@contextmanager
def acting_as(person: Person | None) -> Iterator[None]:
    """Let a person be who acts, in this thread or task."""
    token = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(token)


def actor() -> Person | None:
    """Return who acts; None where nobody does, and in a deployment nothing is changed then."""
    held = _acting.get()
    return held if held is not None or not _asker else _asker[0]()


def why_not(person: Person | None, action: Action) -> str:
    """Say why a person may not do something; empty where they may.

    Args:
        person: who, with the role that they have now.
    """
    least = _LEAST[action]
    if person is None:
        return "nobody is signed in: sign in first"
    if person.role is None:
        return f"{person.name} may do nothing here: ask an admin for a role"
    if ROLES.index(person.role) < ROLES.index(least):
        whose = "admins" if least == "admin" else f"{least}s and admins"
        return f"{person.name} is {_a(person.role)}; {_WORDS[action]} is for {whose}: ask an admin"
    return ""


def _a(role: Role) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


def require(person: Person | None, action: Action) -> None:
    """Refuse what a person may not do.

    Raises:
        AccessError: so it is; the message says why.
    """
    reason = why_not(person, action)
    if reason:
        raise AccessError(reason)


def require_host(host: str) -> None:
    """Refuse to ask a host that the deployment doesn't list.

    Raises:
        AccessError: so it is.
    """
    held = policy()
    if held is None or not host or _among(host.lower(), held.endpoint_hosts):
        return
    listed = ", ".join(held.endpoint_hosts) or "none"
    raise AccessError(
        f"{host!r} isn't among the hosts that this deployment may ask ({listed}): an operator adds "
        "it to `limits.hosts` of the deployment's file"
    )


def may_hold_key(variable: str) -> bool | None:
    """Whether the deployment lists a variable as a holder of a key; None without a deployment."""
    held = policy()
    return None if held is None else _among(variable, held.key_variables)


def require_path(path: Path) -> None:
    """Refuse a file of the server that isn't in a folder which the deployment lists.

    Raises:
        AccessError: so it is.
    """
    held = policy()
    if held is None or any(path.resolve().is_relative_to(one.resolve()) for one in held.folders):
        return
    raise AccessError(
        "files of the server can't be named in this deployment: upload them, or an operator adds "
        "their folder to `limits.folders` of the deployment's file"
    )


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
