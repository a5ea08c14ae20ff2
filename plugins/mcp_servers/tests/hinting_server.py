"""A server over stdio whose tools have hints: `python hinting_server.py`."""

import json
import sys

HINTS = {
    "look": {"readOnlyHint": True, "openWorldHint": False},
    "search": {"readOnlyHint": True, "idempotentHint": False, "destructiveHint": True},
    "mild": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "harsh": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
    "silent": {},
}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}, "annotations": hints} for name, hints in HINTS.items()]
ABOUT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "hinting", "version": "1"},
}
ANSWERS = {
    "initialize": ABOUT,
    "tools/list": {"tools": TOOLS},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        known = asked["method"] in ANSWERS
        said = {"result": ANSWERS[asked["method"]]} if known else {"error": {"code": -32601, "message": "none"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
