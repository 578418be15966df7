"""A deployment's people in the app: signed in by their provider, and looked up at each action.

`st.login` leaves a signed cookie that lives for 30 days and isn't asked about again. So it says
only who somebody is: what they may stands in the store's table `people`, which is read at each
action (`atom/access.py`), and a role that is taken away is gone at the next click.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from atom.access import Action, Person, install, policy, why_not
from atom.deployment import Deployment, load_deployment
from atom.engine.team import now_as, signed_in
from atom.errors import SettingsError
from atom.files import write_file
from atom.settings import deployment_file
from atom.ui import kit
from atom.ui.html import el
from atom.ui.plain import plain

PERSON: Final = "atom_person"
"""Who a session is, by its state, which the server holds and the browser can't change."""
_MAIN: Final[Mapping[str, Action]] = {"Run": "run", "Data": "import", "Settings": "endpoints"}
"""What a screen is there for, by its section or its title."""
_ACTS: Final = ("on_click", "args", "kwargs")
_ROLES_MOST = 200
"""Groups of one person that are looked at."""


def install_policy() -> Deployment | None:
    """Let a deployment's policy hold in this process; None where there is none.

    Raises:
        SettingsError: its file or a variable that it names is wrong.
    """
    path = deployment_file()
    if path is None:
        return None
    deployment = load_deployment(path)
    install(deployment.policy(), _session_person)
    return deployment


@contextmanager
def secrets_of(deployment: Deployment) -> Iterator[Path]:
    """Give Streamlit the sign-in's secrets in a file that only this user can read.

    Raises:
        SettingsError: a variable isn't set, or Authlib isn't installed.
    """
    if find_spec("authlib") is None:
        raise SettingsError("signing in needs Authlib: `pip install -r requirements-team.txt`")
    sign_in = deployment.sign_in
    held = {
        "redirect_uri": f"{deployment.origin}/oauth2callback",
        "cookie_secret": deployment.cookie_secret(),
        "client_id": sign_in.client_id,
        "client_secret": deployment.secret(sign_in.client_secret),
        "server_metadata_url": sign_in.metadata_url,
    }
    lines = ["[auth]", *(f"{name} = {json.dumps(value)}" for name, value in held.items())]
    lines.append(f"client_kwargs = {{ scope = {json.dumps(sign_in.scope)} }}")
    with tempfile.TemporaryDirectory(prefix="atom-") as folder:  # its mode lets in its owner alone
        path = Path(folder) / "secrets.toml"
        write_file(path, "\n".join(lines) + "\n")
        yield path


def _session_person() -> Person | None:
    """Return whose session runs in this thread; None outside of one, or before they signed in."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    held = st.session_state.get(PERSON)
    return held if isinstance(held, Person) and st.user.get("is_logged_in") else None


def enter() -> None:
    """Let in whoever is signed in; show everybody else a way to sign in, and nothing else."""
    if policy() is None:
        return
    if not st.user.get("is_logged_in"):
        st.session_state.pop(PERSON, None)
        _door("Sign in", "Atomscope is shared by a team here.", "Sign in", st.login)
    claims = st.user.to_dict()
    path = deployment_file()
    assert path is not None
    sign_in = load_deployment(path).sign_in
    told: object = claims.get(sign_in.claim)
    listed = told if isinstance(told, list | tuple) else [told] if isinstance(told, str) else []
    groups = [str(one) for one in listed[:_ROLES_MOST]]
    issued: object = claims.get("iat")
    subject = str(claims.get("sub") or "")
    if not subject:
        _door("Sign in", "Your provider didn't say who you are.", "Sign out", st.logout)
    person = signed_in(
        f"{claims.get('iss', '')}#{subject}",
        str(claims.get("name") or claims.get("preferred_username") or ""),
        str(claims.get("email") or ""),
        groups=groups,
        roles=sign_in.roles,
        issued=float(issued) if isinstance(issued, int | float) else 0.0,
    )
    st.session_state[PERSON] = person
    reason = why_not(person, "look")
    if reason:
        _door(f"Hello, {person.name}", f"{reason}.", "Sign out", st.logout)


def _door(title: str, words: str, label: str, does: object) -> None:
    with st.columns([1, 1.9, 1])[1]:
        kit.show(
            el(
                "div",
                el("h1", title),
                el("p", words, class_="quiet"),
                style="padding-top:14vh",
            ),
            key="sign_in_words",
        )
        st.button(plain(label), key="sign_in", type="primary", on_click=does)  # type: ignore[arg-type]
    st.stop()


def draw() -> None:
    """Show who is signed in, with their role, and a way out."""
    person = _session_person() if policy() is not None else None
    if person is None:
        return
    person = now_as(person)
    kit.show(
        el(
            "div",
            kit.strong(person.name),
            " · ",
            el("span", person.role or "no role", data_testid="role"),
            class_="small",
            style="padding-top:12px",
        ),
        key="signed_in",
    )
    st.button("Sign out", key="sign_out", on_click=st.logout, type="tertiary")


def refused(action: Action) -> str:
    """Say why whoever looks may not do something, for a control's help; empty where they may."""
    if policy() is None:
        return ""
    person = _session_person()
    return plain(why_not(None if person is None else now_as(person), action))


def button(action: Action, label: str, draw: Callable[..., bool] = st.button, **how: Any) -> bool:
    """Draw a button that is disabled, with the reason, for whoever may not do what it does.

    A browser can say of a disabled button, too, that it was pressed: then nothing is done. What a
    role covers is asked once more at the click, since it may have been taken away meanwhile.

    Args:
        label: what stands on it.
        draw: what draws it; in a form `st.form_submit_button`.
        how: as that takes it.

    Returns:
        Whether it was pressed.
    """
    reason = refused(action)
    if reason:
        kept = {name: one for name, one in how.items() if name not in _ACTS}
        draw(label, **{**kept, "help": reason, "disabled": True})
        return False
    act = how.get("on_click")
    if act is not None and policy() is not None:

        def allowed(*args: Any, **given: Any) -> None:
            if not refused(action):
                act(*args, **given)

        how["on_click"] = allowed
    return draw(label, **how)


def note(section: str) -> None:
    """Say at the top of a screen what its reader may not do there, and why.

    Args:
        section: the menu's section that the screen is of, or its title.
    """
    action = _MAIN.get(section)
    reason = refused(action) if action is not None else ""
    if reason:
        kit.show(kit.notice(f"{reason}."), key="role_note")


def name() -> str:
    """Return the signed-in person's name; empty without a deployment."""
    person = _session_person() if policy() is not None else None
    return "" if person is None else person.name
