"""Strict reading of the arguments that a module passes to its runtime; subclasses implement the effects."""

import functools
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, get_origin

from pydantic import BaseModel

from agentcore.api.host_info import AnswerHosts
from agentcore.api.login import Login
from agentcore.api.operation import AtMost, Matches, Operation, operations_of
from agentcore.api.report import ReadReport
from agentcore.api.requirement import Requirement
from agentcore.api.runtime import Runtime
from agentcore.api.tool_context import KeyScope
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.core.declarations.module_requirement import ModuleRequirement
from agentcore.core.event_types import OWN_TOPICS
from agentcore.core.module_code.value_reading import WrongValueError, read_mapping, read_number, read_text
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.core.resources.module_resources import ModuleResources
from agentcore.net.url_policy import OwnOrigins, UrlPolicy

_LONGEST_SECONDS = 366 * 24 * 3600.0


class ReadingRuntime(Runtime):
    """The part of `agentcore.api.Runtime` by which a module hands something over, wherever it runs.

    Its operations read their arguments and pass them to `_perform_operation`.

    Args:
        name: The module's name.
        settings: Validated.
        resources: The module's resources.
        claims: Paths outside of its own part of the server that it serves.
    """

    def __init__(self, name: str, settings: Any, resources: ModuleResources, claims: Collection[str]) -> None:
        self._name = name
        self._settings = settings
        self._resources = resources
        self._claims = claims
        self.answers_hosts: AnswerHosts | None = None

    @property
    def name(self) -> str:
        """The module's name."""
        return self._name

    @property
    def settings(self) -> Any:
        """The validated settings."""
        return self._settings

    @property
    def resources(self) -> ModuleResources:
        """The module's resources."""
        return self._resources

    def add_route(
        self,
        method: str,
        path: str,
        handler: RouteHandler,
        *,
        body: type[BaseModel] | None = None,
        query: type[BaseModel] | None = None,
        kind: RouteKind = "json",
        watching: type[BaseModel] | None = None,
        scope: KeyScope | None = None,
    ) -> Route:
        route = ModuleRoute(self.name, method, path, handler, body, query, kind, watching, scope)
        route.check(self._claims)
        return self._add_route(route)

    def url_policy(
        self,
        *,
        allow_private: bool = False,
        allowed_hosts: Sequence[str] = (),
        blocked_hosts: Sequence[str] = (),
        schemes: frozenset[str] = frozenset(("http", "https")),
    ) -> UrlPolicy:
        return UrlPolicy(
            allow_private=allow_private,
            allowed_hosts=allowed_hosts,
            blocked_hosts=blocked_hosts,
            schemes=schemes,
            own_origins=self._own_origins,
        )

    def subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]:
        pattern = read_text(pattern, f"pattern of subscribe in module {self.name!r}")
        self._check_callable(handler, "handler of subscribe")
        return self._subscribe(pattern, handler)

    def give_report(self, read: ReadReport) -> None:
        self._check_callable(read, "read of give_report")
        self._set_report_reader(read)

    def offer_login(self, login: Login) -> None:
        self._offer_login(login)

    def declare_requirement(self, requirement: Requirement) -> None:
        self._declare_requirement(ModuleRequirement(requirement, self.name))

    def answer_hosts(self, handler: AnswerHosts) -> None:
        self._check_callable(handler, "handler of answer_hosts")
        self.answers_hosts = handler

    def _check_callable(self, value: object, what: str) -> None:
        if not callable(value):
            raise WrongValueError(f"{what} in module {self.name!r}", "a function", value)

    def _read_arguments(self, operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if operation.function is Runtime.publish and self.name in OWN_TOPICS:
            message = f"events that begin with {self.name!r} are the server's own; call the module something else"
            raise ValueError(message)
        parameters = operation.signature.parameters
        where = f"of {operation.method} in module {self.name!r}"
        return {
            name: _read_argument(value, parameters[name].annotation, f"{name} {where}")
            for name, value in arguments.items()
        }

    @property
    @abstractmethod
    def _own_origins(self) -> OwnOrigins:
        """The server's own origins, which tools must not request."""
        ...

    @abstractmethod
    def _perform_operation(self, operation: Operation, arguments: dict[str, Any]) -> None: ...
    @abstractmethod
    def _add_route(self, route: ModuleRoute) -> Route: ...
    @abstractmethod
    def _subscribe(self, pattern: str, handler: Callable[[Mapping[str, Any]], None]) -> Callable[[], None]: ...
    @abstractmethod
    def _set_report_reader(self, read: ReadReport) -> None: ...
    @abstractmethod
    def _offer_login(self, login: Login) -> None: ...
    @abstractmethod
    def _declare_requirement(self, requirement: ModuleRequirement) -> None: ...


def _make_method(operation: Operation) -> Callable[..., None]:
    @functools.wraps(operation.function, updated=())
    def method(self: ReadingRuntime, *args: Any, **kwargs: Any) -> None:
        arguments = self._read_arguments(operation, operation.bind_arguments(args, kwargs))
        self._perform_operation(operation, arguments)

    return method


for _operation in operations_of(Runtime).values():
    setattr(ReadingRuntime, _operation.method, _make_method(_operation))


def _read_argument(value: Any, annotation: Any, where: str) -> Any:
    """Read one argument as its annotation says."""
    if get_origin(annotation) is Annotated:
        (rule,) = annotation.__metadata__
        return _read_limited_text(value, rule, where)
    if annotation is str:
        return read_text(value, where)
    if annotation == str | None:
        return None if value is None else read_text(value, where)
    if annotation == float | None:
        return None if value is None else read_number(value, where, low=0, high=_LONGEST_SECONDS)
    return read_mapping(value, where, mends_text=True)


def _read_limited_text(value: Any, rule: Matches | AtMost, where: str) -> str:
    if isinstance(rule, Matches):
        return read_text(value, where, rule.expected, pattern=re.compile(rule.pattern))
    text = read_text(value, where).strip()
    if len(text) > rule.chars:
        raise ValueError(f"{where} has {len(text):,} characters, and may have {rule.chars:,}")
    return text
