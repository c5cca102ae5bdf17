"""The line with the address."""

from __future__ import annotations

import asyncio

import pytest
from streamlit import config

from pages._ui.serve import startup


@pytest.fixture
def options(monkeypatch):
    """Streamlit's settings, for one test."""
    named = {"server.port": 8501, "server.sslCertFile": None, "server.baseUrlPath": "", "browser.serverAddress": "name"}
    known = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: named[name] if name in named else known(name))
    monkeypatch.setattr(config, "is_manually_set", lambda name: name == "browser.serverAddress" and "set" in named)
    return named


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"server.address": "localhost"}, "http://localhost:8501"),
        ({"server.address": "::1"}, "http://[::1]:8501"),
        ({"server.address": "0.0.0.0"}, "http://name:8501"),
        ({"server.address": None, "server.baseUrlPath": "/dpgp/"}, "http://name:8501/dpgp"),
        ({"server.address": "localhost", "set": True, "server.sslCertFile": "x"}, "https://name:8501"),
    ],
)
def test_it_is_where_a_browser_finds_the_server(options, settings, address):
    options |= settings
    assert startup.address() == address


def test_a_server_that_does_not_start_has_no_address(monkeypatch, capsys):
    def broken():
        raise RuntimeError

    async def live():
        async with startup.lifespan(None):
            pass

    monkeypatch.setattr(startup.cached, "start", broken)
    with pytest.raises(RuntimeError):
        asyncio.run(live())
    assert capsys.readouterr().out == ""
