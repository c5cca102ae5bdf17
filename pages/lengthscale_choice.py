import streamlit as st

from datasets import exhibit
from pages._ui.explore import view as explore_view
from pages._ui.lengthscale import compute, view
from pages._ui.look import frame, pictures, settings, text
from pages._ui.work import cached

setting = settings.chosen(view.ChoiceSettings)
grid, budgets, release, show = setting.grid, setting.budgets, setting.guarantee, setting.overlay
data, unit = cached.dataset(grid.model.dataset), exhibit(grid.model.dataset).unit
guarantee, total = compute.guarantees(budgets, release.for_unit(data.privacy_unit), data.privacy_unit)
y_unit = data.y_unit
QUESTION = "What does it cost to choose the lengthscale?"


def with_unit(error: float) -> str:
    return f"{text.number(error)} {y_unit}"


if show:
    scored = view.growing_scores(grid, budgets, QUESTION, unit)
    table = compute.tabulate(scored, budgets)
    chosen = compute.describe(table, grid, budgets)
    unchosen = compute.without_choice(grid, budgets, table)
    frame.heading(QUESTION, compute.lead(chosen, unchosen, budgets, unit, with_unit))
    frame.overlay_banner("Only the chosen value may be published.")
    numbers = compute.rows_of(table, grid, unit, y_unit)
    st.header("What would be chosen")
    pictures.clickable(
        cached.drawn(view.tiles, table, grid, budgets, unit, y_unit, of=data.name),
        "tiles",
        f"{view.tiles_alt(table, grid, budgets, unit)} More privacy noise makes the best lengthscale (★) longer.",
        "Click a tile to take its setting along.",
        view.carry_tile,
        numbers,
    )
    view.carried_tile(unit)
    st.header("What it costs")
    pictures.chart(
        cached.drawn(view.errors, table, grid, budgets, unit, y_unit, unchosen, of=data.name),
        "choice_errors",
        view.errors_alt(table, grid, budgets, unit, with_unit),
    )
    frame.metrics(view.metrics(chosen, unchosen, unit, with_unit, budgets, total))
    values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
    with values:
        frame.table(numbers, "lengthscale_choice", "It takes the true data to know these.")
    with how:
        frame.steps(compute.explain(scored, grid, budgets))
    with lesson:
        frame.lessons(
            "lengthscale_choice",
            [
                ("With little epsilon for the choice, is it better than a fixed guess?", {"selection_epsilon": 0.1}),
                ("Strong privacy wants long lengthscales.", {"epsilon": 0.1}),
                ("The same question on the map of London.", {"choice_dataset": "london_hexes"}),
            ],
        )
else:
    frame.needs_overlay(QUESTION)
explore_view.three_lengthscales(grid.model, budgets.regression, budgets.delta)
frame.guarantee_card(guarantee, "The release that follows has its own guarantee; both together cost the ε above.")
frame.state_link()
