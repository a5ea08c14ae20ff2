"""The dotted names of the host protocol: the methods of a browser that hosts offer, and that they call in nested calls.

Each stands for a tool. A host offers one by its name, with a definition or without, and is called by that name with the
arguments below; its plain JSON result becomes a `ToolResult`. In the other direction, a nested call by the name is a
call of the tool that declares it (`host_alias`), and its result has the same fields.
"""

import functools
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

from agentcore.api.definition import Effect, HostAlias, ResourceUse, ToolAnnotations, ToolDefinition
from agentcore.api.result import Image, Text, ToolResult
from agentcore.core.modules.validation import Validate, compile_validator
from agentcore.encoding import to_json
from agentcore.errors import InvalidResultError
from agentcore.hosts.wire.declarations import definition_to_wire
from agentcore.late_dataclasses import dataclass
from agentcore.limits import RESULT_BYTES

Returned = Literal["object", "clicked", "screenshot"]
"""The shape of a result: any object or nothing; `{clicked: true}`; `{mime, dataBase64}`."""

_PAGE_ARGUMENT = "resourceId"
_PAGE = ResourceUse("browser", argument=_PAGE_ARGUMENT, create=True)
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_MIME = "image/png"
_CALL_SECONDS = 60.0
_WAIT_MS = 300_000
_WAIT_SECONDS = 310.0
_NAME_CHARS = 100
_CAPITAL = re.compile(r"[A-Z]")

_URL = {"type": "string", "minLength": 1, "maxLength": 16_384, "description": "Address, such as https://example.org/a."}
_SELECTOR = {"type": "string", "minLength": 1, "maxLength": 4096, "description": "CSS selector."}
_TEXT = {"type": "string", "maxLength": 100_000, "description": "What to type."}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": _WAIT_MS, "description": "Limit in milliseconds."}
_RESOURCE = {"type": "string", "maxLength": 2000, "description": "The page; default: the first of the chat."}


@dataclass(frozen=True, slots=True)
class BrowserMethod:
    """One of the methods.

    Args:
        name: Its dotted name.
        definition: The definition of a tool that a host offers by the name alone.
        returned: The shape of its result.
    """

    name: str
    definition: ToolDefinition
    returned: Returned

    def complete_definition(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a host's definition of the method under the tool's name, with what it leaves out."""
        whole = definition_to_wire(self.definition, checks_arguments=False)
        fixed = {name: whole[name] for name in ("name", "host_alias")}
        return whole | {name: value for name, value in given.items() if value is not None} | fixed

    def read_result(self, value: Any) -> dict[str, Any]:
        """Validate a plain result, and return its fields; none where it has no result.

        Raises:
            InvalidResultError: It has another shape.
        """
        if value is not None and type(value) is not dict:
            raise self._invalid("", "is no object")
        fields: dict[str, Any] = value or {}
        if self.returned == "object":
            return fields
        if self.returned == "clicked":
            if fields.get("clicked") is not True:
                raise self._invalid("clicked", "is not true")
            return {"clicked": True}
        if fields.get("mime") != _PNG_MIME:
            raise self._invalid("mime", f"is not {_PNG_MIME!r}")
        if type(fields.get("dataBase64")) is not str:
            raise self._invalid("dataBase64", "is no text")
        return {"mime": _PNG_MIME, "dataBase64": fields["dataBase64"]}

    def read_tool_result(self, value: Any) -> ToolResult:
        """Convert the plain result of a host.

        Raises:
            InvalidResultError: It has another shape.
        """
        fields = self.read_result(value)
        content = Image(self._read_png(fields)) if self.returned == "screenshot" else _text_of(fields)
        return ToolResult((content,), fields, untrusted=True)

    def _read_png(self, fields: dict[str, Any]) -> bytes:
        if (
            len(fields["dataBase64"]) > RESULT_BYTES
        ):  # decoding blocks the event loop, and the result would be too large
            raise self._invalid("dataBase64", f"has more than {RESULT_BYTES:,} characters")
        try:
            data = b64decode(fields["dataBase64"], validate=True)
        except ValueError:
            raise self._invalid("dataBase64", "is no Base64") from None
        if not data.startswith(_PNG):
            raise self._invalid("dataBase64", "is no PNG image")
        return data

    def _invalid(self, path: str, problem: str) -> InvalidResultError:
        return InvalidResultError(self.name, [(path, problem)], untrusted=True)


def _text_of(fields: dict[str, Any]) -> Text:
    return Text(to_json(fields).decode() if fields else "Done.")


def _method(
    name: str,
    description: str,
    arguments: Mapping[str, Any],
    *,
    optional: str = "",
    effect: Effect = "egress",
    returned: Returned = "object",
    timeout_s: float = _CALL_SECONDS,
) -> BrowserMethod:
    is_read = effect == "read"
    subject = next((each for each in ("selector", "url") if each in arguments), None)
    definition = ToolDefinition(
        name=_CAPITAL.sub(lambda found: f"_{found[0].lower()}", name.replace(".", "_")),
        description=description,
        input_schema={
            "type": "object",
            "properties": {**arguments, _PAGE_ARGUMENT: _RESOURCE},
            "required": [each for each in arguments if each != optional],
            "additionalProperties": False,
        },
        effects=frozenset((effect,)),
        annotations=ToolAnnotations(read_only=True if is_read else None, open_world=True),
        timeout_s=timeout_s,
        resource=_PAGE,
        display={} if subject is None else {subject: "subject"},
        host_alias=HostAlias(name),
    )
    return BrowserMethod(name, definition, returned)


_METHODS = (
    _method("browser.ensure", "Open the page of the chat, or go to an address in it.", {"url": _URL}, optional="url"),
    _method("browser.click", "Click an element of the page.", {"selector": _SELECTOR}, returned="clicked"),
    _method("browser.type", "Type into a field of the page.", {"selector": _SELECTOR, "text": _TEXT}),
    _method("browser.navigate", "Go to an address in the page.", {"url": _URL}),
    _method(
        "browser.waitFor",
        "Wait for an element of the page.",
        {"selector": _SELECTOR, "timeoutMs": _LIMIT},
        optional="timeoutMs",
        effect="read",
        timeout_s=_WAIT_SECONDS,
    ),
    _method("browser.screenshot", "Take a screenshot of the page.", {}, effect="read", returned="screenshot"),
)
BROWSER_METHODS: Mapping[str, BrowserMethod] = MappingProxyType({each.name: each for each in _METHODS})
"""The methods, by their dotted names."""


def find_method(entry: Any) -> BrowserMethod | None:
    """Return the method that an entry of a host's tools names: by its name alone, or by that of its definition."""
    name = entry.get("name") if type(entry) is dict else entry
    return BROWSER_METHODS.get(name) if type(name) is str else None


def complete_entry(entry: Any) -> Any:
    """Return an entry of a host's tools as a definition, which is not validated yet.

    Raises:
        TypeError: It is a name alone, or a dotted one, and stands for none of the methods.
    """
    if (method := find_method(entry)) is not None:
        return method.complete_definition(entry if type(entry) is dict else {})
    if type(entry) is str:
        raise _unknown_name(entry, "a name without a definition")
    name = entry.get("name") if type(entry) is dict else None
    if type(name) is str and "." in name:
        raise _unknown_name(name, "a dotted name")
    return entry


def _unknown_name(name: str, what: str) -> TypeError:
    return TypeError(f"{name[:_NAME_CHARS]!r} is {what}, and none of {', '.join(BROWSER_METHODS)}")


def without_page(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without the page, which the message of the call names beside them."""
    return {name: value for name, value in arguments.items() if name != _PAGE_ARGUMENT}


@functools.cache
def validator_of(name: str) -> Validate:
    """Return the function that validates the arguments of a nested call by a dotted name."""
    return compile_validator(replace(BROWSER_METHODS[name].definition, name=name))
