"""The only module that caches. Keys are small frozen settings, never arrays; nothing uploaded is kept here."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpgp_core.table import Dataset
from pages._ui import environment
from pages._ui.model import load_dataset
from pages._ui.visitor import is_warm_up, known_by
from pages._ui.work import beforehand
from pages._ui.work.engine import ClusterUnavailable
from pages._ui.work.jobs import Answer, Jobs, WorkStopped, key_of
from pages._ui.work.waiting import Bar, Postponed, end_page
from pages._ui.work.workers import Workers

_MOST = 100  # wishes; beyond, those of the page that was left longest ago are dropped

_PAUSE = 0.5  # s between looks whether a process is idle


class Wish(NamedTuple):
    """A result that is likely to be wanted; see ``Jobs.get``.

    Attributes:
        function: a pure function at the top level of its module.
        settings: the arguments that determine the result.
        given: results of earlier stages.
    """

    function: Callable[..., Any]
    settings: tuple[Hashable, ...]
    given: tuple[Any, ...]

    @property
    def key(self) -> Hashable:
        """Equal for equal results."""
        return key_of(self.function, self.settings)


class _GivenUp(Exception):
    """Somebody waits for the process."""


class Ahead:
    """Computes one wish after the other, the latest page's first; gives way at once to pages that wait for a process.

    Args:
        jobs: keeps the results; without workers nothing is done.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._wishes: OrderedDict[Hashable, Wish] = OrderedDict()  # the next one last
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._run, daemon=True).start()

    def wish(self, wishes: Iterable[Wish]) -> None:
        """Put these before all others, the first of them first."""
        with self._changed:
            for wish in reversed([*wishes]):
                self._wishes[wish.key] = wish
                self._wishes.move_to_end(wish.key)
            while len(self._wishes) > _MOST:
                self._wishes.popitem(last=False)
            self._changed.notify()

    def stop(self) -> None:
        """End after the present one."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _run(self) -> None:
        while (wish := self._next()) is not None:
            try:
                self._jobs.get(wish.function, *wish.settings, given=wish.given, waiting=self._give_way)
            except _GivenUp:
                with self._changed:
                    self._wishes.setdefault(wish.key, wish)
            except Exception:  # a page that needs the result gets the error
                continue

    def _next(self) -> Wish | None:
        with self._changed:
            while not self._ended:
                workers = self._jobs.workers
                if self._wishes and workers is not None and workers.has_room():
                    return self._wishes.popitem()[1]
                self._changed.wait(timeout=_PAUSE if self._wishes else None)
        return None

    def _give_way(self, fraction: float, expected: float | None, crowded: bool) -> None:
        if self._ended or crowded:
            raise _GivenUp


T = TypeVar("T")

ROOM = environment.whole("DPGP_CACHE_MB") * 2**20  # bytes of results kept for all sessions together
_PRIVATE = 2  # processes for tables of visitors, each for one task
_SPARE = 2  # processes beside DPGP_WORKERS, and as many beside these, for newcomers while others' work is slow

SOON_SECONDS = 1.0  # that a page waits for what it can begin without
_LOOK_SECONDS = 0.1
_UNUSED_SECONDS = 300.0  # after which a result of settings that somebody chose is given back

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
    """Start the processes now, which the first task would do otherwise."""
    if jobs.workers is not None:
        jobs.workers.begin()


def begin_warm_up() -> None:
    """Have processes of their own, behind all others, do the work of the warm-up: the server's own visits."""
    if jobs.workers is not None:
        jobs.warm_up = Workers(environment.whole("DPGP_WORKERS"), behind=jobs.workers)


def end_warm_up() -> None:
    """End those processes when they are done."""
    pool = jobs.warm_up
    if pool is not None:
        while pool.busy:
            time.sleep(_LOOK_SECONDS)
        pool.stop()
        jobs.warm_up = None


def private_pool() -> Workers:
    """Processes for tables of visitors: nothing of one task is in any memory when the next begins."""
    return Workers(_PRIVATE, tasks_each=1, spare=_SPARE)


def work_ahead() -> None:
    """Have idle processes compute the wishes."""
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
    """Forget results unused for a while; those of the pages as they open stay."""
    jobs.give_back(_UNUSED_SECONDS)


def send(function: Callable[[], None]) -> Future[None]:
    """Have a process run a task for no page. Raises RuntimeError if there are no processes."""
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
    """The result of ``Jobs.get``, with a labelled bar while the page waits; a page whose work was ended stops here."""
    with _with_bar(label, postpones=True) as bar:
        return jobs.get(function, *settings, given=given, waiting=bar, here=here)


def soon(label: str, function: Callable[..., T], *settings: Hashable, given: tuple[Any, ...] = ()) -> Answer[T] | None:
    """``answer`` if it is there in ``SOON_SECONDS``; else None, and both go on.

    It is waited for to its end where there are no processes, and while others wait for one: they come first.
    """
    with _with_bar(label) as bar:

        def look(fraction: float, expected: float | None, crowded: bool) -> None:
            bar(fraction, expected, crowded)
            if time.perf_counter() - bar.start > SOON_SECONDS and not crowded:
                raise Postponed

        try:
            return jobs.get(function, *settings, given=given, waiting=look, postponable=True)
        except Postponed:
            return None


def value(label: str, function: Callable[..., T], *settings: Hashable, **options: Any) -> T:
    """``function(*given, *settings)``, computed once for everybody; ``answer`` without its times."""
    return answer(label, function, *settings, **options).value


def find(function: Callable[..., T], *settings: Hashable) -> T | None:
    """The result if it is there, so that it takes no time; else None."""
    return jobs.find(function, *settings)


def wish(*wishes: Wish) -> None:
    """Likely next results: idle processes compute them, the first first.

    The warm-up has no wishes.
    """
    if _ahead and not is_warm_up(_visitor()):
        _ahead[0].wish(wishes)


def dataset(name: str) -> Dataset:
    """A shipped dataset, by the name that pages use. Raises ValueError for a name that does not exist."""
    return value("Loading the data", load_dataset, name)


def drawn(make: Callable[..., go.Figure], *parts: Any, of: Hashable = None) -> go.Figure:
    """The figure ``make(*parts)``, made once for everybody: plotly takes longer over it than stage 3.

    Args:
        make: a function of ``figures`` or the like.
        parts: its arguments: settings, options, results that carry their ``settings``, and others that ``of``
            determines.
        of: the settings of parts that do not carry theirs.
    """
    settings = (of, *filter(_is_setting, (getattr(part, "settings", part) for part in parts)))
    if of is None and len(settings) < len(parts) + 1:
        raise TypeError(f"{make.__name__} takes results that do not know their settings; name them with of=...")
    name = f"{make.__module__}.{make.__qualname__}"
    figure = answer("Drawing", _figure, name, settings, given=(make, parts), here=True)
    return go.Figure(figure.value, _validate=False)  # it was valid when it was made


def of_one_session(label: str, function: Callable[..., T], *args: Any) -> T:
    """``function(*args)`` off the page's thread for data that belong to one session: kept nowhere."""
    with _with_bar(label) as bar:
        return jobs.once(function, *args, waiting=bar)


def unstoppable(function: Callable[..., T], *args: Any) -> T:
    """The same where something was paid for: the page does not look up from it, so no visitor's click ends it.

    Raises:
        WorkStopped: it took too long or too much memory.
    """
    return jobs.once(function, *args)


def _visitor() -> str | None:
    """Whose page this is: the browser's cookie, or the session where there is none."""
    context = get_script_run_ctx(suppress_warning=True)  # work ahead is nobody's
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
