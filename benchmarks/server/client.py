"""A browser's side of Streamlit's WebSocket protocol: open a page, move sliders, time the answers."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
import urllib.request
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from types import TracebackType
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

ANSWERS = {"metric", "plotly_chart", "deck_gl_json_chart", "arrow_data_frame", "arrow_table", "progress", "alert"}


@dataclass(frozen=True)
class Answer:
    """What one run of a page sent.

    Attributes:
        seconds: from the request to "script finished".
        size: bytes received.
        exceptions: messages of the exceptions that the page showed.
        text: every piece of running text on the page.
        first: from the request to the first answer on the page [s]: a number, picture, map or table, or the bar or
            sentence that says how far the work is; the whole time if there is none.
        postponed: the page asks to look again, for others wait too.
    """

    seconds: float
    size: int
    exceptions: list[str]
    text: str
    first: float = math.nan
    postponed: bool = False


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
    offers: dict[str, list[str]] = field(default_factory=dict)  # query parameter -> what its slider can stand at
    _page_hash: str = ""
    _session_id: str = ""
    _uploader: str = ""  # id of the page's first file uploader
    _uploaded: FileUploaderState | None = None
    # As a browser that has been here: with a cookie of its own, a proxy has something to spread sessions by.
    _cookie: str = field(default_factory=lambda: f"dpgp_session={secrets.token_urlsafe(24)}")

    async def __aenter__(self) -> Session:
        """Connect."""
        parts = urlsplit(self.address)
        scheme = "wss" if parts.scheme == "https" else "ws"
        headers = {"Cookie": self._cookie}
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

    async def upload(self, name: str, content: bytes) -> Answer:
        """Give a file to the page's first uploader, and run the page. The page must have been opened.

        Raises:
            OSError: the server takes no such file.
        """
        number = secrets.token_hex(16)
        await asyncio.to_thread(self._put, f"/_stcore/upload_file/{self._session_id}/{number}", name, content)
        self._uploaded = FileUploaderState()
        self._uploaded.uploaded_file_info.add(file_id=number, name=name, size=len(content))
        return await self._run()

    async def leave(self) -> None:
        """Ask for the page once more, and be gone before it answers, as a browser that is closed."""
        await self._socket.send(self._request())
        self._socket.transport.abort()

    def _put(self, path: str, name: str, content: bytes) -> None:
        with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=self.timeout) as answer:
            guard = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value
        mark = secrets.token_hex(16)
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        headers = {
            "Cookie": f"{self._cookie}; _streamlit_xsrf={guard}",
            "X-Xsrftoken": guard,
            "Content-Type": f"multipart/form-data; boundary={mark}",
        }
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        request = urllib.request.Request(self.address + path, body, headers, method="PUT")
        urllib.request.urlopen(request, timeout=self.timeout).close()

    def _request(self) -> bytes:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.page_script_hash = urlencode(self.query), self.page, self._page_hash
        for widget, value in self._moved.items():
            state.widget_states.widgets.add(id=widget).string_array_value.data.append(value)
        if self._uploaded is not None:
            state.widget_states.widgets.add(id=self._uploader).file_uploader_state_value.CopyFrom(self._uploaded)
        return message.SerializeToString()

    async def _run(self) -> Answer:
        exceptions: list[str] = []
        texts: list[str] = []
        start, size, first, postponed = time.perf_counter(), 0, math.nan, False
        await self._socket.send(self._request())
        async with asyncio.timeout(self.timeout):
            while True:
                received = await self._socket.recv(decode=False)
                size += len(received)
                answer = ForwardMsg.FromString(received)
                kind = answer.WhichOneof("type")
                if kind == "navigation":
                    self._page_hash = answer.navigation.page_script_hash
                elif kind == "new_session":
                    self._session_id = answer.new_session.initialize.session_id
                elif kind == "delta":
                    element = answer.delta.new_element
                    if math.isnan(first) and element.WhichOneof("type") in ANSWERS:
                        first = time.perf_counter() - start
                    postponed = postponed or element.button.label == "Look again"
                    self._note(answer, exceptions, texts)
                elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    break
        if answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            exceptions.append("the page does not compile")
        seconds = time.perf_counter() - start
        first = seconds if math.isnan(first) else first
        return Answer(seconds, size, exceptions, "\n".join(texts), first, postponed)

    def _note(self, answer: ForwardMsg, exceptions: list[str], texts: list[str]) -> None:
        element = answer.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "slider" and element.slider.query_param_key:
            self._widgets[element.slider.query_param_key] = element.slider.id
            self.offers[element.slider.query_param_key] = list(element.slider.options)
        elif kind == "file_uploader":
            self._uploader = self._uploader or element.file_uploader.id
        elif kind == "exception":
            exceptions.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "markdown":
            texts.append(element.markdown.body)
