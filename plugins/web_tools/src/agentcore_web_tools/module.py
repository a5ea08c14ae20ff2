"""`WebTools`: the module with the tools `web_fetch` and `web_search`."""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated, Any, ClassVar

from agentcore.api import (
    CallPreview,
    DocumentReader,
    Field,
    Module,
    Runtime,
    ToolContext,
    ToolError,
    ToolResult,
    UrlPolicy,
    known_to_models,
    tool,
)
from agentcore_web_tools.client import WebClient
from agentcore_web_tools.fetching import (
    FetchedPage,
    FetchOptions,
    Format,
    Reading,
    build_document_result,
    build_file_result,
    build_text_result,
    check_status,
    detect_kind,
    file_name,
)
from agentcore_web_tools.searching import (
    BRAVE_URL,
    Brave,
    Provider,
    SearchResults,
    SearXNG,
    clean_result,
    format_results,
)
from agentcore_web_tools.settings import LONGEST_S, WebSettings
from agentcore_web_tools.translations import EXAMPLES, ZH

_ACCEPT = {
    "markdown": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
    "text": "text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.5",
    "html": "text/html, application/xhtml+xml, */*;q=0.5",
    "raw": "*/*",
}
_NO_PROVIDER = {
    "en": (
        "No search provider is chosen, so web_search finds nothing.",
        "Choose one in its settings: SearXNG on your own machine, or Brave with a key (https://brave.com/search/api).",
    ),
    "zh": (
        "尚未选择搜索服务，web_search 无法搜索。",
        "请在设置中选择：SearXNG（可在本机运行），或 Brave（需要密钥，见 https://brave.com/search/api）。",
    ),
}
_SEARCH_BYTES = 4 * 1024 * 1024


class WebTools(Module[WebSettings]):
    """The web: read pages and search."""

    title = "Web"
    translations: ClassVar = {"zh": ZH}
    examples: ClassVar = EXAMPLES
    instructions: ClassVar = {
        "en": (
            "Read the sources that you rely on with `web_fetch`, and name them. Pages that need a log-in, clicks or "
            "scripts need a browser."
        ),
        "zh": ("用 `web_fetch` 阅读所依据的来源并注明。需要登录、点击或脚本的网页请使用浏览器。"),
    }

    _policy: UrlPolicy
    _client: WebClient
    _provider: Provider | None
    _documents: DocumentReader | None = None

    def init(self, runtime: Runtime) -> None:
        """Create the client, and the search provider if one is configured.

        Raises:
            ValueError: If the settings of the search provider are incomplete or its address is not allowed.
        """
        settings = self.settings
        self._policy = runtime.url_policy(
            allow_private=settings.allow_private,
            allowed_hosts=settings.allowed_hosts,
            blocked_hosts=settings.blocked_hosts,
        )
        self._client = self._make_client(self._policy, settings.max_bytes)
        self._provider = self._make_provider(runtime)
        if self._provider is None:
            said, advice = _NO_PROVIDER[runtime.locale]
            runtime.note("web_search", said, advice=advice)
        self._documents = DocumentReader()

    async def shutdown(self) -> None:
        """Stop reading documents."""
        if self._documents is not None:
            await self._documents.close()

    def _preview_fetch(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        policy = self._policy.with_services(ctx.session_id)
        url = policy.check(arguments["url"])
        service = policy.find_service(url)
        return CallPreview(urls=(url,), services=() if service is None else (service.name,))

    @tool(
        rank=1,
        read_only=True,
        effects=("egress",),
        destructive=False,
        idempotent=True,
        open_world=True,
        timeout_s=LONGEST_S,
        keep="head",
        preview=_preview_fetch,
        display={"url": "subject"},
    )
    async def web_fetch(
        self,
        ctx: ToolContext,
        url: Annotated[
            str,
            Field(
                min_length=1,
                max_length=16_384,
                description="Full address, such as https://example.com/page.",
                json_schema_extra=known_to_models(),
            ),
        ],
        *,
        maxChars: Annotated[  # noqa: N803 - spelled as tools spell their arguments
            int,
            Field(
                ge=100,
                le=500_000,
                description="How many characters to give at most.",
                json_schema_extra=known_to_models(),
            ),
        ] = 20_000,
        format: Annotated[  # noqa: A002
            Format,
            Field(
                description="`raw` gives the answer as it came, whatever its status; the others a page's main content.",
                json_schema_extra=known_to_models(),
            ),
        ] = "markdown",
        offset: Annotated[int, Field(ge=0, le=1_000_000_000, description="First character.")] = 0,
        find: Annotated[
            str, Field(max_length=2000, description="Only the parts that hold these words, with their headings.")
        ] = "",
        full: Annotated[bool, Field(description="With menus, headers, footers.")] = False,
    ) -> ToolResult[FetchedPage]:
        """Read a web page: its main content as Markdown. Documents become text, other files artifacts."""
        options = FetchOptions(format, offset, maxChars, full, find.strip())
        headers = {"Accept": _ACCEPT[format], "Accept-Language": self._accept_language()}
        reply = await self._client.get(url, headers, session_id=ctx.session_id)
        check_status(reply, options)
        media, mime = detect_kind(reply)
        if media == "document" and format != "raw" and not reply.cut:
            assert self._documents is not None  # noqa: S101 - `init` made it
            read = await self._documents.read(reply.body, ctx.workspace, file_name(reply))
            reading = Reading(read.text, read.title, (read.notice,))
            return await build_document_result(ctx, reply, options, reading, read.mime or mime)
        if media in ("image", "document", "binary"):
            return await build_file_result(ctx, reply, media, mime)
        return await asyncio.to_thread(build_text_result, reply, mime, options, _read_page)

    def _preview_search(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        self._require_provider()
        return CallPreview(urls=(self._search_url(),))

    @tool(
        rank=1,
        read_only=True,
        effects=("egress",),
        destructive=False,
        idempotent=True,
        open_world=True,
        timeout_s=LONGEST_S,
        preview=_preview_search,
        display={"query": "subject"},
    )
    async def web_search(
        self,
        ctx: ToolContext,
        query: Annotated[
            str,
            Field(min_length=1, max_length=400, description="What to look for.", json_schema_extra=known_to_models()),
        ],
        count: Annotated[
            int,
            Field(ge=1, le=20, description="How many results to give at most.", json_schema_extra=known_to_models()),
        ] = 8,
    ) -> ToolResult[SearchResults]:
        """Search the web: titles, addresses, short extracts; read a result with `web_fetch`."""
        found = [clean_result(each) for each in await self._require_provider().search(query, count)]
        data: SearchResults = {"query": query, "results": [each.to_json() for each in found]}
        return ToolResult(format_results(query, found), data=data, untrusted=True)

    def _require_provider(self) -> Provider:
        if self._provider is None:
            message = (
                "No search provider is set. Ask the person to set `search_provider` of web_tools (in the page: "
                "Modules, then Web) to SearXNG, on a machine of their own, or Brave, with a key. Without one, open "
                "pages whose address is known with web_fetch."
            )
            raise ToolError("no_search_provider", message)
        return self._provider

    def _search_url(self) -> str:
        return str(self.settings.search_url or BRAVE_URL)

    def _make_provider(self, runtime: Runtime) -> Provider | None:
        settings = self.settings
        if settings.search_provider == "none":
            return None
        # The user configured this address, so it may be on this machine; results are fetched under the other policy.
        policy = runtime.url_policy(allow_private=True)
        url = self._search_url()
        make: Callable[[WebClient, str], Provider] = SearXNG
        if settings.search_provider == "brave":
            if settings.search_key is None:
                raise ValueError("search_provider `brave` needs search_key: get one at https://brave.com/search/api")
            make = partial(Brave, key=settings.search_key)
        elif settings.search_url is None:
            raise ValueError("search_provider `searxng` needs search_url, such as http://127.0.0.1:8888")
        _check_setting(policy, url)
        return make(self._make_client(policy, _SEARCH_BYTES), url)

    def _make_client(self, policy: UrlPolicy, limit_bytes: int) -> WebClient:
        settings = self.settings
        return WebClient(policy, user_agent=settings.user_agent, limit_bytes=limit_bytes, timeout_s=settings.timeout)

    def _accept_language(self) -> str:
        return "zh-CN,zh;q=0.9,en;q=0.7" if self.runtime.locale == "zh" else "en,*;q=0.5"


def _check_setting(policy: UrlPolicy, url: str) -> None:
    try:
        policy.check(url)
    except ToolError as exc:
        raise ValueError(f"search_url: {exc.message}") from exc


def _read_page(text: str, url: str, options: FetchOptions) -> Reading:
    # Imported with the first page, because the libraries are slow to import.
    reading: Reading = import_module("agentcore_web_tools.reading.reader").read_page(text, url, options)
    return reading
