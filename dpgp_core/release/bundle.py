"""Write a release as a zip: values, a card with the guarantee, measured numbers, and scripts that read or repeat it."""

from __future__ import annotations

import hashlib
import io
import platform
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from ..dates import example
from ..figures import export
from ..table import Column
from .json_text import SCHEMA, guarantee_to_object, ledger_to_object, spec_to_object, write_object
from .measured_files import BOUNDS, measured_files
from .page import SCRIPT, page
from .picture import is_map
from .plan import LEVEL, decimals
from .publishing import Published, finding, is_off_scale, within_tolerance
from .specification import COLUMNS

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold; the date of a release is not published

_ON_THE_CARD = (900, 380)  # px of the figure
_BLAMED = 0.05  # false-alarm rate at which the trade-off curve is quoted
_LEAST_DELTA = 1e-12  # the guarantee of a pure mechanism holds at every delta
_NOISE = (
    "whole numbers plus discrete noise from the operating system's randomness, sampled exactly; nothing but the "
    "numbers measured was computed from private values, and everything else in this folder follows from them"
)


def bundle(
    published: Published,
    ledger: Ledger,
    sealed: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> bytes:
    """Return the zip of a release: values, card for people and programs, figure, measured numbers, and scripts.

    The zip depends on the outputs only through numbers measured with noise. It contains no seed and no time.

    Args:
        ledger: ledger of all releases of the table so far, including this one.
        sealed: function that adds a proof of origin to the card, for example a signature.

    Raises:
        ValueError: the ledger does not count this release.
    """
    if published.guarantee not in [guarantee for _, guarantee in ledger.entries]:
        raise ValueError("the ledger does not count this release; spend spec.guarantee on it before publishing")
    columns = published_columns(published)
    described, files = measured_files(published)
    card = release_card(published, ledger, columns)
    on_the_card, picture = pictures(published)
    drawn = {"figure.svg": picture} if picture else {}
    files = {"values.csv": csv_text(columns).encode(), "card.html": page(card, on_the_card).encode()} | drawn | files
    card["statistics"] = described
    card["sha256"] = {name: digest(content) for name, content in files.items()}
    card = card if sealed is None else sealed(card)
    files |= {"release.json": write_object(card).encode(), "reproduce.py": SCRIPT.encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=_LONG_AGO)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def pictures(published: Published) -> tuple[str, bytes]:
    """Return the figure of a release twice: as an element of its card, and as a file that contains its guarantee.

    Both are empty if matplotlib is not installed or fails: the release has been charged by then, and must not be lost.
    """
    if not export.can_draw():
        return "", b""
    spec = published.spec
    said = "Line: released values. Band: 95 % interval for the curve. Privacy noise is included."
    words = export.ExportText(
        title=finding(published),
        subtitle=f"{export.budget_of(published.guarantee)}. Released: {spec.y} by {' and '.join(spec.x)}",
        captions=() if len(spec.numbers) > 1 else (said,),
        foot=(export.promise(published.guarantee),),
    )
    drawn = export.drawing(published.plot, is_tall=is_map(spec))
    try:
        title = f"{spec.y}, released with differential privacy"
        return export.inline(drawn, *_ON_THE_CARD, title=title), export.written(words, drawn)
    except Exception:  # matplotlib may fail in any way
        return "", b""


def release_card(published: Published, ledger: Ledger, columns: Iterable[str]) -> dict[str, Any]:
    """Return the content of ``release.json``: everything that is public about a release, and its accounting."""
    spec, degrees, bought, fit = published.spec, published.spec.degrees, published.bought, published.fit
    card, described = dict[str, Any](), COLUMNS | {each.name: _input(each) for each in spec.columns}
    if degrees is not None:
        card["projection"] = {
            "kind": "equirectangular about the middle of the box",
            "km_in_a_degree": [round(each, 3) for each in degrees.kilometres],
            "east_west_error": float(rounded_up(degrees.error, 2)),
        }
    if bought is not None:
        card["bounds"] = {
            "interval": list(bought.interval),
            "share": bought.purchase.share,
            "clear": bought.clear,
            "off_scale": bought.off_scale,
            "file": BOUNDS,
            "noise_sd": bought.purchase.counts.noise_sd,
        }
    if fit is not None:
        numbers = {"ratio": fit.ratio, "threshold": fit.threshold, "widened": fit.widened}
        card["fit"] = {name: float(f"{number:.3g}") for name, number in numbers.items()} | {"says": str(fit)}
        card["fit"] |= {"detail": published.detail} if published.detail else {}
        card["fit"] |= {"outliers": published.outliers} if published.outliers else {}
    values = {
        "file": "values.csv",
        "rows": len(published.values),
        "step": published.step,
        "level": LEVEL,
        "unit": spec.y_unit,
        "columns": {name: described[name] for name in columns},
    }
    if spec.tolerance is not None:
        values |= {"tolerance": spec.tolerance, "within_tolerance": int(within_tolerance(published).sum())}
    return card | {
        "schema": SCHEMA,
        "what": f"{spec.built.label}: {spec.y} predicted on a public grid with differential privacy",
        "measured": f"the natural logarithm of {spec.y}" if spec.log else spec.y,
        "guarantee": guarantee_to_object(published.guarantee),
        "tradeoff": {"false_alarms": _BLAMED, "found_at_most": _found_at_most(published.guarantee)},
        "config": spec_to_object(spec),
        "public": {
            "n": published.n,
            "left_out": published.left_out,
            "rows_left_out": published.rows_left_out,
            "y_scale": published.outcome.scale,
            "reference": spec.built.reference,
        },
        "values": values,
        "noise": _NOISE,
        "ledger": ledger_to_object(ledger),
        "software": {
            "dpgp": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
    }


def _input(column: Column) -> str:
    """Return the part of the card about an input."""
    if column.dates is not None:
        return f"input, a date written like {example(column.dates.format)}; what was measured has {column.unit}"
    if column.levels is not None:
        return f"input, one of {', '.join(column.levels)}"
    return f"input, in {column.unit}" if column.unit else "input"


def _found_at_most(guarantee: Guarantee) -> float:
    """Return the share of replaced records that the best attacker finds at ``_BLAMED`` false alarms, rounded up."""
    alarms, budget = np.array([_BLAMED]), guarantee.budget
    if isinstance(guarantee.loss, GaussianLoss):
        missed = gaussian_tradeoff(alarms, guarantee.loss.mu)
    else:
        missed = budget_tradeoff(alarms, guarantee.proven_epsilon, max(budget.delta, _LEAST_DELTA))
    return min(float(rounded_up(1 - float(missed[0]))), 1.0)


# Characters that start a formula in spreadsheets, including full-width forms; see OWASP, "CSV Injection".
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_text(text: str) -> str:
    """Return text for a cell or header. An apostrophe is put before what a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def quoted(text: str) -> str:
    """Return text as a quoted cell or header of a CSV file."""
    return '"{}"'.format(safe_text(text).replace('"', '""'))


def column_text(values: FloatArray, step: float) -> list[str]:
    """Return multiples of a power of ten as exact text."""
    return [f"{value:.{max(decimals(step), 0)}f}" for value in values]


def csv_text(columns: Mapping[str, Sequence[str]]) -> str:
    """Return a CSV file with quoted, safe headers, and the cells as they are.

    Args:
        columns: cells of each column by name, all of equal length. Cells are numbers or dates as text, or quoted text.
    """
    header = ",".join(quoted(name) for name in columns)
    rows = (",".join(row) for row in zip(*columns.values(), strict=True))
    return "\r\n".join([header, *rows, ""])


def published_columns(published: Published) -> dict[str, list[str]]:
    """Return the columns of the released table: inputs, values, ends of intervals, centiles, and what is useful."""
    columns = dict[str, list[str]]()
    for each, values in zip(published.spec.columns, published.X_test.T, strict=True):
        columns[each.name] = [quoted(each.text(value)) if each.levels else each.text(value) for value in values]
    lines = [published.values, *published.curve, *published.outputs, *published.centiles]
    columns |= {name: column_text(line, published.step) for name, line in zip(COLUMNS, lines, strict=False)}
    if published.spec.tolerance is not None or is_off_scale(published):
        columns["within_tolerance"] = [str(int(within)) for within in within_tolerance(published)]
    return columns


def digest(content: bytes) -> str:
    """Return the SHA-256 digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
