import traceback
import zipfile
from dataclasses import asdict, replace

import numpy as np
import pytest

import datasets
from datasets import citibike
from datasets.files import citibike as citibike_file

OLD = """"tripduration","starttime","start station id","start station latitude","start station longitude",\
"end station latitude","end station longitude","usertype"
"600","2016-06-01 00:00:18","72","40.70","-74.00","40.75","-73.98","Subscriber"
"2500","2016-06-01 00:00:20","72","40.71","-73.99","40.76","-73.97","Subscriber"
"300","2016-06-01 00:00:21","72","40.99","-73.99","40.76","-73.97","Customer"
"90","2016-06-01 00:00:22","72","40.6794","-74.0171","40.7872","-73.9299","Customer"
"""
NEW = """ride_id,rideable_type,started_at,ended_at,start_station_name,start_lat,start_lng,end_lat,end_lng,member_casual
A1,classic_bike,2021-06-01 23:55:00,2021-06-02 00:05:00,"8 Ave, W 31 St",40.70,-74.00,40.75,-73.98,member
A2,classic_bike,2024-06-01 10:00:00.250,2024-06-01 10:41:40.250,B,40.71,-73.99,40.76,-73.97,member
A3,electric_bike,2024-06-01 10:00:00,2024-06-01 10:05:00,C,40.71,-73.99,,,casual
A4,docked_bike,2021-06-01 10:00:00,2021-06-01 10:01:30,C,40.6794,-74.0171,40.7872,-73.9299,casual
"""
X = [[40.70, -74.00, 40.75, -73.98], [40.71, -73.99, 40.76, -73.97], [40.6794, -74.0171, 40.7872, -73.9299]]
Y = [600, 2500, 90]


@pytest.fixture
def write_zip(tmp_path):
    def write(members):
        path = tmp_path / "journeys.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    return write


# ---- simulated


def test_simulated_journeys():
    data = citibike.load()
    assert (data.X.shape, data.simulated, data.privacy_unit) == ((5000, 4), True, "one journey's duration")
    assert "no row is a real journey" in data.source
    assert (data.y_bounds, data.y_scale) == ((0.0, 2000.0), 1581.0)
    assert data.x_box == ((40.6794, 40.7872), (-74.0171, -73.9299)) * 2


def test_there_are_600_clustered_stations_in_the_box():
    stations = citibike.stations()
    assert len(np.unique(stations, axis=0)) == 600
    cells = np.histogram2d(*stations.T, bins=6, range=[citibike.LATITUDES, citibike.LONGITUDES])[0]
    assert cells.sum() == 600
    assert cells.max() > 3 * 600 / 36
    assert (cells <= 3).sum() >= 6  # the river, and what lies beyond the clusters
    known = {tuple(place) for place in stations}
    for options in ({"seed": 1, "n": 300}, {"seed": 2, "n": 50}):
        data = citibike.load(**options)
        assert {tuple(place) for place in data.X.reshape(-1, 2)} <= known
        assert data.n == options["n"]


# ---- the operator's files


CAPITALS = OLD.replace('"tripduration"', '"Trip Duration"').replace("start station l", "Start Station L")


@pytest.mark.parametrize("content", [OLD, NEW, CAPITALS, "\ufeff" + NEW, OLD.replace("\n", "\r\n")])
def test_both_layouts(write, content):
    data = citibike.load_file(write(content))
    np.testing.assert_allclose(data.X, X)
    np.testing.assert_allclose(data.y, Y)
    assert (data.simulated, data.clipped_count) == (False, 1)
    made_up = citibike.load(n=2)
    public = {"X": made_up.X, "y": made_up.y, "source": "", "licence": "", "simulated": True}
    assert asdict(replace(data, **public)).keys() == asdict(made_up).keys()
    assert (data.y_bounds, data.x_box, data.y_scale) == (made_up.y_bounds, made_up.x_box, made_up.y_scale)


def test_zip_with_one_file_and_with_several(write_zip):
    junk = {"__MACOSX/._a.csv": b"\0\1", "readme.txt": "hello"}
    np.testing.assert_allclose(citibike.load_file(write_zip({"a.csv": OLD, **junk})).y, Y)
    np.testing.assert_allclose(citibike.load_file(write_zip({"a.csv": OLD, "b.CSV": NEW, **junk})).y, Y + Y)


def test_a_random_part_of_a_file(write):
    path = write(OLD + "".join(OLD.splitlines(keepends=True)[1:]) * 20)
    one, same, other = (datasets.load("citibike", file=path, n=10, seed=seed) for seed in (1, 1, 2))
    assert one.n == 10
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.y, other.y)
    assert datasets.load("citibike", file=str(path), n=5000).n == 63


@pytest.mark.parametrize("unknown", ["", "NULL", "\\N"])
def test_journeys_without_a_position_are_left_out(write, unknown):
    assert citibike.load_file(write(OLD.replace('"40.71"', f'"{unknown}"'))).n == 2


def test_extreme_durations_are_kept_and_clipped(write):
    content = NEW.replace(
        "2021-06-02 00:05:00", "2021-05-02 00:05:00"
    )  # ends before it starts: kept, or y would choose
    assert citibike.load_file(write(content)).clipped_count == 2


WRONG = {
    "empty": ("", "has neither the columns of the operator's files until 2021"),
    "another table": ("age,height\n1,2\n3,4\n", "has neither the columns .* is it a journey file"),
    "text": (OLD.replace('"-74.00"', '"secret7"'), "'start station longitude' has text instead of a number in line 2"),
    "nan": (OLD.replace('"600"', '"nan"'), r"'tripduration' has no value in line 2"),
    "no duration": (OLD.replace('"600"', '""'), "'tripduration' has no value in line 2"),
    "a date": (NEW.replace("2021-06-02 00:05:00", "secret7"), "'ended_at' has no date and time like .* in line 2"),
    "no date": (NEW.replace("2021-06-02 00:05:00", ""), "'ended_at' has no date and time like"),
    "short line": (NEW + "A5,secret7\n", "line 6 has 2 fields where the header has 10"),
    "not text": (b"\x1f\x8b\x08\xff\xfe", "the file is compressed by gzip"),
    "elsewhere": (OLD.replace('"40.', '"51.'), "0 of the file's 4 journeys have both stations inside the box"),
    "one journey": ("".join(OLD.splitlines(keepends=True)[:2]), "1 of the file's 1 journeys have both stations"),
}


@pytest.mark.parametrize(("content", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_explained_without_cells(write, content, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        citibike.load_file(write(content))
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret7" not in shown
    assert "-74.00" not in shown.replace("-74.0171", "")


def test_missing_and_damaged_files_are_explained(tmp_path, write_zip):
    with pytest.raises(ValueError, match=r"cannot open .*nothing.csv.*: No such file or directory; check the path"):
        citibike.load_file(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match=r"cannot open .*: Is a directory"):
        citibike.load_file(tmp_path)
    with pytest.raises(ValueError, match=r"the zip file 'journeys.zip' holds no CSV"):
        citibike.load_file(write_zip({"readme.txt": "hello"}))
    path = write_zip({"a.csv": OLD * 50})
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"the zip file 'journeys.zip' is damaged"):
        citibike.load_file(path)


def test_too_many_rows_are_refused(write, monkeypatch):
    monkeypatch.setattr(citibike_file, "MAX_ROWS", 3)
    with pytest.raises(ValueError, match="the file has more than 3 rows, the limit; take a shorter period"):
        citibike.load_file(write(OLD))
