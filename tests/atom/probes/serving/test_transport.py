import json

import httpx2
import openai
import pytest

from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.faults import FaultPlan
from atom.probes.serving.transport import PROBE_URL, ProbeTransport


def client(config=None, **more):
    transport = ProbeTransport(ProbeEndpoint(config or ProbeConfig()))
    http_client = openai.DefaultAsyncHttpxClient(transport=transport)
    return openai.AsyncOpenAI(
        base_url=PROBE_URL, api_key="none", max_retries=0, http_client=http_client, **more
    )


@pytest.fixture
def payload(chart, make_payload):
    return make_payload(chart.pictures, "model-b", "answer", text=chart.program.question)


async def test_the_client_as_it_comes(payload):
    async with client() as openai_client:
        completion = await openai_client.chat.completions.create(**payload)
        assert "Answer: " in completion.choices[0].message.content
        assert completion.usage.total_tokens > 0
        models = [model.id async for model in openai_client.models.list()]
    assert models[:3] == ["probe-judge", "probe-judge-noisy", "probe-judge-synonyms"]


async def test_bytes_in_bytes_out(payload):
    async with client() as openai_client:
        reply = await openai_client.post(
            "/chat/completions",
            content=json.dumps(payload).encode(),
            cast_to=httpx2.Response,
            options={"headers": {"Content-Type": "application/json"}},
        )
    assert reply.status_code == 200
    assert json.loads(reply.content)["object"] == "chat.completion"


async def test_streaming_gives_the_same_text(payload):
    async with client() as openai_client:
        whole = await openai_client.chat.completions.create(**payload)
        pieces, usage = [], None
        async for chunk in await openai_client.chat.completions.create(
            **payload, stream=True, stream_options={"include_usage": True}
        ):
            usage = chunk.usage or usage
            pieces.extend(choice.delta.content or "" for choice in chunk.choices)
    assert "".join(pieces) == whole.choices[0].message.content
    assert usage == whole.usage


async def test_refused_requests_are_the_clients_own_errors(payload):
    async with client() as openai_client:
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            await openai_client.chat.completions.create(**{**payload, "model": "x"})
        with pytest.raises(openai.BadRequestError, match="knows only probe"):
            await openai_client.chat.completions.create(
                model="model-a", messages=[{"role": "user", "content": "hi"}]
            )


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("rate_limit", openai.RateLimitError),
        ("server_error", openai.InternalServerError),
        ("unavailable_html", openai.InternalServerError),
        ("reset", openai.APIConnectionError),
        ("stall", openai.APITimeoutError),
        ("truncated_body", json.JSONDecodeError),
    ],
)
async def test_faults_look_as_on_a_wire_and_are_gone_on_the_next_try(payload, fault, error):
    config = ProbeConfig(faults=FaultPlan(rates={fault: 1.0}, stall=5))
    async with client(config, timeout=0.05) as openai_client:
        with pytest.raises(error):
            await openai_client.chat.completions.create(**payload)
        again = await openai_client.chat.completions.create(
            **payload, extra_headers={"x-atomscope-attempt": "2"}, timeout=30
        )
    assert again.choices[0].message.content


async def test_a_stall_that_ends_closes_the_connection(payload):
    config = ProbeConfig(faults=FaultPlan(rates={"stall": 1.0}, stall=0.01))
    async with client(config) as openai_client:
        with pytest.raises(openai.APIConnectionError):
            await openai_client.chat.completions.create(**payload)


async def test_latency_is_waited_for(payload):
    async with client(ProbeConfig(latency=0.05)) as openai_client:
        assert await openai_client.chat.completions.create(**payload)
    async with client(ProbeConfig(latency=5), timeout=0.02) as openai_client:
        with pytest.raises(openai.APITimeoutError):
            await openai_client.chat.completions.create(**payload)
