from functools import partial

import streamlit as st

from pages._ui.excursion import computed, controls, figures
from pages._ui.look import frame, spending
from pages._ui.work import cached

top = st.container()
controls.search_if_asked()
study = controls.chosen_study()
view, show = controls.excursion_settings(study)
found = computed.explored(view)
picture = partial(cached.drawn, of=view)

with top:
    frame.heading("Where is it too high?", figures.answer(found, show))
    if show:
        frame.overlay_banner()
if study.scene == "curve":
    left, right = st.columns([3, 2])
    with left:
        caption = "Released paths (orange) against the threshold; truth dotted grey, non-private fit blue."
        frame.chart(picture(figures.curve, found, show), "path_curves", caption)
    with right:
        frame.chart(
            picture(figures.sets, found, show),
            "path_sets",
            "Where each of them is above the threshold.",
        )
elif study.scene == "field":
    caption = "Share of released paths above the threshold; boundaries of paths orange, estimate blue, truth dotted."
    frame.chart(picture(figures.field, found, show), "field", caption)
else:
    st.info(
        "The unit is a hexagon's median, not one sale. Where the hexagons with sales lie is protected: predictions are "
        "made on all hexagons of a declared box. n and δ are public here."
    )
    layer = figures.LAYERS[controls.excursion_layer(show)]
    cells = figures.cell_table(found, show)
    place = st.container()
    picked = frame.pick_hexagon(cells)
    with place:
        frame.hexagon_map(cells, layer, "excursion", "excursion_map", picked, boroughs=show)
frame.metrics(figures.metrics(found, show))
if show:
    st.header("How well do the sets overlap?")
    caption = "Overlap of released paths with the true set (orange), of Hall's release at the same ε (purple)."
    frame.chart(picture(figures.overlap, found), "overlap", f"{caption} Not private.")
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(figures.path_table(found, show), "excursion_paths", "Only the released paths are private.")
with how:
    frame.steps(figures.steps(found, view))
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
spending.spent(found.dataset.name, (view, found.guarantee))
frame.state_link()
