"""Drawn probes, shared by this folder: two of most templates, one of those slow to draw."""

import base64

import pytest

from atom.probes.worlds.make import FAMILIES, TEMPLATES, make_probe


def data_url(png):
    return "data:image/png;base64," + base64.b64encode(png).decode()


@pytest.fixture(scope="session")
def probes():
    return [
        make_probe(family, 11, index, template=template)
        for family in FAMILIES
        for template in TEMPLATES[family]
        for index in range(1 if family in ("scenes", "changes") else 2)
    ]


@pytest.fixture(scope="session")
def programs(probes):
    return [probe.program for probe in probes]


@pytest.fixture(scope="session")
def chart():
    return make_probe("charts", 11, 0, template="difference")


@pytest.fixture(scope="session")
def pair():
    return make_probe("changes", 11, 0)


@pytest.fixture
def make_payload():
    """Return a builder of chat payloads over a probe's pictures."""

    def build(pictures, model, task, *, data=None, text=None, **more):
        import json

        if text is None:
            block = json.dumps(data, ensure_ascii=False)
            text = f"Do what the system text says.\nBEGIN DATA\n{block}\nEND DATA"
        shown = [{"type": "image_url", "image_url": {"url": data_url(png)}} for png in pictures]
        return {
            "model": model,
            "messages": [
                {"role": "system", "content": f"Atomscope task: {task}/1\nBe exact."},
                {"role": "user", "content": [*shown, {"type": "text", "text": text}]},
            ],
            **more,
        }

    return build
