import streamlit as st

from pages._ui import menu
from pages._ui.look import frame, glossary, pictures
from pages._ui.start import arriving, brief, controls, decision, deployments, meaning, overview, words
from pages._ui.tour import walk
from pages._ui.work import cached

chosen = controls.decision()
draw, prior, family = chosen.draw, chosen.prior, chosen.family
moved = decision.moved(draw, prior, family)
beliefs = cached.value("Working out beliefs", decision.along, draw.delta, prior, family)
attack = meaning.best_attack(draw, prior, family)
data = cached.dataset(chosen.contest.model.dataset)

frame.heading("What does a privacy budget promise one person?", words.answer(draw, moved))
st.caption(words.first(data))
left, errors = st.columns(2)
with left:
    pictures.chart(cached.drawn(decision.beliefs_figure, beliefs, draw.epsilon), "beliefs", words.BELIEFS_ALT)
advice = st.container()
frame.metrics(words.metrics(draw, attack, moved))
with st.container(horizontal=True):
    printed = st.container(width="content")
    walk.invitation()
overview.colours()
left, right = st.columns([3, 2])
with left:
    st.header("Everything that the noise promises")
    caption = f"{meaning.TRADEOFF_ALT} {meaning.FAMILY_NOTES[family]}"
    pictures.chart(cached.drawn(meaning.tradeoff_figure, draw, family), "tradeoff", caption)
with right:
    st.header("What is protected, and from whom")
    st.markdown(meaning.WHO)
    st.header("Epsilon and delta")
    st.markdown(meaning.WHAT)
    with (
        st.container(key=glossary.ANCHOR),
        st.expander("Words used on these pages", icon=":material/menu_book:"),
    ):
        st.markdown(glossary.listed())
st.header("Where others have set it")
pictures.chart(cached.drawn(deployments.strip, draw.epsilon), "deployments", deployments.NOTE)
st.header("What you can explore")
overview.page_cards(menu.cards())
decided, values, others, lesson = st.tabs(["Table", "The best attacker", "Published budgets", "Try this"])
with values:
    frame.table(meaning.table(draw, prior, family), "attacker", "The best attacker's success at common budgets.")
with others:
    frame.table(deployments.table(), "published_budgets", deployments.NOTE)
with lesson:
    frame.lessons("start", meaning.LESSONS)
frame.guarantee_card(attack.guarantee, words.CARD_NOTE)

# Last, as errors take longest where they are not in the cache: all the rest can be read meanwhile.
with errors:
    cost = arriving.cost(chosen, data) if chosen.overlay else None
    if cost:
        figure = cached.drawn(decision.errors_figure, cost, draw.epsilon, of=chosen)
        pictures.chart(figure, "errors", words.errors_alt(data))
    else:
        st.info("Errors need the true data: switch the educational overlay on in the sidebar to see them.")
with advice:
    if cost:
        frame.overlay_banner()
        st.markdown(decision.recommendation(draw, moved, cost))
with printed:
    page = words.brief(chosen, data, moved, cost, frame.here())
    st.download_button(
        "One-page brief", brief.written(page, cost, draw.epsilon), "privacy-brief.html", "text/html",
        icon=":material/print:", help="An HTML file that prints on one A4 page: setting, figure, promise, QR code.",
    )  # fmt: skip
with decided:
    frame.table(decision.table(beliefs, cost), "decision", words.TABLE_NOTE)
frame.state_link()
