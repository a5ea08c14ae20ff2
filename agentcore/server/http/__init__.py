"""All that touches aiohttp's inside: connections, reading, responses, streams."""
