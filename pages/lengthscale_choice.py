import streamlit as st

from pages._ui.explore import view as explore_view
from pages._ui.lengthscale import compute, view
from pages._ui.look import in_python, layout, pictures, settings
from pages._ui.scripts import studies
from pages._ui.work import cached

setting = settings.chosen(view.ChoiceSettings)
grid, budgets, release = setting.grid, setting.budgets, setting.guarantee
privacy_unit = cached.dataset(setting.dataset).privacy_unit
guarantee, total = compute.guarantees(budgets, release.for_unit(privacy_unit), privacy_unit)
QUESTION = "What does it cost to choose the lengthscale?"

if setting.overlay:
    layout.title(QUESTION)
    choice = compute.Choice(grid, budgets, compute.scored(grid))
    unchosen = compute.without_choice(choice)
    layout.headline(compute.headline(choice, unchosen))
    layout.overlay_banner("Only the chosen value may be published.")
    numbers = compute.rows_of(choice)
    st.header("What would be chosen")
    pictures.chart(
        cached.drawn(view.tiles, choice),
        "tiles",
        view.tiles_alt(choice),
        numbers=numbers,
        caption="★ best lengthscale. More noise favours longer ones.",
    )
    st.header("What it costs")
    pictures.chart(
        cached.drawn(view.errors, choice, unchosen), "choice_errors", view.errors_alt(choice), caption=view.ERRORS
    )
    layout.metrics(view.metrics(choice, unchosen, total))
    values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
    with values:
        layout.table(numbers, "lengthscale_choice", "Computed from true data, so not private.")
    with how:
        layout.steps(compute.explain(choice))
    with python:
        in_python.draw(studies.choice(setting))
    with lesson:
        layout.lessons(
            "lengthscale_choice",
            [
                ("With little epsilon for the choice, is it better than a fixed guess?", {"selection_epsilon": 0.1}),
                ("Strong privacy favours long lengthscales.", {"epsilon": 0.1}),
                ("The same question on the map of London.", {"choice_dataset": "london_hexes"}),
            ],
        )
else:
    layout.needs_overlay(QUESTION)
explore_view.three_lengthscales(grid.model, budgets.regression, budgets.delta)
layout.guarantee_card(guarantee, "The release that follows has its own guarantee; both together cost the ε above.")
layout.state_link()
