"""Words of the start page, on the screen and for printing; and its errors while they are computed."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
import segno

from dpgp_core.arrays import FloatArray
from dpgp_core.figures import export
from dpgp_core.table import Dataset
from pages._ui import left_out
from pages._ui.compare import compute
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, Curve, Scale, contender, scale_of
from pages._ui.compare.words import interpolation
from pages._ui.left_out import FOLDS
from pages._ui.look import layout, pictures, redrawn, text
from pages._ui.start import decision
from pages._ui.start.decision import MECHANISM, Cost, Decision, Moved

_WIDTH, _HEIGHT = 1200, 430  # px of a picture, which shrinks to the page
_STYLE = """
@page { size: A4; margin: 13mm }
body { font: 10pt/1.35 system-ui, sans-serif; color: #1a1a1a; max-width: 178mm; margin: 1rem auto; padding: 0 1rem }
h1 { font-size: 15pt; margin: 0 0 .3rem } h2 { font-size: 11pt; margin: .6rem 0 .1rem } p { margin: .4rem 0 }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600; width: 22% }
th, td { padding: .12rem .4rem .12rem 0; vertical-align: top; font-size: 8.5pt }
.figure svg { max-height: 46mm; width: 100%; display: block; margin: auto }
.foot { display: flex; margin-top: .5rem; gap: 1rem; align-items: center; font-size: 8.5pt; overflow-wrap: anywhere }
.foot svg { flex: 0 0 30mm; width: 30mm; height: 30mm } svg { max-width: 100% }
@media print { body { margin: 0; padding: 0 } }
"""


def _picture(name: str, figure: go.Figure) -> str:
    """Return a figure of the page as an export figure."""
    svg = export.inline(redrawn.of_figure(figure), _WIDTH, _HEIGHT, title=name, type_=20.0)
    return f'<div class="figure">{svg}</div>'


def _bold(sentence: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(sentence))


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


QUESTION = "What can anyone learn about one person?"
_AVERAGED = "none to set: averaged over lengthscales and noise levels, from what is public and what is released"
TABLE_NOTE = (
    "Chances follow from ε, δ and the kind of noise. Errors are computed from true data, so they are not private."
)
CARD_NOTE = "The promise does not depend on the data. The error does, and is computed from the true data."


def beliefs_alt(beliefs: tuple[Moved, ...]) -> str:
    """Return the description of the beliefs against epsilon for screen readers, with their values."""
    quoted = [belief for epsilon, belief in zip(CURVE_EPSILONS, beliefs, strict=True) if epsilon in (0.1, 1.0, 10.0)]
    low, middle, high = (f"{decision.most_after(belief)} % at" for belief in quoted)
    return (
        f"Upper line, the most that is believed: {low} epsilon 0.1, {middle} 1, {high} 10. Dashed: the average of the "
        f"1 % most revealing releases. Dotted: {text.percent(beliefs[0].prior)} beforehand."
    )


def errors_alt(data: Dataset, cost: Cost) -> str:
    """Return the description of the errors against epsilon for screen readers, with their values."""
    strict, middle, loose = (cost.with_unit(cost.at(epsilon)) for epsilon in (0.1, 1.0, 100.0))
    curve = "curve" if len(data.x_box) == 1 else "map"
    return (
        f"Error of a published {curve}: {strict} at epsilon 0.1, {middle} at 1, {loose} at 100. Without privacy: "
        f"{cost.with_unit(cost.nonprivate)}."
    )


RISK_DOTS = "Each dot is 1 in 20 releases: how likely the fact is after it, at most. Dotted: before."


def risk_dots_alt(after: FloatArray) -> str:
    """Text alternative of the dots of beliefs."""
    least, most = (text.number(100 * float(each)) for each in (after[0], after[-1]))
    return f"{RISK_DOTS} From {least} % after the 1 in 20 that speak most against it to {most} % after those most for."


def error_dots_caption(cost: Cost, epsilon: float) -> str:
    """Return the caption that says what a dot is."""
    found = len(cost.simulated[CURVE_EPSILONS.index(epsilon)])
    dot = "one simulated release" if found <= decision.DOTS else f"1 in {decision.DOTS} simulated releases"
    return f"Each dot is the error of {dot}. Blue: without privacy."


def error_dots_alt(cost: Cost, epsilon: float) -> str:
    """Text alternative of the dots of the errors."""
    errors = cost.simulated[CURVE_EPSILONS.index(epsilon)]
    least, most = (cost.with_unit(float(each)) for each in (errors.min(), errors.max()))
    return f"{error_dots_caption(cost, epsilon)} From {least} to {most} at epsilon {epsilon:g}."


def brief(
    chosen: Decision,
    data: Dataset,
    cost: Cost | None,
    link: str,
    figures: Sequence[tuple[str, go.Figure]],
) -> str:
    """Return the printable page as a file. Everything in it that could come from outside is escaped.

    Args:
        chosen: the decision.
        data: the data set.
        cost: the errors; None without the overlay.
        link: address of this state.
        figures: figures with their headings.
    """
    draw, belief, model = chosen.draw, chosen.belief, chosen.contest.model
    outcome = data.y_name.removeprefix("ln ")  # a price, not its logarithm
    title = html.escape(f"What ε = {draw.epsilon:g} promises and costs: {outcome}")
    advice = f"At ε = {draw.epsilon:g}, {decision.limits(belief)}."
    if cost is not None:
        price = decision.price(chosen, cost, data.privacy_unit)
        found = f"**{decision.recommended(cost)}** {decision.reason(cost)} **{decision.yours(chosen, cost)}**"
        advice = f"{found} {price} {decision.disclosed(chosen, cost)}"
    fixed = f"{model.kernel} kernel, lengthscale {model.lengthscale:g} {data.x_units[0]}"
    setting = (
        ("Data", f"{data.n:,} rows; {data.source}"),
        ("Budget", f"ε = {draw.epsilon:g}, δ = {text.small(draw.delta)}"),
        ("Method", MECHANISM.titles[chosen.mechanism]),
        ("Model", _AVERAGED if CONTENDERS[chosen.mechanism].kind.automatic else fixed),
        ("Believed before", text.percent(belief.prior)),
    )
    guarantee = contender(chosen.contest, chosen.mechanism, draw.epsilon).guarantee
    card = layout.guarantee_rows(guarantee.for_unit(data.privacy_unit))
    sentences = "".join(f"<p>{_bold(sentence)}</p>" for sentence in (advice, decision.frequencies(belief)))
    drawn = "".join(f"<h2>{html.escape(name)}</h2>{_picture(name, figure)}" for name, figure in figures)
    if cost is not None and (caption := errors_caption(cost)):
        drawn += f"<p>{html.escape(caption)}</p>"
    code = segno.make(link, error="l", micro=False).svg_inline(svgclass=None, omitsize=True, title="this state")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{sentences}{drawn}"
        f"<h2>Setting</h2>{_table(setting)}<h2>What the guarantee says</h2>{_table(card)}"
        f'<div class="foot">{code}<span>{html.escape(link)}</span></div></body></html>'
    )


def cost(chosen: Decision, data: Dataset) -> Cost:
    """Return the errors on people left out against epsilon, and without privacy, as on the Compare page. They are not
    private.

    Until they are complete, draw the picture of the folds that are done.
    """
    contest, name, epsilon = chosen.contest, chosen.mechanism, chosen.draw.epsilon
    compute.foresee(contest, [name], epsilon)
    plain = left_out.without_privacy(contest.model.dataset, contest.model)
    with layout.growing() as draw:

        def show(found: Cost, folds: int) -> None:
            picture = decision.errors_figure(found, epsilon)
            so_far = f"So far from {folds} of {FOLDS} parts of the people: it will still move."
            pictures.chart(picture, f"errors_{folds}", errors_alt(data, found), caption=so_far)

        for curve, folds in compute.growing(contest, name, epsilon):
            found = _cost(curve, plain, scale_of(data))
            if folds < FOLDS:
                draw(partial(show, found, folds))
        while (least := found.least()) is not None and least in curve.interpolated:
            curve = compute.with_simulated(curve, contest, name, least)  # because its error is stated
            found = _cost(curve, plain, scale_of(data))
    return found


def _cost(curve: Curve, plain: float, scale: Scale) -> Cost:
    """Return the errors of a curve and the one without privacy on a scale; both are given in the output's unit."""
    simulated = scale.convert(curve.errors)
    return Cost(scale.convert(curve.mean), float(scale.convert(plain)), scale, simulated, curve.interpolated)


def errors_caption(cost: Cost) -> str:
    """Return the caption of the errors against epsilon: whether some of them are interpolated."""
    return interpolation("your ε and at the recommended one") if cost.interpolated else ""
