"""A published release read back from its files: everything that it says is computed from them, and costs nothing."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..bayes.mixture import MixtureUncertainty, Of
from ..bayes.models import Model
from ..bayes.reading import Difference, Reading, difference, read, refit
from ..kernels import Kernel
from ..measurement.cell_statistics import CellStatistics
from ..measurement.described_arrays import FILE, UNREADABLE
from ..measurement.refit import Refit
from ..measurement.statistics import Statistics
from ..mechanisms import BayesCloaking
from .ledger_json import guarantee_from_object
from .specification_json import spec_from_object
from .statistic import statistics_of_files
from .strict_json import read_object

CARD = "release.json"
MOST_BYTES = 1 << 31
_AGAIN = "fetch it again from whoever released it"


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedRelease:
    """What somebody published, read with the models of its release. Public: no private table is needed.

    Attributes:
        statistics: what was measured.
        guarantee: the promise for it, as its card says.
        models: the mixture that it is read with, in model units.
    """

    statistics: Statistics | CellStatistics
    guarantee: Guarantee
    models: tuple[Model, ...]

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Of each input that is a category, its declared levels."""
        declared = self.statistics.x_levels or (None,) * len(self.statistics.x_names)
        return {name: each for name, each in zip(self.statistics.x_names, declared, strict=True) if each is not None}

    def places(self, numbers: FloatArray, groups: Mapping[str, str] | None = None) -> FloatArray:
        """Rows of X (P, D) at values of the inputs that are numbers, for one group.

        Args:
            numbers: (P,) for one such input, (P, D') for several, in their order.
            groups: name of each category -> one of its levels.

        Raises:
            ValueError: the columns do not fit, a category is missing, or it has no such level.
        """
        names, chosen, levels = self.statistics.x_names, dict(groups or {}), self.levels
        plain = [name for name in names if name not in levels]
        columns = np.asarray(numbers, dtype=float)
        columns = columns[:, None] if columns.ndim == 1 else columns
        if columns.ndim != 2 or columns.shape[1] != len(plain):
            raise ValueError(f"give one column for each of {', '.join(plain)}, got the shape {columns.shape}")
        if chosen.keys() != levels.keys():
            raise ValueError(f"say which group by a level of each of {sorted(levels)}, got {sorted(chosen)}")
        for name, level in chosen.items():
            if level not in levels[name]:
                raise ValueError(f"{name!r} has no level {level!r}; its levels are {', '.join(levels[name])}")
        code = {name: float(levels[name].index(level)) for name, level in chosen.items()}
        numbered = dict(zip(plain, columns.T, strict=True))
        return np.column_stack([numbered.get(name, np.full(len(columns), code.get(name, 0.0))) for name in names])

    def predict(self, X: FloatArray) -> FloatArray:
        """The curve at X (P, D), (P,), cut to the bounds: in the output's unit, or of logarithms that were measured."""
        return np.asarray(self._at(X).values[0])

    def interval(self, X: FloatArray, level: float = 0.95, of: Of = "function") -> tuple[FloatArray, FloatArray]:
        """Ends (P,), (P,) of the interval that holds the curve, or one more output, with this probability.

        Raises:
            ValueError: level is outside (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}; for example 0.95")
        low, high = self._at(X).interval(level, of)
        return low[0], high[0]

    def quantile(self, probability: float, X: FloatArray, of: Of = "outputs") -> FloatArray:
        """Value (P,) at X (P, D) that one more output, or the curve, stays below with this probability.

        Raises:
            ValueError: probability is outside (0, 1).
        """
        if not 0 < probability < 1:
            raise ValueError(f"probability must lie between 0 and 1, got {probability}; for example 0.5")
        return np.asarray(self._at(X).quantile(probability, of)[0])

    def difference(self, first: str, second: str, X: FloatArray, *, of: str | None = None) -> Difference:
        """The curve of one group less that of another: see ``difference``.

        Raises:
            ValueError: there are no such groups, or X does not fit.
        """
        return difference(self.statistics, first, second, X, of=of, models=self.models)

    def refit(self, X: FloatArray, *, kernels: Sequence[Kernel], noise_variances: Sequence[float]) -> Refit:
        """The curve at X (P, D) under other models: see ``refit``.

        Raises:
            ValueError: no model, a variance is not positive, or X does not fit.
        """
        return refit(self.statistics, kernels=kernels, noise_variances=noise_variances, X_test=X)

    @cached_property
    def _reading(self) -> Reading:
        return read(self.statistics, self.models)

    def _at(self, X: FloatArray) -> MixtureUncertainty:
        statistics, prediction = self.statistics, self._reading.at(X).with_people()
        return MixtureUncertainty(
            prediction=prediction,
            bounds=statistics.bounds,
            midpoint=statistics.midpoint,
            y_scale=statistics.y_scale,
            cut=("outputs", "function") if isinstance(statistics, CellStatistics) else (),
            two_valued=statistics.reading == "yes/no",
        )


def load(path: str | Path) -> LoadedRelease:
    """Read a published release: its zip, the folder it was unpacked to, or ``statistics.npz`` in that folder.

    Nothing is spent, and nothing in the files is executed.

    Args:
        path: of the zip, the folder, or the file.

    Raises:
        ValueError: there is no release, a file is missing, too large or damaged, or the release keeps nothing to read
            again.
    """
    files = _files(Path(path))
    card = read_object(files[CARD], CARD)
    about = card.get("statistics")
    if not isinstance(about, dict) or "stages" not in about or FILE not in files:
        raise ValueError(
            f"{str(path)!r} keeps no {FILE} with what was measured of each output, so it cannot be read again. "
            "Releases by Bayes cloaking do"
        )
    statistics, guarantee = statistics_of_files(about, files[FILE]), guarantee_from_object(card.get("guarantee"))
    low, high = statistics.bounds
    half_range = (high - low) / statistics.y_scale / 2
    models = _mechanism(card.get("config"), guarantee).models(statistics.x_box, half_range, statistics.reading)
    return LoadedRelease(statistics=statistics, guarantee=guarantee, models=models)


def _mechanism(config: object, guarantee: Guarantee) -> BayesCloaking:
    """That of the release, for its models; with automatic ones where the card names none or another mechanism."""
    built = spec_from_object(config).built if isinstance(config, dict) else None
    if isinstance(built, BayesCloaking):
        return built
    return BayesCloaking(epsilon=guarantee.budget.epsilon, delta=guarantee.budget.delta or 1e-5)


def _files(path: Path) -> dict[str, bytes]:
    """The two files that are needed, by name."""
    if path.is_file() and path.suffix != ".npz":
        return _unzipped(path)
    folder = path if path.is_dir() else path.parent
    found = {name: folder / name for name in (CARD, FILE)}
    if path.suffix == ".npz" and not path.is_dir():
        found[FILE] = path
    if not found[CARD].is_file():
        raise ValueError(f"there is no {CARD} at {str(folder)!r}; give the zip as it was published, or its folder")
    return {name: _content(each) for name, each in found.items() if each.is_file()}


def _content(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{str(path)!r} has more than {MOST_BYTES} bytes; {_AGAIN}")
    return path.read_bytes()


def _unzipped(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(_content(path))) as archive:
            wanted = [each for each in archive.infolist() if each.filename in (CARD, FILE)]
            if sum(each.file_size for each in wanted) > MOST_BYTES:
                raise ValueError(f"{str(path)!r} unpacks to more than {MOST_BYTES} bytes; {_AGAIN}")
            files = {each.filename: archive.read(each) for each in wanted}
    except UNREADABLE:
        raise ValueError(f"{str(path)!r} is no zip, or a damaged one; {_AGAIN}") from None
    if CARD not in files:
        raise ValueError(f"{str(path)!r} holds no {CARD}, so it is no release of this project; {_AGAIN}")
    return files
