"""Servers of others, from npm and PyPI, mounted as their pages say."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.api import Image

ROOT = Path(__file__).parents[3]
BIN = ROOT / "node_modules" / ".bin"

pytestmark = pytest.mark.more

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (BIN / "mcp-server-everything").exists(), reason="no packages of npm here"
)


@pytest.fixture(scope="module")
def python_servers(tmp_path_factory):
    """An environment of their own, for they want another SDK than we do; gives the start of their blocks."""
    folder = tmp_path_factory.mktemp("servers")
    uv, python = Path(sys.executable).with_name("uv"), str(folder / "bin" / "python")
    ways = (
        # a twentieth of the work of the other one, which is for where there is no uv, or it finds no packages
        ([uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], [uv, "pip", "install", "-p", python]),
        ([sys.executable, "-m", "venv", "--clear", folder], [python, "-m", "pip", "install"]),
    )
    for make, install in ways if uv.exists() else ways[1:]:
        subprocess.run(make, check=True)
        command = [*install, "--quiet", "mcp-server-git", "mcp-server-time"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode == 0:
            break
    if done.returncode:
        pytest.skip(f"PyPI cannot be reached: {done.stderr[-300:]}")
    # the sandbox has a /tmp of its own, where nothing is seen but the workspace and the working folder
    return lambda name, *arguments: {"command": str(folder / "bin" / name), "args": arguments, "cwd": str(folder)}


@pytest.fixture
def mount_real(agentcore_host):
    """Mount a server under a key."""

    async def mounted(key, module, block, **options):
        return await agentcore_host([module], config={"mcpServers": {key: block}}, **options)

    return mounted


async def text_of(host, tool, **arguments):
    return (await host.call(tool, **arguments)).blocks()[0].text


def npm(name, *arguments):
    """The block of a server of npm."""
    return {"command": str(BIN / name), "args": list(arguments)}


@needs_node
async def test_everything(mount_real):
    host = await mount_real("everything", "mcp_everything", npm("mcp-server-everything"))
    assert await text_of(host, "everything_echo", message="hello") == "Echo: hello"
    blocks = (await host.call("everything_get-tiny-image")).blocks()
    assert any(isinstance(block, Image) for block in blocks)
    structured = await host.call("everything_get-structured-content", location="New York")
    assert structured.data["conditions"]
    listed = await text_of(host, "everything_resources")
    read = await host.call("everything_resources", uri=listed.split(" – ")[0])
    assert read.blocks()


@needs_node
async def test_filesystem(mount_real, tmp_path):
    (tmp_path / "notes.txt").write_text("Water the plants.")
    host = await mount_real("files", "mcp_files", npm("mcp-server-filesystem", str(tmp_path)), roots=[tmp_path])
    assert "Water the plants." in await text_of(host, "files_read_text_file", path=str(tmp_path / "notes.txt"))
    outside = await host.outcome("files_read_text_file", {"path": "/etc/hostname"})
    assert outside.error.type == "tool_failed"


@needs_node
async def test_memory(mount_real, tmp_path):
    block = npm("mcp-server-memory") | {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    host = await mount_real("memory", "mcp_memory", block, roots=[tmp_path])
    entities = [{"name": "Ada", "entityType": "person", "observations": ["likes engines"]}]
    await host.call("memory_create_entities", entities=entities)
    assert "likes engines" in await text_of(host, "memory_search_nodes", query="Ada")


@needs_node
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on PATH")
async def test_playwright(mount_real, tmp_path):
    (tmp_path / "page.html").write_text("<h1>Engines</h1><button>Start</button>")
    block = npm(
        "playwright-mcp", "--headless", "--no-sandbox", "--isolated", "--executable-path", shutil.which("chromium")
    )
    host = await mount_real("@playwright/mcp", "mcp_playwright_mcp", block, roots=[tmp_path])
    said = await text_of(host, "playwright_mcp_browser_navigate", url="data:text/html,<h1>Engines</h1>")
    assert "Engines" in said + await text_of(host, "playwright_mcp_browser_snapshot")


async def test_git(mount_real, python_servers, tmp_path, git):
    subprocess.run([git, "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "notes.txt").write_text("Water the plants.")
    block = python_servers("mcp-server-git", "--repository", str(tmp_path))
    host = await mount_real("git", "mcp_git", block, roots=[tmp_path])
    assert "notes.txt" in await text_of(host, "git_git_status", repo_path=str(tmp_path))
    await host.call("git_git_add", repo_path=str(tmp_path), files=["notes.txt"])
    assert "notes.txt" in await text_of(host, "git_git_diff_staged", repo_path=str(tmp_path))


async def test_time(mount_real, python_servers):
    host = await mount_real("time", "mcp_time", python_servers("mcp-server-time"))
    said = json.loads(await text_of(host, "time_get_current_time", timezone="Europe/Berlin"))
    assert said["timezone"] == "Europe/Berlin"


@needs_node
async def test_several_at_once_and_one_that_dies_leaves_the_others(agentcore_host, tmp_path):
    servers = {"everything": npm("mcp-server-everything"), "files": npm("mcp-server-filesystem", str(tmp_path))}
    host = await agentcore_host(["mcp_everything", "mcp_files"], config={"mcpServers": servers}, roots=[tmp_path])
    calls = [host.call("everything_echo", message=str(number)) for number in range(20)]
    said = [result.blocks()[0].text for result in await asyncio.gather(*calls)]
    assert said == [f"Echo: {number}" for number in range(20)]
    await host.host.modules.disable("mcp_files")
    assert await text_of(host, "everything_echo", message="still") == "Echo: still"
