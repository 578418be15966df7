"""What refusals teach: servers' real words against what was sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judge.servers.dialect import Dialect, Lesson, SentRequest, adapted_lines, sent_parts
from atom.judge.servers.refusals import lessons_of
from atom.judge.servers.words import read_error
from atom.records import Sampling

ALL = SentRequest(
    parts=frozenset(
        {"temperature", "top_p", "seed", "reasoning_effort", "max_tokens", "image_detail",
         "system", "response_format", "stream", "stream_options", "top_k"}
    ),
    form="json_schema",
    schema_name="atomscope_scoring",
    keywords=frozenset({"additionalProperties", "maxItems", "minimum"}),
    max_tokens=4000,
    sides=((640, 480),),
)  # fmt: skip


def openai(message, param=None, code=None):
    return {"error": {"message": message, "type": "invalid_request_error", "param": param,
                      "code": code}}  # fmt: skip


def drop(part):
    return (part, "", "")


NEWER = ("max_tokens", "max_completion_tokens", "")
BELOW = ("response_format", "json_object", "")
SAID = {
    "openai: only the default": (
        400,
        openai(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
            "(1) value is supported.",
            "temperature",
            "unsupported_value",
        ),
        {drop("temperature")},
    ),
    "openai: newer name": (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
        {NEWER},
    ),
    "openai: fields before words": (
        400,
        openai("Unsupported value for seed or temperature.", "top_p", "unsupported_value"),
        {drop("top_p")},
    ),
    "openai: an old model": (
        400,
        openai("Unrecognized request argument supplied: reasoning_effort"),
        {drop("reasoning_effort")},
    ),
    "openai: no system role": (
        400,
        openai(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            "unsupported_value",
        ),
        {("system", "user", "")},
    ),
    "openai: too many tokens": (
        400,
        openai(
            "max_tokens is too large: 4000. This model supports at most 2048 completion tokens, "
            "whereas you provided 4000.",
            "max_tokens",
            "invalid_value",
        ),
        {("max_tokens", "2048", "")},
    ),
    "openai: no json_schema": (
        400,
        openai(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
            "model.",
            "response_format",
        ),
        {BELOW},
    ),
    "openai: a keyword": (
        400,
        openai(
            "Invalid schema for response_format 'atomscope_scoring': In context=('properties', "
            "'cases'), 'maxItems' is not permitted.",
            "response_format",
        ),
        {("schema keyword", "", "maxItems")},
    ),
    "openai: one schema": (
        400,
        openai("Invalid schema for response_format 'atomscope_scoring': too deep."),
        {("response_format", "json_object", "atomscope_scoring")},
    ),
    "openai: unverified": (
        400,
        openai(
            "Your organization must be verified to stream this model.",
            "stream",
            "unsupported_value",
        ),
        {drop("stream")},
    ),
    "azure: stream options": (
        400,
        openai("Unrecognized request argument supplied: stream_options"),
        {drop("stream_options")},
    ),
    "gemini: a list": (
        400,
        [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
            'Invalid JSON payload received. Unknown name "seed": Cannot find field.'}}],
        {drop("seed")},
    ),
    "gemini: a keyword": (
        400,
        [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name '
            "\"additionalProperties\" at 'generation_config.response_schema': Cannot find."}}],
        {("schema keyword", "", "additionalProperties")},
    ),
    "gemini: gemma": (
        400,
        [{"error": {"code": 400, "message": "Developer instruction is not enabled for models/g"}}],
        {("system", "user", "")},
    ),
    "gemini: states": (
        400,
        [{"error": {"code": 400, "message":
            "The specified schema produces a constraint that has too many states for serving."}}],
        {("response_format", "json_object", "atomscope_scoring")},
    ),
    "anthropic: one of two": (
        400,
        openai(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only "
            "one."
        ),
        {drop("top_p")},
    ),
    "anthropic: output tokens": (
        400,
        openai(
            "max_tokens: 4000 > 3000, which is the maximum allowed number of output tokens for m"
        ),
        {("max_tokens", "3000", "")},
    ),
    "deepseek: a range": (
        400,
        openai("Invalid max_tokens value, the valid range of max_tokens is [1, 2000]"),
        {("max_tokens", "2000", "")},
    ),
    "tgi: strictly positive": (
        422,
        {"error": "Input validation error: `temperature` must be strictly positive"},
        {drop("temperature")},
    ),
    "groq: less than or equal": (
        400,
        openai("`max_tokens` must be less than or equal to `3000`, the maximum value for this"),
        {("max_tokens", "3000", "")},
    ),
    "a prompt that is too long": (
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9000 tokens."
        ),
        set(),
    ),
    "mistral": (
        422,
        {"object": "error", "message": {"detail": [
            {"type": "extra_forbidden", "loc": ["body", "seed"],
             "msg": "Extra inputs are not permitted"},
            {"type": "extra_forbidden", "loc": ["body", "stream_options"],
             "msg": "Extra inputs are not permitted"}]}},
        {drop("seed"), drop("stream_options")},
    ),
    "mistral: detail": (
        422,
        {"detail": [{"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "loc":
            ["body", "messages", 1, "user", "content", "list", 0, "image_url", "detail"]}]},
        {drop("image_detail")},
    ),
    "vllm: system": (
        400,
        {"object": "error", "message": "System role not supported", "code": 400},
        {("system", "user", "")},
    ),
    "vllm: alternate": (
        400,
        {"object": "error", "code": 400, "message":
            "Conversation roles must alternate user/assistant/user/assistant/..."},
        {("system", "user", "")},
    ),
    "vllm: context": (
        400,
        {"object": "error", "code": 400, "message":
            "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum "
            "context length is 8192 tokens and your request has 5000 input tokens (4000 > 8192 - "
            "5000)."},
        {("max_tokens", "3192", "this request")},
    ),
    "together: context": (
        400,
        openai(
            "This model's maximum context length is 4096 tokens. However, you requested 6500 "
            "tokens (2500 in the messages, 4000 in the completion)."
        ),
        {("max_tokens", "1596", "this request")},
    ),
    "sglang": (
        400,
        {"object": "error", "message": "1 validation error: top_k: extra_forbidden", "code": 400},
        {drop("top_k")},
    ),
    "ollama: thinking": (
        400,
        openai('"llava" does not support thinking'),
        {drop("reasoning_effort")},
    ),
    "lm studio: a bare text": (
        400,
        {"error": "'response_format.type' must be 'text'"},
        {BELOW},
    ),
    "llama.cpp: grammar": (
        400,
        {"error": {"code": 400, "message": "failed to parse grammar", "type": "x"}},
        {BELOW},
    ),
    "litellm: a list of names": (
        400,
        openai(
            "litellm.UnsupportedParamsError: openai does not support parameters: ['temperature', "
            "'seed'], for model=x. To drop these, set `litellm.drop_params=True`"
        ),
        {drop("temperature"), drop("seed")},
    ),
    "litellm: no quotes": (
        400,
        openai(
            "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.0. Only "
            "temperature=1 is supported."
        ),
        {drop("temperature")},
    ),
    "openrouter: inside": (
        400,
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw":
            '{"error": {"message": "Unsupported parameter: \'top_p\' is not supported with this '
            'model.", "param": "top_p", "code": "unsupported_parameter"}}'}}},
        {drop("top_p")},
    ),
    "a key that is wrong": (401, openai("Unknown temperature key", "temperature"), set()),
    "another question altogether": (400, openai("The picture can't be read", "messages"), set()),
    "a limit of requests": (429, openai("max_tokens too large for now"), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_servers_own_words(name):
    status, body, expected = SAID[name]
    assert {lesson.name for lesson in lessons_of(status, read_error(body), ALL)} == expected


@pytest.mark.parametrize("name", [name for name, said in SAID.items() if said[2]])
def test_a_lesson_once_learned_is_not_taught_again(name):
    status, body, _ = SAID[name]
    words = read_error(body)
    sent, taught = ALL, Dialect()
    # Refused again in spite of what was learned, each answer is a new lesson, or there is none.
    for _ in range(6):
        new = lessons_of(status, words, sent)
        assert not any(taught.knows(lesson) for lesson in new)
        taught = taught.joined(new)
        if not new:
            return
        sent = SentRequest(
            dialect=taught,
            parts=ALL.parts - taught.dropped,
            form=taught.form("atomscope_scoring"),
            schema_name=ALL.schema_name,
            keywords=ALL.keywords - taught.keywords,
            max_tokens=taught.limit(ALL.max_tokens),
            sides=ALL.sides,
        )
    raise AssertionError("it never ends")


lesson_sets = st.lists(
    st.builds(
        Lesson,
        part=st.sampled_from(["temperature", "max_tokens", "response_format", "pictures"]),
        instead=st.sampled_from(["64", "128", "4096"]),
    ),
    max_size=5,
)


@given(lesson_sets, lesson_sets)
def test_a_dialect_is_the_set_of_its_lessons(first, second):
    one = Dialect().joined(first).joined(second)
    other = Dialect().joined(second).joined(first).joined(second)
    assert {lesson.name for lesson in one.lessons} == {lesson.name for lesson in other.lessons}
    assert all(one.knows(lesson) for lesson in (*first, *second))
    assert one.joined(first) is one


def test_the_ladder_goes_down_and_never_up(scoring):
    down = Dialect().joined([Lesson(part="response_format", instead="json_object")])
    low = down.joined([Lesson(part="response_format", instead="text")])
    assert Dialect().form_for(scoring) == "json_schema"
    assert down.form_for(scoring) == "json_object"
    # A refusal that comes late, of a request sent before, doesn't raise it again.
    again = low.joined([Lesson(part="response_format", instead="json_object")])
    assert again.form_for(scoring) == "text"


def test_a_complaint_about_one_schema_concerns_that_schema_alone(scoring):
    lesson = Lesson(part="response_format", instead="json_object", only="atomscope_scoring")
    dialect = Dialect().joined([lesson])
    assert dialect.form("atomscope_scoring") == "json_object"
    assert dialect.form("other") == dialect.form("") == "json_schema"


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "text"])
def test_a_fixed_mode_is_kept(scoring, mode):
    low = Dialect().joined([Lesson(part="response_format", instead="text")])
    sent = sent_parts(scoring, dialect=low, mode=mode)
    assert sent.form == mode
    assert lessons_of(400, read_error({"error": "no response_format here"}), sent) == ()


def test_what_got_through():
    asked = Sampling(temperature=0.0, seed=3, max_tokens=900, extra='{"min_p":0.1,"top_k":3}')
    dialect = Dialect().joined(
        [Lesson(part="temperature"), Lesson(part="top_k"), Lesson(part="max_tokens", instead="500")]
    )
    sent = Sampling(seed=3, max_tokens=500, extra='{"min_p":0.1}')
    assert dialect.let_through(asked) == sent
    assert Dialect().let_through(asked) is None


def test_only_what_touches_a_request_is_told_of_it(scoring, free_text):
    lessons = [Lesson(part="response_format", instead="text"), Lesson(part="temperature")]
    known = Dialect().joined(lessons)

    def told(request):
        wanted = sent_parts(request, dialect=Dialect())
        return adapted_lines(wanted, sent_parts(request, dialect=known))

    assert told(scoring) == (
        "structured replies were asked for as text",
        "temperature was left out",
    )
    assert told(free_text) == ()
