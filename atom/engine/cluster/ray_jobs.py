"""Runs on a Ray cluster, by its Jobs interface over HTTP: nothing of Ray is needed here.

A job is the command that would be started on this computer, on a machine of the cluster. What it
works on stands in the cluster's own environment (`ATOM_STORE`, `ATOM_ENDPOINTS`, keys): whoever may
look at a job sees no address and no key.

Reference: https://docs.ray.io/en/latest/cluster/running-applications/job-submission/rest.html
"""

from __future__ import annotations

import http.client
import json
import shlex
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from atom.engine.cluster.executor import Health, Machine, Order
from atom.engine.ledger import LEASE, run_claim, take_hold
from atom.engine.process import owner_name
from atom.errors import SettingsError, StoreError, UsageError
from atom.records import Run
from atom.settings import Settings, cluster_token
from atom.store import Store
from atom.store.holds import drop_hold, holder_now

COMMAND = "python -m atom"
_JOB = "ray-job/"
_PATIENCE = 30.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST = 4_000_000
"""Bytes of an answer that are read."""


@dataclass(frozen=True, kw_only=True)
class RayExecutor:
    """A Ray cluster.

    Attributes:
        address: of its dashboard, `http://head:8265`.
        settings: which store runs are of.
    """

    address: str
    settings: Settings

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Submit the run as a job, which starts its helpers itself.

        Raises:
            UsageError: the store can't be seen from other machines.
            StoreError: the cluster doesn't take the job.
        """
        if "://" not in self.settings.store and urlsplit(self.address).hostname not in _LOOPBACK:
            raise UsageError(
                "a cluster's machines can't see a store in a folder of this computer: use one on "
                "PostgreSQL (`store copy` takes yours there), or leave --cluster"
            )
        job = f"atom-{run.id}-{time.time_ns() // 1_000_000}"
        words = [*order.words(run.id), "--pool", "ray"]
        asked = {"entrypoint": f"{COMMAND} {shlex.join(words)}", "submission_id": job,
                 "entrypoint_num_cpus": 1, "metadata": {"run": run.id}}  # fmt: skip
        with store.write() as writer:
            if holder_now(writer, run_claim(run.id)) == owner_name(run.id):
                drop_hold(writer, run_claim(run.id))
            writer.claim([run_claim(run.id)], f"{_JOB}{job}/#{run.id}", LEASE)
        self._ask("POST", "/api/jobs/", asked)

    def health(self) -> Health:
        """Return the cluster's version and machines.

        Raises:
            StoreError: it doesn't answer.
        """
        version = self._ask("GET", "/api/version")
        found = self._ask("GET", "/nodes?view=summary")
        nodes = []
        for one in found.get("data", {}).get("summary", []):
            raylet = one.get("raylet", {})
            nodes.append(
                Machine(
                    name=str(raylet.get("nodeManagerAddress") or one.get("ip", "")),
                    alive=raylet.get("state") == "ALIVE",
                    cores=float(raylet.get("resourcesTotal", {}).get("CPU", 0)),
                    head=bool(raylet.get("isHeadNode")),
                )
            )
        return Health(version=str(version.get("ray_version", "")), nodes=tuple(nodes))

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        where = urlsplit(self.address)
        make = (
            http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        )
        token = cluster_token()
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        connection = make(where.hostname or "", where.port, timeout=_PATIENCE)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, where.path.rstrip("/") + path, text, headers)
            answer = connection.getresponse()
            said = answer.read(_MOST).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise StoreError(
                f"the cluster at {self.address!r} doesn't answer ({error}): is it up, and can this "
                "computer reach it?"
            ) from error
        finally:
            connection.close()
        if answer.status in (401, 403):
            raise StoreError(
                f"the cluster at {self.address!r} refused ({answer.status}): set RAY_AUTH_TOKEN to "
                "its token"
            )
        try:
            found = json.loads(said)
        except ValueError:
            found = None
        if answer.status >= 400 or not isinstance(found, dict):
            raise StoreError(
                f"the cluster at {self.address!r} answered {answer.status} to {path!r}: "
                f"{said[:300]!r}"
            )
        return found


def ray_executor(settings: Settings) -> RayExecutor:
    """Return the cluster that settings name.

    Raises:
        SettingsError: they name none, or no address.
    """
    if urlsplit(settings.cluster).scheme not in ("http", "https"):
        raise SettingsError(
            f"ATOM_CLUSTER is {settings.cluster!r}: set it to the address of a Ray cluster's "
            "dashboard, such as http://head:8265"
        )
    return RayExecutor(address=settings.cluster, settings=settings)


def accept_job(store: Store, run_id: str) -> None:
    """Take over, in a job's own process, the run that was held in the job's name."""
    with store.write() as writer:
        holder = holder_now(writer, run_claim(run_id))
        if holder is None or holder.startswith(_JOB):
            take_hold(writer, run_id)
