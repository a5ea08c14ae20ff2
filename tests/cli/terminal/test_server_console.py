"""What the terminal of a server shows first, where several things wait."""

import os

import pytest

from agentcore.api.tool_context import Principal
from agentcore.cli.terminal.console_dialogues import open_dialogue
from agentcore.cli.terminal.server_console import ServerConsole
from agentcore.core.approvals.client_pairings import PairingRequest
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.testing.hosting import HostPlan, running_host

pytestmark = pytest.mark.spec("S2")


@pytest.fixture
def keyboard():
    master, slave = os.openpty()
    yield slave
    os.close(slave)
    os.close(master)


async def test_what_expires_is_shown_before_what_lasts(tmp_path, keyboard, capsys):
    """A change that waits as long as the server runs does not keep a client, or a call, from being decided."""

    async def nothing():
        pass

    async with running_host(HostPlan(()), tmp_path) as running:
        core = running.host
        console = ServerConsole(core, keyboard)
        lasting = Proposal("module_source", "notes", lasts=True)
        core.policy_changes.propose_change(lasting, Principal("token"), nothing)
        await console._show_next()
        assert "module_source notes" in capsys.readouterr().err
        request = PairingRequest("panel", "program", "", frozenset(("chat",)))
        pairing, _ = core.pairings.request_pairing(core.pairings.create_code(), request)
        await console._show_next()
        assert "asks for   chat" in capsys.readouterr().err
        await console._show_next()
        assert capsys.readouterr().err == ""
        core.pairings.decide_pairing(pairing.pairing_id, (), "test")
        await console._show_next()
        shown = capsys.readouterr().err
    assert shown.index("does not wait any more") < shown.index("module_source notes")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("y", []),
        ("y reading", ["look", "search"]),
        ("y reading search", ["search"]),
        ("y reading look delete", None),
        ("y everything", None),
        ("n", []),
    ],
)
async def test_tools_are_treated_as_reading_only_where_that_is_typed(tmp_path, capsys, typed, read):
    applied = []

    async def apply(chosen=frozenset()):
        applied.append(chosen)

    async with running_host(HostPlan(()), tmp_path) as running:
        changes = running.host.policy_changes
        proposal = Proposal("definitions", "notes", ("look", "search", "delete"), reading_tools=("look", "search"))
        change = changes.propose_change(proposal, Principal("server"), apply, apply_reading=apply)
        dialogue = await open_dialogue(running.host, change)
        dialogue.show()
        shown = capsys.readouterr().err
        word, _, rest = typed.partition(" ")
        outcome = await dialogue.handle_line(dialogue.proof.expected_input(word, rest) if word == "y" else word)
        assert (outcome is None) == (read is None)
        assert changes.waiting == ([change] if read is None else [])
    assert shown.index("read-only, according to the server") < shown.index("\n    search")
    assert applied == ([] if read is None or typed == "n" else [frozenset(read)])
