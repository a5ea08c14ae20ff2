"""The implementation of `Runtime` at the server for a module of a foreign machine."""

from pydantic import BaseModel

from agentcore.api.context import KeyScope
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.core.modules.runtime import ModuleRuntime


class HostedRuntime(ModuleRuntime):
    """Its routes are separate from those of the server's own modules of the same name."""

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
        """See `agentcore.api.Runtime.add_route`: `/api/modules/NAME/…` is `/api/hosts/HOST/modules/NAME/…` here.

        Raises:
            ValueError: It is a path that the module claims, or one for paired clients, which no foreign machine serves.
        """
        if scope is not None:
            raise ValueError(f"route path {path!r} is for paired clients, which a host on another machine cannot serve")
        host, _, module = self.name.partition("/")
        own = f"/api/modules/{module}/"
        if not path.startswith(own):
            raise ValueError(f"route path {path!r} is outside of {own}, which a host on another machine cannot serve")
        return super().add_route(
            method,
            f"/api/hosts/{host}/modules/{module}/{path.removeprefix(own)}",
            handler,
            body=body,
            query=query,
            kind=kind,
            watching=watching,
        )
