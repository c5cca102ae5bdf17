"""Controls and figures of the comparison, and the picture of one release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from datasets import EXHIBITS
from dpgp_core.arrays import FloatArray
from dpgp_core.table import Dataset
from pages._ui import session
from pages._ui.cloaking import computed as cloaking
from pages._ui.cloaking.figures import SHORT, add_truth, on_axes
from pages._ui.cloaking.results import LEVEL, Scene
from pages._ui.compare import compute, words
from pages._ui.compare.compute import Compared, Drawn, concerning
from pages._ui.compare.contenders import (
    BY_WAIT,
    CONTENDERS,
    CURVE_EPSILONS,
    Contest,
    contender,
    scale_of,
)
from pages._ui.left_out import FOLDS, without_privacy
from pages._ui.look import about as pictured
from pages._ui.look import layout, offers, pictures, pin, settings
from pages._ui.look.controls import HERE, Number, Slider, Switch, menu
from pages._ui.look.offers import of_datasets, whole
from pages._ui.look.pictures import Public
from pages._ui.look.plots import (
    BINS,
    GUARANTEE,
    NON_PRIVATE,
    OTHER,
    PINNED,
    PRIVATE,
    REFINED,
    SPARSE,
    TRUTH,
    End,
    band,
    draw_line,
    finish,
    level_line,
    named,
    named_lines,
    ticked,
    upright_line,
)
from pages._ui.look.settings import control
from pages._ui.look.sidebar import Promise, delta_fits, kernels
from pages._ui.look.text import Metric
from pages._ui.model import Model
from pages._ui.work import cached, waiting

_METHODS = "Methods"  # section of the sidebar
DATASET = of_datasets("compare_dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.cross_validated))


PAGE, QUESTION = "compare", "Which method has the smallest error?"
CHART = "compare_errors"
_NONE = "none"
RELEASE_OF = menu(
    "Show one release of",
    "release_of",
    {_NONE: "None", **{name: entry.title for name, entry in CONTENDERS.items()}},
    help="Or click a point of its curve.",
    section="One release",
    display_only=True,
)
LIMITS = Switch(
    "limits",
    "Draw the limits",
    help="Simulated for these settings, some ten seconds. Reads no output.",
    section=HERE,
    display_only=True,
)


@dataclass(frozen=True, kw_only=True)
class CompareSettings(Promise):
    """Sidebar of the comparison: shared settings, and whether all methods are drawn."""

    dataset: str = control(DATASET, below=delta_fits)
    kernel: str = control(lambda chosen: replace(kernels(chosen), section="Model"))
    lengthscale: float = control(lambda chosen: replace(offers.lengthscale(chosen.dataset), section="Model"))
    noise: float = control(offers.NOISE)
    every: bool = control(
        Switch("all_methods", "All methods in the picture", help="The table always has all.", section=_METHODS)
    )
    bins: int = control(
        Slider(
            "bins",
            "Bins along each input",
            compute.BINS,
            (3, 4, 6, 10, 20, 30),
            help="For both binning mechanisms; public.",
            section=_METHODS,
        )
    )
    inducing: int = control(
        Slider(
            "inducing",
            "Inducing inputs",
            compute.INDUCING,
            (4, 6, 10, 20, 30, 50),
            help="For cloaking with inducing inputs; public.",
            section=_METHODS,
        )
    )
    overlay: bool = control(offers.OVERLAY)

    @property
    def contest(self) -> Contest:
        """Settings of the comparison."""
        model = Model(self.dataset, self.kernel, float(self.lengthscale), float(self.noise))
        return Contest(model, float(self.delta), self.bins, self.inducing)


def target(contest: Contest) -> float:
    """Return the largest acceptable error, in the output's unit.

    Until a visitor changes it, it is a quarter above the error without privacy, even if other controls change that
    error.
    """
    scale = scale_of(compute.dataset(contest))
    usual = float(f"{1.25 * scale.convert(without_privacy(contest.model.dataset, contest.model)):.2g}")
    key = "target_percent" if scale.logarithmic else f"target_{scale.unit or 'units'}"
    number: Number[float | None] = Number(
        key,
        f"I need an error of at most [{scale.unit}]",
        None,
        0.001,
        10_000.0,
        usual=f"{usual:g}",
        help="The table and the sentence then say which ε that needs.",
    )
    typed = settings.value_of(number)
    return scale.invert(usual if typed is None else float(typed))


def release_of() -> str | None:
    """Return the contender whose release is shown next to the curves; None for none."""
    name = settings.value_of(RELEASE_OF)
    return None if name == _NONE else name


def take_point() -> None:
    """Callback: show the release of the clicked point of a curve."""
    point = pictures.clicked(CHART)
    if point is not None:
        name, at = point
        session.move({"epsilon": whole([at])[0], RELEASE_OF.key: RELEASE_OF.titles[name]})


_COLOURS = {"private": PRIVATE, "other": OTHER, "truth": TRUTH, "guarantee": GUARANTEE, "bins": BINS}
FIRST = ("bayes", "bayes_cells", "refined", "published", "sparse", "integral_bins")
"""Contenders that are drawn at first."""
_OWN = {"refined": REFINED, "sparse": SPARSE, "integral_bins": BINS, "published": OTHER}
_DIAMOND = {"size": 8, "symbol": "diamond"}
_TICKS = tuple(step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5))
_X_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)
_HEIGHT = 520  # px


def _line(name: str) -> dict[str, str]:
    entry = CONTENDERS[name]
    role, dash = entry.line_style
    return {"color": _OWN.get(name, _COLOURS[role]), "dash": "solid" if name in _OWN else dash}


def _short(name: str) -> str:
    """Return a short title for telephones, which have little room next to a picture."""
    entry = CONTENDERS[name]
    short = entry.title.partition(" (")[0].removeprefix("Cloaking, ")
    return "Bayes, inputs too" if name == "bayes_cells" else f"{short[0].upper()}{short[1:]}"


def drawn_first(names: Iterable[str], every: bool) -> list[str]:
    """Return the contenders that are drawn: all, or at first a few."""
    return [name for name in names if every or name in FIRST]


def errors(compared: Compared, every: bool = False) -> go.Figure:
    """Draw error against epsilon on logarithmic axes; bands contain 80 % of simulated releases, lines have names at
    their ends.
    """
    curves, epsilon, convert = compared.curves, compared.epsilon, compared.scale.convert
    figure, drawn = go.Figure(), drawn_first(curves, every)
    for name, curve in curves.items():
        entry, line = CONTENDERS[name], _line(name)
        if entry.banded and name in drawn:  # more bands would hide each other
            low, high = convert(np.percentile(curve.errors, [10, 90], axis=1))
            band(figure, np.array(CURVE_EPSILONS), low, high, line["color"], 0.15)
        figure.add_scatter(
            x=CURVE_EPSILONS,
            y=convert(curve.mean),
            name=entry.title,
            mode="lines+markers",
            line=line,
            marker=_DIAMOND if entry.private_inputs else {"size": 4},
            visible=name in drawn,
            customdata=[[name, epsilon] for epsilon in CURVE_EPSILONS],  # points for clicks
            unselected={"marker": {"opacity": 1}},
            showlegend=False,
        )
    nonprivate, target = float(convert(compared.nonprivate)), float(convert(compared.target))
    level_line(figure, nonprivate, {"color": NON_PRIVATE, "width": 2})
    level_line(figure, target, {"color": GUARANTEE, "dash": "dot"})
    upright_line(figure, epsilon, {"color": TRUTH, "width": 1, "dash": "dot"})
    least, most = min(nonprivate, target), float(convert(max(curves[name].mean.max() for name in drawn)))
    low, high = np.log10(0.8 * least), np.log10(min(most, 60 * least))
    values = [(convert(curves[name].mean[-1]), _short(name), _line(name)["color"]) for name in drawn]
    values += [(nonprivate, "without privacy", NON_PRIVATE), (target, "target", GUARANTEE)]
    ends = [End(float((np.log10(value) - low) / (high - low)), name, colour) for value, name, colour in values]
    figure.update_xaxes(title="epsilon: more private → more accurate", range=[-1.03, 2.03], **ticked(_X_TICKS))
    ticks = [tick for tick in _TICKS if 10**low <= tick <= 10**high]
    figure.update_yaxes(title=f"error [{compared.scale.unit}]", range=[low, high], **ticked(ticks))
    return named(finish(figure, _HEIGHT), ends)


def with_pinned(figure: go.Figure, pinned: Compared, current: Compared) -> go.Figure:
    """Add a pinned setting (A) to the figure: its epsilon, and thin curves where its other settings differ."""
    convert, before, now = current.scale.convert, pinned.contest, current.contest
    moved = [name for name in pinned.curves if concerning(before, name) != concerning(now, name)]
    for number, name in enumerate(moved):
        title = CONTENDERS[name].title
        figure.add_scatter(
            x=CURVE_EPSILONS,
            y=convert(pinned.curves[name].mean),
            mode="lines",
            line=_line(name) | {"width": 1.2},
            name=f"pinned (A): {title}" if number else "pinned (A), thin",
            legendgroup="pin",
            showlegend=number == 0,
            hovertext=title,
        )
    if pinned.nonprivate != current.nonprivate:
        level_line(figure, float(convert(pinned.nonprivate)), {"color": NON_PRIVATE, "width": 1})
    upright_line(figure, pinned.epsilon, {"color": PINNED, "width": 1.5, "dash": "dashdot"})
    figure.add_annotation(
        x=float(np.log10(pinned.epsilon)),
        y=1,
        yref="paper",
        text="A",
        showarrow=False,
        xanchor="left",
        xshift=3,
        yanchor="top",
        font={"color": PINNED},
    )
    return figure


def release(drawn: Drawn, scene: Scene, dataset: Dataset, nonprivate: FloatArray | None, name: str) -> go.Figure:
    """Draw a simulated release along the first input with its intervals, the records, and the fit without noise (P,).

    If ``nonprivate`` is None, records and fit are left out.
    """
    along = drawn.rows >= scene.records
    x, line, figure = scene.X_test[drawn.rows[along], 0], _line(name), go.Figure()
    bands = ((drawn.outputs, 0.12, "range for one more person"), (drawn.curve, 0.28, "range for the curve"))
    for ends, opacity, of in bands:
        if ends is not None:
            low, high = ends[:, along]
            title = f"{of} ({100 * LEVEL:g} %)"
            band(figure, x, low, high, line["color"], opacity, title)
    if nonprivate is not None:
        add_truth(figure, dataset, x, nonprivate[drawn.rows[along]])
    draw_line(figure, x, drawn.published[along], "published curve", line["color"], line["dash"])
    return named_lines(on_axes(figure, dataset, x), SHORT)


def curves(picture: go.Figure, alt_text: str, compared: Compared, name: str | None) -> None:
    """Draw the curves; if a contender is chosen (``name``), draw one of its releases next to them."""
    columns = [st.container()] if name is None else st.columns([3, 2])
    with columns[0]:
        pictures.clickable(picture, CHART, alt_text, words.CLICK, take_point, caption=words.errors_caption(compared))
    if name is not None:
        with columns[1]:
            _release(compared.contest, name, compared.epsilon)


def _release(contest: Contest, name: str, epsilon: float) -> None:
    """Draw a curve or map with its interval; along a curve the true data too."""
    model = contest.model
    data, scene = cached.dataset(model.dataset), cloaking.scene(model.dataset)
    drawn = compute.release(contest, name, epsilon)
    caption = compute.caption(drawn, scene, data, name, epsilon)
    guarantee = contender(contest, name, epsilon).guarantee
    made = f"{CONTENDERS[name].title}, simulated release {compute.SEED}"
    finding = compute.finding(drawn, scene, data, epsilon)
    about = pictured.of_release(data, guarantee, made, caption, finding=finding)
    st.header(f"{CONTENDERS[name].title}, ε = {epsilon:g}")
    if scene.labels is None:
        parts = drawn, scene, data, cloaking.curve_without_privacy(model.dataset), name
        public = Public(partial(release, drawn, scene, data, None, name), about)
        pictures.chart(cached.drawn(release, *parts, of=(contest, name, epsilon)), "release", caption, public)
        return
    cells, above = compute.cells(drawn, scene, data), st.container()
    st.caption(caption)
    picked = pictures.pick_hexagon(cells)
    with above:
        pictures.hexagon_map(cells, compute.LAYER, name, "hexagons_release", picked, about=about)


def pinned_comparison(current: Compared) -> Compared | None:
    """Return the contenders with the pinned settings, for the same target; None if nothing is pinned."""
    chosen = pin.pinned(PAGE, CompareSettings, current.contest.model.dataset)
    if chosen is None:
        return None
    epsilon = chosen.draw.epsilon
    curves = {name: compute.curve(chosen.contest, name, epsilon) for name in current.curves}
    return compute.compared(chosen.contest, epsilon, current.target, curves)


def metrics(pinned: Compared, current: Compared) -> list[Metric]:
    """Return pinned and current values of the metrics."""
    scale, (a, b) = current.scale, (words.ranking(each)[0] for each in (pinned, current))
    best = a.title if a.name == b.name else f"{a.title} | {b.title}"
    needs = " | ".join(words.least_epsilon(each) for each in (pinned, current))

    def error(name: str, one: float, other: float, note: str | None = None) -> Metric:
        value = f"{scale.number(one)} | {scale.with_unit(other)}"
        return Metric(f"A | B: {name}", value, pin.change(one, other), note)

    return [
        Metric("A | B: ε", f"{pinned.epsilon:g} | {current.epsilon:g}", pin.change(pinned.epsilon, current.epsilon)),
        error("least error", a.error, b.error, best),
        error("without privacy", pinned.nonprivate, current.nonprivate),
        Metric("A | B: ε for the target", needs, f"error at most {scale.with_unit(current.target)}"),
    ]


def growing(contest: Contest, epsilon: float, target: float) -> Compared:
    """Draw headline and picture while curves are being computed; return all of them in the order of the table.

    Curves that are known, or interpolated, are drawn at once.
    """
    names = BY_WAIT
    compute.foresee(contest, names, epsilon)
    so_far = compute.compared(contest, epsilon, target, {})
    done = so_far.curves  # filled as curves become available
    slow = [name for name in names if compute.is_slow(name)]
    quick = [name for name in names if name not in slow]
    with layout.growing() as draw, waiting.whole([len(quick), *[FOLDS] * len(slow)]) as part_is_done:

        def show(coming: Sequence[str], folds: int) -> None:
            st.markdown(words.so_far(so_far, coming, folds, len(names)))
            pictures.chart(errors(so_far), f"so_far_{'_'.join(coming)}_{folds}", words.SO_FAR)

        def show_without(some: Sequence[str]) -> None:
            coming = [name for name in some if not compute.is_ready(contest, name, epsilon)]
            if coming and done:
                draw(partial(show, coming, 0))

        done |= compute.at_once(contest, names, epsilon)
        show_without(names)
        done |= compute.together(contest, quick, epsilon, f"Comparing {len(names)} methods")
        part_is_done()
        for number, name in enumerate(slow, len(quick) + 1):
            show_without([name])
            progress = f"Comparing, {number} of {len(names)}: "
            for curve, folds in compute.growing(contest, name, epsilon, progress):
                done[name] = curve
                if folds < FOLDS:
                    draw(partial(show, [name], folds))
            part_is_done()
    return compute.compared(contest, epsilon, target, {name: done[name] for name in CONTENDERS if name in done})
