"""The first visitor is the server itself: it opens every page as a browser would, so that nobody waits for it.

Its results are those of any visitor: in memory, computed once for everybody. Its work gives way to everybody else's.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import ClientContext, SessionClient

from pages._ui import menu
from pages._ui.visitor import HOUSE
from pages._ui.work.cached import LOOK_AGAIN

_AT_ONCE = 2  # pages: one computes while another is drawn
_PAUSE_SECONDS = 5.0  # for visitors


class Tab(SessionClient):
    """A browser's tab without a screen: ``write_forward_msg`` takes what a page sends, and knows when that was all.

    Attributes:
        ended: the page has been sent, as far as it goes.
        postponed: it asks to look again, for visitors wait.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.postponed = False

    @property
    def client_context(self) -> ClientContext | None:
        """There is no browser."""
        return None

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        """Take one piece of the page."""
        kind = msg.WhichOneof("type")
        if kind == "delta":
            self.postponed = self.postponed or msg.delta.new_element.button.label == LOOK_AGAIN
        if kind == "script_finished" and msg.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self.ended.set()


async def visit(page: menu.Page) -> Tab:
    """Open a page in a tab of its own, wait for its end, and close it. Called on the server's loop."""
    runtime, tab = Runtime.instance(), Tab()
    number = runtime.connect_session(tab, {}, session_id_override=HOUSE + secrets.token_urlsafe(16))
    message = BackMsg()
    message.rerun_script.page_name = "" if page is menu.PAGES[0] else page.file
    try:
        runtime.handle_backmsg(number, message)
        await tab.ended.wait()
    finally:
        runtime.close_session(number)
    return tab


async def open_pages() -> None:
    """Open every page that visitors share; those that take long, and show what they have meanwhile, come last."""
    rest = deque(sorted(menu.shared(), key=lambda page: page.takes_long))

    async def open_next() -> None:
        page = rest.popleft()
        if (await visit(page)).postponed:
            rest.append(page)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def lane() -> None:
        while rest:
            await open_next()

    await asyncio.gather(*(lane() for _ in range(_AT_ONCE)))
