"""Measure, then map: integers plus exact discrete noise leave the machine, all else is computed from them."""

from .choice import exponential_mechanism, permute_and_flip
from .discrete import Bits, discrete_gaussian, discrete_laplace, system_bits
from .measurement import LaplaceMeasurement, Measurement
from .noise import GaussianNoise, LaplaceNoise

__all__ = [
    "Bits",
    "GaussianNoise",
    "LaplaceMeasurement",
    "LaplaceNoise",
    "Measurement",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_mechanism",
    "permute_and_flip",
    "system_bits",
]
