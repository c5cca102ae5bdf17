import streamlit as st

from pages._ui.cloaking import cells, computed, controls, figures, pinned, words
from pages._ui.look import frame, offers, pictures, sidebar, spending, text
from pages._ui.work import cached

chosen = sidebar.release_settings(offers.MAP)
model, design, draw, show = chosen.model, chosen.design, chosen.draw, chosen.overlay
ours, paper = computed.run(model, design, draw), computed.run_published(model, draw)
data, guarantee = ours.dataset, ours.outcome.release.guarantee

frame.heading(
    f"What does hiding {data.privacy_unit} do to the map?",
    words.answer(ours, paper, draw, show, text.factor_of, "a released price, at its own hexagons with sales,")
    + " Noise is small where sales are dense and large at the rim.",
)
frame.banners(data.source if data.simulated else None, show)
kind, beside = controls.map_view(show)
layer, table = cells.LAYERS[kind], cells.cell_table(ours, show)
place = st.container()
picked = pictures.pick_hexagon(table)
if beside:
    left, right = place.columns(2)
    with left:
        st.header("This setting")
        pictures.hexagon_map(table, layer, kind, "hexagons", picked)
    with right:
        st.header(words.published_title(paper))
        pictures.hexagon_map(cells.cell_table(paper, show), layer, f"{kind}-paper", "hexagons_paper", picked)
else:
    with place:
        pictures.hexagon_map(table, layer, kind, "hexagons", picked)
frame.metrics(words.release_metrics(ours, paper, show, text.factor_of))
then = pinned.find("london_noise_map", offers.MAP, model.dataset)
pinned.show("london_noise_map", then, ours, show, text.factor_of, text.relative)
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(table, data.name, words.OVERLAY_NOTE)
with how:
    if show:
        errors = cached.drawn(figures.error_distribution, ours, paper, data.y_unit)
        pictures.chart(errors, "errors", words.ERRORS_ALT)
    frame.steps(words.explain(ours, model, design, draw))
with lesson:
    frame.lessons(
        "london_noise_map",
        [
            (
                "The method of Smith et al. 2018 on a map: log-det objective, Hall's calibration, δ = 0.01.",
                {"delta": 0.01, "mechanism": "cloaking", "objective": "logdet", "calibration": "hall"},
            ),
            ("Short lengthscale: every hexagon must hide by itself.", {"lengthscale_km": 4}),
            ("Sixteen times as many records, the same privacy each.", {"map_dataset": "london_sales"}),
            ("Strong privacy: which parts of the map survive?", {"epsilon": 0.2, "map": "private"}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
beside_it = [(paper.settings, paper.outcome.release.guarantee)] if beside else []
spending.spent(data.name, (ours.settings, guarantee), *beside_it)
frame.state_link()
