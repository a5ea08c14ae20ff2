"""A module with routes for paired clients."""

from agentcore.api import Module, Request, Response, Runtime


class Shelf(Module):
    """Serves clients that have the scope `tab`, and one route that is for none."""

    name = "shelf"
    claims = ("/api/shelf",)

    def init(self, runtime: Runtime) -> None:
        """Serve."""
        runtime.add_route("GET", "/api/shelf", self._show, scope="tab")
        runtime.add_route("POST", "/api/shelf/closed", self._show)
        runtime.add_route("GET", "/api/shelf/socket", self._talk, kind="websocket", scope="tab")

    async def _show(self, request: Request) -> Response:
        who = request.principal
        return Response({"kind": who.kind, "id": who.id, "scopes": sorted(who.scopes)})

    async def _talk(self, request: Request) -> None:
        assert request.socket is not None
        async for message in request.socket:
            await request.socket.send(message)
