"""`/api/resources`: what lives, and its end."""

import pytest


@pytest.mark.spec("R2")
@pytest.mark.spec("K8")
async def test_resources_are_listed_filtered_and_released(make_server):
    server = await make_server()
    first = server.host.resources.create("m", "browser", "s1")
    server.host.resources.create("m", "terminal", "s2")
    _, answer = await server.get("/api/resources?resourceType=browser")
    assert [entry["resourceId"] for entry in answer["resources"]] == [first.resource_id]
    _, answer = await server.get("/api/resources?chatSessionId=s2")
    assert [entry["resourceType"] for entry in answer["resources"]] == ["terminal"]
    for status, error_type in ((200, None), (404, "resource_not_found")):
        async with server.client.delete(f"{server.url}/api/resources/{first.resource_id}") as response:
            assert response.status == status
            assert (await response.json()).get("error", {}).get("type") == error_type
