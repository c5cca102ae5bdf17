"""A table with dates to try the page with: daily visits to a clinic that is not there, over 5,000 days. Simulated."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from dpgp_core.seasons import YEAR

FILE, BUTTON = "simulated_daily_visits.csv", "Simulated daily visits"
FIRST, DAYS = date(2010, 1, 1), 5_000
_SEED = 4


def content() -> bytes:
    """A column ``day`` of ISO dates and ``visits``, counts with a trend and a season: the same on every machine."""
    rng, t = np.random.default_rng(_SEED), np.arange(float(DAYS))
    rate = 20 + 3 * np.sin(t / 900) + 8 * np.cos(2 * np.pi * (t - 20) / YEAR)  # most in late January
    rows = (f"{FIRST + timedelta(days=day)},{count}\n" for day, count in enumerate(rng.poisson(rate)))
    return ("day,visits\n" + "".join(rows)).encode()


def form() -> dict[str, Any]:
    """What is declared of it, by the names of the form's controls: public, and chosen without the table."""
    return {
        "y": "visits",
        "y_unit": "visits",
        "low": 0.0,
        "high": 60.0,
        "unit": "one day's visits",
        "whose": "no",
        "x": ["day"],
        "holds_day": "dates, as 2024-03-01",
        "period_day": "every year",
        "from_day_day": FIRST,
        "to_day_day": FIRST + timedelta(days=DAYS - 1),
        "grid_day": 250,
        "epsilon": 1.0,
        "delta": 1e-5,
        "total": 2.0,
    }
