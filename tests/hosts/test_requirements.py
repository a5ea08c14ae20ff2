"""What modules of hosts need: installed from here in a process of this machine, only shown of other machines."""

import asyncio

import pytest

from tests.hosts.two_machines import WAIT_S, Place, paired, serving

pytestmark = pytest.mark.spec("H2")

PRINTER = '''
import asyncio, os
from agentcore.api import Module, RequirementInfo, RequirementStatus, ToolContext, ToolError, tool


class Press:
    info = RequirementInfo(
        name="printing_press",
        title={"en": "Printing press", "zh": "印刷机"},
        purpose="Printing needs one.",
        command="agentcore press install",
        download_bytes=170_000_000,
    )

    def __init__(self, root):
        self.program = os.path.join(root, "press")

    async def check(self):
        is_there = os.path.exists(self.program)
        return RequirementStatus(is_there, f"{self.program} in {os.getpid()}" if is_there else "no press was found")

    async def install(self, report):
        report({"en": "Casting iron", "zh": "正在铸造"}, 0.5)
        if os.path.exists(self.program + ".refused"):
            raise ToolError("no_iron", "there is no iron")
        open(self.program, "w").close()


class Printer(Module):
    """Prints."""

    async def init(self, runtime):
        self.press = Press(str(runtime.workspace.roots[0]))
        runtime.declare_requirement(self.press)

    @tool(read_only=True)
    async def print_page(self, ctx: ToolContext) -> str:
        """Print."""
        if not os.path.exists(self.press.program):
            raise ToolError("press_not_found", "no press was found", requirement="printing_press")
        return "printed"
'''


async def requirement(server, host=""):
    found = (await server.post("/api/requirements/check"))["requirements"]
    return next(each for each in found if each["host"] == host)


async def approve(server):
    answer = await server.post("/api/requirements/printing_press/install")
    change = answer["error"]["context"]["changeId"]
    assert await server.decide(f"/api/policy-changes/{change}/decision", approved=True) == {"ok": True}


async def settled(server):
    async with asyncio.timeout(WAIT_S):
        while (found := await requirement(server))["state"] == "installing":
            await asyncio.sleep(0.05)
    return found


@pytest.fixture
def box(tmp_path):
    """A server whose module runs in a process host."""
    hosts = {"box": {"kind": "process", "modules": ["printer"]}}
    place = Place(tmp_path / "server", modules=["printer"], approvals={"mode": "allow"}, hosts=hosts)
    place.add_module("printer", PRINTER)
    return place


@pytest.mark.more
async def test_in_a_process_of_this_machine_it_is_installed_there(box):
    async with serving(box) as server:
        missing = await requirement(server)
        assert (missing["state"], missing["text"], missing["isInstallable"]) == ("missing", "no press was found", True)
        assert missing["title"] == {"en": "Printing press", "zh": "印刷机"}
        failed = await server.call("print_page")
        assert failed["error"]["context"]["installation"] == "pending"
        await approve(server)
        found = await settled(server)
        assert found["state"] == "met"
        assert found["text"].split()[-1] != str(server.process.pid)
        assert (await server.call("print_page"))["ok"]


async def test_a_failure_there_is_shown_here(box):
    (box.workspace / "press.refused").touch()
    async with serving(box) as server:
        await approve(server)
        found = await settled(server)
        assert (found["state"], found["error"]) == ("missing", "there is no iron")


@pytest.mark.more
async def test_of_another_machine_only_the_state_is_shown(tmp_path):
    laptop = Place(tmp_path / "laptop", modules=["printer"])
    laptop.add_module("printer", PRINTER)
    place = Place(tmp_path / "server", modules=[], approvals={"mode": "allow"})
    async with serving(place) as server, paired(server, laptop, "laptop"):
        found = await requirement(server, "laptop")
        assert (found["state"], found["isInstallable"]) == ("missing", False)
        failed = await server.call("print_page", host="laptop")
        assert failed["error"]["context"]["installation"] == "elsewhere"
        assert "missing on host 'laptop', where its user can run: agentcore press install" in failed["error"]["message"]
        refused = await server.post("/api/requirements/printing_press/install")
        assert refused["error"]["type"] == "requirement_not_found"
        assert (await server.person.get("/api/approvals")).status == 200
        (laptop.workspace / "press").touch()
        assert (await requirement(server, "laptop"))["state"] == "met"
