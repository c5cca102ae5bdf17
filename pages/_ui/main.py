"""Entry script: the frame around every page."""

from pathlib import Path

import streamlit as st

from pages._ui.look import address
from pages._ui.tour import walk
from pages._ui.work import waiting

st.set_page_config(
    page_title="What privacy costs a Gaussian process",
    page_icon=str(Path(__file__).with_name("icon.png")),  # a local file: named icons are fetched from elsewhere
    layout="wide",
)

PAGES = [
    st.Page("../start.py", title="Start", icon=":material/home:", default=True),
    st.Page("../kung_curves.py", title="!Kung curves", icon=":material/show_chart:"),
    st.Page("../london_noise_map.py", title="London noise map", icon=":material/map:"),
    st.Page("../excursion_sets.py", title="Excursion sets", icon=":material/landscape:"),
    st.Page("../lengthscale_choice.py", title="Lengthscale choice", icon=":material/straighten:"),
    st.Page("../compare.py", title="Compare", icon=":material/balance:"),
    st.Page("../sparse_dp_gp.py", title="Sparse DP-GP", icon=":material/scatter_plot:"),
    st.Page("../attack.py", title="Attack", icon=":material/visibility:"),
    st.Page("../your_data.py", title="Your data & release", icon=":material/upload_file:"),
    st.Page("../how_cloaking_works.py", title="How cloaking works", icon=":material/visibility_off:"),
]

page = st.navigation(PAGES)
# Streamlit's menu drops the address's parameters; put them back, so that the state goes along from page to page.
carried = st.session_state.get("carried", {})
moved = st.session_state.get("page", page.url_path) != page.url_path
asked = address.asked()
wanted = address.usable(carried if moved and not asked else asked)
if moved and asked:
    wanted = address.usable(walk.arrive(page.url_path, asked))
if wanted != asked or address.repeated():
    st.session_state["page"] = page.url_path
    address.remember()
    st.switch_page(page, query_params=wanted)
waiting.reserve()
with address.explained(), walk.banner(page.url_path):
    page.run()
st.session_state["page"] = page.url_path
# A control of this page that is absent from the address stands at its default: forget what was carried for it.
elsewhere = {key: value for key, value in st.session_state.get("carried", {}).items() if key not in st.session_state}
st.session_state["carried"] = elsewhere | st.query_params.to_dict()
