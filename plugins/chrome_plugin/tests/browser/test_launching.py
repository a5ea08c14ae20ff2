"""Starting browsers: the setting `profile`, and windows."""

import pytest

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B1")


async def cookies(host, site, session):
    await host.outcome("browser_navigate", {"url": site.url("/")}, session_id=session)
    outcome = await host.outcome("browser_evaluate", {"script": "document.cookie"}, session_id=session)
    return outcome.unwrap().data["value"]


async def test_profile_keeps_log_ins_for_all_sessions_and_for_the_next_start(hosting, tmp_path, site):
    profile = tmp_path / "profile"
    log_in = {"script": "document.cookie = 'login=ada; max-age=3600'"}
    async with hosting(tmp_path / "first", profile=str(profile)) as host:
        assert await cookies(host, site, "one") == ""
        (await host.outcome("browser_evaluate", log_in, session_id="one")).unwrap()
        assert await cookies(host, site, "two") == "login=ada"
        await host.outcome("browser_tabs", {"action": "close"}, session_id="one")
        assert await cookies(host, site, "one") == "login=ada"
    assert profile.is_dir()
    async with hosting(tmp_path / "second", profile=str(profile)) as host:
        assert await cookies(host, site, "three") == "login=ada"


@pytest.mark.more
async def test_profile_that_is_in_use_is_named_as_the_reason(hosting, tmp_path, site):
    profile = str(tmp_path / "profile")
    async with (
        hosting(tmp_path / "first", profile=profile) as first,
        hosting(tmp_path / "second", profile=profile) as host,
    ):
        assert await cookies(first, site, "one") == ""
        outcome = await host.outcome("chrome_launch")
        assert outcome.error.type == "browser_launch_failed"
        assert "profile is in use" in outcome.error.message
        assert await cookies(first, site, "one") == ""


@pytest.mark.more
async def test_window_without_a_display_is_refused_and_the_session_goes_on(hosting, tmp_path, site, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    async with hosting(tmp_path / "host") as host:
        for tool, arguments in (("browser_launch", {"headless": False}), ("chrome_launch", {"headless": False})):
            error = (await host.outcome(tool, arguments, session_id="one")).error
            assert (error.type, "no display" in error.message) == ("browser_launch_failed", True)
        (await host.outcome("browser_navigate", {"url": site.url("/")}, session_id="one")).unwrap()
        again = (await host.outcome("browser_launch", {"headless": False}, session_id="one")).error
        assert again.type == "browser_launch_failed"
        opened = await host.outcome("browser_launch", {"new_page": True}, session_id="one")
        assert opened.unwrap().data["started"]
