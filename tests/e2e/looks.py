"""Window sizes and themes in which screens are looked at."""

from __future__ import annotations

import pytest

LOOKS = (
    (900, "light"),
    (1440, "dark"),
    pytest.param(900, "dark", marks=pytest.mark.sweep),
    pytest.param(1280, "light", marks=pytest.mark.sweep),
    pytest.param(1440, "light", marks=pytest.mark.sweep),
)
"""Widths in pixels and themes; CI looks at two of them, `make sweep` at all."""
