"""Settings in a real browser: prices come from the reader's own file, and from nowhere else."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from playwright.sync_api import expect

from atom.judge.servers.endpoints import read_endpoints
from tests.atom.engine.endpoints.test_form_checks import Judge
from tests.e2e.looks import LOOKS


def test_prices_are_taken_from_a_file(start_app, page, visit, tmp_path, shot):
    store = tmp_path / "store"
    store.mkdir()
    (store / "endpoints.yaml").write_text(
        "- {name: big, base_url: 'https://a.example/v1', model: gpt-4.1, preset: openai}\n"
        "- {name: odd, base_url: 'https://a.example/v1', model: odd-model}\n"
    )
    file = tmp_path / "model_prices.json"
    file.write_text(
        json.dumps({"gpt-4.1": {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06}})
    )
    app = start_app(store=store, demo=tmp_path / "no_demo")
    page.goto(f"{app.url}/settings")
    page.locator(".st-key-settings_prices summary").click()
    page.locator(".st-key-settings_prices input[type=file]").set_input_files(file)
    expect(page.get_by_text("not in the file")).to_be_visible()
    expect(page.get_by_text("$2 in, $8 out a million tokens")).to_be_visible()
    shot(page, "settings-prices")
    page.get_by_role("button", name="Take 1 price").click()
    expect(page.get_by_text("Prices taken: big.")).to_be_visible()
    prices = {one.name: one.prices.input for one in read_endpoints(store / "endpoints.yaml")}
    assert prices == {"big": 2.0, "odd": None}
    assert visit.errors == []


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_form_is_no_wider_than_the_window(start_app, new_page, scheme, width, shot, tmp_path):
    app = start_app(demo=tmp_path / "no_demo")
    page = new_page(scheme=scheme, width=width, height=900)
    page.goto(f"{app.url}/settings?endpoint=%2B")
    page.locator("[class*='st-key-endpoint_preset'] input").click()
    page.get_by_role("option", name="Azure OpenAI").click()
    expect(page.get_by_text("From its documentation")).to_be_visible()
    for part in ("sampling", "pictures", "request"):
        page.locator(f".st-key-endpoint_more_{part} summary").click()
    main = page.get_by_test_id("stMain")
    assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    shot(page, f"settings-form-{width}-{scheme}")


@pytest.fixture
def pointing():
    """Serve a judge that writes boxes as Gemini does and refuses a seed: -> its address."""
    judge = Judge("yxyx_1000", refuses=("seed",))

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = judge(httpx2.Request(self.command, "http://127.0.0.1/v1", content=body))
            data = reply.read()
            self.send_response(reply.status_code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join(5)
    server.server_close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 900)])
def test_a_test_finds_out_how_boxes_are_written_and_keeps_it(
    start_app, new_page, scheme, width, tmp_path, pointing, shot
):
    store = tmp_path / "store"
    store.mkdir()
    (store / "endpoints.yaml").write_text(
        f"- {{name: gem, base_url: '{pointing}', model: m, seed: 7}}\n"
    )
    app = start_app(store=store, demo=tmp_path / "no_demo")
    page = new_page(scheme=scheme, width=width, height=1100)
    page.goto(f"{app.url}/settings?endpoint=gem")
    page.get_by_role("button", name="Test", exact=True).click()
    keep = page.get_by_role("button", name="Keep what was found about boxes")
    expect(keep).to_be_visible()
    expect(page.get_by_text("seed was left out").first).to_be_visible()
    shot(page, f"settings-test-{width}-{scheme}")
    keep.click()
    expect(page.get_by_text("Kept: boxes of gem")).to_be_visible()
    assert [one.boxes for one in read_endpoints(store / "endpoints.yaml")] == ["yxyx_1000"]
