"""Endpoints for the screens: list, change and try them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit

from atom.access import policy, require_host
from atom.engine.consent import is_remote
from atom.engine.endpoints.form_checks import check_forms
from atom.engine.team import team_store
from atom.errors import SettingsError, UsageError
from atom.judge.servers.checkup import EndpointTest as EndpointTest
from atom.judge.servers.checkup import check_endpoint
from atom.judge.servers.endpoints import FAULTY_JUDGES as FAULTY_JUDGES
from atom.judge.servers.endpoints import (
    VARIABLE,
    builtin_endpoints,
    load_endpoints,
    read_endpoints,
    save_endpoints,
    split_address,
)
from atom.judge.servers.presets import PRESETS as PRESETS
from atom.judge.servers.presets import Preset as Preset
from atom.judge.servers.presets import find_preset as find_preset
from atom.judge.servers.prices import PriceList as PriceList
from atom.judge.servers.prices import read_prices as read_prices
from atom.records import BoxConvention, Endpoint, Prices
from atom.records.endpoint import named_variables
from atom.settings import Settings, listed_keys, may_hold_key
from atom.store import Store
from atom.store.reading.calls import adapted_calls
from atom.store.team.endpoints import keep_endpoints, kept_endpoints

_BLANK = re.compile(r"\{[^{}]*\}")
_LATELY = 500
"""Calls of an endpoint that are looked at."""


def known_endpoints(settings: Settings) -> dict[str, Endpoint]:
    """Return the built-in endpoints and the user's own, by name.

    Raises:
        SettingsError: the endpoints file can't be read.
    """
    if policy() is None:
        return load_endpoints(settings.endpoints)
    return {one.name: one for one in (*builtin_endpoints(), *own_endpoints(settings))}


def built_in() -> tuple[Endpoint, ...]:
    """Return the endpoints that need no key."""
    return builtin_endpoints()


def own_endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """Return the user's own endpoints, in the file's order.

    Raises:
        SettingsError: the endpoints file can't be read.
    """
    if policy() is not None:
        return kept_endpoints(team_store())
    return read_endpoints(settings.endpoints) if settings.endpoints.exists() else ()


def _save(settings: Settings, own: Iterable[Endpoint]) -> None:
    """Keep the list of endpoints: in a file, or in a deployment's store."""
    if policy() is None:
        save_endpoints(settings.endpoints, own)
        return
    own = list(own)
    for endpoint in own:
        require_host(urlsplit(endpoint.url or "").hostname or "")
        for name in endpoint.variables:
            if not may_hold_key(name):
                raise _unlisted(name)
    keep_endpoints(team_store(), own)


def _unlisted(name: str) -> SettingsError:
    return SettingsError(
        f"The variable {name!r} isn't among those that this deployment lists for keys: an operator "
        "adds it to `limits.key_variables` of the deployment's file."
    )


def put_endpoint(settings: Settings, endpoint: Endpoint, *, replaces: str | None = None) -> None:
    """Add an endpoint to the file, or put it in another's place.

    Args:
        replaces: name of the one that it takes the place of; None adds it at the end.

    Raises:
        SettingsError: the name is taken, a field is wrong, or the file can't be written.
    """
    own = list(own_endpoints(settings))
    names = [other.name for other in own]
    taken = [other.name for other in (*builtin_endpoints(), *own) if other.name != replaces]
    if endpoint.name in taken:
        raise SettingsError(
            f"An endpoint is called {endpoint.name!r} already. Choose another name."
        )
    if replaces is None:
        own.append(endpoint)
    elif replaces in names:
        own[names.index(replaces)] = endpoint
    else:
        raise SettingsError(f"There is no endpoint {replaces!r} any more. Add it as a new one.")
    _save(settings, own)


def check_variables(
    settings: Settings, endpoint: Endpoint, environ: Mapping[str, str] | None = None
) -> None:
    """Refuse a variable that the user hasn't listed; asked of endpoints that come by the screens.

    Whoever reaches the screens could else have any variable of the environment sent to a server
    of their own. Listed are those in `ATOM_KEYS`, those of the endpoints file that end in `_KEY`,
    and a provider's usual one for that provider's own address.

    Raises:
        SettingsError: a variable is none of these.
    """
    held = {name for other in own_endpoints(settings) for name in other.variables}
    listed = listed_keys(environ)
    for name in endpoint.variables:
        if policy() is not None:
            if may_hold_key(name, environ):
                continue
            raise _unlisted(name)
        if name == endpoint.key_env and not VARIABLE.fullmatch(name):
            continue  # Perhaps a key itself: saving refuses it, and doesn't repeat it.
        if name in listed or (name in held and may_hold_key(name, environ)):
            continue
        if any(_is_usual(name, endpoint, preset) for preset in PRESETS.values()):
            continue
        raise SettingsError(
            f"The variable {name!r} isn't among those that you have listed as keys, so its value "
            f"is sent to no server that is named here. Start the app with ATOM_KEYS={name}, or "
            "add the endpoint on the command line (endpoint add)."
        )


def _is_usual(name: str, endpoint: Endpoint, preset: Preset) -> bool:
    """Whether a variable goes to the provider whose key it usually holds."""
    usual = {*([preset.key_env] if preset.key_env else [])}
    usual |= {one for text in preset.extra_headers.values() for one in named_variables(text)}
    if name not in usual:
        return False
    own, asked = urlsplit(preset.address), urlsplit(endpoint.url)
    pattern = "[a-z0-9-]+".join(re.escape(part) for part in _BLANK.split(own.netloc))
    return own.scheme == asked.scheme and re.fullmatch(pattern, asked.netloc.lower()) is not None


def remove_endpoint(settings: Settings, name: str) -> None:
    """Take an endpoint out of the file.

    Raises:
        SettingsError: there is none of that name, or the file can't be written.
    """
    own = own_endpoints(settings)
    kept = [endpoint for endpoint in own if endpoint.name != name]
    if len(kept) == len(own):
        raise SettingsError(f"There is no endpoint {name!r} among your own.")
    _save(settings, kept)


def plain_address(text: str) -> tuple[str, dict[str, str]]:
    """Take an address as a provider's page shows it apart into address and parameters.

    Args:
        text: `https://lab.openai.azure.com/.../chat/completions?api-version=2024-10-21`.

    Returns:
        What stands in `base_url`, without /chat/completions, and what stands in `query`.
    """
    address, query = split_address(text.strip())
    plain = address.rstrip("/").removesuffix("/chat/completions")
    return (plain if plain != address.rstrip("/") else address), query


ANY = Preset(name="", title="another one", address="http://127.0.0.1/v1", key_env=None, sources=())
"""What is known of a provider that no preset is about: nothing."""


def sketch(preset: Preset, model: str) -> Endpoint:
    """Make an endpoint of a preset and a model whose name and address don't count yet."""
    return preset.endpoint(name="new", model=model.strip() or "-", base_url="http://127.0.0.1/v1")


def adapted_lately(store: Store, name: str) -> tuple[str, ...]:
    """Return what an endpoint's server didn't take of what it was asked, newest first.

    Looks at its last calls alone: servers change, and so does what is asked of them.
    """
    return tuple(dict.fromkeys(chain.from_iterable(adapted_calls(store, name, _LATELY))))


@dataclass(frozen=True, kw_only=True)
class PriceChange:
    """What a price list says of one of the user's endpoints.

    Args:
        endpoint: the endpoint.
        now: the list's prices; None where the list doesn't know the model.
    """

    endpoint: Endpoint
    now: Prices | None

    @property
    def changes(self) -> bool:
        """Whether taking it would change anything."""
        return self.now is not None and self.now != self.endpoint.prices


def price_changes(settings: Settings, prices: PriceList) -> tuple[PriceChange, ...]:
    """Hold a price list against the user's endpoints, in the file's order.

    Raises:
        SettingsError: the endpoints file can't be read.
    """
    return tuple(PriceChange(endpoint=one, now=prices.of(one)) for one in own_endpoints(settings))


def take_prices(settings: Settings, changes: Sequence[PriceChange]) -> tuple[str, ...]:
    """Write prices into the endpoints file.

    Returns:
        The names of the endpoints whose prices changed.

    Raises:
        SettingsError: the file can't be read or written.
    """
    wanted = {change.endpoint.name: change.now for change in changes if change.changes}
    made = [
        one.model_copy(update={"prices": wanted[one.name]}) if wanted.get(one.name) else one
        for one in own_endpoints(settings)
    ]
    changed = tuple(one.name for one in made if one.name in wanted)
    if changed:
        _save(settings, made)
    return changed


def keep_boxes(settings: Settings, name: str, boxes: BoxConvention) -> Endpoint:
    """Write how an endpoint writes boxes, as a test found it, into the endpoints file.

    Raises:
        SettingsError: there is no such endpoint of the user's, or the file can't be written.
    """
    own = {endpoint.name: endpoint for endpoint in own_endpoints(settings)}
    if name not in own:
        raise SettingsError(f"There is no endpoint {name!r} among your own.")
    made = own[name].model_copy(update={"boxes": boxes})
    put_endpoint(settings, made, replaces=name)
    return made


def what_a_test_sends(endpoint: Endpoint) -> str:
    """Say what a test sends off this computer, as a question's first half; empty for nothing."""
    if not is_remote(endpoint):
        return ""
    keys = " and ".join(f"the value of {name}" for name in endpoint.variables)
    what = "a drawn picture, questions about it"
    if endpoint.roles == ("embedding",):
        what = "three short sentences"
    return f"A test sends {what}{', and ' if keys else ''}{keys}"


async def try_endpoint(endpoint: Endpoint, *, agreed: Collection[str] = ()) -> EndpointTest:
    """Ask an endpoint a few small things, then what a run asks.

    Nothing is raised for what it does wrong.

    Args:
        agreed: the hosts beyond this computer that may be sent something.

    Raises:
        UsageError: nobody has agreed to its host; nothing was sent.
    """
    question = what_a_test_sends(endpoint)
    if question and endpoint.host not in agreed:
        raise UsageError(
            f"{question} to {endpoint.host}: agree first (--yes on the command line, or on the "
            "Settings page)"
        )
    return await check_endpoint(endpoint, further=check_forms)
