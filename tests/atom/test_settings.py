"""Where things are, in a checkout and once installed."""

from __future__ import annotations

import tomllib

from atom import settings


def test_the_version_is_the_projects(project):
    told = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings.app_version() == told["project"]["version"]


def test_without_the_projects_file_the_version_is_the_installed_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "PROJECT_ROOT", tmp_path)
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} 9")
    assert settings.app_version() == "atomscope 9"
