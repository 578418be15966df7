"""What probe pictures carry: their programs, read once and kept."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atom.probes.answers.covering import asks_program
from atom.probes.answers.step_reader import StepReader, read_steps
from atom.probes.chunk import read_program
from atom.probes.program import Program
from atom.probes.serving.protocol import ChatRequest, decode_picture

_CACHE = 2048


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A probe sample's program, ready to be judged against."""

    program: Program
    readers: tuple[StepReader, ...]

    @property
    def key(self) -> str:
        """Family, template, seed and number: no two probes share it."""
        p = self.program
        return f"{p.family}/{p.template}/{p.seed}/{p.index}"


class NotCoveredError(Exception):
    """No probe program covers what the judge was asked; the reason is told in its reply."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Probes:
    """Reads the probes that pictures carry, and keeps those that were read last."""

    def __init__(self) -> None:
        self._probes: OrderedDict[bytes, Probe | None] = OrderedDict()
        self._lock = threading.Lock()

    def asked(self, request: ChatRequest, data: Mapping[str, Any]) -> Probe:
        """Return the probe that a request is about, if the data asks the probe's own question."""
        probe = self.read(request.pictures)
        if not asks_program(probe.program, str(data.get("question", ""))):
            raise NotCoveredError("the question is not the one that this probe was drawn for")
        return probe

    def read(self, urls: Sequence[str]) -> Probe:
        """Return the probe that the pictures carry.

        Raises:
            NotCoveredError: there is no picture, no program in any, or there are different
                programs.
            RequestError: a picture isn't a base64 data URL.
        """
        if not urls:
            raise NotCoveredError("not covered: the request has no picture")
        found = [probe for url in urls if (probe := self._load(url)) is not None]
        if not found:
            raise NotCoveredError("not covered: no picture carries a probe's program")
        if len({probe.key for probe in found}) > 1:
            raise NotCoveredError("not covered: the pictures are of different probes")
        return found[0]

    def _load(self, url: str) -> Probe | None:
        key = hashlib.blake2b(url.encode("utf-8", errors="replace"), digest_size=16).digest()
        with self._lock:
            if key in self._probes:
                self._probes.move_to_end(key)
                return self._probes[key]
        program = read_program(decode_picture(url))
        probe = None
        if program is not None:
            probe = Probe(program=program, readers=read_steps(program))
        with self._lock:
            self._probes[key] = probe
            while len(self._probes) > _CACHE:
                self._probes.popitem(last=False)
        return probe
