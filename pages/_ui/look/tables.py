"""Tables of the numbers of figures, and how many digits they have."""

from __future__ import annotations

import base64
import html
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages._ui.look.text import number

DIGITS = 3  # on screen
_DIGITS = 6
_DIGITS_SHOWN, _MOST_PLACES, _LARGE, _HUGE = 4, 6, 10_000.0, 1e9
NO_VALUES = "no values"  # marks a trace (in its ``meta``) without values of its own: marks along an axis, fading
NOT_PRIVATE = "not private"  # marks a trace with true data (in its ``meta``), and the name of its column


def of_figure(
    *figures: go.Figure, true_data: bool = False, more: Mapping[str, np.ndarray] | None = None
) -> pd.DataFrame:
    """Return the numbers of figures: a row for each point, a column for each line, band end or bar; for heat maps a row
    for each tile.

    Points that are not on the lines have rows of their own. In figures with named rows, each point has a row. Lines
    that repeat others (boundaries in a heat map), invisible ones and ``NO_VALUES`` are left out. True data are marked.

    Args:
        figures: figures with the same points; those of the first come first.
        true_data: whether all traces contain true data; otherwise only those whose ``meta`` is ``NOT_PRIVATE``.
        more: further columns, with values at the points of the first line.
    """
    parts = [part for figure in figures for part in _parts(figure, true_data)]
    if more:
        parts.append(pd.DataFrame({parts[0].columns[0]: parts[0].iloc[:, 0], **more}))
    # Points come after lines, which they would separate
    parts.sort(key=lambda part: not part[part.columns[0]].is_unique)
    return reduce(_joined, parts) if parts else pd.DataFrame()


def _parts(figure: go.Figure, true_data: bool) -> Iterator[pd.DataFrame]:
    """Yield the columns of each trace, points after lines; traces at the same points may be joined."""
    x_title, y_title = (plain(axis.title.text or "") for axis in (figure.layout.xaxis, figure.layout.yaxis))
    traces = [trace for trace in figure.data if trace.opacity != 0 and trace.meta != NO_VALUES]
    maps = [trace for trace in traces if trace.type == "heatmap"]
    if maps:
        yield from (_heat(trace, x_title or "x", y_title or "y", true_data) for trace in maps)
        return
    traces = [trace for trace in traces if trace.name] or traces  # traces without a name mark a place on another one
    # What may be published comes first, and lines come before their bands: a telephone shows the first columns
    traces.sort(key=lambda trace: (getattr(trace, "fill", None) == "toself", trace.meta == NOT_PRIVATE))
    called = [(plain(trace.name or ""), true_data or trace.meta == NOT_PRIVATE) for trace in traces]
    lines: list[dict[str, list[Any]]] = []
    for at, (name, marked) in enumerate(called):
        if called.count(called[at]) > 1:  # draws
            name = f"{name} {called[: at + 1].count(called[at])}".strip()
        for end, x, y in _lines(traces[at]):
            x_column, values = x_title or "x", _marked(_column_name((name + end).lstrip(", "), y_title), marked)
            columns = {x_column: _column(x), values: _column(y)}
            if y.dtype.kind in "OU":  # figures with named rows
                rows = [_marked(name or "drawn", marked)] * len(x)
                columns = {"what": rows, y_title or "row": _column(y), x_column: _column(x)}
            lines.append(columns)
    for columns in _at_same_points(lines):
        frame, x_column = pd.DataFrame(columns), x_title or "x"
        has_gaps = any(value != value for value in columns[x_column])  # in a line; pandas takes longer to see it
        yield frame.dropna(subset=[x_column], ignore_index=True) if has_gaps else frame


def _at_same_points(lines: Iterable[dict[str, list[Any]]]) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of lines; those that follow each other at the same points and have other names are together,
    because making and joining tables takes long.
    """
    together: dict[str, list[Any]] = {}
    for columns in lines:
        (first, points), *rest = columns.items()
        if together.get(first) == points and first != "what" and not together.keys() & dict(rest):
            together |= columns
            continue
        if together:
            yield together
        together = columns
    if together:
        yield together


def _column_name(name: str, title: str) -> str:
    """Return the name of the trace, with the title of its axis if that is different."""
    if not title or not name:
        return name or title or "y"
    return title if title.startswith(name) else f"{name}: {title}"


def _marked(name: str, true_data: bool) -> str:
    return f"{name} ({NOT_PRIVATE})" if true_data and NOT_PRIVATE not in name.lower() else name


def _joined(joined: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    """Return two tables side by side if their first columns are equal or distinct numbers, otherwise one below the
    other.
    """
    index = part.columns[0]
    if index == joined.columns[0] and index != "what":
        if len(part) == len(joined) and (part[index] == joined[index]).all():
            return joined.assign(**{name: part[name].to_numpy() for name in part.columns[1:]})
        numbers = all(each[index].dtype.kind in "if" and each[index].is_unique for each in (joined, part))
        if numbers and not set(part.columns[1:]) & set(joined.columns):
            there, more = (each.astype({index: float}) for each in (joined, part))  # one of them may hold whole numbers
            return there.merge(more, on=index, how="outer")
    return pd.concat([joined, part], ignore_index=True)


def decimals_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return how each column of numbers is written: as precisely as its interval allows, or with about four digits.

    The download has all digits.
    """
    written, known = {}, _known_to(frame)
    for name in frame.select_dtypes("float"):
        if name in known:
            written[str(name)] = f"%.{known[name]}f"
            continue
        numbers = frame[name].to_numpy(float)
        numbers = numbers[np.isfinite(numbers)]
        most = float(np.abs(numbers).max(initial=0.0))
        decimals = (
            0
            if (numbers % 1 == 0).all() or _LARGE <= most < _HUGE
            else max(0, _DIGITS_SHOWN - 1 - math.floor(math.log10(most)))
        )
        written[str(name)] = f"%.{decimals}f" if decimals <= _MOST_PLACES else "%.2g"
        if most >= _HUGE:  # 1.2e+15, and 45.2 next to it
            written[str(name)] = f"%.{DIGITS}g"
    return written


_ENDS = (("lower end", "upper end"), ("range from", "range to"))  # part of the names of columns


def decimals_within(low: Any, high: Any) -> int:
    """Return the decimals of a value that is known to be between these ends: 0 for 10.241 between 9 and 11."""
    half = float(np.nanmedian(np.asarray(high, float) - np.asarray(low, float))) / 2
    return max(0, -math.floor(math.log10(half))) if half > 0 and math.isfinite(half) else _MOST_PLACES


def _known_to(frame: pd.DataFrame) -> dict[Any, int]:
    """Return the decimals of columns with an interval in the table, by name; the narrowest of each quantity decides."""
    found: dict[str, int] = {}
    for name, (start, end) in itertools.product(frame, _ENDS):
        other = str(name).replace(start, end)
        if start in str(name) and other in frame and frame[name].notna().any():
            quantity = _quantity(name)
            found[quantity] = max(found.get(quantity, 0), decimals_within(frame[name], frame[other]))
    return {name: found[quantity] for name in frame.columns[1:] if (quantity := _quantity(name)) in found}


def _quantity(name: Any) -> str:
    """Return what a column is about: the title of its axis without the name of its line; "" for a released curve."""
    line, _, title = str(name).replace(f" ({NOT_PRIVATE})", "").rpartition(": ")
    return "" if not line and title.startswith(("curve", "range ", "centile ")) else title


def written(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with numbers as texts with meaningful digits, such as 537,000 and 1.49; "" for a missing one."""

    def text_of(value: float) -> str:
        return "" if math.isnan(value) else f"{float(f'{value:.{DIGITS}g}'):,.10g}"

    return rows.assign(**rows.select_dtypes("float").map(text_of))


def _lines(trace: Any) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the curves and ends that make up a trace: their name, x and y."""
    if trace.type != "scatter":
        yield "", *bars_of(trace)
        return
    x, y = values_of(trace.x), values_of(trace.y)
    if trace.fill == "toself":  # the outline runs along one edge and back along the other
        half = len(x) // 2
        yield ", lower end", x[half:][::-1], y[half:][::-1]
        yield ", upper end", x[:half], y[:half]
        return
    yield "", x, y
    if trace.error_y.array is not None:
        low, high = interval_of(trace)
        yield ", lower end", x, low
        yield ", upper end", x, high


def interval_of(trace: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals about a trace's points."""
    y, more, less = (values_of(each) for each in (trace.y, trace.error_y.array, trace.error_y.arrayminus))
    return y - (more if trace.error_y.arrayminus is None else less), y + more


def bars_of(trace: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and heights of bars; for a histogram, the contents of each bin, in per cent if it is drawn
    so.
    """
    if trace.type == "bar":
        return values_of(trace.x), values_of(trace.y)
    values, bins = values_of(trace.x), trace.xbins
    count = max(1, round((bins.end - bins.start) / bins.size))
    counts, edges = np.histogram(values, count, (bins.start, bins.start + count * bins.size))
    share = 100 / max(1, len(values)) if trace.histnorm == "percent" else 1.0
    return (edges[:-1] + edges[1:]) / 2, counts * share


def in_words(figure: go.Figure) -> str:
    """Return the values of a figure for screen readers, in one sentence."""
    axis = figure.layout.xaxis

    def place(x: Any) -> str:
        if axis.ticktext is None:
            return number(float(x), 3)
        return f"about {axis.ticktext[int(np.abs(np.array(axis.tickvals, float) - x).argmin())]}"

    said = [words for trace in figure.data if trace.meta != NO_VALUES and (words := _trace_in_words(trace, place))]
    return f"{'; '.join(said)}." if said else ""


def _trace_in_words(trace: Any, place: Callable[[Any], str]) -> str:
    """Return a line with a name at its beginning, after a third and at its end; the least and largest half-width of a
    band; and the least and largest value of a map.
    """
    name = plain(trace.name or "")
    if trace.type == "heatmap":
        z = values_of(trace.z).astype(float)
        ends = (np.nanargmin(z), np.nanargmax(z)) if np.isfinite(z).any() else ()
        at = [np.unravel_index(end, z.shape) for end in ends]
        return ", ".join(f"{number(z[i, j], 3)} at {place(trace.x[j])} and {number(trace.y[i], 3)}" for i, j in at)
    if trace.type != "scatter" or not name or (trace.showlegend is False and not trace.fill):
        return ""
    if trace.fill == "toself":
        (_, x, low), (_, _, high) = _lines(trace)
        half = (high - low) / 2
        return f"{name}: " + ", ".join(
            f"± {number(half[at], 3)} at {place(x[at])}" for at in (half.argmin(), half.argmax())
        )
    x, y = values_of(trace.x), values_of(trace.y)
    return f"{name}: " + ", ".join(f"{number(y[at], 3)} at {place(x[at])}" for at in (0, len(x) // 3, -1))


def _heat(trace: Any, x_title: str, y_title: str, true_data: bool) -> pd.DataFrame:
    x, y, z = values_of(trace.x), values_of(trace.y), values_of(trace.z)
    value = _marked(plain(trace.colorbar.title.text or "") or "value", true_data or trace.meta == NOT_PRIVATE)
    columns, rows = np.tile(np.arange(len(x)), len(y)), np.repeat(np.arange(len(y)), len(x))
    return pd.DataFrame({x_title: _column(x[columns]), y_title: _column(y[rows]), value: _column(z.reshape(-1))})


def values_of(raw: Any) -> np.ndarray:
    """Return an array of a figure, which plotly encodes in base 64 after conversion to a dictionary."""
    if isinstance(raw, dict):
        flat = np.frombuffer(base64.b64decode(raw["bdata"]), raw["dtype"])
        return flat.reshape([int(size) for size in str(raw["shape"]).split(",")]) if "shape" in raw else flat
    return np.asarray(raw)


def _column(values: np.ndarray) -> list[Any]:
    if values.dtype.kind == "f":
        return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]  # numpy's own numbers take twice as long
    return [str(value) for value in values] if values.dtype.kind in "OU" else list(values)


def plain(written: str) -> str:
    """Return text of a figure without the tags and escapes of plotly."""
    return html.unescape(re.sub("<[^>]+>", " ", written)).strip()


def as_html(frame: pd.DataFrame, caption: str) -> str:
    """Return rows as an HTML table with headers and a caption, each number with as many digits as on the screen."""
    written = decimals_of(frame)
    heads = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in frame)
    columns = [map(partial(_cell, written.get(str(name))), frame[name]) for name in frame]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
    return (
        '<div class="numbers" role="region" tabindex="0" aria-label="Table"><table>'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(written: str | None, value: Any) -> str:
    """Return a cell of a table; empty if the value is missing."""
    text = "" if pd.isna(value) else written % value if written else f"{value}"
    return f"<td>{html.escape(text)}</td>"
