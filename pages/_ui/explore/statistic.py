"""A release from its files or from simulated releases, within limits; and its readings, kept in the session."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.refit import Difference, difference
from dpgp_core.figures.ticks import dates_of
from dpgp_core.levels import groups_of
from dpgp_core.measurement.described_arrays import FILE
from dpgp_core.measurement.statistics import CellStatistics, Statistics
from dpgp_core.measurement.statistics_file import statistics_from_files
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.release.check import CARD, models_of_card, unzipped
from dpgp_core.release.json_text import guarantee_from_object, read_object, spec_from_object
from dpgp_core.release.specification import ReleaseSpec
from pages._ui.cloaking import computed as cloaking
from pages._ui.cloaking.results import Numbers
from pages._ui.explore import posterior
from pages._ui.explore.posterior import Filtered
from pages._ui.model import Budget
from pages._ui.session import Kept, Slot
from pages._ui.work import cached

T = TypeVar("T")

MAX_BYTES = 5 * 2**20  # of a file
MAX_UNPACKED = 100 * 2**20  # of what is read of it
MAX_RECORDS = 2_000
MAX_INPUTS = 3


@dataclass(frozen=True, eq=False)
class Explored:
    """A release to explore, which is public.

    Attributes:
        statistics: released numbers and their measurements.
        guarantee: its guarantee.
        models: models that read it when it was made; empty for a mechanism with one declared model.
        spec: its specification according to its card; None for a simulated release, or if the card does not contain it.
    """

    statistics: Statistics | CellStatistics
    guarantee: Guarantee
    models: tuple[Model, ...] = ()
    spec: ReleaseSpec | None = None

    @property
    def numbers(self) -> int:
        """Count of released numbers."""
        counts = len(self.statistics.z) if isinstance(self.statistics, CellStatistics) else 0
        return counts + sum(len(each.B) for each in self.statistics.measurements)


@dataclass(frozen=True)
class ExampleDraw:
    """A simulated release of Bayes cloaking: data set, budget and number."""

    dataset: str
    epsilon: float
    delta: float
    draw: int = 1

    @property
    def budget(self) -> Budget:
        """Data set and budget."""
        return Budget(self.dataset, self.epsilon, self.delta)

    @property
    def mechanism(self) -> BayesCloaking:
        """Return the mechanism as a real release uses it."""
        return self.budget.mechanism


def explored(numbers: Numbers, example: ExampleDraw) -> Explored:
    """Return a simulated release, with the models that read it when it was made."""
    found, mechanism = numbers.statistics, example.mechanism
    return Explored(found, numbers.guarantee, mechanism.models_of_release(found))


def opened(files: Mapping[str, bytes]) -> Explored:
    """Read a published release from its zip, or from ``release.json`` and ``statistics.npz`` of it.

    Args:
        files: uploaded contents by name.

    Raises:
        ValueError: a file is missing, too large or damaged, or the release keeps nothing that can be read again.
    """
    content = _contents(files)
    card = read_object(content[CARD], CARD)
    about = card.get("statistics")
    if not isinstance(about, dict) or "stages" not in about or FILE not in content:
        raise ValueError(
            f"this release keeps no {FILE} with what was measured of each record's output, so it cannot be explored. "
            "Releases by Bayes cloaking do"
        )
    statistics, guarantee = statistics_from_files(about, content[FILE]), guarantee_from_object(card.get("guarantee"))
    own = models_of_card(card, statistics, guarantee) if isinstance(statistics, CellStatistics) else ()
    config = card.get("config")
    explored = Explored(statistics, guarantee, own, spec_from_object(config) if isinstance(config, dict) else None)
    _check_size(explored.statistics)
    budget = explored.guarantee.budget
    if any(explored.statistics.guarantee.get(name) != getattr(budget, name) for name in ("epsilon", "delta")):
        raise ValueError(f"{CARD} and {FILE} speak of different budgets; take both from the same release")
    return explored


def _check_size(statistics: Statistics | CellStatistics) -> None:
    """Raise ValueError if there are too many columns to be read here."""
    dims, columns = len(statistics.numbers), statistics.stages[0].measurement.B.shape[1]
    if columns > MAX_RECORDS or dims > MAX_INPUTS:
        raise ValueError(
            f"the release is about {columns:,} records, clusters or cells with {dims} inputs, more than "
            f"{MAX_RECORDS:,} or {MAX_INPUTS}, the limits here. Refit it with the library"
        )


def _contents(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the two files that are needed, from a zip if there is one."""
    for name, content in files.items():
        if len(content) > MAX_BYTES:
            raise ValueError(f"a file has {len(content) / 2**20:.1f} MB, more than {MAX_BYTES // 2**20} MB, the limit")
        if zipfile.is_zipfile(io.BytesIO(content)) and not name.endswith(".npz"):
            return unzipped(content, "the file", MAX_UNPACKED)
    cards = [content for name, content in files.items() if name.endswith(".json")]
    arrays = [content for name, content in files.items() if name.endswith(".npz")]
    if len(cards) != 1 or len(arrays) != 1:
        raise ValueError(f"that is no release; give the zip as it was published, or its {CARD} and {FILE} together")
    return {CARD: cards[0], FILE: arrays[0]}


POINTS = 200  # points of a grid, unless a visitor chooses another number
# Number of groups up to which each has all points of a grid; points of each if there are more groups
_FEW, _LEAST = 4, 50
BETWEEN = 100  # points of a difference
_BEYOND = (
    "the released numbers are so far from what the models of this page expect that nothing can be computed from them; "
    "fetch the files again from whoever released them, or refit them with the library"
)


@dataclass(frozen=True, eq=False)
class Upload:
    """A published release as files.

    Attributes:
        name: name, shown only on the page of its own visitor.
        files: contents by name.
    """

    name: str
    files: Mapping[str, bytes] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """Digest, which is equal for equal files."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name} {len(content)} ".encode() + content)
        return digest.hexdigest()


EXPLORED: Slot[Upload] = Slot("own_explored")
EXPLORED_REFIT: Kept[tuple[Explored, Filtered]] = Kept("own_explored_refit")  # readings of a release, by its digest
EXPLORED_CHOSEN: Kept[FloatArray] = Kept("own_explored_chosen")  # curves with a chosen lengthscale
EXPLORED_DIFFERENCE: Kept[Difference] = Kept("own_explored_apart")  # differences of two groups of the same release
EXPLORED_FILES: Slot[int] = Slot("own_explored_files")  # a new number empties the uploader
EXPLORED_SETTINGS: Slot[frozenset[str]] = Slot("own_explored_settings")  # all settings that were on screen


class Refit(NamedTuple):
    """Settings of a refit, which all its views share: a kernel, the points of the grid, and the index of a lengthscale
    with which the curve is computed too; None for none.
    """

    kernel: str
    points: int
    lengthscale: int | None = None


def drawn(example: ExampleDraw) -> Explored:
    """Return a simulated release, the same as on other pages."""
    numbers = cloaking.first_numbers(example.budget, example.draw)
    return cached.value("Reading the release", explored, example, given=(numbers,), here=True)


def read_again(example: ExampleDraw | None, refit: Refit) -> tuple[Explored, Filtered]:
    """Return a simulated release, or the visitor's, read with all models and with the chosen lengthscale alone.

    The visitor's is kept in this session only.

    Raises:
        ValueError: it cannot be read.
    """
    doing, shared = "Reading the release again", refit._replace(lengthscale=None)
    if example is not None:
        explored = drawn(example)
        read = cached.value(doing, refit_over_box, shared, example, given=(explored,))
        if refit.lengthscale is not None:
            one = cached.value(doing, with_one_lengthscale, refit, example, given=(explored, read.X_test))
            read = replace(read, chosen=one)
        return explored, read
    explored, read = _once(EXPLORED_REFIT, shared, doing, _own, _uploaded().files, shared)
    if refit.lengthscale is not None:
        one = _once(EXPLORED_CHOSEN, refit, doing, _own_lengthscale, explored, read.X_test, refit)
        read = replace(read, chosen=one)
    return explored, read


def _uploaded() -> Upload:
    upload = EXPLORED.find()
    assert upload is not None
    return upload


def _once(kept: Kept[T], settings: Hashable, doing: str, function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)`` about the visitor's release, which this session keeps for the same settings."""
    return kept.made((_uploaded().digest, settings), lambda: cached.of_one_session(doing, function, *args))


def drop() -> None:
    """Forget the visitor's release."""
    EXPLORED.pop()
    EXPLORED_REFIT.pop()
    EXPLORED_CHOSEN.pop()
    EXPLORED_DIFFERENCE.pop()


def refit_over_box(explored: Explored, refit: Refit, _example: ExampleDraw | None = None) -> Filtered:
    """Return a release read with all models on a grid over its box."""
    box = explored.statistics.x_box
    X_test = posterior.grid_over(box, max(_LEAST, refit.points // max(1, groups_of(box) // _FEW)))
    for number, column in enumerate(explored.statistics.columns):
        if dates_of(column.unit) is not None:
            X_test[:, number] = np.rint(X_test[:, number])  # whole days, as in the published file
    return posterior.filtered(explored.statistics, explored.models, refit.kernel, X_test)


def with_one_lengthscale(
    explored: Explored, X_test: FloatArray, refit: Refit, _example: ExampleDraw | None = None
) -> FloatArray:
    """Return the curve (P,) of a release with the lengthscale of the refit alone."""
    assert refit.lengthscale is not None
    return posterior.with_lengthscale(explored.statistics, refit.kernel, refit.lengthscale, X_test)


def group_difference(explored: Explored, example: ExampleDraw | None, pair: tuple[int, int]) -> Difference:
    """Return one group's curve minus another's, by number. It follows from released numbers, so it is free."""
    doing = "Comparing two groups"
    if example is not None:
        return cached.value(doing, _group_difference, pair, example, given=(explored,))
    return _once(EXPLORED_DIFFERENCE, pair, doing, _own_difference, explored, pair)


def _group_difference(explored: Explored, pair: tuple[int, int], _example: ExampleDraw | None = None) -> Difference:
    statistics = explored.statistics
    [levels] = [each.levels for each in statistics.columns if each.levels is not None]
    grid = posterior.grid_over(statistics.x_box, BETWEEN)[:BETWEEN]
    return difference(statistics, levels[pair[0]], levels[pair[1]], grid, models=explored.models or None)


def _own(files: Mapping[str, bytes], refit: Refit) -> tuple[Explored, Filtered]:
    explored = opened(files)
    return explored, _finite(lambda read: read.numbers, refit_over_box, explored, refit)


def _own_lengthscale(explored: Explored, X_test: FloatArray, refit: Refit) -> FloatArray:
    return _finite(lambda curve: (curve,), with_one_lengthscale, explored, X_test, refit)


def _own_difference(explored: Explored, pair: tuple[int, int]) -> Difference:
    return _finite(lambda found: (found.mean, *found.interval()), _group_difference, explored, pair)


def _finite(numbers: Callable[[T], Iterable[FloatArray]], function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)`` if all its ``numbers`` are finite.

    Raises:
        ValueError: they are not, or computing with extreme numbers failed. Errors of scipy are among these.
    """
    try:
        with np.errstate(all="ignore"):
            found = function(*args)
            if all(np.isfinite(each).all() for each in numbers(found)):
                return found
    except (ArithmeticError, ValueError):
        pass  # the sentence replaces it
    raise ValueError(_BEYOND)
