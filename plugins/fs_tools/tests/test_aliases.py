"""Names of arguments that models know from other products."""

from pathlib import Path
from typing import Any

import pytest

from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest, ModelReader
from agentcore.testing import RunningHost

ALLOWED = {"approvals": {"mode": "allow"}}


@pytest.fixture
async def host(agentcore_host, root: Path) -> RunningHost:
    return await agentcore_host(modules=["fs_tools"], config=ALLOWED, roots=[root])


async def call_as(host: RunningHost, kind: str, tool: str, /, **arguments: Any) -> Any:
    request = CallRequest(tool, arguments, Principal(kind, "s1"), session_id="s1", reader=ModelReader())
    return await host.host.run_call(request)


@pytest.mark.parametrize("kind", ["chat", "mcp"])
async def test_names_of_other_products_are_understood_and_the_right_ones_reported(
    host, text, root: Path, kind: str
) -> None:
    (root / "a.txt").write_text("one\ntwo\none\n")
    read = await call_as(host, kind, "read_file", file_path="a.txt", start_line=2)
    assert "2\ttwo" in text(read.unwrap())
    assert "[Names of arguments: `file_path` is `path`, `start_line` is `offset`.]" in text(read.unwrap())
    arguments = {"file_path": "a.txt", "old_string": "one", "new_string": "1", "replace_all": True}
    edited = await call_as(host, kind, "edit", **arguments)
    assert (root / "a.txt").read_text() == "1\ntwo\n1\n"
    assert "`old_string` is `edits[0].old`" in text(edited.unwrap())
    nested = {"path": "a.txt", "edits": [{"old_str": "two", "new_str": "2"}]}
    assert (await call_as(host, kind, "edit", **nested)).error is None
    found = await call_as(host, kind, "grep", pattern="2", include="*.txt", directory=".")
    assert found.unwrap().data["files"] == ["a.txt"]
    assert (await call_as(host, kind, "file_move", src="a.txt", dest="b.txt")).error is None
    assert (root / "b.txt").read_text() == "1\n2\n1\n"


async def test_both_names_of_an_argument_are_refused(host, root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    outcome = await call_as(host, "chat", "read_file", path="a.txt", file_path="b.txt")
    assert outcome.error.type == "invalid_arguments"
    assert "file_path" in outcome.error.message


async def test_users_get_no_names_mapped(host, root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    outcome = await host.outcome("read_file", {"file_path": "a.txt"})
    assert outcome.error is not None
    assert outcome.error.type == "invalid_arguments"


async def test_user_approves_the_arguments_under_their_own_names(start, root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    host = await start()
    host.answer_approvals(approve=False)
    arguments = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    await host.outcome("edit", arguments, principal=Principal("chat", "x"))
    assert host.asked[-1].arguments == {"path": "a.txt", "edits": [{"old": "one", "new": "1"}]}
