"""Every bundled tool and each of its arguments can be read in Chinese; what may be tried first works, without harm."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from agentcore.core.approvals.host_pairings import HostOffer

REPOSITORY = Path(__file__).parents[3]
CHINESE = re.compile("[\u4e00-\u9fff]")


def arguments_of(schema, root=None, path="", seen=()):
    """Arguments by name, and by path whatever is said of what is within them (`edits.old`)."""
    root = schema if root is None else root
    found = set()
    if (reference := schema.get("$ref")) is not None and reference not in seen:
        target = root
        for name in reference.removeprefix("#/").split("/"):
            target = target[name]
        found |= arguments_of(target, root, path, (*seen, reference))
    for name, part in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        if not path or "description" in part:
            found.add(at)
        found |= arguments_of(part, root, at, seen)
    inner = [schema.get("items"), schema.get("additionalProperties")]
    inner += [part for key in ("anyOf", "oneOf", "allOf", "prefixItems") for part in schema.get(key, ())]
    for part in inner:
        found |= arguments_of(part, root, path, seen) if isinstance(part, dict) else set()
    return found


@pytest.mark.processes
@pytest.mark.spec("M7")
@pytest.mark.source_tree
async def test_each_bundled_tool_and_argument_is_said_in_chinese_and_nothing_else_is(make_server):
    listed = json.loads((REPOSITORY / "app.json").read_text())["modules"]
    server = await make_server(app={"modules": listed})
    # some are offered only where there is another machine
    await server.host.host_pairings.let_in(HostOffer("laptop", "127.0.0.1", "Linux", "1.0", (), ()))
    async with asyncio.timeout(30):
        while not {"list_hosts", "copy_between_hosts"} <= set(server.host.registry.tools):
            await asyncio.sleep(0.02)
    tools = (await server.get("/api/tools"))[1]["tools"]
    _, texts = await server.get("/api/tools/texts")
    missing = []
    for tool in tools:
        said = texts["tools"].get(tool["name"], {}).get("zh", {"description": "", "arguments": {}})
        missing += [] if CHINESE.search(said["description"] or "") else [tool["name"]]
        arguments = arguments_of(tool["input_schema"])
        missing += [
            f"{tool['name']}.{name}" for name in arguments if not CHINESE.search(said["arguments"].get(name, ""))
        ]
    assert len(tools) > 60
    assert missing == []
    known = {"module", "module.title", *(tool["name"] for tool in tools)}
    known |= {f"{tool['name']}.{name}" for tool in tools for name in arguments_of(tool["input_schema"])}
    known |= {f"*.{key.partition('.')[2]}" for key in known}
    written = {
        key for record in server.host.modules.records.values() for key in record.manifest.translations.get("zh", {})
    }
    assert sorted(written - known) == []
    assert {
        name
        for name, said in texts["modules"].items()
        if CHINESE.search(said["zh"]["title"]) and CHINESE.search(said["zh"]["description"])
    } == set(listed)


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.source_tree
async def test_each_bundled_example_runs_in_an_empty_workspace(make_server):
    """Those that leave this machine are only looked at."""
    modules = ["fs_tools", "shell_tools", "web_tools", "browser"]
    server = await make_server(app={"modules": modules, "config": {"shell_tools": {"sandbox": "off"}}})
    _, texts = await server.get("/api/tools/texts")
    examples = texts["examples"]
    assert all({"en", "zh"} == set(example["title"]) for example in examples)
    assert {"list_dir", "read_file", "bash", "web_fetch", "browser_navigate"} <= {each["tool"] for each in examples}
    for example in examples:
        if "url" not in example["arguments"]:
            _, answer = await server.post(f"/api/tools/{example['tool']}/call", {"arguments": example["arguments"]})
            assert answer["ok"], (example, answer)
