"""How wide the intervals are that a stage clips outputs to: narrow where noise dominates, wide where records are many.

What a narrow interval shows is precise and may be biased (see ``bias``), what a wide one shows is neither. Which is
better depends on how people scatter, and earlier stages say that: before each stage the width of least expected risk is
taken. All of it follows from what was released. Where records share columns (``cells.binned``) the plan's widths stay:
for so many records they are wide, and hold where a few people lie far out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

NARROWEST = 1e-3  # of the public range: no interval is narrower
CLIP = 0.75  # half-width of an interval over the predictive standard deviation
WIDTHS = (1.0, 4.0, math.inf)  # half-widths that a stage chooses among, over the narrowest
# The widest interval is taken, which rests on least, of those that are nearly the best: in plans and draws, by shares
# of the risk that the best takes away; where noise leaves most of the risk, all leave about the same.
PLANNED_TIED, DRAWN_TIED = 0.1, 0.2
TIED = 0.05  # over cells, of the least expected risk


def widest(risks: Sequence[float], more: float) -> int:
    """Which of intervals, ordered by their widths, to plan for: the widest whose risk is at most ``more`` the least."""
    return max(i for i, each in enumerate(risks) if each <= min(risks) + more)
