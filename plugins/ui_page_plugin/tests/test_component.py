"""The tools on the real page in Chromium.

Tests that change the server come first: the end of theirs would take along what the common one has of the module.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from agentcore.api.tool_context import Principal
from agentcore.testing import ServerClient
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("P1")

OpenPage = Callable[..., Awaitable[Page]]


async def evaluate(server: ServerClient, script: str, **options: Any) -> Any:
    outcome = await server.running.outcome("ui_page_eval_js", {"script": script, **options})
    assert outcome.error is None, outcome.error
    return outcome.result.data["value"]


async def content(server: ServerClient, **arguments: Any) -> Any:
    return (await server.running.outcome("ui_page_get_content", arguments)).result.data


async def patch(server: ServerClient, *operations: dict[str, Any]) -> Any:
    return (await server.running.outcome("ui_page_dom_patch", {"operations": list(operations)})).result.data


async def becomes(ask: Callable[[], Awaitable[Any]], wanted: Any) -> bool:
    """Ask until the answer is the wanted one; calls that find no page meanwhile count as another answer."""

    async def is_wanted() -> bool:
        try:
            return bool(await ask() == wanted)
        except AssertionError:
            return False

    return await wait_until(is_wanted)


async def test_without_sockets_the_page_polls(server: ServerClient, open_page: OpenPage) -> None:
    async def refuse_sockets(page: Page) -> None:
        await page.add_init_script(
            "window.WebSocket = class { constructor() { setTimeout(() => this.onclose({code: 1006})); } close() {} }"
        )

    page = await open_page(refuse_sockets)
    async with page.expect_request("**/api/ui-commands/poll?*"):
        assert await evaluate(server, "1+1") == 2
    # it answers the poll that waits: the server would end only when that does, after 25 s
    async with server.post("/api/modules/ui_page/disable") as answer:
        assert answer.status == 200


async def test_policy_allows_scripts_only_while_the_module_is_enabled(server: ServerClient) -> None:
    async def policy() -> str:
        async with server.get("/", headers={"Authorization": ""}) as answer:
            return answer.headers["Content-Security-Policy"]

    assert "'unsafe-eval'" in await policy()
    async with server.post("/api/modules/ui_page/disable") as answer:
        assert answer.status == 200
    assert "'unsafe-eval'" not in await policy()


@pytest.mark.more
async def test_scripts_give_their_value_however_they_are_written(
    common_server: ServerClient, common_page: Page
) -> None:
    for script, value in (
        ("1+1", 2),
        ("return document.title.length > 0", True),
        ("await Promise.resolve(3)", 3),
        ("const x = await fetch('/api/health'); return x.status", 200),
        ("({a: [1, {b: 'c'}]})", {"a": [1, {"b": "c"}]}),
        ("undefined", None),
    ):
        assert await evaluate(common_server, script) == value


@pytest.mark.more
async def test_what_json_cannot_hold_is_described(common_server: ServerClient, common_page: Page) -> None:
    script = """
        const cycle = {}; cycle.self = cycle;
        return {
            element: document.body, window, missing: undefined, big: 12n, wrong: NaN, cycle, symbol: Symbol('s'),
            call: function named() {}, map: new Map([[1, 2]]), set: new Set([1]), when: new Date(0),
            bytes: new Uint8Array(3), get broken() { throw new Error('no'); }, '__proto__x': 1,
        }"""
    assert await evaluate(common_server, script) == {
        "element": "[Element <body>]",
        "window": "[Window]",
        "missing": None,
        "big": "[BigInt 12]",
        "wrong": "[NaN]",
        "cycle": {"self": "[Circular]"},
        "symbol": "[Symbol(s)]",
        "call": "[Function named]",
        "map": {"[Map]": [[1, 2]]},
        "set": {"[Set]": [1]},
        "when": "1970-01-01T00:00:00.000Z",
        "bytes": "[Uint8Array, 3 bytes]",
        "broken": "[not readable: Error: no]",
        "__proto__x": 1,
    }
    outcome = await common_server.running.outcome("ui_page_eval_js", {"script": "'x'.repeat(1e7)"})
    assert outcome.result.truncated
    assert "more characters" in outcome.result.data["value"]


async def test_halves_of_characters_come_back_replaced(common_server: ServerClient, common_page: Page) -> None:
    """JSON has an escape for them, and readers of JSON refuse it."""
    script = r"return {half: '\ud83d', ['\ude00']: 'key', whole: '\ud83d\ude00', escape: '\\ud83d'}"
    assert await evaluate(common_server, script) == {
        "half": "\ufffd",
        "\ufffd": "key",
        "whole": "\U0001f600",
        "escape": r"\ud83d",
    }
    error = (await common_server.running.outcome("ui_page_eval_js", {"script": r"throw new Error('\ud83d')"})).error
    assert "\ufffd" in error.message
    await common_page.evaluate(r"document.body.append('half \ud83d')")
    assert "half \ufffd" in (await content(common_server, format="text"))["content"]


async def test_errors_say_what_was_thrown(common_server: ServerClient, common_page: Page) -> None:
    for script, said in (
        ("null.x", "TypeError"),
        ("throw {code: 7}", '{"code":7}'),
        ("return return", "SyntaxError"),
        ("await Promise.reject(new RangeError('late'))", "RangeError: late"),
    ):
        error = (await common_server.running.outcome("ui_page_eval_js", {"script": script})).error
        assert error.type == "ui_execute_error"
        assert said in error.message
    error = (await common_server.running.outcome("ui_page_get_content", {"selector": "#nowhere"})).error
    assert error.type == "ui_execute_error"


async def test_endless_wait_is_a_timeout_and_the_page_goes_on(common_server: ServerClient, common_page: Page) -> None:
    outcome = await common_server.running.outcome(
        "ui_page_eval_js", {"script": "await new Promise(() => {})", "timeoutMs": 200}
    )
    assert outcome.error.type == "ui_timeout"
    assert await evaluate(common_server, "1+1") == 2


async def test_content_is_read_as_summary_text_and_html(common_server: ServerClient, common_page: Page) -> None:
    await common_page.evaluate("location.hash = '#/modules'")
    await expect(common_page.get_by_role("heading", name="Modules", exact=True)).to_be_visible()
    summary = (await content(common_server))["summary"]
    assert summary["view"] == "modules"
    assert "agentcore" in summary["title"]
    assert "Modules" in summary["headings"]
    link = next(node for node in summary["nodes"] if node["role"] == "link" and node["name"] == "Tools")
    text = await content(common_server, format="text", selector=link["selector"])
    assert text["content"] == "Tools"
    whole = await content(common_server, format="text", maxChars=10)
    assert whole["truncated"]
    assert len(whole["content"]) == 10
    assert whole["length"] > 100
    html = await content(common_server, format="html", selector="ac-sidebar", maxChars=1_000_000)
    assert html["content"].startswith("<ac-sidebar")
    assert "shadowrootmode" in html["content"]


async def test_values_of_password_fields_are_not_read(common_server: ServerClient, common_page: Page) -> None:
    await common_page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<input type=password aria-label=Key><input aria-label=Name>')"
    )
    await common_page.get_by_label("Key").fill("hidden-word")
    await common_page.get_by_label("Name").fill("seen-word")
    said = (
        str(await content(common_server))
        + str(await content(common_server, format="html"))
        + str(await content(common_server, format="text"))
    )
    assert "seen-word" in said
    assert "hidden-word" not in said


@pytest.mark.more
async def test_patches_are_applied_in_order_and_gone_after_a_reload(
    common_server: ServerClient, common_page: Page
) -> None:
    before = await common_page.evaluate("[{...localStorage}, {...sessionStorage}]")
    accent = "() => getComputedStyle(document.documentElement).getPropertyValue('--ac-accent').trim()"
    usual = await common_page.evaluate(accent)
    data = await patch(
        common_server,
        {"op": "injectCss", "css": ":root { --ac-accent: rgb(1, 2, 3) } .loud { color: rgb(9, 9, 9) }"},
        {"op": "insertAdjacentHtml", "selector": "body", "position": "afterbegin", "html": "<p id='banner'>x</p>"},
        {"op": "setText", "selector": "#banner", "text": "<b>Hello</b>"},
        {"op": "addClass", "selector": "#banner", "className": "loud"},
        {"op": "setAttr", "selector": "#banner", "name": "title", "value": "a banner"},
        {"op": "setText", "selector": "#nowhere", "text": "x"},
        {"op": "setText", "selector": "!!", "text": "x"},
        {"op": "remove", "selector": "ac-sidebar >>> .brand"},
    )
    assert [result["ok"] for result in data["results"]] == [True, True, True, True, True, False, False, True]
    assert (data["total"], data["succeeded"], data["failed"]) == (8, 6, 2)
    assert await common_page.evaluate(accent) == "rgb(1, 2, 3)"
    banner = common_page.locator("#banner")
    await expect(banner).to_have_text("<b>Hello</b>")
    await expect(banner).to_have_css("color", "rgb(9, 9, 9)")
    await expect(banner).to_have_attribute("title", "a banner")
    assert (await content(common_server, format="text", selector="#banner"))["content"] == "<b>Hello</b>"
    data = await patch(
        common_server,
        {"op": "removeClass", "selector": "#banner", "className": "loud"},
        {"op": "setHtml", "selector": "#banner", "html": "<i>bye</i><img src=x onerror='window.ran = 1'>"},
    )
    assert data["succeeded"] == 2
    await expect(banner).to_have_text("bye")
    await common_page.reload()
    await common_page.locator("ac-app nav").first.wait_for(state="attached")
    await expect(banner).to_have_count(0)
    assert await common_page.evaluate(accent) == usual
    assert await common_page.evaluate("window.ran") is None
    assert await common_page.evaluate("[{...localStorage}, {...sessionStorage}]") == before
    assert await common_page.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert await becomes(lambda: evaluate(common_server, "1+1"), 2)  # it is there again, for the next test


async def test_module_shows_which_page_acts(common_server: ServerClient, common_page: Page) -> None:
    await common_page.evaluate("location.hash = '#/pages/ui_page'")
    await expect(common_page.get_by_role("cell", name="ui_page_")).to_be_visible()
    await expect(common_page.get_by_role("cell", name="acts")).to_be_visible()


@pytest.mark.more
async def test_page_that_was_used_last_acts_and_closing_it_hands_over(
    common_server: ServerClient, common_page: Page, open_another: OpenPage
) -> None:
    first, second = common_page, await open_another()
    await first.evaluate("window.who = 'first'")
    await second.evaluate("window.who = 'second'")
    assert await evaluate(common_server, "window.who") == "second"

    async def who_acts_after_use_of(page: Page) -> Any:
        # Used again for each look: a page also says that it is ready after a command, and that of the second page may
        # come after the first one's.
        await page.evaluate("window.dispatchEvent(new Event('focus'))")
        return await evaluate(common_server, "window.who")

    assert await becomes(lambda: who_acts_after_use_of(first), "first")
    assert await becomes(lambda: who_acts_after_use_of(second), "second")
    await second.close()
    assert await becomes(lambda: evaluate(common_server, "window.who"), "first")


async def test_reload_in_the_middle_of_a_command_ends_that_call(common_server: ServerClient, common_page: Page) -> None:
    page = common_page
    script = "window.began = true; await new Promise(() => {})"
    call = asyncio.create_task(common_server.running.outcome("ui_page_eval_js", {"script": script}))
    await page.wait_for_function("window.began")
    await page.reload()
    assert (await call).error.type == "ui_client_not_connected"
    assert await becomes(lambda: evaluate(common_server, "typeof window.began"), "undefined")


async def test_scripts_and_patches_with_html_always_ask(common_server: ServerClient, common_page: Page) -> None:
    """The mode lets writes pass; what is dangerous is asked about all the same."""
    running = common_server.running
    running.answer_approvals(approve=True)
    model = Principal("chat", "x")
    for operation, effects in (
        ({"op": "setText", "selector": "p", "text": "x"}, {"write"}),
        ({"op": "setHtml", "selector": "p", "html": "x"}, {"dangerous"}),
        ({"op": "setAttr", "selector": "p", "name": "onclick", "value": "x"}, {"dangerous"}),
        ({"op": "setAttr", "selector": "p", "name": "title", "value": "x"}, {"write"}),
    ):
        outcome = await running.outcome("ui_page_dom_patch", {"operations": [operation]}, principal=model)
        assert outcome.error is None
        assert running.asked[-1].preview is not None
        assert running.asked[-1].preview.effects == effects
    await running.outcome("ui_page_eval_js", {"script": "1"}, principal=model)
    assert running.asked[-1].definition.effects == {"dangerous"}
