import streamlit as st

from pages._ui import compute, controls, figures, frame, maps, tables, text

data_name, model, design, draw = controls.setting("map_dataset")
ours, paper = compute.run(model, design, draw), compute.run_published(model, draw)
data, guarantee = ours.dataset, ours.outcome.release.guarantee

frame.heading(
    f"What does hiding {data.unit} do to the map?",
    f"At ε = {draw.epsilon:g} and δ = {draw.delta:g} a released price is off by about "
    f"**{text.factor_of(ours.outcome.mean_rmse)}** in a hexagon with sales; without privacy "
    f"{text.factor_of(ours.outcome.nonprivate_rmse)}, with the published method "
    f"{text.factor_of(paper.outcome.mean_rmse)}. Noise is small where sales are dense and large at the rim.",
)
if data.simulated:
    st.info(f"These sales are {data.source}", icon=":material/science:")
show = controls.overlay()
if show:
    frame.overlay_banner()
frame.metrics(tables.release_metrics(ours, paper, text.factor_of))
kind, beside = controls.map_view(show)
layer, cells = maps.LAYERS[kind], maps.cell_table(ours, show)
if beside:
    left, right = st.columns(2)
    with left:
        st.subheader("This setting")
        picked = frame.hexagon_map(maps.deck(cells, layer, kind), "hexagons", layer)
    with right:
        st.subheader(tables.published_title(paper))
        frame.hexagon_map(maps.deck(maps.cell_table(paper, show), layer, f"{kind}-paper"), "hexagons_paper", layer)
else:
    picked = frame.hexagon_map(maps.deck(cells, layer, kind), "hexagons", layer)
frame.picked_row(cells, picked)
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(cells, data_name, tables.OVERLAY_NOTE)
with how:
    frame.chart(figures.error_distribution(ours.outcome, paper.outcome, data.y_unit), "errors", tables.ERRORS_ALT)
    frame.steps(tables.explain(ours, model, design, draw))
with lesson:
    frame.lessons(
        "london_noise_map",
        [
            ("Short lengthscale: every hexagon must hide by itself.", {"lengthscale_km": 4}),
            ("Sixteen times as many records, the same privacy each.", {"map_dataset": "london_sales"}),
            ("Strong privacy: which parts of the map survive?", {"epsilon": 0.2, "map": "private"}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
frame.spent(data_name, guarantee, (model, design, draw))
frame.state_link()
