"""Another site on this computer, and a stand-in for all that lies outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.attacks._app import Running

FRAMES = {
    "iframe": "<iframe id=f src='{url}'></iframe>",
    "iframe of a page": "<iframe id=f src='{url}settings'></iframe>",
    "sandboxed": "<iframe id=f sandbox='allow-scripts allow-same-origin' src='{url}'></iframe>",
    "object": "<object id=f data='{url}' type='text/html'></object>",
    "embed": "<embed id=f src='{url}' type='text/html'>",
    "frameset": "<frameset cols='*'><frame id=f src='{url}'></frameset>",
}


@contextmanager
def site(app: Running) -> Iterator[str]:
    """Serve a bare page, and one for each kind of frame at `/?KIND`; -> address."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind = self.path.partition("?")[2].replace("%20", " ")
            body = FRAMES.get(kind, "").format(url=f"{app.url}/").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Page) as address:
        yield address


@contextmanager
def outside() -> Iterator[tuple[dict[str, str], list[str]]]:
    """Stand in for everything outside, as a proxy; -> (variables that name it, what was asked)."""
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_error(502)

        do_GET = do_POST = do_CONNECT = answer

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Proxy) as address:
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        yield dict.fromkeys(names, address), asked


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
