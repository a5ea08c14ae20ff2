"""Use every surface of agentcore as it was installed from its wheels alone.

Usage: build/venv-wheels/bin/python -I .ci/wheel_smoke.py [CHROMIUM]

A wheel can lack a file, an entry point or a dependency. `wheel_files.py` checks the files; this script starts the
commands, the server, the page, MCP and a chat in an empty folder, far from the source tree. The tests of that tree
prove the details.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from playwright.async_api import async_playwright

AGENTCORE = str(Path(sys.executable).with_name("agentcore"))
START_S = 60
ANSWER = "Hello from the model"
SOURCE_TREE = Path(__file__).resolve().parent.parent


class Model(BaseHTTPRequestHandler):
    """A model server with the protocol of OpenAI, whose model always gives the same answer."""

    def do_GET(self) -> None:
        """List the models."""
        self._answer("application/json", json.dumps({"object": "list", "data": [{"id": "small", "object": "model"}]}))

    def do_POST(self) -> None:
        """Stream the answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        deltas: list[tuple[dict[str, str], str | None]] = [
            ({"role": "assistant", "content": ANSWER}, None),
            ({}, "stop"),
        ]
        chunks = [
            {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "small",
             "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            for delta, reason in deltas
        ]  # fmt: skip
        self._answer(
            "text/event-stream", "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
        )

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


class Smoke:
    """A folder with an app.json, and the server that runs for it."""

    def __init__(self, folder: Path, model_port: int) -> None:
        self.folder = folder
        self.environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AGENTCORE_"))
        }
        self.environ |= {
            "HOME": str(folder),
            "AGENTCORE_STATE_DIR": str(folder / "state"),
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
            "OPENAI_API_KEY": "any",
        }
        self.modules = {point.name for point in entry_points(group="agentcore.modules")}

    def run(self, *arguments: str, exit_codes: tuple[int, ...] = (0,)) -> str:
        """Run a command; what it prints on stdout."""
        done = subprocess.run(
            [AGENTCORE, *arguments], cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=120,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode not in exit_codes:
            raise AssertionError(
                f"agentcore {' '.join(arguments)} exited with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses of the running server."""
        found: dict[str, str] = json.loads((self.folder / "state" / "server.json").read_text())["addresses"]
        return found

    def request(self, path: str, body: object = None, *, address: str = "") -> Any:
        """Send a request with the API token; the decoded JSON, or the text of anything else."""
        token = (self.folder / "state" / "token").read_text().strip()
        request = urllib.request.Request((address or self.addresses["page"]) + path)
        request.add_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read().decode()
        return json.loads(text) if response.headers.get_content_type() == "application/json" else text

    @contextmanager
    def server(self) -> Iterator[None]:
        """Run `agentcore serve` until the end of the block."""
        log = self.folder / "serve.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [AGENTCORE, "serve", "--port", "0"], cwd=self.folder, env=self.environ, stdout=stream, stderr=stream,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        try:
            _wait(
                lambda: self._states() == dict.fromkeys(self.modules, "ready"),
                lambda: f"{self._states()}\n{log.read_text()}",
            )
            yield
        finally:
            process.terminate()
            if code := process.wait(START_S):
                raise AssertionError(f"agentcore serve exited with {code}:\n{log.read_text()}")

    def _states(self) -> dict[str, str]:
        try:
            return {
                module["name"]: module["state"]
                for module in self.request("/api/modules")["modules"]
                if module["listed"]
            }
        except OSError:
            return {}


def _wait(is_met: Callable[[], bool], explain: Callable[[], str]) -> None:
    until = time.monotonic() + START_S
    while not is_met():
        if time.monotonic() > until:
            raise AssertionError(f"not within {START_S} s: {explain()}")
        time.sleep(0.1)


def check_installation(smoke: Smoke) -> None:
    """Nothing comes from the source tree, and the commands that need no server work."""
    import agentcore  # noqa: PLC0415 - what is checked is where it comes from

    assert not Path(agentcore.__file__).is_relative_to(SOURCE_TREE / "agentcore")
    assert version("agentcore-runtime") in smoke.run("--version")
    assert "--pool" in smoke.run("host", "--help")  # of a kind of hosts, whose distribution is among the wheels
    smoke.run("init")
    file = smoke.folder / "app.json"
    settings = json.loads(file.read_text())
    assert set(settings["modules"]) == smoke.modules
    file.write_text(json.dumps({**settings, "approvals": {"mode": "ask_writes"}}))
    (smoke.folder / "workspace" / "notes.txt").write_text("Buy milk\n")


def check_commands(smoke: Smoke) -> None:
    """The command line finds every module and tool, in a process of its own or through the server."""
    tools = {tool["name"] for tool in json.loads(smoke.run("tools", "--json"))["tools"]}
    assert {"read_file", "bash", "browser_navigate"} <= tools, tools
    called = json.loads(smoke.run("call", "read_file", "path=notes.txt", "--json"))
    assert called["ok"], called
    assert "Buy milk" in json.dumps(called)
    findings = json.loads(smoke.run("doctor", "--json", exit_codes=(0, 1)))["findings"]
    unready = {finding["subject"]: finding for finding in findings if finding["subject"].startswith("module ")}
    assert unready.keys() == {f"module {name}" for name in smoke.modules}, findings
    assert {finding["level"] for finding in unready.values()} <= {"ok", "info", "warning"}, findings


def check_api(smoke: Smoke) -> None:
    """The HTTP API lists and calls tools, and both documents are served."""
    assert smoke.request("/api/openapi.json")["openapi"]
    answer = smoke.request("/api/tools/list_dir/call", {"arguments": {"path": "."}})
    assert answer["ok"], answer
    for address in (smoke.addresses["page"], smoke.addresses["approval"]):
        assert "<script" in smoke.request("/", address=address)


def check_chat(smoke: Smoke) -> None:
    """A message is answered by the model."""
    assert ANSWER in smoke.run("chat", "--model", "openai:small", "Hello")


async def check_mcp(smoke: Smoke) -> None:
    """A client of the MCP SDK lists the tools over stdio, and calls one."""
    parameters = StdioServerParameters(
        command=AGENTCORE, args=["mcp", "--client", "smoke"], env=smoke.environ, cwd=smoke.folder
    )
    async with Client(parameters) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert "list_dir" in tools, tools
        result = await client.call_tool("list_dir", {"path": "."})
        assert "notes.txt" in str(result.content), result


async def check_page(smoke: Smoke, chromium: str) -> None:
    """Every section of the page loads in a browser, without an error in its console."""
    address = smoke.run("open", "--print").strip()
    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        await page.goto(address)
        await page.locator("ac-app nav").first.wait_for(state="attached")
        for view in ("chats", "modules", "tools", "activity", "clients", "hosts", "settings"):
            await page.goto(f"{smoke.addresses['page']}/#/{view}")
            await page.locator(f"ac-view-{view}").wait_for(state="visible")
        await page.goto(f"{smoke.addresses['page']}/#/chats")
        await page.get_by_role("textbox").last.wait_for(state="visible")
        await browser.close()
    assert errors == []


def check_new_module(smoke: Smoke) -> None:
    """The commands for authors of modules write and check one, where this version has them."""
    if "\n  new " in smoke.run("--help"):
        smoke.run("new", "forecast")
        smoke.run("check", "forecast", exit_codes=(0, 1))


async def main(chromium: str) -> None:
    """Run all checks, and report each with its time."""
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="agentcore-smoke-") as folder:
        smoke = Smoke(Path(folder), model.server_port)
        checks: list[tuple[str, Callable[[Smoke], object]]] = [
            ("commands", check_commands),
            ("API", check_api),
            ("chat", check_chat),
            ("new module", check_new_module),
        ]
        _report("installation", check_installation, smoke)
        with smoke.server():
            for name, check in checks:
                _report(name, check, smoke)
            await asyncio.wait_for(check_mcp(smoke), START_S)
            print("wheels: MCP works", flush=True)
            if chromium:
                await asyncio.wait_for(check_page(smoke, chromium), START_S * 2)
                print("wheels: the page works", flush=True)
            else:
                print("wheels: the page was not opened: no Chromium here", flush=True)


def _report(name: str, check: Callable[[Smoke], object], smoke: Smoke) -> None:
    began = time.monotonic()
    check(smoke)
    print(f"wheels: {name} works ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
