"""Modules of a host whose code or settings change, are wrong, or are not there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

WITHIN_S = 60.0
CODE = '''
import os
from agentcore.api import Module, ToolContext, tool


class Changing(Module):
    """Says which version it is."""

    class Settings(Module.Settings):
        size: int = 1

    async def init(self, runtime):
        {init}

    @tool(read_only=True)
    async def version(self) -> dict:
        """Say which version this is."""
        return {{"version": {version}, "pid": os.getpid()}}

    @tool(read_only=True)
    async def write_much(self, ctx: ToolContext) -> str:
        """Write more than there is room for."""
        path = ctx.workspace.roots[0] / "much"
        with open(path, "wb") as file:
            for _ in range(64):
                file.write(bytes(1 << 20))
                file.flush()
        return "written"
'''


NEAR = '''
from agentcore.api import Module, tool


class Near(Module):
    """Runs in the server."""

    @tool(read_only=True)
    async def near(self) -> str:
        """Answer."""
        return "near"
'''


@pytest.fixture
def modules(tmp_path) -> Path:
    folder = tmp_path / "local"
    folder.mkdir()
    (folder / "near.py").write_text(NEAR)
    return folder


def _write(folder: Path, version: Any = 1, init: str = "pass", name: str = "changing") -> None:
    (folder / f"{name}.py").write_text(CODE.format(version=version, init=init))


@pytest.fixture
def start(agentcore_host, modules):
    async def start(*names: str, **options: Any):
        hosts = {"far": {"kind": "process", "modules": list(names)}}
        config = {"modules_dir": str(modules), "hosts": hosts, **options.pop("config", {})}
        return await agentcore_host([*names, "near"], isolation="process", config=config, **options)

    return start


@pytest.mark.more
async def test_reload_takes_changed_code_and_broken_code_leaves_what_runs(start, modules):
    _write(modules, 1)
    host = await start("changing")
    assert (await host.call("version")).data["version"] == 1
    _write(modules, 2)
    await host.host.modules.reload("changing")
    assert (await host.call("version")).data["version"] == 2
    for broken in ("(", "1/0"):
        (modules / "changing.py").write_text(broken)
        [record] = await host.host.modules.reload("changing")
        assert record.reload_error
        assert (await host.call("version")).data["version"] == 2
    _write(modules, 3, init="raise RuntimeError('no network')")
    [record] = await host.host.modules.reload("changing")
    assert "no network" in record.reload_error
    assert (await host.call("version")).data["version"] == 2
    _write(modules, 4)
    await host.host.modules.reload("changing")
    assert (await host.call("version")).data["version"] == 4
    assert (await host.call("near")).content[0].text == "near"


@pytest.mark.more
async def test_disabled_module_ends_the_process_with_the_last_one(start, modules):
    _write(modules)
    host = await start("changing")
    pid = (await host.call("version")).data["pid"]
    await host.host.modules.disable("changing")
    assert not Path(f"/proc/{pid}").exists()
    record = await host.host.modules.enable("changing")
    assert record.state == "ready", record.reason
    assert (await host.call("version")).data["pid"] != pid


async def test_wrong_settings_are_told_with_file_line_and_key(start, modules):
    _write(modules)
    config = {"config": {"changing": {"size": "large"}}}
    host = await start("changing", config=config, is_failure_expected=True)
    record = host.host.modules.get_record("changing")
    assert record.state == "failed"
    assert "app.json:1" in record.reason or "app.json, line" in record.reason, record.reason
    assert "size" in record.reason
    assert record.traceback == ""
    assert (await host.call("near")).content[0].text == "near"


@pytest.mark.more
async def test_module_that_is_not_there_is_missing_and_the_others_run(start, modules):
    _write(modules)
    host = await start("changing", "nowhere", is_failure_expected=True)
    assert host.host.modules.get_record("nowhere").state == "missing"
    assert (await host.call("version")).data["version"] == 1


@pytest.mark.more
@pytest.mark.parametrize(
    "init", ["os._exit(7)", pytest.param("import ctypes; ctypes.string_at(0)", marks=pytest.mark.more)]
)
async def test_module_that_ends_its_process_as_it_starts_is_given_up_with_a_reason(start, modules, init):
    _write(modules, init=init)
    host = await start("changing", is_failure_expected=True)
    record = host.host.modules.get_record("changing")
    async with asyncio.timeout(WITHIN_S):
        while "3 times within a minute" not in host.host.modules.get_record("changing").reason:
            await asyncio.sleep(0.02)
    record = host.host.modules.get_record("changing")
    assert record.state == "failed"
    assert "exit code 7" in record.reason or "SIGSEGV" in record.reason
    assert (await host.call("near")).content[0].text == "near"
    _write(modules)
    record = await host.host.modules.enable("changing")
    assert record.state == "ready", record.reason


@pytest.mark.more
async def test_full_disk_ends_a_call_and_nothing_else(small_disk, start, modules):
    _write(modules)
    host = await start("changing", roots=[small_disk])
    pid = (await host.call("version")).data["pid"]
    outcome = await host.outcome("write_much")
    assert outcome.error.type == "internal_error"
    assert "OSError" in outcome.error.message
    assert (await host.call("version")).data["pid"] == pid
