"""The numbers of figures as tables, and how many digits of them are shown."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

DIGITS = 3  # on screen


_DIGITS = 6


_DIGITS_SHOWN, _MOST_PLACES, _LARGE = 4, 6, 10_000.0


Rows = Iterator[tuple[str, Any, Any]]  # what is drawn, its name, its x and y


def of_figure(figure: go.Figure) -> pd.DataFrame:
    """One row a point that is drawn: what it belongs to, x, y, and on maps the value.

    Bands are told by their ends, histograms by their bins, in percent where they are drawn so. Boundaries in a heat map
    are left out: they follow from it.
    """
    x_title, y_title = (_title(axis) for axis in (figure.layout.xaxis, figure.layout.yaxis))
    tables = []
    for trace in figure.data:
        if trace.type == "heatmap":
            tables.append(_heat(trace, x_title or "x", y_title or "y"))
            continue
        for name, x, y in _ROWS.get(trace.type, _nothing)(trace):
            tables.append(pd.DataFrame({"what": name, x_title or "x": _column(x), y_title or "y": _column(y)}))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def decimals_of(frame: pd.DataFrame) -> dict[str, str]:
    """How each column of numbers is written, so that its largest has about four digits: the download has all."""
    written = {}
    for name in frame.select_dtypes("float"):
        known = frame[name].to_numpy(float)
        most = float(np.abs(known[np.isfinite(known)]).max(initial=0.0))
        whole = bool((known[np.isfinite(known)] % 1 == 0).all())
        places = 0 if whole or most >= _LARGE else max(0, _DIGITS_SHOWN - 1 - math.floor(math.log10(most)))
        written[str(name)] = f"%.{places}f" if places <= _MOST_PLACES else "%.2g"
    return written


def rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """The same with as many digits as mean something."""
    fractions = rows.select_dtypes("float")
    few = {str(name): values.map(lambda value: float(f"{value:.{DIGITS}g}")) for name, values in fractions.items()}
    return rows.assign(**few)


def _scatter(trace: Any) -> Rows:
    name, x, y = _name(trace), values_of(trace.x), values_of(trace.y)
    if trace.fill == "toself":  # there along one edge, and back along the other
        half = len(x) // 2
        yield f"{name}, upper end", x[:half], y[:half]
        yield f"{name}, lower end", x[half:][::-1], y[half:][::-1]
        return
    yield name, x, y
    if trace.error_y.array is not None:
        below = trace.error_y.array if trace.error_y.arrayminus is None else trace.error_y.arrayminus
        yield f"{name}, upper end", x, y + values_of(trace.error_y.array)
        yield f"{name}, lower end", x, y - values_of(below)


def _bars(trace: Any) -> Rows:
    yield _name(trace), values_of(trace.x), values_of(trace.y)


def _histogram(trace: Any) -> Rows:
    yield _name(trace), *histogram_of(trace)


def histogram_of(trace: Any) -> tuple[np.ndarray, np.ndarray]:
    """Middles of the bins, and how many lie in each; in per cent where it is drawn so."""
    values, bins = values_of(trace.x), trace.xbins
    count = max(1, round((bins.end - bins.start) / bins.size))
    counts, edges = np.histogram(values, count, (bins.start, bins.start + count * bins.size))
    share = 100 / max(1, len(values)) if trace.histnorm == "percent" else 1.0
    return (edges[:-1] + edges[1:]) / 2, counts * share


def _points(trace: Any) -> Rows:
    """Of a box whose points lie along x: they have a number each."""
    values = values_of(trace.x)
    yield _name(trace), values, np.arange(1, len(values) + 1)


def _nothing(_: Any) -> Rows:
    return iter(())


_ROWS: dict[str, Callable[[Any], Rows]] = {"scatter": _scatter, "bar": _bars, "histogram": _histogram, "box": _points}


def _heat(trace: Any, x_title: str, y_title: str) -> pd.DataFrame:
    x, y, z = values_of(trace.x), values_of(trace.y), values_of(trace.z)
    value = _plain(trace.colorbar.title.text or "") or "value"
    columns, rows = np.tile(np.arange(len(x)), len(y)), np.repeat(np.arange(len(y)), len(x))
    return pd.DataFrame({x_title: _column(x[columns]), y_title: _column(y[rows]), value: _column(z.reshape(-1))})


def values_of(raw: Any) -> np.ndarray:
    """A figure's array, which plotly writes in base 64 once it was a dictionary."""
    if isinstance(raw, dict):
        flat = np.frombuffer(base64.b64decode(raw["bdata"]), raw["dtype"])
        return flat.reshape([int(size) for size in str(raw["shape"]).split(",")]) if "shape" in raw else flat
    return np.asarray(raw)


def _column(values: np.ndarray) -> list[Any]:
    if values.dtype.kind == "f":
        return [float(f"{value:.{_DIGITS}g}") for value in values]
    return [str(value) for value in values] if values.dtype.kind in "OU" else list(values)


def _title(axis: Any) -> str:
    return _plain(axis.title.text or "")


def _name(trace: Any) -> str:
    return _plain(trace.name or "") or "drawn"


def _plain(written: str) -> str:
    """Without the escapes that plotly wants."""
    return html.unescape(written.replace("<br>", " "))


def as_html(frame: pd.DataFrame, caption: str) -> str:
    """Rows as an HTML table with column heads and a caption, each number with as many digits as on the screen."""
    written = decimals_of(frame)
    heads = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in frame)
    columns = [_cells(frame[name], written.get(str(name))) for name in frame]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
    return (
        '<div class="numbers" role="region" tabindex="0" aria-label="Table"><table>'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(values: pd.Series[Any], written: str | None) -> list[str]:
    """Each value as a cell; nothing where it is missing."""
    shown = ("" if pd.isna(each) else written % each if written else f"{each}" for each in values)
    return [f"<td>{html.escape(each)}</td>" for each in shown]
