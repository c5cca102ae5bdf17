"""A release as a zip: values, a card with the promise, the measured numbers, and a script that does it again."""

from __future__ import annotations

import hashlib
import io
import platform
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from .. import __version__
from ..accounting.gaussian import rounded_up
from ..accounting.guarantee import Guarantee
from ..accounting.ledger import Ledger
from ..accounting.losses import GaussianLoss
from ..accounting.tradeoff import budget_tradeoff, gaussian_tradeoff
from ..arrays import FloatArray
from ..bounds.buying import OutcomeCounts
from ..dates import example
from ..table import Column
from .figure import figure
from .json_text import SCHEMA, guarantee_to_object, ledger_to_object, spec_to_object, write_object
from .measured_files import BOUNDS, measured_files
from .page import SCRIPT, page
from .plan import LEVEL, decimals
from .publishing import Published, is_off_scale, within_tolerance
from .specification import CENTILES, RESERVED

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
    ledger: Ledger,
    sealed: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> bytes:
    """The zip to hand out: values, card for people and programs, figure, the measured numbers, and the script for them.

    Of the outputs it holds numbers measured with noise and their post-processing alone; no seed, no time.

    Args:
        ledger: of all releases of the table so far, this one included.
        sealed: adds a proof of origin to the card, a signature for example.

    Raises:
        ValueError: the ledger does not count this release.
    """
    if published.guarantee not in [guarantee for _, guarantee in ledger.entries]:
        raise ValueError("the ledger does not count this release; spend spec.guarantee on it before publishing")
    columns = published_columns(published)
    described, files = measured_files(published)
    card = release_card(published, ledger, list(columns))
    picture = figure(published)
    files = {
        "values.csv": csv_text(columns).encode(),
        "card.html": page(card, picture).encode(),
        "figure.svg": picture.encode(),
    } | files
    card |= {
        "statistics": described,
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


def release_card(published: Published, ledger: Ledger, columns: list[str]) -> dict[str, Any]:
    """The content of ``release.json``: all that is public about a release, and its accounting."""
    spec = published.spec
    described = {name: COLUMNS[name] for name in columns if name in COLUMNS}
    inputs = {each.name: _input(each) for each in spec.columns}
    within = within_tolerance(published)
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
    bought = {} if published.bought is None else {"bounds": _bounds(published.bought)}
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
                "y_scale": published.outcome.scale,
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


def _bounds(bought: OutcomeCounts) -> dict[str, Any]:
    """Bounds that were bought, for the card."""
    return {
        "interval": list(bought.interval),
        "share": bought.purchase.share,
        "clear": bought.clear,
        "off_scale": bought.off_scale,
        "file": BOUNDS,
        "noise_sd": bought.purchase.counts.noise_sd,
    }


def _fit(published: Published) -> dict[str, Any]:
    """Fit of the measured numbers to the models, in numbers and in words."""
    fit = published.fit
    if fit is None:
        return {}
    numbers = {"ratio": fit.ratio, "threshold": fit.threshold, "widened": fit.widened}
    words = {"says": str(fit)} | ({"detail": published.detail} if published.detail else {})
    return {"fit": {name: float(f"{number:.3g}") for name, number in numbers.items()} | words}


def _input(column: Column) -> str:
    """Content of a column of inputs."""
    if column.dates is not None:
        return f"input, a date written like {example(column.dates.format)}; what was measured has {column.unit}"
    if column.levels is not None:
        return f"input, one of {', '.join(column.levels)}"
    return f"input, in {column.unit}" if column.unit else "input"


def _found_at_most(guarantee: Guarantee) -> float:
    """Share of replaced records that the best attacker finds at ``_BLAMED`` false alarms, rounded up."""
    alarms, budget = np.array([_BLAMED]), guarantee.budget
    if isinstance(guarantee.loss, GaussianLoss):
        missed = gaussian_tradeoff(alarms, guarantee.loss.mu)
    else:
        missed = budget_tradeoff(alarms, guarantee.proven_epsilon, max(budget.delta, _LEAST_DELTA))
    return min(float(rounded_up(1 - float(missed[0]))), 1.0)


# Starts of a formula in spreadsheets, full-width forms included; OWASP, "CSV Injection".
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_text(text: str) -> str:
    """Text for a cell or header: an apostrophe goes before a formula of a spreadsheet. Numbers never pass here."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def quoted(text: str) -> str:
    """Text as a cell or header of a CSV."""
    return '"{}"'.format(safe_text(text).replace('"', '""'))


def column_text(values: FloatArray, step: float | None = None) -> list[str]:
    """Numbers as text: multiples of a power of ten exactly, others to 10 digits."""
    if step is None:
        return [f"{value:.10g}" for value in values]
    return [f"{value:.{max(decimals(step), 0)}f}" for value in values]


def csv_text(columns: Mapping[str, Sequence[str]]) -> str:
    """CSV with quoted, safe headers, and cells as they are.

    Args:
        columns: name: cells, all of one length; cells are numbers and dates written as text, or quoted.
    """
    header = ",".join(quoted(name) for name in columns)
    rows = (",".join(row) for row in zip(*columns.values(), strict=True))
    return "\r\n".join([header, *rows, ""])


def published_columns(published: Published) -> dict[str, list[str]]:
    """Columns of the released table: the inputs, the value, ends of its intervals, centiles, and if it is of use."""
    columns = dict[str, list[str]]()
    for each, values in zip(published.spec.columns, published.X_test.T, strict=True):
        columns[each.name] = [quoted(each.text(value)) if each.levels else each.text(value) for value in values]
    columns["value"] = column_text(published.values, published.step)
    ends = zip(RESERVED[1:-1], [*published.curve, *published.outputs, *published.centiles], strict=False)
    columns |= {name: column_text(end, published.step) for name, end in ends}
    if published.spec.tolerance is not None or is_off_scale(published):
        columns[RESERVED[-1]] = [str(int(within)) for within in within_tolerance(published)]
    return columns


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
