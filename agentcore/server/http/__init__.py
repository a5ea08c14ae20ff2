"""All code that depends on aiohttp's internals: connections, request bodies, responses, streams."""
