"""Lines of Python for the pages that show a release: a curve, a map, questions to it, and a visitor's table."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from datasets import exhibit, london_hexes
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.bayes.refit import refit
from dpgp_core.figures.ticks import dates_of
from dpgp_core.measurement.noise import NumberedDraws
from dpgp_core.mechanisms.cloaking import OptimisedNoise
from dpgp_core.release import CENTILES, ReleaseSpec, bundle, notebook, plan_release, publish, read_table, spec_to_json
from dpgp_core.release.check import LoadedRelease, load
from dpgp_core.release.json_text import spec_from_json
from dpgp_core.release.notebook import COMMANDS, CONFIGURATION
from dpgp_core.table import Dataset
from pages._ui.cloaking.results import GRID_POINTS, LEVEL
from pages._ui.explore import figures, statistic
from pages._ui.explore.controls import Chosen
from pages._ui.explore.posterior import candidates_of, shares_of
from pages._ui.look.in_python import Script
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.model import Budget, mechanism_of, usual
from pages._ui.work import cached

_NUMPY = "import numpy as np"
_SIMULATED = "# Simulated: its number determines the noise. A real release is made without it."


def begun(name: str) -> Script:
    """Return a script that loads a data set."""
    script = Script()
    script.module(_NUMPY)
    script.add(f'data = {script.name(exhibit)}("{name}").load()')
    return script


def release(chosen: ReleaseSettings) -> Script:
    """Return the lines for the released curve or prices, with the 95 % interval of the curve."""
    script, draw, design = begun(chosen.dataset), chosen.draw, chosen.design
    _places(script, chosen.dataset)
    last = draw.seed + draw.draws - 1
    if design.in_stages:
        mechanism = Budget(chosen.dataset, draw.epsilon, draw.delta).mechanism
        script.add(f"mechanism = {script.of(mechanism)}", _SIMULATED)
        if draw.draws == 1:
            script.add(f"made = mechanism.release(data, X, np.random.default_rng({draw.seed}))")
        else:
            script.add(
                f"draws = [np.random.default_rng(number) for number in range({draw.seed}, {last + 1})]",
                "made, *others = [mechanism.release(data, X, rng) for rng in draws]",
            )
        if chosen.model != usual(chosen.dataset):
            model = chosen.model
            other = replace(mechanism, kernels=(model.build(),), noise_variances=(model.noise,))
            script.add("# The kernel and lengthscale of the page read the same numbers again, which is free.")
            script.add(f"models = {script.of(other)}.models_of_release(made.statistics[0])")
            _read(script, "models")
            script.add("curve = release.predict(X)[shown]")
            script.add(f"low, high = (end[shown] for end in release.interval(X, {LEVEL}))")
        else:
            script.add("curve = made.samples[0, shown]")
            script.add(f'low, high = (end[0, shown] for end in made.interval({LEVEL}, "function"))')
    else:
        mechanism = as_declared(mechanism_of(chosen.model, design, draw))
        script.add(f"mechanism = {script.of(mechanism)}")
        if isinstance(mechanism, OptimisedNoise) and design.objective == "trace" and design.focus == "records":
            where = "len(hexagons.X)" if exhibit(chosen.dataset).scene == "map" else "data.n"
            replaced = script.name(replace)
            script.add("# The noise is made small where the records are, which come first in X.")
            script.add(f"importance = tuple((np.arange(len(X)) < {where}).astype(float))")
            script.add(f"mechanism = {replaced}(mechanism, weights=importance)")
        numbered = f"{script.name(NumberedDraws)}({draw.seed}, {draw.draws})"
        script.add(_SIMULATED, f"release = mechanism.release(data, X, {numbered}, {draw.draws})")
        script.add("curve = release.samples[0, shown]")
        script.add(f'low, high = (end[0, shown] for end in release.interval({LEVEL}, "function"))')
    if exhibit(chosen.dataset).scene == "map":
        script.add("prices, low, high = np.exp(curve), np.exp(low), np.exp(high)  # GBP")
    script.add("print(np.column_stack([X[shown], curve, low, high]).round(2))")
    return script


def as_declared(mechanism: Any) -> Any:
    """Return a mechanism without the permission for a formula beyond its proof, unless it needs it."""
    return replace(mechanism, unproven=False) if getattr(mechanism, "calibration", None) == "analytic" else mechanism


def _places(script: Script, name: str) -> None:
    """Add the points that a page shows after the records: along the first input for a curve, the cells for a map.

    Noise that is added once depends on all points together.
    """
    shipped, data = exhibit(name), cached.dataset(name)
    if shipped.scene == "map":
        hexes = script.name(london_hexes, "datasets")
        script.add(f"hexagons, cells = {hexes}.load(), {hexes}.map_cells()")
        script.add('empty = cells.loc[cells["sales"] == 0, ["easting_km", "northing_km"]].to_numpy(float)')
        script.add("X, shown = np.vstack([hexagons.X, empty]), slice(None)")
        return
    low, high = data.x_box[0]
    ends = shipped.drawn or (low, high + 0.3 * (high - low))
    along = f"np.linspace({script.of(float(ends[0]))}, {script.of(float(ends[1]))}, {GRID_POINTS})"
    along_first(script, data, along)
    script.add("X, shown = np.vstack([data.X, X]), slice(data.n, None)")


def along_first(script: Script, data: Dataset, along: str) -> None:
    """Add X, whose first input takes certain values while the others are at the middle of their box."""
    about = f"# {data.x_names[0]} [{data.x_units[0]}]"
    if data.dim == 1:
        script.add(f"X = {along}[:, None]  {about}")
        return
    middles = ", ".join(script.of((low + high) / 2) for low, high in data.x_box[1:])
    script.add(f"x = {along}  {about}", f"X = np.column_stack([x, *(np.full(len(x), at) for at in ({middles},))])")


def explored(chosen: Chosen) -> Script | str:
    """Return the lines for the question that is asked of a release, and its answer."""
    script, view, statistics = Script(), chosen.view, chosen.statistics
    script.module(_NUMPY)
    if chosen.example is not None:
        script = begun(chosen.example.dataset)
        script.add(f"mechanism = {script.of(chosen.example.mechanism)}", _SIMULATED)
        script.add(f"made = mechanism.release(data, data.X, np.random.default_rng({chosen.example.draw}))")
        _read(script, "made.models")
    elif chosen.explored.models:
        script.add("# The zip as it was published. Nothing is spent.", f'release = {script.name(load)}("release.zip")')
    else:
        return "# The library reads releases by Bayes cloaking again; this one was made by another mechanism."
    groups, names = chosen.read.groups, list(statistics.columns)
    levels = {each.name: each.levels for each in names if each.levels is not None}
    chosen_group = view.pair[0] if view.pair is not None else view.group
    _grid(script, chosen)
    if not levels:
        script.add("X = release.places(x)")
    elif chosen_group is None:
        every = script.name(itertools.product)
        script.add(f"groups = [dict(zip(release.levels, each)) for each in {every}(*release.levels.values())]")
        script.add("X = np.vstack([release.places(x, group) for group in groups])")
    else:
        combined = [dict(zip(levels, each, strict=True)) for each in itertools.product(*levels.values())]
        script.add(f"X = release.places(x, {combined[chosen_group]!r})")
    if view.pair is not None:
        [offered] = levels.values()
        first, second = (offered[at] for at in view.pair)
        script.add(f"apart = release.difference({script.of(first)}, {script.of(second)}, X)")
        script.add(f"curve, (low, high) = apart.mean, apart.interval({view.level})")
        return script
    script.add("curve = release.predict(X)")
    script.add(f"low, high = release.interval(X, {view.level}, {script.of(view.of)})")
    if view.threshold is not None:
        script.add(f"above = 100 * release.probability_above({script.of(view.threshold)}, X)  # per cent")
    elif view.centiles and chosen.read.knows_people and len(groups) > 0:
        script.add(f"centiles = {{each: release.quantile(each / 100, X) for each in {CENTILES}}}")
    if chosen.refit.lengthscale is not None:
        _refitted(script, chosen, chosen.refit.lengthscale)
    return script


def _read(script: Script, models: str) -> None:
    """Add the simulated release called ``made``, read with some models."""
    loaded = script.name(LoadedRelease)
    script.add(f"release = {loaded}(statistics=made.statistics[0], guarantee=made.guarantee, models={models})")


def _grid(script: Script, chosen: Chosen) -> None:
    """Add the points of the grid along the numerical inputs."""
    read, statistics, numbers = chosen.read, chosen.statistics, figures.numbers_of(chosen.statistics)
    X = read.X_test[: len(read.X_test) // len(read.groups)]
    axes = []
    for at, column in zip(numbers, statistics.numbers, strict=True):
        low, high = column.box
        count = statistic.BETWEEN if chosen.view.pair is not None else len(np.unique(X[:, at]))
        if chosen.view.pair is None and dates_of(column.unit) is not None:
            count = round(len(X) ** (1 / min(len(numbers), 2)))
        along = f"np.linspace({script.of(float(low))}, {script.of(float(high))}, {count})"
        along = along if count > 1 else f"np.array([{script.of((low + high) / 2)}])"
        axes.append(f"np.rint({along})" if dates_of(column.unit) is not None else along)
    if len(axes) == 1:
        script.add(f"x = {axes[0]}")
    else:
        script.add(f"axes = [{', '.join(axes)}]")
        script.add(f'x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, {len(axes)})')


def _refitted(script: Script, chosen: Chosen, lengthscale: int) -> None:
    """Add the curve with the lengthscale that a visitor has chosen."""
    statistics = chosen.statistics
    lengths = shares_of(statistics.x_box)[lengthscale]
    kernels, variances = candidates_of(statistics, chosen.refit.kernel, (lengths,))
    script.add(f"kernels = {script.of(kernels)}", f"variances = {script.of(variances)}")
    periodic = ", periodic=True" if any(getattr(statistics, "periods", ())) else ""
    script.add(f"again = {script.name(refit)}(release.statistics, kernels=kernels,")
    script.add(f"              noise_variances=variances, X_test=X, change_points=True{periodic})")
    script.add("with_chosen_model = np.clip(again.mean, *release.statistics.bounds)")


def offer(spec: ReleaseSpec, guarantee: Guarantee) -> None:
    """Offer what continues outside of the dashboard: a notebook about a release, and how the next one is made."""
    with st.container(horizontal=True):
        if spec.choice.kind.automatic:
            st.download_button(
                "A notebook about it",
                notebook(spec, guarantee),
                "release.ipynb",
                "application/x-ipynb+json",
                icon=":material/menu_book:",
                key="notebook",
                on_click="ignore",
                help="It reads the zip, draws the figure, asks two further questions and states the promise. It spends "
                "nothing.",
            )
        configuration(spec)
    st.caption(
        f"The next release on your own machine, with `{CONFIGURATION}`. The first command is a dry run and spends "
        "nothing. The ledger is a file of its own, which does not know what other ledgers count of the same table."
    )
    st.code(COMMANDS, language="bash", wrap_lines=True)


def configuration(spec: ReleaseSpec, of: str = "made") -> None:
    """Offer the declarations as a file for the command line and the library.

    Args:
        spec: the specification.
        of: part of the page, because it is offered twice.
    """
    text, icon = spec_to_json(spec), ":material/settings:"
    file: Any = {"mime": "application/json", "key": f"{CONFIGURATION}_{of}", "on_click": "ignore"}
    st.download_button("Its configuration", text, CONFIGURATION, icon=icon, **file)


TABLE = "table.csv"


def own_release() -> Script:
    """Return the lines for a release of a visitor's table from a configuration in a file."""
    script = Script()
    script.module("from pathlib import Path")
    read, plan, make, zipped, spec = (
        script.name(each, "dpgp_core.release") for each in (read_table, plan_release, publish, bundle, spec_from_json)
    )
    script.add(
        f'spec = {spec}(Path("{CONFIGURATION}").read_text())',
        f'with open("{TABLE}", "rb") as stream:',
        f"    table = {read}(stream, spec)",
        f"plan = {plan}(spec, table.X, table.person)  # until here nothing is spent",
        'print(plan.n, "complete rows")',
        "if plan.half_width is not None:  # known before the release where noise is added once",
        '    print("known to within", plan.half_width)',
        "ledger = spec.new_ledger()  # keep the ledger: every release of this table counts",
        "ledger.spend([(spec.y, spec.guarantee)])",
        f"published = {make}(plan, table)  # reads the private values",
        f'Path("release.zip").write_bytes({zipped}(published, ledger))',
        "print(published.values, published.curve, published.guarantee.budget)",
    )
    return script
