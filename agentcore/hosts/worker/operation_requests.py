"""Methods of a module's protocols in a host: each operation is a request to the server."""

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from agentcore.api.operation import Operation, operations_of


class Requesting(Protocol):
    """An object whose operations are requests."""

    async def request_operation(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        """Send the server a request, and return its answer as the method returns it.

        Raises:
            ToolError: The error that the server answered with; `interrupted`: it ended meanwhile.
            LinkError: There is no server.
        """
        ...


C = TypeVar("C", bound=type[Requesting])


def with_requests(protocol: type) -> Callable[[C], C]:
    """Decorate a class: the operations of a protocol are requests, as far as the class does not define them."""

    def add_methods(cls: C) -> C:
        for name, operation in operations_of(protocol).items():
            if name not in vars(cls):
                setattr(cls, name, _make_method(operation))
        return cls

    return add_methods


def _make_method(operation: Operation) -> Callable[..., Any]:
    @functools.wraps(operation.function, updated=())
    async def method(self: Requesting, *args: Any, **kwargs: Any) -> Any:
        return await self.request_operation(operation, operation.bind_arguments(args, kwargs))

    return method
