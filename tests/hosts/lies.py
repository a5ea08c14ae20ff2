"""Hosts that lie: what each says, as programs that stand in for a host's interpreter.

They import nothing that they do not need: each is started anew for a test.
"""

import json
import os
import struct
import time
from collections.abc import Callable
from typing import Any

from tests.hosts.fake_host import TEXT, TOOL, FakeHost, Message, encode_frame

RESOURCE = {
    "resource_id": "box_s2_0",
    "resource_type": "box",
    "session_id": "s2",
    "index": 0,
    "adapter_type": "",
    "status": "ready",
    "last_url": None,
    "keep_running": False,
    "created_at_ms": 0,
    "last_used_at_ms": 0,
    "title": "stolen",
    "keys": {},
}
OF_NEAR = {**RESOURCE, "resource_id": "box_s1_0", "session_id": "s1"}


def _flood(host: FakeHost) -> None:
    many = encode_frame(TEXT, b'{"type": "nothing.known"}') * 1000
    while True:
        host.socket.sendall(many)


def _flood_of_records(host: FakeHost) -> None:
    """Each of them is written down: there are too many long before there are as many as a flood has."""
    said = {"type": "record", "module": host.module, "outcome": "x", "details": {}, "call": "", "sessionId": ""}
    while True:
        host.socket.sendall(encode_frame(TEXT, json.dumps(said).encode()) * 100)


def _flood_of_pieces(host: FakeHost) -> None:
    while True:
        host.blob(b"", number=1, is_last=False)


def _large_blob(host: FakeHost) -> None:
    while True:
        host.blob(b"x" * 65_536, number=1, is_last=False)


def _silent_half(host: FakeHost) -> None:
    host.socket.sendall(struct.pack("!IB", 1000, TEXT) + b'{"type": ')
    time.sleep(60)


def _each(number: int, act: Callable[[int], Any]) -> None:
    for index in range(number):
        act(index)


def _nested(depth: int) -> bytes:
    text = b'{"type": "event.publish", "data": ' + b"[" * depth + b"]" * depth + b"}"
    return struct.pack("!IB", len(text), TEXT) + text


CUT_OFF: dict[str, tuple[Callable[[FakeHost, Message], Any], str]] = {
    "result of a call that was never sent": (lambda h, c: h.result(c, n=c["n"] + 1000), "never sent to it"),
    "result under another id": (lambda h, c: h.result(c, id="call_of_another"), "no answer to its call"),
    "result of a negative number": (lambda h, c: h.result(c, n=-1), "never sent to it"),
    "result whose number is true": (lambda h, c: h.result(c, n=True), "never sent to it"),
    "result without a result": (lambda h, c: h.result(c, result=None), "cannot be read"),
    "result of wrong blocks": (lambda h, c: h.result(c, result={"content": [7]}), "cannot be read"),
    "result with a blob that is none": (
        lambda h, c: h.result(c, result={"content": [{"type": "image", "mime": "image/png", "blob": 77}]}),
        "a blob that did not arrive",
    ),
    "error that is none": (lambda h, c: h.result(c, ok=False, error=[]), "cannot be read"),
    "asks for a call that was never sent": (
        lambda h, c: h.ask("call.nested", n=c["n"] + 1, tool="near_pid", arguments={}),
        "never sent to it",
    ),
    "progress of such a call": (lambda h, c: h.say("tool.progress", n=999, kind="log", message="x"), "never sent"),
    "updates a resource of another": (lambda h, c: h.say("resource.update", resource=OF_NEAR), "not of its modules"),
    "adopts a resource of another": (lambda h, c: h.say("resource.adopt", resource=OF_NEAR), "not of its modules"),
    "ends a resource of another": (
        lambda h, c: h.say("resource.release", resourceId="box_s1_0", reason="x"),
        "not of its modules",
    ),
    "event of a resource of another": (
        lambda h, c: h.say("resource.event", resourceId="box_s1_0", event="log", data={}),
        "not of its modules",
    ),
    "makes a resource for another module": (
        lambda h, c: h.say("resource.create", owner="near", resource=RESOURCE),
        "a module that it does not run",
    ),
    "speaks for another module": (
        lambda h, c: h.say("event.publish", module=h.module + 100, event="x", data={}, sessionId=None),
        "a module that it does not run",
    ),
    "greets again": (lambda h, c: h.hello(), "greets a second time"),
    "flood": (lambda h, c: _flood(h), "a flood"),
    "flood of records": (lambda h, c: _flood_of_records(h), "messages that are costly"),
    "flood of pieces": (lambda h, c: _flood_of_pieces(h), "a flood"),
    "a blob without an end": (lambda h, c: _large_blob(h), "that nothing names"),
    "junk": (lambda h, c: h.socket.sendall(os.urandom(4096)), "frame of"),
    "huge length": (lambda h, c: h.socket.sendall(b"\x7f\xff\xff\xff\x01"), "a frame of 2,147,483,647 bytes"),
    "half a frame": (lambda h, c: _silent_half(h), "did not answer for 3 s"),
    "no JSON": (lambda h, c: h.socket.sendall(b"\x00\x00\x00\x02\x01{]"), "no JSON"),
    "no object": (lambda h, c: h.send([1]), "without a type"),
    "no text as type": (lambda h, c: h.send({"type": 7}), "without a type"),
    "deep nesting": (lambda h, c: h.socket.sendall(_nested(100_000)), "no JSON"),
    "wrong reply": (lambda h, c: h.say("reply", id="x", ok=True, result=1), "a number was expected"),
    "piece of a blob that ended": (
        lambda h, c: (h.blob(b"x"), h.blob(b"y", number=h.blobs)),
        "a piece of a blob that has ended",
    ),
}


def any_lie(host: FakeHost) -> None:
    """Tells the lie whose name is the argument of the call."""

    def on_call(host: FakeHost, call: Message) -> None:
        lie = call["args"].get("lie")
        if lie in CUT_OFF:
            CUT_OFF[lie][0](host, call)
        elif lie in REFUSED:
            host.result(call, str(REFUSED[lie][0](host, call)))
        else:
            host.result(call)

    host.serve(on_call)


REFUSED: dict[str, tuple[Callable[[FakeHost, Message], Any], str]] = {
    "two results": (lambda h, c: (h.result(c, "the first"), h.result(c, "the second"))[0], "the first"),
    "artifact of another": (
        lambda h, c: h.ask("artifact.load", n=c["n"], artifactId=c["args"]["artifact"])["error"]["type"],
        "artifact_not_found",
    ),
    "tool that there is not": (
        lambda h, c: h.ask("call.nested", n=c["n"], tool="nothing", arguments={})["error"]["type"],
        "unknown_tool",
    ),
    "arguments that are none": (
        lambda h, c: h.ask("call.nested", n=c["n"], tool="near_pid", arguments=[])["error"]["message"],
        "arguments",
    ),
    "no chat": (lambda h, c: h.ask("session.history", n=c["n"])["error"]["type"], "no_session"),
    "summary of wrong types": (
        lambda h, c: h.ask("session.summary", n=c["n"], summary=3, keepTurns="x")["error"]["defect"],
        "TypeError",
    ),
    "blob of another artifact": (
        lambda h, c: h.ask("artifact.save", n=c["n"], blob="1", mime="x", name="y")["error"]["defect"],
        "TypeError",
    ),
    "unknown request": (lambda h, c: h.ask("no.such", n=c["n"])["error"]["type"], "unknown_message"),
    "id of a resource that is not its own": (
        lambda h, c: h.say("resource.create", owner="liar", resource={**RESOURCE, "resource_id": "box_s3_0"}),
        "None",
    ),
    "id of a resource of another": (
        lambda h, c: h.say("resource.create", owner="liar", resource=OF_NEAR),
        "None",
    ),
    "event that is none": (
        lambda h, c: h.say("event.publish", module=h.module, event="../x y", data={}, sessionId=None),
        "None",
    ),
    "notes without an end": (
        lambda h, c: _each(300, lambda i: h.say("note", module=h.module, subject=str(i), said="x", advice="")),
        "None",
    ),
    "subscriptions without an end": (
        lambda h, c: _each(3000, lambda i: h.say("event.subscribe", module=h.module, subscription=i, pattern="x")),
        "None",
    ),
    "resources without an end": (
        lambda h, c: _each(
            1500,
            lambda i: h.say(
                "resource.create", owner="liar", resource={**RESOURCE, "resource_id": f"box_s2_{i}", "index": i}
            ),
        ),
        "None",
    ),
    "a route outside of its own": (
        lambda h, c: h.say(
            "route.add",
            module=h.module,
            route=1,
            method="GET",
            path="/api/approvals",
            kind="json",
            scope=None,
            body=None,
            query=None,
            watching=None,
        ),
        "None",
    ),
    "a schema that grows without an end": (
        lambda h, c: h.say(
            "route.add",
            module=h.module,
            route=2,
            method="POST",
            path="grow",
            kind="json",
            scope=None,
            body=GROWING,
            query=None,
            watching=None,
        ),
        "None",
    ),
    "event in another's name": (
        lambda h, c: h.say("event.publish", module=h.module, event="ready", data={"x": 1}, sessionId="s1"),
        "None",
    ),
    "blobs that nothing names": (lambda h, c: _each(6_000, lambda i: h.blob(b"x" * 65_536)), "None"),
    "type of an error that is no word": (lambda h, c: h.say("nothing.known", error={"type": "A b"}), "None"),
}
GROWING = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/d0"}},
    "$defs": {
        f"d{i}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{i + 1}"} for k in "abcdefgh"}}
        for i in range(18)
    }
    | {"d18": {}},
}


def no_hello(host: FakeHost) -> None:
    """Says nothing at all."""
    host.read()


def wrong_protocol(host: FakeHost) -> None:
    """Speaks something else."""
    host.hello(protocol="agentcore.host.99")
    host.read()


def wrong_hello(host: FakeHost) -> None:
    """Greets with wrong types."""
    host.hello(pid="1")
    host.read()


def junk_hello(host: FakeHost) -> None:
    """Answers as a web server would."""
    host.socket.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    host.read()


def ends_at_once(host: FakeHost) -> None:
    """Says why, and ends."""
    os.write(2, b"no module named agentcore\n")


def many_tools(host: FakeHost) -> None:
    """Offers too many tools."""
    host.tools = [{**TOOL, "name": f"lie_{number}"} for number in range(5_000)]
    host.serve(lambda host, call: host.result(call))


def wrong_tools(host: FakeHost) -> None:
    """Offers a good tool, and others that cannot be."""
    wrong: list[Any] = [7, {}, {**TOOL, "name": "a b"}, {**TOOL, "name": "agent"}, {**TOOL, "effects": ["all"]}]
    wrong += [{**TOOL, "name": f"wrong_{field}", field: [{"x": 1}]} for field in TOOL if field != "name"]
    wrong += [{**TOOL, "name": "growing", "input_schema": GROWING}, {**TOOL, "name": "near_pid"}]
    host.tools = [TOOL, *wrong]
    host.serve(lambda host, call: host.result(call))


def says_too_much(host: FakeHost) -> None:
    """Gives attributes that would replace what stands for it."""
    host.loaded = {
        "attributes": {"name": "liar", "_link": 1, "execute_tool_call": 2, "place": 3, "shutdown": None, "problems": 4}
    }
    host.serve(lambda host, call: host.result(call))


def wrong_attributes(host: FakeHost) -> None:
    host.loaded = {"attributes": 7}
    host.serve(lambda host, call: None)


def wrong_description(host: FakeHost) -> None:
    host.loaded = {"description": None}
    host.serve(lambda host, call: None)


def wrong_settings(host: FakeHost) -> None:
    host.loaded = {"settings": []}
    host.serve(lambda host, call: None)


def wrong_name(host: FakeHost) -> None:
    host.loaded = {"attributes": {"name": "near"}}
    host.serve(lambda host, call: None)


def wrong_key(host: FakeHost) -> None:
    host.loaded = {"config_key": 3}
    host.serve(lambda host, call: None)
