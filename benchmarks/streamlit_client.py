"""A browser's side of Streamlit's WebSocket protocol: open a page, move sliders, time the answers."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect


@dataclass(frozen=True)
class Answer:
    """What one run of a page sent.

    Attributes:
        seconds: from the request to "script finished".
        size: bytes received.
        exceptions: messages of the exceptions that the page showed.
        text: every piece of running text on the page.
    """

    seconds: float
    size: int
    exceptions: list[str]
    text: str


@dataclass
class Session:
    """One browser tab; use as ``async with Session(address, "kung_curves") as tab``.

    Args:
        address: of the server, ``http://host:port``.
        page: last part of the page's address; "" is the start page.
        timeout: seconds to wait for one answer; TimeoutError after that.
    """

    address: str
    page: str
    timeout: float = 120.0
    query: dict[str, str] = field(default_factory=dict)
    _widgets: dict[str, str] = field(default_factory=dict)  # query parameter -> slider's id
    _moved: dict[str, str] = field(default_factory=dict)  # slider's id -> its value
    _page_hash: str = ""

    async def __aenter__(self) -> Session:
        """Connect."""
        parts = urlsplit(self.address)
        scheme = "wss" if parts.scheme == "https" else "ws"
        # As a browser that has been here: with a cookie of its own, a proxy has something to spread sessions by.
        headers = {"Cookie": f"dpgp_session={secrets.token_urlsafe(24)}"}
        self._socket: ClientConnection = await connect(
            f"{scheme}://{parts.netloc}/_stcore/stream",
            subprotocols=["streamlit"],
            additional_headers=headers,
            max_size=None,
            compression=None,
            proxy=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the tab."""
        await self._socket.close()

    async def open(self) -> Answer:
        """Run the page as it opens."""
        return await self._run()

    async def move(self, **values: object) -> Answer:
        """Move sliders, named by their query parameter, and run the page.

        Raises:
            KeyError: the page has no such slider.
        """
        for key, value in values.items():
            self._moved[self._widgets[key]] = self.query[key] = str(value)
        return await self._run()

    async def _run(self) -> Answer:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.page_script_hash = urlencode(self.query), self.page, self._page_hash
        for widget, value in self._moved.items():
            state.widget_states.widgets.add(id=widget).string_array_value.data.append(value)
        exceptions: list[str] = []
        texts: list[str] = []
        start, size = time.perf_counter(), 0
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(self.timeout):
            while True:
                received = await self._socket.recv(decode=False)
                size += len(received)
                answer = ForwardMsg.FromString(received)
                kind = answer.WhichOneof("type")
                if kind == "navigation":
                    self._page_hash = answer.navigation.page_script_hash
                elif kind == "delta":
                    self._note(answer, exceptions, texts)
                elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    break
        if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            exceptions.append("the page does not compile")
        return Answer(time.perf_counter() - start, size, exceptions, "\n".join(texts))

    def _note(self, answer: ForwardMsg, exceptions: list[str], texts: list[str]) -> None:
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "slider" and element.slider.query_param_key:
            self._widgets[element.slider.query_param_key] = element.slider.id
        elif kind == "exception":
            exceptions.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "markdown":
            texts.append(element.markdown.body)
