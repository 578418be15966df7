"""A judge names groups of failures: one call for all of them, with its price and an agreement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from atom.engine.asked.ask import AskPrice
from atom.engine.asked.once import ask_once
from atom.engine.consent import ConsentQuestion, needs_consent
from atom.engine.execution import ClientMaker, make_client
from atom.engine.reasons.choice import choose
from atom.engine.replies import stored_reply
from atom.errors import JudgeError, UsageError
from atom.judge.usage import estimate_request
from atom.records import Endpoint, Study
from atom.records.grouped import GroupName
from atom.stages.reasons.name_groups import GivenNames, GroupMaterial, build, parse
from atom.store import Store

TOKENS_A_NAME: Final = 60.0
"""Tokens of the reply for a group, for the estimate."""


@dataclass(frozen=True, kw_only=True)
class GroupsToName:
    """The groups that a judge is asked to name.

    Args:
        identity: names the groups by what is in them.
        keys: the groups' keys, in order.
        material: what is told of each.
        kinds: the kinds of error that may be used.
    """

    identity: str
    keys: tuple[str, ...]
    material: tuple[GroupMaterial, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GroupsQuestion(ConsentQuestion):
    """What would be sent so that groups can be named."""

    @property
    def sentence(self) -> str:
        """The question in words."""
        return (
            f"{self.texts:,} reasons of failures in the judge's words, with the words that tell "
            f"their groups apart (no picture), would be sent to {self.host} "
            f"({', '.join(self.endpoints)})"
        )


def price(store: Store, endpoint: Endpoint, asked: GroupsToName) -> AskPrice:
    """Say what the names will cost, before anything is sent."""
    request = build(asked.material, asked.kinds)
    if stored_reply(store, request, endpoint) is not None:
        return AskPrice(tokens=0, cost=0.0)
    found = estimate_request(
        request, endpoint.prices, endpoint.pictures,
        typical_completion=TOKENS_A_NAME * max(len(asked.keys), 1),
    )  # fmt: skip
    return AskPrice(tokens=found.prompt_tokens + found.completion_tokens, cost=found.cost)


def consent_question(
    study: Study, endpoint: Endpoint, material: Sequence[GroupMaterial]
) -> GroupsQuestion | None:
    """Return what somebody must agree to; None where nothing is to be asked."""
    if not needs_consent(endpoint, study.consent):
        return None
    texts = sum(len(one.reasons) for one in material)
    return GroupsQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=texts)


async def name_groups(
    store: Store,
    study: Study,
    marks: str,
    endpoint: Endpoint,
    asked: GroupsToName,
    *,
    agreed: Collection[str] = (),
    make: ClientMaker = make_client,
) -> GivenNames:
    """Let a judge name the groups, and use its names; a reply that is stored is used again.

    Args:
        agreed: hosts that were agreed to for this visit alone.

    Raises:
        UsageError: the endpoint can't be a judge, or there are no groups.
        ConsentNeeded: nobody has agreed that reasons go there.
    """
    if not asked.keys:
        raise UsageError("there are no groups to name")
    request = build(asked.material, asked.kinds)
    needed = consent_question(study, endpoint, asked.material)
    reply = await ask_once(store, endpoint, request, needed, agreed=agreed, make=make)
    if isinstance(reply, JudgeError):
        return GivenNames(names=(None,) * len(asked.keys), why=reply.message)
    given = parse(reply, len(asked.keys), asked.kinds)
    names = tuple(
        GroupName(key=key, kind=name.kind, name=name.name, says=name.says)
        for key, name in zip(asked.keys, given.names, strict=True)
        if name is not None
    )
    if names:
        choose(store, study.id, marks, names=names, named_by=endpoint.model, named=asked.identity)
    return given
