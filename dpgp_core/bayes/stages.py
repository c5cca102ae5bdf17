"""Measuring outputs in stages: each looks closely around the curve that the stages before it released."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data import FloatArray
from .filter import State, prior, update
from .models import Model, Places

try:
    from ..strategies.bayes import RiskModel, bayes
except ImportError:
    from opt import RiskModel, bayes
NARROWEST = 1e-3

class Stage(NamedTuple):
    B: FloatArray
    s: float
    gap: float = 0.

Measure = Callable[[Stage, FloatArray, FloatArray], FloatArray]

def mixture_weights(prior_weights, states):
    log = np.log(prior_weights) + np.stack([st.log_evidence for st in states], axis=1)
    w = np.exp(log - log.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True)

def intervals(weights, states, n, half, clip):
    """weights (D, M)"""
    g = sum(weights[:, i, None] * st.mean[:, :n] for i, st in enumerate(states))
    second = sum(weights[:, i, None] * (st.variance[:, :n] + (st.mean[:, :n] - g) ** 2) for i, st in enumerate(states))
    c = clip * np.sqrt(second)
    low, high = np.maximum(g - c, -half), np.minimum(g + c, half)
    least = 2 * half * NARROWEST
    low = np.minimum(low, half - least); high = np.maximum(high, -half + least)
    short = np.maximum(least - (high - low), 0)
    low, high = low - short/2, high + short/2
    return low, high

def full(draws, n, half):
    return np.full((draws, n), -half), np.full((draws, n), half)

def shares(stages):
    w = 2.0 ** np.arange(stages); return w / w.sum()

def risk_models(prior_weights, places, states, low, high, W):
    from .clipping import clipped
    out = []
    for pi, p, st in zip(prior_weights, places, states):
        n = p.n
        k, gain, extra = clipped(st.mean[0, :n], st.variance[0, :n], low[0], high[0])
        a = gain / (high[0] - low[0])
        Q = st.shared[0]
        root = np.hstack([p.phi[:n], Q[:, :n].T]) * a[:, None]
        signs = np.concatenate([np.ones(p.phi.shape[1]), -np.ones(len(Q))])
        F = (p.phi[:n] @ p.phi[n:].T - Q[:, :n].T @ Q[:, n:]) * a[:, None] * np.sqrt(W)
        out.append(RiskModel(noise=a * a * p.noise + extra / (high[0]-low[0]) ** 2, root=root, targets=F, prior_risk=float(W @ st.variance[0, n:]), weight=pi, signs=signs))
    return out

def plan(models, places, half, multiplier, stages=5, clip=.75, W=None, solver=None, **kw):
    solver = solver or bayes
    n = places[0].n; P = len(places[0].variance) - n
    W = np.full(P, 1 / P) if W is None else W
    pw = np.array([m.weight for m in models]); pw = pw / pw.sum()
    states = [prior(p, 1) for p in places]
    low, high = full(1, n, half)
    out = []
    for i, share in enumerate(shares(stages)):
        s = multiplier / math.sqrt(share)
        if i: low, high = intervals(pw[None], states, n, half, clip)
        st = solver(risk_models(pw, places, states, low, high, W), s * s, **kw)
        stage = Stage(st.B, s, st.gap)
        out.append(stage)
        z = np.zeros((1, len(st.B)))
        states = [update(p, x, st.B, low, high, s, z) for p, x in zip(places, states)]
    return out

def run(stages, models, places, half, measure, draws, clip=.75):
    n = places[0].n
    pw = np.array([m.weight for m in models]); pw = pw / pw.sum()
    states = [prior(p, draws) for p in places]
    low, high = full(draws, n, half)
    for i, stage in enumerate(stages):
        if i: low, high = intervals(mixture_weights(pw, states), states, n, half, clip)
        z = measure(stage, low, high)
        states = [update(p, x, stage.B, low, high, stage.s, z) for p, x in zip(places, states)]
    return states, mixture_weights(pw, states)
