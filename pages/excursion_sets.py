from functools import partial

import streamlit as st

from pages._ui.excursion import computed, controls, figures, words
from pages._ui.look import frame, pictures, spending
from pages._ui.work import cached

top = st.container()
controls.search_if_asked()
study = controls.chosen_study()
view, show = controls.excursion_settings(study)
found = computed.explored(view)
beside = computed.beside(view, found)
picture = partial(cached.drawn, of=view)

with top:
    frame.heading("Where is it too high?", words.answer(found, beside, show))
    if show:
        frame.overlay_banner()
if study.scene == "curve":
    left, right = st.columns([3, 2])
    with left:
        caption = "Released paths (orange) and the mean of one Bayes release (green) against the threshold; "
        caption += "truth dotted grey, non-private fit blue."
        pictures.chart(picture(figures.curve, found, beside, show), "path_curves", caption)
    with right:
        pictures.chart(
            picture(figures.sets, found, beside, show),
            "path_sets",
            "Where each of them is above the threshold.",
        )
elif study.scene == "field":
    caption = "Share of released paths above the threshold; boundaries of paths orange, of one Bayes release green, "
    caption += "estimate blue, truth dotted."
    pictures.chart(picture(figures.field, found, beside, show), "field", caption)
else:
    st.info(
        "The unit is a hexagon's median, not one sale. Where the hexagons with sales lie is protected: predictions are "
        "made on all hexagons of a declared box. n and δ are public here."
    )
    layer = figures.LAYERS[controls.excursion_layer(show, beside is not None)]
    cells = figures.cell_table(found, beside, show)
    place = st.container()
    picked = pictures.pick_hexagon(cells)
    with place:
        pictures.hexagon_map(cells, layer, "excursion", "excursion_map", picked, boroughs=show)
frame.metrics(words.metrics(found, beside, show))
if show:
    st.header("How well do the sets overlap?")
    pictures.chart(picture(figures.overlap, found, beside), "overlap", words.OVERLAP)
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(figures.path_table(found, beside, show), "excursion_paths", words.TABLE)
with how:
    frame.steps(words.steps(found, view))
with lesson:
    frame.lessons(
        "excursion_sets",
        [
            ("Three paths cost more than one: is their vote better?", {"paths": 3}),
            ("The private corner: large r, tiny s, nearly Hall's release.", {"r": 30, "sigma": 0.002}),
            ("A map with two plumes.", {"excursion": "plumes"}),
            ("London above a price: is it more than declaring everything?", {"excursion": "london"}),
        ],
    )
frame.guarantee_card(found.guarantee, frame.TEACHING_NOTE)
if beside is not None:
    with st.expander("What the guarantee of the Bayes release says"):
        frame.guarantee_card(beside.guarantee)
spending.spent(found.dataset.name, *words.released(view, found, beside))
frame.state_link()
