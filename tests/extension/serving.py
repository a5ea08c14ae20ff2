"""A real server that the extension is paired with, which can go away and come back at the same address."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcore.core.context_task import ContextTask
from agentcore.core.core import Core
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server
from tests.server.approving import Browser, approver, new_code
from tests.support.ports import find_restart_ports

LIMIT_S = 60
SCOPES = ("approve", "chat", "tab")


@dataclass
class Server:
    """A server in a folder.

    Attributes:
        provider: The provider of models that it asks; a test writes its replies with `say`.
    """

    plan: HostPlan
    folder: Path
    provider: Any = None
    ports: tuple[int, int] = field(default_factory=find_restart_ports)
    held: ContextTask[ServerClient] | None = field(default=None, repr=False)

    @property
    def client(self) -> ServerClient:
        """Requests with the API token; it has the host behind the server as `running`."""
        assert self.held is not None
        return self.held.value

    @property
    def host(self) -> Core:
        return self.client.running.host

    @property
    def address(self) -> str:
        """The origin of the page and of the API, without a final slash."""
        return f"http://127.0.0.1:{self.ports[0]}"

    async def start(self) -> None:
        """Start, at the same address each time."""
        self.held = await ContextTask.open(running_server(self.plan, self.folder, ports=self.ports), "server")

    async def stop(self) -> None:
        """Stop; may be called twice."""
        if self.held is not None:
            held, self.held = self.held, None
            await held.close()

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of a request with the API token."""
        async with self.client.request(method, path, json=body) as response:
            return response.status, await response.json()

    async def person(self) -> Browser:
        """A person at the approval view."""
        return await approver(self.client)

    async def code(self) -> str:
        """A pairing code, as the approval view shows it."""
        return await new_code(await self.person())

    async def asked_pairing(self) -> Any:
        """The client that asks to be paired; one that has not asked yet is waited for."""
        async with asyncio.timeout(LIMIT_S):
            while not (waiting := self.host.pairings.waiting):
                await asyncio.sleep(0.01)
        return waiting[0]

    async def decide_pairing(self, *, approved: bool = True, scopes: Sequence[str] = SCOPES) -> None:
        """Answer, in the approval view, the client that asks to be paired."""
        waiting = await self.asked_pairing()
        decision = {"approved": approved, "scopes": list(scopes) if approved else []}
        path = f"/api/pairings/{waiting.pairing_id}/decision"
        assert (await (await self.person()).ask("POST", path, decision))[0] == 200
