"""Scripts in a page, under a limit of our own, with values cut in the page before they are transferred."""

import json
import re
from dataclasses import dataclass
from typing import Any

from agentcore.api import ToolError
from agentcore_chrome.failures import is_driver_error, is_driver_timeout
from agentcore_chrome.tab.plain_values import TO_JSON
from agentcore_chrome.tab.tab import Tab

VALUE_CHARS = 262_144
"""Limit of a value as JSON; more is cut in the page."""

_CUT = f"""(v => {{
  const text = {TO_JSON}(v);
  if (text === undefined) return {{}};
  let head = text;
  if (text.length > {VALUE_CHARS}) {{ head = ''; for (let at = 0; at < {VALUE_CHARS}; at++) head += text[at]; }}
  return head === text ? {{text}} : {{cut: head, length: text.length}};
}})"""
_RETURN = re.compile(r"\breturn\b")
_STACK_CHARS = 2000
_MESSAGE_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Value:
    """The result of a script: a JSON value, or the beginning of its JSON text if it is too long."""

    value: Any
    cut_text: str | None = None
    length: int = 0


async def run_script(tab: Tab, script: str, timeout_ms: int) -> Value:
    """Run a script in the page's main frame and return its value.

    The script is an expression, a function (which is called), statements with `return`, or statements whose last value
    is the result; `await` works in all of them.

    Raises:
        ToolError: `evaluation_error`, with message and stack; `timeout`, after which the script was stopped.
    """
    try:
        return await tab.run_action(lambda: _run_wrapped(tab, script), timeout_ms, grace_s=0)
    except Exception as exc:
        if is_driver_timeout(exc) or _was_stopped(exc):
            raise timed_out(tab, timeout_ms) from exc
        if is_driver_error(exc):
            raise _evaluation_error(tab, str(exc).splitlines()[0], "") from exc
        raise


def _was_stopped(error: Exception) -> bool:
    return any(sign in str(error) for sign in ("Execution was terminated", "Script execution was interrupted"))


def timed_out(tab: Tab, timeout_ms: int) -> ToolError:
    """Return the error for a script that did not end in time."""
    return ToolError(
        "timeout",
        f"the script did not end within {timeout_ms} ms and was stopped; the tab can still be used",
        retryable=True,
        timeoutMs=timeout_ms,
        tabId=tab.tab_id,
        url=tab.page.url,
    )


async def _run_wrapped(tab: Tab, script: str) -> Value:
    session = await tab.get_session()
    common = {"awaitPromise": True, "userGesture": True}
    wrapped = (
        f"(async () => {{ const v = (\n{script}\n); return {_CUT}(await (typeof v === 'function' ? v() : v)); }})()"
    )
    reply = await session.send("Runtime.evaluate", {"expression": wrapped, "returnByValue": True, **common})
    if _is_syntax_error(reply) and _RETURN.search(script):
        body = f"(async () => {{ const v = await (async () => {{\n{script}\n}})(); return {_CUT}(v); }})()"
        reply = await session.send("Runtime.evaluate", {"expression": body, "returnByValue": True, **common})
    elif _is_syntax_error(reply):
        return await _run_statements(tab, script, common)
    _raise_failure(tab, reply)
    return _parse_value(reply["result"].get("value") or {})


async def _run_statements(tab: Tab, script: str, common: dict[str, Any]) -> Value:
    """Run statements like a console: with top-level `await`, and with the value of the last statement."""
    session = await tab.get_session()
    reply = await session.send("Runtime.evaluate", {"expression": script, "replMode": True, **common})
    _raise_failure(tab, reply)
    result = reply["result"]
    if "objectId" not in result:
        return Value(result.get("value"))
    cut = await session.send(
        "Runtime.callFunctionOn",
        {
            "objectId": result["objectId"],
            "functionDeclaration": f"function () {{ return {_CUT}(this); }}",
            "returnByValue": True,
        },
    )
    await session.send("Runtime.releaseObject", {"objectId": result["objectId"]})
    _raise_failure(tab, cut)
    return _parse_value(cut["result"].get("value") or {})


def _parse_value(reply: dict[str, Any]) -> Value:
    if "cut" in reply:
        return Value(None, reply["cut"], reply["length"])
    return Value(json.loads(reply["text"]) if "text" in reply else None)


def _is_syntax_error(reply: dict[str, Any]) -> bool:
    """True if the script could not be parsed, in contrast to one that ran and threw its own SyntaxError."""
    details = reply.get("exceptionDetails")
    if details is None or details.get("text") != "Uncaught":
        return False
    return bool(details.get("exception", {}).get("className") == "SyntaxError")


def _raise_failure(tab: Tab, reply: dict[str, Any]) -> None:
    details = reply.get("exceptionDetails")
    if details is None:
        return
    exception = details.get("exception", {})
    description = str(exception.get("description") or exception.get("value") or details.get("text"))
    message, _, stack = description.partition("\n")
    raise _evaluation_error(tab, message, stack)


def _evaluation_error(tab: Tab, message: str, stack: str) -> ToolError:
    return ToolError(
        "evaluation_error",
        f"the script failed: {message[:_MESSAGE_CHARS]}",
        error=message[:_MESSAGE_CHARS],
        stack=stack[:_STACK_CHARS],
        tabId=tab.tab_id,
        url=tab.page.url,
    )
