"""`endpoint test` asks what a run asks, and finds out how a model writes boxes."""

from __future__ import annotations

import base64
import io
import json

import httpx2
import pytest
from PIL import Image

from atom.engine.endpoints.form_checks import SIZE, check_forms, marked_objects, marked_picture
from atom.judge.servers.checkup import check_endpoint
from atom.records import Endpoint
from atom.stages.boxes import SentPicture, from_thousandths

FORMS = ("replay", "criteria", "mapping", "scoring")


class Judge:
    """A server that answers each form well, and refuses some fields."""

    def __init__(self, convention="xyxy_1000", refuses=()):
        self.convention, self.refuses = convention, refuses
        self.bodies = []

    def __call__(self, request):
        if request.method == "GET":
            return httpx2.Response(200, json={"data": [{"id": "m"}]})
        body = json.loads(request.read())
        for part in self.refuses:
            if part in body:
                error = {"message": f"Unsupported parameter: '{part}'", "param": part}
                return httpx2.Response(400, json={"error": error})
        self.bodies.append(body)
        name = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        content = self.answer(name.removeprefix("atomscope_"), body)
        message = {"role": "assistant", "content": content}
        choices = [{"message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 9, "completion_tokens": 9}
        return httpx2.Response(200, json={"choices": choices, "usage": usage})

    def answer(self, name, body):
        if name == "check_json":
            return '{"sum": 42}'
        if name == "check_picture":
            return '{"left": "red", "right": "blue"}'
        if name == "replay":
            return json.dumps(
                {
                    "looking": "Five squares.",
                    "steps": [self.step(one) for one in marked_objects()],
                    "final_answer": "five colours",
                }
            )
        if not name:
            return "Answer: red"
        return json.dumps(fill(body["response_format"]["json_schema"]["schema"]))

    def step(self, one):
        box = [round(side) for side in one.box]
        sent = SentPicture(width=SIZE[0], height=SIZE[1], content=(0, 0, *SIZE))
        sides = from_thousandths(box, self.convention, sent) or [1, 2, 3, 4]
        return {"text": f"One is {one.colour}.", "regions": [{"picture": 1, "box": sides}]}


def fill(schema):
    """Make the smallest value that fits a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return fill(schema["anyOf"][0])
    kind = schema["type"]
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: fill(value) for name, value in schema["properties"].items()}
    if kind == "array":
        return [fill(schema["items"]) for _ in range(schema.get("minItems", 1))]
    whole = schema.get("minimum", 1)
    return {"integer": whole, "number": whole, "boolean": True, "string": "words"}[kind]


async def try_out(judge, **fields):
    endpoint = Endpoint(name="e", base_url="http://127.0.0.1:1/v1", model="m", **fields)
    transport = httpx2.MockTransport(judge)
    return await check_endpoint(endpoint, further=check_forms, transport=transport)


async def test_a_good_judge_passes_all_that_a_run_asks():
    judge = Judge()
    test = await try_out(judge, temperature=0.3, reasoning_effort="low")
    states = {check.name: check.state for check in test.checks}
    assert test.ok
    assert {name: states[name] for name in ("answer", *FORMS, "boxes")} == dict.fromkeys(
        ("answer", *FORMS, "boxes"), "passed"
    )
    assert (test.boxes, test.adapted) == ("xyxy_1000", ())
    asked = [body for body in judge.bodies if "Atomscope task: check" not in str(body)]
    assert len(asked) == 5
    assert all(body["reasoning_effort"] == "low" for body in asked)
    # Four forms at the study's own temperature, the answer at that of answers.
    assert sorted(body["temperature"] for body in asked) == [0.0, 0.0, 0.0, 0.0, 0.7]


@pytest.mark.parametrize("convention", ["xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit"])
async def test_the_convention_of_boxes_is_found(convention):
    assert (await try_out(Judge(convention))).boxes == convention


async def test_boxes_that_fit_nothing_are_said():
    test = await try_out(Judge("none"))
    assert test.boxes == "none"
    assert "will be dropped" in test.checks[-1].detail


async def test_a_judge_that_would_refuse_a_run_is_adapted_to_and_says_so():
    test = await try_out(Judge(refuses=("temperature",)))
    assert test.ok
    assert [line.split(":")[0] for line in test.adapted] == ["temperature was left out"]


async def test_a_judge_that_keeps_no_form_fails():
    class Chatty(Judge):
        def answer(self, name, body):
            return super().answer(name, body) if "check" in name or not name else "No."

    test = await try_out(Chatty())
    failed = {check.name for check in test.checks if check.state == "failed"}
    assert failed == set(FORMS)
    assert test.boxes is None


async def test_a_candidate_is_asked_for_an_answer_alone():
    test = await try_out(Judge(), roles=("candidate",))
    names = [check.name for check in test.checks]
    assert "answer" in names
    assert not set(FORMS) & set(names)


def test_the_drawn_picture_has_its_squares_where_they_are_said_to_be():
    image = Image.open(io.BytesIO(marked_picture()))
    assert image.width != image.height
    seen = set()
    for one in marked_objects():
        across, down = (one.box[0] + one.box[2]) / 2000, (one.box[1] + one.box[3]) / 2000
        seen.add(image.getpixel((across * image.width, down * image.height)))
        # Off the diagonal by more than a tenth of the picture.
        assert abs(across - down) > 0.1
    assert len(seen) == 5
    assert (255, 255, 255) not in seen
    assert base64.b64encode(marked_picture()) == base64.b64encode(marked_picture())
