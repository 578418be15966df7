"""`failures groups --embed|--words|--name|--rule`: how groups of failures are made and named."""

from __future__ import annotations

import argparse
import asyncio

from atom.analysis.reasons.naming import KINDS
from atom.cli.parts.options import settings_of
from atom.cli.parts.output import Output
from atom.display import numbers
from atom.display.numbers import money
from atom.engine.consent import ConsentQuestion, give_consent
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.members import pick_endpoint
from atom.engine.reasons import names, vectors
from atom.engine.reasons.choice import use_rule_names, use_words
from atom.errors import UsageError
from atom.records import Study
from atom.store import Store, find_study
from atom.views.failures.grouping import marks_of, texts_of_errors
from atom.views.failures.naming import material_of
from atom.views.study_data import StudyData


def change(args: argparse.Namespace, out: Output, store: Store, data: StudyData) -> None:
    """Change how a study's groups are made and named, where the command says so.

    Raises:
        UsageError: the study is sealed, or nobody agreed.
    """
    if not (args.embed or args.words or args.name or args.rule):
        return
    if store.read_only:
        raise UsageError("this study is sealed: copy it first (`study copy`), and name the copy")
    if args.words:
        use_words(store, data.study.id, marks_of(data))
    elif args.embed:
        _embed(args, out, store, data)
    if args.rule:
        use_rule_names(store, data.study.id, marks_of(data))
    elif args.name:
        _name(args, out, store, data)


def _embed(args: argparse.Namespace, out: Output, store: Store, data: StudyData) -> None:
    endpoint = pick_endpoint(known_endpoints(settings_of(args)), args.embed, "embedding")
    texts = texts_of_errors(store, data)
    price = vectors.price(store, endpoint, texts)
    out.problem(
        f"{endpoint.name} embeds {price.missing:,} of "
        f"{numbers.count(price.texts, 'different reason')}: about {price.tokens:,} tokens, "
        f"{money(price.cost)}"
    )
    study = find_study(store, data.study.id)
    sent = vectors.consent_question(study, endpoint, price.missing)
    study = _agreed(args, out, store, study, sent, price.cost, tokens=price.tokens)
    asyncio.run(vectors.embed(store, study, marks_of(data), endpoint, texts))


def _name(args: argparse.Namespace, out: Output, store: Store, data: StudyData) -> None:
    endpoint = pick_endpoint(known_endpoints(settings_of(args)), args.name, "judge")
    found, material = material_of(store, data)
    if not found.groups:
        raise UsageError("there are no groups to name")
    asked = names.GroupsToName(identity=found.identity, keys=tuple(one.key for one in found.groups),
                               material=material, kinds=tuple(map(str, KINDS)))  # fmt: skip
    price = names.price(store, endpoint, asked)
    out.problem(
        f"{endpoint.name} names {numbers.count(len(material), 'group')} in one call: about "
        f"{price.tokens:,} tokens, {money(price.cost)}"
    )
    study = find_study(store, data.study.id)
    sent = names.consent_question(study, endpoint, material)
    study = _agreed(args, out, store, study, sent, price.cost, tokens=price.tokens)
    given = asyncio.run(names.name_groups(store, study, marks_of(data), endpoint, asked))
    if given.why:
        out.problem(f"{endpoint.name} named no group: {given.why} The rule's names stay.")
    for line in given.refused:
        out.problem(f"left out: {line}")


def _agreed(
    args: argparse.Namespace,
    out: Output,
    store: Store,
    study: Study,
    sent: ConsentQuestion | None,
    cost: float | None,
    *,
    tokens: int,
) -> Study:
    """Go on once price and sending are agreed to; return the study with the agreement."""
    if sent is not None:
        out.problem(f"{sent.sentence}.")
    dear = tokens and (cost is None or cost > 0)
    if (sent is not None or dear) and not args.yes and not out.ask("Go on?"):
        raise UsageError("nothing was sent: agree with --yes")
    if sent is None:
        return study
    give_consent(store, study.id, [sent.host])
    return find_study(store, study.id)
