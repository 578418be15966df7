"""`cluster`: the Ray cluster that runs may be sent to."""

from __future__ import annotations

import argparse

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.engine.cluster.executor import Machine
from atom.engine.cluster.ray_jobs import ray_executor


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "status", parents=[common()], help="does the cluster that ATOM_CLUSTER names answer?"
    )
    one.set_defaults(call=status)


def status(args: argparse.Namespace, out: Output) -> int:
    """Say how the cluster is."""
    executor = ray_executor(settings_of(args))
    found = executor.health()
    alive = sum(node.alive for node in found.nodes)
    machines = "1 machine answers" if alive == 1 else f"{alive:,} machines answer"
    lines = [f"Ray {found.version} at {executor.address}: {machines}, {found.cores:g} cores"]
    lines += [_words(node) for node in found.nodes]
    out.result(
        {
            "address": executor.address,
            "version": found.version,
            "cores": found.cores,
            "nodes": [
                {"name": one.name, "alive": one.alive, "cores": one.cores, "head": one.head}
                for one in found.nodes
            ],
        },
        lines,
    )
    return 0 if found.cores else 1


def _words(node: Machine) -> str:
    role = "head, " if node.head else ""
    return f"  {node.name}: {role}{f'{node.cores:g} cores' if node.alive else 'lost'}"
