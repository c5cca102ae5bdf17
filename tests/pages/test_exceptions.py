"""Exceptions cross processes unchanged, and what breaks the processes of one visitor costs no other their work."""

import importlib
import inspect
import pickle
import typing
from collections.abc import Sequence

import pytest

from pages._ui.work.jobs import Jobs, Tasks, Work, WorkStopped
from pages._ui.work.workers import Workers, sendable
from tests import structure
from tests.pages.work import beat, break_processes, raise_unreadable
from tests.waiting import PATIENCE, wait_until

ARGUMENTS = {
    str: "row 3 has 2 fields, the header 3",
    int: 130,
    Sequence[int]: [3, 17],
    tuple[str, ...]: ("2023", "2024"),
}


def exceptions():
    """Every exception class that a module of the project defines."""
    for name in structure.modules():
        if name.endswith(("__main__", "_ui.main")) or (name.startswith("pages.") and "._ui." not in name):
            continue  # a script is run, not imported
        for _, kind in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if issubclass(kind, BaseException) and kind.__module__ == name:
                yield kind


def example(kind):
    """An exception with arguments of the kinds that its constructor declares."""
    if "__init__" not in vars(kind):
        return kind(ARGUMENTS[str])
    hints = typing.get_type_hints(kind.__init__)
    names = list(inspect.signature(kind).parameters)
    return kind(*(ARGUMENTS[hints[name]] for name in names))


EXCEPTIONS = list(exceptions())


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_exception_crosses_processes_unchanged(kind):
    sent = example(kind)
    received = pickle.loads(pickle.dumps(sent))
    assert type(received) is kind
    assert str(received) == str(sent) != ""
    assert vars(received) == vars(sent)


def test_all_exceptions_are_found():
    assert len(EXCEPTIONS) >= 20
    assert {kind.__module__.partition(".")[0] for kind in EXCEPTIONS} == {"dpgp_core", "pages"}


def test_an_unreadable_exception_arrives_with_its_sentence():
    pool = Workers(1)
    try:
        with pytest.raises(ValueError, match="row 3 has 2 fields") as raised:
            Jobs(room=10**6, workers=pool).get(raise_unreadable)
        assert type(raised.value) is ValueError
    finally:
        pool.stop()
    error = UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid byte")
    assert sendable(error) is error


def test_work_lost_with_broken_processes_is_repeated(tmp_path):
    pool = Workers(2)
    try:
        other = pool.submit(beat, str(tmp_path), 1.0, owner="another visitor")
        wait_until((tmp_path / "process").exists, "the other visitor's work to begin")
        first = (tmp_path / "process").read_text()
        (tmp_path / "process").unlink()
        tasks = Tasks()
        guilty = Work(key="a", function=break_processes, args=(), owner="a visitor")
        tasks._going["a"] = pool.submit(break_processes, owner="a visitor")  # its result in no frames
        with pytest.raises(WorkStopped, match="the processes that worked on it broke twice; choose another setting"):
            tasks.done(pool, guilty, None)
        assert other.result(PATIENCE) == "done"
        assert (tmp_path / "process").read_text() != first
        assert pool.submit(abs, -3).result(PATIENCE) == 3
    finally:
        pool.stop()
