"""The command line of a benchmark: its docstring is what `--help` says, and each option is a default."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any


def options_of(
    docstring: str | None, argv: Sequence[str] | None, names: Mapping[str, Sequence[str]] | None = None, **defaults: Any
) -> argparse.Namespace:
    """What was asked for by ``argv``, the words after a benchmark's name; the rest is as in ``parser_of``."""
    return parser_of(docstring, names, **defaults).parse_args(argv)


def parser_of(
    docstring: str | None, names: Mapping[str, Sequence[str]] | None = None, **defaults: Any
) -> argparse.ArgumentParser:
    """A parser of options.

    Args:
        docstring: of the benchmark.
        names: options that take some of these names; all of them where ``defaults`` has none.
        defaults: options by their defaults. False is a switch, a sequence takes several values of its first one's kind,
            None is text.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks NAME", description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    several = dict(names or {})
    for name, default in ({name: list(choices) for name, choices in several.items()} | defaults).items():
        option, choices = f"--{name.replace('_', '-')}", several.get(name)
        shown = "default: %(default)s"
        if default is False:
            parser.add_argument(option, action="store_true")
        elif isinstance(default, list | tuple):
            kind = type(default[0])
            parser.add_argument(option, nargs="+", type=kind, choices=choices, default=default, help=shown)
        else:
            kind = str if default is None else type(default)
            parser.add_argument(option, type=kind, choices=choices, default=default, help=shown)
    return parser
