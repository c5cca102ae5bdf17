"""Thousands of bad inputs through the command line, in process: ``python -m tests.fuzz_inputs --count 10000``.

Each must end with an exit code above 0 and one sentence: no traceback, no cell of the table, nothing written,
nothing spent. Prints how many of each kind were refused, and the slowest.
"""

import argparse
import codecs
import io
import json
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpgp_core.release.command_line import BAD_CONFIG, BAD_DATA, NOT_WRITTEN, REFUSED, main
from dpgp_core.release.json_text import spec_to_json
from tests.fuzz_configs import CONFIGS, LEDGERS, SPEC, TEXT, extreme_settings
from tests.fuzz_tables import HEADER, SECRET, TABLES, cells_of, good, mutated_kind, other_kind, pick, rows, table
from tests.kinds import AGES, DAYS, Kind

MAY_SUCCEED = [
    MOVED := "outcomes of another kind",  # read as the nearest of the declared one
    "mutated bytes",
    "extreme settings",
    MUTATED := "mutated files of every kind",
    LOOKED := "a look at them",
]
KINDS = [*TABLES, *CONFIGS, *LEDGERS, "wrong arguments", "paths that cannot be used", *MAY_SUCCEED]


def wrong_arguments(rng, folder):
    good = ["release", "--csv", f"{folder}/t.csv", "--config", f"{folder}/c.json", "--out", f"{folder}/o.zip"]
    cut = int(rng.integers(0, len(good)))
    more = pick(rng, ["--seed", "--epsilon=3", "extra", "--for", "-x", "--led", "\ud800", "--", "--ledger", "\x00"])
    return pick(rng, [good[:cut], [*good, *(["--", "x"] if more == "--" else [more])], ["rel", *good[1:]], ["", *good]])


def unusable_paths(rng, folder):
    paths = {"csv": f"{folder}/t.csv", "config": f"{folder}/c.json", "out": f"{folder}/o.zip"}
    name = pick(rng, [*paths, "ledger"])
    taken = [f"{folder}/t.csv", f"{folder}/c.json", str(folder), f"{folder}/none/o"] if name == "out" else [str(folder)]
    missing = [] if name in {"out", "ledger"} else [f"{folder}/nowhere", ""]
    paths[name] = pick(rng, [*taken, *missing, f"{folder}/{'x' * 300}", f"{folder}/a\0b", f"{folder}/none/x"])
    force = ["--force"] if rng.random() < 0.5 else []
    return ["release", *[f"--{key}={value}" for key, value in paths.items()], *force]


def mutated(rng):
    """A good table and configuration, one of them with a few bytes changed: may still be good."""
    texts = [bytearray(good(rng)), bytearray(TEXT)]
    text = pick(rng, texts)
    for _ in range(int(rng.integers(1, 4))):
        text[int(rng.integers(len(text)))] = int(rng.integers(256))
    return bytes(texts[0]), bytes(texts[1])


def config_of(kind: Kind):
    """What is declared of a table of a kind."""
    config = {
        "x": [kind.x],
        "x_box": [DAYS if kind.x == "day" else AGES],
        "y": kind.y,
        "y_bounds": None if kind.two_valued else (0, 1e5),
        "y_kind": "yes/no" if kind.two_valued else "number",
        "unit": "one person",
        "grid": [3],
        "epsilon": 1.0,
        "delta": 1e-5,
        "mechanism": "refined",
    }
    return json.dumps(config | kind.declared).encode()


def prepare(kind, rng, folder):
    """Write the files of one case; return its arguments, the exit codes that it may have, and cells not to be shown."""
    content, config, ledger, codes = good(rng), TEXT, None, {BAD_CONFIG}
    cells = {SECRET}
    if kind in TABLES:
        content, codes = TABLES[kind](rng), {BAD_DATA}
        if kind == "too many rows":  # for the mechanism with the lowest limit, so that the file stays small
            config = spec_to_json(replace(SPEC, mechanism="inducing")).encode()
    elif kind in CONFIGS:
        config = CONFIGS[kind](rng)
        cells = {cell for cell in cells if cell.encode() not in config}  # drawn there by chance, and public
        codes = {BAD_CONFIG, BAD_DATA} if kind == "names that do not fit" else codes  # no such column, or text in it
    elif kind in LEDGERS:
        ledger, codes = LEDGERS[kind](rng), {REFUSED} if kind == "a spent ledger" else codes
    elif kind == MOVED:
        content, config, codes = other_kind(rng), spec_to_json(replace(SPEC, y_kind="count")).encode(), {0}
    elif kind == "mutated bytes":
        (content, config), codes = mutated(rng), {0, BAD_CONFIG, BAD_DATA}
    elif kind == "extreme settings":
        config, codes = extreme_settings(rng), {0, BAD_DATA}
        content = table(HEADER, rows(rng, int(rng.integers(2, 60))) * int(rng.integers(1, 3)))
    elif kind in (MUTATED, LOOKED):
        content, of = mutated_kind(rng)
        config, codes, cells = config_of(of), {0, BAD_DATA}, cells_of(of)
        code = "utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
        # names are public whatever was moved there, also below a title; UTF-16 may have lost its mark
        first, *lines = content.decode(code, "replace").replace("\0", "").split("\n")
        names = "\n".join([first, *(line for line in lines if of.x in line)])
        cells = {cell for cell in cells if cell not in names}
    (folder / "t.csv").write_bytes(content)
    (folder / "c.json").write_bytes(config)
    arguments = ["release", "--csv", f"{folder}/t.csv", "--config", f"{folder}/c.json", "--out", f"{folder}/o.zip"]
    if ledger is not None:
        (folder / "l.json").write_bytes(ledger)
        arguments += ["--ledger", f"{folder}/l.json"]
    if kind == "wrong arguments":
        arguments = wrong_arguments(rng, folder)
    elif kind == "paths that cannot be used":
        arguments, codes = unusable_paths(rng, folder), {BAD_CONFIG, BAD_DATA, NOT_WRITTEN}
    elif kind == LOOKED:
        arguments = ["look", f"{folder}/t.csv", *(["--y", "height"] if rng.random() < 0.5 else [])]
    return arguments, codes, cells


def run(kind, rng, folder):
    """Run one case; return (exit code, what was wrong with the outcome or '')."""
    arguments, codes, cells = prepare(kind, rng, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            code = main(arguments)
    except BaseException:
        return None, f"raised\n{traceback.format_exc()[-1500:]}"
    said = out.getvalue() + err.getvalue()
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    problems = {
        f"exit code {code}": code not in codes,
        "shows a cell": (code != 0 or kind != LOOKED) and any(cell in said for cell in cells),
        "not one sentence": code != 0 and (not said.startswith("dpgp_core: ") or said.count("\n") != 1),
        "too long": len(said) > 1500 and kind != LOOKED,
        "changed a file": code != 0 and after != before,
    }
    found = [problem for problem, there in problems.items() if there]
    return code, f"{found}: {said[:600]!r} {arguments}" if found else ""


def fuzz(count, seed, kinds=KINDS):
    """Run ``count`` cases, the kinds in turn; return (codes by kind, problems, slowest seconds by kind)."""
    rng = np.random.default_rng(seed)
    codes, problems, slowest = defaultdict(Counter), [], Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            start = time.perf_counter()
            code, problem = run(kind, rng, Path(folder))
            slowest[kind] = max(slowest[kind], time.perf_counter() - start)
            codes[kind][code] += 1
            if problem:
                problems.append((kind, problem))
    return codes, problems, slowest


def report(codes, problems, slowest):
    """The table of what happened, as text."""
    lines = [f"{'kind':40} {'inputs':>7} {'refused':>8} {'slowest':>9}  exit codes"]
    for kind, counts in codes.items():
        refused = sum(times for code, times in counts.items() if code != 0)
        shown = json.dumps({str(code): times for code, times in sorted(counts.items(), key=str)})
        lines.append(f"{kind:40} {counts.total():7} {refused:8} {slowest[kind]:7.2f} s  {shown}")
    total = sum(counts.total() for counts in codes.values())
    lines.append(f"{total} inputs, {len(problems)} problems")
    return "\n".join([*lines, *(f"PROBLEM {kind}: {problem}" for kind, problem in problems[:40])])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = fuzz(options.count, options.seed)
    print(report(*found))
    raise SystemExit(bool(found[1]))
