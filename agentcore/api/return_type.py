"""A tool's return type: its schema for clients, and the validation of results."""

import sys
import types
import typing
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from agentcore.api.result import ArtifactLink, Audio, EmbeddedResource, Image, Text, ToolResult
from agentcore.errors import InvalidResultError

_BLOCKS = (ToolResult, Text, Image, Audio, EmbeddedResource, ArtifactLink)
_PLAIN = (str, int, float, bool)
_UNIONS = (Union, types.UnionType)
_FREE = (Any, object, None)
_ERRORS_SHOWN = 20
_TAKES_TYPED_DICT = sys.version_info >= (3, 12)


def to_pydantic_hint(hint: Any) -> Any:
    """Return the same type in a form that pydantic accepts.

    Before Python 3.12 it refuses `typing.TypedDict`, whose annotations do not distinguish required keys from others
    where classes are mixed; here each is created again with `typing_extensions`, at any depth of the hint.
    """
    return hint if _TAKES_TYPED_DICT else _convert_hint(hint, {})


class ResultType:
    """The type that a tool declares for what it returns. Made ready at the first call, for few tools are called.

    Args:
        hint: The return annotation; `Any` and none at all declare nothing.
        tool: The tool's name, for errors.
    """

    __slots__ = ("_adapter", "_allowed", "_data", "_is_ready", "_tool", "is_declared")

    def __init__(self, hint: Any, tool: str) -> None:
        parts = _flatten_union(hint)
        self.is_declared = bool(parts) and not any(part in _FREE for part in parts)
        self._tool = tool
        allowed = {part for part in parts if part in (*_BLOCKS, *_PLAIN, types.NoneType)}
        self._allowed = allowed | {bool} if int in allowed else allowed  # to type checkers, a bool is an int
        data = [part for part in parts if part not in _BLOCKS]
        self._data: Any = Union[tuple(data)] if data else None  # noqa: UP007 - made at run time
        self._adapter: TypeAdapter[Any] | None = None
        self._is_ready = False

    def validate(self, returned: Any) -> None:
        """Hold what was returned against the type.

        Raises:
            InvalidResultError: It is something else; the error names each wrong field.
        """
        kind = type(returned)
        if kind in self._allowed or not self.is_declared:
            return
        if self._data is None:
            names = " or ".join(sorted(part.__name__ for part in self._allowed))
            raise InvalidResultError(self._tool, [("", f"should be {names}")])
        if issubclass(kind, ToolResult):
            returned = returned.data
        if not self._is_ready:
            self._adapter = _create_adapter(to_pydantic_hint(self._data))
            self._is_ready = True
        if self._adapter is None:
            return
        try:
            self._adapter.validator.validate_python(returned, strict=True)
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_context=False, include_input=False)
            raise InvalidResultError(
                self._tool, [(_format_location(error["loc"]), error["msg"]) for error in errors[:_ERRORS_SHOWN]]
            ) from None


def _create_adapter(data: Any) -> TypeAdapter[Any] | None:
    """Create the validator of a type; None if pydantic cannot."""
    for config in (None, ConfigDict(arbitrary_types_allowed=True)):
        try:
            return TypeAdapter(data, config=config)
        except PydanticUserError:
            continue
    return None


def find_output_type(hint: Any) -> Any:
    """The type of the result's `data` if it is an object of one shape, a TypedDict or a model; else None."""
    if get_origin(hint) is ToolResult:
        [hint] = get_args(hint)
    is_object = typing_extensions.is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, BaseModel))
    return hint if is_object and hint not in _BLOCKS else None


def _flatten_union(hint: Any) -> tuple[Any, ...]:
    if hint is None:
        return (types.NoneType,)
    if get_origin(hint) is Annotated and get_args(hint)[0] in _BLOCKS:
        return (get_args(hint)[0],)
    if get_origin(hint) in _UNIONS or get_origin(hint) is ToolResult:
        return tuple(part for each in get_args(hint) for part in _flatten_union(each))
    return (hint,)


def _format_location(parts: tuple[int | str, ...]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _convert_hint(hint: Any, made: dict[Any, Any]) -> Any:
    if typing_extensions.is_typeddict(hint):
        return _convert_typed_dict(hint, made) if _needs_conversion(hint, set()) else hint
    arguments = get_args(hint)
    if not arguments or get_origin(hint) is typing.Literal:
        return hint
    if get_origin(hint) is Annotated:
        return Annotated[(_convert_hint(arguments[0], made), *arguments[1:])]
    converted = tuple(_convert_hint(part, made) for part in arguments)
    if all(new is old for new, old in zip(converted, arguments, strict=True)):
        return hint
    if get_origin(hint) in _UNIONS:
        return Union[converted]  # noqa: UP007 - made at run time
    return hint.copy_with(converted) if hasattr(hint, "copy_with") else get_origin(hint)[converted]


def _needs_conversion(hint: Any, seen: set[Any]) -> bool:
    """True if a type is a `typing.TypedDict`, or contains one."""
    if typing_extensions.is_typeddict(hint) and hint not in seen:
        seen.add(hint)
        is_old = type(hint).__module__ == typing.__name__
        return is_old or any(
            _needs_conversion(part, seen) for part in get_type_hints(hint, include_extras=True).values()
        )
    return any(_needs_conversion(part, seen) for part in get_args(hint))


def _convert_typed_dict(hint: Any, made: dict[Any, Any]) -> Any:
    if hint in made:
        raise TypeError(f"{hint.__name__} holds itself: take typing_extensions.TypedDict for it, or a model")
    made[hint] = None
    fields = {}
    for name, part in get_type_hints(hint, include_extras=True).items():
        kind = typing_extensions.Required if name in hint.__required_keys__ else typing_extensions.NotRequired
        inner = get_args(part)[0] if get_origin(part) in (typing.Required, typing.NotRequired) else part
        fields[name] = kind[_convert_hint(inner, made)]
    del made[hint]
    make: Any = typing_extensions.TypedDict
    new = make(hint.__name__, fields)
    new.__doc__ = hint.__doc__
    new.__module__ = hint.__module__
    if (config := getattr(hint, "__pydantic_config__", None)) is not None:
        new.__pydantic_config__ = config
    return new
