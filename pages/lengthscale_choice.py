import streamlit as st

from pages._ui.explore import beside
from pages._ui.lengthscale import arriving, choice, controls, figures
from pages._ui.look import frame, pictures, sidebar, text
from pages._ui.work import cached

grid, budgets, unit, release = controls.choice_settings()
show = sidebar.overlay()
data = cached.dataset(grid.model.dataset)
guarantee, total = choice.guarantees(budgets, release.for_unit(data.privacy_unit), data.privacy_unit)
y_unit = data.y_unit
QUESTION = "Which lengthscale should a private analysis use?"


def shown(error: float) -> str:
    return f"{text.number(error)} {y_unit}"


if show:
    scored = arriving.scored(grid, budgets, QUESTION, unit)
    table = choice.tabulate(scored, budgets)
    found = choice.describe(table, grid, budgets)
    frame.heading(
        QUESTION,
        f"With ε = {budgets.selection:g} for the choice and ε = {budgets.regression:g} for the release, "
        f"**{found.likeliest:g} {unit}** is most likely to be chosen ({text.percent(found.probability)}). "
        f"On held-out fifths the release is then off by about **{shown(found.after)}**; knowing the "
        f"best lengthscale ({found.best:g} {unit}) for free, {shown(found.best_error)}, and without any privacy "
        f"{shown(found.without)}.",
    )
    frame.overlay_banner(
        "Probabilities and errors are computed from the true data; only the chosen value may be published."
    )
    left, right = st.columns([3, 2])
    with left:
        st.header("What would be chosen")
        pictures.clickable(
            cached.drawn(figures.tiles, table, grid, budgets, unit, y_unit, of=data.name),
            "tiles",
            "Probability that each lengthscale is chosen, for less to more privacy of the release. The more noise the "
            "release needs, the longer the lengthscale that serves it best. Click a tile to take its setting along.",
            controls.carry_tile,
        )
        controls.carried_tile(unit)
    with right:
        st.header("What it costs")
        pictures.chart(
            cached.drawn(figures.errors, table, grid, budgets, unit, y_unit, of=data.name),
            "choice_errors",
            "Expected held-out error against the lengthscale: without noise (blue), private (orange), "
            "after the private choice (green).",
        )
    frame.metrics(figures.metrics(found, unit, shown, total, budgets.delta))
    values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
    with values:
        rows = choice.table_frame(table, grid, unit, y_unit)
        frame.table(rows, "lengthscale_choice", "Not private, except the choice.")
    with how:
        frame.steps(choice.explain(scored, grid, budgets))
    with lesson:
        frame.lessons(
            "lengthscale_choice",
            [
                ("A stingy choice: is a private choice better than a fixed guess?", {"selection_epsilon": 0.1}),
                ("Strong privacy wants long lengthscales.", {"epsilon": 0.1}),
                ("The same question on the map of London.", {"choice_dataset": "london_hexes"}),
            ],
        )
else:
    frame.needs_overlay(QUESTION)
beside.lengthscales(grid.model, grid.lengthscales, budgets.regression, budgets.delta)
frame.guarantee_card(guarantee, "The release that follows has its own guarantee; both together cost the ε above.")
frame.state_link()
