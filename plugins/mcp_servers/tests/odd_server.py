"""A server over stdio that goes wrong in the way that its argument names: `python odd_server.py junk`."""

import json
import sys
import time
from pathlib import Path

WAY = sys.argv[1]
OBJECT = {"type": "object"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def deep(levels: int) -> dict:
    """A schema of lists of lists."""
    schema: dict = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


ZOD_EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
ZOD_DURATION = r"^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GOOD = {"type": "text", "text": "good text"}
PARTS = {
    "structured_error": {"isError": True, "content": [], "structuredContent": {"code": "E42", "text": "no such row"}},
    "error_without_content": {"isError": True, "structuredContent": {"code": "E43"}},
    "error_in_resource": {
        "isError": True,
        "content": [{"type": "resource", "resource": {"uri": "log://1", "text": "disk is full"}}],
    },
    "data_url": {
        "content": [GOOD, {"type": "image", "data": "data:image/png;base64," + PIXEL, "mimeType": "image/png"}]
    },
    "url_safe": {"content": [GOOD, {"type": "image", "data": "_-8=", "mimeType": "image/png"}]},
    "unpadded": {"content": [GOOD, {"type": "image", "data": PIXEL.rstrip("="), "mimeType": "image/png"}]},
    "wrapped": {
        "content": [GOOD, {"type": "image", "data": PIXEL[:40] + "\r\n " + PIXEL[40:], "mimeType": "image/png"}]
    },
    "no_base64": {"content": [GOOD, {"type": "image", "data": "!!!", "mimeType": "image/png"}]},
    "unknown_part": {"content": [GOOD, {"type": "hologram", "data": {"x": 1}}]},
    "part_without_type": {"content": [GOOD, {"text": "bare"}]},
    "no_part": {"content": [GOOD, "just words", None, 7]},
    "image_without_data": {"content": [GOOD, {"type": "image", "mimeType": "image/png"}]},
    "image_without_type": {"content": [GOOD, {"type": "image", "data": PIXEL}]},
    "number_as_text": {"content": [GOOD, {"type": "text", "text": 7}]},
    "surrogate": {"content": [{"type": "text", "text": "good text \ud83d"}]},
    "content_is_text": {"content": "good text"},
    "structured_list": {"content": [GOOD], "structuredContent": ["a", "b"]},
    "link_without_name": {"content": [GOOD, {"type": "resource_link", "uri": "notes://x"}]},
}

TOOLS = {
    "unreadable": [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "no_object", "inputSchema": ["x"]},
        "no tool at all",
        {"name": "no_schema", "inputSchema": {"type": "object", "properties": {"a": {"type": "nothing"}}}},
    ],
    "pictured": [
        {"name": "go", "inputSchema": OBJECT, "icons": [{"src": PNG, "sizes": ["16x16", "huge"], "theme": "dark"}]},
        {"name": "drawn", "inputSchema": OBJECT, "icons": [{"src": "data:image/svg+xml,%3Csvg%2F%3E"}]},
        {
            "name": "odd",
            "inputSchema": OBJECT,
            "icons": [
                {"src": "https://example.com/icon.png"},
                {"src": "data:text/html;base64,PHA+"},
                {"src": "data:image/png;base64,A"},
                {"src": "data:image/png;base64," + "A" * 1_000_000},
                {"src": ""},
                *[{"src": PNG}] * 6,
            ],
        },
        {"name": "wrong", "inputSchema": OBJECT, "icons": "none"},
    ],
    "huge": [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "long", "inputSchema": {"type": "object", "properties": {"a": {"description": "x" * 1_000_000}}}},
        {"name": "deep", "inputSchema": {"type": "object", "properties": {"a": deep(60)}}},
        {
            "name": "round",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/node"}},
                "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
            },
        },
        {
            "name": "doubling",
            "inputSchema": {
                "type": "object",
                "anyOf": [{"properties": {"x": {"$ref": "#"}}, "required": [name]} for name in ("y", "z")],
            },
        },
        {"name": "elsewhere", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/s"}}}},
        {"name": "told", "description": "y" * 1_000_000, "inputSchema": OBJECT},
    ],
    "patterned": [
        {
            "name": "go",
            "inputSchema": OBJECT,
            "outputSchema": {"type": "object", "properties": {"said": {"type": "string", "pattern": "^(a+)+$"}}},
        }
    ],
    "schemas": [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "empty", "inputSchema": {}},
        {"name": "listed", "inputSchema": {"type": "object", "properties": []}},
        {"name": "either", "inputSchema": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        {"name": "untyped", "inputSchema": {"properties": {"a": {"type": "string"}}, "required": ["a"]}},
        {"name": "nothing", "inputSchema": None},
        {"name": "without"},
        {"name": "true", "inputSchema": True},
        {"name": "text", "inputSchema": {"type": "string"}},
        {"name": "rows", "inputSchema": OBJECT, "outputSchema": {"type": "array", "items": {"type": "string"}}},
        {"name": "odd_output", "inputSchema": OBJECT, "outputSchema": {"type": "nothing"}},
        {"name": "described", "inputSchema": OBJECT, "description": 7},
        {
            "name": "patterns",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "email": {"type": "string", "format": "email", "pattern": ZOD_EMAIL},
                    "duration": {"type": "string", "pattern": ZOD_DURATION},
                    "twice": {"type": "string", "pattern": r"^(.)\1$"},
                    "broken": {"type": "string", "pattern": "(["},
                },
            },
        },
    ],
    "scripts": [
        {"name": "查询", "inputSchema": OBJECT},
        {"name": "删除", "inputSchema": OBJECT},
        {"name": "поиск", "inputSchema": OBJECT},
        {"name": "files.read", "inputSchema": OBJECT},
        {"name": "files_read", "inputSchema": OBJECT},
        {"name": "naïve", "inputSchema": OBJECT},
        {"name": "find 🔍", "inputSchema": OBJECT},
        {"name": "查询", "inputSchema": OBJECT},
        {"name": "", "inputSchema": OBJECT},
    ],
    "parts": [{"name": name, "inputSchema": OBJECT} for name in PARTS],
    "bottomless": [{"name": "deep", "inputSchema": {"type": "object", "properties": {"a": deep(500)}}}],
    "alike": [{"name": "a.b", "inputSchema": OBJECT}, {"name": "a/b", "inputSchema": OBJECT}],
    "many": [{"name": f"tool_{number}", "inputSchema": OBJECT} for number in range(25)],
    "taken": [{"name": "resources", "inputSchema": OBJECT}],
    "slow_extras": [{"name": "go", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "ui://odd/view"}}}],
    "views": [
        {"name": "show", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "ui://odd/view"}}},
        {"name": "show.old", "inputSchema": OBJECT, "_meta": {"ui/resourceUri": "ui://odd/view"}},
        {"name": "again", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": ["app"]}}},
        {
            "name": "redraw",
            "inputSchema": OBJECT,
            "_meta": {"ui": {"visibility": ["app"], "resourceUri": "ui://odd/view"}},
        },
        {"name": "own", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": ["model"]}}},
        {"name": "resources/read", "inputSchema": OBJECT},
        {"name": "elsewhere", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "https://example.com/"}}},
        {"name": "plain", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "ui://odd/plain"}}},
        {"name": "large", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "ui://odd/large"}}},
        {"name": "missing", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": "ui://odd/missing"}}},
        {"name": "strange", "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": ["ui://odd/view"]}}},
    ],
    "choices": [
        {"name": "good", "inputSchema": OBJECT},
        {"name": "choose", "inputSchema": {"type": "object", "properties": {"a": {"enum": list(range(30_000))}}}},
    ],
    "crowd": [
        {"name": f"choose_{number}", "inputSchema": {"properties": {"a": {"enum": list(range(30_000))}}}}
        for number in range(8)
    ],
    "hidden": [
        {"name": "seen", "inputSchema": OBJECT},
        {"name": "seen_too", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": ["app", "model"]}}},
        {"name": "unseen", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": ["app"]}}},
        {"name": "for_nobody", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": []}}},
        {"name": "unclear", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": "app"}}},
    ],
    "listed_views": [
        {"name": name, "inputSchema": OBJECT, "_meta": {"ui": {"resourceUri": f"ui://odd/{name}"}}}
        for name in ("bare", "view", "empty", "unlisted")
    ],
}
MIME = "text/html;profile=mcp-app"
CSP = {
    "connectDomains": ["https://api.example.com", "wss://api.example.com:8443", "http://127.0.0.1:1", "*", 7],
    "resourceDomains": ["https://*.example.com/", "'unsafe-eval'", "https://x.example.com; script-src *"],
    "frameDomains": "https://frames.example.com",
}
VIEWS = {
    "ui://odd/view": {
        "mimeType": MIME,
        "text": "<!doctype html><p>A view",
        "_meta": {"ui": {"csp": CSP, "permissions": {"camera": {}, "usb": {}, "clipboardWrite": {}, "microphone": 1}}},
    },
    "ui://odd/bare": {"mimeType": MIME, "text": "<!doctype html><p>Bare"},
    "ui://odd/empty": {"mimeType": MIME, "text": "<!doctype html><p>Empty", "_meta": {"ui": {}}},
    "ui://odd/unlisted": {"mimeType": MIME, "text": "<!doctype html><p>Unlisted"},
    "ui://odd/plain": {"mimeType": "text/html", "text": "<p>no view"},
    "ui://odd/large": {"mimeType": MIME, "text": "x" * (4 * 1024 * 1024 + 1)},
    "notes://today": {"mimeType": "text/plain", "text": "Water the plants."},
}
LISTED = {
    "csp": {"resourceDomains": ["https://listed.example.com", "*"]},
    "permissions": {"camera": {}},
    "prefersBorder": False,
}
CHANGED = {"method": "notifications/tools/list_changed"}
TOLD = {
    "chatty": [{"method": "notifications/message", "params": {"level": "info", "data": "Here I am."}}],
    "restless": [CHANGED] * 500,
    "pictured": [CHANGED],
}
ONE = [{"name": "go", "inputSchema": OBJECT}]


def send(message) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said: str) -> dict:
    """The result of a tool."""
    return {"content": [{"type": "text", "text": said}]}


def call(ident) -> None:  # noqa: C901, PLR0912 - a list of ways
    """Answer the call of a tool, in the way that was asked for."""
    for told in TOLD.get(WAY, ()):
        send(told)
    match WAY:
        case "junk":
            sys.stdout.write("Starting up…\n{half of a mess\n\n[]\n")
            send({"id": ident, "result": text("clear")})
        case "foreign":
            send({"id": 98765, "result": text("of nobody")})
            send({"id": ident, "result": text("first")})
            send({"id": ident, "result": text("second")})
        case "large":
            send({"id": ident, "result": text("x" * 100_000_000)})
        case "blocks":
            send({"id": ident, "result": {"content": [{"type": "text", "text": ""}] * 1_001}})
        case "flood":
            send({"id": ident, "result": {"content": [{"type": "text", "text": ""}] * 550_000}})
        case "wrong":
            send({"id": ident, "result": {"content": [], "isError": "perhaps"}})
        case "patterned":
            said = asked["params"]["arguments"]["said"]
            send({"id": ident, "result": {**text(said), "structuredContent": {"said": said}}})
        case "parts":
            send({"id": ident, "result": PARTS[asked["params"]["name"]]})
        case "schemas" | "scripts":
            send({"id": ident, "result": text(f"called {asked['params']['name']}")})
        case "refusing":
            send({"id": ident, "error": {"code": -32000, "message": "not today"}})
        case "mute":
            pass
        case "once":
            sys.exit(5)
        case "rich":
            note = {"uri": "notes://today", "mimeType": "text/plain", "text": "Water the plants."}
            sound = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
            link = {"type": "resource_link", "uri": "notes://more", "name": "more"}
            send({"id": ident, "result": {"content": [sound, {"type": "resource", "resource": note}, link]}})
        case _:
            send({"id": ident, "result": text("done")})


if WAY == "once" and Path("begun").exists():
    sys.exit("the disk is full")
if WAY == "once":
    Path("begun").touch()

fickle = 0
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize" if WAY == "silent":
            time.sleep(3600)
        case "initialize" if WAY == "gone":
            sys.stderr.write("no licence found\n")
            sys.exit(4)
        case "initialize":
            can = {"tools": {}} | (
                {"resources": {}} if WAY in ("shelf", "taken", "bare", "views", "listed_views", "slow_extras") else {}
            )
            can |= {"prompts": {}} if WAY in ("prompts", "no_prompts", "slow_extras") else {}
            about = {"capabilities": can, "serverInfo": {"name": "odd", "version": "1"}}
            said = {"instructions": "x" * 9_000} if WAY == "wordy" else {}
            revision = "1999-01-01" if WAY == "ancient" else "2025-06-18"
            send({"id": asked["id"], "result": {"protocolVersion": revision, **about, **said}})
        case "tools/list" if WAY in ("endless", "circling"):
            number = int((asked.get("params") or {}).get("cursor") or 0) + 1
            found = [{"name": f"tool_{number}", "inputSchema": OBJECT}]
            send(
                {"id": asked["id"], "result": {"tools": found, "nextCursor": "1" if WAY == "circling" else str(number)}}
            )
        case "tools/list" if WAY == "late_list" and not Path("service").exists():
            send({"id": asked["id"], "error": {"code": -32603, "message": "its service is out of reach"}})
        case "tools/list" if WAY == "fickle":  # it is other at once, and says so
            fickle += 1
            send({"id": asked["id"], "result": {"tools": [*ONE, {"name": f"tool_{fickle}", "inputSchema": OBJECT}]}})
            sys.stderr.write("It was asked for its tools.\n")
            sys.stderr.flush()
            send(CHANGED)
        case "tools/list":
            sys.stderr.write("It was asked for its tools.\n")
            send({"id": asked["id"], "result": {"tools": TOOLS.get(WAY, ONE)}})
        case "prompts/list" | "resources/list" | "resources/read" if WAY == "slow_extras":
            pass
        case "prompts/list" if WAY == "prompts":
            send({"id": asked["id"], "result": {"prompts": [{"name": "go"}, {"name": "talk"}, {"title": "?"}, "none"]}})
        case "prompts/get" if WAY == "prompts":
            said = (("user", "Knock knock."), ("assistant", "Who is there?"))
            messages = [{"role": role, "content": {"type": "text", "text": words}} for role, words in said]
            send({"id": asked["id"], "result": {"messages": messages}})
        case "resources/list" if WAY == "shelf":
            books = [{"uri": f"book://{number}", "name": f"Book {number}"} for number in range(120)]
            send({"id": asked["id"], "result": {"resources": [*books, {"uri": "book://odd"}, "none"]}})
        case "resources/list" if WAY == "listed_views":
            listed = [
                {"uri": f"ui://odd/{name}", "name": name, "_meta": {"ui": LISTED}} for name in ("bare", "view", "empty")
            ]
            send(
                {
                    "id": asked["id"],
                    "result": {"resources": [*listed, {"uri": "ui://odd/unlisted", "name": "unlisted"}]},
                }
            )
        case "resources/list" if WAY == "taken":
            send({"id": asked["id"], "result": {"resources": [{"uri": "book://1", "name": "One"}]}})
        case "resources/list" | "resources/templates/list" if WAY == "bare":
            key = "resources" if asked["method"] == "resources/list" else "resourceTemplates"
            send({"id": asked["id"], "result": {key: []}})
        case "resources/read" if WAY == "shelf":
            page = {"uri": asked["params"]["uri"], "mimeType": "application/pdf", "blob": "JVBERi0="}
            cover = {"uri": "book://cover", "mimeType": "image/png", "blob": "iVBORw0KGgo="}
            send({"id": asked["id"], "result": {"contents": [page, cover]}})
        case "resources/read" if WAY in ("views", "listed_views") and asked["params"]["uri"] in VIEWS:
            uri = asked["params"]["uri"]
            send({"id": asked["id"], "result": {"contents": [{"uri": uri, **VIEWS[uri]}]}})
        case "tools/call":
            if WAY == "pictured":  # it looks otherwise from now on
                TOOLS[WAY][0]["icons"] = [{"src": "data:image/png;base64,iVBORw0KGgoA"}]
            if WAY == "restless":
                TOOLS[WAY] = [{"name": "last", "inputSchema": OBJECT}]
            call(asked["id"])
        case _ if "id" in asked:
            send({"id": asked["id"], "error": {"code": -32601, "message": "no such method"}})
