"""How the probe endpoint behaves: its world, its latency, its faults."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atom.errors import DataError, SettingsError
from atom.foreign import read_foreign_text
from atom.probes.candidates import DEFAULT_SEED
from atom.probes.serving.faults import FaultPlan


class ProbeConfig(BaseModel):
    """Settings of a probe endpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world_seed: int = DEFAULT_SEED
    """Which planted abilities and weaknesses the candidates have."""
    latency: float = Field(default=0.0, ge=0, le=600)
    """Seconds that a reply takes, on average."""
    jitter: float = Field(default=0.0, ge=0, le=1)
    """Share by which a reply's latency may be shorter or longer."""
    faults: FaultPlan = FaultPlan()
    """What goes wrong, how often."""


def load_config(path: Path) -> ProbeConfig:
    """Read a probe configuration from a YAML file.

    Returns:
        The configuration; keys that the file leaves out keep their defaults.

    Raises:
        SettingsError: the file can't be read or holds a setting that isn't one.
    """
    try:
        document = yaml.safe_load(read_foreign_text(path))
        return ProbeConfig.model_validate(document or {})
    except (DataError, yaml.YAMLError, RecursionError, ValidationError) as error:
        raise SettingsError(
            f"{str(path)!r} is not a probe configuration: {error}. It may set "
            f"{', '.join(sorted(ProbeConfig.model_fields))}."
        ) from error
