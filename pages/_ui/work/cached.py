"""The only module that caches. Keys are small frozen settings, never arrays; nothing uploaded is kept here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpgp_core.data import Dataset
from dpgp_core.excursion.grid_search import Setting as Found
from dpgp_core.mechanisms import Plan
from pages._ui.attack import attacks
from pages._ui.attack.attacks import Attacked, OutputAttack, PathAttack
from pages._ui.cloaking import pipeline
from pages._ui.cloaking.pipeline import Fit, Outcome, Result, Scene
from pages._ui.compare import contenders
from pages._ui.compare.contenders import Contest, Curve
from pages._ui.excursion import exploration
from pages._ui.excursion.exploration import Explored, Kind, View
from pages._ui.lengthscale import choice
from pages._ui.lengthscale.choice import Grid, Scored
from pages._ui.model import PAPER_DESIGN, Design, Draw, Model, load_dataset
from pages._ui.serve import environment
from pages._ui.serve.visitors import token_in
from pages._ui.sparse import fitting
from pages._ui.sparse.fitting import Choices, Curves, Fits, Setting
from pages._ui.work.engine import ClusterUnavailable
from pages._ui.work.jobs import Answer, Jobs, WorkStopped
from pages._ui.work.store import Lattice
from pages._ui.work.waiting import Bar
from pages._ui.work.workers import Workers

ROOM = environment.whole("DPGP_CACHE_MB") * 2**20  # bytes of results kept for all sessions together
_SPARE = 2  # processes beside DPGP_WORKERS, for newcomers while others' work is slow
_PRIVATE = 2  # processes for tables of visitors, each for one task

jobs = Jobs(ROOM)


def start() -> None:
    """Run work in processes from now on, and read the lattice: what a server does, and a test need not."""
    count = environment.whole("DPGP_WORKERS")
    jobs.workers, jobs.private = Workers(count, spare=_SPARE), Workers(_PRIVATE, tasks_each=1)
    jobs.owner = _visitor
    jobs.lattice = Lattice.of_this_code()


def stop() -> None:
    """Stop the processes."""
    for pool in (jobs.workers, jobs.private):
        if pool is not None:
            pool.stop()
    jobs.workers = jobs.private = None


def send(function: Callable[[], None]) -> Future[None]:
    """Have a process run something that no page waits for. Raises RuntimeError if there are no processes."""
    if jobs.workers is None:
        raise RuntimeError("no processes have been started")
    return jobs.workers.submit(function)[0]


def dataset(name: str) -> Dataset:
    """A shipped dataset, by name. Raises ValueError for a name that does not exist."""
    return _got("Loading the data", load_dataset, name).value


def scene(name: str) -> Scene:
    """Where the pages predict for a shipped dataset, by name."""
    return _got("Loading the data", _scene, name, given=(dataset(name),)).value


def curve(contest: Contest, name: str) -> Curve:
    """Error against epsilon of one contender."""
    data = dataset(contest.model.dataset)
    return _got(f"Comparing: {name}", contenders.curve, contest, name, given=(data,)).value


def needed(contest: Contest, name: str, target: float) -> float | None:
    """Epsilon that a contender needs for a target error, in the output's unit."""
    data = dataset(contest.model.dataset)
    return _got(f"Solving for ε: {name}", contenders.needed, contest, name, target, given=(data,)).value


def nonprivate(model: Model) -> float:
    """Held-out error without privacy, in the output's unit."""
    return _got("Fitting without privacy", contenders.nonprivate, model, given=(dataset(model.dataset),)).value


def scored(grid: Grid) -> Scored:
    """Cross-validated candidates of the lengthscale page."""
    return _got("Cross-validating every lengthscale", choice.score, grid, given=(dataset(grid.model.dataset),)).value


def path_attack(attack: PathAttack) -> Attacked:
    """LiRA against posterior paths."""
    return _got("Attacking with shadow data sets", attacks.attack_paths, attack).value


def output_attack(attack: OutputAttack) -> Attacked:
    """The best attack on a Gaussian release."""
    data = dataset(attack.model.dataset)
    return _got("Attacking simulated releases", attacks.attack_outputs, attack, given=(data,)).value


def explored(view: View) -> Explored:
    """Excursion sets of one view."""
    # The cutoff depends on neither threshold, paths, seed nor budget.
    plain = replace(view, L=1, eta=0.0, threshold=0.0 if view.kind != "london" else 13.0, delta=0.01, seed=1)
    cutoff = _got("Choosing the cutoff on simulated data", exploration.cutoff_of, plain).value
    return _got("Drawing posterior paths", exploration.explore, view, cutoff).value


def found_settings(kind: Kind, noise: float, delta: float, paths: int, budget: float) -> Found:
    """Best settings of the excursion page within a budget. Raises ValueError if there are none."""
    settings = (kind, noise, delta, paths, budget)
    return _got("Searching settings on simulated data", exploration.find_settings, *settings, reports=True).value


def sparse_fits(setting: Setting) -> Fits:
    """Private and plain fits of the sparse page."""
    return _got("Fitting the sparse model", fitting.fits, setting).value


def sparse_curves(setting: Setting) -> Curves:
    """Errors against epsilon of the sparse page."""
    return _got("Releasing at every epsilon", fitting.curves, setting, reports=True).value


def sparse_choices(setting: Setting) -> Choices:
    """Private choices of hyperparameters on the sparse page."""
    return _got("Choosing hyperparameters", fitting.choices, setting, reports=True).value


def run(model: Model, design: Design, draw: Draw) -> Result:
    """All three stages. Only the third, which takes milliseconds, depends on epsilon, delta or the draw."""
    data, place = dataset(model.dataset), scene(model.dataset)
    fit = _got("Computing the cloaking matrix C", _fit, model, given=(data, place))
    plan = _got("Designing the noise: λ and M", _plan, model, design, given=(data, place, fit.value))
    stages = (data, place, fit.value, plan.value)
    outcome = _got("Drawing the noise", _outcome, model, design, draw, given=stages, here=True)
    answers = {"C": fit, "λ, M": plan, "scale, draw": outcome}
    return Result(
        settings=(model, design, draw),
        dataset=data,
        fit=fit.value,
        plan=plan.value,
        outcome=outcome.value,
        seconds={name: answer.seconds for name, answer in answers.items()},
        computed=frozenset(name for name, answer in answers.items() if answer.computed),
    )


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    hall = replace(draw, calibration="hall", shrinkage=False)
    return run(model, PAPER_DESIGN, hall)


def drawn(make: Callable[..., go.Figure], *parts: Any, of: Hashable = None) -> go.Figure:
    """The figure ``make(*parts)``, made once for everybody: plotly takes longer over it than stage 3.

    Args:
        make: a function of ``figures`` or the like.
        parts: what it takes: settings, options, results of ``run``, and whatever else ``of`` determines.
        of: the settings of parts that do not know theirs.
    """
    settings = (of, *filter(_is_setting, (part.settings if isinstance(part, Result) else part for part in parts)))
    if of is None and len(settings) < len(parts) + 1:
        raise TypeError(f"{make.__name__} takes results that do not know their settings; name them with of=...")
    name = f"{make.__module__}.{make.__qualname__}"
    answer = _got("Drawing", _figure, name, settings, given=(make, parts), here=True)
    return go.Figure(answer.value, _validate=False)  # it was valid when it was made


def of_one_session(what: str, function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)`` off the page's thread for data that belong to one session: kept nowhere."""
    with _shown(what) as bar:
        return jobs.once(function, *args, waiting=bar)


def unstoppable(function: Callable[..., Any], *args: Any) -> Any:
    """The same where something was paid for: the page does not look up from it, so no visitor's click ends it.

    Raises:
        WorkStopped: it took too long or too much memory.
    """
    return jobs.once(function, *args)


def _got(
    what: str,
    function: Callable[..., Any],
    *settings: Hashable,
    given: tuple[Any, ...] = (),
    reports: bool = False,
    here: bool = False,
) -> Answer:
    with _shown(what) as bar:
        return jobs.get(function, *settings, given=given, reports=reports, waiting=bar, here=here)


def _visitor() -> str | None:
    """Whose page this is: the browser's cookie, or the session where there is none."""
    context = get_script_run_ctx()
    if context is None:
        return None
    cookies = st.context.cookies.to_dict()
    return token_in(cookies, secure=True) or token_in(cookies, secure=False) or context.session_id


@contextlib.contextmanager
def _shown(what: str) -> Iterator[Bar]:
    bar = Bar(what)
    try:
        yield bar
    except (WorkStopped, ClusterUnavailable) as error:
        st.error(f"{what}: {error}.")
        st.stop()
    finally:
        bar.close()


def _scene(data: Dataset, name: str) -> Scene:
    return pipeline.make_scene(data)


def _fit(data: Dataset, place: Scene, model: Model) -> Fit:
    return pipeline.stage_matrix(data, place, model)


def _plan(data: Dataset, place: Scene, fit: Fit, model: Model, design: Design) -> Plan:
    return pipeline.stage_plan(data, place, model, fit, design)


def _outcome(data: Dataset, place: Scene, fit: Fit, plan: Plan, model: Model, design: Design, draw: Draw) -> Outcome:
    return pipeline.stage_outcome(data, place, model, fit, plan, design, draw)


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
    return make(*parts).to_dict()
