"""A host that lies is cut off with a reason, or the one thing is refused; nothing of what it says is believed."""

import asyncio
import os
import resource
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Module, ResourceUse, ToolContext, ToolResult, tool
from agentcore.api.tool_context import Principal
from agentcore.supervision.descendants import list_descendants
from tests.hosts.fake_host import FakeHost, write_fake
from tests.hosts.lies import (
    CUT_OFF,
    REFUSED,
    any_lie,
    ends_at_once,
    junk_hello,
    many_tools,
    no_hello,
    says_too_much,
    wrong_attributes,
    wrong_description,
    wrong_hello,
    wrong_key,
    wrong_name,
    wrong_protocol,
    wrong_settings,
    wrong_tools,
)

WITHIN_S = 60.0


class Liar(Module):
    """Never runs: another program stands in for its process."""


class Near(Module):
    """Runs in the server, and has what a host may lie about."""

    @tool(read_only=True)
    async def near_pid(self) -> int:
        """Say in which process it is."""
        return os.getpid()

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, resourceId: str | None = None) -> str:  # noqa: N803
        """Make a box."""
        assert ctx.resource is not None
        self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready", title="mine")
        return ctx.resource.resource_id

    async def _end(self, resource: Any) -> None:
        vars(self).setdefault("over", []).append(resource.resource_id)

    @tool(read_only=True)
    async def near_keep(self, ctx: ToolContext) -> ToolResult:
        """Keep something."""
        link = await ctx.artifacts.save(b"a secret", mime="text/plain", name="secret.txt")
        return ToolResult((link,))


@pytest.fixture
def lying(agentcore_host, tmp_path):
    """Start a server with a module of its own, and one whose process is a program of a test's."""

    async def start(program: Callable[[FakeHost], None], limits: Any = None, **options: Any):
        python = str(write_fake(tmp_path / "python", program))
        hosts = {"isolated": {"kind": "process", "modules": ["liar"], "python": python}}
        config = {"hosts": hosts, "limits": limits or {}, "approvals": {"mode": "allow"}}
        return await agentcore_host([Near(), Liar()], isolation="process", config=config, **options)

    return start


async def _is_untouched(host) -> None:
    """What the server's own module has is as it was."""
    assert (await host.call("near_pid")).data == os.getpid()
    [box] = host.host.resources.list(owner="near")
    assert (box.title, box.status) == ("mine", "ready")


def _some_more(lies: Collection[Any], *representatives: Any) -> list[Any]:
    """All lies; for `make test-more` those that `test_dialled_lies.py` has too, or that are refused as others are."""
    return [lie if lie in representatives else pytest.param(lie, marks=pytest.mark.more) for lie in lies]


@pytest.mark.more
@pytest.mark.parametrize(
    "lie",
    _some_more(
        CUT_OFF,
        *("result without a result", "speaks for another module", "flood of records", "huge length"),
    ),
)
async def test_lie_cuts_the_host_off_with_a_reason(lying, lie):
    host = await lying(any_lie, {"loop_blocked_max": 3} if lie == "half a frame" else None)
    await host.outcome("fill", session_id="s1")
    outcome = await host.outcome("lie", {"lie": lie}, session_id="s1")
    assert outcome.error.type == "module_failed"
    assert CUT_OFF[lie][1] in outcome.error.message
    assert "Traceback" not in outcome.error.message
    await _is_untouched(host)
    async with asyncio.timeout(WITHIN_S):
        while not (await host.outcome("lie", {"lie": ""})).ok:
            await asyncio.sleep(0.05)


MANY_THINGS = [lie for lie in REFUSED if "without an end" in lie or lie in ("two results", "blobs that nothing names")]
"""What is said so often that it costs time, or ends the host."""


async def test_things_are_refused_one_by_one_and_the_host_goes_on(lying):
    host = await lying(any_lie)
    for lie in REFUSED:
        if lie not in MANY_THINGS:
            await _is_refused(host, lie)


@pytest.mark.more
@pytest.mark.parametrize("lie", _some_more(MANY_THINGS, "subscriptions without an end"))
async def test_one_thing_that_is_said_often_is_refused_and_the_host_goes_on(lying, lie):
    host = await lying(any_lie)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await _is_refused(host, lie)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 400 * 1024


async def _is_refused(host, lie: str) -> None:
    """Have the host tell a lie within a call; the call ends well, and nothing of the lie counts."""
    if not host.host.resources.list(owner="near"):
        await host.outcome("fill", session_id="s1")
    kept = await host.outcome("near_keep", session_id="s2")
    arguments = {"lie": lie, "artifact": kept.result.content[0].artifact_id}
    outcome = await host.outcome("lie", arguments, session_id="s1", principal=Principal("chat", "default"))
    if lie != "two results":
        assert outcome.ok, (lie, outcome.error)
        assert REFUSED[lie][1] in outcome.result.content[0].text, lie
        assert (await host.call("lie")).content[0].text == "done", lie
    else:
        assert outcome.result is None or outcome.result.content[0].text == "the first"
    await _is_untouched(host)
    assert host.events.of("near.ready") == [], lie
    assert len(host.host.resources.list(owner="liar")) <= 1000


@pytest.mark.more
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (wrong_protocol, "it speaks 'agentcore.host.99', and this server 'agentcore.host.1'"),
        pytest.param(wrong_hello, "pid: ", marks=pytest.mark.more),
        pytest.param(junk_hello, "a frame of", marks=pytest.mark.more),
        (ends_at_once, "no module named agentcore"),
    ],
)
async def test_host_that_does_not_greet_as_it_should_fails_with_a_reason(lying, program, reason):
    host = await lying(program, is_failure_expected=True)
    record = host.host.modules.get_record("liar")
    assert record.state == "failed"
    assert reason in record.reason
    assert (await host.call("near_pid")).data == os.getpid()


@pytest.mark.more
async def test_host_that_says_nothing_is_given_up_and_its_process_ended(lying):
    host = await lying(no_hello, is_failure_expected=True)
    record = host.host.modules.get_record("liar")
    assert record.state == "failed"
    assert "did not greet within 25 s" in record.reason
    async with asyncio.timeout(WITHIN_S):
        while any(b"agentcore.hosts.worker" in _command(pid) for pid in list_descendants(os.getpid())):
            await asyncio.sleep(0.05)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.more
async def test_tools_beyond_the_bound_are_left_out(lying):
    host = await lying(many_tools, is_failure_expected=True)
    record = host.host.modules.get_record("liar")
    assert record.state == "ready", record.reason
    assert len(record.tools) == 2_000
    assert any("are left out: a module may have 2000" in each for each in record.tool_errors)


@pytest.mark.more
async def test_definitions_that_are_none_are_left_out_and_said(lying):
    host = await lying(wrong_tools, is_failure_expected=True)
    record = host.host.modules.get_record("liar")
    assert record.state == "ready", record.reason
    assert (await host.call("lie")).content[0].text == "done"
    assert (await host.call("near_pid")).data == os.getpid()
    assert len(record.tool_errors) > 5


@pytest.mark.more
async def test_attributes_that_a_module_does_not_have_are_not_taken(lying):
    host = await lying(says_too_much)
    assert host.host.modules.get_record("liar").placed.host_name == "isolated"
    assert (await host.call("lie")).content[0].text == "done"


@pytest.mark.more
@pytest.mark.parametrize(
    "loaded",
    _some_more(
        [
            {"attributes": 7},
            {"description": None},
            {"settings": []},
            {"attributes": {"name": "near"}},
            {"config_key": 3},
        ],
        {"attributes": 7},
    ),
)
async def test_module_of_which_the_host_says_something_wrong_fails_with_a_reason(lying, loaded):
    program = PROGRAMS[str(loaded)]
    host = await lying(program, is_failure_expected=True)
    record = host.host.modules.get_record("liar")
    assert record.state == "failed"
    assert next(iter(loaded)) in record.reason or "it calls itself 'near'" in record.reason
    assert (await host.call("near_pid")).data == os.getpid()


PROGRAMS = {
    "{'attributes': 7}": wrong_attributes,
    "{'description': None}": wrong_description,
    "{'settings': []}": wrong_settings,
    "{'attributes': {'name': 'near'}}": wrong_name,
    "{'config_key': 3}": wrong_key,
}
