"""Gaussian process models that need no declaration but bounds and box, and what a filter needs of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.pivoted import factorise
from ..kernels import EQ, AcrossLevels, Kernel, Stationary
from ..levels import level_columns, number_sides
from .bias import Public, bias_features

AUTO_LENGTHSCALES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of each side of the box
NOISE_SDS_BEFORE = (0.1, 0.2, 0.4)  # of releases that are read as if outcomes were normal
AUTO_NOISE_SDS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of half the public range; nobody scatters by more
YES_NO_SDS = (1 / 4, 1 / 2, 3 / 4, 1.0)  # of outcomes that are 0 or 1: rates of .02, .07, .17 or .83, .5
AUTO_VARIANCE = 1 / 3  # of half the public range squared: that of values spread evenly over it
SHARED = (0.0, 0.5, 0.9)  # what groups have in common of the curve's variance
AROUND = (0.5, 1.0, 2.0)  # factors of a declared lengthscale, and of a declared noise's standard deviation
_EXACT, _LOOSE = 1e-12, 1e-6  # of the prior variance at the inputs, left out of the features of few and of many inputs
_MANY = 1000


@dataclass(frozen=True, kw_only=True)
class Model:
    """y = f(x) + e, f ~ GP(0, kernel), e ~ N(0, noise_variance), in model units (0 is the middle of the bounds).

    Args:
        kernel: covariance of f.
        noise_variance: > 0.
        weight: prior weight > 0 among the models of a mixture; only proportions matter.

    Raises:
        ValueError: noise_variance or weight is not a positive number.
    """

    kernel: Kernel
    noise_variance: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive("noise_variance", self.noise_variance)
        check_positive("weight", self.weight)


def auto_models(
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
    *,
    variance: float = AUTO_VARIANCE,
    shared: Sequence[float] = SHARED,
) -> tuple[Model, ...]:
    """Twenty models from the public box and bounds alone: four lengthscales times five noises, of equal weight.

    Args:
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: standard deviations of the noises, over half_range.
        variance: prior variance of f, over half_range squared.
        shared: see ``across_levels``.
    """
    sides = [high - low for low, high in number_sides(box)]
    models = (
        Model(
            kernel=EQ(variance=variance * half_range**2, lengthscale=[share * side for side in sides]),
            noise_variance=(noise * half_range) ** 2,
        )
        for share in AUTO_LENGTHSCALES
        for noise in noise_sds
    )
    return across_levels(models, box, shared)


def across_levels(
    models: Iterable[Model], box: Sequence[tuple[float, float]], shared: Sequence[float] = SHARED
) -> tuple[Model, ...]:
    """Models of inputs that are numbers, for groups that have a share of the curve in common; each share in turn.

    Small groups borrow from large ones as much as the evidence says. Without categories: the models themselves.

    Args:
        models: of the inputs that are numbers; those of a kernel of all inputs are left as they are.
        box: D public (low, high) pairs.
        shared: rho of ``AcrossLevels``.
    """
    columns, given = level_columns(box), tuple(models)
    if not columns:
        return given
    whole = tuple(model for model in given if not isinstance(model.kernel, Stationary))
    return whole + tuple(
        replace(model, kernel=AcrossLevels(inner=model.kernel, columns=columns, shared=rho))
        for rho in shared
        for model in given
        if isinstance(model.kernel, Stationary)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """One model at n records and P test inputs: the covariance of (y, f_*, b) is phi phi^T + a diagonal.

    b (q,) ~ N(0, I) is what the field of clipping's bias is made of, h = psi b; see ``bias``.

    Attributes:
        phi: features (n + P + q, k), records first.
        noise: variance of y that the features leave, (n,): noise_variance and the kernel's residual.
        variance: prior variance of y at the records, of f at the test inputs and of b (n + P + q,).
        noise_variance: of one output given f.
        kernel: of f.
        weight: prior weight of the model.
        bias: psi, of the field h of clipping's bias (n, q); q = 0 where clipping is taken to have none.
        half_range: half the public range of the outputs, in model units; 0 if it is not needed.
        two_valued: whether every output stands at one end of the range, as yes and no do.
    """

    phi: FloatArray
    noise: FloatArray
    variance: FloatArray
    noise_variance: float
    kernel: Kernel
    weight: float
    bias: FloatArray
    half_range: float
    two_valued: bool

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.noise)

    @property
    def tests(self) -> slice:
        """Where f at the test inputs stands."""
        return slice(self.n, len(self.variance) - self.bias.shape[1])


def places_of(
    models: Sequence[Model],
    X: FloatArray,
    X_test: FloatArray,
    *,
    public: Public | None = None,
    tolerance: float | None = None,
) -> tuple[Places, ...]:
    """Every model at records X (n, D) and test inputs X_test (P, D); models of one kernel share their features.

    Pivots are chosen among the records only: given f there, the rest of f at a test input is independent of y.

    Args:
        models: the mixture.
        X: records (n, D).
        X_test: test inputs (P, D).
        public: of the table. None: stages are read as if outcomes were normal, and clipping them no more than that.
        tolerance: share of the prior variance at the records that features may leave out; what they leave counts as
            noise. None: next to nothing.
    """
    tolerance = (_EXACT if len(X) <= _MANY else _LOOSE) if tolerance is None else tolerance
    features: dict[Kernel, tuple[FloatArray, FloatArray]] = {}
    for model in models:
        if model.kernel not in features:
            features[model.kernel] = _features(model.kernel, X, X_test, tolerance)
    bias = np.zeros((len(X), 0)) if public is None else bias_features(public.x_box, X)
    half_range = 0.0 if public is None else public.half_range
    two_valued = public is not None and public.kind == "yes/no"
    return tuple(
        replace(_places(model, bias, half_range, *features[model.kernel]), two_valued=two_valued) for model in models
    )


def _features(kernel: Kernel, X: FloatArray, X_test: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    low_rank = factorise(kernel, X, tolerance)
    phi = np.vstack([low_rank.features.values(), low_rank.features.at(X_test).values()])
    return phi, np.concatenate([kernel.diagonal(X), kernel.diagonal(X_test)])


def _places(model: Model, bias: FloatArray, half_range: float, phi: FloatArray, prior: FloatArray) -> Places:
    n, q = bias.shape
    residual = np.maximum(prior - np.einsum("ij,ij->i", phi, phi), 0.0)
    variance = np.concatenate([prior, np.ones(q)])
    variance[:n] += model.noise_variance
    return Places(
        phi=block_diag(phi, np.eye(q)) if q else phi,
        noise=model.noise_variance + residual[:n],
        variance=variance,
        noise_variance=model.noise_variance,
        kernel=model.kernel,
        weight=model.weight,
        bias=bias,
        half_range=half_range,
        two_valued=False,
    )


def models_around(
    kernel: Stationary,
    noise_variance: float | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
) -> tuple[Model, ...]:
    """A declared kernel with half and twice its lengthscale, several noises each, and ``auto_models`` of equal weight.

    A declared lengthscale that is wrong costs accuracy and makes intervals too narrow; its neighbours and the automatic
    models take over by their evidence.

    Args:
        kernel: declared covariance of f, in squared model units; of the inputs that are numbers.
        noise_variance: declared; half and twice its standard deviation are added. None: the noises of ``auto_models``.
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: of ``auto_models``.
    """
    automatic = auto_models(number_sides(box), half_range, noise_sds)
    if noise_variance is None:
        noises = [(share * half_range) ** 2 for share in noise_sds]
    else:
        noises = [noise_variance * factor**2 for factor in AROUND]
    kernels = [replace(kernel, lengthscale=_scaled(kernel.lengthscale, factor)) for factor in AROUND]
    weight = len(automatic) / (len(kernels) * len(noises))
    declared = tuple(Model(kernel=k, noise_variance=noise, weight=weight) for k in kernels for noise in noises)
    return across_levels(declared + automatic, box)


def models_of(
    kernels: Sequence[Stationary],
    noise_variances: Sequence[float] | None,
    box: Sequence[tuple[float, float]],
    half_range: float,
    noise_sds: Sequence[float] = AUTO_NOISE_SDS,
) -> tuple[Model, ...]:
    """``models_around`` each declared kernel; ``auto_models`` alone where none is declared.

    Args:
        kernels: declared covariances of f, in squared model units; of the inputs that are numbers.
        noise_variances: one per kernel, or None.
        box: D public (low, high) pairs.
        half_range: half the public range of the output, in model units.
        noise_sds: of ``auto_models``.
    """
    if not kernels:
        return auto_models(box, half_range, noise_sds)
    noises: Sequence[float | None] = noise_variances or [None] * len(kernels)
    around = (models_around(*each, box, half_range, noise_sds) for each in zip(kernels, noises, strict=True))
    return tuple(model for family in around for model in family)


def typical_models(models: Sequence[Model]) -> tuple[Model, ...]:
    """One model for each kernel, of the middle one of its noises and of all their weight: enough to plan with.

    Strategies hardly depend on the noise variance, and planning for a third of the models takes a third of the time.
    Of kernels that differ in what groups share, likewise, the middle one stands for all.

    Args:
        models: the mixture.
    """
    families: dict[Kernel, list[Model]] = {}
    for model in models:
        kernel = model.kernel.inner if isinstance(model.kernel, AcrossLevels) else model.kernel
        families.setdefault(kernel, []).append(model)
    return tuple(_typical(family) for family in families.values())


def _typical(family: Sequence[Model]) -> Model:
    shares = sorted({_shared(model) for model in family})
    usual = [model for model in family if _shared(model) == shares[len(shares) // 2]]
    ordered = sorted(usual, key=lambda model: model.noise_variance)
    return replace(ordered[len(ordered) // 2], weight=sum(model.weight for model in family))


def _shared(model: Model) -> float:
    return model.kernel.shared if isinstance(model.kernel, AcrossLevels) else 1.0


def weights_of(models: Sequence[Model]) -> FloatArray:
    """Prior weights, sum 1 (M,)."""
    weights = np.array([model.weight for model in models])
    normalised: FloatArray = weights / weights.sum()
    return normalised


def _scaled(lengthscale: float | Sequence[float], factor: float) -> float | list[float]:
    if isinstance(lengthscale, Sequence):
        return [factor * scale for scale in lengthscale]
    return factor * lengthscale
