"""The server's own visits, against a runtime of the test's. A real server's: tests/e2e/test_newcomer.py."""

from __future__ import annotations

import asyncio

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages._ui import menu
from pages._ui.serve import startup
from pages._ui.visitor import is_house
from pages._ui.work.cached import LOOK_AGAIN


def finished(how):
    message = ForwardMsg()
    message.script_finished = how
    return message


def button(label):
    message = ForwardMsg()
    message.delta.new_element.button.label = label
    return message


WHOLE, AGAIN = finished(ForwardMsg.FINISHED_SUCCESSFULLY), finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN)


class House:
    """A runtime whose pages send what the test says: by page, one list of messages a visit."""

    def __init__(self, sends):
        self.sends, self.visited, self.tabs, self.most = sends, [], {}, 0

    def connect_session(self, client, user_info, session_id_override):
        assert is_house(session_id_override)
        self.tabs[session_id_override] = client
        self.most = max(self.most, len(self.tabs))
        return session_id_override

    def handle_backmsg(self, number, message):
        page = message.rerun_script.page_name
        self.visited.append(page)
        for each in self.sends.get(page, [[WHOLE]]).pop():
            asyncio.get_running_loop().call_soon(self.tabs[number].write_forward_msg, each)

    def close_session(self, number):
        del self.tabs[number]


@pytest.fixture
def house(monkeypatch):
    def made(sends):
        found = House(sends)
        monkeypatch.setattr(startup.Runtime, "instance", lambda: found)
        monkeypatch.setattr(startup, "_PAUSE_SECONDS", 0.0)
        asyncio.run(startup.open_pages())
        assert found.tabs == {}  # every tab is closed
        return found

    return made


def test_every_page_is_opened_once_but_the_one_that_belongs_to_a_session(house):
    found = house({})
    files = [page.file for page in menu.PAGES if page.file != "your_data"]
    assert sorted(found.visited) == sorted(["", *files[1:]])  # the first page is at the root
    assert found.visited[-2:] == ["", "compare"]  # those that take long
    assert found.most == startup._AT_ONCE


def test_a_page_that_is_made_again_is_waited_for_to_its_end(house):
    assert len(house({"attack": [[AGAIN, WHOLE]]}).visited) == len(menu.shared())


def test_a_page_that_was_postponed_is_opened_again(house):
    found = house({"compare": [[WHOLE], [button(LOOK_AGAIN), WHOLE]]})
    assert found.visited.count("compare") == 2
    assert len(found.visited) == len(menu.shared()) + 1


def test_its_work_and_nobody_elses_gives_way():
    assert is_house(startup.HOUSE + "x")
    assert not is_house(None)
    assert not is_house("a visitor's token of enough length")
