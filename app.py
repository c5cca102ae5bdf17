"""The dashboard: `make app`, or `streamlit run app.py`."""

import sys

from pages._ui.work.engine import cap_threads

cap_threads()  # before numpy is imported: one BLAS thread a session, or a few users fight over the cores

from pages._ui import environment  # noqa: E402
from pages._ui.ledgers import state  # noqa: E402

if wrong := environment.problems() or state.problems():
    sys.exit("\n".join(wrong))

import streamlit as st  # noqa: E402

from pages._ui.serve import forgetting, http  # noqa: E402
from pages._ui.serve.startup import lifespan  # noqa: E402

forgetting.keep_off_the_disk()
forgetting.give_back_large_blocks()
forgetting.bind_to_browsers()
http.drain_on_signal()
app = st.App("pages/_ui/main.py", lifespan=lifespan, routes=http.ROUTES, middleware=http.MIDDLEWARE)
