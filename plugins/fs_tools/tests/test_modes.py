"""What the approval modes let a model do with files."""

from pathlib import Path
from typing import Any

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.testing import RunningHost


async def outcome_of(host: RunningHost, mode: Any, tool: str, /, **arguments: Any) -> str:
    """Call a tool as a model in this mode; return the error type, or `ran`."""
    request = CallRequest(tool, arguments, Principal("chat", "s1"), session_id="s1", mode=mode)
    outcome = await host.host.run_call(request)
    return "ran" if outcome.error is None else outcome.error.type


async def test_accept_edits_changes_files_of_the_workspace_and_asks_about_protected_ones(agentcore_host, root: Path):
    host = await agentcore_host(modules=["fs_tools"], roots=[root])
    mode = "accept_edits"
    assert await outcome_of(host, mode, "write_file", path="notes/a.txt", content="1\n") == "ran"
    assert await outcome_of(host, mode, "edit", path="notes/a.txt", edits=[{"old": "1", "new": "2"}]) == "ran"
    assert await outcome_of(host, mode, "file_copy", source="notes", destination="copy") == "ran"
    assert await outcome_of(host, mode, "file_move", source="copy", destination="moved") == "ran"
    assert await outcome_of(host, mode, "file_delete", path="moved/a.txt") == "ran"
    assert (root / "notes/a.txt").read_text() == "2\n"
    (root / ".git/hooks").mkdir(parents=True)
    (root / "hooks").symlink_to(".git/hooks")
    for path in (".git/hooks/pre-commit", "hooks/pre-commit", ".vscode/settings.json"):
        assert await outcome_of(host, mode, "write_file", path=path, content="x\n") == "approval_required"


async def test_plan_reads_files_and_changes_none(agentcore_host, root: Path):
    host = await agentcore_host(modules=["fs_tools"], roots=[root])
    (root / "a.txt").write_text("1\n")
    assert await outcome_of(host, "plan", "read_file", path="a.txt") == "ran"
    assert await outcome_of(host, "plan", "grep", pattern="1") == "ran"
    assert await outcome_of(host, "plan", "write_file", path="b.txt", content="x\n") == "approval_denied"
    assert await outcome_of(host, "plan", "file_delete", path="a.txt") == "approval_denied"
    assert sorted(path.name for path in root.iterdir()) == ["a.txt"]
