import streamlit as st

from pages._ui.cloaking import cells, computed, directions, figures, variants, words
from pages._ui.look import frame, in_python, pictures, settings, sidebar
from pages._ui.scripts import releases

chosen = settings.chosen(sidebar.MapSettings)
show = chosen.overlay
ours, paper, errors = computed.compared(chosen)
data, guarantee = ours.dataset, ours.guarantee

frame.heading(cells.TITLE, cells.lead(ours, errors) + words.meanwhile(errors, show))
frame.banners(data.source if data.simulated else None, show)
alt_text = cells.alt_text(ours)
layers, table = cells.layers(ours, show), cells.cell_table(ours, show)
kind, both = cells.map_view(list(layers))
layer = layers[kind]
spot = st.container()
picked = pictures.pick_hexagon(table)
left, right = spot.columns(2) if both else (spot, None)
with left:
    if both:
        st.header(words.own_title(ours))
    about = figures.about(ours, layer.title)
    pictures.hexagon_map(table, layer, kind, "hexagons", picked, about=about, more=alt_text)
if right is not None:
    with right:
        st.header(words.published_title(paper))
        of_paper = cells.cell_table(paper, show)
        if layer.column in of_paper:
            about = figures.about(paper, layer.title)
            pictures.hexagon_map(of_paper, layer, f"{kind}-paper", "hexagons_paper", picked, about=about)
        else:
            st.caption("This method measures no spread of prices: it has one declared for all places.")
frame.metrics(cells.metrics(ours, paper, errors))
variants.maps(ours, layer, kind, show)
kept = variants.find("london_noise_map", chosen)
variants.show_pinned("london_noise_map", kept, ours, show)
directions.show_maps(ours)
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    frame.table(table, data.name, cells.note(ours, show))
with how:
    if errors is not None and errors.ours is not None:
        pictures.chart(figures.error_distribution(errors, data.y_unit), "errors", words.errors_alt(errors))
    frame.steps([*words.explain(ours), words.ERROR])
with python:
    in_python.show(releases.release(chosen))
with lesson:
    frame.lessons(
        "london_noise_map",
        [
            (
                "The method of 2018, as in its paper: δ = 0.01.",
                {"delta": 0.01, "mechanism": "cloaking", "objective": "logdet", "calibration": "hall"},
            ),
            ("Noise that is added once: where is it large?", {"mechanism": "refined", "map": "noise"}),
            ("A short lengthscale: every hexagon must hide by itself.", {"mechanism": "refined", "lengthscale_km": 4}),
            ("Sixteen times as many sales, the same privacy for each.", {"map_dataset": "london_sales"}),
            ("Strong privacy: which parts of the map survive?", {"epsilon": 0.2}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
other = [(paper.released, paper.guarantee)] if both else []
sidebar.spent(data.name, (ours.released, guarantee), *other, free=words.free(ours))
frame.state_link()
