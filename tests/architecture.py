"""Pictures of two documents, made from the code: `python -m tests.architecture` renews them.

docs/architecture.md shows which room imports which, of the core and of the dashboard. docs/bayes_cloaking.md shows how
a release of Bayes cloaking splits its budget.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpgp_core.bayes.budget import BudgetSplit, split_budget
from dpgp_core.bayes.tuning import TUNING
from tests import structure
from tests.structure import Graph

DOCUMENT = structure.ROOT / "docs/architecture.md"
BAYES = structure.ROOT / "docs/bayes_cloaking.md"
START, END = "```mermaid\n", "```\n"
BELOW = {"datasets", "dpgp_core"}  # every room of the dashboard stands on them
DOORS = {"dpgp_core", "__main__"}  # the core's front doors: they lead to every room
SPLITS = {
    "number, inputs public": split_budget(1.0, "number", TUNING.stages),
    "amount or count, inputs public": split_budget(1.0, "amount", TUNING.stages),
    "yes/no, inputs public": split_budget(1.0, "yes/no", 1),
    "number, inputs private": split_budget(1.0, "number", TUNING.stages, inputs_too=True, locations=True),
    "amount or count, inputs private": split_budget(1.0, "amount", TUNING.stages, inputs_too=True, locations=True),
    "number, inputs private, few people": split_budget(1.0, "number", TUNING.stages_of_few, inputs_too=True),
}
"""The budgets of the table; the picture shows the one that is split over most measurements."""
SHOWN = "amount or count, inputs private"


def core() -> Graph:
    """The rooms of the core."""
    return _without(structure.by_room(structure.graph(packages=("dpgp_core",), types=True), structure.core_room), DOORS)


def dashboard() -> Graph:
    """The rooms under ``pages/_ui``, and the page files together as "page"."""
    return _without(structure.by_room(structure.graph(types=True), structure.page_room), BELOW)


def _without(rooms: Graph, left_out: set[str]) -> Graph:
    return {room: others - left_out for room, others in rooms.items() if room not in left_out}


def direct(graph: Graph) -> list[tuple[str, str]]:
    """Arrows that no longer way replaces: what is enough to draw where there is no circle."""
    longer = {a: set().union(*(structure.reachable(graph, b) for b in graph[a])) for a in graph}
    return sorted((a, b) for a in graph for b in graph[a] - longer[a])


def picture(graph: Graph) -> str:
    """The drawing in Mermaid's language, what uses others above what they use."""
    lines = [f"    {a} --> {b}\n" for a, b in direct(graph)]
    return "flowchart TD\n" + "".join(lines)


def budget_picture(split: BudgetSplit) -> str:
    """Draw in Mermaid's language how a budget is split, in per cent of 1 / s^2."""
    parts = {"curve": 1 - split.dispersion - split.above, "distances": split.dispersion, "above": split.above}
    boxes = [("budget", name, name, share) for name, share in parts.items()]
    boxes += [("curve", name, name, getattr(split, name)) for name in ("counts", "locations")]
    for number, (sums, squares) in enumerate(zip(split.sums, split.squares, strict=True), 1):
        of = f": sums {sums:.2%}, squares {squares:.2%}" if squares else ": sums"
        boxes.append(("curve", f"stage{number}", f"stage {number}{of}", sums + squares))
    lines = [f'    {parent} --> {name}["{text}<br>{share:.2%}"]\n' for parent, name, text, share in boxes if share]
    return 'flowchart LR\n    budget["1 / s²<br>100 %"]\n' + "".join(lines).replace("%", " %")


def budget_table(splits: dict[str, BudgetSplit]) -> str:
    """Write the shares of several budgets as a table, in per cent of 1 / s^2; of stages, sums + squares."""
    most = max(len(split.sums) for split in splits.values())
    columns = [[name, "---", *_shares(split, most)] for name, split in splits.items()]
    stages = [f"stage {i}: sums + squares" if i > 1 else "stage 1: sums" for i in range(1, most + 1)]
    names = ["measurement", "---", "counts", "locations", *stages, "distances", "number above the curve"]
    rows = zip(names, *columns, strict=True)
    return "".join(f"| {' | '.join(row)} |\n".replace("| --- ", "|---").replace("- |", "-|") for row in rows)


def _shares(split: BudgetSplit, most: int) -> list[str]:
    """The shares of a budget, those of ``most`` stages among them; a dash for what is not measured."""
    stages = [
        (f"{100 * a:.2f} + {100 * b:.2f}" if b else _share(a)) for a, b in zip(split.sums, split.squares, strict=True)
    ]
    stages += [_share(0.0)] * (most - len(stages))
    return [_share(split.counts), _share(split.locations), *stages, _share(split.dispersion), _share(split.above)]


def _share(share: float) -> str:
    return f"{100 * share:.2f}" if share else "–"


def renewed(text: str) -> str:
    """docs/architecture.md with its drawings replaced by today's: the core first, the dashboard second."""
    return _redrawn(text, picture(core()), picture(dashboard()))


def renewed_bayes(text: str) -> str:
    """docs/bayes_cloaking.md with the picture and the table of the budget replaced by those of the code."""
    before, rest = text.split("| measurement | number, inputs public")
    after = rest.split("\n\n", 1)[1]
    return _redrawn(before + budget_table(SPLITS) + "\n" + after, budget_picture(SPLITS[SHOWN]))


def _redrawn(text: str, *drawings: str) -> str:
    first, *others = text.split(START)
    after = (other.split(END, 1)[1] for other in others)
    return first + "".join(START + new + END + rest for new, rest in zip(drawings, after, strict=True))


RENEWED: dict[Path, Callable[[str], str]] = {DOCUMENT: renewed, BAYES: renewed_bayes}
"""What each document is when its pictures are those of the code."""


if __name__ == "__main__":
    for document, renew in RENEWED.items():
        document.write_text(renew(document.read_text(encoding="utf-8")), encoding="utf-8")
