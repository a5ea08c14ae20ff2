"""Reloading: new code takes the place of what runs only where it works."""

import asyncio
import sys

import pytest

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest

pytestmark = [pytest.mark.spec("M4"), pytest.mark.spec("K1")]

CODE = '''
from agentcore.api import Field, Module, tool

class {cls}(Module):
    """A part of a pair."""

    class Settings(Module.Settings):
        wanted: int = 0
{settings}

    def __init__(self):
        super().__init__()
        self.calls = 0
{made}

    async def init(self, runtime):
        self.events = []
{init}

    @tool(read_only=True)
    async def {name}(self) -> str:
        """Say which version this is."""
        from acme_pair.shared import VERSION
        self.calls += 1
        return f"{{VERSION}} call {{self.calls}}"
'''


def code(name, *, settings="", made="", init=""):
    parts = {"settings": settings, "made": made, "init": init}
    return CODE.format(cls=name.capitalize(), name=name, **{k: f"        {v}" for k, v in parts.items()})


def files(version, **changed):
    return {
        "acme_pair/__init__.py": "",
        "acme_pair/shared.py": f"VERSION = {version!r}\n",
        "acme_pair/one.py": code("one"),
        "acme_pair/two.py": code("two"),
    } | {f"acme_pair/{name}.py": text for name, text in changed.items()}


ENTRIES = {"one": "acme_pair.one:One", "two": "acme_pair.two:Two"}


@pytest.fixture
async def pair(make_host, site):
    """Two modules of one distribution, version 1.0, both called once."""
    info = site.install("acme-pair", ENTRIES, files("1.0"), version="1.0")
    host = await make_host(modules=["one", "two"])
    assert await said(host, "one") == "1.0 call 1"
    assert await said(host, "two") == "1.0 call 1"

    def upgrade(version="2.0", entries=ENTRIES, headers="", **changed):
        nonlocal info
        site.uninstall(info)
        info = site.install("acme-pair", entries, files(version, **changed), version=version, headers=headers)

    host.upgrade = upgrade
    return host


async def said(host, tool):
    outcome = await host.run_call(CallRequest(tool, {}, Principal("cli")))
    return outcome.unwrap().blocks()[0].text


async def test_new_version_takes_the_place_of_both_modules(pair):
    pair.upgrade()
    await pair.modules.reload("two")
    assert (await said(pair, "one"), await said(pair, "two")) == ("2.0 call 1", "2.0 call 1")
    record = pair.modules.get_record("one")
    assert (record.origin["version"], record.reload_error) == ("2.0", "")


BROKEN = {
    "a syntax error": ({"two": "def broken(:"}, "SyntaxError"),
    "an import that fails": ({"two": "import no_such_package_anywhere"}, "no_such_package_anywhere"),
    "an exit at import": ({"two": "raise SystemExit(3)"}, "SystemExit: 3"),
    "another name": (
        {"two": code("two").replace("    class Settings", "    name = 'other'\n    class Settings")},
        "other",
    ),
    "no module": ({"two": "class Two: pass"}, "implements none of the hooks"),
    "an object that cannot be made": ({"two": code("two", made="raise ValueError('not made')")}, "not made"),
    "settings that are missing": ({"two": code("two", settings="key: str")}, "key"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BROKEN)
async def test_broken_code_leaves_what_runs_untouched_and_says_why(pair, case):
    """The module of the same distribution whose new code is fine goes on with its old code, too."""
    changed, reason = BROKEN[case]
    states = []
    pair.events.subscribe("module.stateChanged", lambda event: states.append(event.data["state"]))
    pair.upgrade(**changed)
    await pair.modules.reload("one")
    assert (await said(pair, "one"), await said(pair, "two")) == ("1.0 call 2", "1.0 call 2")
    one, two = pair.modules.get_record("one"), pair.modules.get_record("two")
    assert reason in two.reload_error
    assert "the code from before goes on" in two.reload_error
    assert "'two'" in one.reload_error
    assert set(states) == {"ready"}
    assert (one.state, one.origin["version"]) == ("ready", "1.0")
    pair.upgrade("3.0")
    await pair.modules.reload("one")
    assert (await said(pair, "one"), await said(pair, "two")) == ("3.0 call 1", "3.0 call 1")
    assert pair.modules.get_record("two").list_problems() == []


async def test_requirement_that_is_missing_leaves_what_runs_untouched(pair):
    pair.upgrade(headers="Requires-Dist: no-such-package>=7\n")
    await pair.modules.reload("one")
    assert await said(pair, "one") == "1.0 call 2"
    assert "acme-pair 2.0 needs no-such-package>=7" in pair.modules.get_record("one").reload_error


async def test_module_that_a_new_version_does_not_bring_any_more_goes_on(pair):
    pair.upgrade(entries={"one": ENTRIES["one"]})
    await pair.modules.reload("one")
    assert (await said(pair, "one"), await said(pair, "two")) == ("1.0 call 2", "1.0 call 2")
    assert "'two' is not installed" in pair.modules.get_record("two").reload_error


async def test_traceback_of_code_that_was_not_loaded_is_kept(pair):
    pair.upgrade(two="def load():\n    raise OSError('no such thing')\nload()\n")
    await pair.modules.reload("one")
    assert "in load" in pair.modules.get_record("two").traceback
    assert pair.modules.get_record("one").traceback == ""


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        ("raise RuntimeError('no key')", "no key"),
        ("raise SystemExit(4)", "ModuleExit: SystemExit: 4"),
        ("return self.nothing", "AttributeError: "),
    ],
)
async def test_old_code_comes_back_when_the_new_one_does_not_start(pair, init, reason):
    """Of both modules, for they go together; it is said, and nothing of the new code stays in the way."""
    pair.upgrade(two=code("two", init=init))
    await pair.modules.reload("one")
    assert (await said(pair, "one"), await said(pair, "two")) == ("1.0 call 1", "1.0 call 1")
    record = pair.modules.get_record("two")
    assert record.state == "ready"
    assert record.reload_error.startswith(f"the new code did not start (module 'two': {reason}")
    assert record.reload_error.endswith("the code from before was started again")
    assert "in init" in record.traceback
    assert sys.modules["acme_pair.shared"].VERSION == "1.0"


async def test_module_that_requires_a_reloaded_one_goes_along_with_its_own_code(make_host, site):
    site.install("acme-pair", ENTRIES, files("1.0"), version="1.0")
    needs = "from agentcore.api import Module\nclass Needs(Module):\n    requires = ['one']\n    version = 1\n"
    host = await make_host(files={"needs": needs}, modules=["one", "needs"])
    (host.config.folder / "modules" / "needs.py").write_text("raise RuntimeError('another code')")
    site.write(files("1.1"))
    await host.modules.reload("one")
    assert await said(host, "one") == "1.1 call 1"
    assert host.modules.get_record("needs").state == "ready"
    assert host.modules.get_record("needs").plugin.version == 1


async def test_old_code_that_cannot_come_back_is_said_as_well(pair, site):
    pair.modules.get_record("one").loaded.target.init = _refuse
    pair.upgrade(one=code("one", init="raise RuntimeError('no key')"))
    await pair.modules.reload("one")
    record = pair.modules.get_record("one")
    assert record.state == "failed"
    assert "no key" in record.reload_error
    assert "the code from before did not either" in record.reload_error
    with pytest.raises(ToolError, match="worn out"):
        (await pair.run_call(CallRequest("one", {}, Principal("cli")))).unwrap()


async def _refuse(self, runtime):
    raise RuntimeError("worn out")


async def test_call_that_goes_on_while_new_code_is_looked_at_ends_as_if_nothing_were(make_host):
    slow = (
        "import asyncio\nfrom agentcore.api import Module, tool\nclass Slow(Module):\n"
        "    gate = asyncio.Event()\n    @tool(read_only=True)\n    async def slow(self) -> str:\n"
        "        'Wait.'\n        await self.gate.wait()\n        return 'done'\n"
    )
    host = await make_host(files={"slow": slow}, modules=["slow"])
    calling = asyncio.create_task(said(host, "slow"))
    async with asyncio.timeout(30):
        while not host.modules.get_record("slow").calls:
            await asyncio.sleep(0)
    (host.config.folder / "modules" / "slow.py").write_text("1 / 0")
    await host.modules.reload("slow")
    host.modules.get_record("slow").plugin.gate.set()
    assert await calling == "done"


async def test_sibling_that_is_off_stays_off(pair):
    await pair.modules.disable("two")
    pair.upgrade()
    await pair.modules.reload("one")
    assert (pair.modules.get_record("one").state, pair.modules.get_record("two").state) == ("ready", "stopped")


async def test_module_that_was_off_comes_back_with_the_code_on_the_disk(pair):
    await pair.modules.disable("one")
    await pair.modules.disable("two")
    pair.upgrade()
    await pair.modules.enable("one")
    assert await said(pair, "one") == "2.0 call 1"
    assert pair.modules.get_record("one").origin["version"] == "2.0"


async def test_module_that_comes_back_beside_a_sibling_runs_its_code_and_says_so(pair):
    await pair.modules.disable("two")
    pair.upgrade()
    await pair.modules.enable("two")
    assert await said(pair, "two") == "1.0 call 1"
    assert pair.modules.get_record("two").origin["version"] == "1.0"
