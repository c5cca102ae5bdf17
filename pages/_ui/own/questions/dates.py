"""An input that is a date: its first and last day, and what may come again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from streamlit.delta_generator import DeltaGenerator

from dpgp_core.dates import ORDERS, Format
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

PERIODS = {"nothing": None, "every year": "year", "every week": "week"}
_SHOWN_AS: dict[Format, str] = dict(zip(ORDERS, ("YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY"), strict=True))
_EARLIEST, _LATEST = date(1000, 1, 1), date(2999, 12, 31)


def side(
    row: Sequence[DeltaGenerator], name: str, format: Format, *, automatic: bool
) -> tuple[str | None, str | None, str | None]:
    """Period, first and last day of an input that is a date, as declared.

    Args:
        row: where the three controls stand.
        name: of the input.
        format: how its dates are written.
        automatic: whether the mechanism makes its models itself, and so can look for a period.
    """
    period = row[0].selectbox(
        "Comes again" if automatic else "Comes again (not here)",
        list(PERIODS),
        key=key(f"period_{name}", "nothing"),
        disabled=not automatic,
        help=f"What you expect to come again along {plain(name)}, for example every year for clinic visits. It is "
        "looked for, and found as far as the noisy numbers show it. The domain must hold it twice.",
    )
    first, last = (
        where.date_input(
            f"{plain(name)} {end}",
            value=None,
            min_value=_EARLIEST,
            max_value=_LATEST,
            format=_SHOWN_AS[format],
            key=key(f"{end}_day_{name}"),
            help=f"The {which} day of the curve. Say what you knew before, not the {which} in the table.",
        )
        for where, end, which in ((row[1], "from", "first"), (row[2], "to", "last"))
    )
    days = [day.isoformat() if isinstance(day, date) else None for day in (first, last)]
    return PERIODS[period] if automatic else None, days[0], days[1]


def days_between(first: str | None, last: str | None) -> float | None:
    """Days of a domain, if it is declared and not empty."""
    if first is None or last is None or first >= last:
        return None
    return float((date.fromisoformat(last) - date.fromisoformat(first)).days)
