"""The page tools in real pages: what the panel and the worker call, called as they do."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.extension.conftest import running_extension
from tests.extension.driving import Extension
from tests.extension.site import Site

_CALL = """async ([tab, tool, args, locale, answer]) => {
    const {collectContext, runPageTool} = await import('/tab/tab-page.js');
    const questions = [], {signal} = globalThis.ending = new AbortController();
    const confirm = async (question) => { questions.push(question); return answer; };
    try {
        const result = tool === 'context' ? await collectContext(tab, {locale})
            : await runPageTool(tab, tool, args, {locale, signal, ...(answer === null ? {} : {confirm})});
        return {result, questions};
    } catch (error) {
        return {error: {type: error.type ?? 'defect', message: error.message, origin: error.origin}, questions};
    }
}"""


@dataclass
class Tab:
    """A tab with a page, and the page tools for it.

    Attributes:
        questions: What the person was asked by the last call.
        answer: What they say; None: nobody can be asked.
    """

    extension: Extension
    page: Page
    id: int
    locale: str = "en"
    answer: bool | None = None
    questions: tuple[Any, ...] = ()

    async def call(self, tool: str, arguments: Any = None) -> Any:
        """The result of a tool, or the error that was thrown."""
        given = [self.id, tool, arguments, self.locale, self.answer]
        reply = await self.extension.run(_CALL, given)
        self.questions = tuple(reply["questions"])
        return reply["error"] if "error" in reply else reply["result"]

    async def cancel(self) -> None:
        """End the call that runs."""
        await self.extension.run("() => globalThis.ending.abort()")

    async def context(self) -> Any:
        return await self.call("context")

    async def descriptions(self) -> list[str]:
        """How the elements are described."""
        return [each["desc"] for each in (await self.context())["elements"]]

    async def id_of(self, description: str) -> str:
        """The id of the element that is described so."""
        elements = (await self.context())["elements"]
        return next(each["id"] for each in elements if each["desc"].startswith(description))

    async def act(self, *actions: tuple[Any, ...]) -> Any:
        """Actions: what, target (description, `css=SELECTOR`, or an object), value, and colour or direction."""
        return await self.call("page_action", {"actions": [_action(*each) for each in actions]})

    async def messages(self, *actions: tuple[Any, ...]) -> list[str]:
        """The messages of actions, those that failed with a mark in front."""
        result = await self.act(*actions)
        assert "results" in result, result
        return [each["message"] if each["success"] else f"✗ {each['message']}" for each in result["results"]]


def _action(action: str, target: Any = None, value: Any = None, option: str | None = None) -> dict[str, Any]:
    if isinstance(target, str):
        selector = target.startswith("css=")
        target = {"selector": target.removeprefix("css=")} if selector else {"description": target}
    params = {"value": value, "direction" if action == "scroll" else "color": option}
    return {"action": action, "target": target or {}, "params": params}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_extension(
    browser: Browser, built_extension: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Extension]:
    """One browser for all these tests, each of which has pages of its own in it."""
    async with running_extension(browser, built_extension, tmp_path_factory.mktemp("profile")) as extension:
        yield extension


@pytest_asyncio.fixture(loop_scope="session")
async def open_tab(shared_extension: Extension, site: Site) -> Callable[..., Awaitable[Tab]]:
    """Show a page in a tab: `await open_tab("<input>")`, or what the site has under `path`."""

    async def opened(
        body: str | None = None, path: str = "/page", wait_until: Literal["commit", "load"] = "load", **options: Any
    ) -> Tab:
        if body is not None:
            site.show(path, f"<!doctype html><meta charset=utf-8><title>Page</title>{body}")
        page = await shared_extension.context.new_page()
        await page.goto(site.url(path), wait_until=wait_until)
        return Tab(shared_extension, page, await shared_extension.tab_id(page), **options)

    return opened
