"""What a visitor declares about an own table: the form. Nothing is filled in from the table but its column names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.mechanisms.catalogue import IF_INPUTS_ARE_PUBLIC
from dpgp_core.release import CHOICES, KERNEL_NAMES, ReleaseSpec
from pages._ui import session
from pages._ui.look import state
from pages._ui.look.text import DELTA_HELP, GROWTH, plain
from pages._ui.own.upload import PRACTICE

MOST_INPUTS = 3  # offered in the form; the command line takes ten
_GRIDS = (51, 20, 9)  # points along each input, for one, two or three inputs
_PREFIX = "own_f_"  # of the keys of the form's controls
_UNUSED_NOISE = 0.3
_MECHANISM_HELP = (
    "The first protects inputs and outputs of a record, and is right wherever inputs are not plainly public. Where "
    "they are, the second protects outputs alone and needs less noise. Which one a release used stands on its card."
)
_MISSING = "Still to declare: {}."


def declared(columns: Sequence[str], total: float | None, inputs_public: bool) -> ReleaseSpec | None:
    """The whole form; None, with a sentence on the page, while something is missing or out of range.

    Args:
        columns: names in the file's header.
        total: total epsilon of the ledger once it is fixed; None while it may still be declared.
        inputs_public: whether the ledger treats inputs as public; unless it does, what protects them is recommended.
    """
    st.header("2. Declare what is public")
    st.markdown(
        "Nothing below is read off your table: a bound or a scale computed from private values would itself be a "
        "release. Declare what you would know **without** having seen the data."
    )
    values = _columns(columns)
    values |= _outputs() | _coordinates(values["x"] or [])
    values |= _inputs(values["x"] or [], values["coordinates"])
    st.header("3. Choose a mechanism and a budget")
    values |= _model(inputs_public) | _budget(total)
    values["tolerance"] = _tolerance(values["y_unit"], values["log"])
    keep()
    return _spec(values)


def keep() -> None:
    """Remember what was declared: streamlit forgets controls that are off screen."""
    session.OWN_FORM.put(session.OWN_FORM.get({}) | session.controls(_PREFIX))


def practise() -> None:
    """Fill in the form for the practice table."""
    forget()
    session.move({f"{_PREFIX}{key}": value for key, value in PRACTICE.items()})
    keep()


def forget() -> None:
    """Empty the form."""
    session.forget(session.controls(_PREFIX))
    session.OWN_FORM.pop()


def _key(name: str, default: Any = None) -> str:
    """The control's key, with what was declared before put back if streamlit forgot it."""
    key = f"{_PREFIX}{name}"
    if key not in session.controls(_PREFIX):
        session.move({key: session.OWN_FORM.get({}).get(key, default)})
    return key


def _columns(columns: Sequence[str]) -> dict[str, Any]:
    left, right = st.columns(2)
    y = left.selectbox(
        "Private column: the output y",
        columns,
        index=None,
        key=_key("y"),
        help="The value that is to be protected, for example a height or a price. Numbers only.",
    )
    x = right.multiselect(
        "Inputs x",
        [name for name in columns if name != y],
        key=_key("x", []),
        max_selections=MOST_INPUTS,
        help="What the curve or surface runs over, for example age. Public, unless the mechanism protects inputs too.",
    )
    return {"y": y, "x": x}


def _outputs() -> dict[str, Any]:
    row = st.columns([2, 1, 1, 1])
    unit = row[0].text_input(
        "One row is about …",
        key=_key("unit", ""),
        placeholder="one person's height",
        help="The unit of privacy. Each person must appear in one row only: someone in three rows is protected a third "
        "as well.",
    )
    y_unit = row[1].text_input("Unit of y", key=_key("y_unit", ""), placeholder="cm")
    low = row[2].number_input(
        "y is at least",
        value=None,
        key=_key("low"),
        help="Public lower bound. Values below it are clipped; a narrow range needs less noise.",
    )
    high = row[3].number_input("y is at most", value=None, key=_key("high"), help="Public upper bound.")
    log = st.checkbox(
        "Measure the logarithm of y: for prices, incomes and the like",
        key=_key("log", False),
        help="Errors are then factors, the same for cheap and dear. The bounds stay as they are and must lie above 0; "
        "released values come back as they are, as medians. It costs no privacy: it changes each row by itself.",
    )
    return {"unit": unit, "y_unit": y_unit, "low": low, "high": high, "log": log}


def _coordinates(x: Sequence[str]) -> dict[str, Any]:
    """Whether two inputs are degrees: the first two."""
    if len(x) < 2:
        return {"coordinates": None}
    longitude, latitude = x[:2]
    are = st.checkbox(
        f"{plain(longitude)} is longitude and {plain(latitude)} latitude, in degrees",
        key=_key("degrees", False),
        help="Distances and lengthscales are then in kilometres (equirectangular about the middle of the domain, which "
        "stays in degrees); the card says how far off they are. If it is the other way round, choose them in order.",
    )
    return {"coordinates": (longitude, latitude) if are else None}


def _inputs(x: Sequence[str], coordinates: tuple[str, str] | None) -> dict[str, Any]:
    """Box, unit, lengthscale and grid of every input."""
    found: dict[str, list[Any]] = {"x_unit": [], "box": [], "length": [], "grid": []}
    for name in x:
        row = st.columns([1, 1, 1, 1, 1])
        shown, unit = plain(name), " [km]" if name in (coordinates or ()) else ""
        found["x_unit"].append(row[0].text_input(f"Unit of {shown}", key=_key(f"x_unit_{name}", "")))
        low = row[1].number_input(
            f"{shown} from", value=None, key=_key(f"box_low_{name}"), help="Public: the domain, not the data's range."
        )
        high = row[2].number_input(
            f"{shown} to",
            value=None,
            key=_key(f"box_high_{name}"),
            help="Rows outside are refused, or moved to its edge where inputs are private too.",
        )
        found["box"].append((low, high))
        found["length"].append(_unused_length(low, high) if _is_automatic() else _length(row[3], name, unit))
        default = _GRIDS[min(len(x), len(_GRIDS)) - 1]
        grid = row[4].number_input(
            "Points",
            2,
            2000,
            key=_key(f"grid_{name}", default),
            help="Predictions are released on a regular grid over the domain, never at anyone's own position.",
        )
        found["grid"].append(int(grid))
    return found


def _length(column: DeltaGenerator, name: str, unit: str) -> float | None:
    value: float | None = column.number_input(
        f"Lengthscale{unit}",
        value=None,
        key=_key(f"length_{name}"),
        help=f"Over what distance in {plain(name)} the curve can change. Longer needs less noise. Choosing it by "
        "looking at results is not covered by the guarantee.",
    )
    return value


def _is_automatic() -> bool:
    """Whether the mechanism, which is chosen further down, makes its models itself."""
    standing = session.control(f"{_PREFIX}mechanism") or session.OWN_FORM.get({}).get(f"{_PREFIX}mechanism")
    first = next(iter(CHOICES.values()))
    return next((choice for choice in CHOICES.values() if choice.title == standing), first).automatic


def _unused_length(low: float | None, high: float | None) -> float | None:
    """A specification has a lengthscale also where the mechanism does not read it."""
    return (high - low) / 4 if low is not None and high is not None and high > low else 1.0


def _model(inputs_public: bool) -> dict[str, Any]:
    left, middle, right = st.columns([2, 1, 1])
    titles = {choice.title: name for name, choice in CHOICES.items()}  # the recommended one first
    recommended = CHOICES[IF_INPUTS_ARE_PUBLIC].title if inputs_public else next(iter(titles))
    mechanism = titles[
        left.selectbox("Mechanism", list(titles), key=_key("mechanism", recommended), help=_MECHANISM_HELP)
    ]
    choice = CHOICES[mechanism]
    if choice.automatic:
        middle.text_input(
            "Model",
            "automatic",
            disabled=True,
            help="Several lengthscales and noises, made from domain and bounds, are averaged by how well they explain "
            "the released numbers. Any other model can be tried after the release, at no budget.",
        )
        return {"mechanism": mechanism, "kernel": choice.kernels[0], "noise": _UNUSED_NOISE, "cells": None}
    kernels = [name for name in KERNEL_NAMES if name in choice.kernels]
    if session.control(f"{_PREFIX}kernel") not in kernels:
        session.move({f"{_PREFIX}kernel": kernels[0]})
    kernel = middle.selectbox("Kernel", kernels, key=_key("kernel", kernels[0]))
    noise = right.number_input(
        "Noise variance",
        min_value=0.001,
        max_value=100.0,
        key=_key("noise", 0.3),
        help="Of one record about the curve, as a share of the curve's own variance: a public guess.",
    )
    cells = None
    if choice.uses_cells:
        cells = int(
            left.number_input(
                "Cells along each input",
                1,
                400,
                key=_key("cells", 6),
                help="How finely the mechanism divides the domain.",
            )
        )
    return {"mechanism": mechanism, "kernel": kernel, "noise": noise, "cells": cells}


def _budget(total: float | None) -> dict[str, Any]:
    row = st.columns(3)
    epsilon = row[0].number_input(
        "ε of this release",
        min_value=0.001,
        max_value=100.0,
        key=_key("epsilon", 1.0),
        help=f"{GROWTH.capitalize()}.",
    )
    delta = row[1].number_input(
        "δ",
        min_value=1e-12,
        max_value=0.1,
        format="%.1e",
        key=_key("delta", 1e-5),
        help=DELTA_HELP,
    )
    if total is not None:
        row[2].metric("Total ε, declared", f"{total:g}")
        return {"epsilon": epsilon, "delta": delta, "total": total}
    declared_total = row[2].number_input(
        "Total ε for all releases",
        min_value=0.001,
        max_value=1000.0,
        value=None,
        key=_key("total"),
        help="Declared before the first release and fixed from then on. A release that would pass it is refused.",
    )
    return {"epsilon": epsilon, "delta": delta, "total": declared_total}


def _tolerance(unit: str, log: bool) -> float | None:
    """In the link, unlike what is declared about the table: a number that is nobody's, and changes no release."""
    within = "a factor of" if log else f"± [{plain(unit.strip()) or 'y'}]"
    value: float | None = st.number_input(
        f"Of use within {within}, if you wish to say",
        min_value=0.0,
        value=None,
        key="tolerance",
        bind="query-params",
        help="A value is of use if the curve is known to within this with 95 % probability. Where it is not, the next "
        "release greys it and marks it in the file. It changes nothing else, and costs nothing.",
    )
    state.note("tolerance", value, None)
    return value


def _spec(values: dict[str, Any]) -> ReleaseSpec | None:
    gaps = {
        "the private column": not values["y"],
        "an input column": not values["x"],
        "what one row is about": not values["unit"].strip(),
        "both bounds of y": None in (values["low"], values["high"]),
        "the domain of every input": any(None in pair for pair in values["box"]),
        "a lengthscale for every input": None in values["length"],
        "the total ε": values["total"] is None,
    }
    missing = [name for name, gap in gaps.items() if gap]
    if missing:
        st.info(_MISSING.format(", ".join(missing)), icon=":material/edit_note:")
        return None
    pure = CHOICES[values["mechanism"]].pure
    try:
        return ReleaseSpec(
            x=tuple(values["x"]),
            x_units=tuple(values["x_unit"]),
            x_box=tuple(values["box"]),
            y=values["y"],
            y_unit=values["y_unit"],
            y_bounds=(values["low"], values["high"]),
            unit=values["unit"].strip(),
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
        )
    except ValueError as error:
        st.error(plain(f"{error}."))
        return None
