"""`/api/artifacts`: bytes in ranges, always to save and never to show, and lines of a text."""

import pytest


@pytest.fixture
async def artifact(bare_server):
    link = await bare_server.host.store.artifacts.save(
        b"first line\nsecond line\nthird", mime="text/html", name='a "b"\u00fc.html'
    )
    return f"/api/artifacts/{link.artifact_id}"


@pytest.mark.spec("S1")
async def test_artifact_is_a_file_to_save(bare_server, artifact):
    async with bare_server.client.get(bare_server.url + artifact) as response:
        assert await response.read() == b"first line\nsecond line\nthird"
        assert response.headers["Content-Disposition"].startswith('attachment; filename="a _b__.html"')
        assert "filename*=UTF-8''a%20%22b%22%C3%BC.html" in response.headers["Content-Disposition"]
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("asked", "status", "said", "body"),
    [
        ("bytes=0-4", 206, "bytes 0-4/28", b"first"),
        ("bytes=23-", 206, "bytes 23-27/28", b"third"),
        ("bytes=-5", 206, "bytes 23-27/28", b"third"),
        ("bytes=23-1000", 206, "bytes 23-27/28", b"third"),
        ("bytes=28-", 416, "bytes */28", None),
        ("bytes=-0", 416, "bytes */28", None),
        ("bytes=5-2", 200, None, b"first line\nsecond line\nthird"),
        ("lines=1-2", 200, None, b"first line\nsecond line\nthird"),
        ("bytes=0-1,3-4", 200, None, b"first line\nsecond line\nthird"),
    ],
)
async def test_ranges(bare_server, artifact, asked, status, said, body):
    async with bare_server.client.get(bare_server.url + artifact, headers={"Range": asked}) as response:
        assert response.status == status
        assert response.headers.get("Content-Range") == said
        assert body is None or await response.read() == body


async def test_empty_artifact_is_sent(bare_server):
    link = await bare_server.host.store.artifacts.save(b"", mime="text/plain", name="empty.txt")
    async with bare_server.client.get(f"{bare_server.url}/api/artifacts/{link.artifact_id}") as response:
        assert (response.status, await response.read()) == (200, b"")


async def test_lines_are_found(bare_server, artifact):
    status, found = await bare_server.get(f"{artifact}/search?q=LINE&ignore_case=true&limit=1")
    assert status == 200
    assert found == {"matches": [{"line": 1, "offset": 0, "text": "first line"}], "isCut": True}


async def test_what_is_no_text_cannot_be_searched(bare_server):
    link = await bare_server.host.store.artifacts.save(b"\x89PNG", mime="image/png", name="a.png")
    status, answer = await bare_server.get(f"/api/artifacts/{link.artifact_id}/search?q=x")
    assert (status, answer["error"]["type"]) == (400, "artifact_not_text")


@pytest.mark.parametrize("path", ["nothing", "..%2f..%2ftoken", "%00", "nothing/search?q=x"])
async def test_unknown_artifact_is_a_404(bare_server, path):
    status, answer = await bare_server.get(f"/api/artifacts/{path}")
    assert (status, answer["error"]["type"]) == (404, "artifact_not_found")


async def test_head_tells_the_size(bare_server, artifact):
    async with bare_server.client.head(bare_server.url + artifact) as response:
        assert (response.status, response.headers["Content-Length"]) == (200, "28")
        assert response.headers["Accept-Ranges"] == "bytes"
