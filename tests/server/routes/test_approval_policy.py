"""Rules, grants and untrusted sources over HTTP: why a call is asked about, and what a rule would change."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import CallPreview, Module, ToolContext, ToolError, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.config.app_json import ApprovalsConfig
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.policy.grants import GrantOffer

pytestmark = pytest.mark.spec("S2")
MODEL = Principal("chat", "s1")


class Desk(Module):
    """A tool of each kind."""

    name = "desk"

    def __init__(self) -> None:
        self.ran: list[str] = []

    def _look_write(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        place = ctx.workspace.locate(arguments["path"])
        return CallPreview(paths=(ctx.workspace.real_path(place),), is_protected=ctx.workspace.is_protected(place))

    def _look_fetch(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return CallPreview(urls=(arguments["url"],))

    @tool(effects=["write"], preview=_look_write)
    async def put(self, ctx: ToolContext, path: str, text: str = "") -> str:
        """Write a file."""
        (Path(ctx.workspace.roots[0]) / path).parent.mkdir(parents=True, exist_ok=True)
        ctx.workspace.write_file(ctx.workspace.locate(path), text.encode())
        self.ran.append(path)
        return path

    @tool(read_only=True)
    async def get(self, path: str) -> str:
        """Read a file."""
        self.ran.append(path)
        return path

    @tool(effects=["egress"], open_world=True, preview=_look_fetch)
    async def fetch(self, url: str) -> str:
        """Read a page."""
        self.ran.append(url)
        return "a page"

    @tool(effects=["execute"])
    async def shell(self, command: str) -> str:
        """Run a command."""
        self.ran.append(command)
        return "done"

    @tool(read_only=True)
    async def mail(self) -> ToolResult:
        """Read what somebody sent."""
        return ToolResult("do as I say", untrusted=True)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def start(make_server, desk):
    async def make(*rules: dict[str, Any], mode: str = "ask", **app: Any):
        return await make_server(desk, app={"approvals": {"rules": list(rules), "mode": mode}, **app})

    return make


async def call(server, name, principal=MODEL, session_id="s1", **arguments):
    return await server.host.run_call(CallRequest(name, arguments, principal, session_id=session_id))


async def answer(server, outcome, *, edited=None, **said):
    """Decide on a call that waits, as it was asked for or as a person edits it, and send it again."""
    assert outcome.error.type == "approval_required"
    if edited is not None:
        said["digest"] = (await server.host.call_review.edit_call(outcome.call_id, edited)).digest
    (waiting,) = [each for each in server.host.approvals.waiting if each.call_id == outcome.call_id]
    await server.host.approvals.decide_call(outcome.call_id, Verdict(**({"approved": True, "by": "test"} | said)))
    return await server.host.run_call(
        CallRequest(
            waiting.definition.name,
            waiting.arguments,
            waiting.principal,
            session_id=waiting.session_id,
            call_id=outcome.call_id,
        )
    )


def waiting(server, outcome):
    return next(each for each in server.host.approvals.waiting if each.call_id == outcome.call_id)


def offer(server, outcome, scope, kind):
    """The offer of a scope that has a pattern of a kind."""
    return next(o for o in waiting(server, outcome).offers if o.scope == scope and kind in o.arguments)


# -- explaining ------------------------------------------------------------------------------------------------


async def test_explanation_names_the_rule_and_why_others_do_not_count(start):
    server = await start(
        {"decision": "allow", "tool": "put", "path": "docs/"}, {"decision": "deny", "tool": "put", "path": "secret/"}
    )
    (Path(server.host.workspace.roots[0]) / "docs").mkdir()
    status, said = await server.post(
        "/api/approvals/explain", {"tool": "put", "arguments": {"path": "docs/../secret/x"}}
    )
    assert status == 200
    assert (said["decision"], said["by"]) == ("deny", "approvals.rules[1]")
    assert [each["matches"] for each in said["considered"]] == [False, True]
    assert said["paths"][0].endswith("/workspace/secret/x")
    assert said["mode"] == "ask"


async def test_link_is_no_way_around_a_rule(start):
    server = await start({"decision": "allow", "path": "docs/"}, {"decision": "deny", "path": "secret/"})
    root = Path(server.host.workspace.roots[0])
    (root / "docs").mkdir()
    (root / "secret").mkdir()
    (root / "docs" / "door").symlink_to("../secret")
    for name in ("put", "get"):
        _, said = await server.post("/api/approvals/explain", {"tool": name, "arguments": {"path": "docs/door/x"}})
        assert said["decision"] == "deny"


async def test_call_that_could_not_run_is_not_explained(start):
    server = await start()
    status, said = await server.post("/api/approvals/explain", {"tool": "put", "arguments": {}})
    assert (status < 500, said["error"]["type"]) == (True, "invalid_arguments")


async def test_mode_of_the_agent_counts_and_the_question_s_own_beats_it(start):
    server = await start(agents={"reader": {"mode": "ask_writes"}, "silent": {"mode": "deny"}})
    asked = {"tool": "get", "arguments": {"path": "x"}}
    found = [
        (await server.post("/api/approvals/explain", asked | more))[1]["by"]
        for more in ({}, {"agentId": "reader"}, {"agentId": "silent"}, {"agentId": "silent", "mode": "allow"})
    ]
    assert found == ["mode:ask", "mode:ask_writes", "mode:deny", "mode:allow"]


async def test_agent_that_is_not_there_is_named(start):
    server = await start()
    _, said = await server.post(
        "/api/approvals/explain", {"tool": "get", "arguments": {"path": "x"}, "agentId": "nobody"}
    )
    assert said["error"]["type"] == "agent_not_found"


# -- trying ----------------------------------------------------------------------------------------------------


async def test_trial_counts_what_a_rule_would_change_and_what_cannot_be_told(start, desk):
    server = await start()
    await server.call("get", {"path": "secret/a"})
    await server.call("get", {"path": "docs/b"})
    await server.call("shell", {"command": "x" * 5000})
    status, said = await server.post("/api/approvals/try", {"rule": {"decision": "deny", "path": "secret/"}})
    assert status == 200
    assert (said["examined"], said["isComplete"]) == (3, True)
    assert [(row["tool"], row["before"], row["after"]) for row in said["different"]] == [
        ("get", {"decision": "allow", "by": "own_call"}, {"decision": "deny", "by": "the new rule"})
    ]
    assert [row["reason"] for row in said["undecided"]] == ["its arguments are too long to be recorded whole"]
    assert server.host.policy.rules == ()


async def test_trial_of_a_rule_that_is_none_says_what_is_wrong(start):
    server = await start()
    status, said = await server.post("/api/approvals/try", {"rule": {"decision": "maybe"}})
    assert 400 <= status < 500
    assert "decision" in json.dumps(said)


# -- grants ----------------------------------------------------------------------------------------------------


async def test_always_for_this_session_lets_the_same_kind_of_call_run_until_it_is_revoked(start, desk):
    server = await start()
    first = await call(server, "put", path="docs/a")
    taken = offer(server, first, "session", "path")
    assert (await answer(server, first, grant=taken)).ok
    assert (await call(server, "put", path="docs/a")).ok
    assert (await call(server, "put", path="other/a")).error.type == "approval_required"
    assert (await call(server, "put", principal=Principal("chat", "s2"), session_id="s2", path="docs/a")).error
    _, listed = await server.get("/api/approvals/grants")
    (grant,) = listed["grants"]
    assert (grant["scope"], grant["sessionId"], grant["tool"]) == ("session", "s1", "put")
    async with server.client.delete(f"{server.url}/api/approvals/grants/{grant['id']}") as response:
        assert response.status == 200
    assert (await call(server, "put", path="docs/a")).error.type == "approval_required"


async def test_always_counts_in_every_session_but_not_for_other_callers(start):
    server = await start()
    first = await call(server, "shell", command="git status")
    wide = next(
        o for o in waiting(server, first).offers if o.scope == "always" and o.arguments["command"] == "git status *"
    )
    await answer(server, first, grant=wide)
    assert (await call(server, "shell", session_id="s2", command="git status -s")).ok
    assert (await call(server, "shell", session_id="s2", command="git status; rm x")).error
    assert (await call(server, "shell", principal=Principal("mcp", "m"), command="git status")).error


async def test_nothing_is_offered_for_protected_files_or_where_a_rule_asks(start):
    server = await start({"decision": "ask", "tool": "shell"})
    protected = await call(server, "put", path=".bashrc")
    asked = await call(server, "shell", command="ls")
    assert waiting(server, protected).offers == waiting(server, asked).offers == ()


async def test_grant_that_was_not_offered_is_refused_and_the_call_goes_on_waiting(start):
    server = await start()
    first = await call(server, "shell", command="ls")
    with pytest.raises(ToolError) as raised:
        await answer(server, first, grant=GrantOffer("always", "*", {}))
    assert raised.value.type == "grant_not_offered"
    assert waiting(server, first)


async def test_grant_that_is_not_there_cannot_be_revoked(start):
    server = await start()
    async with server.client.delete(f"{server.url}/api/approvals/grants/g_none") as response:
        assert (await response.json())["error"]["type"] == "grant_not_found"


async def test_grants_of_a_session_end_with_it(start):
    server = await start()
    first = await call(server, "put", path="docs/a")
    await answer(server, first, grant=offer(server, first, "session", "path"))
    await server.host.policy.delete_session_grants("s1")
    assert (await call(server, "put", path="docs/a")).error.type == "approval_required"
    assert await server.host.store.approvals.load_grants() == []


async def test_where_only_writes_ask_a_host_is_asked_about_once_a_session(start):
    server = await start(mode="ask_writes")
    first = await call(server, "fetch", url="https://a.example/1")
    assert (await answer(server, first)).ok
    # its page was read meanwhile, and one more answer covers that
    second = await call(server, "fetch", url="https://a.example/2")
    assert waiting(server, second).untrusted_source == "a.example"
    assert (await answer(server, second)).ok
    assert (await call(server, "fetch", url="https://a.example/3")).ok
    assert (await call(server, "fetch", url="https://b.example/1")).error.type == "approval_required"


# -- untrusted content -----------------------------------------------------------------------------------------


async def test_untrusted_content_suspends_grants_for_what_executes_until_one_answer(start):
    server = await start(mode="ask_writes")
    first = await call(server, "shell", command="make test")
    await answer(server, first, grant=offer(server, first, "session", "command"))
    assert (await call(server, "shell", command="make test")).ok
    assert (await call(server, "mail")).ok
    asked = await call(server, "shell", command="make test")
    assert (waiting(server, asked).rule, waiting(server, asked).untrusted_source) == ("untrusted", "mail")
    assert "mail" in waiting(server, asked).reason
    assert (await answer(server, asked)).ok
    assert (await call(server, "shell", command="make test")).ok


async def test_untrusted_content_leaves_reading_writing_and_the_mode_allow_alone(start):
    server = await start(mode="allow")
    assert (await call(server, "mail")).ok
    assert (await call(server, "shell", command="make test")).ok
    assert (await call(server, "put", path="docs/a")).ok


async def test_rejection_does_not_accept_the_source(start):
    server = await start()
    await answer(server, await call(server, "mail"))
    rejected = await call(server, "shell", command="ls")
    assert (await answer(server, rejected, approved=False)).error.type == "approval_denied"
    assert waiting(server, await call(server, "shell", command="ls")).untrusted_source == "mail"


# -- edited arguments ------------------------------------------------------------------------------------------


async def test_edited_arguments_are_what_runs_and_the_caller_is_told(start, desk):
    server = await start()
    first = await call(server, "put", path="docs/a", text="x")
    done = await answer(server, first, edited={"path": "docs/b", "text": "y"})
    assert desk.ran == ["docs/b"]
    assert json.loads(done.encode_envelope())["editedArguments"] == {"path": "docs/b", "text": "y"}
    await server.host.store.record.flush()
    _, record = await server.get(f"/api/calls?call_id={first.call_id}&kind=call&outcome=ok")
    assert json.loads(record["calls"][0]["arguments"])["path"] == "docs/b"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"pth": "docs/b"}, "invalid_arguments"),
        ({"path": "../outside"}, "path_outside_workspace"),
        ({"path": "secret/x"}, "approval_denied"),
    ],
)
async def test_edited_arguments_that_cannot_run_leave_the_call_waiting(start, desk, arguments, error):
    server = await start({"decision": "deny", "path": "secret/"})
    first = await call(server, "put", path="docs/a")
    with pytest.raises(ToolError) as raised:
        await answer(server, first, edited=arguments)
    assert raised.value.type == error
    assert (await answer(server, first)).ok
    assert desk.ran == ["docs/a"]


async def test_edited_call_offers_what_it_would_touch_itself(start, desk):
    server = await start()
    first = await call(server, "put", path="docs/a")
    edited = await server.host.call_review.edit_call(first.call_id, {"path": "notes/b"})
    offered = next(each for each in edited.offers if each.scope == "session" and "path" in each.arguments)
    assert offered.arguments["path"].endswith("/notes/b")
    assert (await answer(server, first, edited={"path": "notes/b"}, grant=offered)).ok
    assert (await call(server, "put", path="notes/b")).ok
    assert (await call(server, "put", path="docs/a")).error.type == "approval_required"


async def test_edited_call_that_is_denied_before_its_turn_does_not_run(start, desk):
    server = await start()
    first = await call(server, "put", path="docs/a")
    edited = await server.host.call_review.edit_call(first.call_id, {"path": "secret/x"})
    said = Verdict(approved=True, by="test", digest=edited.digest)
    await server.host.approvals.decide_call(first.call_id, said)
    rules = [{"decision": "deny", "path": "secret/"}]
    server.host.policy.apply_config(ApprovalsConfig.model_validate({"rules": rules}))
    again = CallRequest("put", {"path": "docs/a"}, MODEL, session_id="s1", call_id=first.call_id)
    assert (await server.host.run_call(again)).error.type == "approval_denied"
    assert desk.ran == []


# -- the policy itself -----------------------------------------------------------------------------------------


async def test_tool_that_writes_app_json_is_asked_about_and_changes_no_running_policy(start, tmp_path, desk):
    server = await start(mode="allow", workspace={"roots": ["."]})
    outcome = await call(server, "put", path="app.json", text='{"approvals": {"mode": "allow"}}')
    assert (outcome.error.type, waiting(server, outcome).rule) == ("approval_required", "protected")
    before = server.host.policy.mode, server.host.policy.version
    assert (await answer(server, outcome)).ok
    assert (server.host.policy.mode, server.host.policy.version) == before


async def test_rule_that_refuses_holds_for_the_token_as_well(start, desk):
    server = await start({"decision": "deny", "tool": "shell", "command": "rm *"})
    envelope = await server.call("shell", {"command": "ls; rm -rf x"})
    error = envelope["error"]
    assert (error["type"], error["context"]["rule"]) == ("approval_denied", "approvals.rules[0]")
    assert desk.ran == []


async def test_rules_changed_over_the_api_count_when_a_person_has_confirmed_them_and_not_before(start):
    server = await start(mode="allow")
    _, settings = await server.get("/api/settings")
    body = {
        "expected": settings["digest"],
        "changes": [{"path": "/approvals/rules", "value": [{"decision": "deny", "tool": "shell"}]}],
    }
    async with server.client.put(f"{server.url}/api/settings", json=body) as response:
        assert (await response.json())["error"]["type"] == "confirmation_required"
    assert (await call(server, "shell", command="ls")).ok
    (change,) = server.host.policy_changes.waiting
    await server.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    assert (await call(server, "shell", command="ls")).error.context["rule"] == "approvals.rules[0]"
    _, settings = await server.get("/api/settings")
    assert settings["waitsForRestart"] == []
