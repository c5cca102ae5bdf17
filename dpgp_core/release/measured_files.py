"""Write and read the files of a zip with the measured numbers, from which all other values follow.

``statistics.npz`` is for refitting: strategies, clipping intervals and measurements z of all stages, or the sums of the
sparse DP-GP. ``map.npz`` contains z, an offset and a matrix if the released values are a linear function of the numbers
measured last: offset + map z. ``bounds.csv`` contains the noisy counts from which bounds were bought.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from .. import checks
from ..accounting.guarantee import guarantee_fields
from ..arrays import FloatArray
from ..bounds.buying import OutcomeCounts, Purchase
from ..measurement.described_arrays import FILE
from ..measurement.statistics_file import statistics_to_files
from ..mechanisms.base import LazyStatistics
from ..sparse.statistics import NoiseScales, NoisyStatistics
from .publishing import Published

MAP, BOUNDS = "map.npz", "bounds.csv"
_COUNT = "noisy_count"
_MOST = 1 << 22  # largest count of numbers of the strategies in a file
_DAMAGED = "is damaged; fetch the zip again from whoever released it"


def measured_files(published: Published) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the description for ``release.json``, and the files by name.

    Strategies with more than 2^22 numbers are not written. The guarantee is that of the release, even if it has scaled
    its noise for several rows per person.
    """
    statistics, files = published.statistics, dict[str, bytes]()
    described: dict[str, Any]
    if isinstance(statistics, LazyStatistics):
        offset, factor, z = statistics.mapped(0)
        files[MAP] = _npz({"offset": offset, "map": factor, "z": z})
    if isinstance(statistics, LazyStatistics) and statistics.size > _MOST:
        described = {"file": None, "why": "the strategies are too large for a file; they follow from the inputs"}
    elif isinstance(sums := statistics[0], NoisyStatistics):
        described = {"file": FILE, "noise": asdict(sums.noise)}
        files[FILE] = _npz({"A": sums.A, "B": sums.B})
    else:
        promised = replace(statistics[0], guarantee=guarantee_fields(published.guarantee))
        described, files[FILE] = statistics_to_files(promised)
    if published.bought is not None:
        files[BOUNDS] = counts_text(published.bought).encode()
    return described, files


def mapped_values(files: Mapping[str, bytes]) -> FloatArray:
    """Return the released values (P,) before rounding: offset + map z.

    Raises:
        ValueError: the file is missing or damaged.
    """
    arrays = _arrays(files, MAP, ("offset", "map", "z"))
    if arrays["map"].shape != (*arrays["offset"].shape, *arrays["z"].shape):
        raise ValueError(f"{MAP} {_DAMAGED}")
    return np.asarray(arrays["offset"] + arrays["map"] @ arrays["z"])


def sums_read(described: Mapping[str, Any], files: Mapping[str, bytes]) -> NoisyStatistics:
    """Return the sums of the sparse DP-GP.

    Args:
        described: the description of the statistic.
        files: files of the release, by name.

    Raises:
        ValueError: the file or the description is missing or damaged.
    """
    arrays, noise = _arrays(files, FILE, ("A", "B")), described.get("noise")
    if not isinstance(noise, Mapping) or noise.keys() != {"sa", "sb"}:
        raise ValueError(f"the description of the noise {_DAMAGED}")
    scales = NoiseScales(**{name: checks.number(f"the noise {name}", scale, 0) for name, scale in noise.items()})
    return NoisyStatistics(A=arrays["A"], B=arrays["B"], noise=scales)


def counts_text(bought: OutcomeCounts) -> str:
    """Return the file of the noisy counts: each cell and its count with all digits."""
    ends = bought.purchase.cells.ends
    rows = zip(ends[:-1], ends[1:], bought.counts, strict=True)
    lines = (f"{float(low)!r},{float(high)!r},{float(count)!r}" for low, high, count in rows)
    return "\r\n".join([f'"from","to","{_COUNT}"', *lines, ""])


def counts_read(purchase: Purchase, content: bytes, n: int) -> OutcomeCounts:
    """Read the file of the noisy counts.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        counts = np.array([float(row[_COUNT]) for row in csv.DictReader(content.decode().splitlines())])
        if len(counts) != purchase.cells.count or not np.isfinite(counts).all():
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{BOUNDS} is damaged; fetch the zip again") from None
    return OutcomeCounts(purchase=purchase, counts=counts, n=n)


def _arrays(files: Mapping[str, bytes], name: str, wanted: tuple[str, ...]) -> dict[str, FloatArray]:
    """Return arrays of a file by name."""
    if name not in files:
        raise ValueError(f"{name} is missing; fetch the zip again from whoever released it")
    try:
        with np.load(io.BytesIO(files[name]), allow_pickle=False) as archive:
            return {each: np.asarray(archive[each], dtype=float) for each in wanted}
    except Exception:  # numpy and zipfile raise a dozen types
        raise ValueError(f"{name} {_DAMAGED}") from None


def _npz(arrays: Mapping[str, FloatArray]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()
