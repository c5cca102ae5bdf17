"""Entry script: what surrounds every page."""

from pathlib import Path

import streamlit as st

from pages._ui import menu, session, tour
from pages._ui.look import address, layout, pictures, settings
from pages._ui.work import waiting

TITLE = "What privacy costs a Gaussian process"
st.set_page_config(
    page_title=TITLE,
    # A local file, because named icons are fetched from other servers
    page_icon=str(Path(__file__).with_name("icon.png")),
    layout="wide",
    initial_sidebar_state="collapsed" if settings.is_lesson() else "auto",
)

page = st.navigation(
    {
        section: [
            st.Page(row.path, title=row.title, icon=f":material/{row.icon}:", default=row is menu.PAGES[0])
            for row in rows
        ]
        for section, rows in menu.sections().items()
    },
    position="top",
)
st.set_page_config(page_title=f"{page.title}: {TITLE}")  # for tabs and screen readers
st.html(Path(__file__).parent / "look" / "page.css")
if settings.is_lesson():
    st.html(Path(__file__).parent / "look" / "lesson.css")
with st.container(key="page_script"):
    above = "".join(f"/{part}" for part in str(st.get_option("server.baseUrlPath") or "").split("/") if part)
    st.html(f'<script src="{above}/page.js"></script>', unsafe_allow_javascript=True)
# Streamlit's menu drops the address's parameters; put them back, so that the state is carried from page to page.
carried = session.CARRIED.get({})
moved = session.PAGE.get(page.url_path) != page.url_path
if moved:
    session.UNEXPLAINED.pop()
parameters = address.parameters()
wanted = address.usable(carried if moved and not parameters else parameters, menu.TITLES)
if moved and parameters:
    wanted = address.usable(tour.arrive(page.url_path, parameters), menu.TITLES)
if wanted != parameters or address.has_repeated():
    session.PAGE.put(page.url_path)
    session.REQUESTED.put(parameters)  # the parameters as they were, before they were made usable
    st.switch_page(page, query_params=wanted)
session.PAGE.put(page.url_path)
waiting.reserve()
settings.begin()
layout.begin()
with waiting.making(), address.explained(), tour.banner(page.url_path):
    page.run()
    pictures.finish()
# A control of this page that is absent from the address is at its default: forget the value kept from another page.
elsewhere = {key: value for key, value in session.CARRIED.get({}).items() if not settings.has_control(key)}
session.CARRIED.put(elsewhere | st.query_params.to_dict())
waiting.finish()
