"""A server over stdio that needs nothing but Python, and so starts at once: `python plain_server.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path


def where(_given) -> str:
    """Say where it runs, and what it knows of the environment."""
    return f"{Path.cwd()} {sorted(os.environ)}"


def die(given) -> str:
    """End at once, with last words."""
    sys.stderr.write(given["words"])
    sys.stderr.flush()
    os._exit(3)


def read(given) -> str:
    """Read a file."""
    try:
        return Path(given["path"]).read_text(encoding="utf-8")
    except OSError as exc:
        return f"cannot read: {exc}"


def names(given) -> str:
    """List a folder."""
    return str(sorted(os.listdir(given["path"])))


def write(given) -> str:
    """Write a file."""
    try:
        Path(given["path"]).write_text("written by the server", encoding="utf-8")
    except OSError as exc:
        return f"cannot write: {exc}"
    return "written"


def shell(given) -> str:
    """Run a command of the shell."""
    ran = subprocess.run(["sh", "-c", given["command"]], capture_output=True, text=True, check=False, cwd=given["path"])
    return ran.stdout + ran.stderr


TOOLS = {tool.__name__: tool for tool in (where, die, read, names, write, shell)}
LISTED = [
    {"name": name, "description": tool.__doc__, "inputSchema": {"type": "object"}} for name, tool in TOOLS.items()
]
ABOUT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {}},
    "serverInfo": {"name": "plain", "version": "1"},
    "instructions": "Count on it.",
}


def answer(method: str, given: dict) -> dict:
    """The result of a request, or its error."""
    match method:
        case "initialize":
            return {"result": ABOUT}
        case "tools/list":
            return {"result": {"tools": LISTED}}
        case "tools/call":
            said = TOOLS[given["name"]](given.get("arguments") or {})
            return {"result": {"content": [{"type": "text", "text": said}]}}
        case "resources/list":
            return {"result": {"resources": [{"uri": "notes://today", "name": "today"}]}}
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answered = answer(asked["method"], asked.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answered}), flush=True)
