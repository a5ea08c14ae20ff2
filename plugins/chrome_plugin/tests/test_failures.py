"""Failures that have a type of their own, each brought about by what really leads to it."""

import asyncio

import pytest

pytestmark = pytest.mark.spec("B1")
LIMIT_S = 120

NOISE = """() => {
  const size = {width: 2000, height: 2000};
  const canvas = document.body.appendChild(Object.assign(document.createElement('canvas'), size));
  const context = canvas.getContext('2d');
  const picture = context.createImageData(2000, 2000);
  for (let at = 0; at < picture.data.length; at += 65536)
    crypto.getRandomValues(picture.data.subarray(at, at + 65536));
  for (let at = 3; at < picture.data.length; at += 4) picture.data[at] = 255;
  context.putImageData(picture, 0, 0);
}"""


@pytest.fixture
def keep_busy(host, site):
    """Have a page run a script that never ends, beside the calls."""

    async def run(tool, **where):
        site.asked.clear()
        site.gate.clear()
        loop = "const asked = new XMLHttpRequest(); asked.open('GET', '/busy', false); asked.send(); while (true);"
        await host.call(tool, script=f"fetch('/gate').then(() => {{ {loop} }}), 0", **where)
        site.gate.set()
        async with asyncio.timeout(LIMIT_S):
            while "/busy" not in site.asked:
                await asyncio.sleep(0.05)

    return run


async def test_page_that_never_rests_gives_no_picture(call, failure, tab, site, keep_busy):
    await call("chrome_navigate", tabId=tab, url=site.url("/"))
    await keep_busy("chrome_evaluate", tabId=tab)
    error = await failure("chrome_screenshot", tabId=tab, timeoutMs=300)
    assert (error.type, error.context["tabId"]) == ("screenshot_failed", tab)
    assert (await call("chrome_close_tab", tabId=tab)).data["tabId"] == tab


@pytest.mark.more
async def test_page_that_never_rests_gives_no_snapshot_and_takes_no_click_at_a_place(call, failure, site, keep_busy):
    await call("browser_navigate", url=site.url("/"))
    await keep_busy("browser_evaluate")
    assert (await failure("browser_snapshot", timeoutMs=300)).type == "snapshot_failed"
    await keep_busy("browser_evaluate")
    error = await failure("browser_click", x=10, y=10, timeoutMs=300)
    assert (error.type, error.context["url"]) == ("action_failed", site.url("/"))
    assert (await call("browser_evaluate", script="1")).data["value"] == 1


async def test_there_is_no_dialog_where_no_page_is_open(host):
    outcome = await host.outcome("browser_handle_dialog", {"accept": True}, session_id="nothing-open")
    assert outcome.error.type == "no_dialog"


@pytest.mark.more
async def test_picture_beyond_the_bound_is_refused_with_its_size(call, failure, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/"))
    await call("chrome_evaluate", tabId=tab, script=NOISE)
    error = await failure("chrome_screenshot", tabId=tab, selector="canvas")
    assert error.type == "result_too_large"
    assert error.context["size_bytes"] > error.context["limit_bytes"] == 8 * 1024 * 1024
    assert (await call("chrome_screenshot", tabId=tab)).blocks()[0].mime == "image/png"


@pytest.fixture
def failed_download(call, tab, site):
    """Go to a download; the error that is told of it in the end."""

    async def run(path):
        await call("chrome_navigate", tabId=tab, url=site.url("/"))
        result = await call("chrome_navigate", tabId=tab, url=site.url(path))
        async with asyncio.timeout(3 * LIMIT_S):
            while "failedDownloads" not in result.data:
                result = await call("chrome_get_url", tabId=tab)
        (error,) = result.data["failedDownloads"]
        assert error["context"]["url"] == site.url(path)
        assert "downloads" not in result.data
        assert "failedDownloads" not in (await call("chrome_get_url", tabId=tab)).data
        return error["type"]

    return run


@pytest.mark.more
async def test_download_that_is_broken_is_told_and_not_kept(failed_download):
    assert await failed_download("/download-broken") == "download_failed"


@pytest.mark.more
@pytest.mark.in_server("makes a bound of the module's code another one")
async def test_download_beyond_the_bound_is_told_and_not_kept(failed_download, site_module, monkeypatch):
    monkeypatch.setattr("agentcore_chrome.tools.tab_result._DOWNLOAD_BYTES", site_module.HUGE_BYTES - 1)
    assert await failed_download("/download-huge") == "result_too_large"


@pytest.mark.more
async def test_files_beyond_the_bound_are_not_given(call, failure, site, host):
    await call("browser_navigate", url=site.url("/form"))
    with (host.workspace / "huge.bin").open("wb") as file:
        file.truncate(48 * 1024 * 1024 + 1)
    error = await failure("browser_file_upload", selector="[name=file]", paths=["huge.bin"])
    assert error.type == "file_too_large"
    assert error.context["limit_bytes"] == 48 * 1024 * 1024
