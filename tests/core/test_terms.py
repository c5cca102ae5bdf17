"""Public docstrings use the terms of the field. The words that the project once had for them are listed here."""

import ast
import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "dpgp_core"
PRIVATE = {  # what a reader of the field does not know, and what to write
    r"(people|outcomes|values|a share|those) (who are |that are )?far out": "outliers",
    r"(people|outcomes|residuals) scatter|scatter of (people|outcomes)": "residual variance, or dispersion",
    r"(clipping|clipped at the|beyond the) reach": "clipping threshold, or clipping interval",
    r"(people|records|who|they|all|each record) stands? (at|in|on|together)": "location within a cell",
    r"(simulated|known|same|other|these|random) worlds?|worlds? (of|with)": "simulated data set",
    r"(a|the|no|its|every|periodic|week's|year's) waves?": "periodic component",
    r"(may|can|does not|do not|curves?) breaks?|(a|the|no|of|where) (break|jump)s?": "change point, or step",
    r"told (from|by|apart)|tells? (from|apart|how|where|which|what|the|it)": "identified by, determines",
    r"(squares?|sums?|counts?|evidence|release|numbers) (say|says|tell|tells)": "determine, or imply",
    r"surely|(as |so |is |are )sure|sure (of|that)": "confident, or certain",
    r"beside": "next to, as well as, or jointly with",
    r"errs? by": "the error is",
    r"intervals? (that )?holds?|holds? the (curve|mean|difference|outcome|value)s?": "cover",
    r"example draws?": "simulated release",
    r"levels? of (a|the|each|every|its) categor(y|ies)|categor(y|ies)' levels?": "category",
    r"in hindsight|known beforehand": "oracle",
    r"releases? of before|of before": "which version: releases made before version ...",
    r"looked for|look closer": "planned for, or measured",
}
IGNORED = re.compile(r"``[^`]*``|^ *\*{0,2}\w+(?:, \w+)*: |https?://\S+", re.MULTILINE)  # code, names of arguments


def is_public(name):
    return not name.startswith("_") or name == "__init__"


def docstrings(tree, where):
    """Docstrings of a module and of its public classes and functions, with the names that lead to them."""
    if (text := ast.get_docstring(tree)) is not None:
        yield where, " ".join(IGNORED.sub(" ", text).split())
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and is_public(node.name):
            yield from docstrings(node, f"{where}:{node.name}")


def private_words(text):
    return [
        (found.group(0), better)
        for phrase, better in PRIVATE.items()
        if (found := re.search(rf"\b(?:{phrase})\b", text, re.IGNORECASE))
    ]


FILES = sorted(CORE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(CORE)) for path in FILES])
def test_public_docstrings_use_the_fields_terms(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {where: words for where, text in docstrings(tree, path.stem) if (words := private_words(text))}
    assert not found


def test_private_words_are_found_in_prose_only():
    sentence = "Whether clipping may be, and squares say how people scatter: all but releases of before."
    assert {better for _, better in private_words(sentence)} == {
        "residual variance, or dispersion",
        "determine, or imply",
        "which version: releases made before version ...",
    }
    tree = ast.parse(
        'def f(wave):\n    """See ``the wave``.\n\n    Args:\n        wave: the period of a component.\n    """'
    )
    assert [private_words(text) for _, text in docstrings(tree.body[0], "f")] == [[]]
