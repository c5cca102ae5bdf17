import streamlit as st

from pages._ui.look import frame, glossary, sidebar, text
from pages._ui.look.metric import Metric
from pages._ui.start import controls, deployments, meaning
from pages._ui.tour import walk
from pages._ui.work import cached

draw = sidebar.privacy(draws=False)
prior, family = controls.prior(), controls.family()
odds = meaning.odds_of_attack(draw, prior, family)
delta = odds.guarantee.budget.delta

frame.heading(
    "What does a privacy budget promise one person?",
    f"At ε = {draw.epsilon:g} and δ = {delta:g}, the best possible attacker, who gives one fact about you a "
    f"{text.percent(prior)} chance beforehand, judges it right **{text.percent(odds.after)}** of the time after "
    f"seeing the release, and {text.percent(odds.before)} without it.",
)
walk.invitation()
frame.metrics(
    [
        Metric("Attacker right, after", text.percent(odds.after), f"before {text.percent(odds.before)}"),
        Metric("Odds may change by", text.odds(draw.epsilon), f"exp(ε), ε = {draw.epsilon:g}"),
        Metric("Exempt from that", f"1 in {1 / delta:,.0f}" if delta else "nothing", f"δ = {delta:g}"),
        Metric(
            "Noise ÷ one person's reach",
            "any" if odds.noise is None else f"{text.number(odds.noise)} ×",
            "standard deviations",
        ),
    ]
)
left, right = st.columns([3, 2])
with left:
    caption = f"{meaning.TRADEOFF_ALT} {meaning.FAMILY_NOTES[family]}"
    frame.chart(cached.drawn(meaning.tradeoff_figure, draw, family), "tradeoff", caption)
with right:
    st.subheader("What is protected, and from whom")
    st.markdown(meaning.WHO)
    st.subheader("Epsilon and delta")
    st.markdown(meaning.WHAT)
    with st.expander("Words used on these pages", icon=":material/menu_book:"):
        st.markdown(glossary.listed())
st.header("Where others have set it")
frame.chart(cached.drawn(deployments.strip, draw.epsilon), "deployments", deployments.NOTE)
st.header("What you can explore")
frame.page_cards(meaning.PAGES)
values, others, lesson = st.tabs(["Table", "Published budgets", "Try this"])
with values:
    frame.table(meaning.table(draw, prior, family), "attacker", "The best attacker's success at common budgets.")
with others:
    frame.table(deployments.table(), "published_budgets", deployments.NOTE)
with lesson:
    frame.lessons("start", meaning.LESSONS)
frame.guarantee_card(odds.guarantee, "This page shows no data: it is about the promise itself.")
frame.state_link()
