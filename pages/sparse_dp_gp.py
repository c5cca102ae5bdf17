from functools import partial

import streamlit as st

from pages._ui.look import frame, pictures, spending
from pages._ui.look.picture import Public
from pages._ui.sparse import computed, controls, figures, words
from pages._ui.work import cached

setting, view, show = controls.sparse_settings()
fits = computed.fits(setting)
released = setting.released(fits.dataset.privacy_unit)
guarantee = released[0][1]
picture = partial(cached.drawn, of=setting)

without = computed.without_privacy(setting, fits.plain_rmse) if show else None

frame.heading(words.question(fits), words.answer(fits, setting, without))
frame.banners(fits.dataset.source if fits.dataset.simulated else None, show)
left, right = st.columns(2)
table = figures.fit_table(fits)
if view == "fits":
    with left:
        public = Public(partial(figures.fit, fits), words.about(fits, guarantee))
        if show:
            drawn, caption = picture(figures.beside_the_curve, fits), words.beside_alt(fits)
        else:
            drawn, caption = picture(figures.fit, fits), words.fit_alt(fits)
        pictures.chart(drawn, "sparse_fit", caption, public)
    if show:
        with right:
            caption = "Do ranges hold what they say? Below the dotted line they are too narrow, above it too cautious."
            pictures.chart(picture(figures.calibration, fits), "sparse_calibration", caption)
elif without is None:
    st.info("These figures compare with the true data: switch “True data shown” on in the sidebar to see them.")
elif view == "errors":
    curves = computed.curves(setting)
    with left:
        pictures.chart(
            picture(figures.against_epsilon, curves, "error", without),
            "sparse_errors",
            "Error against epsilon. Smaller epsilon hides more.",
        )
    with right:
        caption = "How likely the people left out are, by what was published: error and width together. More is better."
        pictures.chart(
            picture(figures.against_epsilon, curves, "likelihood", without),
            "sparse_likelihood",
            caption,
        )
    table = figures.curve_table(curves)
else:
    chosen = computed.choices(setting)
    with left:
        caption = "Error after a private choice of lengthscale and spread. Choosing by evidence costs nothing more."
        pictures.chart(picture(figures.choice_errors, chosen), "sparse_choice", caption)
    with right:
        pictures.chart(
            picture(figures.choice_shares, chosen),
            "sparse_shares",
            "Which lengthscale each method chooses.",
        )
    table = figures.choice_table(chosen)
frame.metrics(words.metrics(fits, setting, without))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(table, f"sparse_{view}", words.table_note(view, [each for _, each in released]))
with how:
    frame.steps(words.steps(setting, fits))
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
spending.spent(setting.dataset, *released)
frame.state_link()
