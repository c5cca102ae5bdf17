"""The pictures of docs/architecture.md: which room imports which, of the core and of the dashboard.

`python -m tests.architecture` renews them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests import structure

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs/architecture.md"
START, END = "```mermaid\n", "```\n"
OUTSIDE = {"__init__", "__main__"}  # the front doors: they lead to every room

Arrows = dict[str, set[str]]


def rooms(package: Path) -> set[str]:
    """Folders and single modules of a package."""
    modules = (path for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    return {path.stem for path in modules} - OUTSIDE


def imported(path: Path, package: Path) -> Iterator[str]:
    """Rooms that a module of the package imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = path.relative_to(package).parts[: -node.level] if node.level else ()
            name = [*above, *(node.module or "").split(".")] if node.level else (node.module or "").split(".")[1:]
            if node.level or (node.module or "").split(".")[0] == package.name:
                parts = [part for part in name if part]
                yield from parts[:1] or (alias.name for alias in node.names)


def arrows(package: Path) -> Arrows:
    """The rooms that each room imports, itself aside."""
    names = rooms(package)
    found: Arrows = {name: set() for name in names}
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room in names:
            found[room] |= {name for name in imported(path, package) if name in names} - {room}
    return found


def reachable(graph: Arrows, start: str) -> set[str]:
    """Rooms that can be reached from one by at least one arrow."""
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead.extend(graph[name])
    return seen


def direct(graph: Arrows) -> list[tuple[str, str]]:
    """Arrows that no longer way replaces: what is enough to draw where there is no circle."""
    longer = {a: set().union(*(reachable(graph, b) for b in graph[a])) for a in graph}
    return sorted((a, b) for a in graph for b in graph[a] - longer[a])


def picture(graph: Arrows) -> str:
    """The drawing in Mermaid's language, what uses others above what they use."""
    lines = [f"    {a} --> {b}\n" for a, b in direct(graph)]
    return "flowchart TD\n" + "".join(lines)


def dashboard() -> Arrows:
    """The rooms under ``pages/_ui`` and the page files together as "page"; each stands on data sets and the core."""
    below = {"datasets", "dpgp_core"}
    rooms = structure.by_room(structure.graph(types=True), structure.page_room)
    return {room: others - below for room, others in rooms.items() if room not in below}


def renewed(text: str) -> str:
    """A document with its drawings replaced by today's: the core first, the dashboard second."""
    first, *others = text.split(START)
    drawings = (picture(arrows(ROOT / "dpgp_core")), picture(dashboard()))
    after = (other.split(END, 1)[1] for other in others)
    return first + "".join(START + new + END + rest for new, rest in zip(drawings, after, strict=True))


if __name__ == "__main__":
    DOCUMENT.write_text(renewed(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
