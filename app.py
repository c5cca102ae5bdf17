"""The dashboard: `make app`, or `streamlit run app.py`."""

import os

# Before numpy is imported: one BLAS thread a session, or a few users fight over the cores.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import streamlit as st  # noqa: E402

from pages._ui.serve import http, origin  # noqa: E402
from pages._ui.serve.startup import lifespan  # noqa: E402

origin.never_ask_outside()
http.drain_on_signal()
app = st.App("pages/_ui/main.py", lifespan=lifespan, routes=http.ROUTES, middleware=http.MIDDLEWARE)
