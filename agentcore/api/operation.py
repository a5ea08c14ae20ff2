"""The operations that a module may request of the server that it works for: one entry each, at the method itself.

A module calls the methods of `Runtime`, `ToolContext` and the protocols that these return. Those that act outside the
module are marked by `@operation`, and that mark is the only place where they are described: the signature of the method
is the request, its return annotation the answer. What a module passes is read strictly by it, a worker's methods send
it, the server validates what a worker sends by it and calls the same method of the core's own object.

To add an operation, declare the method here and implement it in the core: it then works in every host.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from pydantic.alias_generators import to_camel

from agentcore.late_dataclasses import dataclass

Access = Literal["own", "chat"]
"""The permission of a foreign machine. `own`: the operation concerns its own calls, modules and resources: allowed;
`chat`: it reads or changes a chat or uses the user's models, and is refused unless the user allowed it."""

Scope = Literal["call", "module"]
"""The subject of a request: a call that the host carries out, or a module that it runs."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Matches:
    """Annotation of a text: the pattern that it matches completely, and what it is, for the error message."""

    pattern: str
    expected: str


@dataclass(frozen=True, slots=True)
class AtMost:
    """Annotation of a text: its maximum length in characters."""

    chars: int


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation.

    Args:
        name: Its name on the wire, which is the type of its messages.
        function: The method of the protocol.
        scope: What a request belongs to.
        access: What a foreign machine may do.
        is_repeatable: True if a host repeats the request at the next server, when the one that it asked ended.
        is_in_preview: True if a preview may request it: it changes nothing.
        renamed: Names on the wire that are not the parameter's in camelCase.
        narrowed: Annotations of parameters that are narrower than those of the method.
    """

    name: str
    function: Callable[..., Any]
    scope: Scope
    access: Access
    is_repeatable: bool
    is_in_preview: bool
    renamed: Mapping[str, str]
    narrowed: Mapping[str, Any]

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.function.__name__

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the method without `self`, with types in place of their names."""
        found = inspect.signature(self.function, eval_str=True)
        own = [
            each.replace(annotation=self.narrowed.get(each.name, each.annotation))
            for each in list(found.parameters.values())[1:]
        ]
        return found.replace(parameters=own)

    def bind_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call of the method by name, with defaults.

        Raises:
            TypeError: The call does not match the signature.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def wire_name(self, parameter: str) -> str:
        """Return the name of a parameter on the wire."""
        return self.renamed.get(parameter) or to_camel(parameter)


def operation(
    name: str,
    *,
    scope: Scope,
    access: Access = "own",
    is_repeatable: bool = False,
    is_in_preview: bool = False,
    renamed: Mapping[str, str] | None = None,
    narrowed: Mapping[str, Any] | None = None,
) -> Callable[[F], F]:
    """Mark a method of a protocol as an operation; the arguments are those of `Operation`."""

    def mark(function: F) -> F:
        entry = Operation(name, function, scope, access, is_repeatable, is_in_preview, renamed or {}, narrowed or {})
        function.__operation__ = entry  # type: ignore[attr-defined]  # the mark
        return function

    return mark


def operations_of(protocol: type) -> dict[str, Operation]:
    """Return the operations of a protocol, by the names of its methods."""
    marks = ((name, getattr(method, "__operation__", None)) for name, method in vars(protocol).items())
    return {name: mark for name, mark in marks if mark is not None}
