"""Work in the background of a screen: a thread with an event loop, and a value that tells of it.

A screen starts a job, keeps its name, and reads `snapshot` as often as it likes. Nothing here
knows who looks.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from atom.access import acting_as, actor
from atom.errors import AtomError

T = TypeVar("T")
JobStatus = Literal["running", "done", "failed", "cancelled"]
KEPT = 200
"""Finished jobs that a registry remembers."""
AT_ONCE = 2
"""Looks that are worked out at the same time: they read whole studies, each as fast as there is
processor, and twenty at once are no sooner done than one after the other.
"""
_SHARED = 64
"""Looks that are remembered."""
_LOOK_EVERY = 0.05
"""Seconds between two tries to begin."""


@dataclass(frozen=True, kw_only=True)
class JobState(Generic[T]):
    """How far a job is.

    Args:
        status: `running`, `done`, `failed` or `cancelled`.
        text: what has streamed in so far.
        result: what came of it, when done.
        error: why it failed, in words for the user.
        seconds: how long it has taken.
    """

    status: JobStatus
    text: str
    result: T | None
    error: str
    seconds: float


class Job(Generic[T]):
    """One piece of work; made by `Jobs.start`."""

    def __init__(self, title: str) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.title = title
        self._lock = threading.Lock()
        self._status: JobStatus = "running"
        self._text: list[str] = []
        self._result: T | None = None
        self._error = ""
        self._begun = time.monotonic()
        self._ended: float | None = None
        self._cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[T] | None = None
        self._over = threading.Event()

    def say(self, piece: str) -> None:
        """Add a piece of streamed text."""
        with self._lock:
            self._text.append(piece)

    def snapshot(self) -> JobState[T]:
        """Return how far it is; a value that doesn't change afterwards."""
        with self._lock:
            ended = self._ended if self._ended is not None else time.monotonic()
            return JobState(
                status=self._status,
                text="".join(self._text),
                result=self._result,
                error=self._error,
                seconds=ended - self._begun,
            )

    def cancel(self) -> None:
        """Ask it to end; a call in flight is dropped. Cancelling twice is no different."""
        with self._lock:
            self._cancelled = True
            if self._loop is not None and self._task is not None and self._status == "running":
                self._loop.call_soon_threadsafe(self._task.cancel)

    def wait(self, seconds: float | None = None) -> JobState[T]:
        """Wait for its end, or for so many seconds, and return how far it is."""
        self._over.wait(seconds)
        return self.snapshot()

    def _run(self, work: Callable[[Job[T]], Awaitable[T]]) -> None:
        try:
            self._end("done", result=asyncio.run(self._main(work)))
        except asyncio.CancelledError:
            self._end("cancelled")
        except AtomError as error:
            self._end("failed", error=error.message)
        except Exception as error:  # noqa: BLE001 - a thread's exception would be lost
            self._end("failed", error=f"{type(error).__name__}: {error}")
        finally:
            self._over.set()

    async def _main(self, work: Callable[[Job[T]], Awaitable[T]]) -> T:
        async def begin() -> T:
            return await work(self)

        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._task = self._loop.create_task(begin())
            if self._cancelled:
                self._task.cancel()
        try:
            return await self._task
        finally:
            with self._lock:
                self._loop = None

    def _end(self, status: JobStatus, *, result: T | None = None, error: str = "") -> None:
        with self._lock:
            self._status, self._result, self._error = status, result, error
            self._ended = time.monotonic()


class Jobs:
    """The jobs of one server process; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job[object]] = {}

    def start(self, title: str, work: Callable[[Job[T]], Awaitable[T]]) -> Job[T]:
        """Start a job.

        Args:
            title: what it is, in words for the user.
            work: gets the job, so that it can `say` what streams in, and returns the result.

        Returns:
            The job, running.
        """
        job: Job[T] = Job(title)
        with self._lock:
            self._forget_old()
            self._jobs[job.id] = job  # type: ignore[assignment]
        person = actor()

        def run() -> None:
            with acting_as(person):
                job._run(work)

        threading.Thread(target=run, daemon=True, name=f"job-{job.id}").start()
        return job

    def get(self, job_id: str) -> Job[object] | None:
        """Return a job by its name, or None when it's forgotten."""
        with self._lock:
            return self._jobs.get(job_id)

    def running(self) -> list[Job[object]]:
        """Return the jobs that haven't ended."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in jobs if job.snapshot().status == "running"]

    def _forget_old(self) -> None:
        ended = [i for i, job in self._jobs.items() if job.snapshot().status != "running"]
        for job_id in ended[: max(0, len(ended) - KEPT)]:
            del self._jobs[job_id]


@dataclass
class _Look:
    job: Job[object]
    wanted_by: set[str]


class Looks:
    """What many readers may want to know and takes time: worked out once for all of them.

    A look changes nothing. Who asks for the same is given the same job; no more than a few are at
    work; one that nobody wants any more before its turn has come is dropped.

    Args:
        jobs: the server's jobs.
        at_once: looks at work at the same time.
    """

    def __init__(self, jobs: Jobs, at_once: int = AT_ONCE) -> None:
        self._jobs = jobs
        self._turn = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._looks: dict[str, _Look] = {}

    def join(self, key: str, who: str, title: str, do: Callable[[], object]) -> Job[object]:
        """Have something worked out; one that failed is tried anew.

        Args:
            key: of what; whatever `do` depends on.
            who: the reader that wants it.
            title: what it is, in words for the user.
            do: works it out.
        """
        with self._lock:
            look = self._looks.pop(key, None)
            if look is None or look.job.snapshot().status in ("failed", "cancelled"):
                look = _Look(self._jobs.start(title, self._in_turn(do)), set())
            look.wanted_by.add(who)
            self._looks[key] = look  # the last asked for is the last forgotten
            over = [k for k, held in self._looks.items() if held.job.snapshot().status != "running"]
            for old in over[: max(0, len(self._looks) - _SHARED)]:
                del self._looks[old]
            return look.job

    def leave(self, key: str, who: str) -> None:
        """Say that a reader wants it no more; it's dropped if that was the last and it runs."""
        with self._lock:
            look = self._looks.get(key)
            if look is None:
                return
            look.wanted_by.discard(who)
            if not look.wanted_by and look.job.snapshot().status == "running":
                look.job.cancel()
                del self._looks[key]

    def forget(self, key: str) -> None:
        """Have it worked out anew the next time, whoever asks."""
        with self._lock:
            self._looks.pop(key, None)

    def _in_turn(self, do: Callable[[], object]) -> Callable[[Job[object]], Awaitable[object]]:
        def work() -> object:
            try:
                return do()
            finally:
                self._turn.release()

        async def wait_and_work(job: Job[object]) -> object:
            del job
            while not self._turn.acquire(blocking=False):
                await asyncio.sleep(_LOOK_EVERY)
            # Shielded: the thread gives the turn back, so it has to come to its end.
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))

        return wait_and_work
