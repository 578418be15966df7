"""A judge names groups of failures: one call for all of them, with its price and an agreement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from atom.engine.asked.ask import AskPrice
from atom.engine.consent import ConsentNeeded, ConsentQuestion, is_remote
from atom.engine.members import check_endpoint
from atom.engine.reasons.choice import choose
from atom.engine.replies import PaidOnce, stored_reply
from atom.engine.shift import ClientMaker, make_client
from atom.errors import JudgeError, UsageError
from atom.judge import PictureCache, SpendLedger, failed_call
from atom.judge.usage import estimate_request
from atom.records import Call, Endpoint, Study
from atom.records.grouped import GroupName
from atom.stages.reasons.name_groups import GivenNames, GroupMaterial, build, parse
from atom.store import Store
from atom.store.team.budgets import may_ask

TOKENS_A_NAME: Final = 60.0
"""Tokens of the reply for a group, for the estimate."""


@dataclass(frozen=True, kw_only=True)
class Asked:
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
            f"{self.texts} reasons of failures in the judge's words, with the words that tell "
            f"their groups apart (no picture), would be sent to {self.host} "
            f"({', '.join(self.endpoints)})"
        )


def price(store: Store, endpoint: Endpoint, asked: Asked) -> AskPrice:
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
    if not is_remote(endpoint) or endpoint.host in study.consent:
        return None
    texts = sum(len(one.reasons) for one in material)
    return GroupsQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=texts)


async def name_groups(
    store: Store,
    study: Study,
    marks: str,
    endpoint: Endpoint,
    asked: Asked,
    *,
    agreed: Collection[str] = (),
    make: ClientMaker = make_client,
) -> GivenNames:
    """Let a judge name the groups, and use its names; a reply that is stored is used again.

    Args:
        store: the study's store.
        study: the study.
        marks: whose marks the groups are of.
        endpoint: the judge.
        asked: the groups.
        agreed: hosts that were agreed to for this visit alone.
        make: opens the client.

    Raises:
        UsageError: the endpoint can't be a judge, or there are no groups.
        ConsentNeeded: nobody has agreed that reasons go there.
    """
    if "judge" not in endpoint.roles:
        raise UsageError(f"the endpoint {endpoint.name!r} isn't a judge: choose another")
    if not asked.keys:
        raise UsageError("there are no groups to name")
    check_endpoint(endpoint, None)
    needed = consent_question(study, endpoint, asked.material)
    if needed is not None and endpoint.host not in agreed:
        raise ConsentNeeded([needed])
    may_ask(store, endpoint)
    async with make(endpoint, SpendLedger(None), PictureCache()) as client:
        try:
            reply = await PaidOnce(store, client).ask(build(asked.material, asked.kinds))
        except JudgeError as error:
            _keep(store, failed_call(error))
            return GivenNames(names=(None,) * len(asked.keys), why=error.message)
    _keep(store, reply.call)
    given = parse(reply, len(asked.keys), asked.kinds)
    names = tuple(
        GroupName(key=key, kind=name.kind, name=name.name, says=name.says)
        for key, name in zip(asked.keys, given.names, strict=True)
        if name is not None
    )
    if names:
        choose(store, study.id, marks, names=names, named_by=endpoint.model, named=asked.identity)
    return given


def _keep(store: Store, call: Call | None) -> None:
    if call is not None:
        with store.write() as writer:
            writer.replace([call])
