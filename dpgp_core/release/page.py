"""Write the files of a zip for people: the release on one printed page, and the script that repeats it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from html import escape
from typing import Any

from ..accounting.gaussian import rounded_up, written
from ..reading.notations import READERS
from .private_table import complete_rows, large_delta

_STYLE = """
@page { size: A4; margin: 12mm }
body { font: 9.5pt/1.32 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 184mm; margin: 1rem auto;
  padding: 0 1rem }
h1 { font-size: 14pt; line-height: 1.2; margin: 0 0 .2rem } h2 { font-size: 10.5pt; margin: .45rem 0 .1rem }
p { margin: .25rem 0 } svg { display: block; width: 100%; max-height: 70mm; margin: .2rem auto }
table { border-collapse: collapse; width: 100%; table-layout: fixed } h1, th, td, p { overflow-wrap: anywhere }
th { text-align: left; font-weight: 600; width: 19% }
th, td { padding: .06rem .5rem .06rem 0; vertical-align: top; font-size: 8pt; line-height: 1.25 }
code { font-size: 7.5pt } @media print { body { margin: 0; padding: 0; max-width: none } }
"""
_GROWTH = "a change of one such unit raises no event's probability by more than a factor exp(epsilon), plus delta"

Rows = Iterable[tuple[str, str]]


def page(card: Mapping[str, Any], figure: str) -> str:
    """Return the file ``card.html``.

    Args:
        card: the content of ``release.json``.
        figure: the figure as an ``svg`` element; "" for none.
    """
    promise, title = card["guarantee"], escape(card["what"])
    headline = (
        f"The noise in these values hides {_hidden(promise)}. The privacy unit is {promise['unit']}: {_GROWTH} "
        f"(epsilon = {_rounded_up(promise['epsilon'])}, delta = {_number(promise['delta'])})."
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{title}</title><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{escape(headline)}</p>{figure}"
        f"<h2>What is promised</h2>{_table(_promised(card))}"
        f"<h2>What was released</h2>{_table(_released(card))}"
        f"<h2>What has been spent on these records</h2>{_table(_spent(card['ledger']))}"
        f"<h2>How to check it, or make it again</h2>{_table(_reproduction(card))}</body></html>\n"
    )


def _promised(card: Mapping[str, Any]) -> Rows:
    promise, odds = card["guarantee"], card["tradeoff"]
    replaced = "a record was replaced" if promise["rows"] == 1 else "the rows of one person were replaced"
    yield "Protects", promise["protects"]
    yield "Unit", promise["unit"]
    yield "Neighbours", promise["neighbours"]
    yield "Budget", f"epsilon = {_rounded_up(promise['epsilon'])}, delta = {_number(promise['delta'])}"
    yield (
        "In words",
        f"whoever tests by this release whether {replaced}, with {_percent(odds['false_alarms'])} false "
        f"alarms, notices a replacement with at most {_percent(odds['found_at_most'])} probability, whatever else is "
        "known",
    )
    if not promise["established"]:
        yield "How sure", "claimed, not proven at this budget"
    yield "Rests on", promise["theorem"]
    yield "Assumes", "; ".join(promise["assumptions"])
    yield "Does not cover", "; ".join(promise["not_covered"])


def _released(card: Mapping[str, Any]) -> Rows:
    config, values = card["config"], card["values"]
    unit = f" {values['unit']}" if values["unit"] else ""
    levels = config["x_levels"] or [None] * len(config["x"])
    sides = zip(config["x"], config["x_units"], config["x_box"], levels, strict=True)
    domain = (
        f"{name} {_span(side)}{f' {unit}' if unit else ''}" if of is None else f"each {name} ({', '.join(of)})"
        for name, unit, side, of in sides
    )
    yield (
        "Values",
        f"{_number(values['rows'])} of {config['y']} in {values['file']}, multiples of "
        f"{_number(values['step'])}{unit}, predicted from {_number(card['public']['n'])} "
        f"{'records' if config['person'] is None else 'people'}",
    )
    yield from _of_rows(card)
    yield "Domain", f"a public grid over {', '.join(domain)}"
    yield from _of_dates(config)
    yield "Bounds", _bounds(card, unit)
    yield from _of_people(config)
    if "projection" in card:
        east, north = card["projection"]["km_in_a_degree"]
        yield (
            "Distances",
            f"in km, equirectangular about the middle of the box: {_number(east)} km in a degree of "
            f"{config['coordinates'][0]}, {_number(north)} km in one of {config['coordinates'][1]}; "
            f"east-west ones are off by up to {_percent(card['projection']['east_west_error'])}",
        )
    if config["log"]:
        yield (
            "Measured",
            f"{card['measured']}; values are mapped back by exp, to the median, and errors are factors",
        )
    yield (
        "Intervals",
        f"the curve, and one further record, lie within theirs with {_percent(values['level'])} probability, privacy "
        "noise included, if the model is right",
    )
    if "fit" in card:
        yield "Fit", " ".join(card["fit"][name] for name in ("says", "detail", "outliers") if name in card["fit"])
    yield "The curve", _curve_is(config)
    if "tolerance" in values:
        tolerance = _number(values["tolerance"])
        error = f"a factor of {tolerance}" if config["log"] else f"± {tolerance}{unit}"
        yield (
            "Useful",
            f"{_number(values['within_tolerance'])} of {_number(values['rows'])} values: where the curve is known to "
            f"within {error}; the others are grey in the figure",
        )


def _of_rows(card: Mapping[str, Any]) -> Rows:
    """Return how many rows were complete, and the declarations for incomplete ones."""
    public, config = card["public"], card["config"]
    if public["left_out"] or public["rows_left_out"]:
        people = config["person"] is not None
        rows = complete_rows(public["n"], public["left_out"], public["rows_left_out"], people=people)
        declared = ", ".join(map(str, config["missing"] or ()))
        words = f"; {declared} declared as missing" if declared else ""
        yield "Rows", f"n = {rows}; which are complete counts as public{words}"
    if config["yes"]:
        yes, no = (", ".join(map(str, config[key])) for key in ("yes", "no"))
        yield "Yes and no", f"yes is written {yes}; no is written {no}; what is neither is missing"
    if config["notations"]:
        yield "Notation", "; ".join(READERS[name].about for name in config["notations"])
    if too_large := large_delta(card["guarantee"]["delta"], public["n"]):
        yield "Delta", too_large


def _of_dates(config: Mapping[str, Any]) -> Rows:
    """Return the declared periods."""
    for name, dates in config["dates"].items():
        if (period := dates["period"]) is not None:
            every = period if isinstance(period, str) else f"{_number(period)} days"
            yield (
                "Period",
                f"the curve may repeat every {every} of {name}; the released numbers say whether it does",
            )


def _bounds(card: Mapping[str, Any], unit: str) -> str:
    """Return the bounds and where they come from."""
    if "bounds" not in card:
        return f"declared without looking: {_span(card['config']['y_bounds'])}{unit}; what lies outside was clipped"
    bought = card["bounds"]
    guess = "" if bought["clear"] else "; the counts hardly stood out of the noise, so these bounds are a guess"
    if bought["off_scale"]:
        guess = "; they reach the end of their scale, and outcomes may lie far beyond it: no value here is useful"
    return (
        f"bought with a share of {_number(bought['share'])} of the budget (of mu squared): "
        f"{_span(bought['interval'])}{unit}, from the noisy counts in {bought['file']}; what lies outside was "
        f"clipped{guess}"
    )


def _curve_is(config: Mapping[str, Any]) -> str:
    """Return what a value estimates, and what its intervals assume."""
    if config["y_kind"] == "yes/no":
        return "the share of yes at each place"
    return f"the mean at each place of outcomes clipped to the bounds{_smooth(config, 'intervals assume')}"


def _smooth(config: Mapping[str, Any], assumed: str) -> str:
    """Return the assumption of intervals that are averaged over models; "" for other mechanisms."""
    if config["mechanism"] not in ("bayes", "bayes_cells"):
        return ""
    return f"; {assumed} a curve about as smooth as one of the models that were averaged"


def _spent(ledger: Mapping[str, Any]) -> Rows:
    number, limit = len(ledger["entries"]), ledger["limit"]
    text = f"{number} release{'' if number == 1 else 's'}"
    if limit is not None:
        text += (
            f", together epsilon = {_rounded_up(ledger['spent']['epsilon'])} of {_number(limit['epsilon'])} declared, "
            f"at delta = {_number(limit['delta'])}"
        )
    yield "So far", text
    if ledger["inputs_public"]:
        yield "Inputs", "count as public from now on: no release of this ledger protects them"
    if "begun_again" in ledger:
        yield "Another ledger", f"counts this table too; that does not matter, because: {ledger['begun_again']}"


def _reproduction(card: Mapping[str, Any]) -> Rows:
    software = card["software"]
    yield (
        "Check",
        "python reproduce.py: compares the files and computes the values from the noisy numbers that were kept",
    )
    yield "Another release", "python reproduce.py table.csv, by the owner of the table: new noise, and spends again"
    yield "All of it", "release.json contains what is on this page, and everything else that is public"
    yield "Noise", card["noise"]
    yield "Software", ", ".join(f"{name} {version}" for name, version in software.items())


def _of_people(config: Mapping[str, Any]) -> Rows:
    """Return the definition and the assumptions of shares and centiles."""
    if config["y_kind"] == "yes/no":
        smooth = _smooth(config, "its intervals assume")
        yield "Share", f"of yes: a fraction in the file, in per cent in the figure{smooth}"
    if config["centiles"]:
        yield (
            "Centiles",
            "values below which so many in a hundred further records are, if outputs are distributed about the curve "
            "with the measured residual variance, as a normal or a gamma distribution",
        )


def _hidden(promise: Mapping[str, Any]) -> str:
    outputs = promise["protects"] == "outputs"
    rows = promise["rows"]
    if rows == 1:
        return "the output of any one record" if outputs else "any one record, its inputs and its output"
    together = "all rows of any one person" if rows is None else f"up to {rows} rows of any one person"
    return f"the outputs of {together}" if outputs else f"{together}, inputs and outputs"


def _table(rows: Rows) -> str:
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(words)}</td></tr>" for name, words in rows)
    return f"<table>{''.join(cells)}</table>"


def _span(ends: Iterable[float | str]) -> str:
    """Return the text for an interval of numbers or dates."""
    return " to ".join(end if isinstance(end, str) else _number(end) for end in ends)


def _number(value: float) -> str:
    return f"{value:.12g}"


def _rounded_up(value: float) -> str:
    """Return an upper bound with three digits, rounded up."""
    return written(rounded_up(value))


def _percent(share: float) -> str:
    return f"{written(Decimal(repr(share)) * 100)} %"


SCRIPT = '''\
"""Check the release in this folder, or make it again from your own copy of the table.

Needs Python 3.11 or newer with numpy, scipy and dpgp (its dpgp_core is enough).

    python reproduce.py

checks the files and computes the values from the measured numbers again. It needs no private table and spends nothing.

    python reproduce.py table.csv

measures again and writes again.zip (or the file named by --out). The noise is new, so the values differ.
THIS IS ANOTHER RELEASE OF THE SAME TABLE: it spends its epsilon again, and whoever sees both knows more than from one.
With --ledger FILE (the first time with --new-ledger too) a release that would pass the total in it is refused.
"""

import sys
from pathlib import Path

try:
    from dpgp_core.release.check import check_folder
    from dpgp_core.release.command_line import main
except ImportError as error:
    sys.exit(f"This needs numpy, scipy and dpgp in Python 3.11 or newer ({error}); install them, then run it again.")

folder = Path(__file__).resolve().parent
if len(sys.argv) == 1:
    try:
        print(check_folder(folder))
    except ValueError as error:
        sys.exit(f"This is not the release as it was made: {error}.")
    sys.exit(0)
print("Running this is another release of the table: it spends its epsilon again.", file=sys.stderr)
out = [] if "--out" in sys.argv else ["--out", "again.zip"]
sys.exit(main(["release", "--config", str(folder / "release.json"), *out, "--csv", *sys.argv[1:]]))
'''
