"""How large a part of the project is, room by room: `python -m tests.sizes [FOLDER]` prints a table.

Without a folder it is the core; of `pages` the rooms are those of `pages/_ui`.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path
from statistics import median

CORE = Path(__file__).parents[1] / "dpgp_core"
_SMALL = 60  # lines, of a file that is no thought of its own
_SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Row = tuple[str, int, int, int, int, int, int]


def sizes(part: Path = CORE) -> list[Row]:
    """Lines, tokens, classes, functions, files and small files of each room of a part, and of all together.

    Small are files of less than 60 lines, `__init__` aside. Tokens are those of the language: no comment, no white
    space.
    """
    rooms: dict[str, list[Path]] = {}
    for path in sorted(part.rglob("*.py")):
        inside = [name for name in path.relative_to(part).parts if name != "_ui"]
        rooms.setdefault(inside[0] if len(inside) > 1 else "(top)", []).append(path)
    everything = [path for room in rooms.values() for path in room]
    return [_row(name, files) for name, files in [*sorted(rooms.items()), ("all", everything)]]


def _row(name: str, files: list[Path]) -> Row:
    lines = [path.read_text(encoding="utf-8").count("\n") for path in files]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
    functions = sum(isinstance(node, ast.FunctionDef) for node in nodes)
    small = sum(count < _SMALL for path, count in zip(files, lines, strict=True) if path.stem != "__init__")
    return name, sum(lines), sum(map(_tokens, files)), classes, functions, len(files), small


def _tokens(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(token.type not in _SPACE for token in tokenize.tokenize(stream.readline))


def function_lengths(part: Path = CORE) -> list[int]:
    """Lines of every function of a part."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in part.rglob("*.py")]
    found = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in found]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CORE
    print(f"{'room':14}{'lines':>8}{'tokens':>9}{'classes':>9}{'functions':>11}{'files':>7}{'small':>7}")
    for room, *figures in sizes(folder):
        print(f"{room:14}" + "".join(f"{n:>{w}}" for n, w in zip(figures, (8, 9, 9, 11, 7, 7), strict=True)))
    print(f"median function: {median(function_lengths(folder)):g} lines")
