"""`dataclass` as in the standard library, with methods that are generated at their first use.

The standard library compiles six methods for each frozen dataclass, half a millisecond of the start for each of the
nearly two hundred here, most of which a process never uses. These classes have the same fields, methods and errors;
only `__init__`, `__repr__`, `__eq__` and `__hash__` are compiled when they are first called or looked up.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Make a class a dataclass. Accepts `frozen`, `slots`, `eq` and `kw_only`."""
        if cls is None:
            return lambda given: _make_dataclass(given, **options)
        return _make_dataclass(cls, **options)


def _make_dataclass(
    cls: type, *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
) -> type:
    if cls.__doc__ is None:
        cls.__doc__ = f"{cls.__name__}."  # the standard library would look up the signature, and compile it
    # what the class defines itself stays, as in the standard library
    own = set(vars(cls))
    hashes_itself = vars(cls).get("__hash__") is not None
    inherits_frozen = any(_is_frozen(base) for base in cls.__mro__[1:])
    if inherits_frozen is not frozen and any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:]):
        raise TypeError("a frozen dataclass cannot inherit from one that is not, nor the other way round")
    made: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, frozen=inherits_frozen, slots=slots, kw_only=kw_only
    )(cls)
    late = {"__init__", "__repr__", *(("__eq__",) if eq else ())} - own
    if eq and frozen and not hashes_itself:
        late.add("__hash__")
    for name in late:
        setattr(made, name, _LateMethod(made, name))
    if eq and not frozen and "__hash__" not in own:
        made.__hash__ = None
    if frozen:
        _freeze(made, slots=slots, own=own)
    parameters = made.__dataclass_params__
    parameters.init = parameters.repr = True
    parameters.eq = eq
    parameters.frozen = frozen
    result: type = made
    return result


class _LateMethod:
    """A method of a dataclass until its first use, which generates it.

    Args:
        cls: The dataclass.
        name: The method's name.
    """

    __slots__ = ("_cls", "_name")

    def __init__(self, cls: type, name: str) -> None:
        self._cls = cls
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = vars(_make_twin(self._cls, _TWIN_OPTIONS[self._name]))[self._name]
        setattr(self._cls, self._name, method)  # of two threads at once, the later one replaces an equal method
        return method.__get__(instance, owner)


_NOTHING = {"init": False, "repr": False, "eq": False}
_TWIN_OPTIONS = {
    "__init__": _NOTHING | {"init": True},
    "__repr__": _NOTHING | {"repr": True},
    "__eq__": _NOTHING | {"eq": True},
    "__hash__": _NOTHING | {"eq": True, "frozen": True},
}
"""The options with which the standard library generates only this method."""


def _make_twin(cls: Any, options: dict[str, bool]) -> type:
    """Return a dataclass of the standard library with the same fields, whose methods fit instances of `cls`."""
    if options["init"]:
        own = cls.__dataclass_params__
        options = options | {"frozen": own.frozen, "slots": "__slots__" in vars(cls)}
    namespace: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": "A twin."}
    annotations = {}
    for field in cls.__dataclass_fields__.values():
        annotations[field.name] = field.type
        namespace[field.name] = dataclasses.field(
            default=field.default,
            default_factory=field.default_factory,
            init=field.init,
            repr=field.repr,
            hash=field.hash,
            compare=field.compare,
            kw_only=field.kw_only,
        )
    namespace["__annotations__"] = annotations
    if hasattr(cls, "__post_init__"):
        namespace["__post_init__"] = cls.__post_init__
    return dataclasses.dataclass(**options)(type(cls.__name__, (), namespace))


def _is_frozen(cls: Any) -> bool:
    return dataclasses.is_dataclass(cls) and bool(getattr(cls, "__dataclass_params__").frozen)  # noqa: B009 - mypy knows none


def _freeze(cls: Any, *, slots: bool, own: set[str]) -> None:
    """Refuse changes of fields; with slots, copy and pickle set them past that."""
    for name, method in (("__setattr__", _refuse_to_set), ("__delattr__", _refuse_to_delete)):
        if name in own:
            raise TypeError(f"{cls.__name__} defines {name}, and is frozen")
        setattr(cls, name, method)
    if slots and "__getstate__" not in own:
        cls.__getstate__ = _list_values
        cls.__setstate__ = _set_values


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _list_values(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_values(self: Any, values: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), values, strict=True):
        object.__setattr__(self, field.name, value)
