"""What a page under AppTest shows: traces, maps, words."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def traces(app: AppTest, chart: int = 0) -> dict[str, dict[str, Any]]:
    """The traces of the n-th plotly chart, by name."""
    spec = json.loads(app.get("plotly_chart")[chart].proto.spec)
    return {trace.get("name", str(i)): trace for i, trace in enumerate(spec["data"])}


def numbers(values: Any) -> np.ndarray:
    """An array of a chart, which plotly may have packed."""
    if not isinstance(values, dict):
        return np.array(values, dtype=float)
    found = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return found.reshape([int(each) for each in values["shape"].split(",")]) if "shape" in values else found


def deck(app: AppTest, chart: int = 0) -> dict[str, Any]:
    """The n-th pydeck map's JSON."""
    return json.loads(app.get("deck_gl_json_chart")[chart].proto.json)


def page_text(app: AppTest) -> str:
    """All plain text and HTML of the page."""
    return "\n".join(element.value for element in app.markdown) + "\n".join(
        str(element.proto.body) for element in app.get("html")
    )


def said(app: AppTest) -> list[str]:
    """Every piece of text of a page: sentences, figures, names of tabs, controls and charts, and their help."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning, app.success)
    found = [each.value for kind in kinds for each in kind]
    found += [str(each.proto.body) for each in app.get("html")]
    found += [str(part) for each in app.metric for part in (each.label, each.value, each.delta, each.proto.help)]
    found += [each.proto.help for each in app.markdown]
    found += [each.label for each in (*app.tabs, *app.expander)]
    for kind in (app.selectbox, app.select_slider, app.slider, app.toggle, app.number_input, app.button):
        found += [part for each in kind for part in (each.label, each.help)]
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        layout = spec["layout"]
        found += [trace.get("name", "") for trace in spec["data"]]
        found += [layout.get(axis, {}).get("title", {}).get("text", "") for axis in ("xaxis", "yaxis")]
        found += [note.get("text", "") for note in layout.get("annotations", ())]
    found += [str(column) for table in app.dataframe for column in table.value.columns]
    return [each for each in found if each]
