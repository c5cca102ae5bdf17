import streamlit as st

from pages._ui import menu
from pages._ui.look import frame, glossary, sidebar, text
from pages._ui.look.metric import Metric
from pages._ui.start import controls, deployments, meaning
from pages._ui.tour import walk
from pages._ui.work import cached

draw = sidebar.privacy()
prior, family = controls.prior(), controls.family()
attack = meaning.best_attack(draw, prior, family)
delta = attack.guarantee.budget.delta

frame.heading(
    "What does a privacy budget promise one person?",
    f"At ε = {draw.epsilon:g} and δ = {text.small(delta)}, the best possible attacker, who gives one fact about you a "
    f"{text.percent(prior)} chance beforehand, judges it right **{text.percent(attack.after)}** of the time after "
    f"seeing the release, and {text.percent(attack.before)} without it.",
)
walk.invitation()
frame.metrics(
    [
        Metric("Attacker right, after", text.percent(attack.after), f"before {text.percent(attack.before)}"),
        Metric("A probability may grow by", f"× {text.growth(draw.epsilon)}", f"exp(ε), ε = {draw.epsilon:g}"),
        Metric("and beyond that by", text.at_most(delta) if delta else "nothing", f"δ = {text.small(delta)}"),
        Metric(
            "Noise ÷ one person's reach",
            "any" if attack.noise is None else f"{text.number(attack.noise)} ×",
            "standard deviations",
        ),
    ]
)
left, right = st.columns([3, 2])
with left:
    caption = f"{meaning.TRADEOFF_ALT} {meaning.FAMILY_NOTES[family]}"
    frame.chart(cached.drawn(meaning.tradeoff_figure, draw, family), "tradeoff", caption)
with right:
    st.header("What is protected, and from whom")
    st.markdown(meaning.WHO)
    st.header("Epsilon and delta")
    st.markdown(meaning.WHAT)
    with st.expander("Words used on these pages", icon=":material/menu_book:"):
        st.markdown(glossary.listed())
st.header("Where others have set it")
frame.chart(cached.drawn(deployments.strip, draw.epsilon), "deployments", deployments.NOTE)
st.header("What you can explore")
frame.page_cards(menu.cards())
values, others, lesson = st.tabs(["Table", "Published budgets", "Try this"])
with values:
    frame.table(meaning.table(draw, prior, family), "attacker", "The best attacker's success at common budgets.")
with others:
    frame.table(deployments.table(), "published_budgets", deployments.NOTE)
with lesson:
    frame.lessons("start", meaning.LESSONS)
frame.guarantee_card(attack.guarantee, "This page shows no data: it is about the promise itself.")
frame.state_link()
