"""`endpoint list|test`."""

from __future__ import annotations

import argparse
import asyncio

from atom.cli.options import common, settings_of
from atom.cli.output import Output, table
from atom.engine.endpoints import known_endpoints, try_endpoint
from atom.errors import UsageError
from atom.settings import read_key


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("list", parents=[common()], help="built-in endpoints and your own")
    one.set_defaults(call=list_all)
    one = verbs.add_parser("test", parents=[common()], help="ask an endpoint a few small things")
    one.add_argument("name", help="the endpoint's name")
    one.set_defaults(call=test)


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the endpoints; keys are never shown, only whether they are set."""
    rows = [
        {
            "name": endpoint.name,
            "model": endpoint.model,
            "host": endpoint.host,
            "roles": ", ".join(endpoint.roles),
            "concurrency": endpoint.concurrency,
            "key": _key_state(endpoint.key_env),
        }
        for endpoint in known_endpoints(settings_of(args)).values()
    ]
    head = ("name", "model", "host", "roles", "concurrency", "key")
    out.result(rows, table(head, [[row[name] for name in head] for row in rows]))
    return 0


def _key_state(variable: str | None) -> str:
    if variable is None:
        return "none needed"
    return f"{variable} is set" if read_key(variable) else f"{variable} is NOT set"


def test(args: argparse.Namespace, out: Output) -> int:
    """Test an endpoint; exit code 1 when a check fails."""
    known = known_endpoints(settings_of(args))
    if args.name not in known:
        raise UsageError(f"there is no endpoint {args.name!r}; there are {', '.join(known)}")
    result = asyncio.run(try_endpoint(known[args.name]))
    rows = [[check.state, check.name, check.detail] for check in result.checks]
    failed = any(check.state == "failed" for check in result.checks)
    data = {
        "endpoint": result.endpoint,
        "model": result.model,
        "checks": [dict(zip(("state", "name", "detail"), row, strict=True)) for row in rows],
        "ok": not failed,
    }
    out.result(data, table(("state", "check", "detail"), rows))
    return 1 if failed else 0
