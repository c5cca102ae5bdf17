import importlib.util
import json
import re

import numpy as np
import pytest

from benchmarks.citibike import table as benchmark
from benchmarks.citibike import work as work

TINY = ["--replicates", "2", "--train", "120", "--test", "15", "--draws", "2", "--workers", "1"]
ROW = re.compile(r"^\| (?P<name>[a-z, ]+?) \| (?P<setting>[\d.]+ degrees|\d+\^4 bins) \| (?P<cells>\d.*) \|$")


def run(out, capsys, *options):
    benchmark.main([*TINY, "--out", str(out), *options])
    printed = capsys.readouterr()
    return printed.out, printed.err


def table(text):
    """{(method, setting): 4 x (mean, half width)}; a cell that does not parse is an error."""
    found = {}
    for row in filter(None, map(ROW.match, text.splitlines())):
        cells = [tuple(map(float, cell.split(" +- "))) for cell in row["cells"].split(" | ")]
        assert len(cells) == 4
        found[row["name"], row["setting"]] = cells
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    out = tmp_path_factory.mktemp("citibike") / "results.jsonl"
    benchmark.main([*TINY, "--out", str(out)])
    return out


def test_the_table_has_its_rows(reference, capsys):
    text, _ = run(reference, capsys)
    assert "2 replicates; simulated journeys, 120 to train, 15 to test, 2 noise draws each" in text
    assert [level in text for level in ("no DP", "epsilon 1", "epsilon 0.5", "epsilon 0.2")] == [True] * 4
    rows = table(text)
    names = [name for name, _ in rows]
    assert [names.count(name) for name in ("cloaking", "integral binning", "simple binning")] == [5, 3, 3]
    assert next(iter(rows)) == ("cloaking", "0.78125 degrees")
    for cells in rows.values():
        assert all(len(cell) == 2 and 0 < cell[0] < 1e5 for cell in cells)


def test_means_and_intervals(reference, capsys):
    rows = table(run(reference, capsys)[0])
    results = [
        (json.loads(line["key"]), line["numbers"]) for line in map(json.loads, reference.read_text().splitlines())
    ]
    errors = np.array([e for task, e in results if (task["method"], task["setting"]) == ("simple binning", 3.0)])
    # two replicates: half width = 12.7062 |difference| / 2
    expected = np.stack([errors.mean(axis=0), 12.7062 * np.abs(errors[0] - errors[1]) / 2], axis=1)
    np.testing.assert_allclose(rows["simple binning", "3^4 bins"], expected, atol=0.51)
    assert benchmark.interval(np.array([432.4])) == "432"  # one replicate has none


def test_published_form_is_added_on_request(reference, tmp_path, capsys):
    out = tmp_path / "results.jsonl"
    out.write_text(reference.read_text())
    rows = table(run(out, capsys, "--published")[0])
    assert len(rows) == 16
    ours, theirs = rows["cloaking", "0.05 degrees"], rows["cloaking, published", "0.05 degrees"]
    assert ours[0] == theirs[0]  # the same prediction without noise
    assert ours[3] < theirs[3]


def test_restart_computes_only_what_is_missing(reference, tmp_path, capsys, monkeypatch):
    out, lines = tmp_path / "results.jsonl", reference.read_text().splitlines(keepends=True)
    out.write_text("".join(lines[:15]) + lines[15][:40])  # interrupted while writing the sixteenth
    computed, compute = [], benchmark.compute
    monkeypatch.setattr(benchmark, "compute", lambda task: computed.append(task) or compute(task))
    text, progress = run(out, capsys)
    assert len(computed) == len(lines) - 15 == 7
    assert "15/22, 0 s, 7 to compute" in progress
    assert "22/22" in progress
    assert table(text) == table(run(reference, capsys)[0])
    assert len(computed) == 7  # nothing more for the reference
    run(out, capsys, "--seed", "3")  # other parameters are other work
    assert len(out.read_text().splitlines()) == 44


def test_processes_give_the_same_numbers(reference, tmp_path, capsys):
    out = tmp_path / "results.jsonl"
    benchmark.main([*TINY, "--workers", "2", "--out", str(out)])
    assert benchmark.finished(out) == benchmark.finished(reference)


@pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="Dask is optional: pip install -e '.[cluster]'"
)
@pytest.mark.filterwarnings("ignore::Warning:(distributed|dask|tornado).*")
def test_a_cluster_gives_the_same_numbers(reference, tmp_path, capsys, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    out = tmp_path / "results.jsonl"
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        text, _ = run(out, capsys, "--scheduler", cluster.scheduler_address)
    assert benchmark.finished(out) == benchmark.finished(reference)
    assert table(text) == table(run(reference, capsys)[0])


def test_replicates_differ_and_methods_share_their_journeys():
    task = work.Task(method=work.OURS, setting=0.05, replicate=0, seed=1, train=30, test=5, draws=1, file=None)
    other = work.Task(**{**vars(task), "replicate": 1})
    same = work.Task(**{**vars(task), "method": work.SIMPLE, "setting": 3.0})
    training, X_test, truth = work.journeys(task)
    np.testing.assert_array_equal(training.X, work.journeys(same)[0].X)
    np.testing.assert_array_equal(truth, work.journeys(same)[2])
    assert not np.array_equal(X_test, work.journeys(other)[1])
    assert (training.n, len(truth)) == (30, 5)
    assert truth.max() <= 2000


def test_journeys_of_a_file(tmp_path, capsys):
    header = "tripduration,start station latitude,start station longitude,end station latitude,end station longitude\n"
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.uniform(100, 900, 140), *(rng.uniform(*side, 140) for side in work.citibike.X_BOX)])
    path = tmp_path / "june.csv"
    path.write_text(header + "\n".join(",".join(f"{v:.4f}" for v in row) for row in rows))
    text, _ = run(tmp_path / "results.jsonl", capsys, "--file", str(path))
    assert "journeys of the file" in text
    with pytest.raises(
        SystemExit, match="the file has 140 journeys in the box, 220 are needed; lower --train or --test"
    ):
        benchmark.main([*TINY, "--file", str(path), "--test", "100", "--out", str(tmp_path / "more.jsonl")])


def test_bad_options_and_files_have_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="must be at least 1, --seed at least 0"):
        benchmark.main([*TINY, "--replicates", "0"])
    out = tmp_path / "results.jsonl"
    out.write_text("something else\n")
    with pytest.raises(SystemExit, match="holds something else than results of this program; name another --out"):
        benchmark.main([*TINY, "--out", str(out)])
