import streamlit as st

from pages._ui.cloaking import cells, computed, directions, one_hexagon, variants, words
from pages._ui.look import in_python, layout, pictures, settings, sidebar
from pages._ui.scripts import releases

chosen = settings.chosen(sidebar.MapSettings)
show = chosen.overlay
head, above, spot, below = (st.container() for _ in range(4))
with head:
    layout.title(cells.TITLE)
kind, which, plays = variants.map_view(chosen, above, below)
ours, beside, errors = computed.compared(chosen, which)
data, guarantee = ours.dataset, ours.guarantee
table = cells.cell_table(ours, show)

with head:
    layout.headline(cells.headline(ours, table, errors) + words.meanwhile(errors, show))
    layout.banners(data.source if data.simulated else None, show)
layer = cells.layer_of(kind, table)
picked = pictures.pick_hexagon(table)
handle = st.container()
left, right = (spot, None) if beside is None else spot.columns(2)
many = None
with left:
    if beside is not None:
        st.header(words.own_title(ours))
    if plays:
        kind, (many, layer) = "private", variants.play_map(ours)  # as the map beside it
    else:
        variants.show_map(ours, table, layer, kind, "hexagons", picked)
if right is not None and beside is not None:
    with right:
        st.header(words.beside_title(beside))
        other_table = cells.cell_table(beside, show)
        if layer.column in other_table:
            variants.show_map(beside, other_table, layer, f"{kind}-beside", "hexagons_beside", picked)
        else:
            st.caption("This method measures no spread of prices: it has one declared for all places.")
with handle:
    other = one_hexagon.show(ours, table, picked, show)
layout.metrics(cells.metrics(ours, errors))
variants.maps(ours, kind, show)
kept = variants.find("london_noise_map", chosen)
variants.show_pinned("london_noise_map", kept, ours, show)
directions.show_maps(ours)
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    layout.table(table, data.name, cells.note(show))
with how:
    variants.computation(ours, errors)
with python:
    in_python.draw(releases.release(chosen))
with lesson:
    layout.lessons(
        "london_noise_map",
        [
            (
                "The method of 2018, as in its paper: δ = 0.01.",
                {"delta": 0.01, "mechanism": "cloaking", "objective": "logdet", "calibration": "hall"},
            ),
            ("Twenty releases: where do prices flicker?", {"play": "true"}),
            ("A short lengthscale: every hexagon must hide by itself.", {"lengthscale_km": 4}),
            ("Bayes cloaking, which chooses no lengthscale.", {"mechanism": "bayes"}),
            ("Sixteen times as many sales, the same privacy for each.", {"map_dataset": "london_sales"}),
            ("Strong privacy: which parts of the map survive?", {"epsilon": 0.2, "map": "private"}),
        ],
    )
layout.guarantee_card(guarantee, layout.TEACHING_NOTE)
seen = [each for each in (ours, beside, many, other) if each is not None]
sidebar.spent(data.name, *((each.released, each.guarantee) for each in seen), free=words.free(ours))
layout.state_link()
