"""A provider of models on loopback that plays one scene, step by step."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

_ANSWER = """Two things are to do here:

| file | what |
|---|---|
| `notes.md` | buy bread |
| `notes.md` | call the harbour |

`hello.py` is done as it is:

```python
def greet(name):
    return f"hello, {name}"
```

I add both to `TODO.md`."""
_DIFF = """--- a/TODO.md
+++ b/TODO.md
@@ -1,3 +1,5 @@
 # To do
{blank}
 - water the plants
+- buy bread
+- call the harbour
""".format(blank=" ")
Calls = tuple[tuple[str, dict[str, Any]], ...]
"""Names of tools with arguments."""
Steps = tuple[tuple[str, Calls], ...]
"""What is said, and which tools are called with what; the next step follows the results of the one before."""
STEPS: Steps = (
    ("I look through the folder first.", (("glob", {"pattern": "**/*"}), ("read_file", {"path": "notes.md"}))),
    (_ANSWER, (("edit", {"path": "TODO.md", "diff": _DIFF}),)),
    ("Both stand in `TODO.md` now.", ()),
)
_PLAYED = web.AppKey("played", Steps)


@asynccontextmanager
async def open_provider(steps: Steps = STEPS) -> AsyncIterator[str]:
    """Serve it; gives its address, as settings take it."""
    app = web.Application()
    app[_PLAYED] = steps
    app.router.add_post("/v1/chat/completions", _answer)
    app.router.add_get("/v1/models", _list)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}/v1"


async def _list(_request: web.Request) -> web.Response:
    names = ("example-model", "example-model-small", "example-model-thinking", "example-embedding")
    return web.json_response({"data": [{"id": name} for name in names]})


async def _answer(request: web.Request) -> web.StreamResponse:
    messages = (await request.json())["messages"]
    answered = sum(message["role"] == "assistant" for message in messages)
    steps = request.app[_PLAYED]
    return await reply(request, *steps[answered % len(steps)])


async def reply(request: web.Request, said: str, calls: Calls) -> web.StreamResponse:
    """Say something, and want calls of tools."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    wanted = [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    delta = {"role": "assistant", "content": said, **({"tool_calls": wanted} if wanted else {})}
    for choice in (
        {"index": 0, "delta": delta, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls" if wanted else "stop"},
    ):
        chunk = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "example-model",
            "choices": [choice],
        }
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response
