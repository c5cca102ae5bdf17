"""The released statistic as files of a zip, and the way back from there to the released values."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..accounting.guarantee import Guarantee, promise_of
from ..arrays import FloatArray
from ..bayes.reading import read
from ..data import Dataset
from ..measurement.cell_statistics import CellStatistics
from ..measurement.cell_statistics_file import cell_statistics_from_files, cell_statistics_to_files
from ..measurement.described_arrays import FILE
from ..measurement.statistics import Statistics
from ..measurement.statistics_file import statistics_from_files, statistics_to_files
from ..mechanisms import BayesCloaking, SparseVariational
from ..mechanisms.base import PlannedForBudget
from ..mechanisms.recorded import Mapped
from ..sparse.statistics import NoiseScales, NoisyStatistics

MAP = "map.npz"
_MOST = 1 << 22  # numbers of the strategies in a file
_DAMAGED = "is damaged; fetch the zip again from whoever released it"


def statistic_files(
    statistics: Sequence[Any], promised: Guarantee | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The description for ``release.json``, and files by name.

    ``map.npz`` holds z, offset and map of the released values: offset + map z. ``statistics.npz`` holds what refitting
    needs: strategies, intervals and z of all stages; it is left out where the strategies have over 2^22 numbers.

    Args:
        statistics: of a release, one draw.
        promised: what the release promises; None for what the numbers were measured for, which is one row's promise
            where the release makes noise for several.
    """

    def first() -> Any:
        statistic = statistics[0]
        return statistic if promised is None else replace(statistic, guarantee=promise_of(promised))

    if not isinstance(statistics, Mapped) and isinstance(statistics[0], Statistics):
        about, npz = statistics_to_files(first())
        return about, {FILE: npz}
    if not isinstance(statistics, Mapped) and isinstance(statistics[0], CellStatistics):
        about, npz = cell_statistics_to_files(first())
        return about, {FILE: npz}
    if not isinstance(statistics, Mapped):
        sums: NoisyStatistics = statistics[0]
        about = {"file": FILE, "noise": {"sa": sums.noise.sa, "sb": sums.noise.sb}}
        return about, {FILE: _npz({"A": sums.A, "B": sums.B})}
    offset, factor, z = statistics.mapped(0)
    files = {MAP: _npz({"offset": offset, "map": factor, "z": z})}
    if statistics.size > _MOST:
        return {"file": None, "why": "the strategies are too large for a file; they follow from the inputs"}, files
    about, npz = statistics_to_files(first())
    return about, files | {FILE: npz}


def statistics_of_files(about: Mapping[str, Any], npz: bytes) -> Statistics | CellStatistics:
    """Read back what was measured, of either kind.

    Args:
        about: the description in ``release.json``.
        npz: content of ``statistics.npz``.

    Raises:
        ValueError: a file is damaged, or of another kind.
    """
    return cell_statistics_from_files(about, npz) if "kind" in about else statistics_from_files(about, npz)


def remapped(
    mechanism: object, about: Mapping[str, Any], files: Mapping[str, bytes], X_test: FloatArray, public: Dataset
) -> FloatArray:
    """Released values (P,) from what was measured, before rounding. Post-processing: no private table is needed.

    Raises:
        ValueError: a file is missing or damaged.
    """
    if isinstance(mechanism, SparseVariational):
        arrays, noise = _arrays(files, FILE, ("A", "B")), _noise(about)
        released = NoisyStatistics(A=arrays["A"], B=arrays["B"], noise=noise)
        return mechanism.fit_statistics(released, public).predict(X_test)[0]
    if isinstance(mechanism, PlannedForBudget):
        return mechanism.reread(statistics_of_files(about, files.get(FILE, b"")), X_test)
    arrays = _arrays(files, MAP, ("offset", "map", "z"))
    if arrays["map"].shape != (*arrays["offset"].shape, *arrays["z"].shape):
        raise ValueError(f"{MAP} {_DAMAGED}")
    return np.asarray(arrays["offset"] + arrays["map"] @ arrays["z"])


def recentiled(
    mechanism: object,
    about: Mapping[str, Any],
    files: Mapping[str, bytes],
    X_test: FloatArray,
    probabilities: Sequence[float],
) -> FloatArray:
    """Quantiles (q, P) of one further record's output from what was measured, before rounding. Post-processing.

    Raises:
        ValueError: a file is missing or damaged, or it holds no scatter.
    """
    if not isinstance(mechanism, BayesCloaking):
        raise ValueError(f"the centiles follow from nothing that was measured; {FILE} {_DAMAGED}")
    statistics = statistics_of_files(about, files.get(FILE, b""))
    if statistics.distances is None:
        raise ValueError("the release holds no scatter, so no centiles follow from it; fetch the zip again")
    low, high = statistics.bounds
    half_range = (high - low) / statistics.y_scale / 2
    people = statistics.n if isinstance(statistics, CellStatistics) else None
    models = mechanism.models(statistics.x_box, half_range, statistics.reading, people)
    prediction = read(statistics, models).at(X_test).with_people()
    rows = [prediction.quantile(probability)[0] for probability in probabilities]
    return np.clip(statistics.midpoint + statistics.y_scale * np.array(rows), low, high)


def _noise(about: Mapping[str, Any]) -> NoiseScales:
    noise = about.get("noise")
    if not isinstance(noise, Mapping) or noise.keys() != {"sa", "sb"}:
        raise ValueError(f"the description of the noise {_DAMAGED}")
    return NoiseScales(**{name: checks.number(f"the noise {name}", scale, 0) for name, scale in noise.items()})


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _npz(arrays: Mapping[str, FloatArray]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def _arrays(files: Mapping[str, bytes], name: str, wanted: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    if name not in files:
        raise ValueError(f"{name} is missing; fetch the zip again from whoever released it")
    try:
        with np.load(io.BytesIO(files[name]), allow_pickle=False) as archive:
            return {each: np.asarray(archive[each], dtype=float) for each in wanted}
    except Exception:  # numpy and zipfile raise a dozen kinds
        raise ValueError(f"{name} {_DAMAGED}") from None
