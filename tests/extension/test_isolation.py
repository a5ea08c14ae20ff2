"""Who cannot reach the extension: pages, scripts in pages, and whoever pretends to be one of its documents."""

import json
from pathlib import Path

import pytest

from tests.extension.driving import ID

pytestmark = pytest.mark.spec("C4")

FROM_PAGE = """async (origin) => {
    const load = (make) => new Promise((resolve) => { make(() => resolve('loaded'), () => resolve('failed')); });
    return {
        api: typeof globalThis.chrome?.runtime?.sendMessage,
        fetched: await Promise.all(['manifest.json', 'page.js', 'panel/panel.html', 'icons/16.png'].map((path) => (
            fetch(`${origin}/${path}`).then(() => 'loaded', () => 'failed')
        ))),
        script: await load((yes, no) => {
            const script = document.createElement('script');
            Object.assign(script, {src: `${origin}/worker/worker.js`, onload: yes, onerror: no});
            document.head.append(script);
        }),
        picture: await load((yes, no) => {
            Object.assign(new Image(), {src: `${origin}/icons/16.png`, onload: yes, onerror: no});
        }),
    };
}"""
FROM_SCRIPT_IN_PAGE = """async ([tabId, request]) => {
    const send = (wanted) => chrome.runtime.sendMessage(wanted).then((reply) => reply ?? 'nothing', String);
    const results = await chrome.scripting.executeScript({target: {tabId}, func: send, args: [request]});
    return results[0].result;
}"""


async def test_page_neither_sees_the_extension_nor_talks_to_it(extension, site):
    site.show("/", "<title>Shop</title>")
    page = await extension.context.new_page()
    await page.goto(site.url())
    found = await page.evaluate(FROM_PAGE, f"chrome-extension://{ID}")
    assert found == {"api": "undefined", "fetched": ["failed"] * 4, "script": "failed", "picture": "failed"}


async def test_panel_cannot_be_framed_by_a_page(extension, site):
    site.show("/", f"<title>Shop</title><iframe src='chrome-extension://{ID}/panel/panel.html'></iframe>")
    page = await extension.context.new_page()
    await page.goto(site.url())
    contexts = await extension.run("() => chrome.runtime.getContexts({contextTypes: ['TAB']})")
    assert [each["documentUrl"] for each in contexts if each["documentUrl"].endswith("panel.html")] == []


async def test_script_in_a_page_commands_nothing(extension, site):
    """A script of the extension that runs in a page could be taken over by the page, and has the extension's id."""
    site.show("/", "<title>Shop</title>")
    page = await extension.context.new_page()
    await page.goto(site.url())
    tab = await extension.tab_id(page)
    worker = await extension.worker()
    for request in (
        {"type": "share", "tabId": tab, "sessionId": "s1"},
        {"type": "answerQuestion", "id": "any", "isAllowed": True},
    ):
        answer = await worker.evaluate(FROM_SCRIPT_IN_PAGE, [tab, request])
        assert answer in {"nothing", "Error: Could not establish connection. Receiving end does not exist."}
    # the same from a document of the extension is answered
    assert (await extension.run("(request) => chrome.runtime.sendMessage(request)", request)) == {
        "ok": True,
        "value": None,
    }


def test_manifest_asks_for_little_and_opens_nothing_to_pages(built_extension):
    manifest = json.loads((Path(__file__).parents[2] / "extension" / "manifest.json").read_text("utf-8"))
    assert manifest["permissions"] == ["activeTab", "alarms", "contextMenus", "scripting", "sidePanel", "storage"]
    for key in ("externally_connectable", "web_accessible_resources", "host_permissions", "content_scripts"):
        assert key not in manifest
    policy = manifest["content_security_policy"]["extension_pages"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
