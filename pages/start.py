import streamlit as st

from pages._ui import controls, figures, frame, meaning, page_controls, text
from pages._ui.metric import Metric

draw = controls.privacy(draws=False)
prior = page_controls.prior()
odds = meaning.odds_of_attack(draw, prior)

frame.heading(
    "What does a privacy budget promise one person?",
    f"At ε = {draw.epsilon:g} and δ = {draw.delta:g}, the best possible attacker, who gives one fact about you a "
    f"{text.percent(prior)} chance beforehand, judges it right **{text.percent(odds.after)}** of the time after "
    f"seeing the release, and {text.percent(odds.before)} without it.",
)
frame.metrics(
    [
        Metric("Attacker right, after", text.percent(odds.after), f"before {text.percent(odds.before)}"),
        Metric("Odds may change by", text.odds(draw.epsilon), f"exp(ε), ε = {draw.epsilon:g}"),
        Metric("Exempt from that", f"1 in {1 / draw.delta:,.0f}", f"δ = {draw.delta:g}"),
        Metric("Noise ÷ one person's reach", f"{text.number(odds.multiplier)} ×", "standard deviations"),
    ]
)
left, right = st.columns([3, 2])
with left:
    frame.chart(figures.tradeoff(draw.epsilon, draw.delta, 1 / odds.multiplier), "tradeoff", meaning.TRADEOFF_ALT)
with right:
    st.subheader("What is protected, and from whom")
    st.markdown(meaning.WHO)
    st.subheader("Epsilon and delta")
    st.markdown(meaning.WHAT)
st.header("What you can explore")
frame.page_cards(meaning.PAGES)
values, lesson = st.tabs(["Table", "Try this"])
with values:
    frame.table(meaning.table(draw, prior), "attacker", "The best attacker's success at common budgets.")
with lesson:
    frame.lessons("start", meaning.LESSONS)
frame.guarantee_card(odds.guarantee, "This page shows no data: it is about the promise itself.")
frame.state_link()
