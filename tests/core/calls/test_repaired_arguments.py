"""Whose arguments are put right: a model's, before anything else looks at them, and nobody else's."""

from typing import Annotated

import pytest

from agentcore.api import Field, Module, Principal, tool
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest

HOST = {"modules": ["lab"]}

SENT = {"paths": '["a", "b"]', "limit": None}
MEANT = {"paths": ["a", "b"]}


class ListModule(Module):
    """A tool with a list, and an argument that may be left out."""

    name = "list"

    @tool(read_only=True)
    def list_all(self, paths: list[str], limit: Annotated[int, Field(ge=1)] = 7) -> dict:
        """List paths.

        Args:
            paths: Which.
            limit: How many.
        """
        return {"paths": paths, "limit": limit}


@pytest.mark.spec("K9")
@pytest.mark.parametrize("kind", ["chat", "mcp"])
async def test_arguments_of_a_model_are_put_right_before_a_person_is_asked(agentcore_host, kind):
    running = await agentcore_host([ListModule])
    request = CallRequest("list_all", dict(SENT), Principal(kind, "m"), session_id="s1")
    outcome = await running.host.run_call(request)
    assert outcome.error.type == "approval_required"
    [pending] = running.host.approvals.waiting
    assert pending.arguments == MEANT
    await running.host.approvals.decide_call(outcome.call_id, Verdict(approved=True, by="test"))
    again = CallRequest("list_all", dict(SENT), Principal(kind, "m"), session_id="s1", call_id=outcome.call_id)
    assert (await running.host.run_call(again)).unwrap().data == {"paths": ["a", "b"], "limit": 7}


@pytest.mark.spec("K9")
@pytest.mark.parametrize("kind", ["token", "cli", "page"])
async def test_arguments_of_anybody_else_are_taken_as_they_are(agentcore_host, kind):
    running = await agentcore_host([ListModule])
    outcome = await running.host.run_call(CallRequest("list_all", dict(SENT), Principal(kind)))
    assert outcome.error.type == "invalid_arguments"
    assert [error["path"] for error in outcome.error.context["errors"]] == ["paths", "limit"]
