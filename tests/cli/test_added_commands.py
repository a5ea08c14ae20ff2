"""Commands that installed distributions add to `agentcore`."""

import pytest

COMMANDS = '''
import click
from agentcore.api import ToolError

@click.group()
def press():
    """Printing presses."""

@press.command()
@click.pass_obj
def install(commands):
    """Install one."""
    commands.show_progress(0.5, "halfway")
    commands.show_progress(None, "")
    click.echo(commands.read_settings(__import__("pathlib").Path("app.json"), "printer").get("colour"))

@press.command()
def fail():
    """Fail."""
    raise ToolError("no_ink", "there is no ink")
'''
POINTS = (
    "[agentcore.commands]\npress = added_press:press\nserve = added_press:press\nagent = added_press:press\n"
    "broken = no_such_package:press\n"
)


@pytest.fixture
def with_press(place):
    """A folder with an installed distribution that adds commands."""
    site = place.folder / "site"
    info = site / "added_press-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added-press\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (site / "added_press.py").write_text(COMMANDS)
    place.write_app(modules=[], config={"printer": {"colour": "blue"}})
    return {"PYTHONPATH": str(site)}


def test_an_added_command_runs_and_gets_its_settings_and_progress(place, with_press):
    done = place.run("press", "install", environ=with_press)
    assert (done.code, done.out) == (0, "blue\n")
    assert "halfway" in done.err


def test_help_names_the_distribution_and_imports_nothing(place, with_press):
    done = place.run("--help", environ=with_press)
    assert "Added by added-press." in done.out
    assert done.code == 0


def test_its_errors_are_shown_as_those_of_our_own_commands(place, with_press):
    done = place.run("press", "fail", environ=with_press)
    assert (done.code, "no_ink: there is no ink" in done.err) == (1, True)


def test_one_that_cannot_be_imported_says_whose_it_is(place, with_press):
    done = place.run("broken", environ=with_press)
    assert done.code != 0
    assert "command 'broken' of added-press cannot be loaded" in done.err


@pytest.mark.more
def test_our_own_names_cannot_be_taken_and_near_ones_are_suggested(place, with_press):
    assert "Start the modules and serve" in place.run("serve", "--help", environ=with_press).out
    assert "Offer the modules of this machine" in place.run("agent", "--help", environ=with_press).out
    assert "\n  agent " not in place.run("--help", environ=with_press).out
    assert "Did you mean 'press'?" in place.run("pres", environ=with_press).err
