from functools import partial

import streamlit as st

from pages._ui.look import frame, pictures, spending
from pages._ui.sparse import computed, controls, figures
from pages._ui.work import cached

setting, view, show = controls.sparse_settings()
found = computed.fits(setting)
released = setting.released(found.dataset.privacy_unit)
guarantee = released[0][1]
picture = partial(cached.drawn, of=setting)

frame.heading("What if the inputs are private too?", figures.answer(found, setting, show))
frame.banners(found.dataset.source if found.dataset.simulated else None, show)
left, right = st.columns(2)
table = figures.fit_table(found)
if view == "fits":
    with left:
        caption = figures.fit_alt(found)
        pictures.chart(picture(figures.fit, found, show), "sparse_fit", caption)
    if show:
        with right:
            caption = "Do intervals hold what they promise? Below the dotted line they are too narrow."
            pictures.chart(picture(figures.calibration, found), "sparse_calibration", caption)
elif not show:
    st.info("These figures compare with the true data: switch the educational overlay on to see them.")
elif view == "errors":
    curves = computed.curves(setting)
    with left:
        pictures.chart(
            picture(figures.against_epsilon, curves, "error"),
            "sparse_errors",
            "Held-out error against ε.",
        )
    with right:
        caption = "Log-likelihood of held-out records: error and honesty of the uncertainty together."
        pictures.chart(
            picture(figures.against_epsilon, curves, "likelihood"),
            "sparse_likelihood",
            caption,
        )
    table = figures.curve_table(curves)
else:
    chosen = computed.choices(setting)
    with left:
        caption = "Error after a private choice of lengthscale and noise: evidence costs nothing beyond the release."
        pictures.chart(picture(figures.choice_errors, chosen), "sparse_choice", caption)
    with right:
        pictures.chart(
            picture(figures.choice_shares, chosen),
            "sparse_shares",
            "Which lengthscale each method chooses.",
        )
    table = figures.choice_table(chosen)
frame.metrics(figures.metrics(found, setting, show))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(table, f"sparse_{view}", figures.table_note(view, [each for _, each in released]))
with how:
    frame.steps(figures.steps(setting, found))
with lesson:
    frame.lessons(
        "sparse_dp_gp",
        [
            ("Five thousand simulated girls: many records make protecting inputs cheap.", {"sparse_data": "growth_2d"}),
            ("287 records: protecting inputs is dear.", {"sparse_data": "kung"}),
            ("Which hyperparameters would be chosen, and at what price?", {"sparse_view": "choice"}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
spending.spent(setting.dataset, *released)
frame.state_link()
