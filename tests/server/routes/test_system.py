"""Health, the API's description, the emergency stop."""

import pytest

from agentcore.server.route_table import load_all_routes
from agentcore.server.routes import ROUTE_GROUPS


@pytest.mark.spec("K4")
async def test_health_says_no_more_than_that(make_server):
    server = await make_server()
    status, answer = await server.answer_to(server.head(start="GET /api/health HTTP/1.1", token=False))
    assert (status, answer) == (200, {"status": "ok"})


async def test_every_route_is_described(make_server):
    server = await make_server()
    _, description = await server.get("/api/openapi.json")
    assert description["openapi"] == "3.1.0"
    described = {(method.upper(), path) for path, methods in description["paths"].items() for method in methods}
    assert described == {(route.method, route.path.replace("...}", "}")) for route in load_all_routes(ROUTE_GROUPS)}
    operation = description["paths"]["/api/tools/{name}/call"]["post"]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/CallBody"
    }
    assert "CallBody" in description["components"]["schemas"]


async def test_every_reference_of_the_description_leads_somewhere(make_server):
    server = await make_server()
    _, description = await server.get("/api/openapi.json")
    schemas = description["components"]["schemas"]
    found = []

    def look(value):
        if isinstance(value, dict):
            found.extend([value["$ref"]] if "$ref" in value else [])
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(description)
    assert found
    assert {reference.rpartition("/")[2] for reference in found} <= set(schemas)


@pytest.mark.spec("S7")
async def test_emergency_stop_refuses_calls_until_a_person_resumes(make_server):
    server = await make_server()
    status, ended = await server.post("/api/stop")
    assert (status, ended) == (200, {"calls": 0, "resources": 0, "rejected": 0})
    assert (await server.call("anything"))["error"]["type"] == "stopped"


async def test_what_is_stored_is_measured_with_its_limits(make_server):
    server = await make_server()
    await server.call("nothing")
    await server.host.store.record.flush()
    _, storage = await server.get("/api/storage")
    assert storage["folder"] == str(server.host.state.path)
    assert storage["databaseBytes"] > 0
    parts = {part["kind"]: part for part in storage["parts"]}
    assert list(parts) == ["chats", "artifacts", "record", "log", "module_data", "page_sessions"]
    assert (parts["record"]["count"], parts["record"]["limitBytes"], parts["record"]["limitDays"]) == (1, 1 << 30, 365)
    assert parts["record"]["usedBytes"] > 0
    assert parts["chats"]["atLimit"] == "reported"
