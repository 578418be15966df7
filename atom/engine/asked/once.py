"""One call to a judge outside any run: checked, agreed to, paid once, kept whatever comes."""

from __future__ import annotations

from collections.abc import Collection

from atom.engine.consent import ConsentQuestion, refuse_unless_agreed
from atom.engine.execution import ClientMaker, make_client
from atom.engine.members import check_endpoint
from atom.engine.replies import PaidOnce
from atom.errors import JudgeError, UsageError
from atom.judge import PictureCache, Reply, Request, SpendLedger, failed_call
from atom.records import Call, Endpoint
from atom.store import Store
from atom.store.team.budgets import may_ask


async def ask_once(
    store: Store,
    endpoint: Endpoint,
    request: Request,
    needed: ConsentQuestion | None,
    *,
    agreed: Collection[str] = (),
    make: ClientMaker = make_client,
) -> Reply | JudgeError:
    """Ask a judge one thing; a reply that is stored is used again.

    Args:
        store: where replies are kept, if it can be written.
        needed: what somebody must agree to; None where nothing is to be asked.
        agreed: hosts that were agreed to for this visit alone.

    Returns:
        The reply, or why none came.

    Raises:
        UsageError: the endpoint can't be a judge.
        SettingsError: its key isn't set.
        ConsentNeeded: nobody has agreed that this goes there.
        AccessError: whoever asks may take no paid step, or has nothing left.
    """
    if "judge" not in endpoint.roles:
        raise UsageError(f"the endpoint {endpoint.name!r} isn't a judge: choose another")
    check_endpoint(endpoint, None)
    if needed is not None and needed.host not in agreed:
        refuse_unless_agreed([needed])
    may_ask(store, endpoint)
    async with make(endpoint, SpendLedger(None), PictureCache()) as client:
        try:
            reply = await PaidOnce(store, client).ask(request)
        except JudgeError as error:
            keep_call(store, failed_call(error))
            return error
    keep_call(store, reply.call)
    return reply


def keep_call(store: Store, call: Call | None) -> None:
    """Keep the record of a call, where there is one and the store takes any."""
    if call is not None and not store.read_only:
        with store.write() as writer:
            writer.replace([call])
