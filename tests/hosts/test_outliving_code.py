"""Code of a package that changes while a host goes on without a server: the next server shows it, and can have it."""

from pathlib import Path

import pytest

from agentcore.testing.hosting import HostPlan, running_host
from tests.core.conftest import site
from tests.core.installing import Site
from tests.hosts.test_outliving import has_ended

__all__ = ["site"]

pytestmark = pytest.mark.spec("H2")

CODE = '''
import os
from agentcore.api import Module, tool
from acme_lasting.shared import VERSION as SHARED


class {cls}(Module):
    """One of two modules of a package."""

    @tool(read_only=True)
    async def {name}(self) -> dict:
        """Say of which version this is, and what it imports."""
        from acme_lasting.late import VERSION as LATE
        return {{"own": {version}, "shared": SHARED, "late": LATE, "pid": os.getpid()}}
'''


def _install(site: Site, version: int) -> Path:
    files = {
        "acme_lasting/__init__.py": "",
        "acme_lasting/shared.py": f"VERSION = {version}\n",
        "acme_lasting/late.py": f"VERSION = {version}\n",
        "acme_lasting/one.py": CODE.format(cls="One", name="one", version=version),
        "acme_lasting/two.py": CODE.format(cls="Two", name="two", version=version),
    }
    entries = {"one": "acme_lasting.one:One", "two": "acme_lasting.two:Two"}
    return site.install("acme-lasting", entries, files, version=f"{version}.0")


def _of(version: int, pid: int) -> dict[str, int]:
    return {"own": version, "shared": version, "late": version, "pid": pid}


@pytest.mark.more
async def test_package_that_changed_meanwhile_is_shown_and_its_new_code_runs_after_a_reload(tmp_path, site):
    """Both of its modules, and all that they import, are of the new version then, in the same process."""
    app = tmp_path / "app"
    app.mkdir()
    hosts = {"h": {"kind": "process", "modules": ["one", "two"], "survives_restart": True, "keep_minutes": 2}}
    plan = HostPlan(["one", "two"], {"hosts": hosts})
    info = _install(site, 1)
    async with running_host(plan, app) as first:
        pid = (await first.call("one")).data["pid"]
        assert (await first.call("two")).data == _of(1, pid)
    site.uninstall(info)
    _install(site, 2)
    async with running_host(plan, app) as second:
        modules = second.host.modules
        for name in ("one", "two"):
            assert (await second.call(name)).data == _of(1, pid)
            assert await modules.has_changed(modules.get_record(name))
        await modules.reload("one")
        for name in ("one", "two"):
            assert (await second.call(name)).data == _of(2, pid)
            assert not await modules.has_changed(modules.get_record(name))
            assert modules.get_record(name).origin["version"] == "2.0"
    async with running_host(plan, app) as third:
        assert (await third.call("two")).data == _of(2, pid)
        assert not await third.host.modules.has_changed(third.host.modules.get_record("two"))
        for name in ("one", "two"):
            await third.host.modules.disable(name)
        await has_ended(pid)
