"""The page's client: calls with progress and cancelling, errors, artifacts."""

import asyncio

import pytest

from agentcore.api import Module, ToolContext, ToolResult, tool

pytestmark = pytest.mark.spec("K2", "M7")

CLIENT = "const {client} = await import('/static/client/client.js');"


class Lab(Module):
    """Tools that go wrong, or on."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()

    @tool(read_only=True)
    async def steps(self, ctx: ToolContext) -> str:
        """Tell of two steps."""
        ctx.progress(0.5, "half")
        ctx.progress(1.0, "all")
        return "done"

    @tool(read_only=True)
    async def wait(self) -> str:
        """Wait until somebody ends the call."""
        self.entered.set()
        await asyncio.Event().wait()
        return ""

    @tool(read_only=True)
    async def keep(self, ctx: ToolContext) -> ToolResult:
        """Keep an artifact."""
        link = await ctx.artifacts.save(b"\x00\x01kept", mime="application/octet-stream", name="kept.bin")
        return ToolResult(content=[link])


@pytest.fixture
def lab():
    return Lab()


async def run(page, script):
    return await page.evaluate(f"async () => {{ {CLIENT} {script} }}")


async def test_call_tells_its_id_and_progress_and_gives_the_envelope(start_webui, lab):
    ui = await start_webui([lab])
    page = await ui.page()
    envelope, accepted, told = await run(
        page,
        """const accepted = [], told = [];
        const envelope = await client.call('steps', {}, {
            onAccepted: (id) => accepted.push(id),
            onProgress: ({fraction, message}) => told.push([fraction, message]),
        });
        return [envelope, accepted, told];""",
    )
    assert envelope["ok"]
    assert envelope["content"][0]["text"] == "done"
    assert accepted == [envelope["callId"]]
    assert [0.5, "half"] in told


@pytest.mark.more
async def test_call_is_cancelled_by_its_signal(start_webui, lab):
    ui = await start_webui([lab])
    page = await ui.page()
    await run(
        page,
        """window.ending = new AbortController();
        window.ended = client.call('wait', {}, {signal: window.ending.signal});""",
    )
    async with asyncio.timeout(30):
        await lab.entered.wait()
    envelope = await page.evaluate("() => { window.ending.abort(); return window.ended; }")
    assert envelope["error"]["type"] == "cancelled"


@pytest.mark.more
async def test_signal_that_was_given_up_before_the_call_cancels_it(start_webui, lab):
    ui = await start_webui([lab])
    page = await ui.page()
    envelope = await run(page, "return client.call('wait', {}, {signal: AbortSignal.abort()});")
    assert envelope["error"]["type"] == "cancelled"


@pytest.mark.more
async def test_outcome_of_a_call_is_an_envelope_and_a_refusal_is_thrown(start_webui, lab):
    ui = await start_webui([lab])
    ui.allowed_errors.append("404")
    page = await ui.page()
    envelope = await run(page, "return client.call('stepz', {});")
    assert envelope["error"]["type"] == "unknown_tool"
    thrown = await run(
        page, "return client.get('/api/calls/nothing').catch(({name, type, status}) => ({name, type, status}));"
    )
    assert thrown == {"name": "ApiError", "type": "not_found", "status": 404}


@pytest.mark.more
async def test_server_that_does_not_answer_is_unreachable(start_webui, lab):
    ui = await start_webui([lab])
    ui.allowed_errors.append("ERR_INTERNET_DISCONNECTED")
    page = await ui.page()
    await page.context.set_offline(True)
    script = "return client.get('/api/tools').catch(({type, retryable, status}) => ({type, retryable, status}));"
    assert await run(page, script) == {"type": "unreachable", "retryable": True, "status": 0}


@pytest.mark.more
async def test_artifact_is_shown_from_an_address_of_the_page(start_webui, lab):
    ui = await start_webui([lab])
    page = await ui.page()
    url, data = await run(
        page,
        """const {content} = await client.call('keep', {});
        const {artifactId} = content[0];
        const response = await client.fetch(`/api/artifacts/${artifactId}`);
        return [await client.artifactUrl(artifactId), await response.text()];""",
    )
    assert url.startswith("blob:")
    assert data.endswith("kept")
