import pytest

from tests import machines

NAMES = [machine.coretype for machine in machines.MACHINES]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"SSE42": True, "AVX2": True, "AVX512F": True}, ["SkylakeX", "Haswell", "Nehalem"]),
        ({"SSE42": True, "AVX2": True, "AVX512F": False}, ["Haswell", "Nehalem"]),
        ({"NEON": True}, []),
    ],
)
def test_an_older_processor_imitates_no_newer_one(features, expected):
    assert [machine.coretype for machine in machines.MACHINES if machines.possible(machine, features)] == expected


def test_every_simulated_machine_is_possible():
    settings = [machines.environment(machine) for machine in machines.MACHINES]
    assert [each["OPENBLAS_CORETYPE"] for each in settings] == NAMES
    assert "2" in [each["OPENBLAS_NUM_THREADS"] for each in settings]
    off = dict(zip(NAMES, (set(each["NPY_DISABLE_CPU_FEATURES"].split()) for each in settings), strict=True))
    assert off["SkylakeX"] == set()
    assert off["Haswell"] <= off["Nehalem"]
    assert not any(name.startswith(("AVX2", "X86_V3")) for name in off["Haswell"])


@pytest.mark.full
def test_every_machine_is_run_and_failures_count(tmp_path, monkeypatch, capfd):
    (tmp_path / "test_it.py").write_text(
        "import os\ndef test_it():\n    assert os.environ['OPENBLAS_CORETYPE'] != 'Haswell'\n"
    )
    monkeypatch.setattr(machines, "possible", lambda machine: machine.coretype != "SkylakeX")
    arguments = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # none is needed, and they take seconds
    assert machines.main(arguments) == 1
    printed = capfd.readouterr().out
    assert "SkylakeX, 2 BLAS threads: left out" in printed
    assert printed.count("1 failed") == printed.count("1 passed") == 1
