from functools import partial

import streamlit as st

from pages._ui.look import in_python, layout, pictures, settings, sidebar, tables
from pages._ui.look.pictures import as_it_is
from pages._ui.scripts import studies
from pages._ui.sparse import compute
from pages._ui.sparse import view as sparse_view
from pages._ui.work import cached

chosen = settings.chosen(sparse_view.SparseSettings)
setting, view, show = chosen.release, chosen.view, chosen.overlay
layout.title(sparse_view.question(compute.loaded(setting.dataset)))
fits = compute.fits(setting)
released = setting.released(fits.dataset.privacy_unit)
guarantee = released[0][1]
picture = partial(cached.drawn, of=setting)

without = compute.least_without_privacy(setting, fits.plain_rmse) if show else None

layout.headline(sparse_view.answer(fits, setting, without))
layout.banners(fits.dataset.source if fits.dataset.simulated else None, show)
left, right = st.columns(2)
published = picture(sparse_view.fit, fits)
numbers = tables.of_figure(published)
if view == "fits":
    with left:
        public = as_it_is(published, sparse_view.about(fits, guarantee))
        drawn, caption = published, sparse_view.fit_alt(fits)
        if show:
            drawn, caption = picture(sparse_view.differences, fits), sparse_view.differences_alt(fits)
            numbers = tables.of_figure(published, drawn)
        pictures.chart(drawn, "sparse_fit", caption, public, numbers)
    if show:
        with right:
            caption = (
                "Do ranges cover as often as they claim? Below the dotted line they are too narrow, above it too wide."
            )
            pictures.chart(picture(sparse_view.calibration, fits), "sparse_calibration", caption)
elif without is None:
    st.info("These figures compare with the true data: switch “True data shown” on in the sidebar to see them.")
else:
    curves = compute.curves(setting)
    both = [picture(sparse_view.against_epsilon, curves, each, without) for each, *_ in sparse_view.AGAINST_EPSILON]
    numbers = tables.of_figure(*both, true_data=True)
    for column, drawn, (_, key, caption) in zip((left, right), both, sparse_view.AGAINST_EPSILON, strict=True):
        with column:
            pictures.chart(drawn, key, caption, numbers=numbers)
layout.metrics(sparse_view.metrics(fits, setting, without))
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    layout.table(numbers, f"sparse_{view}", sparse_view.table_note(view, [each for _, each in released]))
with how:
    layout.steps(sparse_view.steps(setting, fits))
with python:
    in_python.draw(studies.sparse_release(chosen))
with lesson:
    layout.lessons(
        "sparse_dp_gp",
        [
            (
                "Five thousand simulated girls: among many people, hiding inputs costs little.",
                {"sparse_data": "growth_2d"},
            ),
            ("287 people: hiding inputs costs much.", {"sparse_data": "kung"}),
            ("How fast do the errors of both methods fall with ε?", {"sparse_view": "errors"}),
        ],
    )
layout.guarantee_card(guarantee, layout.TEACHING_NOTE)
sidebar.spent(setting.dataset, *released)
layout.state_link()
