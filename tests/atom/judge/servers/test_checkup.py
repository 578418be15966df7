"""The test button: what it finds at good, poor and absent endpoints."""

from __future__ import annotations

import pytest

from atom.judge.pictures.prepare import inspect_picture
from atom.judge.servers.checkup import check_endpoint, two_coloured_picture
from atom.records import Endpoint


def states(test):
    return {check.name: check.state for check in test.checks}


def by_request(server, *, picture='{"left": "red", "right": "blue"}', text=None):
    """Answer as a good server would, whatever is asked."""

    async def act(script, writer):
        seen = script.seen[-1]
        if seen.path.endswith("/models"):
            action = script.http(200, {"data": [{"id": "some-model"}, {"id": "other"}]})
        elif b"image_url" in seen.raw:
            action = picture if callable(picture) else script.completion(picture)
        elif b"atomscope_check_json" in seen.raw:
            action = script.completion('{"sum": 42}')
        else:
            action = text or script.completion("ready")
        await action(script, writer)

    server.plan(act)


async def test_a_good_endpoint(server, make_endpoint):
    by_request(server)
    test = await check_endpoint(make_endpoint())
    assert test.ok
    assert states(test) == {
        "key": "skipped",
        "models": "passed",
        "text": "passed",
        "json": "passed",
        "picture": "passed",
    }
    assert test.reply_form == "json_schema"
    assert test.latency is not None
    assert test.latency > 0


async def test_no_picture_input(server, make_endpoint):
    by_request(server, picture=server.error(500, "image input is not supported"))
    test = await check_endpoint(make_endpoint())
    assert not test.ok
    assert states(test)["picture"] == "failed"
    assert "takes no pictures" in test.checks[-1].detail


async def test_a_model_that_does_not_see(server, make_endpoint):
    by_request(server, picture='{"left": "green", "right": "green"}')
    test = await check_endpoint(make_endpoint())
    assert test.ok
    assert "check that the model sees pictures" in test.checks[-1].detail


async def test_a_server_that_is_down(make_endpoint):
    test = await check_endpoint(make_endpoint(base_url="http://127.0.0.1:1/v1"))
    assert states(test) == {
        "key": "skipped",
        "models": "skipped",
        "text": "failed",
        "json": "skipped",
        "picture": "skipped",
    }
    assert (test.latency, test.reply_form) == (None, None)


async def test_a_key_that_is_not_set(server, make_endpoint):
    test = await check_endpoint(make_endpoint(key_env="MY_KEY"), environ={})
    assert states(test) == {"key": "failed"}
    assert server.n == 0


async def test_a_wrong_key(server, make_endpoint):
    server.plan(server.error(401, "Incorrect API key provided: sk-secret"))
    test = await check_endpoint(make_endpoint(key_env="MY_KEY"), environ={"MY_KEY": "sk-secret"})
    assert states(test)["text"] == "failed"
    assert "sk-secret" not in test.model_dump_json()


async def test_a_model_that_is_not_listed(server, make_endpoint):
    by_request(server)
    test = await check_endpoint(make_endpoint(model="third"))
    assert test.ok
    assert "some-model, other" in test.checks[1].detail


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}'])
async def test_an_odd_list_of_models(server, make_endpoint, body):
    server.plan(server.http(200, body), server.completion("ready"))
    test = await check_endpoint(make_endpoint())
    assert test.checks[1].state == "skipped"


async def test_the_probe_endpoint():
    endpoint = Endpoint(name="probe-judge", base_url="probe:", model="probe-judge")
    test = await check_endpoint(endpoint)
    assert test.ok
    assert states(test)["models"] == "passed"


def test_the_drawn_picture():
    facts = inspect_picture(two_coloured_picture())
    assert (facts.media_type, facts.width, facts.height) == ("image/png", 128, 128)
