import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dpgp_core.reading.writing import Writing
from dpgp_core.release import command_line, ledger_from_json, spec_from_json, spec_to_json
from dpgp_core.release.command_line import main
from dpgp_core.release.ledger_file import read_ledger_file
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.worlds import make_spec, make_table, names
from tests.waiting import PATIENCE, wait_until

ROOT = str(Path(__file__).resolve().parents[3])


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run ``release`` in a folder with a table and a configuration; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_bytes(make_table())
    (tmp_path / "config.json").write_text(spec_to_json(make_spec()))

    def release(*more, csv="table.csv", config="config.json", out="out.zip"):
        code = main(["release", "--csv", csv, "--config", config, "--out", out, *more])
        return (code, *capsys.readouterr())

    return release


def card(folder, name="out.zip"):
    with zipfile.ZipFile(folder / name) as archive:
        return archive.read("release.json")


def test_a_release(run, tmp_path):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "Wrote out.zip: epsilon = 1, delta = 1e-05, protecting the outputs of one person's height (hidden: " in out
    assert "(hidden: any one row). Spent so far" in out
    assert "epsilon = 1 of 3 at delta = 1e-05, 1 release." in out
    assert spec_from_json(card(tmp_path)) == make_spec(writing=Writing(separator=","))
    assert len(ledger_from_json(card(tmp_path)).entries) == 1


def test_a_tolerance_is_marked_and_said(run, tmp_path):
    code, out, _ = run("--tolerance", "0.5")
    assert code == 0
    assert "At 9 of 9 points the curve is not known to within ± 0.5 cm with 95 % probability" in out
    assert json.loads(card(tmp_path))["values"]["within_tolerance"] == 0
    assert spec_from_json(card(tmp_path)).tolerance == 0.5
    code, _, err = run("--tolerance", "nan", out="b.zip")
    assert (code, err) == (2, "dpgp_core: tolerance must be a finite number, got nan\n")
    assert not (tmp_path / "b.zip").exists()


def test_degrees_and_logarithms_are_declared_by_the_command(run, tmp_path):
    two = {"x": ("age", "x"), "x_units": ("", ""), "x_box": ((0, 90), (0, 50)), "lengthscale": (900, 900)}
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(**two, grid=(3, 3), mechanism="sparse")))
    lines = (tmp_path / "table.csv").read_text().splitlines()
    (tmp_path / "table.csv").write_text("\n".join([f"x,{lines[0]}", *(f"1,{line}" for line in lines[1:])]) + "\n")
    code, _, err = run("--degrees", "age", "x", "--log")
    assert (code, err) == (0, "")
    spec = spec_from_json(card(tmp_path))
    assert (spec.coordinates, spec.log) == (("age", "x"), True)


def test_a_card_is_a_configuration_with_its_ledger(run, tmp_path):
    run()
    (tmp_path / "release.json").write_bytes(card(tmp_path))
    code, out, _ = run(config="release.json", out="again.zip")
    assert code == 0
    assert "2 releases" in out
    assert len(ledger_from_json(card(tmp_path, "again.zip")).entries) == 2
    assert run("--ledger", "l.json", "--new-ledger", config="release.json", out="third.zip")[0] == 0
    assert len(read_ledger_file(str(tmp_path / "l.json")).entries) == 2


def test_a_card_is_not_replaced_by_a_ledger(run, tmp_path):
    run()
    (tmp_path / "release.json").write_bytes(card(tmp_path))
    code, _, err = run("--ledger", "release.json", out="b.zip")
    assert code == 2
    assert "'release.json' holds more than a ledger; name a new file" in err
    assert (tmp_path / "release.json").read_bytes() == card(tmp_path)
    assert not (tmp_path / "b.zip").exists()


def test_exceeding_the_total_without_a_ledger_warns(run, tmp_path):
    run()
    found = json.loads(card(tmp_path))
    found["ledger"]["entries"] *= 7
    (tmp_path / "release.json").write_text(json.dumps(found))
    code, out, _ = run(config="release.json", out="again.zip")
    assert code == 0
    assert "ABOVE the declared total" in out
    code, _, err = run("--ledger", "l.json", "--new-ledger", config="release.json", out="third.zip")
    assert code == 4
    assert err.startswith("dpgp_core: this would bring the total to epsilon = 3.19")
    assert not (tmp_path / "third.zip").exists()


def test_an_existing_zip_is_kept_unspent(run, tmp_path):
    (tmp_path / "out.zip").write_bytes(b"old")
    code, _, err = run("--ledger", "l.json", "--new-ledger")
    assert code == 5
    assert "exists already; name another file, or add --force" in err
    assert (tmp_path / "out.zip").read_bytes() == b"old"
    assert not (tmp_path / "l.json").exists()
    assert run("--ledger", "l.json", "--new-ledger", "--force")[0] == 0


def test_a_wrong_table_spends_nothing(run, tmp_path):
    (tmp_path / "table.csv").write_bytes(b"age,height\n1,7391secret\n2,150\n")
    code, out, err = run("--ledger", "l.json", "--new-ledger")
    assert (code, out) == (3, "")
    assert err.startswith("dpgp_core: column 'height' has text instead of a number in line 2 of the file; ")
    assert err.count("\n") == 1
    assert names(tmp_path) == ["config.json", "table.csv"]


def test_a_release_is_counted_before_it_is_drawn(run, tmp_path, monkeypatch):
    def crash(*_):
        raise RuntimeError

    (tmp_path / "config.json").write_text(spec_to_json(make_spec(total_epsilon=1.2)))
    monkeypatch.setattr(command_line, "publish", crash)
    with pytest.raises(RuntimeError):
        run("--ledger", "l.json", "--new-ledger")
    assert len(read_ledger_file(str(tmp_path / "l.json")).entries) == 1
    assert run("--ledger", "l.json")[0] == 4
    assert len(read_ledger_file(str(tmp_path / "l.json")).entries) == 1
    assert not (tmp_path / "out.zip").exists()


def test_too_little_memory_is_a_sentence(run, monkeypatch):
    def exhaust(*_):
        raise MemoryError

    monkeypatch.setattr(command_line, "plan_release", exhaust)
    code, _, err = run()
    assert code == 3
    assert "does not fit in memory; use fewer rows or points" in err


@pytest.mark.parametrize("name", ["csv", "config", "ledger"])
def test_the_output_never_replaces_what_was_read(run, tmp_path, name):
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    path = {"csv": "table.csv", "config": "config.json", "ledger": "l.json"}[name]
    (tmp_path / "link").symlink_to(path)
    for out in (f"./{path}", "link"):
        code, _, err = run("--force", "--ledger", "l.json", "--new-ledger", out=out)
        assert code == 2
        assert f"--out and --{name} are the same file" in err
    (tmp_path / "link").unlink()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_template_is_a_configuration(capsys):
    assert main(["template"]) == 0
    text = capsys.readouterr().out
    assert spec_from_json(text) == EXAMPLE
    assert {"y_kind", "centiles"} <= json.loads(text).keys()  # they have defaults, and are shown


@pytest.mark.parametrize("arguments", [["--help"], ["release", "--help"]])
def test_help_documents_every_exit_code(arguments, capsys):
    assert main(arguments) == 0
    text = capsys.readouterr().out
    for code in range(6):
        assert (f"{code} " in text.split("exit codes:")[1].split("\n\n")[0]) == (code != 1)
    if "release" in arguments:
        assert spec_from_json(text.split("a configuration:")[1]) == EXAMPLE


@pytest.mark.full_for("15")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.full) for each in (signal.SIGINT, signal.SIGHUP))]
)
def test_a_signal_leaves_no_file_or_lock(run, tmp_path, number):
    """Stopped while it holds the ledger and has claimed the zip."""
    code = (
        "import os, signal, sys, time\nfrom dpgp_core.release import command_line, ledger_file\n"
        f"signal.signal({int(number)}, signal.SIG_DFL)\n"  # a run of tests in the background ignores SIGINT
        "def slow(*_):\n    open('reached', 'w').close()\n    while True:\n        time.sleep(0.02)\n"
        "ledger_file._append = slow\n"
        "sys.exit(command_line.main(sys.argv[1:]))\n"
    )
    before = names(tmp_path)
    named = ["--csv", "table.csv", "--config", "config.json", "--ledger", "l.json", "--new-ledger", "--out", "out.zip"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "release", *named],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: (tmp_path / "reached").exists() or process.poll() is not None, "the release to be stopped")
        assert (tmp_path / "l.json").exists()
    finally:
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert said == f"dpgp_core: stopped by {number.name}; what a ledger has counted stays spent\n"
    (tmp_path / "reached").unlink()
    assert names(tmp_path) == before


def test_nohup_keeps_a_release_alive():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with command_line._stopping():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def outputs_and_both(folder):
    """Write two configurations, one of which protects inputs too; returns their names."""
    for name, mechanism in (("outputs", "cloaking"), ("both", "sparse")):
        (folder / f"{name}.json").write_text(spec_to_json(make_spec(mechanism=mechanism, epsilon=0.5)))
    return "outputs", "both"


def test_inputs_become_public_only_explicitly(run, tmp_path):
    outputs_and_both(tmp_path)
    ledger = ("--ledger", "l.json")
    assert run(*ledger, "--new-ledger", config="both.json", out="a.zip")[0] == 0
    code, _, err = run(*ledger, config="outputs.json", out="b.zip")
    assert code == 4
    assert "ends the protection of inputs" in err
    assert "add --inputs-public" in err
    assert len(read_ledger_file(str(tmp_path / "l.json")).entries) == 1
    assert not (tmp_path / "b.zip").exists()
    code, out, _ = run(*ledger, "--inputs-public", config="outputs.json", out="b.zip")
    assert code == 0
    assert "Inputs count as public from now on" in out
    assert ledger_from_json(card(tmp_path, "b.zip")).inputs_public
    assert run(*ledger, config="both.json", out="c.zip")[0] == 0  # recorded: it need not be said again
    assert read_ledger_file(str(tmp_path / "l.json")).inputs_public


def test_protections_do_not_mix_without_a_file(run, tmp_path):
    for name in outputs_and_both(tmp_path):
        assert run(config=f"{name}.json", out=f"{name}.zip")[0] == 0
    earlier = json.loads(card(tmp_path, "outputs.zip")) | {"ledger": json.loads(card(tmp_path, "both.zip"))["ledger"]}
    (tmp_path / "release.json").write_text(json.dumps(earlier))
    assert run(config="release.json", out="again.zip")[0] == 4
    assert run("--inputs-public", config="release.json", out="again.zip")[0] == 0
    assert ledger_from_json(card(tmp_path, "again.zip")).inputs_public


def test_options_declare_whose_rows_these_are(run, tmp_path):
    people = "who,age,height\n" + "\n".join(f"p{at % 9},{at},{90 + at}" for at in range(60))
    (tmp_path / "people.csv").write_text(people)
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(mechanism="bayes_cells")))
    code, out, _ = run("--person", "who", "--ledger", "l", "--new-ledger", csv="people.csv")
    assert code == 0
    assert "(hidden: all rows of any one person)" in out
    assert spec_from_json(card(tmp_path)).person == "who"
    code, out, err = run("--rows-per-person", "7", "--ledger", "l", csv="people.csv", out="b.zip")
    assert (code, out) == (4, "")
    assert "protect all rows of any one person and releases that protect up to 7 rows of any one person" in err
    assert len(read_ledger_file("l").entries) == 1
    assert run("--rows-per-person", "7", csv="people.csv", out="b.zip")[0] == 0
    assert spec_from_json(card(tmp_path, "b.zip")).rows_per_person == 7
    assert run("--person", "who", "--rows-per-person", "7", csv="people.csv", out="c.zip")[0] == 2


# ---- A dry run, and declarations that are probably wrong


def test_a_check_predicts_a_release_and_spends_nothing(run, tmp_path):
    before = names(tmp_path)
    for out in ("out.zip", None):
        given = ["release", "--csv", "table.csv", "--config", "config.json", *(["--out", out] if out else [])]
        code = main([*given, "--check", "--ledger", "l.json", "--new-ledger"])
        assert code == 0
        assert names(tmp_path) == before
    code, out, err = run("--check", "--ledger", "l.json", "--new-ledger")
    assert err == ""
    assert out.split("Checked: ")[-1].startswith(
        "nothing was spent, and no file was written. A release would have epsilon = 1, delta = 1e-05, protecting the "
        "outputs of one person's height (hidden: any one row). Spent with it: epsilon = 1 of 3 at delta = 1e-05, 1 "
        "release. n = 40 rows."
    )
    assert main(["release", "--csv", "table.csv", "--config", "config.json"]) == 2
    assert run("--check", "--new-ledger")[0] == 2


def test_a_check_fails_where_the_release_would(run, tmp_path):
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(total_epsilon=1.2)))
    assert run("--ledger", "l.json", "--new-ledger")[0] == 0
    ledger = (tmp_path / "l.json").read_bytes()
    assert run("--check", "--ledger", "l.json", out="b.zip")[0] == 4
    assert run("--check")[0] == 5  # the zip exists
    assert run("--check", "--ledger", "other.json", out="b.zip")[0] == 2
    assert (tmp_path / "l.json").read_bytes() == ledger
    assert not (tmp_path / "b.zip").exists()


PUBLIC_INPUTS = {"mechanism": "refined"}
PRIVATE_INPUTS = {"mechanism": "bayes_cells", "grid": (3,)}


@pytest.mark.parametrize(
    ("changes", "content", "said"),
    [
        (
            PUBLIC_INPUTS | {"y_bounds": (0.0, 2.0)},
            b"",
            "40 of 40 outcomes lie outside the bounds and count as the bound",
        ),
        (
            PRIVATE_INPUTS | {"x_box": ((1000.0, 1100.0),)},
            b"",
            "40 of 40 rows have an input outside its x_box and count",
        ),
        (PUBLIC_INPUTS | {"y_kind": "count"}, b"", "40 of 40 rows have an outcome that is not of its kind (count)"),
        (
            PUBLIC_INPUTS | {"writing": Writing(missing=[])},
            b"age,height\n" + b"1,\n" * 50 + b"1,99\n2,98\n" * 20,
            "50 of 90 rows lack a value and are left out",
        ),
        (
            PUBLIC_INPUTS | {"y_kind": "yes/no", "y_bounds": (0.0, 1.0), "writing": Writing(yes="yes", no="no")},
            b"age,height\n" + b"1,perhaps\n" * 50 + b"1,yes\n2,no\n" * 20,
            "50 of 90 outcomes are neither the word for yes nor that for no",
        ),
    ],
)
def test_an_unlikely_declaration_needs_anyway(run, tmp_path, changes, content, said):
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(**changes)))
    if content:
        (tmp_path / "table.csv").write_bytes(content)
    before = names(tmp_path)
    for more in ((), ("--check",)):
        code, out, err = run("--ledger", "l.json", "--new-ledger", *more)
        assert (code, out) == (3, "")
        assert f"For your eyes, in no file: {said}" in err
        assert "the declaration is probably wrong, as it fits less than half of the table: " in err
        assert "Nothing was spent. If the declaration is meant so, add --anyway" in err
        assert names(tmp_path) == before
    assert run("--check", "--anyway")[0] == 0
    assert run("--anyway", "--ledger", "l.json", "--new-ledger")[0] == 0


def test_half_of_the_table_is_accepted(run, tmp_path):
    (tmp_path / "table.csv").write_bytes(b"age,height\n" + b"1,999\n2,100\n" * 20)
    code, _, err = run()
    assert (code, "20 of 40 outcomes lie outside the bounds" in err) == (0, True)


def people_table(folder, header, *columns):
    """Sixty rows, with these columns before age and height."""
    rows = (",".join([*(cell(at) for cell in columns), str(at), str(90 + at)]) for at in range(60))
    (folder / "people.csv").write_text("\n".join([f"{header},age,height", *rows]))


def twice(at):
    return f"p{at % 30}"


@pytest.mark.parametrize("name", ["name", "Patient ID", "last_name", "id", "who"])
def test_repeated_people_spend_nothing_until_declared(run, tmp_path, name):
    people_table(tmp_path, name, (lambda at: str(4000 + at // 2)) if name == "id" else twice)
    before = names(tmp_path)
    for more in ((), ("--check",)):
        code, out, err = run("--ledger", "l.json", "--new-ledger", *more, csv="people.csv")
        assert (code, out) == (3, "")
        assert f"{name}: 30 different values in 60 rows. Whose rows are these?" in err
        assert f"column {name!r} seems to repeat people, of whom only one row each would be protected" in err
        assert "Nothing was spent. If the declaration is meant so, add --anyway" in err
        assert names(tmp_path) == before
    for number, said in enumerate((["--anyway"], ["--rows-per-person", "1"], ["--rows-per-person", "2"])):
        assert run(*said, csv="people.csv", out=f"{number}.zip")[0] == 0
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(**PRIVATE_INPUTS)))
    assert run("--person", name, csv="people.csv", out="person.zip")[0] == 0
    (tmp_path / "config.json").write_text(spec_to_json(make_spec(rows_per_person=2)))
    assert run(csv="people.csv", out="declared.zip")[0] == 0


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("town", [twice]),  # texts that may name anything else
        ("diagnosis code", [twice]),
        ("town_name", [twice]),
        ("name", [str]),  # everybody once
        ("name", [lambda at: f"p{at % 57}"]),  # three people have the name of somebody else
        ("name", [lambda at: f"p{at % 20}"]),  # as few as categories
        ("id", [lambda at: ""]),
        ("name,name", [str, str]),
        (",2019", [str, str]),  # a column without a name, and one whose name is a number
    ],
)
def test_unused_columns_refuse_nothing_else(run, tmp_path, header, columns):
    people_table(tmp_path, header, *columns)
    for more in (("--check",), ()):
        assert run(*more, csv="people.csv")[0] == 0
