"""An input that holds groups: which ones there are, declared in one field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpgp_core.levels import Levels, checked_levels
from dpgp_core.reading.survey import Column
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

ONLY_BAYES = "Groups: only Bayes cloaking takes them, so the other mechanisms are not offered."
_CAPTION = (
    "For example: women, men. Name the groups that you knew before, as the table writes them, because which groups "
    "there are is published. A value that is none of them counts as *other* if you name a group other."
)


def asked(name: str, column: Column) -> tuple[Levels | None, str]:
    """The groups of an input, None while none are declared; and what is wrong with them, "" for nothing.

    Args:
        name: of the input.
        column: what it can be read as.
    """
    said = st.text_input(
        f"Groups of {plain(name)}", key=key(f"levels_{name}", ""), placeholder="women, men", max_chars=1000
    )
    st.caption(_CAPTION)
    texts = [text.strip() for text in said.split(",") if text.strip()]
    if not texts:
        return None, ""
    try:
        levels = checked_levels(name, texts)
    except ValueError as error:
        return None, str(error)
    return levels, column.as_levels(name, levels)


def missing(values: Mapping[str, Any]) -> dict[str, bool]:
    """What of it is still to declare, by name."""
    return {f"the groups of {plain(name)}": levels is None for name, levels in values["levels"].items()}


def declared(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a specification."""
    return {"x_levels": tuple(values["levels"].get(name) for name in values["x"]) if values["levels"] else None}
