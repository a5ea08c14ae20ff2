"""The client that the official suite of MCP tests: a real host, with the suite's server mounted as a module.

`python -m tests.conformance.client URL`, with the scenario's context in the environment as the suite gives it; or
`clients`, which serves many of them in one process.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from agentcore.api import Principal, ToolError
from agentcore.core.calls.call import CallRequest, ModelReader
from agentcore.testing.hosting import HostPlan, RunningHost, running_host

KEY = "scenario"
METADATA = "https://conformance-test.local/client-metadata.json"
"""What the suite calls a client that has metadata of its own and no registration."""
LOGINS = 3
"""How often somebody logs in for the same thing."""
MODEL = Principal("mcp", "suite")


class Someone:
    """The person in front of it: takes what a form offers, and fills in what has to be said."""

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float) -> str:
        """Take the first."""
        return options[0] if options else "yes"

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        """Leave out what has a value of its own."""
        parts = schema.get("properties", {})
        return {name: value_of(part) for name, part in parts.items() if "default" not in part}

    async def open_address(self, question: str, url: str, timeout_s: float) -> None:
        """Open it, and be done there."""

    async def sample(self, prompt: str, system: str, max_tokens: int) -> str:
        """Say something."""
        return "Paris"

    async def roots(self) -> Sequence[str]:
        """No folders."""
        return ()


def value_of(schema: Mapping[str, Any]) -> Any:
    """A value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    return {"number": 1.5, "integer": 1, "boolean": True, "array": [], "object": {}}.get(kind, "text")


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool has to be given."""
    parts = schema.get("properties", {})
    return {name: value_of(parts.get(name, {})) for name in schema.get("required", ())}


async def use(host: RunningHost, context: Mapping[str, Any]) -> AsyncIterator[str]:
    """Do what a scenario wants: call what it names, else everything that there is; says how each call ended."""
    named = {each["name"]: each["arguments"] for each in context.get("toolCalls", ())}
    for name, tool in list(host.host.registry.tools.items()):
        original = name.removeprefix(f"{KEY}_")
        if named and original not in named:
            continue
        arguments = named.get(original) or arguments_for(tool.definition.input_schema)
        if "schema" in arguments:  # wants back how it was told of another tool
            arguments = {"schema": next(iter(host.host.registry.tools.values())).definition.input_schema}
        for _ in range(LOGINS):
            request = CallRequest(name, arguments, MODEL, mode="allow", reader=ModelReader(), asker=Someone())
            outcome = await host.host.run_call(request)
            yield f"{name} {outcome.encode_envelope().decode()}"
            if outcome.error is None or outcome.error.type != "login_needed":
                break
            yield await log_in(host)


async def log_in(host: RunningHost) -> str:
    """Be the person who opens an address in a browser, says yes there, and is led back; says how it ended."""
    login = host.host.modules.get_record(f"mcp_{KEY}").login
    assert login is not None
    try:
        async with httpx2.AsyncClient(follow_redirects=True) as browser:
            await browser.get(await login.begin(), headers={"Accept": "text/html"})
    except (ToolError, httpx2.HTTPError) as exc:
        return f"no log-in: {exc!r}"
    async with asyncio.timeout(30):
        while login.status().state == "waiting":
            await asyncio.sleep(0.02)
    await host.accept_definitions()
    return f"log-in: {login.status()}"


def needs_login(host: RunningHost) -> bool:
    """Whether the server has said that somebody has to log in."""
    login = host.host.modules.get_record(f"mcp_{KEY}").login
    return login is not None and login.status().state == "needed"


async def mounted(url: str, context: Mapping[str, Any]) -> AsyncIterator[str]:
    """Mount a server, use it, and go; says what happened."""
    login = {"client_id": context.get("client_id", METADATA)}
    if "client_secret" in context:
        login["client_secret"] = context["client_secret"]
    ours = {"login": login}
    plan = HostPlan([f"mcp_{KEY}"], {"mcpServers": {KEY: {"url": url, "agentcore": ours}}}, is_failure_expected=True)
    with tempfile.TemporaryDirectory() as folder:
        async with running_host(plan, Path(folder)) as host:
            for problem in host.problems():
                yield problem
            for _ in range(LOGINS):
                if needs_login(host):
                    yield await log_in(host)
            async for said in use(host, context):
                yield said


@asynccontextmanager
async def clients(place: Path) -> AsyncIterator[str]:
    """Serve scenarios in this process; gives the command that has one served.

    Args:
        place: Where the socket is to lie.
    """
    turn = asyncio.Lock()  # what a module leaves behind is known by its name, which is the same in each host

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = json.loads(await reader.readline())
            async with turn:
                async for said in mounted(asked["url"], asked["context"]):
                    writer.write(said.encode() + b"\n")
        finally:
            writer.close()

    knock = Path(__file__).parent / "knock.py"
    async with await asyncio.start_unix_server(serve, place):
        yield f"{sys.executable} -S {knock} {place}"


async def _main(url: str) -> None:
    async for said in mounted(url, json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))):
        print(said)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
