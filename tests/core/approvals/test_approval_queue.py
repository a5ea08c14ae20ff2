"""Calls that need a person: bound to exactly this call, answered once, used once."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from agentcore.api import CallPreview, Module, ToolContext, ToolDefinition, ToolError, tool
from agentcore.api.tool_context import Principal
from agentcore.config.app_json import ApprovalsConfig
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.pending_approval import now_ms
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.events import EventBus
from agentcore.limits import (
    APPROVALS_WAITING,
    APPROVALS_WAITING_BYTES_PER_CALLER,
    APPROVALS_WAITING_PER_CALLER,
    PREVIEW_CHARS,
    PREVIEW_ENTRIES,
)
from agentcore.store.approvals.approval_rows import ApprovalRow, GrantRow
from tests.support.waiting import wait_until


def _preview(self: Any, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
    if arguments["path"] == "broken":
        raise RuntimeError("the preview does not work")
    if arguments["path"] == "nonsense":
        raise ToolError("path_not_found", "no such file")
    if arguments["path"] == "shapeless":
        return "no preview"  # type: ignore[return-value]
    if arguments["path"] == "moving":
        return _preview_of_target(self.target)
    if arguments["path"] == "endless":
        self.seen.append(ctx.is_cancelled)
        while not ctx.is_cancelled:
            time.sleep(0.01)
        self.has_stopped.set()
    if arguments["path"] == "huge":
        return CallPreview(words="x" * (PREVIEW_CHARS + 1))
    if arguments["path"] == "many":
        return CallPreview(paths=("x",) * (PREVIEW_ENTRIES + 1))
    if arguments["path"] == "lying":
        return CallPreview(failure="failed")
    return CallPreview(is_protected=arguments["path"] == "app.json")


def _preview_of_target(target: str) -> CallPreview:
    if target == "gone":
        raise ToolError("path_not_found", "no such file")
    return CallPreview(is_protected=True, paths=(target,))


class Writer(Module):
    """Writes."""

    name = "writer"
    ran = 0
    target = "one"

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[bool] = []
        self.has_stopped = threading.Event()

    @tool(effects=["write"], preview=_preview)
    async def write(self, path: str) -> str:
        """Write a file."""
        self.ran += 1
        return path


@pytest.fixture
def writer() -> Writer:
    return Writer()


HOST = {"modules": ["writer"]}


def request(path="app.json", principal=Principal("token"), **more):
    return CallRequest("write", {"path": path}, principal, **more)


async def required(host, **more):
    outcome = await host.run_call(request(**more))
    assert outcome.error.type == "approval_required"
    return outcome.error.context["callId"]


@pytest.mark.spec("K2", "S2")
async def test_protected_write_waits_for_a_person_and_runs_once(host, writer):
    call_id = await required(host)
    assert await required(host, call_id=call_id) == call_id
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    assert (await host.run_call(request(call_id=call_id))).ok
    again = await host.run_call(request(call_id=call_id))
    assert again.error.type == "approval_not_found"
    assert writer.ran == 1


@pytest.mark.spec("S2")
async def test_approval_does_not_hold_for_changed_arguments(host, writer):
    call_id = await required(host)
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    outcome = await host.run_call(request(path="other", call_id=call_id))
    assert outcome.error.type == "approval_denied"
    assert writer.ran == 0


@pytest.mark.spec("S2")
async def test_approval_of_somebody_else_s_call_is_of_no_use(host, writer):
    call_id = await required(host, principal=Principal("chat", "s"), session_id="s")
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    outcome = await host.run_call(request(call_id=call_id, session_id="s"))
    assert outcome.error.type == "approval_not_found"
    assert writer.ran == 0


@pytest.mark.spec("S2", "K2")
async def test_arguments_that_change_while_the_call_waits_are_refused(host, writer):
    arguments = {"path": "app.json"}

    async def change_and_approve(waiting):
        arguments["path"] = "other.json"
        return Verdict(approved=True, by="terminal")

    host.approvals.ask_at_terminal(change_and_approve)
    outcome = await host.run_call(CallRequest("write", arguments, Principal("token")))
    assert outcome.error.type == "approval_denied"
    assert writer.ran == 0


@pytest.mark.spec("S2", "K2")
async def test_approval_does_not_hold_when_the_paths_behind_the_arguments_change(host, writer):
    call_id = await required(host, path="moving")
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    writer.target = "another"
    outcome = await host.run_call(request(path="moving", call_id=call_id))
    assert outcome.error.type == "approval_denied"
    assert writer.ran == 0


@pytest.mark.spec("S2")
@pytest.mark.parametrize("stays", [True, False])
async def test_call_whose_target_changed_while_it_waited_is_asked_about_again(host, writer, stays):
    told, changed = [], []
    host.events.subscribe("approval.requested", lambda event: told.append(event.data["callId"]))
    host.events.subscribe("approval.changed", lambda event: changed.append(event.data))
    approve = Verdict(approved=True, by="terminal")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        first = group.create_task(host.run_call(request(path="moving", waits_for_approval=stays)))
        await wait_until(lambda: told)
        writer.target = "another"
        with pytest.raises(ToolError) as raised:
            await host.approvals.decide_call(told[0], approve)
        (shown,) = host.approvals.waiting
        assert (shown.changes, shown.preview.paths) == (("target",), ("another",))
        await host.approvals.decide_call(told[0], approve)
        outcome = await first if stays else await host.run_call(request(path="moving", call_id=told[0]))
    assert (raised.value.type, raised.value.context["changes"]) == ("approval_changed", ["target"])
    assert changed == [{"callId": told[0], "changes": ["target"]}]
    assert outcome.ok
    assert writer.ran == 1


@pytest.mark.spec("S2")
async def test_call_whose_reason_to_ask_changed_is_asked_about_again(host, writer):
    of_model = Principal("chat", "s")
    call_id = await required(host, path="notes.txt", principal=of_model, session_id="s")
    await host.apply_approvals(ApprovalsConfig.model_validate({"rules": [{"tool": "write", "decision": "ask"}]}))
    with pytest.raises(ToolError) as raised:
        await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    (shown,) = host.approvals.waiting
    assert raised.value.type == "approval_changed"
    assert (shown.changes, shown.rule) == (("rules",), "approvals.rules[0]")
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    assert (await host.run_call(request("notes.txt", of_model, call_id=call_id, session_id="s"))).ok


@pytest.mark.spec("S2")
async def test_call_that_cannot_run_any_more_is_not_approved_and_can_be_rejected(host, writer):
    call_id = await required(host, path="moving")
    writer.target = "gone"
    with pytest.raises(ToolError) as raised:
        await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    assert raised.value.type == "path_not_found"
    assert [request.call_id for request in host.approvals.waiting] == [call_id]
    await host.approvals.decide_call(call_id, Verdict(approved=False, by="terminal"))
    assert host.approvals.waiting == []


@pytest.mark.spec("S2")
async def test_terminal_asks_again_about_a_call_that_changed(host, writer):
    asked = []

    async def approve(waiting):
        asked.append((waiting.preview.paths, waiting.changes))
        writer.target = "another"
        return Verdict(approved=True, by="terminal")

    host.approvals.ask_at_terminal(approve)
    assert (await host.run_call(request(path="moving"))).ok
    assert asked == [(("one",), ()), (("another",), ("target",))]


@pytest.mark.spec("S2")
async def test_approval_does_not_hold_for_another_session(host, writer):
    call_id = await required(host)
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    outcome = await host.run_call(request(call_id=call_id, session_id="another"))
    assert outcome.error.type == "approval_denied"
    assert writer.ran == 0


@pytest.mark.spec("S2")
async def test_rejected_call_never_runs(host, writer):
    call_id = await required(host)
    await host.approvals.decide_call(call_id, Verdict(approved=False, by="terminal"))
    assert (await host.run_call(request(call_id=call_id))).error.type == "approval_denied"
    assert (await host.run_call(request(call_id=call_id))).error.type == "approval_not_found"
    assert writer.ran == 0


@pytest.mark.spec("S2")
async def test_second_word_on_one_call_is_refused(host):
    call_id = await required(host)
    await host.approvals.decide_call(call_id, Verdict(approved=False, by="terminal"))
    with pytest.raises(ToolError) as raised:
        await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    assert raised.value.type == "approval_not_found"


@pytest.mark.spec("K2")
async def test_caller_that_stays_gets_the_result_after_the_approval(host):
    told: list[str] = []
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        staying = group.create_task(
            host.run_call(
                request(waits_for_approval=True),
                lambda kind, data: told.append(data["callId"]) if kind == "approval" else None,
            )
        )
        while not told:
            await asyncio.sleep(0)
        await host.approvals.decide_call(told[0], Verdict(approved=True, by="terminal"))
    assert staying.result().ok


@pytest.mark.spec("K2")
async def test_terminal_of_the_host_is_asked_at_once(host, writer):
    seen = []

    async def approve(waiting):
        seen.append((waiting.definition.name, waiting.arguments))
        return Verdict(approved=True, by="terminal")

    host.approvals.ask_at_terminal(approve)
    assert (await host.run_call(request())).ok
    assert seen == [("write", {"path": "app.json"})]


@pytest.mark.spec("S2")
async def test_call_of_a_model_is_asked_about_and_own_call_is_not(host, writer):
    await required(host, path="notes.txt", principal=Principal("chat", "s"))
    assert (await host.run_call(request(path="notes.txt"))).ok


@pytest.mark.slow
@pytest.mark.spec("K2")
@pytest.mark.parametrize(
    ("path", "rule", "reason"),
    [
        ("broken", "preview:failed", "its tool failed to work out what it would do"),
        ("shapeless", "preview:failed", "its tool failed to work out what it would do"),
        ("huge", "preview:failed", "its tool failed to work out what it would do"),
        ("many", "preview:failed", "its tool failed to work out what it would do"),
        ("endless", "preview:timed_out", "its tool could not work out in time what it would do"),
        ("app.json", "protected", "it touches files that decide what runs or what is allowed"),
    ],
)
async def test_preview_that_fails_means_asking_and_the_question_says_so(host, path, rule, reason):
    await required(host, path=path)
    (waiting,) = host.approvals.waiting
    assert (waiting.rule, waiting.reason, waiting.offers) == (rule, reason, ())
    assert waiting.preview.is_protected is (path == "app.json")


async def test_preview_cannot_say_that_it_has_failed(host, writer):
    assert (await host.run_call(request(path="lying"))).ok
    assert writer.ran == 1


async def test_call_whose_preview_failed_runs_once_it_is_approved(host, writer):
    call_id = await required(host, path="broken")
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    assert (await host.run_call(request(path="broken", call_id=call_id))).ok
    assert writer.ran == 1


@pytest.mark.slow
async def test_thread_of_a_preview_stops_when_its_time_is_over(host, writer):
    await required(host, path="endless")
    assert writer.seen == [False]
    assert await asyncio.to_thread(writer.has_stopped.wait, 10)


async def test_thread_of_a_preview_stops_when_its_call_is_cancelled(host, writer):
    call = asyncio.create_task(host.run_call(request(path="endless")))
    async with asyncio.timeout(10):
        while not writer.seen:
            await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert await asyncio.to_thread(writer.has_stopped.wait, 10)


async def test_rule_on_paths_holds_for_a_call_whose_preview_failed(make_host, writer):
    rules = [{"tool": "write", "path": "broken", "decision": "deny"}]
    host = await make_host(writer, approvals={"rules": rules})
    assert (await host.run_call(request(path="broken"))).error.type == "approval_denied"
    assert (await host.run_call(request(path="fine"))).ok


@pytest.mark.spec("K2")
async def test_call_that_cannot_run_is_not_asked_about(host):
    outcome = await host.run_call(request(path="nonsense", principal=Principal("chat", "s")))
    assert outcome.error.type == "path_not_found"
    assert host.approvals.waiting == []


@pytest.mark.spec("K2")
async def test_approval_is_in_the_record_before_the_tool_runs(host):
    call_id = await required(host)
    await host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal"))
    await host.run_call(request(call_id=call_id))
    await host.store.record.flush()
    rows = [entry.row for entry in await host.store.record.read_page()]
    row = next(row for row in rows if row.call_id == call_id and row.outcome == "ok")
    assert (row.decision, row.decided_by) == ("ask", "terminal")


def _waiting() -> ApprovalRequest:
    return ApprovalRequest(
        call_id="c1",
        session_id="s",
        principal=Principal("chat"),
        definition=ToolDefinition("t", "d", {}),
        arguments={},
        arguments_digest="",
        reason="",
        preview=None,
    )


@pytest.mark.spec("S2", "H1")
async def test_what_was_asked_and_allowed_for_a_host_ends_when_it_is_forgotten(host):
    """Another machine may be let in under its name."""
    queue = ApprovalQueue(EventBus(), host.store, host.policy)
    for call_id, name in (("c1", "laptop"), ("c2", "other"), ("c3", "laptop")):
        await queue.put(replace(_waiting(), call_id=call_id, host=name))
    await queue.decide_call("c3", Verdict(approved=True, by="test"))
    row = GrantRow("", "always", "", "chat", "t", "", "test", 1)
    rows = [row._replace(grant_id=name, arguments=json.dumps({"on_host": name})) for name in ("laptop", "other")]
    host.policy.grants.add(rows)
    await queue.withdraw_calls_on("laptop", "it was forgotten")
    await host.policy.revoke_host_grants("laptop")
    assert [queue.find_pending(call_id) is None for call_id in ("c1", "c2", "c3")] == [True, False, True]
    assert [stored.call_id for stored in await host.store.approvals.load_calls(0)] == ["c2"]
    assert [grant.row.grant_id for grant in host.policy.grants] == ["other"]


@pytest.mark.spec("S2")
async def test_call_waits_without_a_limit_and_an_unused_approval_expires(host):
    queue = ApprovalQueue(EventBus(), host.store, host.policy, used_within_s=-1)
    pending = await queue.put(_waiting())
    assert [request.expires_at_ms for request in queue.waiting] == [None]
    await queue.decide_call("c1", Verdict(approved=True, by="terminal"))
    assert queue.find_pending("c1") is None
    assert pending.use_verdict() is None


@pytest.mark.spec("S2")
async def test_approval_that_is_used_in_time_counts(host):
    queue = ApprovalQueue(EventBus(), host.store, host.policy)
    pending = await queue.put(_waiting())
    await queue.decide_call("c1", Verdict(approved=True, by="terminal"))
    assert pending.use_verdict() is not None


@pytest.mark.spec("S2")
async def test_call_that_an_earlier_version_gave_an_end_waits_after_it(host):
    await host.store.approvals.save_call(ApprovalRow("c1", "s", '{"requested_at_ms": 1}', None, 1))
    await host.store.approvals.save_call(ApprovalRow("c2", "s", '{"requested_at_ms": 2}', '{"approved": true}', 1))
    assert [(row.call_id, row.expires_at_ms) for row in await host.store.approvals.load_calls(now_ms())] == [
        ("c1", None)
    ]


@pytest.mark.spec("K2")
async def test_cancelled_call_that_waits_leaves_the_list_and_never_runs(host, writer):
    kept, cancelled = await required(host), await required(host)
    withdrawn = []
    host.events.subscribe("approval.withdrawn", lambda event: withdrawn.append(event.data["callId"]))
    await host.calls.cancel_call(cancelled, Principal("token"))
    assert [request.call_id for request in host.approvals.waiting] == [kept]
    assert withdrawn == [cancelled]
    assert (await host.run_call(request(call_id=cancelled))).error.type == "approval_not_found"
    assert [row.call_id for row in await host.store.approvals.load_calls(now_ms())] == [kept]
    assert writer.ran == 0


@pytest.mark.spec("K2")
async def test_call_that_is_cancelled_while_its_question_is_written_waits_for_nobody(host, monkeypatch):
    kept = await required(host)
    writes, put = [], host.store.approvals.save_call

    async def put_and_hang(row):
        await put(row)
        writes.append(row)
        await asyncio.Event().wait()

    monkeypatch.setattr(host.store.approvals, "save_call", put_and_hang)
    call = asyncio.create_task(host.run_call(request()))
    async with asyncio.timeout(30):
        while not writes:
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait((call,))
        while len(host.approvals.waiting) > 1 or len(await host.store.approvals.load_calls(now_ms())) > 1:
            await asyncio.sleep(0.01)
    assert [request.call_id for request in host.approvals.waiting] == [kept]


@pytest.mark.spec("K2")
async def test_call_whose_question_cannot_be_written_waits_for_nobody(host, monkeypatch):
    async def refuse(row):
        raise OSError("the disk is full")

    monkeypatch.setattr(host.store.approvals, "save_call", refuse)
    assert not (await host.run_call(request())).ok
    assert host.approvals.waiting == []


@pytest.mark.spec("K2")
async def test_approved_call_that_is_cancelled_before_it_begins_never_runs(host, writer):
    call_id, control = await required(host), await required(host)
    for each in (call_id, control):
        await host.approvals.decide_call(each, Verdict(approved=True, by="terminal"))
    await host.calls.cancel_call(call_id, Principal("token"))
    assert (await host.run_call(request(call_id=call_id))).error.type == "approval_not_found"
    assert writer.ran == 0
    assert (await host.run_call(request(call_id=control))).ok


@pytest.mark.spec("K2")
async def test_model_cannot_cancel_a_call_of_another_that_waits(host):
    call_id = await required(host)
    with pytest.raises(ToolError) as raised:
        await host.calls.cancel_call(call_id, Principal("chat", "s1"))
    assert raised.value.type == "call_not_found"
    assert [request.call_id for request in host.approvals.waiting] == [call_id]


@pytest.mark.spec("S2")
async def test_calls_that_wait_end_with_their_session(host):
    ended = await required(host, session_id="ended")
    kept = await required(host, session_id="kept")
    await host.end_session("ended")
    assert [request.call_id for request in host.approvals.waiting] == [kept]
    assert (await host.run_call(request(call_id=ended, session_id="ended"))).error.type == "approval_not_found"


@pytest.mark.spec("K2")
async def test_whoever_waits_for_a_call_that_is_withdrawn_is_let_go(host):
    queue = ApprovalQueue(EventBus(), host.store, host.policy)
    pending = await queue.put(_waiting())
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(pending.wait())
        await asyncio.sleep(0)
        await pending.withdraw()
    assert queue.find_pending("c1") is None


@pytest.mark.spec("S2")
async def test_verdict_is_used_once(host):
    queue = ApprovalQueue(EventBus(), host.store, host.policy)
    pending = await queue.put(_waiting(), is_kept=False)
    assert pending.use_verdict() is None
    await queue.decide_call("c1", Verdict(approved=True, by="terminal"))
    assert pending.use_verdict() is not None
    assert pending.use_verdict() is None


async def fill_places(host, principal, **more):
    """Have calls of a caller wait until no more may; gives how many, and the last error."""
    for count in range(APPROVALS_WAITING + 1):
        outcome = await host.run_call(request(principal=principal, **more))
        if outcome.error.type != "approval_required":
            return count, outcome.error
    raise AssertionError("nothing bounds the calls that wait")


@pytest.mark.spec("S7")
async def test_one_caller_fills_its_own_places_and_no_other(host):
    count, error = await fill_places(host, Principal("mcp", "greedy"))
    assert (count, error.type) == (APPROVALS_WAITING_PER_CALLER, "too_many_waiting")
    assert error.context["limit"] == APPROVALS_WAITING_PER_CALLER
    for other in (Principal("mcp", "modest"), Principal("chat", "s1"), Principal("page", "p1"), Principal("token")):
        await required(host, principal=other)
    # a place that is free again is the caller's again
    first = next(each for each in host.approvals.waiting if each.principal.id == "greedy")
    await host.approvals.decide_call(first.call_id, Verdict(approved=False, by="terminal"))
    again = request(principal=first.principal, call_id=first.call_id)
    assert (await host.run_call(again)).error.type == "approval_denied"
    await required(host, principal=first.principal)


@pytest.mark.spec("S7")
async def test_all_callers_together_leave_room_for_the_user(host):
    filled = 0
    while (count := (await fill_places(host, Principal("mcp", f"client{filled}")))[0]) == APPROVALS_WAITING_PER_CALLER:
        filled += count
    assert filled + count == APPROVALS_WAITING - APPROVALS_WAITING_PER_CALLER
    late = await host.run_call(request(principal=Principal("chat", "late")))
    assert late.error.type == "too_many_waiting"
    users, _ = await fill_places(host, Principal("page", "p1"))
    assert users == APPROVALS_WAITING_PER_CALLER
    # whichever way they come: they are one user
    assert (await host.run_call(request(principal=Principal("token")))).error.type == "too_many_waiting"


@pytest.mark.spec("S7")
async def test_chats_of_one_client_share_its_places(host):
    chats = [Principal("chat", f"s{number}") for number in range(APPROVALS_WAITING_PER_CALLER)]
    for chat in chats:
        await required(host, principal=chat, session_owner="client:panel")
    one_more = request(principal=Principal("chat", "more"), session_owner="client:panel")
    assert (await host.run_call(one_more)).error.type == "too_many_waiting"
    # chats that the user made are callers of their own
    for chat in chats:
        await required(host, principal=chat, session_owner="page")


@pytest.mark.spec("S7")
async def test_calls_that_wait_are_bounded_in_bytes(host):
    greedy = Principal("chat", "s1")
    count, error = await fill_places(host, greedy, path="x" * (APPROVALS_WAITING_BYTES_PER_CALLER // 4))
    assert (count, error.type) == (3, "too_many_waiting")
    assert error.context["limit"] == APPROVALS_WAITING_BYTES_PER_CALLER
    await required(host, principal=greedy)
    await required(host, principal=Principal("chat", "s2"), path="x" * (APPROVALS_WAITING_BYTES_PER_CALLER // 4))


@pytest.mark.spec("S7")
async def test_emergency_stop_rejects_what_waits(host):
    await required(host)
    assert (await host.emergency_stop(Principal("page")))["rejected"] == 1
    assert host.approvals.waiting == []


@pytest.mark.spec("S7")
async def test_emergency_stop_withdraws_what_was_approved_and_has_not_begun(host, writer):
    approved, rejected = await required(host), await required(host)
    await host.approvals.decide_call(approved, Verdict(approved=True, by="terminal"))
    await host.approvals.decide_call(rejected, Verdict(approved=False, by="terminal"))
    assert (await host.emergency_stop(Principal("page")))["rejected"] == 1
    assert [request.call_id for request, _ in host.approvals.unused_verdicts] == [rejected]
    assert [row.call_id for row in await host.store.approvals.load_calls(now_ms())] == [rejected]
    host.resume_after_stop(Principal("cli"))
    assert (await host.run_call(request(call_id=approved))).error.type == "approval_not_found"
    assert writer.ran == 0


@pytest.mark.spec("S7")
async def test_emergency_stop_ends_a_decision_that_is_being_stored(host, monkeypatch):
    call_id = await required(host)
    begun, gate, decide = asyncio.Event(), asyncio.Event(), host.store.approvals.save_decision

    async def decide_late(*row):
        begun.set()
        await gate.wait()
        await decide(*row)

    monkeypatch.setattr(host.store.approvals, "save_decision", decide_late)
    decision = asyncio.create_task(host.approvals.decide_call(call_id, Verdict(approved=True, by="terminal")))
    async with asyncio.timeout(30):
        await begun.wait()
        await host.emergency_stop(Principal("page"))
        gate.set()
        with pytest.raises(ToolError) as raised:
            await decision
    assert raised.value.type == "approval_not_found"
    assert host.approvals.unused_verdicts == []
    assert await host.store.approvals.load_calls(now_ms()) == []
