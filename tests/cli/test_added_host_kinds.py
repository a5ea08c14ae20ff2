"""Options and commands of kinds of hosts that installed distributions add."""

import pytest

RACK = """
import click

from agentcore.api.host_kinds import HostGroupConfig, HostKindError


class Racks:
    config = HostGroupConfig

    def host_options(self):
        return OPTIONS

    def host_commands(self):
        return {"blink": blink}

    def join(self, options, *, server, name, ca):
        if options["slot"] is None:
            return None
        raise HostKindError(f"no slot {options['slot']} for {name} at {server}")


OPTIONS = (click.Option(["--slot"], type=int, help="Of a rack: the slot of this machine."),)


@click.command()
def blink():
    \"\"\"Have a rack blink.\"\"\"
    click.echo("on and off")
"""


@pytest.fixture
def with_racks(place):
    """A folder with an installed distribution that adds a kind of hosts."""
    site = place.folder / "site"
    info = site / "added_rack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[agentcore.host_kinds]\nrack = added_rack:Racks\n")
    (site / "added_rack.py").write_text(RACK)
    place.write_app(modules=[])
    return {"PYTHONPATH": str(site)}


@pytest.mark.more
def test_help_lists_the_options_and_commands_of_a_kind(place, with_racks):
    assert "Of a rack: the slot of this machine." in place.run("host", "--help", environ=with_racks).out
    assert "Have a rack blink." in place.run("hosts", "--help", environ=with_racks).out


@pytest.mark.more
def test_options_of_a_kind_select_it(place, with_racks):
    done = place.run("host", "--server", "rack.example", "--name", "one", "--slot", "7", environ=with_racks)
    assert (done.code, "no slot 7 for one at rack.example" in done.err) == (2, True)


def test_command_of_a_kind_runs(place, with_racks):
    done = place.run("hosts", "blink", environ=with_racks)
    assert (done.code, done.out) == (0, "on and off\n")
