"""The only module that caches. Keys are small frozen settings, never arrays; uploaded data are never kept here."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import plotly.graph_objects as go
import streamlit as st

from dpgp_core.table import Dataset
from pages._ui import environment
from pages._ui.model import load_dataset
from pages._ui.visitor import is_warm_up, known_by
from pages._ui.work import beforehand
from pages._ui.work.engine import ClusterUnavailable
from pages._ui.work.jobs import Answer, Jobs, WorkStopped, key_of
from pages._ui.work.waiting import Bar, Postponed, end_page, whole
from pages._ui.work.workers import Workers

_MOST = 100  # largest number of requests; beyond it, those of the page that was left longest ago are dropped

_PAUSE = 0.5  # seconds between checks whether a process is idle


class Prefetch(NamedTuple):
    """A result that is likely to be needed, to be computed in advance; see ``Jobs.get``.

    Attributes:
        function: a pure function at the top level of its module.
        settings: the arguments that determine the result.
        given: results from which the function computes this one.
    """

    function: Callable[..., Any]
    settings: tuple[Hashable, ...]
    given: tuple[Any, ...]

    @property
    def key(self) -> Hashable:
        """Key, which is equal for equal results."""
        return key_of(self.function, self.settings)


class _GivenUp(Exception):
    """Raised if somebody waits for the process."""


class Ahead:
    """Computes one request after another, the latest page's first; it gives way at once to pages that wait for a
    process.

    Args:
        jobs: cache that keeps the results; without workers nothing is computed.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._requests: OrderedDict[Hashable, Prefetch] = OrderedDict()  # the next one last
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def prefetch(self, requests: Iterable[Prefetch]) -> None:
        """Put these requests before all others, in their order."""
        with self._changed:
            for request in reversed([*requests]):
                self._requests[request.key] = request
                self._requests.move_to_end(request.key)
            while len(self._requests) > _MOST:
                self._requests.popitem(last=False)
            self._changed.notify()

    def stop(self) -> None:
        """End after the present request."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _run(self) -> None:
        while (request := self._next()) is not None:
            try:
                self._jobs.get(request.function, *request.settings, given=request.given, waiting=self._give_way)
            except _GivenUp:
                with self._changed:
                    self._requests.setdefault(request.key, request)
            except Exception:  # a page that needs the result gets the error
                continue

    def _next(self) -> Prefetch | None:
        with self._changed:
            while not self._ended:
                workers = self._jobs.workers
                if self._requests and workers is not None and workers.has_room():
                    return self._requests.popitem()[1]
                self._changed.wait(timeout=_PAUSE if self._requests else None)
        return None

    def _give_way(self, fraction: float, expected: float | None, crowded: bool) -> None:
        if self._ended or crowded:
            raise _GivenUp


T = TypeVar("T")

ROOM = environment.whole("DPGP_CACHE_MB") * 2**20  # bytes of results kept for all sessions together
_PRIVATE = 2  # processes for tables of visitors, each for one task
_SPARE = 2  # processes in addition to DPGP_WORKERS, and as many again for new visitors while others' work is slow

SOON_SECONDS = 1.0  # seconds for which a page waits for what it can begin without
_LOOK_SECONDS = 0.1
_UNUSED_SECONDS = 300.0  # seconds after which a result for settings that somebody chose is dropped

LOOK_AGAIN = "Look again"
_POSTPONED = (
    "{label}: many visitors ask for something new at the moment, and this is not done yet. It goes on; look again in a "
    "moment."
)

jobs = Jobs(ROOM, shipped=beforehand.find)
_ahead: list[Ahead] = []  # one, in a server that computes ahead


def start() -> None:
    """Run work in processes from now on, as a server does."""
    count = environment.whole("DPGP_WORKERS")
    jobs.workers, jobs.private = Workers(count, spare=_SPARE), private_pool()
    jobs.owner = _visitor


def begin() -> None:
    """Start the processes now instead of at the first task."""
    if jobs.workers is not None:
        jobs.workers.begin()


def begin_warm_up() -> None:
    """Let processes of their own, with lower priority than all others, do the work of the server's own visits."""
    if jobs.workers is not None:
        jobs.warm_up = Workers(environment.whole("DPGP_WORKERS"), behind=jobs.workers)


def end_warm_up() -> None:
    """End these processes when they are done."""
    pool = jobs.warm_up
    if pool is not None:
        while pool.busy:
            time.sleep(_LOOK_SECONDS)
        pool.stop()
        jobs.warm_up = None


def private_pool() -> Workers:
    """Return processes for visitors' tables; nothing of one task is in any memory when the next begins."""
    return Workers(_PRIVATE, tasks_each=1, spare=_SPARE)


def work_ahead() -> None:
    """Let idle processes compute requests in advance."""
    _ahead.append(Ahead(jobs))


def stop() -> None:
    """Stop the processes."""
    while _ahead:
        _ahead.pop().stop()
    for pool in (jobs.warm_up, jobs.workers, jobs.private):
        if pool is not None:
            pool.stop()
    jobs.workers = jobs.private = jobs.warm_up = None


def give_back() -> None:
    """Drop results that have not been used for a while, except those with which pages open."""
    jobs.give_back(_UNUSED_SECONDS)


def send(function: Callable[[], None]) -> Future[None]:
    """Let a process run a task that belongs to no page.

    Raises:
        RuntimeError: there are no processes.
    """
    if jobs.workers is None:
        raise RuntimeError("no processes have been started")
    return jobs.workers.submit(function)


def answer(
    label: str,
    function: Callable[..., T],
    *settings: Hashable,
    given: tuple[Any, ...] = (),
    here: bool = False,
) -> Answer[T]:
    """Return the result of ``Jobs.get``, with a progress bar while the page waits. A page whose work was ended stops
    here.
    """
    with _with_bar(label, postpones=True) as bar:
        return jobs.get(function, *settings, given=given, waiting=bar, here=here)


def soon(label: str, function: Callable[..., T], *settings: Hashable, given: tuple[Any, ...] = ()) -> Answer[T] | None:
    """Return the result of ``answer`` if it is ready within ``SOON_SECONDS``; otherwise None, while both continue.

    If there are no processes, or while others wait for one, the page waits for the result, because others come first;
    but not longer than for any other one (``Bar``).
    """
    with _with_bar(label, postpones=True) as bar:

        def look(fraction: float, expected: float | None, crowded: bool) -> None:
            bar(fraction, expected, crowded)
            if time.perf_counter() - bar.start > SOON_SECONDS and not crowded:
                raise Postponed

        try:
            return jobs.get(function, *settings, given=given, waiting=look, postponable=True)
        except Postponed:
            return None


Get = Callable[..., Answer[Any] | None]
"""``answer``, or ``soon``, which returns None if a result is not ready soon."""


def value(label: str, function: Callable[..., T], *settings: Hashable, **options: Any) -> T:
    """Return ``function(*given, *settings)``, computed once for everybody: ``answer`` without its times."""
    return answer(label, function, *settings, **options).value


def values(label: str, requests: Sequence[Prefetch]) -> list[Any]:
    """Return the results of all requests, computed once for everybody; see ``all_of``."""
    found = all_of(answer, label, requests)
    assert found is not None  # the page waits for them
    return found


def together(
    label: str, function: Callable[..., Sequence[Any]], requests: Sequence[Prefetch], given: tuple[Any, ...]
) -> list[Any]:
    """Return the results of all requests; one task computes those that are missing (``Jobs.get_together``)."""
    with _with_bar(label, postpones=True) as bar:
        return jobs.get_together(function, [each[:2] for each in requests], given, bar)


def all_of(get: Get, label: str, requests: Sequence[Prefetch]) -> list[Any] | None:
    """Return the results of all requests, with one progress bar; None if ``get`` returns None.

    A page asks for one after another, while an idle process begins with the last one.
    """
    prefetch(*(each for each in reversed(requests[1:]) if find(each.function, *each.settings) is None))
    found = []
    with whole([1.0] * len(requests)) as part_is_done:
        for each in requests:
            made = get(label, each.function, *each.settings, given=each.given)
            if made is None:
                return None
            found.append(made.value)
            part_is_done()
    return found


def find(function: Callable[..., T], *settings: Hashable) -> T | None:
    """Return the result if it is available at once, otherwise None."""
    return jobs.find(function, *settings)


def prefetch(*requests: Prefetch) -> None:
    """Request likely next results, which idle processes compute in this order.

    Visits of the server's own make no requests.
    """
    if _ahead and not is_warm_up(_visitor()):
        _ahead[0].prefetch(requests)


def dataset(name: str) -> Dataset:
    """Return a shipped data set by the name that pages use.

    Raises:
        ValueError: there is no such data set.
    """
    return value("Loading the data", load_dataset, name, here=True)  # elsewhere, each process would load a reader


def drawn(make: Callable[..., go.Figure], *parts: Any, of: Hashable = None) -> go.Figure:
    """Return the figure ``make(*parts)``, made once for everybody, because plotly takes long to make one.

    Args:
        make: function that returns a figure.
        parts: its arguments: settings, options, results that contain their ``settings``, and others that ``of``
            determines.
        of: settings of those parts that do not contain theirs.
    """
    settings = (of, *filter(_is_setting, (getattr(part, "settings", part) for part in parts)))
    if of is None and len(settings) < len(parts) + 1:
        raise TypeError(f"{make.__name__} takes results that do not know their settings; name them with of=...")
    name = f"{make.__module__}.{make.__qualname__}"
    figure = answer("Drawing", _figure, name, settings, given=(make, parts), here=True)
    return go.Figure(figure.value, _validate=False)  # it was validated when it was made


def of_one_session(label: str, function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)`` for data of one session, computed by another process and not kept."""
    with _with_bar(label) as bar:
        return jobs.once(function, *args, waiting=bar)


def unstoppable(function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)`` after budget was spent: the page ignores the visitor's clicks until it is done.

    Raises:
        WorkStopped: it took too long or too much memory.
    """
    return jobs.once(function, *args)


def _visitor() -> str | None:
    """Return whose page this is: the browser's cookie, or the session if there is none."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx  # not at the top: processes that compute need none

    context = get_script_run_ctx(suppress_warning=True)  # work in advance belongs to nobody
    if context is None:
        return None
    return known_by(st.context.cookies.to_dict()) or context.session_id


@contextlib.contextmanager
def _with_bar(label: str, postpones: bool = False) -> Iterator[Bar]:
    bar = Bar(label, postpones)
    try:
        yield bar
    except (WorkStopped, ClusterUnavailable) as error:
        st.error(f"{label}: {error}.")
        end_page()
    except Postponed:
        st.info(_POSTPONED.format(label=label), icon=":material/hourglass_top:")
        st.button(LOOK_AGAIN, key="look_again", icon=":material/refresh:")
        end_page()
    finally:
        bar.close()


def _is_setting(part: object) -> bool:
    """Whether equal parts look the same: plain values and frozen settings, not results, which compare by identity."""
    if type(part).__hash__ is object.__hash__:
        return False
    try:
        hash(part)
    except TypeError:
        return False
    return True


def _figure(make: Callable[..., go.Figure], parts: tuple[Any, ...], _name: str, _settings: Hashable) -> dict[str, Any]:
    drawn: dict[str, Any] = make(*parts).to_dict()
    return drawn
