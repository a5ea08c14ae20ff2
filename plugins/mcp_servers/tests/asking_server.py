"""A server over stdio that asks its client before it answers a call: `python asking_server.py [REVISION]`.

Each tool asks for the one thing that it is named after, and gives the answer as its text. In the revision 2026-07-28 it
asks by a result that wants input, before by a request of its own.
"""

import json
import sys

MODERN = "2026-07-28"
REVISION = sys.argv[1] if len(sys.argv) > 1 else "2025-11-25"
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "title": "Your name"}, "guests": {"type": "integer", "minimum": 1}},
    "required": ["name"],
}
PROMPT = {"role": "user", "content": {"type": "text", "text": "Greet Ada."}}
PAY = {"mode": "url", "message": "Pay for it.", "url": "https://pay.example/7", "elicitationId": "e7"}
QUESTIONS = {
    "form": ("elicitation/create", {"mode": "form", "message": "Who comes?", "requestedSchema": FORM}),
    "nested": ("elicitation/create", {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}),
    "address": ("elicitation/create", PAY),
    "script": ("elicitation/create", {**PAY, "url": "javascript:alert(1)"}),
    "text": ("sampling/createMessage", {"messages": [PROMPT], "systemPrompt": "Be short.", "maxTokens": 50}),
    "folders": ("roots/list", {}),
}
TOOLS = [*QUESTIONS, "paid", "flood", "again"]


def send(**message) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read():
    """The next message."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def answer(ident, said) -> None:
    """Give what was answered as the text of a result."""
    send(id=ident, result={"content": [{"type": "text", "text": json.dumps(said)}], "resultType": "complete"})


def asked(ident, params, method, question) -> None:
    """Ask, and give the answer."""
    if REVISION != MODERN:
        send(id=f"q{ident}", method=method, params=question)
        while (reply := read()).get("id") != f"q{ident}":
            pass
        answer(ident, reply.get("result", reply.get("error")))
    elif "inputResponses" in params:
        answer(ident, params["inputResponses"]["one"])
    else:
        request = {"method": method, "params": question}
        send(id=ident, result={"resultType": "input_required", "inputRequests": {"one": request}})


def flooded(ident) -> None:
    """Ask for very much at one time, and tell very much; give how many were refused."""
    for number in range(100):
        send(id=f"f{number}", method="elicitation/create", params=QUESTIONS["form"][1])
    for number in range(5_000):
        send(method="notifications/message", params={"level": "info", "data": number})
    replies = [read() for _ in range(68)]
    answer(ident, sum("error" in reply for reply in replies))


def repeated(ident) -> None:
    """Ask two things under one id; give how many answers came."""
    for _ in range(2):
        send(id="same", method="elicitation/create", params=QUESTIONS["form"][1])
    reply = read()
    answer(ident, reply["result"])


PAID = set()


def call(ident, params) -> None:
    """Answer a call."""
    name = params["name"]
    if name in QUESTIONS:
        asked(ident, params, *QUESTIONS[name])
    elif name == "flood":
        flooded(ident)
    elif name == "again":
        repeated(ident)
    elif PAID:
        answer(ident, "here you are")
    else:
        PAID.add(name)
        send(id=ident, error={"code": -32042, "message": "pay first", "data": {"elicitations": [PAY]}})


while True:
    request = read()
    match request.get("method"):
        case "server/discover" if REVISION == MODERN:
            found = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
            send(id=request["id"], result={**found, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
        case "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}
            send(id=request["id"], result={"protocolVersion": REVISION, "instructions": "Pay late.", **about})
        case "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            send(id=request["id"], result={"tools": tools, **extra})
        case "tools/call":
            call(request["id"], request["params"])
        case _ if "id" in request and "method" in request:
            send(id=request["id"], error={"code": -32601, "message": "no such method"})
