"""What the options do is printed where somebody looks for it."""

from dpgp_core.release import command_help
from dpgp_core.release.command_line import main

HELPS = [value for name, value in vars(command_help).items() if name.endswith("_HELP")]


def test_every_help_is_printed(capsys):
    assert main(["release", "--help"]) == 0
    assert main(["look", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert len(HELPS) == 10
    for text in HELPS:
        start = text.partition("; default")[0].replace("-", "")
        assert start in printed.replace("- ", "").replace("-", ""), text
