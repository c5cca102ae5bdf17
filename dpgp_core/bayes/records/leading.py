"""The part of a posterior that strategies of very many records are planned with: what stands out from the noise.

The covariance of y that a model and the stages before leave is noise + Phi Phi^T - Q^T Q. In units of the noise, the
last two terms have few eigenvalues that are not next to 0, however many features and measurements there are. Only a
plan rests on them: any plan is private, and what is predicted from its numbers is computed with all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import FloatArray
from .filter import State
from .places import Places

_ROUNDING = 1e-13  # of the largest eigenvalue of a Gram matrix: below, directions are not told apart


def leading(place: Places, state: State, least: float) -> tuple[Places, State]:
    """The model and the state of one draw with Phi Phi^T - Q^T Q replaced by its leading eigenvectors.

    With D the noise at the records, its mean at test inputs, and R = [Phi, Q^T], S = diag(+1 ..., -1 ...):
    R^T D^-1 R = W diag(g) W^T, and R S R^T has the eigenvalues of diag(sqrt g) W^T S W diag(sqrt g) in units of D.

    Args:
        place: the model at records and test inputs.
        state: of one draw, whose variances are kept.
        least: eigenvalue, in units of the noise, up to which a direction is left out.
    """
    Q = state.shared[0]
    R = np.hstack([place.phi, Q.T])
    signs = np.repeat([1.0, -1.0], [place.phi.shape[1], len(Q)])
    sd = np.sqrt(np.concatenate([place.noise, np.full(len(R) - place.n, place.noise.mean())]))
    scaled = R / sd[:, None]
    g, W = np.linalg.eigh(scaled.T @ scaled)
    told = g > _ROUNDING * g[-1]
    g, W = g[told], W[:, told]
    inner = (W * np.sqrt(g)).T @ (signs[:, None] * W * np.sqrt(g))
    values, V = np.linalg.eigh(inner)
    long = np.abs(values) > least
    values = values[long]
    root: FloatArray = R @ ((W / np.sqrt(g)) @ (V[:, long] * np.sqrt(np.abs(values))))
    return replace(place, phi=root[:, values > 0]), state._replace(shared=root[:, values < 0].T[None])
