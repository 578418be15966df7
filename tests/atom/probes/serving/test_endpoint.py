import base64
import io
import json
import time

import pytest
from PIL import Image

from atom.probes.candidates import MODELS, Feedback, planted_world
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint, _feedback
from atom.probes.serving.faults import FaultPlan
from atom.probes.serving.probes import Probes

SEPARATOR = " › "


@pytest.fixture(scope="module")
def endpoint():
    return ProbeEndpoint()


def ask(endpoint, payload, attempt=1):
    reply = endpoint.respond(json.dumps(payload).encode(), attempt=attempt)
    document = json.loads(reply.body)
    if reply.status != 200:
        return reply.status, document["error"]
    return reply.status, document["choices"][0]["message"]["content"]


def data_url(png):
    return "data:image/png;base64," + base64.b64encode(png).decode()


def asked(program, **more):
    return {
        "question": program.question,
        "choices": list(program.choices),
        "reference_answer": program.answer,
        **more,
    }


def criteria_of(program):
    return [
        {"id": f"{n:08x}", "question": s.question, "ground_truth": s.truth}
        for n, s in enumerate(program.steps)
    ]


@pytest.fixture
def judge(endpoint, make_payload):
    def run(probe, task, data, model="probe-judge", pictures=None, **more):
        shown = probe.pictures if pictures is None else pictures
        status, content = ask(endpoint, make_payload(shown, model, task, data=data, **more))
        assert status == 200, content
        return json.loads(content)

    return run


def test_replay_and_criteria_are_the_program(probes, judge):
    for probe in probes:
        program = probe.program
        replay = judge(probe, "replay", asked(program, pictures=len(probe.pictures)))
        assert replay["final_answer"] == program.answer
        assert len(replay["steps"]) == len(program.steps)
        shown = [{"n": n, **step} for n, step in enumerate(replay["steps"], start=1)]
        data = asked(program, replay={"steps": shown, "final_answer": program.answer})
        criteria = judge(probe, "criteria", data)["criteria"]
        assert sum(c["weight"] for c in criteria) == 10
        for number, (got, step) in enumerate(zip(criteria, program.steps, strict=True), start=1):
            assert (got["question"], got["ground_truth"]) == (step.question, step.truth)
            assert (got["weight"], got["step"]) == (step.weight, number)
            assert got["regions"] == [
                {"picture": r.picture, "box": list(r.box)} for r in step.regions
            ]
            assert (
                step.truth in replay["steps"][number - 1]["text"]
                or step.truth.capitalize() in (replay["steps"][number - 1]["text"])
            )


def test_mapping_gives_the_planted_leaves(probes, judge):
    for probe in probes:
        leaves = [SEPARATOR.join(step.leaf) for step in probe.program.steps]
        data = {
            "question": probe.program.question,
            "criteria": criteria_of(probe.program),
            "leaves": dict.fromkeys(["A › B › C › D", *leaves], ""),
        }
        mapped = judge(probe, "mapping", data)["mappings"]
        assert [m["leaf"] for m in mapped] == leaves
        assert [m["id"] for m in mapped] == [c["id"] for c in data["criteria"]]


def test_mapping_says_what_is_not_covered(chart, judge):
    data = {
        "question": chart.program.question,
        "criteria": [*criteria_of(chart.program)[:1], {"id": "z", "question": "Why?"}],
        "leaves": {"A › B › C › D": ""},
    }
    for mapping in judge(chart, "mapping", data)["mappings"]:
        assert mapping["leaf"] is None
        assert mapping["reason"].startswith("not covered")
    assert "no picture" in judge(chart, "mapping", data, pictures=())["not_covered"]


def test_the_whole_loop_recovers_every_planted_score(probes, judge, endpoint, make_payload):
    world = planted_world()
    exact = total = 0
    for number, probe in enumerate(probes):
        program = probe.program
        model = MODELS[number % 8]
        payload = make_payload(probe.pictures, model, "answer", text=program.question, seed=3)
        status, answer = ask(endpoint, payload)
        assert status == 200
        written = world.answer(model, program, repeat="3/")
        assert answer == written.text
        scores = judge(
            probe, "scoring", asked(program, criteria=criteria_of(program), answer=answer)
        )["scores"]
        for got, step in zip(scores, program.steps, strict=True):
            total += 1
            exact += got["score"] == written.scores[step.id]
            assert got["quote"] in answer
            assert got["reason"]
        verdict = judge(probe, "outcome", asked(program, answer=answer))["verdict"]
        assert verdict == ("right" if written.right else "wrong")
    assert exact / total >= 0.99


def test_either_picture_of_a_pair_is_enough(pair, judge):
    data = asked(pair.program, pictures=2)
    both = judge(pair, "replay", data)
    for picture in pair.pictures:
        assert judge(pair, "replay", data, pictures=(picture,)) == both
    assert {r["picture"] for step in both["steps"] for r in step["regions"]} <= {1, 2}


def test_an_edited_truth_is_scored_against(chart, judge):
    step = chart.program.step("difference")
    answer = "The difference is 1234."
    criterion = {"id": "a", "question": step.question, "ground_truth": "1234"}
    data = asked(chart.program, criteria=[criterion], answer=answer)
    assert judge(chart, "scoring", data)["scores"][0]["score"] == 5
    criterion["ground_truth"] = step.truth
    assert judge(chart, "scoring", data)["scores"][0]["score"] == 1


@pytest.mark.parametrize(
    "change", [{"question": "Is it pretty?"}, {"ground_truth": "lovely"}, {"ground_truth": None}]
)
def test_a_criterion_that_no_step_covers_is_declined(chart, judge, change):
    criterion = {**criteria_of(chart.program)[-1], **change}
    data = asked(chart.program, criteria=[criterion], answer="x")
    (score,) = judge(chart, "scoring", data)["scores"]
    assert (score["score"], score["quote"]) == (None, "")
    assert score["reason"].startswith("not covered")


@pytest.fixture(scope="module")
def plain_picture():
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
    return buffer.getvalue()


def test_other_pictures_are_not_covered(chart, plain_picture, judge, endpoint, make_payload):
    other = (plain_picture,)
    for task in ("replay", "criteria", "outcome"):
        data = asked(chart.program, answer="x", replay={"steps": []})
        assert "no picture carries" in judge(chart, task, data, pictures=other)["not_covered"]
    data = asked(chart.program, criteria=criteria_of(chart.program), answer="x")
    for score in judge(chart, "scoring", data, pictures=other)["scores"]:
        assert score["score"] is None
    payload = make_payload(other, "model-a", "answer", text=chart.program.question)
    status, error = ask(endpoint, payload)
    assert status == 400
    assert "knows only probe pictures" in error["message"]


def test_another_question_is_not_covered(chart, judge, endpoint, make_payload):
    data = asked(chart.program) | {"question": "Is it pretty?"}
    assert "question" in judge(chart, "replay", data)["not_covered"]
    status, error = ask(
        endpoint, make_payload(chart.pictures, "model-a", "answer", text="Is it pretty?")
    )
    assert (status, error["code"]) == (400, "not_a_probe")


def test_pictures_of_different_probes_are_not_covered(chart, pair, judge):
    mixed = (chart.pictures[0], pair.pictures[0])
    data = asked(chart.program)
    assert "different probes" in judge(chart, "replay", data, pictures=mixed)["not_covered"]


def test_unknown_model_and_task(chart, endpoint, make_payload):
    data = asked(chart.program)
    status, error = ask(endpoint, make_payload(chart.pictures, "gpt-9", "replay", data=data))
    assert (status, error["code"]) == (404, "model_not_found")
    assert "model-a" in error["message"]
    for model, task in (("probe-judge", "paint"), ("model-a", "scoring")):
        status, error = ask(endpoint, make_payload(chart.pictures, model, task, data=data))
        assert status == 400
        assert task in error["message"]


def test_seed_and_temperature_select_the_repeat(chart, endpoint, make_payload):
    def answer(**more):
        payload = make_payload(
            chart.pictures, "model-c", "answer", text=chart.program.question, **more
        )
        return ask(endpoint, payload)[1]

    assert answer() == answer() == answer(seed=0)
    assert len({answer(seed=n) for n in range(8)}) > 4
    assert answer(seed=1) != answer(seed=1, temperature=0.7) or answer(seed=2) != answer(
        seed=2, temperature=0.7
    )


def test_feedback_gives_another_answer(chart, endpoint, make_payload):
    payload = make_payload(chart.pictures, "model-a", "answer", text=chart.program.question)
    _, first = ask(endpoint, payload)
    payload["messages"] += [
        {"role": "assistant", "content": first},
        {"role": "user", "content": "Your answer is wrong. " + chart.program.steps[1].question},
    ]
    status, second = ask(endpoint, payload)
    assert status == 200
    assert "Answer: " in second
    assert second == ask(endpoint, payload)[1]


@pytest.fixture
def retry(endpoint, make_payload):
    def run(probe, model, feedback, first):
        payload = make_payload(probe.pictures, model, "retry", text=probe.program.question)
        payload["messages"] += [
            {"role": "assistant", "content": first},
            {"role": "user", "content": feedback},
        ]
        return ask(endpoint, payload)

    return run


def test_a_retry_hangs_on_feedback_and_first_answer(chart, retry):
    steps = chart.program.steps
    _, told = retry(chart, "model-a", "Look again.", "Answer: A")
    _, other = retry(chart, "model-a", "Look again.", "Answer: B")
    _, named = retry(chart, "model-a", f"Look again.\n- {steps[0].question}", "Answer: A")
    assert len({told, other, named}) == 3
    assert retry(chart, "model-a", "Look again.", "Answer: A") == (200, told)


def test_shown_results_are_repeated(probes, retry, judge):
    for probe in probes[:8]:
        program = probe.program
        lines = "\n".join(f"- {s.question} {s.truth}" for s in program.steps)
        _, text = retry(probe, "model-h", f"Look again.\n{lines}\n{program.answer}", "Answer: ?")
        data = asked(program, criteria=criteria_of(program), answer=text)
        assert {row["score"] for row in judge(probe, "scoring", data)["scores"]} == {5}
        assert judge(probe, "outcome", asked(program, answer=text))["verdict"] == "right"


def test_what_was_right_gains_nothing_from_being_named(chart):
    program = chart.program
    probe = Probes().read([data_url(png) for png in chart.pictures])
    text = "\n".join(step.question for step in program.steps)
    right = planted_world().answer("model-a", program, feedback=Feedback(
        text="", shown=frozenset(step.id for step in program.steps)))  # fmt: skip
    assert _feedback(probe, text, right.text).named == frozenset()
    assert _feedback(probe, text, "").named == {step.id for step in program.steps}
    assert _feedback(probe, "Look again.", "").named == frozenset()


def test_a_retry_without_a_conversation_and_a_hint_on_nothing(chart, endpoint, make_payload):
    question = chart.program.question
    alone = make_payload(chart.pictures, "model-a", "retry", text=question)
    status, error = ask(endpoint, alone)
    assert status == 400
    assert "first answer" in error["message"]
    data = {"question": question, "step": "What is the weather like?", "attempt": 0}
    status, error = ask(endpoint, make_payload(chart.pictures, "model-a", "hint", data=data))
    assert (status, error["code"]) == (400, "not_a_probe")


def test_blind_guesses_need_no_picture_and_answers_do(chart, endpoint, make_payload):
    question = chart.program.question
    status, text = ask(endpoint, make_payload([], "model-a", "blind", text=question))
    assert status == 200
    assert text.startswith("Answer: ")
    status, error = ask(endpoint, make_payload([], "model-a", "answer", text=question))
    assert (status, error["code"]) == (400, "not_a_probe")


def test_the_noisy_judge_errs_alike_in_equal_requests(probes, judge):
    changed = total = 0
    for probe in probes:
        program = probe.program
        answer = planted_world().answer("model-d", program).text
        data = asked(program, criteria=criteria_of(program), answer=answer)
        exact = judge(probe, "scoring", data)["scores"]
        noisy = [
            judge(probe, "scoring", data, model="probe-judge-noisy", seed=seed)["scores"]
            for seed in (1, 1, 2, 3)
        ]
        assert noisy[0] == noisy[1]
        for rows in noisy[1:]:
            for true, said in zip(exact, rows, strict=True):
                total += 1
                changed += true["score"] != said["score"]
    # METHODS D3: the diagonal is .80; standard error about .02.
    assert changed / total == pytest.approx(0.2, abs=0.07)


@pytest.mark.slow
def test_the_coin_scores_by_chance_and_is_exact_before(probes, judge):
    said = []
    for probe in probes:
        program = probe.program
        for model in ("model-a", "model-d"):
            answer = planted_world().answer(model, program).text
            data = asked(program, criteria=criteria_of(program), answer=answer)
            for seed in range(12):
                rows = judge(probe, "scoring", data, model="probe-judge-coin", seed=seed)["scores"]
                said += [row["score"] for row in rows]
            again = judge(probe, "scoring", data, model="probe-judge-coin", seed=seed)["scores"]
            assert again == rows
        data = asked(program)
        assert judge(probe, "replay", data, model="probe-judge-coin") == judge(
            probe, "replay", data
        )
    for score in range(1, 6):
        # One fifth each, whatever the answer says; 3.5 standard errors.
        assert said.count(score) / len(said) == pytest.approx(
            0.2, abs=3.5 * (0.16 / len(said)) ** 0.5
        )


def test_the_coin_declines_what_is_not_covered(chart, judge):
    criteria = [{"id": "1", "question": "Who drew this?", "ground_truth": "Ada"}]
    data = asked(chart.program, criteria=criteria, answer="Ada")
    (row,) = judge(chart, "scoring", data, model="probe-judge-coin")["scores"]
    assert row["score"] is None
    assert "not covered" in row["reason"]


def test_usage_id_and_model(chart, endpoint, make_payload):
    payload = make_payload(chart.pictures, "model-a", "answer", text=chart.program.question)
    document = json.loads(endpoint.respond(json.dumps(payload).encode()).body)
    assert document["model"] == "model-a"
    assert document["id"].startswith("chatcmpl-")
    usage = document["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 255
    assert document["choices"][0]["finish_reason"] == "stop"


def test_max_tokens_cuts(chart, endpoint, make_payload):
    payload = make_payload(
        chart.pictures, "model-a", "answer", text=chart.program.question, max_tokens=3
    )
    choice = json.loads(endpoint.respond(json.dumps(payload).encode()).body)["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"]) == 12


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe", b'{"model"']
)
def test_broken_bodies_are_refused(endpoint, body):
    reply = endpoint.respond(body)
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["message"]


@pytest.mark.parametrize(
    "data",
    [
        {}, {"criteria": 3}, {"criteria": [3]}, {"criteria": [{}], "answer": 3},
        {"criteria": [{"id": [1], "question": {"a": 1}, "ground_truth": 3}], "answer": None},
    ],
)  # fmt: skip
def test_hostile_data_never_crashes(chart, endpoint, make_payload, data):
    for task in ("replay", "criteria", "mapping", "scoring", "outcome"):
        payload = make_payload(chart.pictures, "probe-judge", task, data=data)
        reply = endpoint.respond(json.dumps(payload).encode())
        assert reply.status in (200, 400)
        json.loads(reply.body)


def test_routes(endpoint):
    assert json.loads(endpoint.handle("GET", "/v1/models", {}, b"").body)["data"][0]["id"]
    assert endpoint.handle("GET", "/health", {}, b"").status == 200
    assert endpoint.handle("GET", "/v2/x", {}, b"").status == 404
    assert endpoint.handle("POST", "/v1/models", {}, b"").status == 404


@pytest.mark.parametrize(
    ("fault", "status"), [("rate_limit", 429), ("server_error", 500), ("unavailable_html", 503)]
)
def test_status_faults_vanish_on_the_next_try(chart, make_payload, fault, status):
    endpoint = ProbeEndpoint(ProbeConfig(faults=FaultPlan(rates={fault: 1.0}, retry_after=2.5)))
    payload = make_payload(chart.pictures, "model-a", "answer", text=chart.program.question)
    body = json.dumps(payload).encode()
    route = ("POST", "/v1/chat/completions")
    first = endpoint.handle(*route, {}, body)
    assert first.status == status
    assert first.headers.get("retry-after") == ("2.5" if status == 429 else None)
    assert endpoint.handle(*route, {"x-atomscope-attempt": "2"}, body).status == 200
    assert endpoint.handle(*route, {"x-atomscope-attempt": "odd"}, body).status == status


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("empty_choices", lambda d: d["choices"] == []),
        ("null_content", lambda d: d["choices"][0]["message"]["content"] is None),
        ("refusal", lambda d: "can't help" in d["choices"][0]["message"]["refusal"]),
        ("length", lambda d: d["choices"][0]["finish_reason"] == "length"),
        ("content_filter", lambda d: d["choices"][0]["finish_reason"] == "content_filter"),
        ("fenced_json", lambda d: d["choices"][0]["message"]["content"].startswith("```json")),
        ("think_block", lambda d: d["choices"][0]["message"]["content"].startswith("<think>")),
        ("score_seven", lambda d: '"score": 7' in d["choices"][0]["message"]["content"]),
    ],
)
def test_faults_inside_a_reply(chart, make_payload, fault, check):
    endpoint = ProbeEndpoint(ProbeConfig(faults=FaultPlan(rates={fault: 1.0})))
    data = asked(chart.program, criteria=criteria_of(chart.program), answer="The difference is 3.")
    payload = make_payload(chart.pictures, "probe-judge", "scoring", data=data)
    assert check(json.loads(endpoint.respond(json.dumps(payload).encode()).body))


def test_a_truncated_body_is_no_json(chart, make_payload):
    endpoint = ProbeEndpoint(ProbeConfig(faults=FaultPlan(rates={"truncated_body": 1.0})))
    payload = make_payload(chart.pictures, "model-a", "answer", text=chart.program.question)
    reply = endpoint.respond(json.dumps(payload).encode())
    assert reply.wreck == "cut"
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.body)


def test_latency_is_repeatable_and_bounded(chart, make_payload):
    endpoint = ProbeEndpoint(ProbeConfig(latency=0.5, jitter=0.4))
    delays = set()
    for seed in range(20):
        payload = make_payload(
            chart.pictures, "model-a", "answer", text=chart.program.question, seed=seed
        )
        body = json.dumps(payload).encode()
        delay = endpoint.respond(body).delay
        assert delay == endpoint.respond(body).delay
        assert 0.3 <= delay <= 0.7
        delays.add(delay)
    assert len(delays) > 10


def test_a_scoring_call_is_cheap(chart, endpoint, make_payload):
    answer = planted_world().answer("model-e", chart.program).text
    data = asked(chart.program, criteria=criteria_of(chart.program), answer=answer)
    payload = make_payload(chart.pictures, "probe-judge", "scoring", data=data)
    bodies = [json.dumps({**payload, "seed": n}).encode() for n in range(60)]
    began = time.process_time()
    for body in bodies:
        endpoint.respond(body)
    # Measured 0.7 ms; the bound leaves room for a busy machine.
    assert (time.process_time() - began) / 60 < 0.010
