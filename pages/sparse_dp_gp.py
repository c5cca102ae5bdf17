from functools import partial

import streamlit as st

from pages._ui.look import frame, pictures, settings, sidebar
from pages._ui.look.pictures import Public
from pages._ui.sparse import compute
from pages._ui.sparse import view as sparse_view
from pages._ui.work import cached

chosen = settings.chosen(sparse_view.SparseSettings)
setting, view, show = chosen.release, chosen.view, chosen.overlay
fits = compute.fits(setting)
released = setting.released(fits.dataset.privacy_unit)
guarantee = released[0][1]
picture = partial(cached.drawn, of=setting)

without = compute.least_without_privacy(setting, fits.plain_rmse) if show else None

frame.heading(sparse_view.question(fits), sparse_view.answer(fits, setting, without))
frame.banners(fits.dataset.source if fits.dataset.simulated else None, show)
left, right = st.columns(2)
table = sparse_view.fit_table(fits)
if view == "fits":
    with left:
        public = Public(partial(sparse_view.fit, fits), sparse_view.about(fits, guarantee))
        if show:
            drawn, caption = picture(sparse_view.differences, fits), sparse_view.differences_alt(fits)
        else:
            drawn, caption = picture(sparse_view.fit, fits), sparse_view.fit_alt(fits)
        pictures.chart(drawn, "sparse_fit", caption, public)
    if show:
        with right:
            caption = "Do ranges hold what they say? Below the dotted line they are too narrow, above it too cautious."
            pictures.chart(picture(sparse_view.calibration, fits), "sparse_calibration", caption)
elif without is None:
    st.info("These figures compare with the true data: switch “True data shown” on in the sidebar to see them.")
elif view == "errors":
    curves = compute.curves(setting)
    with left:
        pictures.chart(
            picture(sparse_view.against_epsilon, curves, "error", without),
            "sparse_errors",
            "Error against epsilon. Smaller epsilon hides more.",
        )
    with right:
        caption = "How likely the people left out are, by what was published: error and width together. More is better."
        pictures.chart(
            picture(sparse_view.against_epsilon, curves, "likelihood", without),
            "sparse_likelihood",
            caption,
        )
    table = sparse_view.curve_table(curves)
else:
    choices = compute.choices(setting)
    with left:
        caption = "Error after a private choice of lengthscale and spread. Choosing by evidence costs nothing more."
        pictures.chart(picture(sparse_view.choice_errors, choices), "sparse_choice", caption)
    with right:
        pictures.chart(
            picture(sparse_view.choice_shares, choices),
            "sparse_shares",
            "Which lengthscale each method chooses.",
        )
    table = sparse_view.choice_table(choices)
frame.metrics(sparse_view.metrics(fits, setting, without))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(table, f"sparse_{view}", sparse_view.table_note(view, [each for _, each in released]))
with how:
    frame.steps(sparse_view.steps(setting, fits))
with lesson:
    frame.lessons(
        "sparse_dp_gp",
        [
            (
                "Five thousand simulated girls: among many people, hiding inputs costs little.",
                {"sparse_data": "growth_2d"},
            ),
            ("287 people: hiding inputs costs much.", {"sparse_data": "kung"}),
            ("Which hyperparameters would be chosen, and at what price?", {"sparse_view": "choice"}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
sidebar.spent(setting.dataset, *released)
frame.state_link()
