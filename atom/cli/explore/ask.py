"""`ask STUDY "words"`."""

from __future__ import annotations

import argparse
import asyncio

from atom.asked.rules import read_question
from atom.asked.view_request import ViewRequest
from atom.cli.parts.options import add_common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.sources import open_study
from atom.display.numbers import money
from atom.engine.asked import ask as asking
from atom.engine.consent import give_consent
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.members import pick_endpoint
from atom.errors import UsageError
from atom.records import Endpoint
from atom.store import Store, find_study
from atom.views.asked import EXAMPLES, OpenedView, opened, told, vocabulary_of
from atom.views.study_data import StudyData, load_study


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the command; it has no verbs."""
    add_common(parser)
    parser.add_argument("study", metavar="STUDY", help="name or id")
    parser.add_argument("question", metavar="WORDS", help=f"a question, such as {EXAMPLES[0]!r}")
    parser.add_argument("--judge", metavar="ENDPOINT", help="who reads it; by rule if left out")
    parser.add_argument("--base", default="", metavar="URL", help="the app's address, for the link")
    parser.add_argument("--yes", action="store_true", help="agree to the price and to sending it")
    parser.set_defaults(call=run)


def run(args: argparse.Namespace, out: Output) -> int:
    """Say which view answers a question, and print the link to it."""
    settings = settings_of(args)
    if not args.question.strip():
        raise UsageError("the question is empty: write what you want to see")
    with open_study(settings, args.study) as (store, study_id, key):
        data = load_study(store, study_id)
        if args.judge:
            endpoint = pick_endpoint(known_endpoints(settings), args.judge, "judge")
            wanted = _asked(store, data, endpoint, args, out)
        else:
            wanted = read_question(args.question, vocabulary_of(data))
    found = opened(data, key, wanted)
    said = told(args.question, found, wanted)
    if found is not None and args.base:
        said["address"] = f"{args.base.rstrip('/')}/{found.address.removeprefix('./')}"
    out.result(said, _lines(found, wanted, said))
    return 0 if found is not None else 1


def _asked(
    store: Store, data: StudyData, endpoint: Endpoint, args: argparse.Namespace, out: Output
) -> ViewRequest:
    """Let the judge read the question, after the price and the agreement."""
    vocabulary = vocabulary_of(data)
    expected = asking.price(store, endpoint, args.question, vocabulary)
    cost = money(expected.cost)
    out.problem(f"{endpoint.name} reads the question: about {expected.tokens:,} tokens, {cost}")
    study = find_study(store, data.study.id)
    needed = asking.consent_question(study, endpoint, vocabulary)
    if needed is not None:
        out.problem(f"{needed.sentence}.")
    dear = expected.tokens and (expected.cost is None or expected.cost > 0)
    if (needed is not None or dear) and not args.yes and not out.ask("Go on?"):
        raise UsageError("nothing was sent: agree with --yes, or leave --judge")
    if needed is not None and not store.read_only:
        give_consent(store, study.id, [needed.host])
        study = find_study(store, study.id)
    hosts = [needed.host] if needed is not None else []
    heard = asyncio.run(asking.ask(store, study, endpoint, args.question, vocabulary, agreed=hosts))
    if heard.wanted is None:
        out.problem(f"{endpoint.name} named no view: {heard.why} The rules read it instead.")
        return read_question(args.question, vocabulary)
    return heard.wanted


def _lines(found: OpenedView | None, wanted: ViewRequest, said: dict[str, object]) -> list[str]:
    left = ", ".join(found.left if found else wanted.not_understood)
    missed = [f"not understood: {left}"] if left else []
    if found is None:
        return ["nothing here answers that", *missed, f"ask, for example: {'; '.join(EXAMPLES)}"]
    return [f"understood: {found.said}", *missed, str(said["address"])]
