"""Numbers that are too large for what is behind them: each has a bound, and none is a fault of ours."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcore.core.settings.app_schema import installed_schema

HUGE = 10**30
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.spec("S1")
async def test_each_number_of_a_request_has_a_bound(make_server):
    server = await make_server()
    _, document = await server.get("/api/openapi.json")
    schemas = document["components"]["schemas"]
    found = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            given = [parameter["schema"] for parameter in operation.get("parameters", [])]
            given += [content["schema"] for content in operation.get("requestBody", {}).get("content", {}).values()]
            found += [f"{method} {path} {where}" for where in unbounded(given, schemas)]
    assert found == []


@pytest.mark.parametrize("query", ["before", "after", "skip", "limit"])
async def test_huge_number_in_a_query_is_refused_and_not_a_fault(make_server, query):
    server = await make_server()
    status, body = await server.get(f"/api/calls?{query}={HUGE}")
    assert (status, body["error"]["type"]) == (400, "invalid_query")


async def test_huge_time_limit_of_a_call_is_refused_and_not_a_fault(make_server):
    server = await make_server()
    status, body = await server.post("/api/tools/nothing/call", {"arguments": {}, "timeout_ms": HUGE})
    assert (status, body["error"]["type"]) == (400, "invalid_body")


@pytest.mark.more
@pytest.mark.source_tree
@pytest.mark.slow
async def test_each_number_of_a_bundled_tool_and_setting_has_a_bound(make_server):
    """What a program, a model or a person may give to the modules of the repository."""
    listed = json.loads((REPOSITORY / "app.json").read_text())["modules"]
    server = await make_server(app={"modules": listed})
    _, answer = await server.get("/api/tools")
    assert len(answer["tools"]) > 60
    found = [f"{tool['name']} {where}" for tool in answer["tools"] for where in unbounded(tool["input_schema"], {})]
    schema, problems = installed_schema(None)
    assert problems == {}
    assert [*found, *unbounded(schema, {})] == []


def unbounded(
    schema: Any, schemas: dict[str, Any], where: str = "", seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Where in a schema a number may be as large as it likes."""
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from unbounded(part, schemas, f"{where}/{index}", seen)
        return
    if not isinstance(schema, dict):
        return
    if schema.get("type") in ("integer", "number") and not {"maximum", "exclusiveMaximum"} & set(schema):
        yield where
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in schemas and name not in seen:
        yield from unbounded(schemas[name], schemas, f"{where}/{name}", seen | {name})
    for key, part in schema.items():
        yield from unbounded(part, schemas, f"{where}/{key}", seen)
