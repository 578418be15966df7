"""A Ray cluster on loopback, in a process of its own and with Ray's own Python: told by lines.

`add` starts a machine with one core; `kill PID` kills a process and the machine that it belongs to,
hard. Each is answered by a line of JSON; the end of what it reads ends the cluster.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from ray.cluster_utils import Cluster

SMALL = {"object_store_memory": 80_000_000}


def ancestors(pid: int) -> set[int]:
    """Return a process and those above it."""
    found = set()
    while pid > 1:
        found.add(pid)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(fields[1])
    return found


def raylet(node: object) -> int:
    """Return the process that leads a machine."""
    return int(node.all_processes["raylet"][0].process.pid)


def say(**words: object) -> None:
    """Answer."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Do what is told."""
    head = {"num_cpus": 1, "include_dashboard": True, "dashboard_host": "127.0.0.1",
            "dashboard_port": int(sys.argv[1]), **SMALL}  # fmt: skip
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        say(ready=True, pid=os.getpid())
        for line in sys.stdin:
            verb, *words = line.split()
            if verb == "add":
                say(added=raylet(cluster.add_node(num_cpus=1, **SMALL)))
            else:
                above = ancestors(int(words[0]))
                nodes = [cluster.head_node, *cluster.worker_nodes]
                lost = [node for node in nodes if raylet(node) in above]
                os.kill(int(words[0]), signal.SIGKILL)
                heads = sum(node is cluster.head_node for node in lost)
                for node in lost:
                    cluster.remove_node(node, allow_graceful=False)
                say(killed=len(lost), heads=heads)
    finally:
        with suppress(AttributeError):  # a head that was killed can't be asked to end
            cluster.shutdown()


if __name__ == "__main__":
    main()
