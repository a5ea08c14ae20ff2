"""Every setting of every installed module: all but the harmless ones wait for a person, whoever changes them."""

import itertools
import json
from importlib.metadata import entry_points
from typing import Any

import pytest

from agentcore.core.discovery.source_search import find_module
from tests.server.approving import page

pytestmark = [pytest.mark.spec("K5"), pytest.mark.spec("K3"), pytest.mark.spec("S2")]

NAMES = sorted({entry.name for entry in entry_points(group="agentcore.modules")})
KEYS = {name: getattr(find_module(name, None).load(), "config_key", None) or name for name in NAMES}
RISKY = (
    *("exec", "command", "args", "env", "path", "dir", "root", "host", "url", "endpoint", "proxy", "allow", "block"),
    *("sandbox", "trust", "protect", "writable", "profile"),
)
TEXTS = (
    "x",
    "/bin/true",
    "http://127.0.0.1:9",
    "ws://127.0.0.1:9",
    "de-DE",
    "example.org",
    "https://example.org/x",
    "0.0.0.0",
)
VALUES: tuple[Any, ...] = (
    *TEXTS,
    *((text,) for text in TEXTS),
    {},
    {"x": "y"},
    {"latitude": 48.1, "longitude": 11.6},
    True,
    False,
    1,
    2,
    0.5,
    10_000,
    50_000,
)
TYPES: dict[str, type] = {"string": str, "array": tuple, "object": dict, "boolean": bool, "integer": int}
"""Of these values, those that a schema's type can mean; a number can be any of them."""
LETS_MORE_BE_DONE = {
    "chrome": (
        *("executable", "channel", "args", "sandbox", "profile", "proxy", "cdp_endpoint"),
        *("playwright_endpoint", "endpoint_without_tls"),
        *("allow_private", "allowed_hosts", "blocked_hosts"),
    ),
    "fs_tools": ("writable",),
    "shell_tools": ("sandbox", "network", "writable", "environment"),
    "web_tools": ("allow_private", "allowed_hosts", "blocked_hosts", "search_url", "search_key"),
}
"""Settings that let somebody do what the person did not allow: no mark makes them harmless."""


SERVER = {"modules": NAMES}


async def askers(shared_server) -> dict[str, Any]:
    of_page = await page(shared_server)
    token = {"Authorization": f"Bearer {shared_server.running.host.state.token.get_secret_value()}"}

    async def with_token(method: str, path: str, body: Any = None) -> Any:
        return await of_page.ask(method, path, body, headers=token)

    return {"page": of_page.ask, "token": with_token}


def files(shared_server) -> dict[str, str]:
    folder = shared_server.running.host.config.file.parent
    return {str(path): path.read_text() for path in (folder / "app.json", *folder.glob("modules/*.json"))}


def parts_of(schema: dict[str, Any], part: dict[str, Any]) -> list[dict[str, Any]]:
    """The kinds of values that a setting may have, null left out."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]] | {k: v for k, v in part.items() if k != "$ref"}
    branches = [one for key in ("anyOf", "oneOf", "allOf") for one in part.get(key, [])]
    found = [inner for branch in branches for inner in parts_of(schema, branch)] if branches else [part]
    return [one for one in found if one.get("type") != "null"]


def settings_of(schema: dict[str, Any], part: dict[str, Any], path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every setting that a schema names, those inside of objects too, with its part of the schema.

    What is inside of an object that is left out by default cannot be set without the rest of it.
    """
    return [
        found
        for key, inner in part.get("properties", {}).items()
        for found in (
            (f"{path}/{key}", inner),
            *(
                one
                for kind in (() if inner.get("default", ...) is None else parts_of(schema, inner))
                for one in settings_of(schema, kind, f"{path}/{key}")
            ),
        )
    ]


async def change(ask: Any, module: str, *changes: dict[str, Any]) -> tuple[int, Any]:
    path = f"/api/settings/modules/{module}"
    digest = (await ask("GET", path))[1]["digest"]
    return await ask("PUT", path, {"expected": digest, "changes": list(changes)})


def choices_of(kind: dict[str, Any]) -> list[Any]:
    """Values of the very kind that a schema tells of."""
    if kind.get("type") == "boolean":
        return [True, False]
    bounds = [kind[key] for key in ("minimum", "maximum", "exclusiveMaximum") if key in kind]
    return [*kind.get("enum", []), kind.get("const"), *bounds]


async def change_to_anything(ask: Any, module: str, path: str, schema: dict[str, Any], part: dict[str, Any]) -> Any:
    """Change a setting to a value that the module takes, whatever that is."""
    default = part.get("default")
    kinds = parts_of(schema, part)
    choices = [value for kind in kinds for value in choices_of(kind)]
    types = tuple(TYPES.get(kind.get("type", ""), object) for kind in kinds)
    for value in itertools.chain(choices, (value for value in VALUES if isinstance(value, types))):
        if value is None or value == default:
            continue
        status, answer = await change(ask, module, {"path": path, "value": value})
        if status == 200 or answer["error"]["type"] != "invalid_settings":
            return status, answer
    raise AssertionError(f"none of the values here is one for {module}{path}: add one to VALUES")


def kind_of(answer: Any) -> str:
    return answer["error"]["type"] if "error" in answer else "saved"


@pytest.mark.more
@pytest.mark.parametrize("who", ["page", "token"])
@pytest.mark.parametrize("module", NAMES)
async def test_setting_waits_for_a_person_unless_it_is_harmless(shared_server, module, who):
    """Each alone, set and taken away again; nothing reaches a file, nor the running module, before it is decided."""
    ask, host = (await askers(shared_server))[who], shared_server.running.host
    _, view = await ask("GET", f"/api/settings/modules/{module}")
    own = host.config.file.parent / "modules" / f"{KEYS[module]}.json"
    own.parent.mkdir(exist_ok=True)
    before, running = files(shared_server), host.modules.get_record(module).runtime
    for path, part in settings_of(view["schema"], view["schema"]):
        if path not in view["policy"]:
            continue
        status, answer = await change_to_anything(ask, module, path, view["schema"], part)
        assert (path, status, kind_of(answer)) == (path, 403, "confirmation_required")
        assert host.policy_changes.refuse_all("test") == 1
        assert files(shared_server) == before
    assert host.modules.get_record(module).runtime is running
    for path, _ in settings_of(view["schema"], view["schema"]):
        if path in view["policy"] and path.count("/") == 1:
            own.write_text(json.dumps({path[1:]: None}))
            status, answer = await change(ask, module, {"path": path, "remove": True})
            assert (path, status, kind_of(answer)) == (path, 403, "confirmation_required")
            host.policy_changes.refuse_all("test")
            assert own.read_text() == json.dumps({path[1:]: None})
    own.unlink(missing_ok=True)


@pytest.mark.parametrize("module", NAMES)
async def test_setting_is_harmless_only_where_it_is_marked_and_may_be(shared_server, module):
    ask = (await askers(shared_server))["page"]
    _, view = await ask("GET", f"/api/settings/modules/{module}")
    schema = view["schema"]
    for path, part in settings_of(schema, schema):
        kinds = parts_of(schema, part)
        if path in view["policy"] or all("properties" in kind for kind in kinds):
            continue
        assert not any(risky in path.lower() for risky in RISKY), path
        assert all(
            "enum" in kind or "const" in kind or kind["type"] in ("boolean", "integer", "number") for kind in kinds
        )
        assert part["x-harmless"] is True, path
        assert (path, (await change_to_anything(ask, module, path, schema, part))[0]) == (path, 200)


@pytest.mark.parametrize(("module", "keys"), LETS_MORE_BE_DONE.items())
async def test_setting_that_lets_more_be_done_is_policy(shared_server, module, keys):
    _, view = await (await askers(shared_server))["token"]("GET", f"/api/settings/modules/{module}")
    assert {f"/{key}" for key in keys} <= {*view["policy"]}


@pytest.mark.parametrize("who", ["page", "token"])
async def test_every_setting_of_the_server_but_its_language_waits(shared_server, who):
    ask, host = (await askers(shared_server))[who], shared_server.running.host
    _, view = await ask("GET", "/api/settings")
    harmless = {path for path, _ in settings_of(view["schema"], view["schema"])} - {*view["policy"]}
    assert harmless == {"/locale"}
    before = files(shared_server)
    for path in view["policy"]:
        body = {"expected": view["digest"], "changes": [{"path": path, "remove": True}]}
        status, answer = await ask("PUT", "/api/settings", body)
        assert (path, status, kind_of(answer)) == (path, 403, "confirmation_required")
        host.policy_changes.refuse_all("test")
    assert files(shared_server) == before
