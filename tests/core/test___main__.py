import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpgp_core.release import spec_from_json, spec_to_json
from dpgp_core.release.specification import EXAMPLE

ROOT = Path(__file__).parents[2]


def run(*arguments, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "dpgp_core", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
    )


@pytest.mark.full
def test_terminals_without_umlauts_do_not_break_releases(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    config = spec_to_json(replace(EXAMPLE, unit="eine Größe"))
    (tmp_path / "c.json").write_text(config, encoding="utf-8")
    (tmp_path / "t.csv").write_text("age,height\n1,70\n30,160\n50,171\n")
    done = run("release", "--csv", "t.csv", "--config", "c.json", "--out", "o.zip", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"eine Gr\xf6\xdfe" in done.stdout


@pytest.mark.full
def test_the_shell_receives_exit_codes(tmp_path):
    template = run("template", cwd=tmp_path)
    assert (template.returncode, template.stderr) == (0, "")
    assert spec_from_json(template.stdout) == EXAMPLE
    (tmp_path / "c.json").write_text(template.stdout)
    (tmp_path / "t.csv").write_text("age,height\n1,70\n30,160\n50,171\n")
    arguments = ("release", "--csv", "t.csv", "--config", "c.json", "--out", "o.zip")
    done, refused = run(*arguments, cwd=tmp_path), run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (refused.returncode, refused.stdout) == (5, "")
    assert refused.stderr.startswith("dpgp_core: 'o.zip' exists already")
