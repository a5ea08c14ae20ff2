"""What stands behind a module's name is remembered, and only a person puts something else there."""

import pytest

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest

pytestmark = [pytest.mark.spec("S4"), pytest.mark.spec("M1")]

CODE = '''
from agentcore.api import Module, tool

class Clock(Module):
    """The time."""

    @tool(read_only=True)
    async def clock_who(self) -> str:
        """Say whose code this is."""
        return "{who}"
'''


def install(site, who, version="1.0"):
    package = who.replace("-", "_")
    return site.install(who, {"clock": f"{package}:Clock"}, {f"{package}.py": CODE.format(who=who)}, version=version)


async def who(host):
    return (await host.run_call(CallRequest("clock_who", {}, Principal("cli")))).unwrap().blocks()[0].text


def waiting(host):
    return {change.proposal.paths[0]: change for change in host.policy_changes.waiting}


async def decide(host, source, *, approved=True):
    await host.policy_changes.decide_change(waiting(host)[source].change_id, approved=approved, by="test")


async def test_other_distribution_does_not_take_a_module_over(make_host, site):
    info = install(site, "acme-clock")
    host = await make_host(modules=["clock"])
    site.uninstall(info)
    install(site, "evil-clock", "9.0")
    await host.modules.reload("clock")
    assert await who(host) == "acme-clock"
    record = host.modules.get_record("clock")
    assert "was acme-clock, and is evil-clock 9.0" in record.reload_error
    (change,) = host.policy_changes.waiting
    assert (change.proposal.kind, change.proposal.subject, change.expires_at_ms) == ("module_source", "clock", None)
    ((subject, diff),) = change.proposal.diff
    assert subject == "module clock"
    assert diff.splitlines() == ["- acme-clock 1.0", f"+ evil-clock 9.0 ({site.path / 'evil_clock.py'})"]
    await decide(host, "evil-clock")
    assert await who(host) == "evil-clock"
    assert host.policy_changes.waiting == []


async def test_other_distribution_does_not_take_over_at_a_restart_either(make_host, restart, site):
    info = install(site, "acme-clock")
    await make_host(modules=["clock"])
    site.uninstall(info)
    install(site, "evil-clock")
    host = await restart()
    record = host.modules.get_record("clock")
    assert (record.state, [found.source for found in record.rivals]) == ("failed", ["evil-clock"])
    with pytest.raises(ToolError):
        await who(host)
    await decide(host, "evil-clock", approved=False)
    await host.modules.reload("clock")
    assert host.policy_changes.waiting == []
    host = await restart()
    assert (host.modules.get_record("clock").state, host.policy_changes.waiting) == ("failed", [])
    install(site, "acme-clock", "1.1")
    await host.modules.reload("clock")
    assert await who(host) == "acme-clock"


async def test_first_module_that_is_remembered_failed_to_start_and_is_remembered_still(make_host, restart, site):
    info = site.install("acme-clock", {"clock": "acme_clock:Clock"}, {"acme_clock.py": "raise OSError"})
    host = await make_host(modules=["clock"])
    assert host.modules.get_record("clock").state == "failed"
    site.uninstall(info)
    install(site, "evil-clock")
    host = await restart()
    assert "evil-clock" in waiting(host)


async def test_nothing_of_two_is_loaded_until_one_is_chosen(make_host, restart, site):
    for name in ("acme-clock", "other-clock"):
        package = name.replace("-", "_")
        source = f"import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\n{CODE.format(who=name)}"
        site.install(name, {"clock": f"{package}:Clock"}, {f"{package}.py": source})
    host = await make_host(modules=["clock"])
    assert list(site.path.glob("*.ran")) == []
    reason = host.modules.get_record("clock").reason
    assert "acme-clock 1.0" in reason
    assert "other-clock 1.0" in reason
    assert set(waiting(host)) == {"acme-clock", "other-clock"}
    await decide(host, "other-clock")
    assert await who(host) == "other-clock"
    assert [path.name for path in site.path.glob("*.ran")] == ["other_clock.ran"]
    host = await restart()
    assert await who(host) == "other-clock"
    assert host.policy_changes.waiting == []
    proposal, found = await host.sources.make_proposal("clock", "acme-clock")
    assert proposal.diff[0][1].startswith("- other-clock 1.0")
    await host.sources.choose_source("clock", found, "test")
    assert await who(host) == "acme-clock"


async def test_distribution_that_is_installed_beside_the_chosen_one_waits_and_the_chosen_one_goes_on(make_host, site):
    install(site, "acme-clock")
    host = await make_host(modules=["clock"])
    info = install(site, "evil-clock")
    await host.modules.reload("clock")
    assert await who(host) == "acme-clock"
    assert [found.source for found in host.modules.get_record("clock").rivals] == ["evil-clock"]
    assert set(waiting(host)) == {"evil-clock"}
    site.uninstall(info)
    await host.modules.reload("clock")
    assert (host.modules.get_record("clock").rivals, host.policy_changes.waiting) == ((), [])


async def test_new_version_of_the_same_distribution_loads_and_is_reported(make_host, restart, site):
    info = install(site, "Acme_Clock")
    await make_host(modules=["clock"])
    site.uninstall(info)
    install(site, "acme-clock", "2.0")
    host = await restart()
    assert await who(host) == "acme-clock"
    row = host.sources.find_choice("clock")
    assert (row.source, row.version, row.before, row.decided_by) == ("acme-clock", "2.0", "1.0", "listed")


async def test_local_module_does_not_take_the_place_of_a_distribution_nor_the_other_way(make_host, restart, site):
    host = await make_host(files={"clock": CODE.format(who="local")}, modules=["clock"])
    assert host.sources.find_choice("clock").source == "./modules"
    info = install(site, "acme-clock")
    host = await restart()
    assert await who(host) == "local"
    assert set(waiting(host)) == {"acme-clock"}
    (host.config.folder / "modules" / "clock.py").unlink()
    host = await restart()
    assert host.modules.get_record("clock").state == "failed"
    await decide(host, "acme-clock")
    assert await who(host) == "acme-clock"
    site.uninstall(info)
    (host.config.folder / "modules" / "clock.py").write_text(CODE.format(who="planted"))
    host = await restart()
    assert set(waiting(host)) == {str(host.config.folder / "modules")}


async def test_what_is_another_one_by_the_time_of_the_word_is_not_chosen(make_host, site):
    info = install(site, "acme-clock")
    host = await make_host(modules=["clock"])
    site.uninstall(info)
    info = install(site, "evil-clock", "1.0")
    await host.modules.reload("clock")
    site.uninstall(info)
    install(site, "evil-clock", "2.0")
    with pytest.raises(ToolError, match="does not stand behind") as caught:
        await decide(host, "evil-clock")
    assert caught.value.type == "module_changed"
    assert await who(host) == "acme-clock"


async def test_module_that_is_turned_off_asks_no_more_and_remembers(make_host, site):
    info = install(site, "acme-clock")
    host = await make_host(modules=["clock"])
    site.uninstall(info)
    install(site, "evil-clock")
    await host.modules.reload("clock")
    await host.modules.disable("clock")
    assert host.policy_changes.waiting == []
    await host.modules.enable("clock")
    assert host.modules.get_record("clock").state == "failed"
    assert set(waiting(host)) == {"evil-clock"}
