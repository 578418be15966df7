"""Work behind a screen: jobs, what they cost, and the agreement before anything leaves.

Threads can't draw. A screen starts a job here, and a fragment looks at it until it ends.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from atom.engine.cluster.ray_jobs import ray_executor
from atom.engine.consent import give_consent, is_remote
from atom.engine.control import start_work
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.endpoints.price import cost_words
from atom.engine.jobs import Job, Jobs, JobState, Looks
from atom.engine.work import Spec
from atom.errors import AtomError
from atom.records import Endpoint, Run, content_id
from atom.ui import kit, links
from atom.ui.html import el
from atom.ui.kit import ASSETS
from atom.ui.pages import SETTINGS
from atom.ui.plain import plain
from atom.ui.shell import stores, team
from atom.views.filters import Filters
from atom.views.runs.page import judge_endpoint
from atom.views.stores import OpenStore, StudyEntry
from atom.views.study_data import StudyData

if TYPE_CHECKING:
    from atom.ui.shell.frame import Here  # draws with this module

T = TypeVar("T")
_NOWHERE: Mapping[str, str] = {}

AGREED = "atom_agreed"
ASKING = "atom_asking"
VISITOR = "atom_visitor"
LOOKS = "atom_looks"
"""What is worked out in the background: its name → (of what, the job's id)."""
BUILT_IN = "probe:"
"""The address of endpoints in this process; an address behind it is a server of one's own."""
LOST = "the server was restarted: try again"
COUNTING = "Counting what is left, and what it would cost…"
PATIENCE = 0.3
"""Seconds within which a step that ends shows no sign of work."""
AT_ONCE = 0.1
"""Seconds that a click waits for what it began; what takes longer shows that it is under way."""
LOOK_EVERY = 0.4
"""Seconds between two looks at a job."""


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """Return the jobs of this server."""
    return Jobs()


@st.cache_resource(show_spinner=False)
def looks() -> Looks:
    """Return what this server works out for whoever looks."""
    return Looks(jobs())


def style() -> None:
    """Add these screens' own CSS to the page."""
    st.html(f"<style>{(ASSETS / 'work.css').read_text(encoding='utf-8')}</style>")


# --- jobs ----------------------------------------------------------------------------------------


def start(title: str, do: Callable[[], object]) -> str:
    """Do something in a thread, and return the job's id; what is quick is over by then."""

    async def work_(job: Job[object]) -> object:
        del job
        return await asyncio.to_thread(do)

    return begin(title, work_)


def begin(title: str, ask: Callable[[Job[object]], Awaitable[object]]) -> str:
    """Start a job, and return its id; what is quick is over by then."""
    job = jobs().start(title, ask)
    job.wait(AT_ONCE)
    return job.id


def state_of(job_id: str) -> JobState[Any]:
    """Return how far a job is; one that the server knows no more has failed."""
    job = jobs().get(job_id)
    if job is None:
        return JobState(status="failed", text="", result=None, error=LOST, seconds=0.0)
    return job.snapshot()


def ended(
    job_id: str, words: str | Callable[[JobState[Any]], str], *, every: float = LOOK_EVERY
) -> JobState[Any] | None:
    """Return how a job ended; while it works, say so, and draw the page anew when it has ended.

    Args:
        words: what it does, in words; or says it from how far the job is.
        every: seconds between two looks, each of which holds up the job a little.
    """
    state = state_of(job_id)
    if state.status != "running":
        return state

    @st.fragment(run_every=every)
    def look() -> None:
        now = state_of(job_id)
        if now.status != "running":
            st.rerun()
        said = words if isinstance(words, str) else words(now)
        shown = el("p", f"{said} {now.seconds:.0f} s", class_="quiet", role="status")
        kit.show(shown, key=f"wait_{job_id}")

    look()
    return None


def worked_out(name: str, key: str, do: Callable[[], T], words: str) -> JobState[T] | None:
    """Work something out in the background, once for each key; None while it takes time.

    Whoever looks at the same meanwhile or afterwards is shown the same.

    Args:
        name: what it is: a visit holds one of a name.
        key: of what, the store and its revision among it; another key is worked out anew.
        do: works it out, and changes nothing.
        words: said meanwhile.
    """
    held: dict[str, tuple[str, str]] = st.session_state.setdefault(LOOKS, {})
    key = content_id(name, key, _endpoints_as_they_are())
    of, job_id = held.get(name, ("", ""))
    if of != key or jobs().get(job_id) is None:
        if of != key:
            looks().leave(of, _visitor())
        job = looks().join(key, _visitor(), name, do)
        job.wait(AT_ONCE)
        job_id = job.id
        held[name] = (key, job_id)
    return ended(job_id, words)


def forget(name: str) -> None:
    """Work it out anew the next time, though it is of the same."""
    key, _ = st.session_state.get(LOOKS, {}).pop(name, ("", ""))
    looks().forget(key)


def _visitor() -> str:
    """Name this visit to others."""
    name: str = st.session_state.setdefault(VISITOR, uuid.uuid4().hex)
    return name


def _endpoints_as_they_are() -> tuple[int, int]:
    """Tell one state of the endpoints' file from another: prices stand there."""
    try:
        status = stores.settings().endpoints.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


# --- price ---------------------------------------------------------------------------------------


def price_words(tokens: int, cost: float | None, endpoint: Endpoint) -> str:
    """Say what a step will cost, before it's taken."""
    if not tokens:
        return "nothing to pay: the stored reply is used again"
    return cost_words(tokens, cost, [endpoint])


def usual_judge(store: OpenStore, data: StudyData, endpoints: Mapping[str, Endpoint]) -> str:
    """Return the judge to begin with: the study's own, else one that fits; empty without one."""
    own = judge_endpoint(store, data.study.judge_id)
    judges = [name for name, endpoint in endpoints.items() if "judge" in endpoint.roles]
    if own in judges:
        return str(own)
    mine = next((name for name in judges if endpoints[name].base_url != BUILT_IN), "")
    return "probe-judge" if data.study.synthetic else mine


def forecasted(name: str, key: str, do: Callable[[], T], place: str) -> T | None:
    """Count what something would ask, in the background; None while it takes time or can't be.

    Args:
        name: what it is of: one of a name is held.
        key: of what; another key is counted anew.
        do: counts it.
        place: key of where it is shown; a fault is said there.
    """
    state = worked_out(name, key, do, COUNTING)
    if state is not None and state.result is None:
        kit.show(kit.fault(state.error or "the count was stopped"), key=place)
    return None if state is None else state.result


def endpoints_or_none(key: str, filters: Filters | None = None) -> dict[str, Endpoint] | None:
    """Return the endpoints by name; where they can't be read, say so and return None.

    Args:
        key: where the fault is shown.
        filters: what the way to Settings keeps.
    """
    try:
        return known_endpoints(stores.settings())
    except AtomError as error:
        door = kit.button("Open Settings", links.address(SETTINGS.url_path, filters or Filters()))
        kit.show(kit.fault(error, door), key=key)
        return None


# --- agreement -----------------------------------------------------------------------------------


def agreed(entry: StudyEntry, host: str) -> bool:
    """Whether this study's pictures and texts may go to a host.

    The agreement about a sealed study, which can't be written, lasts for this visit.
    """
    return host in entry.study.consent or (entry.key, host) in _visit()


def _visit() -> set[tuple[str, str]]:
    held: set[tuple[str, str]] = st.session_state.setdefault(AGREED, set())
    return held


def agreed_now(entry: StudyEntry) -> tuple[str, ...]:
    """Return the hosts that were agreed to for this visit alone."""
    hosts = sorted(host for key, host in _visit() if key == entry.key)
    return tuple(host for host in hosts if host not in entry.study.consent)


def disagree(entry: StudyEntry, host: str) -> None:
    """Take back an agreement of this visit."""
    _visit().discard((entry.key, host))


def hosts_to_ask(entry: StudyEntry, endpoints: Iterable[Endpoint]) -> tuple[str, ...]:
    """Return the hosts that nobody has agreed to yet."""
    hosts = [e.host for e in endpoints if is_remote(e) and not agreed(entry, e.host)]
    return tuple(dict.fromkeys(hosts))


def agree(entry: StudyEntry, hosts: Iterable[str]) -> None:
    """Note the agreement."""
    hosts = list(hosts)
    _visit().update((entry.key, host) for host in hosts)
    if not entry.bundled:
        give_consent(stores.store_of(entry), entry.study.id, hosts)


def ask_first(entry: StudyEntry, hosts: Iterable[str], what: str, then: Callable[[], None]) -> None:
    """Ask whether something may be sent; call it from a callback.

    Args:
        hosts: where it would go.
        what: what would be sent, in words.
        then: done when the reader agrees.
    """
    st.session_state[ASKING] = (entry, tuple(hosts), what, then)


def agree_then(here: Here, asked: Iterable[Endpoint], what: str, then: Callable[[], None]) -> None:
    """Do something that sends data, once the reader agrees where nobody has yet.

    Call it from a callback.

    Args:
        asked: the endpoints that are asked.
        what: what would be sent, in words.
        then: what is done.
    """
    if hosts := hosts_to_ask(here.entry, asked):
        ask_first(here.entry, hosts, what, then)
    else:
        then()


def start_button(
    here: Here,
    label: str,
    spec: Spec,
    asked: Iterable[Endpoint],
    *,
    key: str,
    sent: str,
    fault: str,
    then: Mapping[str, str] = _NOWHERE,
    begun: Callable[[Run], None] | None = None,
    primary: bool = False,
    disabled: bool = False,
    processes: int = 1,
    cluster: bool = False,
) -> None:
    """Draw the button that starts a run, after the agreement that it needs.

    Args:
        label: what it says.
        spec: what the run is asked to do.
        asked: the endpoints that it asks.
        sent: what would be sent to a host that nobody has agreed to yet.
        fault: where an error's words are put in the session's state.
        then: keys of the address that the page gets beside the study's and `run`.
        begun: called with the run in place of that.
        primary: whether it is the page's chief button.
        disabled: whether it can't be pressed.
        processes: how many work at it.
        cluster: whether they start on the cluster that the settings name.
    """

    def start() -> None:
        st.session_state.pop(fault, None)
        settings = stores.settings()
        try:
            where = ray_executor(settings) if cluster else None
            run = start_work(here.store, spec, settings, processes=processes, executor=where)
        except AtomError as error:
            st.session_state[fault] = error.message
            return
        if begun is not None:
            begun(run)
        else:
            st.query_params.from_dict({"study": here.entry.key, **then, "run": run.id})

    team.button(
        "run", plain(label), key=key, disabled=disabled,
        on_click=lambda: agree_then(here, asked, sent, start),
        type="primary" if primary else "secondary",
    )  # fmt: skip


def draw_question() -> None:
    """Open the dialog when a question is waiting; call it once at a page's end."""
    waiting = st.session_state.pop(ASKING, None)
    if waiting is not None:
        _dialog(*waiting)


@st.dialog("Send this off this computer?")
def _dialog(entry: StudyEntry, hosts: tuple[str, ...], what: str, then: Callable[[], None]) -> None:
    kept = (
        "The agreement lasts for this visit, since the bundled study can't be written."
        if entry.bundled
        else "The agreement is kept with the study; Settings lists it and takes it back."
    )
    kit.show(
        el(
            "div",
            el("p", what),
            el("p", "to ", el("span", ", ".join(hosts), class_="strong text")),
            el("p", kept, class_="quiet small"),
            style="display:flex;flex-direction:column;gap:8px",
        ),
        key="consent_words",
    )
    with st.container(horizontal=True):
        if team.button("consent", "Agree and send", key="consent_yes", type="primary"):
            agree(entry, hosts)
            then()
            st.rerun()
        if st.button("Send nothing", key="consent_no"):
            st.rerun()


def halt(job_id: str) -> None:
    """Cancel a job, where it still goes on."""
    job = jobs().get(job_id)
    if job is not None:
        job.cancel()
