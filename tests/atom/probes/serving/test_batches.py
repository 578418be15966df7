from __future__ import annotations

import json

from atom.probes.serving.batches import BatchEndpoint, read_form, read_requests

LINE = (
    b'{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}\n'
)


def test_a_form_is_read_whatever_bytes_it_holds():
    data = b"one\r\n--two\x00\r\n"
    body = (
        b'--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="x.jsonl"\r\n'
        b"Content-Type: application/jsonl\r\n\r\n" + data + b"\r\n--B--\r\n"
    )
    fields = read_form('multipart/form-data; boundary="B"', body)
    assert fields == {"purpose": ("", b"batch"), "file": ("x.jsonl", data)}
    assert read_form("application/json", body) is None


def test_a_file_is_checked_before_it_is_answered():
    assert read_requests(LINE)[1] == []
    assert "twice" in read_requests(LINE + LINE)[1][0]
    other = LINE.replace(b'"a"', b'"b"').replace(b'"m"', b'"n"')
    assert "one model" in read_requests(LINE + other)[1][0]
    assert len(read_requests(b'{"custom_id": 1}\nnonsense\n')[1]) == 2
    wrong = LINE.replace(b"POST", b"GET") + LINE.replace(b'{"model": "m"}', b"7")
    assert len(read_requests(wrong)[1]) == 2
    assert read_requests(b"\n")[1] == ["the file is empty"]


def told(reply):
    return reply.status, json.loads(reply.body)


def test_each_look_takes_a_batch_one_state_further():
    service = BatchEndpoint()
    file = service.keep("x.jsonl", LINE)
    asked = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "metadata": {"t": "1"}}
    status, batch = told(service.handle("POST", "/v1/batches", {}, json.dumps(asked).encode()))
    assert (status, batch["status"]) == (200, "validating")
    place = f"/v1/batches/{batch['id']}"
    states = [told(service.handle("GET", place, {}, b""))[1]["status"] for _ in range(4)]
    assert states == ["in_progress", "finalizing", "completed", "completed"]
    after = told(service.handle("GET", "/v1/batches", {}, b""))[1]["data"][0]
    # The model "m" isn't served, so the one request has failed.
    assert after["request_counts"] == {"total": 1, "completed": 0, "failed": 1}
    error = service.handle("GET", f"/v1/files/{after['error_file_id']}/content", {}, b"")
    assert json.loads(error.body)["response"]["status_code"] in (400, 404)


def test_what_is_not_there_is_said():
    service = BatchEndpoint()
    for method, path, body in (
        ("GET", "/v1/files/none", b""),
        ("GET", "/v1/batches/none", b""),
        ("DELETE", "/v1/files", b""),
        ("POST", "/v1/files", b"no form"),
        ("POST", "/v1/batches", b"["),
        ("POST", "/v1/batches", b"{}"),
    ):
        assert service.handle(method, path, {}, body).status in (400, 404)
    assert service.handle("GET", "/v1/models", {}, b"").status == 200
