"""A release as a zip: the values, a card that says what was promised, and a script that does it again."""

from __future__ import annotations

import io
import platform
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from .. import __version__
from ..accounting.gaussian import rounded_up
from ..accounting.guarantee import Guarantee
from ..accounting.ledger import Ledger
from ..accounting.losses import GaussianLoss
from ..accounting.tradeoff import budget_tradeoff, gaussian_tradeoff
from ..dates import shown
from .bought import FILE as BOUNDS
from .bought import as_released, bounds_object, counts_text
from .cells import csv_text, published_columns
from .declared.table import CENTILES
from .handout.figure import figure
from .handout.page import page
from .handout.script import SCRIPT
from .ledger_json import SCHEMA, guarantee_to_object, ledger_to_object
from .plan import LEVEL
from .publishing import Published, within_tolerance
from .specification import ReleaseSpec
from .specification_json import spec_to_object
from .statistic import digest, statistic_files
from .strict_json import write_object

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can hold: when it was made is nobody's business

COLUMNS = {
    "value": "released value at the inputs before it; of a curve of logarithms, the median",
    "curve_low_95": "lower end of the 95 % interval for the curve, if the model is right",
    "curve_high_95": "upper end of it",
    "output_low_95": "lower end of the 95 % interval for one further record's output, if the model is right",
    "output_high_95": "upper end of it",
    **{
        f"centile_{centile}": f"value that {centile} in 100 further records' outputs stay below, if the model is right"
        for centile in CENTILES
    },
    "within_tolerance": "1 where the value is of use, the curve being known as well as was declared; 0 where it is not",
}
_BLAMED = 0.05  # false alarms at which the trade-off is quoted
_LEAST_DELTA = 1e-12  # a pure promise holds at any
_NOISE = (
    "whole numbers plus discrete noise from the operating system's randomness, sampled exactly; nothing but the "
    "numbers measured was computed from private values, and everything else in this folder follows from them"
)


def bundle(
    published: Published,
    spec: ReleaseSpec,
    ledger: Ledger,
    sealed: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> bytes:
    """The zip to hand out: values, card for people and programs, figure, what was measured, and the script for them.

    It holds nothing computed from the outputs but what was measured with noise and what follows; no seed, no time.

    Args:
        published: from ``publish``.
        spec: what it was published with.
        ledger: what has been spent on the table so far, this release included.
        sealed: adds to the card what vouches for it, a signature for example.

    Raises:
        ValueError: the ledger does not count this release.
    """
    if published.guarantee not in [guarantee for _, guarantee in ledger.entries]:
        raise ValueError("the ledger does not count this release; spend spec.guarantee on it before publishing")
    columns = published_columns(published, spec)
    about, files = statistic_files(published.statistics, published.guarantee)
    card = release_card(published, spec, ledger, list(columns))
    picture = figure(published, as_released(published.bought, spec))
    files = {
        "values.csv": csv_text(columns).encode(),
        "card.html": page(card, picture).encode(),
        "figure.svg": picture.encode(),
    } | files
    if published.bought is not None:
        files[BOUNDS] = counts_text(published.bought).encode()
    card |= {
        "statistics": about,
        "sha256": {name: digest(content) for name, content in files.items()},
    }
    card = card if sealed is None else sealed(card)
    files |= {"release.json": write_object(card).encode(), "reproduce.py": SCRIPT.encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=_LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def release_card(published: Published, spec: ReleaseSpec, ledger: Ledger, columns: list[str]) -> dict[str, Any]:
    """The content of ``release.json``: all that is public about a release, and its accounting."""
    described = {name: COLUMNS[name] for name in columns if name in COLUMNS}
    inputs = {name: _input(spec, name, unit) for name, unit in zip(spec.x, spec.x_units, strict=True)}
    within = within_tolerance(published, spec)
    tolerance = {} if spec.tolerance is None else {"tolerance": spec.tolerance, "within_tolerance": int(within.sum())}
    degrees = spec.degrees
    projection = (
        {}
        if degrees is None
        else {
            "projection": {
                "kind": "equirectangular about the middle of the box",
                "km_in_a_degree": [round(each, 3) for each in degrees.kilometres],
                "east_west_error": float(rounded_up(degrees.error, 2)),
            }
        }
    )
    bought = {} if published.bought is None else {"bounds": bounds_object(published.bought, spec)}
    released = as_released(published.bought, spec)
    return (
        projection
        | bought
        | _fit(published)
        | {
            "schema": SCHEMA,
            "what": f"{spec.built.label}: {spec.y} predicted on a public grid with differential privacy",
            "measured": f"the natural logarithm of {spec.y}" if spec.log else spec.y,
            "guarantee": guarantee_to_object(published.guarantee),
            "tradeoff": {"false_alarms": _BLAMED, "found_at_most": _found_at_most(published.guarantee)},
            "config": spec_to_object(spec),
            "public": {
                "n": published.n,
                "left_out": published.left_out,
                "y_scale": released.scale,
                "reference": spec.built.reference,
            },
            "values": {
                "file": "values.csv",
                "rows": len(published.values),
                "step": published.step,
                "level": LEVEL,
                "unit": spec.y_unit,
                "columns": inputs | described,
            }
            | tolerance,
            "noise": _NOISE,
            "ledger": ledger_to_object(ledger),
            "software": {
                "dpgp": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scipy": scipy.__version__,
            },
        }
    )


def _fit(published: Published) -> dict[str, Any]:
    """How what was measured fits the models, in numbers and in words."""
    fit = published.fit
    if fit is None:
        return {}
    numbers = {"ratio": fit.ratio, "threshold": fit.threshold, "widened": fit.widened}
    return {"fit": {name: float(f"{number:.3g}") for name, number in numbers.items()} | {"says": str(fit)}}


def _input(spec: ReleaseSpec, name: str, unit: str) -> str:
    """What a column of inputs holds."""
    if (dates := spec.dates_of(name)) is not None:
        return f"input, a date written like {shown(dates.format)}; what was measured has {dates.unit}"
    if name in spec.levels:
        return f"input, one of {', '.join(spec.levels[name])}"
    return f"input, in {unit}" if unit else "input"


def _found_at_most(guarantee: Guarantee) -> float:
    """Share of replaced records that the best attacker finds at ``_BLAMED`` false alarms, rounded up."""
    alarms, budget = np.array([_BLAMED]), guarantee.budget
    if isinstance(guarantee.loss, GaussianLoss):
        missed = gaussian_tradeoff(alarms, guarantee.loss.mu)
    else:
        missed = budget_tradeoff(alarms, guarantee.proven_epsilon, max(budget.delta, _LEAST_DELTA))
    return min(float(rounded_up(1 - float(missed[0]))), 1.0)
