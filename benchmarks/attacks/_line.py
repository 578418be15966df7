"""A session without a browser: a websocket that speaks Streamlit's protocol, as browsers do."""

from __future__ import annotations

import asyncio
import html
import re

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.attacks._app import Running

_PATIENCE = 300.0
_DOOR = re.compile(r'href="(\./[^"]*)"')


class Line:
    """A session: it asks for pages.

    Attributes:
        doors: addresses of the app that stood on the page that was seen last.
        sent: bytes that page took.
    """

    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self.doors: list[str] = []
        self.sent = 0

    async def see(self, page: str, query: str) -> str:
        """Ask for a page and wait for its end; return what it showed wrong.

        Args:
            page: its address.
            query: the address's query.

        Raises:
            TimeoutError: it never came.
        """
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        await self._line.send(asked.SerializeToString())
        wrong, self.doors, self.sent = "", [], 0
        async with asyncio.timeout(_PATIENCE):
            while True:
                got = await self._line.recv(decode=False)
                self.sent += len(got)
                self.doors += map(html.unescape, _DOOR.findall(got.decode("utf-8", "ignore")))
                told = ForwardMsg.FromString(got)
                kind = told.WhichOneof("type")
                if kind == "delta" and told.delta.new_element.WhichOneof("type") == "exception":
                    wrong = told.delta.new_element.exception.message[:200]
                elif kind == "script_finished":
                    return wrong


def reach(app: Running) -> connect:
    """Open a session; an asynchronous context that gives the connection."""
    cookie = app.cookie
    return connect(
        f"ws://127.0.0.1:{app.port}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        origin=app.url,  # type: ignore[arg-type]
        additional_headers={"Cookie": f"{cookie['name']}={cookie['value']}"},
        max_size=None,
        ping_interval=None,
    )
