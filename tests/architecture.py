"""The pictures of docs/architecture.md: which room imports which, of the core and of the dashboard.

`python -m tests.architecture` renews them.
"""

from __future__ import annotations

from tests import structure
from tests.structure import Graph

DOCUMENT = structure.ROOT / "docs/architecture.md"
START, END = "```mermaid\n", "```\n"
BELOW = {"datasets", "dpgp_core"}  # every room of the dashboard stands on them
DOORS = {"dpgp_core", "__main__"}  # the core's front doors: they lead to every room


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


def renewed(text: str) -> str:
    """A document with its drawings replaced by today's: the core first, the dashboard second."""
    first, *others = text.split(START)
    drawings = (picture(core()), picture(dashboard()))
    after = (other.split(END, 1)[1] for other in others)
    return first + "".join(START + new + END + rest for new, rest in zip(drawings, after, strict=True))


if __name__ == "__main__":
    DOCUMENT.write_text(renewed(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
