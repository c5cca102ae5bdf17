"""Covariances of integrals of f ~ GP(0, EQ) over axis-parallel boxes, and of those integrals with f itself."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

from ..arrays import FloatArray
from ..kernels import EQ

# Intervals narrower than this share of L are integrated by Gauss-Legendre of 5 nodes, to 1e-13 relative: the
# closed form loses (L / width)^2 of its digits to cancellation.
_NARROW = 0.3
_NODES, _WEIGHTS = (array / 2 for array in np.polynomial.legendre.leggauss(5))
_NODES = _NODES + 0.5  # on [0, 1], weights of sum 1


def k_FF(kernel: EQ, boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Covariance (b, c) of the integrals of f over two sets of boxes, in squared model units times volume squared.

    In one dimension, with L = sqrt(2) l and g(z) = sqrt(pi) z erf(z) + exp(-z^2),
    k_FF((s, t), (s', t')) = a l^2 [g((t-s')/L) + g((s-t')/L) - g((t-t')/L) - g((s-s')/L)];
    in more, the variance a times the product over dimensions of what multiplies it.

    Args:
        kernel: EQ kernel of f, variance a, one lengthscale l or one per dimension, in input units.
        boxes: (low, high) of each box in each dimension (b, D, 2), in input units.
        others: the same for the second set (c, D, 2).

    Raises:
        ValueError: the shapes do not fit each other or the lengthscales, or a box has low >= high.

    Source: Smith et al. 2018, supplement, "Integral Kernel".
    """
    scales = _lengthscales(kernel, check_boxes(boxes))
    if check_boxes(others) != len(scales):
        raise ValueError(f"both sets of boxes must have equally many dimensions, got {boxes.shape} and {others.shape}")
    total = np.full((len(boxes), len(others)), float(kernel.variance))
    for i, scale in enumerate(scales):
        # boxes of a grid share few intervals: each pair of distinct ones is computed once
        left, row = np.unique(boxes[:, i], axis=0, return_inverse=True)
        right, column = np.unique(others[:, i], axis=0, return_inverse=True)
        total *= _interval_covariance(left, right, scale)[np.ix_(row.ravel(), column.ravel())]
    return total


def k_Ff(kernel: EQ, boxes: FloatArray, X: FloatArray) -> FloatArray:
    """Covariance (b, P) of the integrals of f over boxes with f at points, in squared model units times volume.

    In one dimension, with L = sqrt(2) l, k_Ff((s, t), x) = a l sqrt(pi / 2) [erf((t-x)/L) + erf((x-s)/L)];
    in more, the variance a times the product over dimensions of what multiplies it.

    Args:
        kernel: EQ kernel of f, as for ``k_FF``.
        boxes: (low, high) of each box in each dimension (b, D, 2), in input units.
        X: points (P, D), in input units.

    Raises:
        ValueError: the shapes do not fit each other or the lengthscales, or a box has low >= high.

    Source: Smith et al. 2018, supplement, "Integral Kernel".
    """
    scales = _lengthscales(kernel, check_boxes(boxes))
    if X.ndim != 2 or X.shape[1] != len(scales):
        raise ValueError(f"X must have shape (P, {len(scales)}) to match the boxes, got {X.shape}")
    total = np.full((len(boxes), len(X)), float(kernel.variance))
    for i, scale in enumerate(scales):
        L = math.sqrt(2) * scale
        s, t, x = boxes[:, i, :1], boxes[:, i, 1:], X[None, :, i]
        # l sqrt(pi / 2) [erf((t-x)/L) + erf((x-s)/L)]
        total *= scale * math.sqrt(math.pi / 2) * (erf((t - x) / L) + erf((x - s) / L))
    return total


def volumes(boxes: FloatArray) -> FloatArray:
    """Volume of each box (b,), the product of its D widths, for boxes (b, D, 2)."""
    widths: FloatArray = boxes[..., 1] - boxes[..., 0]
    product: FloatArray = np.prod(widths, axis=1)
    return product


def check_boxes(boxes: FloatArray) -> int:
    """Dimension D of boxes (b, D, 2); raise ValueError unless they have that shape and low < high throughout."""
    if boxes.ndim != 3 or boxes.shape[1] < 1 or boxes.shape[2] != 2:
        raise ValueError(f"boxes must have shape (b, D, 2) with D >= 1, got {boxes.shape}")
    if not (boxes[..., 0] < boxes[..., 1]).all():
        raise ValueError("every box must have low < high in every dimension; swap or widen the others")
    return int(boxes.shape[1])


def _lengthscales(kernel: EQ, dim: int) -> FloatArray:
    scales = np.asarray(kernel.lengthscale, dtype=float)
    if scales.ndim and len(scales) != dim:
        raise ValueError(f"{len(scales)} lengthscales for boxes of {dim} dimensions; give one, or one per dimension")
    return np.broadcast_to(scales, (dim,))


def _interval_covariance(left: FloatArray, right: FloatArray, scale: float) -> FloatArray:
    """k_FF / a of intervals (b, 2) and (c, 2) in one dimension: (b, c)."""
    L = math.sqrt(2) * scale
    if max(np.diff(left).max(), np.diff(right).max()) < _NARROW * L:
        # sum over nodes u, v of w_u w_v exp(-((u - v) / L)^2): nothing cancels, and what is summed is a covariance
        u, v = _nodes(left), _nodes(right)
        values = np.exp(-(((u[:, None, :, None] - v[None, :, None, :]) / L) ** 2)) @ _WEIGHTS @ _WEIGHTS
        return np.asarray(np.diff(left) * np.diff(right).T * values)
    (s, t), (s_, t_) = left[:, None].transpose(2, 0, 1), right[None].transpose(2, 0, 1)
    # l^2 [g((t-s')/L) + g((s-t')/L) - g((t-t')/L) - g((s-s')/L)]: a second difference of g, g'' = 2 exp(-z^2)
    return scale**2 * (_g((t - s_) / L) + _g((s - t_) / L) - _g((t - t_) / L) - _g((s - s_) / L))


def _nodes(intervals: FloatArray) -> FloatArray:
    """Quadrature nodes (b, 5) of intervals (b, 2)."""
    return intervals[:, :1] + np.diff(intervals) * _NODES


def _g(z: FloatArray) -> FloatArray:
    """g(z) = sqrt(pi) z erf(z) + exp(-z^2)."""
    value: FloatArray = math.sqrt(math.pi) * z * erf(z) + np.exp(-z * z)
    return value
