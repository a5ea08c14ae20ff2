"""The life of modules: each fails alone, and nothing of it stays behind."""

import asyncio
from dataclasses import replace

import pytest

from agentcore.api import Module, ToolError, tool
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.rate_limit import Pace

GOOD = '''
from agentcore.api import Module, tool

class Good(Module):
    """Works."""

    @tool(read_only=True)
    async def good(self) -> str:
        """Work."""
        return "good"
'''

MODULE = '''
import asyncio, threading
from agentcore.api import Module, hookimpl, tool

class M(Module):
    """A module."""

'''

BAD = {
    "import_error": "import no_such_package_anywhere",
    "syntax": "def broken(:",
    "exits_at_import": "import sys; sys.exit(4)",
    "not_a_module": "VALUE = 3",
    "init_raises": f"{MODULE}    def init(self, runtime): raise RuntimeError('no key')",
    "init_exits": f"{MODULE}    async def init(self, runtime): raise SystemExit(5)",
    "init_exits_sync": f"{MODULE}    def init(self, runtime): raise SystemExit(5)",
    "init_interrupts": f"{MODULE}    async def init(self, runtime): raise KeyboardInterrupt",
    "init_hangs": f"{MODULE}    init_timeout_s = 0.1\n    async def init(self, runtime): await asyncio.Event().wait()",
    "init_blocks": f"{MODULE}    init_timeout_s = 0.1\n    def init(self, runtime): threading.Event().wait()",
    "definitions_raise": f"{MODULE}    def get_tool_definitions(self): raise ValueError('nothing to give')",
    "definitions_are_no_list": f"{MODULE}    def get_tool_definitions(self): return {{'a': 1}}",
    "component_raises": f"{MODULE}    def get_web_component(self): raise ValueError('x')",
    "component_is_none_such": f"{MODULE}    def get_web_component(self): return 'x'",
    "wrong_name": f"{MODULE}    name = 'another'",
    "wrong_signature": (
        "from agentcore.api import hookimpl\n@hookimpl\ndef execute_tool_call(context, tool_name, args): ..."
    ),
    "tools_without_execute": (
        "from agentcore.api import hookimpl\n@hookimpl\ndef get_tool_definitions():\n"
        "    return [{'name': 'orphan', 'description': 'd', 'parameters': {'type': 'object'}}]"
    ),
}

REASONS = {
    "import_error": "no_such_package_anywhere",
    "exits_at_import": "SystemExit: 4",
    "init_raises": "no key",
    "init_exits": "SystemExit: 5",
    "init_hangs": "not done within 0.1 s",
    "init_blocks": "not done within 0.1 s",
    "wrong_name": "'another'",
    "wrong_signature": "execute_tool_call(ctx",
    "tools_without_execute": "execute_tool_call",
}


async def text_of(host, name, **arguments):
    outcome = await host.run_call(CallRequest(name, arguments, Principal("cli")))
    return outcome.unwrap().blocks()[0].text


@pytest.mark.spec("M4", "S4")
async def test_each_bad_module_fails_alone(make_host):
    host = await make_host(files=BAD | {"good": GOOD}, modules=[*BAD, "good"])
    states = {name: record.state for name, record in host.modules.records.items()}
    assert states == dict.fromkeys(BAD, "failed") | {"good": "ready"}
    assert await text_of(host, "good") == "good"
    for name, part in REASONS.items():
        assert part in host.modules.records[name].reason, name
    assert "no_such_package_anywhere" in host.modules.records["import_error"].traceback


@pytest.mark.spec("M4")
async def test_modules_start_concurrently(make_host):
    meeting = """
import asyncio, builtins
from agentcore.api import Module

if not hasattr(builtins, "_meeting"):
    builtins._meeting = asyncio.Barrier(2)

class M(Module):
    async def init(self, runtime):
        async with asyncio.timeout(30):
            await __import__("builtins")._meeting.wait()
"""
    host = await make_host(files={"one": meeting, "two": meeting}, modules=["one", "two"])
    assert {record.state for record in host.modules.records.values()} == {"ready"}
    import builtins

    del builtins._meeting


@pytest.mark.spec("M1")
async def test_module_that_is_not_listed_is_never_imported(make_host):
    host = await make_host(files={"good": GOOD, "unlisted": "raise SystemExit('imported')"}, modules=["good"])
    assert set(host.modules.records) == {"good"}


@pytest.mark.spec("M1")
async def test_listed_module_that_is_not_installed_is_missing_with_a_hint(make_host):
    host = await make_host(files={"good": GOOD}, modules=["good", "goood", "fs_toolz"])
    record = host.modules.records["goood"]
    assert record.state == "missing"
    assert "good" in record.reason
    assert "pip install" in host.modules.records["fs_toolz"].reason
    assert await text_of(host, "good") == "good"


@pytest.mark.spec("M1")
async def test_no_modules_means_that_nothing_is_loaded_and_the_host_runs(make_host):
    host = await make_host(modules=[])
    assert host.modules.records == {}
    outcome = await host.run_call(CallRequest("good", {}, Principal("cli")))
    assert outcome.error.type == "unknown_tool"


@pytest.mark.spec("M4")
async def test_tool_of_second_module_with_same_name_is_left_out(make_host):
    other = GOOD.replace('return "good"', 'return "other"')
    host = await make_host(files={"first": GOOD, "second": other}, modules=["first", "second"])
    assert await text_of(host, "good") == "good"
    (conflict,) = host.modules.records["second"].conflicts
    assert "'good'" in conflict
    assert "'first'" in conflict
    await host.modules.disable("first")
    assert await text_of(host, "good") == "other"


@pytest.mark.spec("M4")
async def test_invalid_definitions_are_left_out_and_named(make_host):
    source = """
from agentcore.api import ToolDefinition, hookimpl

def numbered(kind):
    return {"type": "object", "properties": {"n": {"type": kind}}}

@hookimpl
def get_tool_definitions():
    return [
        {"name": "fine", "description": "Works.", "parameters": numbered("integer")},
        {"name": "bad name!", "description": "x", "parameters": {}},
        {"name": "bad_schema", "description": "x", "parameters": numbered("nope")},
        {"description": "no name"},
        {"name": "find_tools", "description": "reserved", "parameters": {}},
        {"name": "silent", "description": "", "parameters": {}},
        {"name": "fine", "description": "Again.", "parameters": {}},
        ToolDefinition("odd", "Odd effects.", {"type": "object"}, effects=frozenset(["magic"])),
        "no definition",
    ]

@hookimpl
async def execute_tool_call(ctx, tool_name, args):
    return f"{tool_name} {args['n']}"
"""
    host = await make_host(files={"raw": source}, modules=["raw"])
    assert list(host.registry.tools) == ["fine"]
    assert len(host.modules.records["raw"].tool_errors) == 8
    assert await text_of(host, "fine", n=3) == "fine 3"
    wrong = await host.run_call(CallRequest("fine", {"n": "x"}, Principal("cli")))
    assert wrong.error.context["errors"][0]["path"] == "n"


@pytest.mark.spec("M2")
async def test_raw_hooks_work_without_the_base_class(make_host):
    source = '''
"""Raw hooks."""
from agentcore.api import hookimpl

events = []

@hookimpl
def init(runtime):
    events.append(runtime.name)

@hookimpl
def get_tool_definitions():
    return [{"type": "function", "function": {"name": "shout", "description": "Shout.",
             "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}]

@hookimpl
def execute_tool_call(tool_name, args):
    return args["text"].upper() + events[0]
'''
    host = await make_host(files={"raw": source}, modules=["raw"])
    assert await text_of(host, "shout", text="a") == "Araw"
    assert host.modules.records["raw"].manifest.description == "Raw hooks."


@pytest.mark.spec("M4")
async def test_module_that_requires_another_starts_after_it(make_host):
    needing = GOOD.replace('"""Works."""', '"""Works."""\n    requires = ("base",)').replace("def good", "def needing")
    host = await make_host(files={"base": GOOD, "needing": needing}, modules=["needing", "base"])
    records = host.modules.records
    assert records["needing"].ready.order > records["base"].ready.order


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("requires", "base", "part"),
    [
        ("base", "raise RuntimeError('broken')", "which is failed"),
        ("absent", GOOD, "not listed"),
        ("base", GOOD.replace('"""Works."""', 'requires = ("needing",)'), "in turn"),
    ],
)
async def test_module_fails_clearly_when_what_it_requires_is_not_there(make_host, requires, base, part):
    needing = GOOD.replace('"""Works."""', f'requires = ("{requires}",)').replace("def good", "def needing")
    async with asyncio.timeout(30):
        host = await make_host(files={"base": base, "needing": needing}, modules=["base", "needing"])
    assert host.modules.records["needing"].state == "failed"
    assert part in host.modules.records["needing"].reason


@pytest.mark.spec("M4")
async def test_disabled_module_takes_its_tools_along_and_comes_back(make_host):
    host = await make_host(files={"good": GOOD}, modules=["good"])
    await host.modules.disable("good")
    outcome = await host.run_call(CallRequest("good", {}, Principal("cli")))
    assert outcome.error.type == "unknown_tool"
    await host.modules.enable("good")
    assert await text_of(host, "good") == "good"


@pytest.mark.spec("M4")
async def test_reload_runs_the_new_code(make_host):
    host = await make_host(files={"good": GOOD}, modules=["good"])
    file = host.config.folder / "modules" / "good.py"
    file.write_text(GOOD.replace('return "good"', 'return "new and longer"'))
    await host.modules.reload("good")
    assert await text_of(host, "good") == "new and longer"


@pytest.mark.spec("S4")
async def test_changed_code_behind_a_running_module_is_noticed_until_it_is_reloaded(make_host):
    host = await make_host(files={"good": GOOD}, modules=["good"])
    assert not await host.modules.has_changed(host.modules.get_record("good"))
    (host.config.folder / "modules" / "good.py").write_text(GOOD + "# changed\n")
    assert await host.modules.has_changed(host.modules.get_record("good"))
    await host.modules.reload("good")
    assert not await host.modules.has_changed(host.modules.get_record("good"))


@pytest.mark.spec("M4")
async def test_broken_code_fails_at_the_start_and_the_next_reload_mends_it(make_host):
    host = await make_host(files={"good": "import no_such_package_anywhere"}, modules=["good"])
    file = host.config.folder / "modules" / "good.py"
    await host.modules.reload("good")
    assert host.modules.get_record("good").reload_error == ""
    outcome = await host.run_call(CallRequest("good", {}, Principal("cli")))
    assert outcome.error.type == "unknown_tool"
    file.write_text(GOOD)
    await host.modules.reload("good")
    assert await text_of(host, "good") == "good"


@pytest.mark.spec("M3")
async def test_bad_settings_fail_that_module_alone_and_say_what_is_expected(make_host):
    source = GOOD + "\n    class Settings(Module.Settings):\n        port: int = 1\n        api_key: str = ''\n"
    host = await make_host(
        files={"good": source, "other": GOOD.replace("def good", "def other")},
        modules=["good", "other"],
        config={"good": {"port": "many", "api_key": "s3cret", "prot": 1}},
    )
    reason = host.modules.records["good"].reason
    assert host.modules.records["good"].state == "failed"
    assert "port" in reason
    assert "prot" in reason
    assert "s3cret" not in reason
    assert host.modules.records["other"].state == "ready"


@pytest.mark.spec("M3")
async def test_settings_reach_the_module(make_host):
    source = GOOD.replace('return "good"', "return str(self.settings.port)") + (
        "\n    class Settings(Module.Settings):\n        port: int = 1\n"
    )
    host = await make_host(files={"good": source}, modules=["good"], config={"good": {"port": 7}})
    assert await text_of(host, "good") == "7"


class Restless(Module):
    """Says again and again that its tools changed."""

    name = "restless"
    reads = 0

    def get_tool_definitions(self):
        self.reads += 1
        return super().get_tool_definitions()

    @tool
    async def change(self, times: int) -> int:
        """Say so, a number of times."""
        before = self.reads
        for _ in range(times):
            self.runtime.tools_changed()
            await asyncio.sleep(0.001)
        return self.reads - before


@pytest.mark.slow
async def test_tools_that_change_without_end_are_read_a_few_times_and_then_once_more(make_host):
    module = Restless()
    host = await make_host(module)
    module_record = host.modules.records["restless"]
    module_record.refresh_pace = Pace(3, 1.0)
    started = module.reads
    outcome = await host.run_call(CallRequest("change", {"times": 300}, Principal("cli")))
    assert 3 <= outcome.unwrap().data <= 5
    async with asyncio.timeout(10):
        while module.reads - started <= outcome.unwrap().data:
            await asyncio.sleep(0.01)
        while any(task.get_name() == "tools:restless" for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)
    assert module.reads - started <= 6


@pytest.mark.spec("M5")
async def test_module_can_say_that_its_tools_changed(make_host):
    source = '''
from agentcore.api import Module, ToolDefinition, tool

class M(Module):
    """Grows."""
    grown = False

    def get_tool_definitions(self):
        return [d for d in super().get_tool_definitions() if self.grown or d.name == "grow"]

    @tool
    async def grow(self) -> None:
        """Grow."""
        self.grown = True
        self.runtime.tools_changed()

    @tool
    async def late(self) -> str:
        """Be late."""
        return "late"
'''
    host = await make_host(files={"m": source}, modules=["m"])
    changed = asyncio.Event()
    host.events.subscribe("tools.changed", lambda event: changed.set())
    await host.run_call(CallRequest("grow", {}, Principal("cli")))
    async with asyncio.timeout(30):
        await changed.wait()
    assert await text_of(host, "late") == "late"


@pytest.mark.spec("M5", "S2")
@pytest.mark.parametrize(("change", "outcome"), [("rank", "ok"), ("description", "approval_changed")])
async def test_approval_holds_while_a_module_names_the_same_tools_anew(make_host, change, outcome):
    source = f'''
from dataclasses import replace
from agentcore.api import Module, tool

class M(Module):
    """Names its tools anew."""
    value = None

    def get_tool_definitions(self):
        found = super().get_tool_definitions()
        return [replace(d, {change}=self.value) for d in found] if self.value else found

    @tool
    async def change(self) -> None:
        """Change."""
        self.value = {{"rank": 1, "description": "Works otherwise."}}["{change}"]
        self.runtime.tools_changed()

    @tool
    async def work(self) -> str:
        """Work."""
        return "worked"
'''
    host = await make_host(files={"m": source}, modules=["m"])
    request = CallRequest("work", {}, Principal("chat", "s1"), session_id="s1")
    waiting = await host.run_call(request)
    assert waiting.error.type == "approval_required"
    changed = asyncio.Event()
    host.events.subscribe("tools.changed", lambda event: changed.set())
    await host.run_call(CallRequest("change", {}, Principal("cli")))
    async with asyncio.timeout(30):
        await changed.wait()
    verdict = Verdict(approved=True, by="test")
    if outcome != "ok":
        with pytest.raises(ToolError) as caught:
            await host.approvals.decide_call(waiting.call_id, verdict)
        assert caught.value.type == outcome
    await host.approvals.decide_call(waiting.call_id, verdict)
    assert (await host.run_call(replace(request, call_id=waiting.call_id))).ok


@pytest.mark.spec("M5")
async def test_module_that_is_asked_for_its_tools_can_be_stopped_meanwhile(make_host):
    source = '''
import asyncio
from agentcore.api import Module, tool

class M(Module):
    """Never says its tools again."""
    asked = False

    async def get_tool_definitions(self):
        if self.asked:
            self.runtime.publish("asked", {})
            await asyncio.Event().wait()
        return super().get_tool_definitions()

    @tool
    async def change(self) -> None:
        """Change."""
        self.asked = True
        self.runtime.tools_changed()
'''
    host = await make_host(files={"m": source}, modules=["m"])
    asked = asyncio.Event()
    host.events.subscribe("m.asked", lambda event: asked.set())
    await host.run_call(CallRequest("change", {}, Principal("cli")))
    async with asyncio.timeout(30):
        await asked.wait()
        record = await host.modules.disable("m")
    assert record.state == "stopped"
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().endswith(":m")] == []


@pytest.mark.slow
@pytest.mark.spec("M5", "S4")
async def test_module_that_blocks_the_event_loop_is_named(make_host):
    source = GOOD.replace('return "good"', "__import__('time').sleep(0.8); return 'good'")
    host = await make_host(files={"good": source}, modules=["good"])
    named = asyncio.Event()
    host.events.subscribe("module.blocked", lambda event: event.data["module"] == "good" and named.set())
    async with asyncio.timeout(60):
        while not named.is_set():  # again, if the machine was too busy to look
            await host.run_call(CallRequest("good", {}, Principal("cli")))


@pytest.mark.spec("K6")
@pytest.mark.parametrize(
    ("path", "is_served"),
    [
        ("thing", True),
        ("/api/modules/m/thing/{id}", True),
        ("/api/claimed/x", True),
        ("/api/tools", False),
        ("/api/modules/other/x", False),
        ("/api/claimedx", False),
        ("..", False),
    ],
)
async def test_module_serves_only_its_own_paths(make_host, path, is_served):
    source = f"""
from agentcore.api import Module

class M(Module):
    claims = ("/api/claimed",)

    async def init(self, runtime):
        runtime.add_route("GET", {path!r}, self._answer)

    async def _answer(self, request): ...
"""
    host = await make_host(files={"m": source}, modules=["m"])
    assert host.modules.records["m"].state == ("ready" if is_served else "failed")


@pytest.mark.spec("K6")
async def test_conflicting_path_fails_the_later_module(make_host):
    source = """
from agentcore.api import Module

class M(Module):
    claims = ("/api/shared",)
    REQUIRES

    async def init(self, runtime):
        runtime.add_route("GET", "/api/shared/{name}", self._answer)

    async def _answer(self, request): ...
"""
    host = await make_host(
        files={"a": source.replace("REQUIRES", ""), "b": source.replace("REQUIRES", "requires = ('a',)")},
        modules=["a", "b"],
    )
    assert host.modules.records["b"].state == "failed"
    assert "'a'" in host.modules.records["b"].reason


async def test_unknown_module_is_not_found(make_host):
    host = await make_host(files={"good": GOOD}, modules=["good"])
    with pytest.raises(ToolError) as raised:
        await host.modules.disable("god")
    assert raised.value.type == "module_not_found"
