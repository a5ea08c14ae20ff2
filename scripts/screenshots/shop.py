"""A shop on loopback, and a model that searches in it as it is told."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from provider import reply

_PAGE = Path(__file__).resolve().parent / "shop.html"


@asynccontextmanager
async def open_shop() -> AsyncIterator[str]:
    """Serve both; gives the origin: the shop is at `/shop/`, the model at `/v1`."""
    app = web.Application()
    app.router.add_get("/shop/", _show)
    app.router.add_post("/v1/chat/completions", _answer)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}"


async def _show(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(_PAGE)


async def _answer(request: web.Request) -> web.StreamResponse:
    messages = (await request.json())["messages"]
    if any(message["role"] == "assistant" for message in messages):
        return await reply(request, "Done: the page shows the results for iPhone 16.", ())
    told = "\n".join(str(message["content"]) for message in messages)
    fill = {"action": "fill", "target": _element(told, "input:Search"), "params": {"value": "iPhone 16"}}
    click = {"action": "click", "target": _element(told, "button:Search")}
    actions: dict[str, Any] = {"actions": [fill, click]}
    return await reply(request, "I fill the box and press search.", (("page_action", actions),))


def _element(told: str, desc: str) -> dict[str, str]:
    """The element of the page that the model was told of by a description."""
    return {"elementId": re.findall(rf"(e_\w+) \| {re.escape(desc)}", told)[-1]}
