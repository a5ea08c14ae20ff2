"""Search providers with a common type of results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Annotated, Any, Literal, Protocol, TypedDict, TypeVar
from urllib.parse import urlencode

from agentcore.api import BaseModel, Field, SecretStr, ToolError
from agentcore_web_tools.body_text import decode_body
from agentcore_web_tools.client import Reply, WebClient, status_phrase

ProviderName = Literal["none", "searxng", "brave"]

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"

Answer = TypeVar("Answer", bound=BaseModel)

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_SNIPPET_CHARS = 600
_TITLE_CHARS = 300


class SearchHit(TypedDict):
    """One result of a search."""

    title: str
    url: str
    snippet: str
    published: str | None


class SearchResults(TypedDict):
    """What was searched for and what was found."""

    query: str
    results: list[SearchHit]


class SearchResult(BaseModel, defer_build=True):
    """One result of a search."""

    title: str
    url: str
    snippet: str = ""
    published: str | None = None

    def to_json(self) -> SearchHit:
        """Return the structured result."""
        return {"title": self.title, "url": self.url, "snippet": self.snippet, "published": self.published}


class Provider(Protocol):
    """A search service."""

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search the web and return at most `count` results.

        Raises:
            ToolError: `search_unauthorized`, `search_limited`, `search_failed`, and those of `WebClient.get`.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearXNG:
    """A SearXNG instance with its JSON format enabled. Source: docs.searxng.org, Search API."""

    client: WebClient
    url: str

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search with SearXNG; see `Provider.search`."""
        address = self.url.rstrip("/").removesuffix("/search")
        parameters = urlencode({"q": query, "format": "json"})
        reply = await self.client.get(f"{address}/search?{parameters}", {"Accept": "application/json"}, follow=False)
        if reply.status == 403:  # noqa: PLR2004 - what SearXNG answers for a format that is off
            message = "SearXNG refuses JSON: add `json` under `search.formats` in its settings.yml."
            raise ToolError("search_unauthorized", message, provider="searxng", status=reply.status)
        answer = _parse_reply(reply, "searxng", _SearXNGAnswer)
        return [
            SearchResult(title=each.title or "", url=each.url, snippet=each.content or "", published=each.published)
            for each in answer.results[:count]
        ]


@dataclass(frozen=True, slots=True)
class Brave:
    """The Brave Search API. Source: api-dashboard.search.brave.com, Web Search API."""

    client: WebClient
    url: str
    key: SecretStr

    async def search(self, query: str, count: int) -> Sequence[SearchResult]:
        """Search with Brave; see `Provider.search`."""
        parameters = urlencode({"q": query, "count": count})
        headers = {"Accept": "application/json", "X-Subscription-Token": self.key.get_secret_value()}
        reply = await self.client.get(f"{self.url}?{parameters}", headers, follow=False)
        answer = _parse_reply(reply, "brave", _BraveAnswer)
        results = answer.web.results if answer.web is not None else []
        return [
            SearchResult(title=each.title, url=each.url, snippet=each.snippet, published=each.page_age or each.age)
            for each in results[:count]
        ]


class _SearXNGResult(BaseModel, defer_build=True):
    url: str
    title: str | None = None
    content: str | None = None
    published: Annotated[str | None, Field(alias="publishedDate")] = None


class _SearXNGAnswer(BaseModel, defer_build=True):
    results: list[_SearXNGResult]


class _BraveResult(BaseModel, defer_build=True):
    title: str
    url: str
    description: str = ""
    extra_snippets: Sequence[str] = ()
    age: str | None = None
    page_age: str | None = None

    @property
    def snippet(self) -> str:
        return " … ".join([self.description, *self.extra_snippets])


class _BraveWeb(BaseModel, defer_build=True):
    results: list[_BraveResult]


class _BraveAnswer(BaseModel, defer_build=True):
    web: _BraveWeb | None = None


def format_results(query: str, found: Sequence[SearchResult]) -> str:
    """Format results as text for a model."""
    if not found:
        return f"Nothing was found for {query!r}; try fewer or other words."
    blocks = []
    for number, each in enumerate(found, 1):
        date = f" ({each.published})" if each.published else ""
        blocks.append(f"{number}. {each.title}{date}\n   {each.url}\n   {each.snippet}".rstrip())
    return "\n\n".join(blocks)


def clean_result(found: SearchResult) -> SearchResult:
    """Return a result whose fields are plain text on one line, truncated if too long."""
    published = _to_plain_text(found.published, 40) if found.published else None
    return SearchResult(
        title=_to_plain_text(found.title, _TITLE_CHARS) or found.url,
        url=found.url,
        snippet=_to_plain_text(found.snippet, _SNIPPET_CHARS),
        published=published,
    )


def _to_plain_text(text: str, limit_chars: int) -> str:
    words = " ".join(unescape(_TAG.sub("", text)).split())
    return words if len(words) <= limit_chars else f"{words[: limit_chars - 1]}…"


def _parse_reply(reply: Reply, provider: str, model: type[Answer]) -> Answer:
    about: Mapping[str, Any] = {"provider": provider, "status": reply.status}
    if reply.status in (401, 403) or (reply.status == 422 and b"SUBSCRIPTION_TOKEN" in reply.body):  # noqa: PLR2004
        message = (
            f"{provider} answered {status_phrase(reply.status)}: the setting `search_key` is missing, wrong or expired."
        )
        raise ToolError("search_unauthorized", message, **about)
    if reply.status == 429:  # noqa: PLR2004 - too many requests
        wait = reply.headers.get("retry-after", "")
        hint = f"in {wait} s" if wait.isascii() and wait.isdigit() else "later"
        raise ToolError(
            "search_limited", f"{provider} takes no more searches now; try {hint}.", retryable=True, **about
        )
    if reply.status != 200:  # noqa: PLR2004
        is_theirs = reply.status >= 500  # noqa: PLR2004
        hint = "try again later" if is_theirs else "check the setting `search_url`"
        message = f"{provider} answered {status_phrase(reply.status)}; {hint}."
        raise ToolError("search_failed", message, retryable=is_theirs, **about)
    try:
        return model.model_validate(json.loads(decode_body(reply.body, "utf-8")[0]))
    except (ValueError, RecursionError) as exc:
        message = f"{provider} answered with something that is no list of results; check the setting `search_url`."
        raise ToolError("search_failed", message, **about) from exc
