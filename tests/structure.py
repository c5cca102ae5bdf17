"""Which module imports which, and what that says of the plan."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("dpgp_core", "datasets", "pages")

Graph = dict[str, set[str]]  # name -> names that it imports


def modules(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> dict[str, Path]:
    """Dotted name -> file of every module, front doors (``__init__``) under their package's name."""
    files = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


@functools.cache
def graph(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES, types: bool = False) -> Graph:
    """The modules that each module imports when it is used; with ``types`` also for a type checker alone."""
    known = modules(root, packages)
    return {name: set(_imported(name, path, set(known), types)) - {name} for name, path in known.items()}


def by_room(found: Graph, room: Callable[[str], str]) -> Graph:
    """The same between rooms; a room that imports itself is left out."""
    rooms: Graph = {room(name): set() for name in found}
    for name, others in found.items():
        rooms[room(name)] |= {room(other) for other in others} - {room(name)}
    return rooms


def core_room(name: str) -> str:
    """Folder or single module of the core: ``gp`` of ``dpgp_core.gp.regression``."""
    return name.split(".")[1] if "." in name else name


def page_room(name: str) -> str:
    """Folder or single module of ``pages/_ui``; "page" for a page itself; the package for what is no page's."""
    parts = name.split(".")
    if parts[0] != "pages":
        return parts[0]
    return parts[2] if parts[1] == "_ui" and len(parts) > 2 else "page"


def circles(found: Graph) -> list[list[str]]:
    """Groups of names each of which can be reached from each other, sorted."""
    reach = {name: reachable(found, name) for name in found}
    groups = {tuple(sorted(other for other in reach[name] if name in reach[other])) for name in found}
    return [list(group) for group in sorted(groups) if group]


def reachable(found: Graph, start: str) -> set[str]:
    """Names that can be reached from one by at least one arrow."""
    seen: set[str] = set()
    ahead = list(found[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead.extend(found[name])
    return seen


@functools.cache
def parsed(path: Path) -> ast.Module:
    """A file as Python reads it, once for all who ask."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path: Path, types: bool = True) -> list[ast.AST]:
    """All nodes of a file; without ``types`` all but those under ``if TYPE_CHECKING``."""
    found: list[ast.AST] = [parsed(path)]
    for node in found:
        for child in ast.iter_child_nodes(node):
            if types or not (isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"):
                found.append(child)
    return found


def _imported(name: str, path: Path, known: set[str], types: bool) -> Iterator[str]:
    for node in nodes(path, types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
            start = above[: len(above) - node.level + 1] if node.level else []
            module = ".".join([*start, *(node.module or "").split(".")]).rstrip(".")
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                if whole in known or module in known:
                    yield whole if whole in known else module


def folders(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> dict[str, int]:
    """Modules directly in each folder, ``__init__`` aside."""
    files = (path for path in modules(root, packages).values() if path.stem != "__init__")
    return Counter(path.parent.relative_to(root).as_posix() for path in files)
