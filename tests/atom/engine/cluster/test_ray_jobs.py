"""Jobs on a cluster by HTTP: what is asked, and what is said when it doesn't go."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from atom.engine.cluster.executor import Order
from atom.engine.cluster.ray_jobs import accept_job, ray_executor
from atom.engine.ledger import run_claim, take_hold
from atom.engine.process import owner_name, process_gone
from atom.errors import SettingsError, StoreError, UsageError
from atom.records import Run, StudyTask
from atom.settings import load_settings
from atom.store.holds import hold_of

NODES = {
    "data": {
        "summary": [
            {"raylet": {"nodeManagerAddress": "10.0.0.1", "state": "ALIVE", "isHeadNode": True,
                        "resourcesTotal": {}}},
            {"raylet": {"nodeManagerAddress": "10.0.0.2", "state": "ALIVE",
                        "resourcesTotal": {"CPU": 4.0}}},
            {"raylet": {"nodeManagerAddress": "10.0.0.3", "state": "DEAD",
                        "resourcesTotal": {"CPU": 8.0}}},
        ]
    }
}  # fmt: skip


@pytest.fixture
def cluster():
    """Answer as a cluster's head does, and note what was asked."""
    asked = []

    class Head(BaseHTTPRequestHandler):
        token = None

        def answer(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            asked.append((self.command, self.path, body))
            given = self.headers.get("Authorization")
            refused = Head.token is not None and given != f"Bearer {Head.token}"
            found = {"ray_version": "2.60.0"} if self.path == "/api/version" else NODES
            self.send_response(401 if refused else 200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Head)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked, Head
    server.shutdown()
    server.server_close()


def executor(address, store="postgresql://u@h/n"):
    return ray_executor(replace(load_settings({}, store=store), cluster=address))


def a_run(store):
    row = Run(id="r1", study_id="s", created="", heartbeat="",
              task=StudyTask(kind="study", stages=("replay",)))  # fmt: skip
    with store.write() as writer:
        writer.put([row])
        take_hold(writer, row.id)
    return row


def test_a_run_is_a_job_that_holds_it_until_its_own_process_does(store, cluster):
    address, asked, _ = cluster
    row = a_run(store)
    executor(address).start(store, row, Order(processes=3, retry_failed=True))
    ((method, path, body),) = asked
    assert (method, path) == ("POST", "/api/jobs/")
    assert body["entrypoint"] == (
        "python -m atom run start --resume-id r1 --processes 3 --retry-failed --pool ray"
    )
    assert body["submission_id"].startswith("atom-r1-")
    assert "postgresql" not in json.dumps(body)
    held = hold_of(store, run_claim("r1"))
    assert held.owner.startswith("ray-job/atom-r1-")
    assert not process_gone(held.owner)
    accept_job(store, "r1")
    assert hold_of(store, run_claim("r1")).owner == owner_name("r1")


def test_a_run_that_a_living_process_holds_isnt_accepted(store):
    a_run(store)
    with store.write() as writer:
        writer.release(owner_name("r1"))
        writer.claim([run_claim("r1")], "elsewhere/1/1#r1", 60.0)
    accept_job(store, "r1")
    assert hold_of(store, run_claim("r1")).owner == "elsewhere/1/1#r1"


def test_health_counts_the_cores_of_machines_that_answer(cluster):
    found = executor(cluster[0]).health()
    assert (found.version, found.cores) == ("2.60.0", 4.0)
    assert [(one.name, one.alive, one.head) for one in found.nodes] == [
        ("10.0.0.1", True, True), ("10.0.0.2", True, False), ("10.0.0.3", False, False),
    ]  # fmt: skip


def test_a_token_is_sent_and_its_lack_is_named(cluster, monkeypatch):
    address, _, head = cluster
    head.token = "sesame"
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    with pytest.raises(StoreError, match="RAY_AUTH_TOKEN"):
        executor(address).health()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "sesame")
    assert executor(address).health().cores == 4.0


def test_what_doesnt_go_says_what_to_do(store):
    with pytest.raises(SettingsError, match="ATOM_CLUSTER"):
        executor("")
    with pytest.raises(StoreError, match="doesn't answer"):
        executor("http://127.0.0.1:9").health()
    with pytest.raises(UsageError, match="store copy"):
        executor("http://head:8265", store="folder").start(store, a_run(store), Order())
