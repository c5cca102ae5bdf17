"""Measure, then map: integers plus exact discrete noise leave the machine, all else is computed from them."""

from .conditioning import Observation, Posterior, condition
from .discrete import Bits, discrete_gaussian, discrete_laplace, exponential_mechanism, permute_and_flip, system_bits
from .measurement import CellCounts, LaplaceMeasurement, Measurement
from .noise import GaussianNoise, LaplaceNoise
from .refit import Refit, linear_observation, refit
from .statistics import Stage, Statistics
from .statistics_file import statistics_from_files, statistics_to_files

__all__ = [
    "Bits",
    "CellCounts",
    "GaussianNoise",
    "LaplaceMeasurement",
    "LaplaceNoise",
    "Measurement",
    "Observation",
    "Posterior",
    "Refit",
    "Stage",
    "Statistics",
    "condition",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_mechanism",
    "linear_observation",
    "permute_and_flip",
    "refit",
    "statistics_from_files",
    "statistics_to_files",
    "system_bits",
]
