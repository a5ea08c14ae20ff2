"""The traceback of a module that failed begins with the module's own code."""

import pytest

BROKEN = """
from agentcore.api import Module

class Broken(Module):
    def init(self, runtime):
        try:
            self._connect()
        except OSError as exc:
            raise RuntimeError("no connection") from exc

    def _connect(self):
        raise OSError("refused")
"""

FORESEEN = """
from agentcore.api import Module, ToolError

class Foreseen(Module):
    def init(self, runtime):
        raise ToolError("program_failed", "the program ended with exit code 4", output="first line\\nlast line\\n")
"""


async def test_a_foreseen_failure_has_the_output_of_its_program_and_no_traceback(make_host):
    host = await make_host(files={"foreseen": FORESEEN}, modules=["foreseen"])
    record = host.modules.records["foreseen"]
    assert record.reason == "the program ended with exit code 4"
    assert record.output == "first line\nlast line"
    assert record.traceback == ""


@pytest.mark.spec("M4")
async def test_traceback_leaves_out_how_the_host_got_to_the_module(make_host):
    host = await make_host(files={"broken": BROKEN}, modules=["broken"])
    told = host.modules.records["broken"].traceback
    assert told.startswith("Traceback (most recent call last):")
    assert "agentcore/core" not in told
    assert "asyncio" not in told
    assert "in _connect" in told
    assert "in init" in told
    assert told.endswith("RuntimeError: no connection")


@pytest.mark.spec("M4")
async def test_traceback_of_an_import_begins_at_the_import(make_host):
    host = await make_host(files={"broken": "import no_such_package_anywhere"}, modules=["broken"])
    told = host.modules.records["broken"].traceback
    assert "importlib" not in told
    assert "import no_such_package_anywhere" in told


async def test_traceback_of_the_host_itself_is_kept_whole(make_host):
    host = await make_host(files={"broken": "x = 1"}, modules=["broken"])
    record = host.modules.records["broken"]
    assert record.state == "failed"
    assert "loader.py" in record.traceback
