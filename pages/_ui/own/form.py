"""What a visitor declares about an own table: the form. Nothing is filled in from the table but its column names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.mechanisms.catalogue import IF_INPUTS_ARE_PUBLIC
from dpgp_core.reading.writing import Writing
from dpgp_core.release import CHOICES, KERNEL_NAMES, ReleaseSpec
from pages._ui import session
from pages._ui.look import settings
from pages._ui.look.controls import HERE, Number
from pages._ui.look.text import DELTA_HELP, GROWTH, plain
from pages._ui.own import columns, outcome, table_form
from pages._ui.own.slots import PREFIX, keep, key, value_of
from pages._ui.own.upload import Table

_UNUSED_NOISE = 0.3
_MECHANISM_HELP = (
    "The first hides inputs and outputs. It is right wherever inputs are private. Where they are public, for example "
    "places of weather stations, the second hides outputs alone with less noise. The card says which one was used."
)
_MISSING = "Still to declare: {}."


def declared(held: Table, ledger: Ledger) -> ReleaseSpec | None:
    """The whole form; None, with a sentence on the page, while something is missing or out of range.

    Args:
        held: the table, of which the names of columns are used, and what each of them can be read as.
        ledger: its total is declared here until it is fixed; unless it treats inputs as public, what protects them is
            recommended.
    """
    st.header("2. Say what is public")
    st.markdown(
        "Say what you knew **before** you saw the table. Nothing below is filled in from its values: a bound that is "
        "read off private values tells something about them."
    )
    values = table_form.columns_of(held)
    x, y = values["x"] or [], values["y"]
    values |= outcome.whose_asked(held.columns, [*x, y], held.survey)
    offered = _offered(ledger.inputs_public, people=values["person"] is not None, levels=bool(values["levels"]))
    values |= table_form.outcome(y, held, values["numbers"])
    used = [name for name in (*x, y, values["person"]) if name is not None]
    free = y if values["y_kind"] == "yes/no" and values["yes"] is not None else None
    values |= columns.written_missing(used, held, values["numbers"], free, values["formats"])
    values |= table_form.outputs(values["y_kind"], values["y"]) | columns.degrees_asked(
        [name for name in x if name not in {*values["formats"], *values["levels"]}]
    )
    values |= table_form.inputs(
        x, values["coordinates"] or (), values["formats"], values["levels"], automatic=_is_automatic()
    )
    st.header("3. Choose a mechanism and a budget")
    if values["levels"]:
        st.caption(columns.ONLY_BAYES)
    values |= _model(offered) | _budget(ledger.limit)
    values["centiles"] = _centiles(values)
    values["tolerance"] = _tolerance(
        "share of yes, 0 to 1" if values["y_kind"] == "yes/no" else values["y_unit"], values["log"]
    )
    keep()
    return _spec(values, held.writing)


def _is_automatic() -> bool:
    """Whether the mechanism, which is chosen further down, makes its models itself."""
    first = next(iter(CHOICES.values()))
    return next((choice for choice in CHOICES.values() if choice.title == value_of("mechanism")), first).kind.automatic


def _offered(inputs_public: bool, *, people: bool, levels: bool) -> dict[str, str]:
    """Names of mechanisms by title, the recommended one first.

    Where people have several rows, those that hide all; where there are groups, those that take them.

    One that stands chosen and is not offered gives way, before what depends on it is drawn.
    """
    fit = {
        name: choice
        for name, choice in CHOICES.items()
        if (choice.kind.people or not people) and (choice.kind.levels or not levels)
    }
    titles = {choice.title: name for name, choice in fit.items()}
    recommended = CHOICES[IF_INPUTS_ARE_PUBLIC].title if inputs_public else next(iter(titles))
    held = key("mechanism", recommended)
    if session.control(held) not in titles:
        session.move({held: recommended})
    return titles


def _model(titles: Mapping[str, str]) -> dict[str, Any]:
    """The mechanism and its settings."""
    left, middle, right = st.columns([2, 1, 1])
    mechanism = titles[left.selectbox("Mechanism", list(titles), key=key("mechanism"), help=_MECHANISM_HELP)]
    choice = CHOICES[mechanism]
    if choice.kind.automatic:
        middle.text_input(
            "Model",
            "automatic",
            disabled=True,
            help="Several lengthscales and noises, made from domain and bounds, are averaged by how well they explain "
            "the released numbers. Any other model can be tried after the release, at no budget.",
        )
        return {"mechanism": mechanism, "kernel": choice.kind.kernel_names[0], "noise": _UNUSED_NOISE, "cells": None}
    kernels = [name for name in KERNEL_NAMES if name in choice.kind.kernel_names]
    if session.control(f"{PREFIX}kernel") not in kernels:
        session.move({f"{PREFIX}kernel": kernels[0]})
    kernel = middle.selectbox("Kernel", kernels, key=key("kernel", kernels[0]))
    noise = right.number_input(
        "Spread of people",
        min_value=0.001,
        max_value=100.0,
        key=key("noise", 0.3),
        help="Variance of people about the curve, as a share of the curve's own variance: a public guess, for example "
        "0.3.",
    )
    cells = None
    if choice.kind.uses_cells:
        cells = int(
            left.number_input(
                "Cells along each input",
                1,
                400,
                key=key("cells", 6),
                help="How finely the mechanism divides the domain, for example 6. Finer cells show more and need more "
                "people.",
            )
        )
    return {"mechanism": mechanism, "kernel": kernel, "noise": noise, "cells": cells}


def _budget(limit: Budget | None) -> dict[str, Any]:
    row = st.columns(3)
    epsilon = row[0].number_input(
        "ε of this release",
        min_value=0.001,
        max_value=100.0,
        key=key("epsilon", 1.0),
        help=f"{GROWTH.capitalize()}.",
    )
    delta = row[1].number_input(
        "δ",
        min_value=1e-12,
        max_value=0.1,
        format="%.1e",
        key=key("delta", 1e-5),
        help=DELTA_HELP,
    )
    if limit is not None:
        row[2].metric("Total ε, declared", f"{limit.epsilon:g}")
        return {"epsilon": epsilon, "delta": delta, "total": limit.epsilon}
    declared_total = row[2].number_input(
        "Total ε for all releases",
        min_value=0.001,
        max_value=1000.0,
        value=None,
        key=key("total"),
        help="All releases from this table together, for example 2. It is fixed by the first release, and one that "
        "would pass it is refused.",
    )
    return {"epsilon": epsilon, "delta": delta, "total": declared_total}


def _centiles(values: dict[str, Any]) -> bool:
    """Offered where how far people are apart is measured anyway; a rate has none."""
    if not CHOICES[values["mechanism"]].kind.scatter or values["y_kind"] == "yes/no":
        return False
    return st.checkbox(
        "Publish centiles too: how people are spread about the curve, as in a growth chart",
        key=key("centiles", False),
        help="The values that 3, 15, 50, 85 and 97 in 100 further people stay below, if the model is right. They are "
        "computed from what is measured anyway, so they cost nothing more.",
    )


def _tolerance(unit: str, log: bool) -> float | None:
    """In the link, unlike what is declared about the table: a number that is nobody's, and changes no release."""
    within = "a factor" if log else f"± [{plain(unit.strip()) or 'y'}]"
    asked = Number(
        "tolerance",
        f"Precision you need (optional), {within}",
        low=0.0,
        help="A value is of use if the curve is known to within this with 95 % probability. Where it is not, the next "
        "release greys it and marks it in the file. It changes nothing else, and costs nothing.",
        place=HERE,
    )
    return settings.stand(asked)


def _spec(values: dict[str, Any], writing: Writing) -> ReleaseSpec | None:
    gaps = {
        "the private column": not values["y"],
        "an input column": not values["x"],
        "whether somebody can have more than one row": not values["whose"],
        **columns.groups_missing(values),
        **outcome.missing(values),
        **_without_domain(values),
        "which word means yes, and which no": not values["words_declared"],
        "whether rows that lack a value are left out": not values["gaps_declared"],
        "a lengthscale for every input": None in values["length"],
        "the total ε": values["total"] is None,
    }
    missing = [name for name, gap in gaps.items() if gap]
    if missing:
        st.info(_MISSING.format(", ".join(missing)), icon=":material/edit_note:")
        return None
    if not (values["readable"] and values["inputs_readable"]):
        return None
    pure = CHOICES[values["mechanism"]].kind.pure
    order = next(iter(values["formats"].values()), None)
    yes, no = (None if values[name] is None else (values[name],) for name in ("yes", "no"))
    try:
        return ReleaseSpec(
            writing=replace(
                writing, numbers=values["numbers"], missing=values["missing"], date_order=order, yes=yes, no=no
            ),
            x=tuple(values["x"]),
            x_units=tuple(values["x_unit"]),
            x_box=tuple(values["box"]),
            y=values["y"],
            y_unit=values["y_unit"],
            **columns.declared(values),
            **outcome.declared(values),
            unit=values["unit"].strip() or table_form.usual_unit(values["y"]),
            epsilon=values["epsilon"],
            delta=0.0 if pure else values["delta"],
            total_epsilon=values["total"],
            total_delta=values["delta"],
            lengthscale=tuple(values["length"]),
            noise_variance=values["noise"],
            mechanism=values["mechanism"],
            kernel=values["kernel"],
            grid=tuple(values["grid"]),
            cells=values["cells"],
            tolerance=values["tolerance"],
            log=values["log"],
            coordinates=values["coordinates"],
            dates=values["dates"],
            y_kind=values["y_kind"],
            person=values["person"],
            rows_per_person=values["rows_per_person"],
            centiles=values["centiles"],
        )
    except ValueError as error:
        st.error(plain(f"{error}."))
        return None


def _without_domain(values: dict[str, Any]) -> dict[str, bool]:
    """Inputs whose ends are still to declare, by what their controls are called."""
    numbers = [name for name in values["x"] or [] if name not in values["levels"]]
    return {f"{plain(name)} from and to": None in pair for name, pair in zip(numbers, values["box"], strict=False)}
