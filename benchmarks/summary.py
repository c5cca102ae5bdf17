"""Summary tables of the kept results, and their figure, from the CSV files in benchmarks/results.

    python -m benchmarks summary
    python -m benchmarks summary --tables inputs outcomes
    python -m benchmarks summary --figure docs/figures/inputs_coverage.svg

Nothing is simulated: the tables are those of docs/benchmarks.md and benchmarks/results, which a test compares with what
this command prints. The figure shows the coverage of the 95 % intervals of Bayes cloaking in every row of inputs.csv,
one dot a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from benchmarks.shared.apart import ROOT
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from dpgp_core.figures import export
from pages._ui.look.redrawn import of_figure

RESULTS = ROOT / "benchmarks" / "results"
FIGURE = ROOT / "docs" / "figures" / "inputs_coverage.svg"
BOTH = "inputs and outputs"
SIZES = (300, 3000, 30_000, 1_000_000)
PLACES = {
    "even": "uniform",
    "five_values": "five values",
    "even_ages": "13 equally spaced values",
    "heaped": "hundredths, 40 % rounded to tenths",
    "one_heap": "uniform, but 70 % at one value",
    "integers": "whole numbers from 0 to 20",
    "half": "uniform on half of the box",
    "normal_inputs": "normal",
    "lognormal_inputs": "log-normal",
    "two_clusters": "two distant clusters",
    "four_visits": "four clusters",
    "people": "five values, three rows per person",
    "groups": "two groups with different inputs",
    "plane_even": "two inputs: uniform",
    "towns": "two inputs: seven clusters",
    "nine_by_three": "two inputs: grid of 9 by 3 values",
    "diagonal": "two inputs: along the diagonal",
}
OUTCOMES = {
    "normal": "normal",
    "gamma": "gamma, variance grows with the mean",
    "gamma_even": "gamma, constant variance",
    "lognormal": "log-normal, constant variance",
    "yes_no": "yes/no, 5 to 35 % yes",
    "yes_no_half": "yes/no, 30 to 70 % yes",
    "counts": "Poisson counts of mean 0.5 to 2",
    "wide_bounds": "normal, bounds far wider than the data",
    "heavy_tails": "Student t, 3 degrees of freedom",
    "two_point": "two values about the mean",
    "at_a_bound": "a third of the outcomes at a bound",
    "outliers": "normal, 3 % outliers at the bound 60",
    "far_out": "normal, 3 % outliers at the bound 600",
    "costs": "costs: 94 % zeros, few very large",
}
CURVES = {
    "smooth": "smooth",
    "kink": "a slope that changes",
    "jump": "one step",
    "peak": "a peak of width 0.015",
    "waves": "nine periods of a sine",
    "decay": "a steep decay",
}
TAILS = {
    "costs_of_some": "one in ten people has costs, and a few have very large ones",
    "rare": "1 to 4 % yes, not declared as yes/no",
    "far_out": OUTCOMES["far_out"],
    "costs": OUTCOMES["costs"],
    "uneven": "standard deviation 10 in the middle fifth of the inputs, 1 elsewhere",
    "cohorts": "two equally large groups of people, 14 apart",
}
DRAWN_AT_RANDOM = {
    "normal": "normal",
    "exact": "exactly on the curve",
    "heaped": "rounded to fives or tens",
    "two": "two values about the curve",
    "gamma": "gamma",
    "counts": "Poisson counts",
    "yes_no": "yes/no",
    "rare": "yes/no, below 10 % yes",
    "zeros": "30 to 95 % zeros",
    "outliers": "normal, 3 % at the upper bound",
}
ROWS = Iterator[Mapping[str, object]]
_SHADES = {"outputs": "#0072B2", BOTH: "#E69F00"}
_WIDTH, _HEIGHT = 1200, 900
_LOWEST = 0.75  # coverage at the left edge


def load(name: str) -> pd.DataFrame:
    """One file of results."""
    return pd.read_csv(RESULTS / f"{name}.csv")


def number(value: float) -> str:
    """Two significant digits, three from 1 on; a dash where nothing was measured."""
    return "–" if np.isnan(value) else f"{value:#.{3 if value >= 1 else 2}g}"


def share(value: float) -> str:
    """A coverage or another share; a dash where nothing was measured."""
    return "–" if np.isnan(value) else f"{value:.2f}"


def only(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows that have these values."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def one(table: pd.DataFrame, column: str, **values: object) -> float:
    """A number of the only row that has these values; NaN if there is none."""
    found = only(table, **values)[column]
    if len(found) > 1:
        raise ValueError(f"{len(found)} rows have {values}")
    return float(found.iloc[0]) if len(found) else float("nan")


def held_out() -> ROWS:
    """Held-out error of every mechanism at two budgets, with the digits of the file."""
    table = pd.read_csv(RESULTS / "held_out.csv", dtype={"error": str}, keep_default_na=False)
    rows = (
        ("without privacy", ""),
        ("Bayes cloaking", "outputs"),
        ("Bayes cloaking", BOTH),
        ("refined cloaking", "outputs"),
        ("cloaking with inducing inputs", "outputs"),
        ("cloaking", "outputs"),
        ("cloaking, method of 2018", "outputs"),
        ("sparse DP-GP", BOTH),
        ("integral bins", "outputs"),
        ("Laplace bins", "outputs"),
    )
    shown = {
        "age": ("!Kung, age", "cm"),
        "age and weight": ("!Kung, age and weight", "cm"),
        "London": ("London hexagons", "ln price"),
    }
    for mechanism, protects in rows:
        title = f"{mechanism}, δ = 0" if mechanism.endswith("bins") else mechanism
        row: dict[str, object] = {"mechanism": title, "protects": protects or "–"}
        own = only(table, mechanism=mechanism, protects=protects)
        if mechanism == "refined cloaking":
            own = only(own, source="bayes_tables")
        for (short, (data, unit)), epsilon in product(shown.items(), (0.2, 1.0)):
            found = only(own, data=data, unit=unit, epsilon=epsilon if protects else np.inf).error
            row[f"{short}, ε = {epsilon:g}"] = found.item() if len(found) else "–"
        yield row


def unseen() -> ROWS:
    """Error of the peers over that of Bayes cloaking with the same protection, on tables of other fields."""
    table = load("bayes_unseen")
    for name, found in table.groupby("table", sort=False):
        row: dict[str, object] = {"table": name, "n": found.n.iloc[0]}
        for peer, protects in (("refined cloaking", "outputs"), ("sparse DP-GP", BOTH)):
            here = only(found, protects=protects)
            for epsilon in (0.2, 1.0, 5.0):
                errors = [one(here, "error", mechanism=each, epsilon=epsilon) for each in (peer, "Bayes cloaking")]
                row[f"{peer}, ε = {epsilon:g}"] = share(errors[0] / errors[1])
        yield row


def inputs_by_size() -> ROWS:
    """Mean coverage by number of people and budget, and how many rows are of the newest measurement."""
    table = load("inputs")
    newest = table.measured.max()
    for n, found in table.groupby("n"):
        cells = {f"ε = {epsilon:g}": share(only(found, epsilon=epsilon).coverage.mean()) for epsilon in (0.2, 1.0, 5.0)}
        low = int((found.coverage < 0.9).sum())
        counts = {"settings": len(found), f"measured on {newest}": len(only(found, measured=newest))}
        yield {"n": f"{n:,}"} | cells | counts | {"coverage below 0.90 in": low}


def inputs() -> ROWS:
    """Error of normal outcomes, and coverage over all settings, by how inputs are distributed."""
    table = load("inputs")
    normal = only(table, outcome="normal", epsilon=1.0)
    for name, title in PLACES.items():
        row: dict[str, object] = {"inputs": title}
        for protects in ("outputs", BOTH):
            for n in SIZES[1:3]:
                row[f"error, {protects} protected, n = {n:,}"] = number(
                    one(normal, "error", inputs=name, protects=protects, n=n)
                )
        coverage = only(table, inputs=name).coverage
        yield row | {"mean coverage": share(coverage.mean()), "lowest": share(coverage.min())}


def curves() -> ROWS:
    """Error and coverage for rough curves, inputs and outputs protected, uniform inputs."""
    table = only(load("inputs_curves"), protects=BOTH)
    for name, title in CURVES.items():
        own = only(table, curve=name)
        row: dict[str, object] = {"curve": title}
        columns = {"error": number, "coverage": share, "coverage_worst_fifth": share}
        for (column, written), n in product(columns.items(), SIZES[:3]):
            row[f"{column.replace('coverage_', '')}, n = {n:,}".replace("_", " ")] = written(one(own, column, n=n))
        yield row


def random_worlds() -> ROWS:
    """Coverage and error in simulated data sets that are drawn at random, by kind of outcome."""
    table = load("random_worlds")
    for name, title in DRAWN_AT_RANDOM.items():
        row: dict[str, object] = {"outcome": title}
        for column, protects in product(("coverage", "share_of_releases_below_half", "error_over_sd"), _SHADES):
            words = {"share_of_releases_below_half": "releases below half", "error_over_sd": "error / sd"}
            value = one(table, column, outcome=name, protects=protects)
            row[f"{words.get(column, column)}, {'both' if protects == BOTH else protects}"] = share(value)
        yield row


def outcomes() -> ROWS:
    """Error and coverage by kind of outcome and number of people, inputs and outputs protected."""
    table = only(load("outcomes"), method="Bayes cloaking", protects=BOTH)
    cases = [(name, 1, "number", title) for name, title in OUTCOMES.items()]
    for name, kind in (("counts", "count"), ("yes_no_half", "yes/no"), ("yes_no", "yes/no")):
        at = next(place for place, case in enumerate(cases) if case[0] == name) + 1
        cases.insert(at, (name, 1, kind, f"the same, declared as {kind}"))
    cases += [(name, 2, "number", f"{OUTCOMES[name]}; two inputs") for name in ("normal", "gamma")]
    for name, dimensions, kind, title in cases:
        own = only(table, outcome=name, dimensions=dimensions, declared_kind=kind)
        errors = {f"error, n = {_short(n)}": number(one(own, "error", n=n)) for n in SIZES}
        yield (
            {"outcome": title}
            | errors
            | {f"coverage, n = {_short(n)}": share(one(own, "coverage", n=n)) for n in SIZES}
        )


def _short(n: int) -> str:
    return "10⁶" if n == 1_000_000 else f"{n:,}"


def tails() -> ROWS:
    """Coverage of the curve where few people dominate the mean, or where they are unequal."""
    table = load("outcomes")
    for name, n in product(TAILS, SIZES[1:3]):
        own = only(table, outcome=name, n=n)
        row: dict[str, object] = {"outcome": TAILS[name], "n": f"{n:,}"}
        columns = {"coverage": "coverage", "coverage_worst_fifth": "worst fifth"}
        for (column, words), protects in product(columns.items(), _SHADES):
            row[f"{words}, {'both' if protects == BOTH else protects}"] = share(one(own, column, protects=protects))
        yield row


def peers() -> ROWS:
    """Error beside polynomials and binned means at their best setting, inputs and outputs protected."""
    table = only(load("outcomes"), protects=BOTH, declared_kind="number")
    cases = dict.fromkeys(
        table[table.method != "Bayes cloaking"][["outcome", "dimensions"]].itertuples(index=False, name=None)
    )
    titles = {"polynomial (AdaSSP)": "polynomial", "binned means": "binned means"}
    for name, dimensions in sorted(cases, key=lambda case: (case[1], list(OUTCOMES).index(case[0]))):
        own = only(table, outcome=name, dimensions=dimensions)
        row: dict[str, object] = {"outcome": OUTCOMES[name] + ("; two inputs" if dimensions == 2 else "")}
        for method in ("Bayes cloaking", *titles):
            for n in SIZES[:2]:
                row[f"{titles.get(method, method)}, n = {n:,}"] = number(one(own, "error", method=method, n=n))
        yield row


def groups() -> ROWS:
    """Error and coverage of the smaller group's curve, released with the larger group and alone."""
    table = only(load("groups"), group="small")
    keys = ["protects", "n", "small_group_share", "curves"]
    for key, found in table.groupby(keys, sort=False):
        protects, n, part, curves = key
        row: dict[str, object] = {"protected": protects, "n": f"{n:,}", "small group": f"{100 * part:.0f} %"}
        row["curves"] = curves
        for column, written in (("error", number), ("coverage", share)):
            for release in ("together", "apart"):
                row[f"{column}, {release}"] = written(one(found, column, release=release))
        yield row


def coverage() -> ROWS:
    """Coverage of the 95 % interval for one more outcome at epsilon 1."""
    table = only(load("coverage"), level=0.95, epsilon=1.0)
    for (mechanism, protects), found in table.groupby(["mechanism", "protects"], sort=False):
        yield {"mechanism": mechanism, "protects": protects} | {
            data: share(one(found, "coverage", data=data)) for data in found.data
        }


def null_space() -> ROWS:
    """Accuracy of the linear attack at epsilon 1, usual bounds."""
    table = only(load("null_space"), epsilon=1.0, bounds="usual")
    for (mechanism, protects), found in table.groupby(["mechanism", "protects"], sort=False):
        row: dict[str, object] = {"mechanism": mechanism, "protects": protects}
        row["allowed"] = f"{found.accuracy_allowed.iloc[0]:.3f}"
        for release in ("floating point", "library", "zip files"):
            accuracy = one(found, "accuracy", release=release)
            row[release] = "–" if np.isnan(accuracy) else f"{accuracy:.3f}"
        yield row


TABLES: dict[str, Callable[[], ROWS]] = {
    "held_out": held_out,
    "unseen": unseen,
    "inputs_by_size": inputs_by_size,
    "inputs": inputs,
    "curves": curves,
    "random_worlds": random_worlds,
    "outcomes": outcomes,
    "tails": tails,
    "peers": peers,
    "groups": groups,
    "coverage": coverage,
    "null_space": null_space,
}


def figure() -> str:
    """Coverage in every row of inputs.csv, as SVG; rows in which it is 1.00 are counted at the right."""
    table, names = load("inputs"), list(PLACES)[::-1]
    plot = go.Figure()
    for protects, shade in _SHADES.items():
        x, y = [], []
        for name in names:
            found = only(table, inputs=name, protects=protects).coverage
            x += list(found[found < 1])
            y += list(names.index(name) + _beside(found[found < 1], 1 if protects == "outputs" else -1))
        label = f"{protects} protected"
        plot.add_scatter(x=x, y=y, mode="markers", name=label, marker={"color": shade, "size": 5})
    means = [only(table, inputs=name).coverage.mean() for name in names]
    bars = {"color": "#1a1a1a", "size": 10, "symbol": "diamond"}
    plot.add_scatter(x=means, y=list(range(len(names))), mode="markers", name="mean", marker=bars)
    full = [only(table, inputs=name).coverage == 1 for name in names]
    counts = [f"{each.sum()} of {len(each)}" for each in full]
    plot.add_scatter(x=[1.0] * len(names), y=list(range(len(names))), mode="text", text=counts, showlegend=False)
    plot.data[-1].marker.color = "#1a1a1a"
    plot.add_annotation(x=1.005, y=len(names) - 0.5, text="1.00 in", xanchor="left", showarrow=False)
    plot.add_vline(x=0.95, line={"color": "#666666", "dash": "dash", "width": 1.5})
    ticks = np.round(np.arange(_LOWEST, 1.001, 0.05), 2)
    plot.update_xaxes(range=(_LOWEST - 0.005, 1.01), tickvals=ticks, ticktext=[f"{each:.2f}" for each in ticks])
    plot.update_xaxes(title="coverage of the 95 % interval for the curve")
    plot.update_yaxes(range=(-0.6, len(names) - 0.4), tickvals=list(range(len(names))))
    plot.update_yaxes(ticktext=[PLACES[name] for name in names])
    title = f"Coverage of 95 % intervals of Bayes cloaking in {len(table)} settings, by distribution of the inputs"
    shape = export.Shape("figure", _WIDTH, _HEIGHT, 15.0)
    return export.written(export.ExportText(title=title), of_figure(plot), shape).decode()


def _beside(values: pd.Series, side: int) -> np.ndarray:
    """Distance of each dot from its line, larger for every further dot of nearly the same coverage."""
    places = (values / 0.004).round()
    return np.asarray(side * (0.09 + 0.12 * places.groupby(places).cumcount()))


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables, and draw the figure if a file is named for it."""
    given = options_of(__doc__, argv, {"tables": list(TABLES)}, figure=None)
    for name in given.tables:
        print(f"\n{name}\n")
        show(TABLES[name]())
    if given.figure is not None:
        Path(given.figure).write_text(figure(), encoding="utf-8")
