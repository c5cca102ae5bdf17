from __future__ import annotations

import pytest

import datasets
from pages._ui import menu
from pages._ui.cloaking import pipeline
from pages._ui.look import offers
from pages._ui.serve import warm
from pages._ui.work import cached
from pages._ui.work.store import Lattice


@pytest.fixture
def lattice(cold, tmp_path, monkeypatch):
    lattice = Lattice(tmp_path / "lattice" / ("1" * 16), writable=True)
    monkeypatch.setattr(cached.jobs, "lattice", lattice)
    return lattice


def test_every_page_is_warmed_at_its_default():
    default = [page for page, address in menu.warm_states() if not address]
    assert default == [page.file for page in menu.PAGES if page.file != "your_data"]  # which belongs to one session


def test_every_address_is_one_that_its_page_offers():
    shown = [datasets.exhibit(name) for name in ("kung", "london_hexes")]
    sliders = {offers.lengthscale_key(each): offers.whole(each.lengthscales) for each in shown}
    sliders["epsilon"] = offers.EPSILONS
    for page, address in menu.warm_states():
        for key, value in address.items():
            assert value in menu.TITLES.get(key, map(str, sliders.get(key, ()))), (page, key, value)


@pytest.mark.parametrize("page", ["kung_curves", "attack"])
def test_a_warmed_page_computes_nothing(lattice, monkeypatch, page):
    warm.visit(page, {})
    assert any(lattice.folder.iterdir())
    cached.jobs.clear()

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(cached.jobs, "_compute", refuse)
    warm.visit(page, {})


def test_a_page_that_fails_is_not_called_warm(lattice, monkeypatch):
    monkeypatch.setattr(warm, "warm_states", lambda: [("kung_curves", {})])
    monkeypatch.setattr(warm.Lattice, "of_this_code", lambda writable: lattice)
    monkeypatch.setattr(warm.os, "nice", lambda _: 0)

    def fail(*_):
        raise ValueError("no")

    with monkeypatch.context() as broken:
        broken.setattr(pipeline, "stage_matrix", fail)
        with pytest.raises(RuntimeError, match="kung_curves"):
            warm.main()
    assert not lattice.complete
    assert warm.main() == 0
    assert lattice.complete


def test_of_two_servers_one_warms(lattice, monkeypatch):
    with lattice.alone() as first, lattice.alone() as second:
        assert (first, second) == (True, False)
    with lattice.alone() as third:
        assert third


def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(warm.Lattice, "of_this_code", lambda writable: Lattice(tmp_path / "file" / "v", writable))
    monkeypatch.setattr(warm.os, "nice", lambda _: 0)
    assert warm.main() == 1
    assert "set DPGP_LATTICE to a folder that can be written to" in capsys.readouterr().err
