"""Servers on this computer: which of the usual ports answers, and with which models."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from atom.errors import AtomError, SettingsError
from atom.judge import JudgeClient, RetryPolicy
from atom.judge.servers.presets import PRESETS, Preset
from atom.records import Endpoint, Prices

PATIENCE = 1.5
"""Seconds for a port to answer; this computer is never far away."""
_REFUSED = re.compile(r"\bHTTP 40[13]\b")
ClientFactory = Callable[[Endpoint], JudgeClient]


@dataclass(frozen=True, kw_only=True)
class FoundServer:
    """A server that answers on this computer.

    Args:
        preset: what usually listens at its port.
        models: the models that it lists, in its order.
        wants_key: it answered that a key is needed, and listed nothing.
    """

    preset: Preset
    address: str
    models: tuple[str, ...]
    wants_key: bool = False

    def endpoint(self, model: str, taken: Sequence[str]) -> Endpoint:
        """Make an endpoint of one of its models.

        Args:
            model: as it lists it.
            taken: names that other endpoints have.

        Returns:
            The endpoint, named after the model. What runs on this computer itself costs nothing
            a token; what a proxy hands on may, so its price stays unknown.
        """
        name = _free_name(model, taken)
        made = self.preset.endpoint(
            name=name, model=model, base_url=self.address, key_env=self.preset.key_env
        )
        if self.preset.name == "litellm":
            return made if self.wants_key else made.model_copy(update={"key_env": None})
        return made.model_copy(update={"prices": Prices(input=0.0, output=0.0)})


def _free_name(model: str, taken: Sequence[str]) -> str:
    plain = model.strip().rsplit("/", 1)[-1][:60] or "local"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain} ({number})", number + 1
    return name


def usual_places() -> dict[str, Preset]:
    """Return the addresses at which servers on this computer usually listen."""
    return {preset.address: preset for preset in PRESETS.values() if preset.is_local}


async def find_servers(
    places: dict[str, Preset] | None = None, *, seconds: float = PATIENCE
) -> tuple[FoundServer, ...]:
    """Look at all places at once; what doesn't answer with a list of models isn't there.

    Args:
        places: address → what usually listens there; the usual ones when None.
        seconds: how long each gets.

    Returns:
        What answered, in the order of the places.

    Raises:
        SettingsError: a place isn't on this computer; nothing was asked then.
    """
    looked = usual_places() if places is None else places
    for address in looked:
        if urlsplit(address).hostname not in ("127.0.0.1", "::1", "localhost"):
            raise SettingsError(f"{address!r} isn't on this computer: add it as an endpoint")
    found = await asyncio.gather(
        *(_look(address, preset, seconds) for address, preset in looked.items())
    )
    return tuple(server for server in found if server is not None)


async def _look(address: str, preset: Preset, seconds: float) -> FoundServer | None:
    endpoint = Endpoint(
        name=preset.name, base_url=address, model="-", timeout=seconds, max_tries=1,
        max_seconds=seconds,
    )  # fmt: skip
    policy = RetryPolicy(max_tries=1, max_seconds=seconds)
    try:
        async with asyncio.timeout(2 * seconds), JudgeClient(endpoint, policy=policy) as client:
            models = await client.list_models()
    except TimeoutError:
        return None
    except AtomError as error:
        if _REFUSED.search(error.message):
            return FoundServer(preset=preset, address=address, models=(), wants_key=True)
        return None
    return FoundServer(preset=preset, address=address, models=models)
