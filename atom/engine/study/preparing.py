"""Starts what makes a large study ready, beside the app and never twice at once."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from atom.engine.detached import spawn
from atom.files import alone_in
from atom.settings import Settings

LOG = "ready.log"
_begun: dict[Path, subprocess.Popen[bytes]] = {}
"""What this process started last for a folder: it takes a moment before it says so itself."""


def prepare_behind(
    settings: Settings, study_id: str, judge_id: str | None, *, folder: Path, rest_until: float
) -> bool:
    """Have a study made ready by a process of its own, unless one is at it.

    Args:
        settings: they name the store.
        judge_id: whose marks; None = the study's own judge's.
        folder: where snapshots lie.
        rest_until: when the next may begin, seconds since the epoch.

    Returns:
        Whether one works at it now.
    """
    begun = _begun.get(folder)
    if (begun is not None and begun.poll() is None) or is_making(folder):
        return True
    if time.time() < rest_until:
        return False
    words = ["study", "prepare", study_id, "--folder", str(folder.resolve())]
    words += ["--judge", judge_id] if judge_id else []
    _begun[folder] = spawn(settings, words, folder / LOG)
    return True


def is_making(folder: Path) -> bool:
    """Say whether a process makes something ready beside these snapshots."""
    if not folder.is_dir():
        return False
    with alone_in(folder) as alone:
        return not alone
