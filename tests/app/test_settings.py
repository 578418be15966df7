"""Settings: endpoints, their test, agreements, and where things are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom.engine.endpoints.configured import EndpointTest
from atom.engine.endpoints.servers import FoundServer
from atom.judge.servers.endpoints import read_endpoints
from atom.judge.servers.presets import PRESETS
from atom.records import Call, Study
from atom.store import Store
from tests.app.conftest import markup_of
from tests.app.screen_store import make_store
from tests.app.work_store import settle

PAGE = "pages/share/settings.py"
SECRET = "sk-live-000111222333"
HOSTILE_NAME = "<b>bold</b>"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return the endpoints file, which isn't there yet."""
    found = tmp_path / "endpoints.yaml"
    monkeypatch.setenv("ATOM_ENDPOINTS", str(found))
    return found


def fill(test, **values: str) -> None:
    for field, value in values.items():
        test.text_input(key=f"endpoint_{field}_+").set_value(value).run()


def test_without_any_endpoint_the_built_in_ones_are_there(open_app, file):
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "You have added none yet" in seen.markup
    assert "probe-judge-noisy" in seen.markup
    assert "you have agreed to no host" in seen.markup
    assert str(file) in seen.markup


@pytest.mark.slow
def test_an_endpoint_is_added_changed_and_opened(open_app, file, monkeypatch):
    monkeypatch.setenv("ATOM_KEYS", "MY_KEY")
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    fill(test, name="mine", base_url="https://api.example.com/v1", model="big", key_env="MY_KEY")
    test.button(key="endpoint_save").click().run()
    assert not test.exception
    assert "Saved: mine. Test it before you rely on it; then judge answers" in markup_of(test)
    assert "MY_KEY is not set" in markup_of(test)
    assert [e.name for e in read_endpoints(file)] == ["mine"]
    assert "mine" in test.query_params["endpoint"]
    test.number_input(key="endpoint_price_in_mine").set_value(2.5).run()
    test.button(key="endpoint_save").click().run()
    assert "One price is given and the other isn&#x27;t" in markup_of(test)
    assert test.number_input(key="endpoint_price_in_mine").value == 2.5
    test.number_input(key="endpoint_price_out_mine").set_value(10.0).run()
    test.button(key="endpoint_save").click().run()
    assert read_endpoints(file)[0].prices.input == 2.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "Name is empty."),
        ({"name": "mine"}, "Address is empty."),
        ({"name": "mine", "base_url": "https://a.example/v1"}, "Model is empty."),
        ({"name": "probe-judge", "base_url": "https://a.example/v1", "model": "m"}, "already"),
        ({"name": "mine", "base_url": "ftp://a.example", "model": "m"}, "give an address such as"),
    ],
)
def test_a_wrong_form_says_what_is_wrong_and_keeps_what_was_typed(open_app, file, values, words):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    fill(test, **values)
    test.button(key="endpoint_save").click().run()
    assert not test.exception
    assert "Not saved" in markup_of(test)
    assert words in markup_of(test)
    assert not file.exists()
    for field, value in values.items():
        assert test.text_input(key=f"endpoint_{field}_+").value == value


@pytest.mark.slow
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(open_app, file):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    fill(test, name="mine", base_url="https://a.example/v1", model="m", key_env=SECRET)
    test.button(key="endpoint_save").click().run()
    assert "name an environment variable" in markup_of(test)
    assert SECRET not in markup_of(test)


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["HOME", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"])
def test_a_variable_that_nobody_listed_is_sent_nowhere(open_app, file, variable):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    fill(test, name="mine", base_url="https://a.example/v1", model="m", key_env=variable)
    test.button(key="endpoint_save").click().run()
    assert f"ATOM_KEYS={variable}" in markup_of(test)
    assert not file.exists()


@pytest.mark.slow
def test_a_test_on_another_host_asks_first(open_app, file, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    file.write_text(
        "- {name: away, base_url: 'https://a.invalid/v1', model: m, key_env: MY_KEY, max_tries: 1}"
    )
    asked = []

    async def try_(endpoint, *, agreed):
        asked.append((endpoint.name, list(agreed)))
        return EndpointTest(endpoint=endpoint.name, model=endpoint.model, checks=())

    monkeypatch.setattr("atom.ui.settings.check.try_endpoint", try_)
    test = open_app(page=PAGE, query={"endpoint": "away"}).test
    test.button(key="endpoint_test").click().run()
    words = "questions about it, and the value of MY_KEY to a.invalid."
    assert words in markup_of(test)
    test.button(key="endpoint_test_no").click().run()
    assert words not in markup_of(test)
    assert asked == []
    test.button(key="endpoint_test").click().run()
    test.button(key="endpoint_test_yes").click().run()
    settle(test)
    assert asked == [("away", ["a.invalid"])]


def test_a_key_is_never_shown(open_app, file, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    file.write_text("- {name: mine, base_url: 'https://a.example/v1', model: m, key_env: MY_KEY}")
    seen = open_app(page=PAGE, query={"endpoint": "mine"})
    assert "MY_KEY is set" in seen.markup
    assert SECRET not in seen.markup


def test_a_test_says_in_words_what_it_found(open_app, file):
    file.write_text("- {name: away, base_url: 'http://127.0.0.1:9/v1', model: m, max_tries: 1}")
    test = open_app(page=PAGE, query={"endpoint": "away"}).test
    test.button(key="endpoint_test").click().run()
    settle(test)
    markup = markup_of(test)
    assert "It can&#x27;t be used as it is." in markup
    for name in ("Key", "Model listed", "Text reply", "JSON reply", "Picture"):
        assert name in markup


def test_a_built_in_endpoint_can_be_tested_and_not_changed(open_app, file):
    test = open_app(page=PAGE, query={"endpoint": "probe-judge"}).test
    assert "can&#x27;t be changed" in markup_of(test)
    test.button(key="endpoint_test").click().run()
    settle(test)
    assert "is listed." in markup_of(test)
    assert not any(button.key == "endpoint_remove" for button in test.button)


def test_a_broken_file_is_said_and_the_built_in_ones_stay(open_app, file):
    file.write_text(
        f"- {{name: mine, base_url: 'https://a.example/v1', model: m, api_key: {SECRET}}}"
    )
    seen = open_app(page=PAGE)
    assert not seen.test.exception
    assert "Keys never stand in this file" in seen.markup
    assert SECRET not in seen.markup
    assert "probe-judge" in seen.markup


def test_an_endpoint_that_is_gone_is_said(open_app, file):
    seen = open_app(page=PAGE, query={"endpoint": "<script>gone"})
    assert not seen.test.exception
    assert "There is no endpoint" in seen.markup
    assert "<script>gone" not in seen.markup


def test_names_are_text(open_app, file):
    file.write_text(f"- {{name: '{HOSTILE_NAME}', base_url: 'https://a.example/v1', model: m}}")
    seen = open_app(page=PAGE, query={"endpoint": HOSTILE_NAME})
    assert not seen.test.exception
    assert "&lt;b&gt;bold" in seen.markup
    assert HOSTILE_NAME not in seen.markup


@pytest.mark.slow
def test_an_agreement_is_listed_and_taken_back(open_app, file, tmp_path):
    made = make_store(tmp_path / "made", judged=False)
    with Store.open(made.folder) as store:
        study = store.get(Study, made.study.id)
        store.replace([study.model_copy(update={"consent": ("api.example.com",)})])
    test = open_app(made.folder, PAGE).test
    assert "api.example.com" in markup_of(test)
    test.button(key="withdraw_0").click().run()
    assert not test.exception
    assert "you have agreed to no host" in markup_of(test)
    with Store.open(made.folder) as store:
        assert store.get(Study, made.study.id).consent == ()


@pytest.mark.slow
def test_a_preset_fills_the_form_in(open_app, file):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    test.selectbox(key="endpoint_preset_+").set_value("azure-openai").run()
    assert "AZURE_OPENAI_API_KEY" in markup_of(test)
    assert test.text_area(key="endpoint_query_+").value == "api-version=2024-10-21"
    fill(test, name="az", model="gpt-5-mini")
    assert test.number_input(key="endpoint_thinking_tokens_+").value == 8192
    assert test.text_input(key="endpoint_family_+").value == "gpt"
    test.button(key="endpoint_save").click().run()
    assert "put {resource} and {deployment} in" in markup_of(test)
    fill(test, base_url="https://lab.openai.azure.com/openai/deployments/d/chat/completions"
         "?api-version=2025-01-01")  # fmt: skip
    assert test.text_input(key="endpoint_base_url_+").value.endswith("/deployments/d")
    test.button(key="endpoint_save").click().run()
    assert not test.exception
    (made,) = read_endpoints(file)
    assert (made.preset, made.thinking_tokens, made.pictures.max_count) == (
        "azure-openai", 8192, 10,
    )  # fmt: skip
    assert made.query == {"api-version": "2025-01-01"}
    assert made.extra_headers == {"api-key": "${AZURE_OPENAI_API_KEY}"}
    assert "AZURE_OPENAI_API_KEY is not set" in markup_of(test)


@pytest.mark.slow
def test_what_a_model_s_name_tells_goes_along_until_somebody_types_otherwise(open_app, file):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    test.selectbox(key="endpoint_preset_+").set_value("vllm").run()
    fill(test, model="Qwen/Qwen2.5-VL-7B-Instruct")
    assert test.selectbox(key="endpoint_boxes_+").value == "xyxy_pixels"
    fill(test, model="something-else")
    assert test.selectbox(key="endpoint_boxes_+").value == ""
    test.selectbox(key="endpoint_boxes_+").set_value("xyxy_unit").run()
    fill(test, model="gemini-2.5-flash")
    assert test.selectbox(key="endpoint_boxes_+").value == "xyxy_unit"


@pytest.mark.slow
def test_every_new_field_is_kept(open_app, file):
    test = open_app(page=PAGE, query={"endpoint": "+"}).test
    fill(test, name="mine", base_url="https://api.example.com/v1", model="big")
    test.number_input(key="endpoint_temperature_+").set_value(0.7).run()
    test.number_input(key="endpoint_max_tokens_+").set_value(900).run()
    test.selectbox(key="endpoint_image_detail_+").set_value("high").run()
    test.text_area(key="endpoint_extra_body_+").set_value("{broken").run()
    test.button(key="endpoint_save").click().run()
    assert "Further fields: not JSON" in markup_of(test)
    test.text_area(key="endpoint_extra_body_+").set_value('{"top_k": 20}').run()
    test.toggle(key="endpoint_system_+").set_value(False).run()
    test.button(key="endpoint_save").click().run()
    (made,) = read_endpoints(file)
    assert (made.temperature, made.max_tokens, made.image_detail) == (0.7, 900, "high")
    assert (made.extra_body, made.system) == ({"top_k": 20}, False)
    shown = markup_of(test)
    assert "temperature 0.7; tokens of a reply 900; image detail high" in shown
    assert "further fields: top_k" in shown


def test_a_server_on_this_computer_is_added_in_a_click(open_app, file, monkeypatch):
    found = FoundServer(
        preset=PRESETS["ollama"],
        address="http://127.0.0.1:11434/v1",
        models=("qwen2.5vl:7b", "llava:13b"),
    )

    async def find():
        return (found, replace(found, preset=PRESETS["litellm"], models=(), wants_key=True))

    monkeypatch.setattr("atom.ui.settings.found.find_servers", find)
    test = open_app(page=PAGE).test
    test.button(key="servers_look").click().run()
    settle(test)
    assert "wants a key" in markup_of(test)
    test.button(key="server_add_0").click().run()
    assert not test.exception
    (made,) = read_endpoints(file)
    assert (made.name, made.preset, made.boxes) == ("qwen2.5vl:7b", "ollama", "xyxy_pixels")
    assert "OLLAMA_CONTEXT_LENGTH" in markup_of(test)
    assert "qwen2.5vl:7b" in test.query_params["endpoint"]


@pytest.mark.slow
def test_what_was_adapted_is_told(open_app, file, tmp_path):
    file.write_text("- {name: mine, base_url: 'https://a.example/v1', model: m}\n")
    with Store.open(tmp_path / "own") as store:
        calls = [
            Call(id=f"c{n}", request_hash="h", task="replay", endpoint="mine", model="m",
                 prompt="replay/1", reply="{}", created=f"2026-01-0{n}", adapted=lines)
            for n, lines in ((1, ("temperature left out: refused",)), (2, ()))
        ]  # fmt: skip
        store.put(calls)
    seen = open_app(tmp_path / "own", page=PAGE, query={"endpoint": "mine"})
    assert "temperature left out: refused" in seen.markup
