import streamlit as st

from pages._ui import comparing, comparing_figures, comparing_tables, compute, frame, page_controls, text
from pages._ui.metric import Metric

contest, epsilon = page_controls.compare_setting()
data = compute.dataset(contest.model.dataset)
scale = comparing_tables.scale_of(data)
nonprivate = compute.nonprivate(contest.model)
target = page_controls.target(nonprivate, scale)


def shown(value: float) -> str:
    return f"{text.number(scale.show(value))} {scale.short}"


curves, needs = {}, {}
for name in comparing.CONTENDERS:
    curves[name] = compute.curve(contest, name)
    needs[name] = compute.needed(contest, name, target)
ranking = comparing_tables.ranking(curves, epsilon)
best, runner_up = ranking[0], ranking[1]
published = comparing_tables.error_of(curves, "Cloaking as published", epsilon)

frame.heading(
    "Which mechanism costs least here?",
    f"At ε = {epsilon:g}, **{best.name}** has the least held-out error, about **{shown(best.error)}**; next is "
    f"{runner_up.name} with {shown(runner_up.error)}. Without privacy it is {shown(nonprivate)}. "
    f"{comparing_tables.reachable(needs, contest, shown(target))}",
)
frame.overlay_banner("All errors here are held-out errors against the true data.")
frame.metrics(
    [
        Metric("Least error", shown(best.error), best.name),
        Metric(
            "As published",
            shown(comparing_tables.error_of(curves, "Cloaking as published", epsilon)),
            f"ε = {epsilon:g}",
        ),
        Metric("Without privacy", shown(nonprivate), "not private"),
        Metric("ε for the target", comparing_tables.least_epsilon(needs, contest), f"error at most {shown(target)}"),
    ]
)
frame.chart(
    compute.drawn(comparing_figures.errors, curves, nonprivate, epsilon, target, scale, of=contest),
    "compare_errors",
    "Expected held-out error of each mechanism against ε; bands hold 80 % of draws. All protect outputs only but the "
    "sparse DP-GP, which protects inputs too. The bins are pure ε-DP (δ = 0), the others have the δ of the sidebar; "
    "the published form is no promise above ε = 1.",
)
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(comparing_tables.table(curves, contest, epsilon, scale, needs), "compare", comparing_tables.TABLE_NOTE)
with how:
    frame.steps(comparing_tables.EXPLANATION)
with lesson:
    frame.lessons(
        "compare",
        [
            ("Strong privacy: do the bins catch up?", {"epsilon": 0.2}),
            ("The number of bins decides how good they are, and choosing it is not free.", {"bins": 30}),
            ("Two inputs: age and weight.", {"compare_dataset": "kung_2d"}),
            ("Prices in London.", {"compare_dataset": "london_hexes", "bins": 6}),
        ],
    )
for name in dict.fromkeys((best.name, "Integral bins", "Sparse DP-GP (inputs too)")):
    with st.expander(f"What the guarantee of “{name}” says", expanded=name == best.name):
        frame.guarantee_card(comparing_tables.guarantee(contest, name, epsilon, data.unit))
frame.state_link()
