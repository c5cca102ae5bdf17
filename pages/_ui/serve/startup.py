"""Start of the server: its own first visits, its readiness, and its only line of output."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path

import plotly.graph_objects as go
from streamlit import App, config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import ClientContext, SessionClient
from streamlit.web.server import server_util

from datasets import DATASETS
from pages._ui import environment, menu
from pages._ui.serve import forgetting
from pages._ui.serve.check import release_is_right
from pages._ui.visitor import WARM_UP
from pages._ui.work import cached, waiting
from pages._ui.work.workers import leave_no_folder

PAGES = Path(__file__).resolve().parents[2]
_LOG = logging.getLogger(__name__)


def shared_modules() -> list[str]:
    """Return the dotted names of the modules that pages share; ``main`` is a script that draws."""
    files = sorted((PAGES / "_ui").rglob("*.py"))
    names = ["pages." + ".".join(file.relative_to(PAGES).with_suffix("").parts) for file in files]
    return [name for name in names if name != "pages._ui.main"]


def pages_compile() -> None:
    """Raise an error unless every page is valid Python, and every module that pages share can be imported."""
    for script in sorted(PAGES.glob("*.py")):
        compile(script.read_text(encoding="utf-8"), script.name, "exec")
    for name in shared_modules():
        importlib.import_module(name)


def datasets_load() -> None:
    """Raise an error unless every shipped data set can be read."""
    for dataset in DATASETS:
        dataset.load()


Checks = Sequence[tuple[str, Callable[[], None]]]
CHECKS: Checks = (
    ("the pages cannot be imported", pages_compile),
    ("a dataset cannot be loaded", datasets_load),
    ("the numeric core computes a wrong release", release_is_right),
)


class Probe:
    """Check that the processes still compute, by sending one a task with a known answer, at most one at a time.

    A task that waits behind others proves nothing: these may take long, and are stopped if they take too long.

    Args:
        submit: function that sends a function to a process; it may raise.
    """

    FRESH_SECONDS = 10.0  # seconds for which an answer is valid
    ANSWER_SECONDS = 3.0  # seconds for which this waits for an answer
    PATIENCE_SECONDS = 330.0  # longer than any task may take

    def __init__(self, submit: Callable[[Callable[[], None]], Future[None]]) -> None:
        self._submit = submit
        self._pending: Future[None] | None = None
        self._since, self._answered = 0.0, False

    def problem(self) -> str | None:
        """Return what is wrong, in words fit for strangers; None if nothing is."""
        moment = time.monotonic()
        old = moment - self._since > self.FRESH_SECONDS
        if self._pending is not None and self._pending.done() and self._pending.exception() is None and old:
            self._pending = None
        try:
            if self._pending is None:
                self._since, self._pending = moment, self._submit(release_is_right)
            self._pending.result(self.ANSWER_SECONDS)
        except TimeoutError:
            if self._answered and moment - self._since < self.PATIENCE_SECONDS:
                return None
            return "no process has computed anything yet" if not self._answered else "the processes compute nothing"
        except Exception as error:  # whatever the error is, nothing can be computed
            _LOG.warning("not ready: a process does not compute (%s)", type(error).__name__)
            self._pending = None
            return f"a process cannot compute ({type(error).__name__})"
        self._answered = True
        return None


class Readiness:
    """Run each check until it has passed once; after that only ask the probe.

    Args:
        checks: pairs of a sentence and a check that raises if it fails.
        probe: probe that is asked every time; None for none.
    """

    def __init__(self, checks: Checks = CHECKS, probe: Probe | None = None) -> None:
        self._checks, self._probe, self._lock = [*checks], probe, threading.Lock()

    def problem(self) -> str | None:
        """Return what is wrong, in words fit for strangers (no paths, no values); None if nothing is."""
        with self._lock:
            while self._checks:
                wrong, check = self._checks[0]
                try:
                    check()
                except Exception as error:  # whatever the error is, the server is not ready
                    _LOG.exception("not ready: %s", wrong)
                    return f"{wrong} ({type(error).__name__})"
                del self._checks[0]
            return None if self._probe is None else self._probe.problem()


_LOOK_SECONDS = 0.05  # seconds between checks whether a page is being drawn


class Tab(SessionClient):
    """A browser tab without a screen: ``write_forward_msg`` takes a page's messages, and notices the last one.

    Attributes:
        ended: set once the page has been sent.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    @property
    def client_context(self) -> ClientContext | None:
        """Return None, because there is no browser."""
        return None

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        """Take one message of the page."""
        if msg.WhichOneof("type") == "script_finished" and msg.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self.ended.set()


async def visit(page: menu.Page) -> None:
    """Open a page in a tab of its own, wait for its end, and close it. Call it on the server's loop."""
    runtime, tab = Runtime.instance(), Tab()
    number = runtime.connect_session(tab, {}, session_id_override=WARM_UP + secrets.token_urlsafe(16))
    message = BackMsg()
    message.rerun_script.page_name = "" if page is menu.PAGES[0] else page.file
    try:
        runtime.handle_backmsg(number, message)
        await tab.ended.wait()
    finally:
        runtime.close_session(number)


async def open_pages() -> None:
    """Open every page that visitors share, one after another, whenever no page is being drawn for anybody."""
    for page in menu.shared():
        while not waiting.RENDERING.idle:
            await asyncio.sleep(_LOOK_SECONDS)
        await visit(page)


_EVERYWHERE = ("0.0.0.0", "::", "")


@asynccontextmanager
async def lifespan(_: App) -> AsyncIterator[None]:
    """Run workers while the server lives; it opens its own pages and computes in advance unless DPGP_WARM is 0.

    It prints the only line of the server, its address, once everything that could prevent its start is done.
    """
    cached.start()
    warming = environment.switched_on("DPGP_WARM")
    if warming:
        cached.work_ahead()
    _spare_the_collector()
    waiting.take_short_turns()
    tasks = [
        asyncio.create_task(forgetting.forget_ended_sessions()),
        asyncio.create_task(asyncio.to_thread(cached.begin)),
    ]
    if warming:
        tasks.append(asyncio.create_task(_warm_up()))
    # Streamlit prints its address before it loads ``app.py``, which may refuse to start.
    print(f"Dashboard URL: {address()}", flush=True)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        cached.stop()
        leave_no_folder()


async def _warm_up() -> None:
    cached.begin_warm_up()
    await open_pages()
    await asyncio.to_thread(cached.end_warm_up)


def _spare_the_collector() -> None:
    """Load the modules of pages and exempt them from garbage collection.

    Streamlit collects all generations after every run of a page. Examining the modules, which never become garbage,
    would take longer than the run itself.
    """
    for name in shared_modules():
        importlib.import_module(name)
    # Modules that are otherwise loaded later
    go.Figure().add_scatter(x=[0]).update_layout(legend={}, margin={}).update_xaxes(title="").to_json()
    gc.collect()
    gc.freeze()


def address() -> str:
    """Return where a browser finds this server, without asking any other server."""
    host = config.get_option("server.address") or ""
    if config.is_manually_set("browser.serverAddress") or host in _EVERYWHERE:
        host = config.get_option("browser.serverAddress")
    return server_util.get_url(f"[{host}]" if ":" in host else host)
