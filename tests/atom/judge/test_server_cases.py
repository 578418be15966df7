"""Odd servers that were met in the wild, each a process of its own: all end as their case says."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from atom.judge import CallGaveUp, CallRefused, JudgeClient, PicturePart, Request, TextPart
from atom.judge.servers.endpoints import parse_endpoints
from atom.records import Endpoint, PictureLimit, Sampling
from tests.atom.judge.conftest import SCHEMA

CASES = Path(__file__).parents[4] / "shared" / "real" / "cases" / "servers"
pytestmark = pytest.mark.skipif(
    not (CASES / "stub.py").exists(), reason="the odd servers lie beside the project"
)


class Odd:
    """A server with one habit, and what it noted of each request."""

    def __init__(self, habit: str, folder: Path, begin: Callable[..., int]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = folder / "log.jsonl"
        self.log.touch()
        self.pid = begin(str(self.port), habit, str(self.log))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError("the odd server doesn't come up")

    @property
    def seen(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def endpoint(self, **fields: object) -> Endpoint:
        base = {"name": "odd", "base_url": f"http://127.0.0.1:{self.port}/v1", "model": "stub"}
        return Endpoint.model_validate({**base, "max_tries": 3, "timeout": 10.0, **fields})


@pytest.fixture(scope="module")
def begin():
    """Return what starts a server in a process of its own: words -> its number."""
    forking = Path(__file__).with_name("odd_servers.py")
    with subprocess.Popen(
        [sys.executable, str(forking), str(CASES / "stub.py")],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:

        def start(*words: str) -> int:
            parent.stdin.write(json.dumps(words) + "\n")
            parent.stdin.flush()
            return int(parent.stdout.readline())

        yield start


@pytest.fixture
def odd(request, tmp_path, begin):
    server = Odd(request.param, tmp_path, begin)
    yield server
    os.kill(server.pid, signal.SIGKILL)


def question(text="What is it?", *, structured=True, picture=None, **sampling):
    pictures = () if picture is None else (PicturePart.from_bytes(picture),)
    return Request(
        task="scoring",
        prompt_id="scoring/1",
        system="Be exact.",
        parts=(*pictures, TextPart(text=text)),
        schema=SCHEMA if structured else None,
        schema_name="atomscope_scoring" if structured else "",
        sampling=Sampling(**({"temperature": 0.0, "max_tokens": 300} | sampling)),
    )


def drawn(width, height):
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    return out.getvalue()


def client_of(odd, patience, **fields):
    return JudgeClient(odd.endpoint(**fields), timing=patience.timing, environ={})


on = pytest.mark.parametrize


@on("odd", ["errobj200"], indirect=True)
async def test_30_an_error_object_in_a_200_has_one_try_and_its_own_words(odd, patience):
    async with client_of(odd, patience) as client:
        with pytest.raises(
            CallRefused, match=r"code 404\): The model `stub` does not exist.*model"
        ):
            await client.ask(question())
    assert len(odd.seen) == 1


@on("odd", ["choiceerror", "choiceerror_null"], indirect=True)
async def test_31_half_a_text_before_an_error_is_asked_for_again(odd, patience):
    async with client_of(odd, patience) as client:
        with pytest.raises(CallGaveUp, match="Upstream provider disconnected"):
            await client.ask(question(structured=False))
    assert len(odd.seen) == 3


@on("odd", ["nullstop"], indirect=True)
async def test_32_a_dead_upstream_is_a_fault(odd, patience):
    async with client_of(odd, patience) as client:
        with pytest.raises(CallGaveUp, match="an empty reply"):
            await client.ask(question())
    assert len(odd.seen) == 3


@pytest.mark.slow
@on("odd", ["thinkchunks", "thinkchunks4", "liststrings"], indirect=True)
async def test_34_chunks_of_text_are_joined_and_thoughts_left_out(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question())
    assert reply.data == {"score": 1}
    assert "SECRET" not in reply.text


@on("odd", ["ssedone"], indirect=True)
async def test_35_json_with_the_end_mark_of_a_stream_is_read(odd, patience):
    async with client_of(odd, patience) as client:
        assert (await client.ask(question())).data == {"score": 1}
        *_, last = [piece async for piece in client.stream(question(structured=False))]
    assert last.text == "The answer is a red bar."


@on("odd", ["geminiarray", "geminiobject"], indirect=True)
async def test_37_a_refused_schema_steps_down_and_says_why(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question())
        assert (await client.ask(question("Again?"))).call.attempts == 1
    assert (reply.data, reply.form) == ({"score": 1}, "json_object")
    assert any("Unknown name" in line for line in reply.call.adapted)


@on("odd", ["notemperature"], indirect=True)
async def test_38_a_refused_temperature_is_dropped_once(odd, patience):
    """Fall 12 of design/074."""
    async with client_of(odd, patience) as client:
        reply = await client.ask(question())
        again = await client.ask(question("Again?", temperature=0.7))
    assert (reply.ok, again.call.attempts) == (True, 1)
    assert len(reply.call.adapted) == 2
    assert reply.call.sampled == Sampling(max_tokens=300)


@on("odd", ["azurefilter"], indirect=True)
async def test_39_a_content_filter_is_an_outcome(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question("FORBIDDEN"))
        fine = await client.ask(question())
    assert (reply.state, reply.call.finish, fine.ok) == ("filtered", "content_filter", True)
    assert "content management policy" in reply.reason
    assert len(odd.seen) == 2


@on("odd", ["ok"], indirect=True)
async def test_40_azures_address_is_taken_as_it_is_copied(odd, patience):
    address = f"http://127.0.0.1:{odd.port}/openai/deployments/gpt-x?api-version=2024-06-01"
    (endpoint,) = parse_endpoints(f"- name: azure\n  base_url: {address}\n  model: gpt-x\n")
    async with JudgeClient(endpoint, timing=patience.timing, environ={}) as client:
        assert (await client.ask(question())).ok
    paths = [seen["path"] for seen in odd.seen]
    assert paths == ["/openai/deployments/gpt-x/chat/completions?api-version=2024-06-01"]


@pytest.mark.slow
@on("odd", ["tiny500", "tiny400"], indirect=True)
@on("size", [(400, 9), (20, 20), (2000, 5)])
async def test_43_thin_pictures_are_padded_with_a_note(odd, patience, size):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question(picture=drawn(*size)))
    assert reply.ok
    assert any("padded with white" in note for note in reply.notes)
    assert len(odd.seen) == 2


@on("odd", ["tiny500"], indirect=True)
async def test_43_an_endpoint_that_says_so_is_never_sent_a_thin_picture(odd, patience):
    limit = PictureLimit(min_side=28)
    async with client_of(odd, patience, pictures=limit) as client:
        assert (await client.ask(question(picture=drawn(400, 9)))).ok
    (seen,) = odd.seen
    assert seen["pics"] == [["PNG", [400, 28], [255, 255, 255]]]


@on("odd", ["lmstudio"], indirect=True)
async def test_45_a_bare_string_is_shown_with_advice(odd, patience):
    async with client_of(odd, patience, structured="json_object") as client:
        with pytest.raises(CallRefused, match=r"must be 'json_schema' or 'text'.*mode to 'auto'"):
            await client.ask(question())
    async with client_of(odd, patience) as client:
        assert (await client.ask(question())).ok


@on("odd", ["thinkjson"], indirect=True)
async def test_47_the_json_after_the_thoughts_counts(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question())
    assert reply.data == {"score": 1}
    assert 'reasoning about {"x": 1} first' in reply.thoughts


@on("odd", ["ok"], indirect=True)
async def test_51_further_fields_are_sent(odd, patience):
    fields = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
              "reasoning_effort": "low"}  # fmt: skip
    async with client_of(odd, patience, **fields) as client:
        assert (await client.ask(question())).ok
    assert {"chat_template_kwargs", "reasoning_effort"} <= set(odd.seen[0]["keys"])


@on("odd", ["retryday"], indirect=True)
async def test_a_wait_of_half_a_day_is_not_waited_for(odd, patience):
    async with client_of(odd, patience) as client:
        with pytest.raises(CallGaveUp, match=r"Daily quota of 250 requests.*wait 41000 s"):
            await client.ask(question())
    assert len(odd.seen) == 1


@on("odd", ["nopics500"], indirect=True)
async def test_a_server_without_eyes_says_so_once(odd, patience):
    async with client_of(odd, patience) as client:
        with pytest.raises(CallRefused, match="takes no pictures"):
            await client.ask(question(picture=drawn(300, 300)))
    assert len(odd.seen) == 1


@on("odd", ["toolcall"], indirect=True)
async def test_an_answer_handed_to_a_tool_is_read(odd, patience):
    async with client_of(odd, patience) as client:
        assert (await client.ask(question())).data == {"score": 1}


@pytest.mark.slow
@on("odd", ["encodercache"], indirect=True)
async def test_a_picture_that_is_too_large_for_a_server_is_sent_smaller(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question(picture=drawn(1600, 1200)))
    assert reply.ok
    assert any("scaled from 1600x1200" in note for note in reply.notes)


@on("odd", ["surrogate", "surrogateraw"], indirect=True)
async def test_half_a_character_does_no_harm(odd, patience):
    async with client_of(odd, patience) as client:
        reply = await client.ask(question(structured=False))
    assert reply.ok
    reply.text.encode()
