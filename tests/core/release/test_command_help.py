"""Every option says what it does, where somebody looks for it."""

import argparse

import pytest

from dpgp_core.release.command_line import _parser, main

COMMANDS = next(each for each in _parser()._actions if isinstance(each, argparse._SubParsersAction)).choices


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_is_printed(command, capsys):
    assert main([command, "--help"]) == 0
    printed = "".join(capsys.readouterr().out.split())
    for option in COMMANDS[command]._actions:
        assert option.help
        assert "".join((option.help % {}).split()) in printed, option.help
