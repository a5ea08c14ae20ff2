"""Searches with the answers that SearXNG and Brave give, from a server on loopback."""

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from agentcore.api import ToolError
from agentcore.testing import ModuleNotReadyError

SEARXNG = {
    "query": "narrow gauge",
    "number_of_results": 0,
    "results": [
        {"url": "https://a.example/rail", "title": "Rails &amp; more", "content": "A <b>narrow</b>\n gauge line.",
         "engine": "duckduckgo", "engines": ["duckduckgo"], "category": "general",
         "publishedDate": "2026-01-02T00:00:00"},
        {"url": "https://b.example/", "title": "", "content": None, "engine": "bing", "publishedDate": None},
        {"url": "https://c.example/", "title": "Third"},
    ],
    "answers": [], "corrections": [], "infoboxes": [], "suggestions": ["broad gauge"],
    "unresponsive_engines": [["google", "timeout"]],
}  # fmt: skip
BRAVE = {
    "type": "search",
    "query": {"original": "narrow gauge", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {"title": "Rails", "url": "https://a.example/rail", "description": "A <strong>narrow gauge</strong> line",
             "extra_snippets": ["built in 1890"], "page_age": "2025-11-02T10:00:00", "age": "3 weeks ago"},
        ],
    },
}  # fmt: skip


@pytest.fixture
async def provider(serve):
    """A provider that answers what a test puts into `answer`, and keeps what it was asked."""

    class Provider:
        asked: list[web.Request] = []  # noqa: RUF012
        body: object = {}
        status = 200
        url = ""

    async def search(request):
        Provider.asked.append(request)
        if isinstance(Provider.body, str):
            return web.Response(text=Provider.body, status=Provider.status, headers={"Retry-After": "7"})
        return web.json_response(Provider.body, status=Provider.status, headers={"Retry-After": "7"})

    Provider.asked = []
    Provider.url = await serve({"/search": search})
    return Provider


@pytest.fixture
def searxng(start, provider):
    """A host that searches with SearXNG on this machine, which fetching may not reach."""

    async def make():
        return await start(allow_private=False, search_provider="searxng", search_url=provider.url)

    return make


@pytest.mark.spec("T6")
async def test_searxng_gives_results_as_text_and_data(searxng, provider, text) -> None:
    provider.body = SEARXNG
    result = await (await searxng()).call("web_search", query="narrow gauge & co", count=2)
    assert dict(provider.asked[0].query) == {"q": "narrow gauge & co", "format": "json"}
    assert result.data["results"] == [
        {"title": "Rails & more", "url": "https://a.example/rail", "snippet": "A narrow gauge line.",
         "published": "2026-01-02T00:00:00"},
        {"title": "https://b.example/", "url": "https://b.example/", "snippet": "", "published": None},
    ]  # fmt: skip
    assert "1. Rails & more (2026-01-02T00:00:00)\n   https://a.example/rail\n   A narrow gauge line." in text(result)
    assert result.untrusted


@pytest.mark.spec("T6")
async def test_brave_gets_its_key_in_a_header_and_gives_the_same_shape(start, provider) -> None:
    provider.body = BRAVE
    host = await start(search_provider="brave", search_url=f"{provider.url}/search", search_key="k-123")
    result = await host.call("web_search", query="narrow gauge", count=3)
    request = provider.asked[0]
    assert request.headers["X-Subscription-Token"] == "k-123"
    assert dict(request.query) == {"q": "narrow gauge", "count": "3"}
    assert result.data["results"] == [
        {"title": "Rails", "url": "https://a.example/rail", "snippet": "A narrow gauge line … built in 1890",
         "published": "2025-11-02T10:00:00"},
    ]  # fmt: skip


async def test_search_without_results_says_so(searxng, provider, text) -> None:
    provider.body = {"results": []}
    assert "Nothing was found" in text(await (await searxng()).call("web_search", query="x"))


async def test_without_a_provider_the_error_names_the_settings(start) -> None:
    with pytest.raises(ToolError, match="search_provider") as caught:
        await (await start()).call("web_search", query="x")
    assert caught.value.type == "no_search_provider"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {}, "search_unauthorized"),
        (403, {}, "search_unauthorized"),
        (422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, "search_unauthorized"),
        (429, {}, "search_limited"),
        (500, {}, "search_failed"),
        (302, {}, "search_failed"),
        (200, "<html>login</html>", "search_failed"),
        (200, "[" * 100_000, "search_failed"),
        (200, {"web": {"results": [{"title": 1}]}}, "search_failed"),
    ],
)
async def test_what_a_provider_answers_instead_is_told_apart(start, provider, status, body, expected) -> None:
    provider.status, provider.body = status, body
    host = await start(search_provider="brave", search_url=f"{provider.url}/search", search_key="k-123")
    with pytest.raises(ToolError) as caught:
        await host.call("web_search", query="x")
    assert caught.value.type == expected
    assert "k-123" not in f"{caught.value.message}{caught.value.context}"
    assert caught.value.retryable is (status in (429, 500))


async def test_searxng_that_serves_no_json_says_what_to_change(searxng, provider) -> None:
    provider.status = 403
    with pytest.raises(ToolError, match=r"search\.formats"):
        await (await searxng()).call("web_search", query="x")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"search_provider": "searxng"}, "search_url"),
        ({"search_provider": "brave"}, "search_key"),
        ({"search_provider": "searxng", "search_url": "file:///etc"}, "search_url"),
        ({"blocked_hosts": ["http://x"]}, "names no host"),
    ],
)
async def test_settings_that_cannot_work_fail_at_the_start(start, settings, said) -> None:
    with pytest.raises(ModuleNotReadyError, match=said), capture_logs() as logs:
        await start(**settings)
    assert [line["event"] for line in logs if "shutdown" in line["event"]] == []
