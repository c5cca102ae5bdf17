"""What a page under AppTest shows: traces, maps, words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def traces(app: AppTest, chart: int = 0) -> dict[str, dict[str, Any]]:
    """The traces of the n-th plotly chart, by name."""
    spec = json.loads(app.get("plotly_chart")[chart].proto.spec)
    return {trace.get("name", str(i)): trace for i, trace in enumerate(spec["data"])}


def deck(app: AppTest, chart: int = 0) -> dict[str, Any]:
    """The n-th pydeck map's JSON."""
    return json.loads(app.get("deck_gl_json_chart")[chart].proto.json)


def page_text(app: AppTest) -> str:
    """All plain text and HTML of the page."""
    return "\n".join(element.value for element in app.markdown) + "\n".join(
        str(element.proto.body) for element in app.get("html")
    )
