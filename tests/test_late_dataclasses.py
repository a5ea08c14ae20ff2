"""Dataclasses whose methods are generated late are those of the standard library otherwise."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from agentcore.late_dataclasses import dataclass

_DECORATORS = [pytest.param(dataclasses.dataclass, id="standard library"), pytest.param(dataclass, id="late")]
_OPTIONS = [
    {},
    {"eq": False},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True, "eq": False},
]


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0


def _make_class(decorate: Callable[..., Any], options: dict[str, bool]) -> Any:
    class Sample:
        first: int
        second: "list[int]" = dataclasses.field(default_factory=list, compare=False)
        hidden: str = dataclasses.field(default="secret", repr=False, kw_only=True)
        total: int = dataclasses.field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.first + len(self.second))

    return decorate(**options)(Sample)


def _describe(make: Callable[[], Any]) -> str:
    try:
        return repr(make()).replace("\n", " ")
    except Exception as exc:
        return f"{type(exc).__name__}: {exc}"


def _describe_class(cls: Any) -> list[str]:
    one = {"first": 1, "second": [2, 3]}

    def set_first() -> Any:
        value = cls(**one)
        value.first = 5
        return value

    def delete_first() -> Any:
        value = cls(**one)
        del value.first
        return value.__class__.__name__

    return [
        _describe(lambda: str(inspect.signature(cls))),
        _describe(lambda: cls.__match_args__),
        _describe(lambda: cls(**one)),
        _describe(lambda: cls(1, [2], hidden="h").hidden),
        _describe(cls),
        _describe(lambda: cls(1, unknown=2)),
        _describe(lambda: (cls(**one) == cls(first=1), cls(first=1) == cls(first=2), cls(first=1) == 1)),
        _describe(lambda: hash(cls(**one)) == hash(cls(first=1))),
        _describe(set_first),
        _describe(delete_first),
        _describe(lambda: dataclasses.replace(cls(**one), first=7, hidden="h")),
        _describe(lambda: dataclasses.asdict(cls(**one))),
        _describe(lambda: copy.deepcopy(cls(**one))),
        _describe(lambda: [(field.name, field.type) for field in dataclasses.fields(cls)]),
        _describe(lambda: TypeAdapter(cls).validate_python(one)),
        _describe(lambda: [hasattr(cls(**one), "__dict__"), cls.__init__.__qualname__]),
        _describe(lambda: "__hash__" in vars(cls) and cls.__hash__ is None),
    ]


@pytest.mark.parametrize("options", _OPTIONS, ids=str)
def test_a_late_dataclass_behaves_like_one_of_the_standard_library(options: dict[str, bool]) -> None:
    late = _make_class(dataclass, options)
    standard = _make_class(dataclasses.dataclass, options)

    assert _describe_class(late) == _describe_class(standard)


@pytest.mark.parametrize("decorate", _DECORATORS)
def test_methods_that_a_class_defines_are_kept(decorate: Callable[..., Any]) -> None:
    @decorate(frozen=True)
    class Own:
        value: int

        def __repr__(self) -> str:
            return "own repr"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 42

    assert (repr(Own(1)), Own(1) == Own(2), hash(Own(3))) == ("own repr", True, 42)


@pytest.mark.parametrize("decorate", _DECORATORS)
def test_a_subclass_has_the_fields_of_its_base_and_its_own(decorate: Callable[..., Any]) -> None:
    @decorate(frozen=True, slots=True)
    class Base:
        first: int
        last: int = 9

    @decorate(frozen=True, slots=True)
    class Sub(Base):
        middle: int = 5

    class Plain(Sub):
        """No dataclass."""

    assert repr(Sub(1)).endswith("Sub(first=1, last=9, middle=5)")
    assert Sub(1) == Sub(1)
    assert Sub(1) != Base(1)
    assert Plain(1, middle=2).middle == 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
        Plain(1).first = 2  # type: ignore[misc]


@pytest.mark.parametrize("decorate", _DECORATORS)
def test_frozen_and_other_dataclasses_do_not_inherit_from_each_other(decorate: Callable[..., Any]) -> None:
    @decorate(frozen=True)
    class Frozen:
        value: int

    with pytest.raises(TypeError):
        decorate(type("Changing", (Frozen,), {}))
    with pytest.raises(TypeError):
        dataclasses.dataclass(type("Changing", (Frozen,), {}))
    assert dataclasses.dataclass(frozen=True)(type("Sub", (Frozen,), {}))(1).value == 1


def test_a_late_dataclass_is_matched_and_pickled() -> None:
    match pickle.loads(pickle.dumps(Point(1, 2))):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_methods_are_generated_at_their_first_use() -> None:
    code = (
        "import dataclasses\n"
        "from agentcore.late_dataclasses import dataclass\n"
        "made, process = [], dataclasses._process_class\n"
        "dataclasses._process_class = lambda *a, **k: made.append(a) or process(*a, **k)\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class Point:\n"
        "    x: int\n"
        "assert len(made) == 1 and type(vars(Point)['__init__']).__name__ == '_LateMethod'\n"
        "assert Point(1) is not Point(1) and len(made) == 2\n"
        "assert type(vars(Point)['__init__']).__name__ == 'function'\n"
        "assert type(vars(Point)['__eq__']).__name__ == '_LateMethod'\n"
        "assert Point(1) == Point(1) and len(made) == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
