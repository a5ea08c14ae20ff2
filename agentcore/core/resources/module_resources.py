"""One module's view of the resource registry: it sees and changes its own, and what it hands over is read strictly.

A preview changes nothing: where it tries, that is `not_in_preview`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

from agentcore.api import Image
from agentcore.api.resource import Reopening, Resource, ResourceEvent, ResourceStatus, ResourceUpdate
from agentcore.core.module_code.plain_values import plain_text
from agentcore.core.module_code.preview_state import refuse_in_preview
from agentcore.core.module_code.value_reading import WrongValueError, read_flag, read_mapping, read_text
from agentcore.core.resources.registry import OnRelease, ResourceRegistry
from agentcore.limits import TEXT_READ_CHARS

_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class ModuleResources:
    """One module's view of the registry: it sees and changes its own."""

    def __init__(self, registry: ResourceRegistry, owner: str) -> None:
        self._registry = registry
        self._owner = owner

    def create(
        self,
        resource_type: str,
        session_id: str,
        *,
        adapter_type: str = "",
        keys: Mapping[str, str] | None = None,
        on_release: OnRelease | None = None,
        former_id: str | None = None,
    ) -> Resource:
        refuse_in_preview()
        where = self._describe_method("create")
        return self._registry.create(
            self._owner,
            read_text(resource_type, f"resource_type {where}", "a resource type", pattern=_TYPE),
            read_text(session_id, f"session_id {where}"),
            adapter_type=read_text(adapter_type, f"adapter_type {where}"),
            keys=None if keys is None else _read_keys(keys, f"keys {where}"),
            on_release=_check_callable(on_release, f"on_release {where}"),
            former_id=None if former_id is None else read_text(former_id, f"former_id {where}"),
        )

    def adopt(self, resource_id: str, on_release: OnRelease) -> Resource:
        refuse_in_preview()
        _check_callable(on_release, f"on_release {self._describe_method('adopt')}")
        return self._registry.adopt(self._owner, resource_id, on_release)

    def get(self, resource_id: str) -> Resource:
        return self._registry.get(resource_id, self._owner)

    def list(self, *, session_id: str | None = None, resource_type: str | None = None) -> list[Resource]:
        return self._registry.list(owner=self._owner, session_id=session_id, resource_type=resource_type)

    def update(self, resource_id: str, **properties: Any) -> Resource:
        """See `agentcore.api.Resources.update`."""
        refuse_in_preview()
        where = self._describe_method("update")
        types = {each.name: each.type for each in fields(ResourceUpdate)}
        unknown = sorted(properties.keys() - types.keys())
        if unknown:
            raise TypeError(f"update() got an unexpected keyword argument {unknown[0]!r}")
        change = ResourceUpdate(
            **{
                name: None if value is None else _READERS[types[name]](value, f"{name} {where}")
                for name, value in properties.items()
            }
        )
        return self._registry.update(resource_id, change, owner=self._owner)

    def emit(self, resource_id: str, event: ResourceEvent, data: Mapping[str, Any]) -> None:
        refuse_in_preview()
        where = self._describe_method("emit")
        _read_word(event, f"event {where}", get_args(ResourceEvent))
        self._registry.emit(resource_id, event, read_mapping(data, f"data {where}", mends_text=True), owner=self._owner)

    async def release(self, resource_id: str, reason: str = "") -> None:
        refuse_in_preview()
        reason = read_text(reason, f"reason {self._describe_method('release')}")
        await self._registry.release(resource_id, self._owner, reason)

    def _describe_method(self, method: str) -> str:
        return f"of resources.{method} in module {self._owner!r}"


def _read_word(value: Any, where: str, words: tuple[str, ...]) -> Any:
    if type(value) is not str or value not in words:
        raise WrongValueError(where, f"one of {', '.join(words)}", value)
    return value


def _read_text(value: Any, where: str) -> str:
    """Return a text that may come from outside, such as the title of a page: made valid and cut, not refused."""
    if not isinstance(value, str):
        raise WrongValueError(where, "text", value)
    return plain_text(value[:TEXT_READ_CHARS])


def _read_keys(value: Any, where: str) -> dict[str, str]:
    found = read_mapping(value, where, "a mapping from text to text")
    return {key: read_text(one, f"{key!r} in {where}") for key, one in found.items()}


def _check_callable(value: Any, where: str) -> Any:
    if value is not None and not callable(value):
        raise WrongValueError(where, "an async function (resource) -> None", value)
    return value


def _read_reopening(value: Any, where: str) -> Reopening:
    if not isinstance(value, tuple) or len(value) != 2:  # noqa: PLR2004 - a pair
        raise WrongValueError(where, "a pair of a tool's name and its arguments", value)
    tool, arguments = value
    return read_text(tool, f"the tool in {where}"), read_mapping(arguments, f"the arguments in {where}")


def _read_icon(value: Any, where: str) -> Image:
    if not (isinstance(value, Image) and isinstance(value.data, bytes)):
        raise WrongValueError(where, "an Image", value)
    return Image(bytes(value.data), read_text(value.mime, f"mime of the {where}"))


_READERS: Mapping[Any, Callable[[Any, str], Any]] = {
    ResourceStatus | None: lambda value, where: _read_word(value, where, get_args(ResourceStatus)),
    str | None: _read_text,
    bool | None: read_flag,
    Image | None: _read_icon,
    Mapping[str, str] | None: _read_keys,
    Reopening | None: _read_reopening,
}
"""How the new properties of a resource are read, by their types."""
