"""Read a published release from its files, and check that its values follow from its measured numbers."""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, checks
from ..accounting.guarantee import Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray, lattice
from ..bayes.mixture import Mixture, MixtureUncertainty
from ..bayes.model import Model
from ..bayes.refit import Difference, Refit, ReleasePosterior, difference, posterior_given, refit
from ..bounds.buying import Purchase
from ..figures.drawing import Curve, draw_curves, draw_grid
from ..figures.export import new_axes
from ..figures.ticks import dates_of
from ..gp.uncertainty import IntervalTarget
from ..kernels import Kernel
from ..measurement.described_arrays import FILE, UNREADABLE
from ..measurement.measurement import KnownCounts
from ..measurement.statistics import CellStatistics, Statistics
from ..measurement.statistics_file import MADE_BEFORE_0_3, statistics_from_files
from ..mechanisms import BayesCloaking, SparseVariational
from ..table import Outcome
from .bundle import digest
from .json_text import guarantee_from_object, read_object, spec_from_object
from .measured_files import BOUNDS, counts_read, mapped_values, sums_read
from .picture import side_of, upright
from .plan import LEVEL, decimals
from .publishing import in_unit, known_part, values_in_unit
from .specification import CENTILES, ReleaseSpec

if TYPE_CHECKING:
    from ..figures.drawing import Axes

CARD = "release.json"
MOST_BYTES = 1 << 31
_ALONG, _ACROSS = 201, 41  # points along a curve, and along each side of a map
_ROUNDING = 1e-6  # tolerance for rounding errors of the sum of all parts of the budget, and of epsilon given mu
_AGAIN = "fetch it again from whoever released it"


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedRelease:
    """A published release with the models that read it. It is public; the private table is not needed.

    Attributes:
        guarantee: the guarantee on its card.
        left_out: number of rows that lacked a value; if rows identify people, number of people without a complete row.
        rows_left_out: number of rows that were left out, if it is public; otherwise the public part of it.
    """

    statistics: CellStatistics
    guarantee: Guarantee
    models: tuple[Model, ...]
    left_out: int = 0
    rows_left_out: int = 0

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Declared categories of each categorical input, by name."""
        return self.statistics.levels

    def places(self, numbers: FloatArray, groups: Mapping[str, str] | None = None) -> FloatArray:
        """Return points X (P, D) of one group from values of the numerical inputs.

        Args:
            numbers: values (P,) of the numerical input, or (P, D') of several, in their order.
            groups: category of each categorical input, by name of the input.

        Raises:
            ValueError: the shape does not fit, an input is missing, or it has no such category.
        """
        names, chosen, levels = self.statistics.x_names, groups or {}, self.levels
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
        values = dict(zip(plain, columns.T, strict=True))
        values |= {name: np.full(len(columns), levels[name].index(level)) for name, level in chosen.items()}
        return np.column_stack([values[name] for name in names])

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the curve (P,) at X (P, D), clipped to the bounds, in the output's unit or as measured logarithms."""
        return np.asarray(self.prediction(X).values[0])

    def interval(
        self, X: FloatArray, level: float = 0.95, of: IntervalTarget = "function"
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends (P,), (P,) of an interval that covers the curve, or one further output, with this
        probability.

        Raises:
            ValueError: level is outside (0, 1).
        """
        checks.check_share("level", level)
        low, high = self.prediction(X).interval(level, of)
        return low[0], high[0]

    def quantile(self, probability: float, X: FloatArray, of: IntervalTarget = "outputs") -> FloatArray:
        """Return the quantile (P,) of one further output, or of the curve, at X (P, D).

        Raises:
            ValueError: probability is outside (0, 1).
        """
        checks.check_share("probability", probability)
        return np.asarray(self.prediction(X).quantile(probability, of)[0])

    def probability_above(self, level: float, X: FloatArray, of: IntervalTarget = "function") -> FloatArray:
        """Return the probability (P,) that the curve at X (P, D), or one further output, exceeds a level."""
        return np.asarray(self.prediction(X).probability_above(level, of)[0])

    def difference(self, first: str, second: str, X: FloatArray, *, of: str | None = None) -> Difference:
        """Return the curve of one group minus that of another; see ``difference``.

        Raises:
            ValueError: a group does not exist, or X does not fit.
        """
        return difference(self.statistics, first, second, X, of=of, models=self.models)

    def refit(self, X: FloatArray, *, kernels: Sequence[Kernel], noise_variances: Sequence[float]) -> Refit:
        """Return the curve at X (P, D) under other models; see ``refit``. It costs no privacy.

        Raises:
            ValueError: there is no model, a variance is not positive, or X does not fit.
        """
        return refit(self.statistics, kernels=kernels, noise_variances=noise_variances, X_test=X)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve of each group with its 95 % interval, or a map over the first two inputs.

        A map shows the first group, at the middle of any further inputs. Colours fade where little is known. Shares of
        yes are in per cent.

        Args:
            ax: matplotlib axes to draw on; None for those of a new figure.

        Returns:
            The axes.

        Raises:
            ValueError: matplotlib is not installed.
        """
        ax, statistics, binary = ax or new_axes(), self.statistics, self.statistics.outcome_model == "yes/no"
        scale, unit = (100.0, "% yes") if binary else (1.0, statistics.y_unit)
        title = f"{statistics.y_name} [{unit}]" if unit else statistics.y_name
        sides = [side_of(each.name, each.unit, each.box, dates_of(each.unit)) for each in statistics.numbers]
        names, bounds = list(self.levels), (scale * statistics.bounds[0], scale * statistics.bounds[1])
        groups = [dict(zip(names, each, strict=True)) for each in product(*self.levels.values())]
        if len(sides) == 1:
            x, curves = np.linspace(*sides[0].ends, _ALONG), list[Curve]()
            for number, group in enumerate(groups):
                at = self.prediction(self.places(x, group))
                low, high = (scale * end[0] for end in at.interval(LEVEL, "function"))
                name, values = ", ".join(group.values()), scale * at.values[0]
                curves.append(Curve(number=number, name=name, x=x, values=values, low=low, high=high))
            ends = np.stack([[each.low, each.high] for each in curves])
            draw_curves(ax, curves, sides[0], upright(title, bounds, ends))
            return ax
        axes = [np.linspace(*side.ends, _ACROSS) for side in sides[:2]]
        axes += [np.array([sum(side.ends) / 2]) for side in sides[2:]]
        at = self.prediction(self.places(lattice(axes), groups[0]))
        low, high = at.interval(LEVEL, "function")
        shares = known_part(high[0] - low[0], statistics.bounds[1] - statistics.bounds[0])
        values = scale * at.values[0].reshape(_ACROSS, _ACROSS)
        draw_grid(ax, values, shares.reshape(values.shape), sides[0], sides[1], title)
        return ax

    @cached_property
    def _posterior(self) -> ReleasePosterior:
        return posterior_given(self.statistics, self.models)

    def prediction(self, X: FloatArray) -> MixtureUncertainty:
        """Return the predictions of all models at X (P, D) with their weights, for one release, in the output's
        unit.
        """
        return uncertainty_read(self.statistics, self._posterior.at(X).curve)


def uncertainty_read(statistics: Statistics | CellStatistics, prediction: Mixture) -> MixtureUncertainty:
    """Return a prediction from a released statistic in the output's unit.

    Args:
        statistics: the released statistic.
        prediction: the prediction in model units.
    """
    binary = isinstance(statistics, CellStatistics) and statistics.outcome_model == "yes/no"
    outcome = Outcome(
        name=statistics.y_name,
        unit=statistics.y_unit,
        bounds=statistics.bounds,
        kind="yes/no" if binary else "number",
        scale=statistics.y_scale,
    )
    return MixtureUncertainty(outcome=outcome, prediction=prediction)


def load(path: str | Path) -> LoadedRelease:
    """Read a published release: its zip, the folder it was unpacked to, or ``statistics.npz`` in that folder.

    No budget is spent, and nothing in the files is executed.

    Args:
        path: path of the zip, the folder, or the file.

    Raises:
        ValueError: there is no release, a file is missing, too large or damaged, or the mechanism of the release keeps
            no statistic that can be read again.
    """
    files = _files(Path(path))
    card = read_object(files[CARD], CARD)
    described, guarantee = card.get("statistics"), guarantee_from_object(card.get("guarantee"))
    mechanism = _mechanism(card.get("config"), guarantee)
    if not isinstance(mechanism, BayesCloaking):
        raise ValueError(
            f"{str(path)!r} is a release of another mechanism than Bayes cloaking, so it cannot be read again; its "
            "values.csv holds its values"
        )
    if not isinstance(described, dict) or "stages" not in described or FILE not in files:
        raise ValueError(
            f"{str(path)!r} keeps no {FILE} with what was measured of each output, so it cannot be read again. "
            "Releases by Bayes cloaking do"
        )
    release = _loaded(mechanism, described, files[FILE], guarantee)
    public = card.get("public")
    return replace(release, left_out=_counted(public, "left_out"), rows_left_out=_counted(public, "rows_left_out"))


def models_of_card(card: Mapping[str, Any], statistics: CellStatistics, guarantee: Guarantee) -> tuple[Model, ...]:
    """Return the models, in model units, that read a release when it was made, according to its card.

    Raises:
        ValueError: the measurements have less noise than the guarantee requires.
    """
    _check_noise(statistics, guarantee)
    mechanism = _mechanism(card.get("config"), guarantee)
    return mechanism.models_of_release(statistics) if isinstance(mechanism, BayesCloaking) else ()


def _mechanism(config: object, guarantee: Guarantee) -> object:
    """Return the mechanism of a release; Bayes cloaking with its automatic models if the card names none."""
    if isinstance(config, dict):
        return spec_from_object(config).built
    return BayesCloaking(epsilon=guarantee.budget.epsilon, delta=guarantee.budget.delta or 1e-5)


def _counted(public: object, name: str) -> int:
    """Return a number of rows or people on a card; 0 if the card does not state it."""
    return checks.whole(f"{name} of {CARD}", public.get(name, 0) if isinstance(public, dict) else 0, 0, 10**9)


def _loaded(
    mechanism: BayesCloaking, described: Mapping[str, Any], content: bytes, guarantee: Guarantee
) -> LoadedRelease:
    """Return the release: its statistic, and the models of the mechanism for it."""
    statistics = statistics_from_files(described, content)
    if not isinstance(statistics, CellStatistics):
        raise ValueError(MADE_BEFORE_0_3)
    _check_noise(statistics, guarantee)
    models = mechanism.models_of_release(statistics)
    return LoadedRelease(statistics=statistics, guarantee=guarantee, models=models)


def _check_noise(statistics: CellStatistics, guarantee: Guarantee) -> None:
    """Raise ValueError if the measurements are less private than the guarantee claims.

    The noise of a release by Bayes cloaking is Gaussian, whatever kind of privacy loss its card names. The loss of all
    measurements must not exceed the epsilon of the card at its delta, nor the mu of the card. If inputs are protected,
    records must have been counted with noise.
    """
    rows, budget, loss = guarantee.rows or 1, guarantee.budget, guarantee.loss
    measured = GaussianLoss(rows * statistics.mu)
    epsilon = measured.epsilon(budget.delta) if budget.delta > 0 else math.inf
    allowed = loss.mu if isinstance(loss, GaussianLoss) else math.inf
    if guarantee.protects != "outputs" and isinstance(statistics.counts, KnownCounts):
        found = f"{FILE} has the exact counts of records, and the guarantee on {CARD} claims to protect inputs"
    elif epsilon > budget.epsilon * (1 + _ROUNDING) or measured.mu > allowed * (1 + _ROUNDING):
        found = (
            f"the noise in {FILE} gives mu = {measured.mu:.4g} and epsilon = {epsilon:.4g} at delta {budget.delta:g}, "
        )
        found += f"and the guarantee on {CARD} claims less"
    else:
        return
    raise ValueError(f"{found}: the release is less private than it claims, or its files were changed; {_AGAIN}")


def _files(path: Path) -> dict[str, bytes]:
    """Return the card and the statistic of a release, by file name."""
    if path.is_file() and path.suffix != ".npz":
        return unzipped(_content(path), repr(str(path)), MOST_BYTES)
    folder = path if path.is_dir() else path.parent
    paths = {name: folder / name for name in (CARD, FILE)}
    if path.suffix == ".npz" and not path.is_dir():
        paths[FILE] = path
    if not paths[CARD].is_file():
        raise ValueError(f"there is no {CARD} at {str(folder)!r}; give the zip as it was published, or its folder")
    return {name: _content(each) for name, each in paths.items() if each.is_file()}


def _content(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{str(path)!r} has more than {MOST_BYTES} bytes; {_AGAIN}")
    return path.read_bytes()


def unzipped(content: bytes, name: str, most: int) -> dict[str, bytes]:
    """Return the card and the measurements in the zip of a release, by file name.

    Args:
        content: the zip.
        name: what a message calls it.
        most: largest size of both files together, in bytes.

    Raises:
        ValueError: it is no zip, is damaged or too large, or has no card.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            wanted = [each for each in archive.infolist() if each.filename in (CARD, FILE)]
            if sum(each.file_size for each in wanted) > most:
                raise ValueError(f"{name} unpacks to more than {most / 2**20:.4g} MB, the limit; {_AGAIN}")
            files = {each.filename: archive.read(each) for each in wanted}
    except UNREADABLE:
        raise ValueError(f"{name} is no zip, or a damaged one; {_AGAIN}") from None
    if CARD not in files:
        raise ValueError(f"{name} holds no {CARD}, so it is no release of this project; {_AGAIN}")
    return files


_FINEST, _COARSEST = 1e-40, 1e15  # smallest and largest step of rounding, for the narrowest and the widest bounds


def check_folder(folder: Path) -> str:
    """Compute the released values again from the measured numbers; return a sentence that says whether they agree.

    The private table is not needed, and no budget is spent.

    Raises:
        ValueError: a file is missing or was changed, or the values do not follow from the measured numbers.
    """
    card = read_object(_file(folder, "release.json"), "release.json")
    try:
        listed, described = dict(card["sha256"]), dict(card["statistics"])
        step = checks.number("the step of the values", card["values"]["step"], _FINEST, _COARSEST)
        spec = spec_from_object(card["config"])
    except (KeyError, TypeError):
        raise ValueError("release.json is not of a release with statistics; fetch the zip again") from None
    files = {name: _file(folder, name) for name in sorted(listed) if Path(name).name == name}
    for name, content in files.items():
        if digest(content) != listed[name]:
            raise ValueError(f"{checks.cut(name)} is not the file that release.json describes; fetch the zip again")
    software = card.get("software")
    made_by = software.get("dpgp", __version__) if isinstance(software, dict) else __version__
    if spec.choice.kind.automatic and str(made_by).split(".")[:2] != __version__.split(".")[:2]:
        return (
            "The files are those that release.json describes. Its values were read by the models of another version; "
            "whoever wants to compute them again installs the version that release.json names."
        )
    outcome, bounds = spec.outcome, ""
    if spec.purchase is not None:
        outcome, bounds = _within_bounds(spec.purchase, card, files), ", the bounds follow from the noisy counts"
    values, *centiles = values_again(spec, outcome, described, files)
    _check_column(files, "value", values_in_unit(outcome, values, step), step)
    for centile, line in zip(CENTILES, centiles, strict=False):
        _check_column(files, f"centile_{centile}", in_unit(outcome, line, step), step)
    return (
        f"The files are those that release.json describes{bounds}, and all {len(values)} values"
        f"{' and centiles' if centiles else ''} follow from the measured numbers, to {max(decimals(step), 0)} decimals."
    )


def values_again(
    spec: ReleaseSpec, outcome: Outcome, described: Mapping[str, Any], files: Mapping[str, bytes]
) -> list[FloatArray]:
    """Return the values (P,) and each centile (P,) that follow from the measured numbers, before rounding.

    Args:
        outcome: the outcome with its declared or bought bounds.
        described: the description of the statistic.
        files: of the release, by name.

    Raises:
        ValueError: a file is missing or damaged, or it lacks the residual variance, which centiles need.
    """
    points = spec.points()
    if isinstance(spec.built, BayesCloaking):
        release = _loaded(spec.built, described, files.get(FILE, b""), spec.guarantee)
        if spec.centiles and release.statistics.distances is None:
            raise ValueError(
                "the release does not contain the residual variance, so it has no centiles; fetch the zip again"
            )
        prediction, bounds = release.prediction(points), release.statistics.bounds
        centiles = (prediction.quantile(each / 100)[0] for each in CENTILES if spec.centiles)
        return [prediction.values[0], *(np.clip(each, *bounds) for each in centiles)]
    if isinstance(spec.built, SparseVariational):
        public = spec.public_table(points, outcome=outcome)
        return [spec.built.fit_statistics(sums_read(described, files), public).predict(points)[0]]
    return [mapped_values(files)]


def _within_bounds(purchase: Purchase, card: Mapping[str, Any], files: Mapping[str, bytes]) -> Outcome:
    """Return the outcome within its bought bounds, which follow from noisy counts."""
    try:
        n = checks.whole("the number of people", card["public"]["n"], 1, 10**9)
        named = checks.interval("the bounds", card["bounds"]["interval"])
    except (KeyError, TypeError):
        raise ValueError("release.json says nothing of the bounds that were bought; fetch the zip again") from None
    bought = counts_read(purchase, files.get(BOUNDS, b""), n)
    if bought.interval != named:
        raise ValueError(f"the bounds do not follow from {BOUNDS}; fetch the zip again")
    return bought.outcome


def _check_column(files: Mapping[str, bytes], name: str, expected: FloatArray, step: float) -> None:
    """Raise ValueError unless a column of the table has these values."""
    try:
        rows = csv.DictReader(io.StringIO(files.get("values.csv", b"").decode()))
        column = np.array([float(row[name]) for row in rows])
    except (KeyError, TypeError, ValueError):
        raise ValueError("values.csv cannot be read; fetch the zip again") from None
    # another processor may round products differently in the last digit, which changes a value by at most one step
    if column.shape != expected.shape or not (np.abs(column - expected) <= 1.5 * step).all():
        raise ValueError("values.csv does not follow from what was measured; fetch the zip again")


def _file(folder: Path, name: str) -> bytes:
    path = folder / name
    if len(name) > checks.MAX_LETTERS or not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{checks.cut(name)} is missing or too large; fetch the zip again")
    return path.read_bytes()
