"""Wrong values for everything that a module says: the lists stay whole, the others run, and it can be switched off."""

import asyncio
import functools
import itertools
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.api import Module, Runtime, ToolDefinition, WebComponent, tool
from agentcore.api.definition import ToolAnnotations
from agentcore.api.resource import Resource
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.server.app import create_app
from agentcore.store.state.state_dir import StateDir


class LoudText(str):
    def __str__(self) -> str:
        raise SystemExit("never asked")

    __repr__ = encode = isascii = __len__ = __str__


class Loud:
    def __str__(self) -> str:
        raise SystemExit("never asked")

    __repr__ = __iter__ = __bool__ = __eq__ = __len__ = __call__ = __str__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class LoudDict(dict[Any, Any]):
    def items(self) -> Any:
        raise SystemExit("never asked")

    __iter__ = keys = values = get = __getitem__ = __repr__ = items


def circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


ODD: list[Callable[[], Any]] = [
    Loud,
    lambda: LoudText("text"),
    lambda: LoudDict(en="text"),
    lambda: [Loud()],
    lambda: {"en": Loud()},
    lambda: {3: "x"},
    lambda: {"a": math.nan},
    circle,
    object,
    lambda: Loud,
    lambda: len,
    lambda: "half \ud83d",
    lambda: "x" * 200_000,
    lambda: 10**5_000,
    lambda: b"bytes",
    lambda: {"a", "b"},
    lambda: Path("/nowhere"),
    lambda: (each for each in "ab"),
    lambda: functools.reduce(lambda inner, _: [inner], range(500), 1),
]
ORDINARY: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: -1,
    lambda: 0.5,
    lambda: "",
    lambda: "/a",
    list,
    lambda: {"a": [None]},
]
"""What other fields take."""
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["/a", "a-b", "GET"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
VALUES = PLAIN.map(lambda value: lambda: value)

ATTRIBUTES = [
    "title",
    "requires",
    "config_key",
    "claims",
    "stands_in_for",
    "runs_scripts_in_page",
    "init_timeout_s",
    "Settings",
]
DEFINITION = list(ToolDefinition.__slots__)
COMPONENT = ["tag", "script", "folder", "title", "icon", "resource_views", "page_script", "csp", "group"]
HINTS = ["read_only", "destructive", "idempotent", "open_world"]
OPTIONS = [
    "name",
    "read_only",
    "effects",
    "destructive",
    "idempotent",
    "open_world",
    "timeout_s",
    "limit_bytes",
    "preview",
    "resource",
]
RAW = [
    "type",
    "function",
    "name",
    "description",
    "parameters",
    "input_schema",
    "annotations",
    "effects",
    "timeout_ms",
    "limit_bytes",
    "resource",
]
ROUTE = ["method", "path", "handler", "body", "query", "kind"]
CALLS: dict[str, Callable[[Runtime, Any], Any]] = {
    "note_subject": lambda runtime, value: runtime.note(value, "said"),
    "note_said": lambda runtime, value: runtime.note("subject", value),
    "note_advice": lambda runtime, value: runtime.note("subject", "said", advice=value),
    "publish_event": lambda runtime, value: runtime.publish(value, {}),
    "publish_data": lambda runtime, value: runtime.publish("event", value),
    "publish_session": lambda runtime, value: runtime.publish("event", {}, session_id=value),
    "subscribe_pattern": lambda runtime, value: runtime.subscribe(value, lambda event: None),
    "subscribe_handler": lambda runtime, value: runtime.subscribe("x", value),
    "create_type": lambda runtime, value: runtime.resources.create(value, "s"),
    "create_keys": lambda runtime, value: runtime.resources.create("page", "s", keys=value),
    "update_status": lambda runtime, value: runtime.resources.update(_page(runtime), status=value),
    "update_title": lambda runtime, value: runtime.resources.update(_page(runtime), title=value),
    "update_icon": lambda runtime, value: runtime.resources.update(_page(runtime), icon=value),
    "emit_data": lambda runtime, value: runtime.resources.emit(_page(runtime), "log", value),
}


def _page(runtime: Runtime) -> str:
    made: Resource = runtime.resources.create("page", "s")
    return made.resource_id


class Good(Module):
    """Works."""

    name = "good"

    @tool(read_only=True)
    async def good(self) -> str:
        """Work."""
        return "good"


def modules_with(value: Callable[[], Any], folder: Path) -> list[Module]:
    """One module for each thing that a module can say, which says this value there."""
    made: list[Module] = []

    def add(slot: str, **body: Any) -> None:
        name = f"m{len(made)}_{slot.lower().strip('_')}"
        doc = body.pop("__doc__", None)  # at birth a class takes only some
        kind = type("M", (Module,), body)
        kind.__doc__ = doc
        module = kind()
        if "name" not in body:
            vars(module)["name"] = name
        made.append(module)

    for attribute in ATTRIBUTES:
        add(attribute, **{attribute: value()})
    add("doc", __doc__=value())
    for slot, hooks in (*_of_page(value, folder), *_of_tools(value), *_of_runtime(value)):
        add(slot, **hooks)
    return made


def _of_page(value: Callable[[], Any], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    component = {"tag": "", "script": "main.js", "folder": folder, "title": "Panel"}
    for field in COMPONENT:
        yield f"component_{field}", {"get_web_component": _component(component, field, value)}
    yield "component", {"get_web_component": lambda self: value()}


def _of_tools(value: Callable[[], Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    definition: dict[str, Any] = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    for field in DEFINITION:
        yield f"definition_{field}", {"get_tool_definitions": _giving([_definition(definition, field, value)])}
    for field in HINTS:
        hints = ToolAnnotations(**{field: value()})
        yield f"hint_{field}", {"get_tool_definitions": _giving([ToolDefinition(**definition, annotations=hints)])}
    for key in RAW:
        raw = {"name": "raw", "description": "Raw.", key: value()}
        yield f"raw_{key}", {"get_tool_definitions": _giving([raw])}
    for option in OPTIONS:
        yield f"option_{option}", {"odd": tool(**{option: value()})(_documented())}
    yield "definitions", {"get_tool_definitions": _giving(value())}


def _of_runtime(value: Callable[[], Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for argument in ROUTE:
        yield f"route_{argument}", {"init": _routing(argument, value)}
    for name, call in CALLS.items():
        yield name, {"init": _calling(call, value)}


def _component(fields: dict[str, Any], field: str, value: Callable[[], Any]) -> Any:
    return lambda self: WebComponent(**{**fields, "tag": f"{self.name.replace('_', '-')}-x", field: value()})


def _definition(fields: dict[str, Any], field: str, value: Callable[[], Any]) -> ToolDefinition:
    return ToolDefinition(**{**fields, field: value()})


def _giving(value: Any) -> Any:
    return lambda self: value


def _documented() -> Any:
    async def odd(self) -> None:
        """Be odd."""

    return odd


def _routing(argument: str, value: Callable[[], Any]) -> Any:
    async def answer(request: Any) -> None: ...

    def init(self: Module, runtime: Runtime) -> None:
        given = {"method": "GET", "path": "x", "handler": answer, argument: value()}
        runtime.add_route(given.pop("method"), given.pop("path"), given.pop("handler"), **given)

    return init


def _calling(call: Callable[[Runtime, Any], Any], value: Callable[[], Any]) -> Any:
    def init(self: Module, runtime: Runtime) -> None:
        call(runtime, value())

    return init


async def look(value: Callable[[], Any], folder: Path) -> None:
    """Start a server with all of these modules, and see that everything about it can be read and used."""
    (folder / "main.js").write_text("export {}")
    (folder / "app.json").write_text(json.dumps({"server": {"port": 0}}))
    environ = {"AGENTCORE_STATE_DIR": str(folder / "state")}
    config = load_config(folder / "app.json", environ)
    wrong = modules_with(value, folder)
    with StateDir.open(config.file, environ=environ) as state:
        async with Core.open(config, state, [*wrong, Good()]) as core, TestServer(create_app(core)) as server:
            headers = {"Authorization": f"Bearer {state.token.get_secret_value()}"}
            async with aiohttp.ClientSession(str(server.make_url("/")), headers=headers) as client:
                await check(core, client)


async def check(core: Core, client: aiohttp.ClientSession) -> None:
    """Read every list, call the good tool, and switch each module off."""
    paths = ["/api/modules", "/api/openapi.json", "/api/resources"]
    paths += [f"/api/tools?format={form}" for form in ("agentcore", "openai", "anthropic", "mcp")]
    for path in paths:
        async with client.get(path) as answer:
            assert (answer.status, isinstance(await answer.json(), dict)) == (200, True), path
    async with client.get("/api/modules") as answer:
        shown = {module["name"]: module for module in (await answer.json())["modules"] if module["listed"]}
    assert set(shown) == set(core.modules.records)
    assert {module["state"] for module in shown.values()} <= {"ready", "failed"}
    assert all(module["reason"] for module in shown.values() if module["state"] == "failed")
    async with client.get("/") as answer:
        assert answer.status in (200, 404)
    for event in core.events.events_since(f"{core.events.last_id.partition('-')[0]}-0") or ():
        assert json.loads(event.encode())
    async with client.post("/api/tools/good/call", json={}) as answer:
        assert (await answer.json())["ok"]
    for name in shown:
        async with client.post(f"/api/modules/{name}/disable", json={}) as answer:
            assert answer.status == 200, name


def rotate(values: list[Callable[[], Any]], first: int = 0) -> Callable[[], Any]:
    """A value that is another one each time, beginning with one of them."""
    following = itertools.cycle([*values[first:], *values[:first]])
    return lambda: next(following)()  # noqa: PLW0108 - the value is made when it is asked for


@pytest.mark.spec("M4", "S4")
@pytest.mark.parametrize("first", range(0, len(ODD), 7))
@pytest.mark.slow
def test_values_that_are_wrong_take_nothing_else_down(first, tmp_path):
    """Each thing that a module can say has some of the values, and each value is said in some of the places."""
    asyncio.run(asyncio.wait_for(look(rotate([*ODD, *ORDINARY], first), tmp_path), 120))


@pytest.mark.more
@pytest.mark.spec("M4", "S4")
@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_no_odd_value_takes_anything_else_down(value, tmp_path):
    """Every value in every place."""
    asyncio.run(asyncio.wait_for(look(value, tmp_path), 120))


@pytest.mark.more
@pytest.mark.spec("M4", "S4")
@settings(max_examples=10)
@given(st.lists(VALUES, min_size=10, max_size=10))
def test_no_value_that_a_module_says_takes_anything_else_down(values):
    """A hundred values, each in some of the places."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(look(rotate(values), Path(folder)), 120))
