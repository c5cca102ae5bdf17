import streamlit as st

from pages._ui import compute, controls, figures, frame, page_controls, tables, text, two_points

data_name = controls.dataset()
draw = controls.privacy(draws=False)
model = controls.model(data_name)
design, draw = controls.expert(draw, ("cloaking",))
result = compute.run(model, design, draw)
data, guarantee = result.dataset, result.outcome.release.guarantee

sliders = st.container()
with st.expander("Move the two records", expanded=True, icon=":material/tune:"):
    x1, x2, lengthscale, noise, d, moved = page_controls.two_point_sliders()
points = two_points.build(x1, x2, lengthscale, noise, d)
with sliders:
    frame.heading(
        "Why does one person need so little noise to hide?",
        f"One record can push the two predictions only along its own column of C. Noise that fills just those "
        f"directions has **{text.number(two_points.area_ratio(points))} times** less variance than noise shaped "
        f"like the prior, and hides the same change d = {d:g}.",
    )
left, right = st.columns(2)
with left:
    frame.chart(
        compute.drawn(two_points.curves, points, moved - 1, of=(x1, x2, lengthscale, noise, d)),
        "two_curves",
        f"Record {moved} changes by d = {d:g}; the prediction moves from the solid to the dashed curve.",
    )
with right:
    frame.chart(
        compute.drawn(two_points.plane, points, of=(x1, x2, lengthscale, noise, d)),
        "two_plane",
        "Moves that one record can cause, as lines; the cloaking ellipse (orange) just encloses them, the "
        "prior's ellipse (grey, dotted) is larger.",
    )

st.header(f"The same with {data.n} records")
st.markdown(tables.cloaking_answer(result))
frame.metrics(tables.certificate(result))
left, right = st.columns(2)
with left:
    st.subheader("C: who moves which prediction")
    frame.chart(compute.drawn(figures.cloaking_heat, result), "C", tables.C_ALT)
with right:
    st.subheader("M: the noise that hides them")
    frame.chart(compute.drawn(figures.noise_heat, result), "M", tables.M_ALT)
st.subheader("λ: few records carry the noise")
frame.chart(compute.drawn(figures.stems, result), "lambda", tables.lambda_alt(result))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(tables.record_table(result), f"{data_name}_lambda", "Inputs only: C, λ and M are public.")
with how:
    frame.steps(tables.explain(result, model, design, draw))
with lesson:
    frame.lessons(
        "how_cloaking_works",
        [
            ("Records far apart: each hides alone.", {"x1": 1, "x2": 9, "two_l": 1}),
            ("Records close together: they share the work.", {"x1": 4.5, "x2": 5.5}),
            ("A short lengthscale: nearly everyone carries noise.", {"lengthscale_years": 3}),
        ],
    )
frame.guarantee_card(guarantee, "Nothing on this page depends on anyone's height: C, λ and M use public inputs only.")
frame.state_link()
