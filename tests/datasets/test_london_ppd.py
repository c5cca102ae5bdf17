"""London's sales: the public file, one record a sale, and the excursion set of prices."""

import traceback
import zipfile

import h3
import numpy as np
import pytest

import datasets
from datasets import london_excursion, london_hexes, london_ppd, london_sales
from datasets.files import price_paid

# made-up addresses and prices; rows as published, in both spellings of a postcode
SALE = (
    '"{{{id}}}","{price}","{date} 00:00","{postcode}","{type}","N","F","12","","SECRET ROAD","","LONDON","{district}",\
"{county}","{category}","{status}"'
)
DEFAULT = {
    "id": "6BFA0D21",
    "price": 500000,
    "date": "2018-03-01",
    "postcode": "N1 1AA",
    "type": "T",
    "district": "ISLINGTON",
    "county": "GREATER LONDON",
    "category": "A",
    "status": "A",
}


def sale(**changes):
    return SALE.format(**{**DEFAULT, **changes})


SALES = [
    sale(),
    sale(price=250001, postcode="CR01ZZ", date="2018-12-31"),  # no space
    sale(price=9000000, postcode="n1 1aa", date="2019-01-01"),
    sale(price=1, type="F"),
    sale(price=2, category="B"),
    sale(price=3, status="D"),
    sale(price=4, postcode=""),
    sale(price=5, postcode="N1 9XX"),  # London, but not in the lookup
    sale(price=6, postcode="M1 1AA", county="GREATER MANCHESTER"),
    sale(price=7, postcode="N1 2NO"),  # in the lookup without a position
    sale(price=640000, type="D", status="C", postcode="CR0 1ZZ"),
]
PPD = "\r\n".join(SALES) + "\r\n"
ONSPD = """pcd,pcd2,pcds,dointr,doterm,oscty,oslaua,oseast1m,osnrth1m,ctry
"N1  1AA","N1   1AA","N1 1AA",198001,,"E99999999","E09000019",531500,183500,"E92000001"
"CR0 1ZZ","CR0  1ZZ","CR0 1ZZ",198001,201501,"E99999999","E09000008",532250,165750,"E92000001"
"N1  2NO","N1   2NO","N1 2NO",198001,,"E99999999","E09000019",,,"E92000001"
"M1  1AA","M1   1AA","M1 1AA",198001,,"E99999999","E08000003",384800,397900,"E92000001"
"""
NEW_ONSPD = ONSPD.replace("oslaua", "LAD25CD").replace("oseast1m,osnrth1m", "EAST1M,NORTH1M")
NSPL = ONSPD.replace("oslaua", "laua")
CODE_POINT = """"N1 1AA",10,531500,183500,"E92000001","E19000003","E18000007","","E09000019","E05000368"
"CR01ZZ",10,532250,165750,"E92000001","E19000003","E18000007","","E09000008","E05000368"
"N1 2NO",90,0,0,"E92000001","E19000003","E18000007","","E09000019","E05000368"
"M1 1AA",10,384800,397900,"E92000001","E19000001","E18000002","","E08000003","E05000368"
"""


@pytest.fixture
def load(write):
    def load(ppd=PPD, postcodes=ONSPD, **options):
        if options.get("year") not in london_ppd.DECLARED_YEARS:
            options = {"price_bounds": (250_000, 1_500_000)} | options
        return datasets.load(
            "london_ppd", ppd=write(ppd, "pp-2018.csv"), postcodes=write(postcodes, "lookup.csv"), **options
        )

    return load


@pytest.mark.parametrize(
    "lookup", [ONSPD, NEW_ONSPD, NSPL, CODE_POINT, "\ufeff" + ONSPD, CODE_POINT.replace("\n", "\r\n")]
)
def test_sales_have_their_postcodes_coordinates_in_every_layout(load, lookup):
    data = load(postcodes=lookup)
    np.testing.assert_array_equal(data.X, [[531.5, 183.5], [532.25, 165.75], [531.5, 183.5]])
    np.testing.assert_allclose(data.y, np.log([500_000, 250_001, 9_000_000]))
    assert (data.clipped_count, data.simulated, data.privacy_unit) == (1, False, "one sale's price")


def test_everything_public_is_declared_as_for_the_hexagons(load):
    data, hexes = load(year=2018), london_hexes.load()
    for name in ("y_bounds", "x_box", "y_scale", "y_unit", "x_names", "x_units", "licence", "bounds_reason"):
        assert getattr(data, name) == getattr(hexes, name), name
    assert data.name == london_ppd.NAME
    assert all(owner in data.source for owner in ("HM Land Registry", "OS data", "Royal Mail", "National Statistics"))
    assert "2 standard sales of 2018, property types T; 2 more lack a position" in data.source


def test_bounds_are_declared_and_not_computed(write):
    files = {"ppd": write(PPD, "pp-2018.csv"), "postcodes": write(ONSPD, "lookup.csv")}
    for years in ({}, {"year": 1995}, {"year": 2025}):
        with pytest.raises(ValueError, match=r"no price range is declared for .*; give price_bounds=\(low, high\)"):
            london_ppd.load(**files, **years)
    data = london_ppd.load(**files, price_bounds=(30_000, 400_000))
    np.testing.assert_allclose(np.exp(data.y_bounds), (30_000, 400_000))
    assert data.bounds_reason == "declared by you: GBP 30,000 to 400,000"
    for wrong in ((0, 1), (2, 1), (1, np.inf), (np.nan, 1)):
        with pytest.raises(ValueError, match="price_bounds must be two prices 0 < low < high"):
            london_ppd.load(**files, price_bounds=wrong)


def test_year_and_property_types(load):
    np.testing.assert_allclose(np.exp(load(year=2018).y), [500_000, 250_001])
    np.testing.assert_allclose(np.exp(load(property_types="TFD", year=2018).y), [500_000, 250_001, 1, 640_000])


def test_what_is_left_out_is_counted_by_reason(write):
    postcodes = london_ppd.read_postcodes(write(ONSPD, "lookup.csv"), london_hexes.X_BOX)
    assert postcodes.row.keys() == {"N11AA", "CR01ZZ"}
    sales = london_ppd.read_sales(write(PPD, "pp.csv"), postcodes, year=2018, property_types="T")
    assert (list(sales.left_out.values()), sales.unknown) == ([1, 1, 1, 2, 1, 2, 1], 2)
    assert len(sales.price) + sum(sales.left_out.values()) == 11


def test_a_folder_replaces_a_list_of_files(write, tmp_path):
    lines = CODE_POINT.splitlines(keepends=True)
    (tmp_path / "csv").mkdir()
    for name, content in (("n.csv", lines[0]), ("cr.csv", lines[1]), ("m.csv", lines[3]), ("notes.txt", "hello")):
        write(content, f"csv/{name}")
    assert london_ppd.load(ppd=write(PPD, "pp.csv"), postcodes=tmp_path / "csv", price_bounds=(1e5, 1e6)).n == 3
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match=r"the folder '.*none' holds no .csv file; give the folder of the unzipped"):
        london_ppd.load(ppd=write(PPD, "pp.csv"), postcodes=tmp_path / "none", year=2018)


def test_selected_sales_are_independent_of_prices(load):
    one, other = load(), load(ppd=PPD.replace('"500000"', '"3"').replace('"9000000"', '"123456"'))
    np.testing.assert_array_equal(one.X, other.X)
    assert (one.source, one.y_bounds) == (other.source, other.y_bounds)
    assert load(ppd=PPD.replace('"6"', '"secret7"')).n == 3  # prices left out are not read


def test_none_left_is_explained_by_counts(load):
    with pytest.raises(ValueError, match="at least 2 sales are needed, but the filters leave 0 of the 11 in") as caught:
        load(year=2001)
    assert "1 deleted again; 1 not standard sales (category B); 9 of another year. Choose" in str(caught.value)
    with pytest.raises(ValueError, match="the filters leave 1 of the 11 in"):
        load(year=2019)


HEADER = "unique_id,price_paid,deed_date,postcode,property_type,new_build,estate_type,saon,paon,street,locality,town,\
district,county,transaction_category,linked_data_uri\n"
WRONG_SALES = {
    "empty": ("", "the price-paid file is empty; download it again"),
    "a header": (HEADER + PPD, r"column 5 \(property type\) is none of D, S, T, F, O in line 1; give pp-<YEAR>.csv"),
    "another order": (sale(type="N", category="T"), r"column 5 \(property type\) is none of"),
    "no category": (sale(category=""), r"column 15 \(PPD category type\) is none of A, B in line 1"),
    "another table": (ONSPD, "'pp-2018.csv': line 1 has 10 fields where Price Paid Data have 16; give pp-<YEAR>.csv"),
    "short line": (PPD + '"{1}","secret7"\n', "line 12 has 2 fields"),
    "text": (sale() + "\n" + sale(price="secret7"), "column 'price' has text instead of a number in line 2"),
    "no price": (sale(price=""), "column 'price' has no value in line 1"),
    "nothing": (sale(price=0), r"column 2 \(price\) has a value that is not above 0 in line 1"),
    "a date": (sale(date="01/secret7"), r"column 3 \(date of transfer\) is no date like 2018-01-31 00:00 in line 1"),
    "not text": (b"\xe9\x8b\x08\xff\xfe", "price-paid file 'pp-2018.csv': line 1 of the file is not UTF-8 text"),
    "gzip": (b"\x1f\x8b\x08\xff\xfe", "price-paid file 'pp-2018.csv': the file is compressed by gzip"),
    "cut short": (PPD[:-40], "price-paid file 'pp-2018.csv': the file is not valid CSV at line 11"),
}


@pytest.mark.parametrize(("content", "sentence"), WRONG_SALES.values(), ids=WRONG_SALES)
def test_wrong_price_files_are_explained_without_cells(load, content, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        load(ppd=content)
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret7" not in shown
    assert "SECRET ROAD" not in shown


WRONG_LOOKUPS = {
    "empty": ("", "postcode lookup 'lookup.csv': the file is empty; download it again"),
    "sales": (PPD, "it is neither the ONS Postcode Directory .* nor OS Code-Point Open .*; give one of these two"),
    "no district": (ONSPD.replace("oslaua", "ward"), "it is neither the ONS Postcode Directory"),
    "no header": (ONSPD.split("\n", 1)[1], "it is neither"),
    "no London": ("".join(CODE_POINT.splitlines(keepends=True)[3:]), "holds no postcode of Greater London"),
    "text": (ONSPD.replace("531500", "east"), "column 'easting' has text instead of a number in line 2"),
    "swapped": (ONSPD.replace("531500,183500", "183500,531500"), r"line 2 puts a London postcode outside .* km"),
    "degrees": (ONSPD.replace("531500,183500", "51.53,-0.1"), r"line 2 puts a London postcode outside"),
    "short line": (ONSPD + '"E1"\n', "line 6 has 1 fields instead of 10; download it again"),
}


@pytest.mark.parametrize(("content", "sentence"), WRONG_LOOKUPS.values(), ids=WRONG_LOOKUPS)
def test_wrong_lookups_have_a_sentence(load, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(postcodes=content)


@pytest.mark.parametrize(("which", "kind"), [("ppd", "price-paid file"), ("postcodes", "postcode lookup")])
def test_zips_and_missing_files(write, tmp_path, which, kind):
    files = {"ppd": write(PPD, "pp.csv"), "postcodes": write(ONSPD, "lookup.csv")}
    with zipfile.ZipFile(tmp_path / "download.zip", "w") as archive:
        archive.writestr("inside.csv", PPD)
    with pytest.raises(ValueError, match=f"the {kind} 'download.zip' is a zip file; unzip it and give what is inside"):
        london_ppd.load(**{**files, which: tmp_path / "download.zip"}, year=2018)
    with pytest.raises(ValueError, match=f"cannot open the {kind} '.*absent.csv': No such file or directory; check"):
        london_ppd.load(**{**files, which: tmp_path / "absent.csv"}, year=2018)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"year": 1990}, "year must be 1995 or later, or None for all years of the file, got 1990"),
        ({"property_types": "TX"}, "property_types must be letters of 'DSTFO', for example 'T'"),
        ({"property_types": ""}, "property_types must be letters of"),
    ],
)
def test_bad_options_are_refused(load, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(**options)


def test_too_many_sales_are_refused(load, monkeypatch):
    monkeypatch.setattr(price_paid, "MAX_SALES", 2)
    with pytest.raises(ValueError, match="it has more than 2 such sales, the limit; choose a year"):
        load()


def test_size_label_and_box():
    data = london_sales.load()
    assert data.X.shape == (4766, 2)
    assert data.simulated
    assert data.source.startswith("simulated from real hexagon medians")
    assert data.x_box == london_hexes.load().x_box
    assert data.y_bounds == london_hexes.Y_BOUNDS


def test_every_sale_lies_in_the_hexagon_it_names():
    data = london_sales.load(n=2000)
    # The independent route back: the inverse polynomial, fitted here to the map's empty cells.
    empty = london_hexes.map_cells().query("sales == 0")
    centres = np.array([h3.cell_to_latlng(cell)[::-1] for cell in empty["cell"]])
    grid = empty[["easting_km", "northing_km"]].to_numpy()
    powers = _powers(grid)
    coefficients, *_ = np.linalg.lstsq(powers, centres, rcond=None)
    lon_lat = _powers(data.X) @ coefficients
    cells = [h3.latlng_to_cell(latitude, longitude, 7) for longitude, latitude in lon_lat]
    # Straight sides against h3's geodesics, and a metre of fit: only points on an edge may differ.
    assert np.mean(np.array(cells) == data.labels["cell"]) > 0.998


def test_log_prices_vary_about_the_cells_median():
    data, hexes = london_sales.load(n=20_000), london_hexes.load()
    median = dict(zip(hexes.labels["cell"], hexes.y, strict=True))
    residual = data.y - np.array([median[cell] for cell in data.labels["cell"]])
    assert residual.mean() == pytest.approx(0, abs=4 * 0.25 / np.sqrt(20_000))
    assert residual.std() == pytest.approx(0.25, abs=4 * 0.25 / np.sqrt(40_000))


def test_cells_are_drawn_in_proportion_to_their_sales():
    data, hexes = london_sales.load(n=50_000), london_hexes.load()
    share = np.array([np.mean(data.labels["cell"] == cell) for cell in hexes.labels["cell"]])
    expected = hexes.labels["sales"] / hexes.labels["sales"].sum()
    z = (share - expected) / np.sqrt(expected * (1 - expected) / 50_000)
    assert np.abs(z).max() < 5


def _powers(grid):
    u, v = ((grid - [530, 180]) / 30).T
    return np.stack([u**i * v**j for i in range(5) for j in range(5 - i)], axis=1)


def test_y_is_the_clipped_distance_from_the_threshold():
    data, hexes = datasets.load("london_excursion", threshold=13.2), london_hexes.load()
    np.testing.assert_allclose(data.y, np.clip(hexes.y - 13.2, -1, 1))
    assert data.y_bounds == (-1.0, 1.0)
    assert not data.simulated


def test_coordinates_are_fractions_of_the_declared_box():
    data, hexes = london_excursion.load(), london_hexes.load()
    (west, east), (south, north) = hexes.x_box
    np.testing.assert_allclose(data.X * [east - west, north - south] + [west, south], hexes.X)
    assert data.X.min() > 0
    assert data.X.max() < 1


@pytest.fixture
def altered(monkeypatch):
    """Alter the table of hexagons."""
    table = london_hexes._table

    def alter(change):
        monkeypatch.setattr(
            london_hexes, "_table", lambda name: change(table(name)) if name == "london_hexes" else table(name)
        )

    return alter


def test_the_grid_is_independent_of_the_records(altered):
    whole, cells = london_excursion.grid(), set(london_excursion.cells())
    assert cells > set(london_hexes.load().labels["cell"])
    assert max(h3.grid_distance(london_excursion.MIDDLE, cell) for cell in cells) < london_excursion.RINGS
    assert whole.min() >= 0
    assert whole.max() <= 1
    # hexagons of 5.2 km^2 fill the box of 80 km x 65 km
    assert len(whole) == pytest.approx(80 * 65 / 4.65, rel=0.15)
    altered(lambda table: table.head(50))
    np.testing.assert_array_equal(london_excursion.grid(), whole)


def test_the_truth_is_known_where_sales_are():
    data, cells = london_excursion.load(), london_excursion.cells()
    truth = london_excursion.truth(data)
    assert np.isfinite(truth).sum() == data.n
    assert truth[cells.index(data.labels["cell"][7])] == data.y[7]


def test_search_targets_use_only_the_public_grid(altered):
    batch = london_excursion.search_targets(3)
    assert {tuple(row) for row in batch.grid.tolist()} < {tuple(row) for row in london_excursion.grid().tolist()}
    assert batch.y.shape == (3, 300)
    altered(lambda table: table.assign(median_price_gbp=3 * table["median_price_gbp"], easting_km=530.0))
    np.testing.assert_array_equal(london_excursion.search_targets(3).y, batch.y)
