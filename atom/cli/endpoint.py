"""`endpoint list|presets|add|find|prices|test`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from pydantic import ValidationError

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, table
from atom.display.writers import lines
from atom.engine.endpoints.configured import (
    PRESETS,
    built_in,
    find_preset,
    keep_boxes,
    known_endpoints,
    plain_address,
    price_changes,
    put_endpoint,
    read_prices,
    take_prices,
    try_endpoint,
    what_a_test_sends,
)
from atom.engine.endpoints.servers import find_servers
from atom.errors import UsageError
from atom.foreign import read_foreign
from atom.records import Endpoint, Prices
from atom.views.settings.endpoint_table import endpoint_table
from atom.views.settings.page import CHECK_WORDS, endpoint_line, kept_words, price_words

_ROLES = ("judge", "candidate", "embedding")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("list", parents=[common()], help="built-in endpoints and your own")
    one.set_defaults(call=list_all)
    one = verbs.add_parser(
        "presets", parents=[common()], help="the providers and servers whose habits are known"
    )
    one.set_defaults(call=presets)
    one = verbs.add_parser("add", parents=[common()], help="add an endpoint to your own")
    one.add_argument("name", help="by which you choose it")
    one.add_argument("--model", required=True, help="as the server calls it")
    one.add_argument("--preset", help=f"whose habits it has: {', '.join(PRESETS)}")
    one.add_argument("--url", help="address, without /chat/completions; the preset's when left out")
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="what the preset's address leaves open; may be repeated",
    )  # fmt: skip
    one.add_argument("--key-env", metavar="VARIABLE", help="names the variable with the key")
    one.add_argument("--role", action="append", choices=_ROLES, help="judge and candidate if none")
    one.add_argument("--price", nargs=2, type=float, metavar=("IN", "OUT"),
                     help="USD for a million tokens; unknown when left out")  # fmt: skip
    one.set_defaults(call=add_one)
    one = verbs.add_parser(
        "find", parents=[common()], help="look for servers at the usual ports of this computer"
    )
    one.add_argument("--add", metavar="MODEL", help="add this model of what was found")
    one.set_defaults(call=find)
    one = verbs.add_parser(
        "prices",
        parents=[common()],
        help="take prices from a file: LiteLLM's JSON, or a table with model, input, output",
    )
    one.add_argument("file", type=Path)
    one.add_argument("--dry-run", action="store_true", help="say what would change")
    one.set_defaults(call=prices)
    one = verbs.add_parser("test", parents=[common()], help="ask an endpoint what a run asks")
    one.add_argument("name", help="the endpoint's name")
    one.add_argument("--keep", action="store_true",
                     help="write the box convention that was found into the endpoints file",
                     )  # fmt: skip
    one.add_argument("--yes", action="store_true", help="agree to what is sent to its host")
    one.set_defaults(call=test)


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the endpoints; keys are never shown, only whether they are set."""
    free = {one.name for one in built_in()}
    found = endpoint_table(
        [
            endpoint_line(one, built_in=one.name in free)
            for one in known_endpoints(settings_of(args)).values()
        ]
    )
    out.result(found.documents, lines(found))
    return 0


def presets(args: argparse.Namespace, out: Output) -> int:
    """List the presets with their addresses."""
    del args
    rows = [
        {
            "name": preset.name,
            "address": preset.address,
            "key": preset.key_env or "",
            "structured": preset.structured,
            "boxes": preset.boxes or "",
            "sampling": preset.sampling,
            "hint": preset.hint,
            "sources": list(preset.sources),
        }
        for preset in PRESETS.values()
    ]
    head = ("name", "address", "key")
    out.result(rows, table(head, [[row[name] for name in head] for row in rows]))
    return 0


def add_one(args: argparse.Namespace, out: Output) -> int:
    """Add an endpoint, with a preset's habits or without."""
    blanks = dict(_pair(text) for text in args.set)
    roles = tuple(dict.fromkeys(args.role or ("judge", "candidate")))
    url, query = plain_address(args.url or "")
    if args.preset:
        preset = find_preset(args.preset)
        unknown = sorted(set(blanks) - set(preset.blanks))
        if unknown:
            raise UsageError(
                f"the address of {preset.title} leaves no {unknown[0]!r} open: {preset.address}"
            )
        made = preset.endpoint(
            name=args.name, model=args.model, base_url=url or None, key_env=args.key_env,
            roles=roles, **blanks,
        )  # fmt: skip
    elif url:
        try:
            made = Endpoint(
                name=args.name, base_url=url, model=args.model, roles=roles, key_env=args.key_env
            )
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise UsageError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    else:
        raise UsageError(f"give --preset ({', '.join(PRESETS)}) or --url")
    made = made.model_copy(update={"query": {**made.query, **query}})
    if args.price:
        made = made.model_copy(update={"prices": Prices(input=args.price[0], output=args.price[1])})
    put_endpoint(settings_of(args), made)
    key = endpoint_line(made, built_in=False).key
    said = [f"added {made.name!r}: {made.model} at {made.host}; {key}"]
    if made.preset and PRESETS[made.preset].hint:
        said.append(PRESETS[made.preset].hint)
    said.append(f"try it: python -m atom endpoint test {made.name!r}")
    out.result(made, said)
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise UsageError(f"--set {text!r}: give NAME=VALUE")
    return name.strip(), value.strip()


def find(args: argparse.Namespace, out: Output) -> int:
    """Look for servers on this computer, and add a model of one."""
    settings = settings_of(args)
    found = asyncio.run(find_servers())
    if args.add:
        offers = [server for server in found if args.add in server.models]
        if not offers:
            listed = ", ".join(model for server in found for model in server.models) or "none"
            raise UsageError(f"no server here lists the model {args.add!r}; listed: {listed}")
        made = offers[0].endpoint(args.add, tuple(known_endpoints(settings)))
        put_endpoint(settings, made)
        out.result(made, [f"added {made.name!r}: {made.model} at {made.host}"])
        return 0
    rows = [
        {
            "server": server.preset.title,
            "address": server.address,
            "models": list(server.models),
            "wants_key": server.wants_key,
        }
        for server in found
    ]
    shown = table(
        ("server", "address", "models"),
        [
            [one.preset.title, one.address,
             "wants a key" if one.wants_key else ", ".join(one.models[:12])]
            for one in found
        ],
    )  # fmt: skip
    out.result(rows, shown if rows else ["no server answers at the usual ports of this computer"])
    return 0


def prices(args: argparse.Namespace, out: Output) -> int:
    """Take prices from a file."""
    settings = settings_of(args)
    data = read_foreign(args.file)
    changes = price_changes(settings, read_prices(args.file.name, data))
    if not args.dry_run:
        take_prices(settings, changes)
    rows = [
        {
            "endpoint": change.endpoint.name,
            "model": change.endpoint.model,
            "before": _price(change.endpoint.prices),
            "now": _price(change.now) if change.now else "not in the file",
            "changed": change.changes,
        }
        for change in changes
    ]
    shown = [
        [one.endpoint.name, one.endpoint.model, price_words(one.endpoint.prices),
         price_words(one.now) if one.now else "not in the file"]
        for one in changes
    ]  # fmt: skip
    said = table(("Name", "Model", "Now", "In the file"), shown)
    out.result(rows, said if rows else ["you have added no endpoint yet"])
    return 0


def _price(price: Prices) -> str:
    if price.input is None or price.output is None:
        return "unknown"
    return f"{price.input:g} / {price.output:g}"


def test(args: argparse.Namespace, out: Output) -> int:
    """Test an endpoint; exit code 1 when a check fails."""
    settings = settings_of(args)
    known = known_endpoints(settings)
    if args.name not in known:
        raise UsageError(f"there is no endpoint {args.name!r}; there are {', '.join(known)}")
    endpoint = known[args.name]
    question = what_a_test_sends(endpoint)
    agreed = args.yes or (question and out.ask(f"{question} to {endpoint.host}. Send it?"))
    result = asyncio.run(try_endpoint(endpoint, agreed=[endpoint.host] if agreed else []))
    names = ("state", "name", "detail")
    data = {
        "endpoint": result.endpoint,
        "model": result.model,
        "checks": [{name: getattr(one, name) for name in names} for one in result.checks],
        "ok": result.ok,
        "boxes": result.boxes,
        "adapted": list(result.adapted),
    }
    rows = [[CHECK_WORDS[one.name], one.state, one.words] for one in result.checks]
    said = [result.verdict, *table(("Check", "State", "Detail"), rows)]
    said += [f"adapted: {line}" for line in result.adapted]
    if args.keep and result.boxes is not None:
        keep_boxes(settings, args.name, result.boxes)
        said.append(kept_words(args.name, result.boxes))
    out.result(data, said)
    return 0 if result.ok else 1
