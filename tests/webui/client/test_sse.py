"""The parser of the stream of events."""

import pytest

pytestmark = pytest.mark.spec("K2", "M7")


async def test_events_are_read_wherever_the_stream_is_cut(start_webui):
    ui = await start_webui()
    page = await ui.page()
    found = await page.evaluate(
        """async () => {
            const {readMessages} = await import('/static/client/sse.js');
            const bytes = new TextEncoder().encode(': alive\\n\\nid: 1\\nevent: one\\ndata: {"a": "ü"}\\n\\n'
                + 'id: 2\\r\\ndata: x\\r\\ndata: 天\\r\\n\\r\\ndata:y\\n\\nid: 3\\n\\n');
            const all = new Set();
            for (let cut = 0; cut <= bytes.length; cut += 1) {
                const body = new ReadableStream({start(stream) {
                    for (const part of [bytes.slice(0, cut), bytes.slice(cut)]) stream.enqueue(part);
                    stream.close();
                }});
                const messages = [], ids = [];
                await readMessages(new Response(body), (message) => messages.push(message), (id) => ids.push(id));
                all.add(JSON.stringify([messages, ids]));
            }
            return [...all].map((text) => JSON.parse(text));
        }"""
    )
    assert found == [
        [
            [
                {"event": "one", "data": '{"a": "ü"}'},
                {"event": "message", "data": "x\n天"},
                {"event": "message", "data": "y"},
            ],
            ["1", "2", "3"],
        ]
    ]
